//! The runner's job file and its reply, both JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::execution::{CallOutput, KernelCall, Parameter, Tiled, TilingDecision};
use aicore::{BlockSample, KernelType};
use build::{KernelLibraries, TilingClass};
use manifest::Attribute;
use source::SourceTree;

/// An input tensor of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInput {
    /// Name in the operator definition.
    pub name: String,
    /// Dtype name.
    pub dtype: String,
    /// Format name.
    pub format: String,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Raw bytes.
    pub file: PathBuf,
}

/// An output tensor of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobOutput {
    /// Name in the operator definition.
    pub name: String,
    /// Dtype name.
    pub dtype: String,
    /// Format name.
    pub format: String,
    /// Dimensions; `None` lets shape inference decide.
    pub shape: Option<Vec<u64>>,
    /// What every element is before the launch, of an output that the operator adds to and its caller clears; where there is none,
    /// the operator's definition says it, or nobody.
    pub initial: Option<f64>,
}

/// One run of a framework operator: which libraries on which data.
#[derive(Clone, Debug, Default)]
pub struct KernelJob {
    /// Operator type.
    pub operator: String,
    /// Library with tiling function and operator definition.
    pub host: PathBuf,
    /// Kernel libraries for vector cores by tiling key; `None` serves every key.
    pub kernels: BTreeMap<Option<u64>, PathBuf>,
    /// Kernel libraries for cube cores, likewise.
    pub cube_kernels: BTreeMap<Option<u64>, PathBuf>,
    /// What cores a kernel runs on, likewise; without an entry on vector cores.
    pub kernel_types: BTreeMap<Option<u64>, KernelType>,
    /// Inputs in order.
    pub inputs: Vec<JobInput>,
    /// Outputs in order.
    pub outputs: Vec<JobOutput>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Values of injected tunables.
    pub knobs: BTreeMap<String, i64>,
    /// Whether to record the instruction streams.
    pub trace: bool,
    /// Byte that unwritten memory is filled with.
    pub poison: u8,
    /// Whether the last block starts first: a result that depends on the order of blocks differs.
    pub blocks_reversed: bool,
    /// Whether what a queue hands out is filled like unwritten memory: a result that depends on what an earlier tensor left there
    /// differs.
    pub fresh_tensors: bool,
    /// Blocks to run and what to write out of the outputs, one range after the other; all of everything without it.
    pub sample: Option<BlockSample>,
    /// Whether instructions are recorded without data: inputs need no files, and there are no outputs.
    pub timing_only: bool,
    /// What is built for a device; `None` where none is asked.
    pub device: Option<DeviceSources>,
}

/// What a candidate is built for a device from.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSources {
    /// The operator's files, with every value compiled in that a kernel can see.
    pub sources: SourceTree,
    /// CMake entries of the candidate.
    pub cmake: BTreeMap<String, String>,
}

/// One run of a direct-launch program, in a private copy of its project's data.
#[derive(Clone, Copy, Debug)]
pub struct ProgramJob<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// The project whose data it sees.
    pub project: &'a Path,
    /// Values of injected tunables.
    pub knobs: &'a BTreeMap<String, i64>,
    /// Whether the regions that its kernels wrote are asked for, as the outputs to verify.
    pub dump: bool,
    /// What is built for a device; `None` where none is asked.
    pub device: Option<&'a DeviceSources>,
}

impl KernelJob {
    /// Adds the libraries of a kernel for a tiling key.
    pub fn add_kernel(&mut self, key: Option<u64>, libraries: KernelLibraries) {
        if libraries.kind != KernelType::Aiv {
            self.kernel_types.insert(key, libraries.kind);
        }
        self.kernels.extend(libraries.vector.map(|artifact| (key, artifact.path)));
        self.cube_kernels.extend(libraries.cube.map(|artifact| (key, artifact.path)));
    }

    /// Folders of the libraries that it runs.
    pub(super) fn library_folders(&self) -> BTreeSet<PathBuf> {
        let kernels = self.kernels.values().chain(self.cube_kernels.values());
        std::iter::once(&self.host).chain(kernels).filter_map(|path| path.parent()).map(Path::to_owned).collect()
    }

