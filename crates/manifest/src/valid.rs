//! The manifest after validation: domain types that the rest of the crate works with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
pub use verify::{TensorSpec, Tolerance, ValueRange};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::allow::Allowance;
use super::cann::DeviceSettings;
use super::model::{MODEL_KEY_VARIABLE, ModelSettings, ProposerSettings};
use super::stands_for::SizeRange;
use space::Tunable;

/// Shape of an operator project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `op_host/`, `op_kernel/`, tiling declared by macros, its own CMake project.
    Msopgen,
    /// One operator's directory of a larger tree, plain-struct tiling.
    InTree,
    /// `.asc` or `.cpp` with its own `main` and `<<<>>>`.
    DirectLaunch,
}

impl Layout {
    /// The layout in words.
    pub fn words(self) -> &'static str {
        match self {
            Layout::Msopgen => "operator framework project (msOpGen style)",
            Layout::InTree => "one operator of a repository",
            Layout::DirectLaunch => "program with direct kernel launches",
        }
    }
}

/// A validated manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Path of the file, or of the file it would be for a manifest made up by `profile`.
    pub path: PathBuf,
    /// Operator type such as `AddCustom`; for direct launch the name of the program's target.
    pub operator: String,
    /// Shape of the project.
    pub layout: Layout,
    /// Kernel entry function.
    pub kernel: String,
    /// Tiling function, empty where there is none.
    pub tiling: String,
    /// Files that tuning may edit, relative to the operator's root.
    pub sources: Vec<String>,
    /// Cases in file order, at least one.
    pub cases: Vec<Case>,
    /// Dimensions of the search space.
    pub tunables: Vec<Tunable>,
    /// Constraint expressions over tunables and case facts, with their byte spans in the file.
    pub constraints: Vec<(String, std::ops::Range<usize>)>,
    /// Machine description by name or path.
    pub machine: String,
    /// CMake cache entries.
    pub cmake: BTreeMap<String, String>,
    /// Where right answers come from.
    pub reference: Reference,
    /// Overrides of tolerance by dtype name.
    pub tolerance: BTreeMap<String, Tolerance>,
    /// Ratio by which a case may end slower than it began: 1.02 allows 2 %.
    pub case_floor: f64,
    /// Whether the tiling function may be made to choose values by size.
    pub dispatch: bool,
    /// Latency slack for `check`, as a ratio: 1.03 allows 3 %.
    pub check_tolerance: f64,
    /// Motifs that change rounding or determinism may be used.
    pub allow_rounding_changes: bool,
    /// Seeds of input data per case.
    pub seeds: u32,
    /// Cases that the search does not see and the winner is tried on before it is written back, at most; 0 for none.
    pub probes: u32,
    /// Bytes of a case's tensors from which quick trials run only blocks that stand for all; `None` if they never do.
    pub sample_from_bytes: Option<u64>,
    /// Wall-clock limit of one kernel run in seconds.
    pub run_timeout_s: f64,
    /// Memory limit of one kernel run in bytes.
    pub run_memory_bytes: u64,
    /// Wall-clock limit of one call of the compiler or of CMake in seconds.
    pub compile_timeout_s: f64,
    /// Memory limit of each process of compiler and CMake in bytes.
    pub compile_memory_bytes: u64,
    /// Command run before a direct-launch program (for instance to make its input files), empty for none.
    pub prepare: Vec<String>,
    /// How findings of the hazard judge are treated.
    pub hazards: HazardPolicy,
    /// Hazards of the operator as it stands that are meant to be there.
    pub allow: Vec<Allowance>,
    /// Outputs that may stay unwritten, by case and output.
    pub optional_outputs: BTreeSet<(String, String)>,
    /// Which headers kernels are built against.
    pub headers: KernelHeaders,
    /// What it says of devices.
    pub devices: DeviceSettings,
    /// A language model that proposes rewrites, where there is one.
    pub model: Option<ModelSettings>,
    /// A program that proposes rewrites, where there is one.
    pub proposer: Option<ProposerSettings>,
}

impl Manifest {
    /// Environment variable that holds the key of a model's endpoint, of which no other process is told.
    pub fn model_key_variable(&self) -> &str {
        self.model.as_ref().map_or(MODEL_KEY_VARIABLE, ModelSettings::key_variable)
    }
}

/// Headers that kernels are built against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KernelHeaders {
    /// The embedded SDK's.
    #[default]
    Own,
    /// Those of a toolkit or a checkout of the open device library; without a path, of the installed one.
    Toolkit(Option<PathBuf>),
}

/// Which hazards reject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HazardPolicy {
    /// Errors that the operator as it stands has are shown and kept as known; more of them reject a candidate. Warnings are
    /// reported.
    #[default]
    Known,
    /// Errors reject, also those of the operator as it stands; warnings are reported.
    Errors,
    /// Warnings reject too.
    Strict,
}

/// Source of right answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reference {
    /// Outputs of the unmodified operator.
    #[default]
    Baseline,
    /// A command; `{input:NAME}` and `{output:NAME}` are replaced by raw file paths, `{case}` by the case's name.
    Command(Vec<String>),
    /// Directory with `<case>/<output>.npy` and `<case>/<input>.npy`.
    Npy(PathBuf),
    /// A Python file with a function that computes the outputs, as operators of the open libraries bring: `golden.py`.
    Script {
        /// The file, relative to the operator's root.
        script: PathBuf,
        /// The Python that runs it.
        python: PathBuf,
    },
    /// Outputs of the unmodified operator, and what the tool's own definition of the operator type gives: both must hold.
    Definition {
        /// The Python that computes it, with NumPy.
        python: PathBuf,
    },
}

/// One workload of the operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name, unique.
    pub name: String,
    /// Weight in the geometric mean.
    pub weight: f64,
    /// Sizes that it stands for, where the manifest says so.
    pub stands_for: Option<SizeRange>,
    /// Inputs in the operator's order. Empty for direct launch.
    pub inputs: Vec<TensorSpec>,
    /// Outputs in the operator's order; an empty shape list means that shape inference decides.
    pub outputs: Vec<TensorSpec>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Run on hostile values too (zeros, denormals, infinities, NaN).
    pub hostile: bool,
    /// Only checked for being right, never timed (odd lengths and the like).
    pub verify_only: bool,
    /// Program arguments of a direct launch.
    pub arguments: Vec<String>,
}

/// An attribute of a case.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub struct Attribute {
    /// Name in the operator definition.
    pub name: String,
    /// Type name as the runner takes it: int, float, bool, string, list_int, list_float, list_bool, list_list_int.
    pub kind: String,
    /// Value as text, lists separated by commas.
    pub value: String,
}
