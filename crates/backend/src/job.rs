//! The runner's job file and its reply.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::execution::{CallOutput, KernelCall, Parameter, TilingDecision};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutput {
    /// Name in the operator definition.
    pub name: String,
    /// Dtype name.
    pub dtype: String,
    /// Format name.
    pub format: String,
    /// Dimensions; `None` lets shape inference decide.
    pub shape: Option<Vec<u64>>,
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

    /// Text of the job file; results go into `directory`. `mode` is `run`, or `tile` to stop after the tiling function.
    pub(super) fn text(&self, mode: &str, directory: &Path, platform: &str) -> String {
        let mut text = format!("mode {mode}\n");
        let mut line = |words: &[&str]| {
            let _ = writeln!(text, "{}", words.join(" "));
        };
        line(&["host", &quote(&self.host)]);
        let name = |key: &Option<u64>| key.map_or_else(|| "*".to_owned(), |key| key.to_string());
        for (word, libraries) in [("kernel", &self.kernels), ("kernel_cube", &self.cube_kernels)] {
            for (key, path) in libraries {
                line(&[word, &name(key), &quote(path)]);
            }
        }
        for (key, kind) in &self.kernel_types {
            line(&["kernel_type", &name(key), kind.name()]);
        }
        line(&["op", &word(&self.operator)]);
        line(&[platform.trim_end()]);
        for input in &self.inputs {
            let shape = dimensions(&input.shape);
            line(&["input", &word(&input.name), wire_dtype(&input.dtype), &input.format, &shape, &quote(&input.file)]);
        }
        for (index, output) in self.outputs.iter().enumerate() {
            let shape = output.shape.as_deref().map_or_else(|| "infer".to_owned(), dimensions);
            let file = quote(&output_file(directory, index));
            line(&["output", &word(&output.name), wire_dtype(&output.dtype), &output.format, &shape, &file]);
        }
        for attribute in &self.attributes {
            let value = quoted(attribute.value.as_bytes());
            line(&["attr", &word(&attribute.name), &attribute.kind, &value]);
        }
        if self.trace {
            line(&["trace", &quote(&trace_file(directory))]);
        }
        line(&["poison", &self.poison.to_string()]);
        if self.blocks_reversed {
            line(&["blocks_reversed", "1"]);
        }
        if self.fresh_tensors {
            line(&["fresh_tensors", "1"]);
        }
        if let Some(sample) = &self.sample {
            let blocks: Vec<String> = sample.blocks.iter().map(u32::to_string).collect();
            line(&["blocks", &blocks.join(" ")]);
            for range in &sample.written {
                line(&["range", &range.output.to_string(), &range.from.to_string(), &range.bytes.to_string()]);
            }
        }
        if self.timing_only {
            line(&["timing_only", "1"]);
        }
        line(&["result", &quote(&result_file(directory))]);
        text
    }
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

/// Text of a job that describes a host library.
pub(super) fn describe_text(host: &Path, directory: &Path) -> String {
    format!("mode describe\nhost {}\nresult {}\n", quote(host), quote(&result_file(directory)))
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

fn dimensions(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

fn quote(path: &Path) -> String {
    quoted(path.as_os_str().as_bytes())
}

/// A name as it stands where nothing in it means something to the runner, and in quotes elsewhere.
fn word(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':' | '/');
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name.as_bytes()) }
}

/// A value in quotes, whatever bytes it has: a job has a line for everything, and is text.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => text.extend(['\\', letter]),
                control if control.is_ascii_control() => {
                    let _ = write!(text, "\\x{:02x}", control as u32);
                }
                letter => text.push(letter),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use aicore::WrittenRange;

    #[test]
    fn job_text_has_a_line_for_everything() {
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
        let expected = "mode run\nhost \"/cache/host.so\"\nkernel * \"/cache/kernel.so\"\n\
                        kernel_cube 7 \"/cache/cube.so\"\nkernel_type 7 mix_1_2\nop AddCustom\nsoc Ascend910B2\n\
                        input x float16 ND 8x2048 \"/data/x y.bin\"\noutput z float16 ND infer \"/run/output-0.bin\"\n\
                        attr eps float \"1e-5\"\ntrace \"/run/trace.bin\"\npoison 205\nblocks_reversed 1\nfresh_tensors 1\n\
                        blocks 0 7\nrange 0 64 32\ntiming_only 1\nresult \"/run/result.json\"\n";
        assert_eq!(job.text("run", Path::new("/run"), "soc Ascend910B2\n"), expected);
    }

    /// Reads a quoted value as the runner does.
    fn read(quoted: &str) -> Vec<u8> {
        let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect("quotes");
        assert!(!inner.contains('\n'), "a value in more than one line");
        let (mut bytes, mut rest) = (Vec::new(), inner.as_bytes());
        while let Some((&first, behind)) = rest.split_first() {
            rest = behind;
            if first != b'\\' {
                assert_ne!(first, b'"', "an open quote");
                bytes.push(first);
            } else if let [b'x', high, low, ..] = rest {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                rest = &rest[3..];
            } else {
                bytes.push(rest[0]);
                rest = &rest[1..];
            }
        }
        bytes
    }

    #[test]
    fn values_of_any_bytes_come_through() {
        let mut state = 7_u32;
        for length in 0..400 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let any = (state >> 24) as u8;
                    // Half of them are what quoting is about.
                    if any & 1 == 0 { b"\\\"x\n\r 0\xff\xc3\xa9"[usize::from(any >> 1) % 10] } else { any }
                })
                .collect();
            assert_eq!(read(&quoted(&bytes)), bytes);
        }
        assert_eq!(quoted("a b".as_bytes()), "\"a b\"");
        assert_eq!(word("x y"), "\"x y\"");
        assert_eq!(word("x_1"), "x_1");
        assert_eq!(word(""), "\"\"");
    }
}