    /// The job file; results go into `directory`. `mode` is `run`, or `tile` to stop after the tiling function.
    pub(super) fn text(&self, mode: &str, directory: &Path, machine: Value) -> String {
        let mut job = json!({
            "mode": mode,
            "host": path(&self.host),
            "operator": self.operator,
            "machine": machine,
            "kernels": self.kernels_of_job(),
            "attributes": self.attributes.iter().map(attribute).collect::<Vec<_>>(),
            "poison": self.poison,
            "blocks_reversed": self.blocks_reversed,
            "fresh_tensors": self.fresh_tensors,
            "timing_only": self.timing_only,
            "result": path(&result_file(directory)),
        });
        let tensor = |name: &str, dtype: &str, format: &str, file: &Path| json!({ "name": name, "dtype": wire_dtype(dtype), "format": format, "file": path(file) });
        let inputs = self.inputs.iter().map(|input| {
            let mut found = tensor(&input.name, &input.dtype, &input.format, &input.file);
            found["shape"] = json!(input.shape);
            found
        });
        job["inputs"] = inputs.collect();
        let outputs = self.outputs.iter().enumerate().map(|(index, output)| {
            let mut found = tensor(&output.name, &output.dtype, &output.format, &output_file(directory, index));
            // Shape inference decides where there is none.
            if let Some(shape) = &output.shape {
                found["shape"] = json!(shape);
            }
            if let Some(initial) = output.initial {
                found["initial"] = json!(initial);
            }
            found
        });
        job["outputs"] = outputs.collect();
        if self.trace {
            job["trace"] = path(&trace_file(directory));
        }
        if let Some(sample) = &self.sample {
            let ranges = sample.written.iter();
            let ranges =
                ranges.map(|range| json!({ "output": range.output, "from": range.from, "bytes": range.bytes }));
            job["sample"] = json!({ "blocks": sample.blocks, "ranges": ranges.collect::<Vec<_>>() });
        }
        job.to_string()
    }

    /// Libraries with what they are for.
    fn kernels_of_job(&self) -> Vec<Value> {
        let keys = self.kernels.keys().chain(self.cube_kernels.keys()).chain(self.kernel_types.keys());
        let keys: BTreeSet<&Option<u64>> = keys.collect();
        keys.into_iter()
            .map(|key| {
                let mut kernel = json!({});
                if let Some(key) = key {
                    kernel["key"] = json!(key);
                }
                for (name, libraries) in [("vector", &self.kernels), ("cube", &self.cube_kernels)] {
                    if let Some(library) = libraries.get(key) {
                        kernel[name] = path(library);
                    }
                }
                if let Some(kind) = self.kernel_types.get(key) {
                    kernel["type"] = json!(kind.name());
                }
                kernel
            })
            .collect()
    }
}

fn attribute(attribute: &Attribute) -> Value {
    json!({ "name": attribute.name, "type": attribute.kind, "value": attribute.value })
}

/// A path as a text, or as its bytes where it is no UTF-8.
fn path(path: &Path) -> Value {
    path.to_str().map_or_else(|| json!(path.as_os_str().as_bytes()), |text| json!(text))
}

/// What the runner wrote.
#[derive(Clone, Debug, Deserialize)]
pub struct RunnerReply {
    /// `ok`, `tiling_failed`, `kernel_missing`, `needs_data` or `error`.
    pub status: String,
    /// Explanation of anything but `ok`.
    #[serde(default)]
    pub message: String,
    /// Last lines of the operator's own log.
    #[serde(default)]
    pub log: Vec<String>,
    /// Tiling key.
    #[serde(default)]
    pub tiling_key: u64,
    /// Cores.
    #[serde(default)]
    pub block_dim: u32,
    /// Tiling data.
    #[serde(default)]
    pub tiling_hex: String,
    /// Outputs with the shapes that were used.
    #[serde(default)]
    pub outputs: Vec<ReplyOutput>,
    /// Return address of what needs data; 0 if it is not known.
    #[serde(default)]
    pub site: u64,
    /// Loaded modules, as traces list them.
    #[serde(default)]
    pub modules: String,
    /// Knobs that were read.
    #[serde(default)]
    pub knobs_read: BTreeSet<String>,
    /// Workspaces that the tiling function asks for, in bytes.
    #[serde(default)]
    pub workspace: Vec<u64>,
    /// The kernel's parameters for inputs.
    #[serde(default)]
    pub input_parameters: Vec<Parameter>,
    /// The kernel's parameters for outputs.
    #[serde(default)]
    pub output_parameters: Vec<Parameter>,
    /// Whether a parameter for shapes follows.
    #[serde(default)]
    pub writes_shapes: bool,
}

/// An output as the runner used it.
#[derive(Clone, Debug, Deserialize)]
pub struct ReplyOutput {
    /// Name.
    #[serde(default)]
    pub name: String,
    /// Dimensions, inferred or given.
    #[serde(default)]
    pub dims: Vec<u64>,
    /// Its bytes.
    #[serde(default)]
    pub bytes: u64,
    /// Bytes of one element, in hexadecimal, that the framework fills it with before a launch.
    #[serde(default)]
    pub initial: String,
}

