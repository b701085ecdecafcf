//! One kernel object run by the profiler itself, with the tiling that somebody decided: the text that `msprof op --config` reads.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::object::KernelObject;

/// Bytes that no tensor, workspace or tiling may reach.
const MOST_BYTES: u64 = 30 << 30;
/// Bytes of the parameter that leads to the flags between cores.
const SYNC_ADDRESS_BYTES: u64 = 8;
/// A launch always has a workspace, and a size of nothing is refused.
const LEAST_WORKSPACE_BYTES: u64 = 32;

/// A tensor of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayTensor {
    /// Name.
    pub name: String,
    /// Dtype, as manifests write it.
    pub dtype: String,
    /// Dimensions; none for a scalar.
    pub shape: Vec<u64>,
    /// File with an input's bytes.
    pub file: PathBuf,
}

/// A launch to replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Inputs in the order of the kernel's parameters; `None` for one that is left out.
    pub inputs: Vec<Option<ReplayTensor>>,
    /// Outputs likewise; their files are not used.
    pub outputs: Vec<ReplayTensor>,
    /// Bytes of workspace.
    pub workspace_bytes: u64,
    /// File with the tiling data.
    pub tiling_file: PathBuf,
    /// Bytes of it.
    pub tiling_bytes: u64,
    /// Key that selects the kernel.
    pub tiling_key: u64,
    /// Cores.
    pub blocks: u32,
    /// Device as the process sees it.
    pub device: u32,
    /// Where outputs go.
    pub output_folder: PathBuf,
}

/// A launch that cannot be written down.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The profiler's parser knows no such dtype.
    #[error("`msprof op --config` takes no tensor of dtype {dtype} ({name})")]
    Dtype {
        /// Its name.
        name: String,
        /// Its dtype.
        dtype: String,
    },
    /// Sizes have to be above nothing and below a limit.
    #[error("`msprof op --config` takes no {name} of {bytes} bytes: sizes lie above 0 and below 30 GiB")]
    Size {
        /// What it is.
        name: String,
        /// Its bytes.
        bytes: u64,
    },
    /// No cores.
    #[error("a launch on no cores cannot be replayed")]
    NoBlocks,
}

/// Where outputs go below the output folder.
pub const CASE_NAME: &str = "case";

/// The parser's name and the bytes of a dtype.
fn dtype_of(name: &str) -> Option<(&'static str, u64)> {
    Some(match name.to_ascii_lowercase().as_str() {
        "bool" => ("bool", 1),
        "int8" => ("int8", 1),
        "uint8" => ("uint8", 1),
        "int16" => ("int16", 2),
        "uint16" => ("uint16", 2),
        "int32" => ("int32", 4),
        "uint32" => ("uint32", 4),
        "int64" => ("int64", 8),
        "uint64" => ("uint64", 8),
        "bfloat16" | "bf16" => ("bfloat16", 2),
        "float16" | "half" => ("float16", 2),
        // The documents show `float`; the parser's list has only this.
        "float" | "float32" => ("float32", 4),
        "double" | "float64" => ("float64", 8),
        _ => return None,
    })
}

fn sized(name: &str, bytes: u64) -> Result<u64, ReplayError> {
    if bytes == 0 || bytes >= MOST_BYTES {
        return Err(ReplayError::Size { name: name.to_owned(), bytes });
    }
    Ok(bytes)
}

/// A tensor's fields without its file.
fn tensor(kind: &str, tensor: &ReplayTensor) -> Result<Value, ReplayError> {
    let (dtype, element_bytes) = dtype_of(&tensor.dtype)
        .ok_or_else(|| ReplayError::Dtype { name: tensor.name.clone(), dtype: tensor.dtype.clone() })?;
    let elements = tensor.shape.iter().try_fold(1u64, |product, dim| product.checked_mul(*dim));
    sized(&tensor.name, elements.and_then(|elements| elements.checked_mul(element_bytes)).unwrap_or(u64::MAX))?;
    let shape = if tensor.shape.is_empty() { vec![1] } else { tensor.shape.clone() };
    Ok(json!({ "param_type": kind, "name": tensor.name, "type": dtype, "shape": shape }))
}

impl Replay {
    /// The text for this launch of an object.
    ///
    /// # Errors
    /// Where the profiler's parser would refuse it.
    pub fn text(&self, object: &KernelObject) -> Result<String, ReplayError> {
        if self.blocks == 0 {
            return Err(ReplayError::NoBlocks);
        }
        let mut parameters = Vec::new();
        if object.intercore_sync {
            parameters.push(json!({ "param_type": "fftsAddr", "data_size": SYNC_ADDRESS_BYTES }));
        }
        for input in &self.inputs {
            parameters.push(match input {
                Some(input) => {
                    let mut value = tensor("input", input)?;
                    value["data_path"] = path(&input.file);
                    value
                }
                None => json!({ "param_type": "input", "data_path": "null" }),
            });
        }
        for output in &self.outputs {
            parameters.push(tensor("output", output)?);
        }
        let workspace = sized("workspace", self.workspace_bytes.max(LEAST_WORKSPACE_BYTES))?;
        parameters.push(json!({ "param_type": "workspace", "user_workspace_size": workspace }));
        if self.tiling_bytes > 0 {
            let bytes = sized("tiling", self.tiling_bytes)?;
            let file = path(&self.tiling_file);
            parameters.push(json!({ "param_type": "tiling", "tiling_data_size": bytes, "tiling_data_path": file }));
        }
        let config = json!({
            "kernel_name": object.kernel_name,
            "kernel_path": path(&object.path),
            "magic": object.magic.word(),
            "mode": "onboard",
            "blockdim": self.blocks,
            "device_id": self.device,
            "tiling_key": self.tiling_key,
            "output_data_path": path(&self.output_folder),
            "test_cases": [{ "case_name": CASE_NAME, "param_desc": parameters }],
        });
        Ok(config.to_string())
    }

