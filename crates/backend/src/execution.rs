//! What comes back from a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use aicore::{BlockSample, HazardKind, NoSample, PipeTimes, Profile, Reach, Severity};

/// A place in the operator's sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// File, relative to the operator's root; empty if unknown.
    pub file: String,
    /// Line from 1; 0 if unknown.
    pub line: u32,
}

impl Place {
    /// ` at FILE:LINE` for the end of a sentence, empty if the place is not known.
    pub fn suffix(&self) -> String {
        if self.file.is_empty() { String::new() } else { format!(" at {}:{}", self.file, self.line) }
    }
}

/// A hazard with its source lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocatedHazard {
    /// Kind.
    pub kind: HazardKind,
    /// Severity.
    pub severity: Severity,
    /// Instruction that shows it.
    #[serde(flatten)]
    pub place: Place,
    /// The other instruction of a race.
    pub other: Place,
    /// How often it was seen.
    pub count: u64,
    /// What happened.
    pub message: String,
    /// How far accesses reach behind the end of a tensor, where it is such a hazard and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// The output that stays unwritten, by position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u32>,
}

/// One launch: its profile and hazards.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchProfile {
    /// Whether the trace goes on to the launch's end. Programs that die leave none.
    pub finished: bool,
    /// Timing.
    pub profile: Profile,
    /// Hazards, worst first.
    pub hazards: Vec<LocatedHazard>,
    /// Source places of the stalls in `profile.stalls`, in the same order.
    pub stall_places: Vec<Place>,
    /// Source places of the steps in `profile.critical_path`, in the same order.
    pub path_places: Vec<Place>,
    /// Source places of the buffers in `profile.buffers`, in the same order.
    pub buffer_places: Vec<Place>,
    /// Source places that its instructions come from, where the critical path was followed, each with the most records that one
    /// core left there.
    pub visited: BTreeMap<Place, u64>,
    /// Blocks that stand for all, or why all have to run. Of a run without data, `None` of all others.
    pub sample: Option<Result<BlockSample, NoSample>>,
    /// What a device says of it. Everything else here is the model's.
    pub device: Option<DeviceTime>,
}

impl LaunchProfile {
    /// Task duration in microseconds: the device's where there is one, else the model's.
    pub fn task_us(&self) -> f64 {
        self.device.as_ref().map_or(self.profile.task_us, |device| device.task_us)
    }
}

/// The launch that takes longest: the one that explains a case.
pub fn longest<'launches>(
    launches: impl IntoIterator<Item = &'launches LaunchProfile>,
) -> Option<&'launches LaunchProfile> {
    launches.into_iter().max_by(|left, right| left.task_us().total_cmp(&right.task_us()))
}

/// What the tiling function decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TilingDecision {
    /// Key that selects the kernel.
    pub tiling_key: u64,
    /// Cores.
    pub block_dim: u32,
    /// Tiling data in hexadecimal.
    pub tiling_hex: String,
    /// Bytes of workspace.
    #[serde(default)]
    pub workspace_bytes: u64,
}

/// What a tiling function decided, and the dimensions of every output.
pub type Tiled = (TilingDecision, Vec<Vec<u64>>);

/// A parameter of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Parameter {
    /// Name in the operator definition.
    pub name: String,
    /// Whether it is a list of tensors, passed by its address.
    #[serde(default)]
    pub dynamic: bool,
    /// How many tensors of the call it takes; 0 for one that the call leaves out.
    #[serde(default)]
    pub tensors: u64,
}

/// An output of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOutput {
    /// Name in the operator definition.
    pub name: String,
    /// Dimensions, inferred or given.
    pub dims: Vec<u64>,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes of one element, in hexadecimal, that it is filled with before a launch; empty for nothing.
    pub initial: String,
}

/// How a kernel is called: its parameters, before workspace and tiling data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCall {
    /// Parameters for inputs.
    pub inputs: Vec<Parameter>,
    /// Parameters for outputs.
    pub outputs: Vec<Parameter>,
    /// The outputs.
    pub tensors: Vec<CallOutput>,
    /// Whether one more parameter follows, for a tensor into which the kernel writes shapes of outputs that it computes.
    pub writes_shapes: bool,
}

