//! `msprof op --config`: one kernel object with tiling data, key, blocks and workspace of whoever asks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A description that was understood: the flat one for the launcher, and where outputs go.
#[derive(Debug)]
pub struct Replay {
    /// For `kernel-launcher`; its numbers are texts.
    pub flat: Value,
    /// Folder of outputs.
    pub outputs: PathBuf,
    /// Device.
    pub device: u32,
}

/// Bytes of an element. `float`, which documents show, is not among the types that the parser takes.
fn element_bytes(kind: &str) -> Option<u64> {
    Some(match kind {
        "bool" | "int8" | "uint8" => 1,
        "int16" | "uint16" | "float16" | "bfloat16" => 2,
        "int32" | "uint32" | "float32" => 4,
        "int64" | "uint64" | "float64" => 8,
        _ => return None,
    })
}

impl Replay {
    /// Reads a description.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs_err::read_to_string(file).map_err(|error| error.to_string())?;
        let config: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let required = |key: &str| {
            let found = config[key].as_str().filter(|text| !text.is_empty());
            found.map(str::to_owned).ok_or(format!("the config has no {key}"))
        };
        let name = required("kernel_name")?;
        let path = required("kernel_path")?;
        if !Path::new(&path).is_file() {
            return Err(format!("kernel_path {path} is no file"));
        }
        let magic = required("magic")?;
        if !["RT_DEV_BINARY_MAGIC_ELF", "RT_DEV_BINARY_MAGIC_ELF_AIVEC", "RT_DEV_BINARY_MAGIC_ELF_AICUBE"]
            .contains(&magic.as_str())
        {
            return Err(format!("magic {magic} is not supported"));
        }
        if required("mode")? != "onboard" {
            return Err("mode does not agree with msprof op".to_owned());
        }
        let number = |key: &str, otherwise: u64| match &config[key] {
            Value::Null => Ok(otherwise),
            value => value.as_u64().ok_or(format!("{key} is no number")),
        };
        let blocks = number("blockdim", 1)?;
        if blocks == 0 {
            return Err("blockdim is 0".to_owned());
        }
        let device = number("device_id", 0)?;
        let case = match config["test_cases"].as_array().map(Vec::as_slice) {
            Some([case]) => case,
            _ => return Err("test_cases has to have exactly one element".to_owned()),
        };
        let case_name = case["case_name"].as_str().ok_or("the case has no case_name")?;
        let mut flat = Flat::default();
        for parameter in case["param_desc"].as_array().ok_or("the case has no param_desc")? {
            flat.add(parameter)?;
        }
        let base = config["output_data_path"].as_str().unwrap_or("./msopt_test_result");
        let outputs = std::path::absolute(Path::new(base).join(case_name)).map_err(|error| error.to_string())?;
        let mut text = json!({
            "bin_path": std::path::absolute(&path).map_err(|error| error.to_string())?,
            "kernel_name": name,
            "magic": magic,
            "block_dim": blocks.to_string(),
            "device_id": device.to_string(),
            "ffts": if flat.ffts { "Y" } else { "N" },
            "input_path": flat.input_paths.join(";"),
            "input_size": flat.input_bytes.join(";"),
            "output_name": flat.output_names.join(";"),
            "output_size": flat.output_bytes.join(";"),
            "output_dir": outputs,
        });
        if !config["tiling_key"].is_null() {
            text["tiling_key"] = json!(number("tiling_key", 0)?.to_string());
        }
        for (key, value) in flat.others {
            text[key] = json!(value);
        }
        Ok(Self { flat: text, outputs, device: device as u32 })
    }
}

#[derive(Default)]
struct Flat {
    input_paths: Vec<String>,
    input_bytes: Vec<String>,
    output_names: Vec<String>,
    output_bytes: Vec<String>,
    others: BTreeMap<&'static str, String>,
    ffts: bool,
}

impl Flat {
    fn add(&mut self, parameter: &Value) -> Result<(), String> {
        let text = |key: &str| parameter[key].as_str().ok_or(format!("a parameter has no {key}: {parameter}"));
        match text("param_type")? {
            "input" if parameter["data_path"] == "null" => {
                self.input_paths.push("n".to_owned());
                self.input_bytes.push("0".to_owned());
            }
            "input" => {
                let file = text("data_path")?;
                let bytes = bytes_of(parameter)?;
                let there = fs_err::metadata(file).map_err(|error| error.to_string())?.len();
                if there != bytes {
                    return Err(format!("{file} has {there} bytes, its shape needs {bytes}"));
                }
                self.input_paths.push(file.to_owned());
                self.input_bytes.push(bytes.to_string());
            }
            "output" => {
                self.output_names.push(text("name")?.to_owned());
                self.output_bytes.push(bytes_of(parameter)?.to_string());
            }
            "workspace" => {
                let bytes = parameter["user_workspace_size"].as_u64().ok_or("user_workspace_size is no number")?;
                in_range(bytes)?;
                self.others.insert("workspace_size", bytes.to_string());
            }
            "tiling" => {
                let bytes = parameter["tiling_data_size"].as_u64().ok_or("tiling_data_size is no number")?;
                in_range(bytes)?;
                self.others.insert("tiling_data_path", format!("{};{bytes}", text("tiling_data_path")?));
            }
            "fftsAddr" => self.ffts = true,
            other => return Err(format!("param_type {other} is not supported")),
        }
        Ok(())
    }
}

fn in_range(bytes: u64) -> Result<(), String> {
    let fits = bytes > 0 && bytes < 30 << 30;
    if fits { Ok(()) } else { Err(format!("a size of {bytes} bytes is out of range")) }
}

fn bytes_of(parameter: &Value) -> Result<u64, String> {
    let kind = parameter["type"].as_str().unwrap_or_default();
    let element = element_bytes(kind).ok_or(format!("type {kind} is not supported"))?;
    let shape = parameter["shape"].as_array().ok_or(format!("a parameter has no shape: {parameter}"))?;
    let elements: u64 = shape.iter().map(|dim| dim.as_u64().unwrap_or(0)).product();
    in_range(elements * element)?;
    Ok(elements * element)
}