    /// Bytes of every output as the profiler wrote them. It names files after outputs, and does not say how.
    ///
    /// # Errors
    /// Names the output of which no file can be told.
    pub fn outputs(&self) -> Result<Vec<Vec<u8>>, String> {
        let folder = self.output_folder.join(CASE_NAME);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let read = |name: &str| {
            let ways: [&dyn Fn(&str) -> bool; 2] = [&|stem| stem == name, &|stem| {
                stem.ends_with(&format!("_{name}")) || stem.starts_with(&format!("{name}_"))
            }];
            let one = |way: &&dyn Fn(&str) -> bool| {
                let mut fitting = files.iter().filter(|file| way(&stem(file)));
                fitting.next().filter(|_| fitting.next().is_none())
            };
            let file = ways.iter().find_map(one).ok_or_else(|| {
                let there: Vec<String> = files.iter().map(|file| stem(file)).collect();
                format!("{}: the profiler left no output {name}; there are: {}", folder.display(), there.join(", "))
            })?;
            std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
        };
        self.outputs.iter().map(|output| read(&output.name)).collect()
    }
}

fn path(path: &Path) -> Value {
    Value::String(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Magic;
    use std::collections::BTreeMap;

    fn object(intercore_sync: bool) -> KernelObject {
        KernelObject {
            path: "/cache/9f3a/ScaleAdd_ab12.o".into(),
            kernel_name: "ScaleAdd_ab12".to_owned(),
            symbols: BTreeMap::new(),
            magic: Magic::Vector,
            tiling_bytes: 32,
            intercore_sync,
            dtypes: Vec::new(),
        }
    }

    fn tensor(name: &str, dtype: &str, shape: &[u64]) -> ReplayTensor {
        ReplayTensor {
            name: name.to_owned(),
            dtype: dtype.to_owned(),
            shape: shape.to_vec(),
            file: format!("/in/{name}.bin").into(),
        }
    }

    fn replay() -> Replay {
        Replay {
            inputs: vec![Some(tensor("x", "float16", &[8, 4096])), None],
            outputs: vec![tensor("y", "float", &[])],
            workspace_bytes: 0,
            tiling_file: "/cache/9f3a/t17.bin".into(),
            tiling_bytes: 32,
            tiling_key: u64::MAX,
            blocks: 40,
            device: 1,
            output_folder: "/cache/9f3a/out".into(),
        }
    }

    #[test]
    fn a_launch_is_written_as_the_parser_takes_it() {
        let value: Value = serde_json::from_str(&replay().text(&object(false)).unwrap()).unwrap();
        let expected = json!({
            "kernel_name": "ScaleAdd_ab12", "kernel_path": "/cache/9f3a/ScaleAdd_ab12.o",
            "magic": "RT_DEV_BINARY_MAGIC_ELF_AIVEC", "mode": "onboard", "blockdim": 40, "device_id": 1,
            "tiling_key": 18_446_744_073_709_551_615u64, "output_data_path": "/cache/9f3a/out",
            "test_cases": [{ "case_name": "case", "param_desc": [
                { "param_type": "input", "name": "x", "type": "float16", "shape": [8, 4096], "data_path": "/in/x.bin" },
                { "param_type": "input", "data_path": "null" },
                { "param_type": "output", "name": "y", "type": "float32", "shape": [1] },
                { "param_type": "workspace", "user_workspace_size": 32 },
                { "param_type": "tiling", "tiling_data_size": 32, "tiling_data_path": "/cache/9f3a/t17.bin" },
            ] }],
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn kernels_whose_cores_wait_for_each_other_get_the_address_of_their_flags_first() {
        let value: Value = serde_json::from_str(&replay().text(&object(true)).unwrap()).unwrap();
        let first = &value["test_cases"][0]["param_desc"][0];
        assert_eq!(*first, json!({ "param_type": "fftsAddr", "data_size": 8 }));
    }

    #[test]
    fn what_the_parser_refuses_is_said_before() {
        let refused = |change: fn(&mut Replay)| {
            let mut replay = replay();
            change(&mut replay);
            replay.text(&object(false)).unwrap_err().to_string()
        };
        assert!(refused(|replay| replay.outputs[0].dtype = "int4".to_owned()).contains("dtype int4 (y)"));
        assert!(refused(|replay| replay.outputs[0].shape = vec![8, 0]).contains("no y of 0 bytes"));
        assert!(refused(|replay| replay.outputs[0].shape = vec![1 << 40]).contains("below 30 GiB"));
        assert!(refused(|replay| replay.outputs[0].shape = vec![u64::MAX, 2]).contains("below 30 GiB"));
        assert!(refused(|replay| replay.workspace_bytes = 30 << 30).contains("no workspace of 32212254720 bytes"));
        assert!(refused(|replay| replay.blocks = 0).contains("no cores"));
    }

    #[test]
    fn outputs_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let replay = Replay { output_folder: folder.path().to_owned(), ..replay() };
        let case = folder.path().join(CASE_NAME);
        fs_err::create_dir_all(&case).unwrap();
        assert!(replay.outputs().unwrap_err().contains("no output y"));
        fs_err::write(case.join("output_y.bin"), [1, 2]).unwrap();
        fs_err::write(case.join("output_yy.bin"), [3]).unwrap();
        assert_eq!(replay.outputs().unwrap(), [vec![1, 2]]);
        fs_err::write(case.join("y.bin"), [4]).unwrap();
        assert_eq!(replay.outputs().unwrap(), [vec![4]]);
    }
}