/// What a device says of a launch, or of all launches of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceTime {
    /// Median of the task durations in microseconds.
    pub task_us: f64,
    /// Standard deviation of one of them as a share of it.
    pub spread: f64,
    /// How many.
    pub count: u32,
    /// Longest time of a core in microseconds, without dispatch, where a profiler told it.
    pub core_us: Option<f64>,
    /// Busy times of the pipes, where a profiler told them.
    pub pipes: Option<PipeTimes>,
}

/// One run of a candidate on one case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Execution {
    /// Launches in the order they were made; one for a framework operator. Empty where no trace was asked for.
    pub launches: Vec<LaunchProfile>,
    /// Raw outputs in the operator's order, of a run of some blocks the ranges that were asked for; for direct launch the regions that kernels wrote, launch by launch. None of a run
    /// without data.
    pub outputs: Vec<Vec<u8>>,
    /// What tiling decided; empty for direct launch.
    pub tiling: TilingDecision,
    /// Knobs that tiling function and kernel have read; not known of a direct launch.
    pub knobs_read: Option<BTreeSet<String>>,
    /// How the kernel was called; empty for direct launch.
    pub call: KernelCall,
}

impl Execution {
    /// Task duration in microseconds, over all launches.
    pub fn task_us(&self) -> f64 {
        self.launches.iter().map(LaunchProfile::task_us).sum()
    }
}

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunFailure {
    /// The tiling function refused; its own words.
    #[error("the tiling function failed: {0}")]
    Tiling(String),
    /// Shape inference and the tiling function, asked alone, ran into their time limit.
    #[error("shape inference or the tiling function did not return within {0:.0} s")]
    TilingTimedOut(f64),
    /// No kernel was built for the tiling key yet.
    #[error("no kernel for tiling key {0}")]
    KernelMissing(u64),
    /// Killed by a signal.
    #[error("the worker crashed: {0}")]
    Crashed(String),
    /// Ran into its time limit.
    #[error("the kernel did not finish within {0:.1} s")]
    TimedOut(f64),
    /// Wrote as much of a trace as it may. That many instructions mean a loop without an end, or work for another machine.
    #[error("the kernel does not end, or does far too much: its trace reached the limit of {limit_mib} MiB{}", place.suffix())]
    EndlessTrace {
        /// The limit.
        limit_mib: u64,
        /// Where in the operator's sources it was, if that is known.
        place: Place,
    },
    /// Ran into its memory limit.
    #[error("the worker ran out of its {0} MiB of memory")]
    OutOfMemory(u64),
    /// A run without data came to where the data decide what follows.
    #[error("it needs data: {reason}{}", place.suffix())]
    NeedsData {
        /// What reads which data.
        reason: String,
        /// Where in the operator's sources, if that is known.
        place: Place,
    },
    /// A direct-launch program ended with an exit code other than 0.
    #[error("the program ended with exit code {code}: {output}")]
    Program {
        /// Its exit code.
        code: i32,
        /// The end of what it printed.
        output: String,
    },
    /// A case that is no call of the operator: a tensor or an attribute is missing, or is of another type or size.
    #[error("the operator cannot be called so: {0}")]
    Misfit(String),
    /// By the model it is so much slower than others that no device is asked.
    #[error(
        "by the model it takes {ratio:.1} times as long as the fastest so far, at {modelled_us:.2} us: no device time is spent on it"
    )]
    Hopeless {
        /// Its modelled time in microseconds.
        modelled_us: f64,
        /// That over the fastest's.
        ratio: f64,
    },
    /// It does not build for the device.
    #[error("{message}")]
    Build {
        /// File of the first error, relative to the operator's root; empty if unknown.
        place: Place,
        /// What the toolkit says.
        message: String,
    },
    /// The candidate's libraries cannot be loaded, shape inference says no, its own code throws, or it ends the worker itself.
    #[error("it cannot be run: {0}")]
    Refused(String),
    /// The devices do not answer, or none is left: nothing is known of the candidate.
    #[error("{0}")]
    NoDevice(String),
    /// The runner or its files were not as they must be, or somebody killed it: the machine's fault or ours, which says nothing
    /// about the candidate.
    #[error("the simulator failed: {0}")]
    Broken(String),
}

impl RunFailure {
    /// Whether the machine is at fault, so that nothing is known of what was to be run.
    pub fn is_of_machine(&self) -> bool {
        matches!(self, RunFailure::Broken(_) | RunFailure::NoDevice(_))
    }
}