impl RunnerReply {
    /// What the tiling function decided.
    pub(super) fn decision(&self) -> TilingDecision {
        TilingDecision {
            tiling_key: self.tiling_key,
            block_dim: self.block_dim,
            tiling_hex: self.tiling_hex.clone(),
            workspace_bytes: self.workspace.iter().sum(),
        }
    }

    /// What was decided, and the dimensions of every output.
    pub(super) fn tiled(self) -> Tiled {
        (self.decision(), self.outputs.into_iter().map(|output| output.dims).collect())
    }

    /// How the kernel is called.
    pub(super) fn call(&self) -> KernelCall {
        let output = |output: &ReplyOutput| CallOutput {
            name: output.name.clone(),
            dims: output.dims.clone(),
            bytes: output.bytes,
            initial: output.initial.clone(),
        };
        KernelCall {
            inputs: self.input_parameters.clone(),
            outputs: self.output_parameters.clone(),
            tensors: self.outputs.iter().map(output).collect(),
            writes_shapes: self.writes_shapes,
        }
    }
}

/// What a host library registers, as far as building its kernel needs it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Description {
    /// Tiling classes.
    #[serde(default)]
    pub tiling_classes: Vec<TilingClass>,
    /// Operators, as the runner writes them.
    #[serde(default)]
    pub ops: serde_json::Value,
}

/// A job that describes a host library.
pub(super) fn describe_text(host: &Path, directory: &Path) -> String {
    json!({ "mode": "describe", "host": path(host), "result": path(&result_file(directory)) }).to_string()
}

pub(super) fn output_file(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("output-{index}.bin"))
}

pub(super) fn trace_file(directory: &Path) -> PathBuf {
    directory.join("trace.bin")
}

pub(super) fn result_file(directory: &Path) -> PathBuf {
    directory.join("result.json")
}

/// The runner knows types that few operators have by their own names.
fn wire_dtype(name: &str) -> &str {
    if name == "int4" { "DT_INT4" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aicore::WrittenRange;

    #[test]
    fn a_job_says_everything() {
        let job = KernelJob {
            operator: "AddCustom".to_owned(),
            host: "/cache/host.so".into(),
            kernels: BTreeMap::from([(None, PathBuf::from("/cache/kernel.so"))]),
            cube_kernels: BTreeMap::from([(Some(7), PathBuf::from("/cache/cube.so"))]),
            kernel_types: BTreeMap::from([(Some(7), KernelType::Mix12)]),
            inputs: vec![JobInput {
                name: "x".to_owned(),
                dtype: "float16".to_owned(),
                format: "ND".to_owned(),
                shape: vec![8, 2048],
                file: "/data/x y.bin".into(),
            }],
            outputs: vec![JobOutput {
                name: "z".to_owned(),
                dtype: "float16".to_owned(),
                format: "ND".to_owned(),
                shape: None,
                initial: None,
            }],
            attributes: vec![Attribute { name: "eps".to_owned(), kind: "float".to_owned(), value: "1e-5".to_owned() }],
            knobs: BTreeMap::new(),
            trace: true,
            poison: 205,
            blocks_reversed: true,
            fresh_tensors: true,
            sample: Some(BlockSample {
                blocks: vec![0, 7],
                of: 8,
                written: vec![WrittenRange { output: 0, from: 64, bytes: 32 }],
            }),
            timing_only: true,
            device: None,
        };
        let text = job.text("run", Path::new("/run"), json!({ "soc": "Ascend910B2", "cores_aiv": 48 }));
        let expected = json!({
            "mode": "run",
            "host": "/cache/host.so",
            "operator": "AddCustom",
            "machine": { "soc": "Ascend910B2", "cores_aiv": 48 },
            "kernels": [
                { "vector": "/cache/kernel.so" },
                { "key": 7, "cube": "/cache/cube.so", "type": "mix_1_2" },
            ],
            "inputs": [
                { "name": "x", "dtype": "float16", "format": "ND", "shape": [8, 2048], "file": "/data/x y.bin" },
            ],
            "outputs": [{ "name": "z", "dtype": "float16", "format": "ND", "file": "/run/output-0.bin" }],
            "attributes": [{ "name": "eps", "type": "float", "value": "1e-5" }],
            "trace": "/run/trace.bin",
            "poison": 205,
            "blocks_reversed": true,
            "fresh_tensors": true,
            "timing_only": true,
            "sample": { "blocks": [0, 7], "ranges": [{ "output": 0, "from": 64, "bytes": 32 }] },
            "result": "/run/result.json",
        });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }

    #[test]
    fn a_path_that_is_no_text_is_its_bytes() {
        use std::ffi::OsStr;
        assert_eq!(path(Path::new(OsStr::from_bytes(b"a\xff"))), json!([97, 255]));
        assert_eq!(path(Path::new("/a b\n\"é")), json!("/a b\n\"é"));
    }
}
