//! What the model says about one kernel launch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a latency comes from. A modelled number is never shown as a measured one; a measured one weighs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The embedded AI Core model.
    Modelled,
    /// A real NPU.
    Measured,
}

impl Origin {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Modelled => "modelled",
            Origin::Measured => "measured",
        }
    }
}

/// Time per pipe in microseconds, as the vendor's profiler counts it: busy, waits inside an instruction included, waits for flags not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipeTimes {
    /// Scalar unit.
    pub scalar_us: f64,
    /// Vector unit.
    pub vec_us: f64,
    /// L1 to L0 copies.
    pub mte1_us: f64,
    /// Global memory to on-chip memory.
    pub mte2_us: f64,
    /// On-chip memory to global memory.
    pub mte3_us: f64,
    /// Cube unit.
    pub cube_us: f64,
    /// L0C to global memory.
    pub fixpipe_us: f64,
}

/// Times of the cores of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitTimes {
    /// `aiv` for vector cores, `aic` for cube cores.
    pub unit: String,
    /// Cores of the kind that ran.
    pub cores: u32,
    /// Mean over them.
    pub pipes: PipeTimes,
}

/// The resource that bounds a launch from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// Bytes read from global memory over bandwidth.
    Mte2,
    /// Bytes written to global memory over bandwidth.
    Mte3,
    /// Shared memory bandwidth, both directions together.
    Memory,
    /// Vector repeats over throughput.
    Vector,
    /// Matrix products over the cube unit's throughput.
    Cube,
    /// Bytes from L1 to L0 over bandwidth.
    Mte1,
    /// Bytes that the fixpipe writes to global memory over bandwidth.
    Fixpipe,
    /// Scalar work.
    Scalar,
    /// Launch and completion.
    Launch,
    /// No pipe is near its bound: latencies and waits dominate.
    Latency,
}

impl Limiter {
    /// Whether it is what the kernel has the scalar or the vector unit do, which is no property of the operator.
    pub fn is_work(self) -> bool {
        matches!(self, Limiter::Vector | Limiter::Scalar)
    }
}

/// Kinds of hazards. The names are part of the output contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HazardKind {
    /// Two pipes touch the same bytes, one writes, and nothing orders them.
    Race,
    /// Two cores touch the same bytes of global memory, one writes, and nothing orders them.
    CrossCoreRace,
    /// A core's data cache and global memory differ where one of them is read.
    StaleCacheLine,
    /// Access outside a global tensor or buffer.
    OutOfBoundsGm,
    /// Write behind a tensor that stays in its last block of 32 bytes. An allocation has these bytes; a tensor that is a
    /// slice of a larger one shares them with its neighbour.
    WriteInPadding,
    /// Write to an input that is no output as well.
    InputOverwritten,
    /// Access outside the unified buffer or a local tensor.
    OutOfBoundsUb,
    /// Access outside L1, L0A, L0B, L0C, the bias table or the fixpipe buffer.
    OutOfBoundsOnChip,
    /// Address or length against the instruction's alignment rule.
    Misaligned,
    /// More unified buffer asked for than there is.
    UbOverflow,
    /// Queue used against its rules: EnQue without AllocTensor, missing DeQue or FreeTensor.
    QueueMisuse,
    /// More repeats than the instruction can count.
    RepeatOverflow,
    /// A wait that never comes.
    Deadlock,
    /// A flag left set, set twice, or waited for twice.
    FlagMisuse,
    /// Operands overlap in a way the instruction does not allow.
    OperandOverlap,
    /// Read of bytes nobody wrote.
    UninitialisedRead,
    /// Bytes of an output that nobody wrote.
    UnwrittenOutput,
    /// An instruction or data type that this machine or the simulator does not have.
    Unsupported,
    /// An argument outside its documented range.
    BadArgument,
    /// An integer divided by zero in scalar code. A device goes on, with a quotient of which no public source tells.
    DivisionByZero,
}

impl HazardKind {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            HazardKind::Race => "race",
            HazardKind::CrossCoreRace => "cross-core-race",
            HazardKind::StaleCacheLine => "stale-cache-line",
            HazardKind::OutOfBoundsGm => "out-of-bounds-gm",
            HazardKind::WriteInPadding => "write-in-padding",
            HazardKind::InputOverwritten => "input-overwritten",
            HazardKind::OutOfBoundsUb => "out-of-bounds-ub",
            HazardKind::OutOfBoundsOnChip => "out-of-bounds-on-chip",
            HazardKind::Misaligned => "misaligned",
            HazardKind::UbOverflow => "ub-overflow",
            HazardKind::QueueMisuse => "queue-misuse",
            HazardKind::RepeatOverflow => "repeat-overflow",
            HazardKind::Deadlock => "deadlock",
            HazardKind::FlagMisuse => "flag-misuse",
            HazardKind::OperandOverlap => "operand-overlap",
            HazardKind::UninitialisedRead => "uninitialised-read",
            HazardKind::UnwrittenOutput => "unwritten-output",
            HazardKind::Unsupported => "unsupported",
            HazardKind::BadArgument => "bad-argument",
            HazardKind::DivisionByZero => "division-by-zero",
        }
    }
}

/// How bad a hazard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a look, does not reject a candidate.
    Warning,
    /// Rejects a candidate.
    Error,
}

/// One hazard with the instruction that shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hazard {
    /// Kind.
    pub kind: HazardKind,
    /// Severity.
    pub severity: Severity,
    /// Return address of the instruction (host address space of the worker), 0 if there is none; symbolised by the backend.
    pub site: u64,
    /// The other instruction of a race, 0 if there is none.
    pub other_site: u64,
    /// Core it was first seen on.
    pub core: u32,
    /// How often it was seen.
    pub count: u64,
    /// What happened, with pipes, bytes and the flag that would order them.
    pub message: String,
    /// Of accesses behind the end of a tensor in global memory: which, and how far they reach, of all that were seen there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
}

/// How far accesses reach behind the end of a tensor in global memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The tensor, such as `input 0`.
    pub tensor: String,
    /// Whether it is written.
    pub writes: bool,
    /// The byte after the last that is accessed, from the tensor's beginning.
    pub end: u64,
}

impl Reach {
    /// What the recorder says of a copy: `INSTRUCTION: N bytes at offset N of TENSOR, which has N bytes`. `None` of one that begins in front
    /// of its tensor, or is near none, and of whatever does not say by its name whether it writes.
    pub fn of(message: &str) -> Option<Self> {
        let (instruction, rest) = message.split_once(": ")?;
        let (bytes, rest) = rest.split_once(" bytes at offset ")?;
        let (offset, rest) = rest.split_once(" of ")?;
        let (tensor, _) = rest.split_once(", which has ")?;
        let end = offset.parse::<u64>().ok()?.checked_add(bytes.parse().ok()?)?;
        let writes = instruction.contains("_to_gm");
        (writes || instruction.contains("gm_to_")).then(|| Self { tensor: tensor.to_owned(), writes, end })
    }

    /// Both together; `None` of two tensors, or of reading and writing.
    pub(crate) fn joined(self, other: Self) -> Option<Self> {
        let (mine, others) = ((&self.tensor, self.writes), (&other.tensor, other.writes));
        (mine == others).then(|| Self { end: self.end.max(other.end), ..other })
    }

    /// Whether accesses that reach so far are no more than these.
    pub fn covers(&self, other: &Self) -> bool {
        (&self.tensor, self.writes) == (&other.tensor, other.writes) && other.end <= self.end
    }
}

/// Timing of one launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Kernel name as launched.
    pub kernel: String,
    /// Task duration in microseconds: dispatch, longest core, completion.
    pub task_us: f64,
    /// Lower bound: bytes over bandwidth and repeats over throughput, whichever is longer, plus launch.
    pub bound_us: f64,
    /// Launch and begin of a block in microseconds: what it takes to do nothing on so many cores.
    #[serde(default)]
    pub fixed_us: f64,
    /// What gives the bound.
    pub limiter: Limiter,
    /// Mean over the cores that ran; where both kinds of cores ran, of the kind that is busier on the pipe.
    pub pipes: PipeTimes,
    /// The same for each kind of core that ran.
    #[serde(default)]
    pub units: Vec<UnitTimes>,
    /// Cores that ran.
    pub cores: u32,
    /// Longest core time in microseconds.
    pub longest_core_us: f64,
    /// Shortest core time in microseconds.
    pub shortest_core_us: f64,
    /// Bytes read from global memory.
    pub gm_read_bytes: u64,
    /// Bytes written to global memory.
    pub gm_write_bytes: u64,
    /// Why pipes waited, largest first.
    pub stalls: Vec<Stall>,
    /// Busy intervals of the longest core for a timeline, at most a few thousand, in start order.
    pub timeline: Vec<Interval>,
    /// Critical path of the longest core, largest contributor first; empty if it was not asked for or a block hangs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_path: Vec<PathStep>,
    /// Buffers that queues and `TBuf` objects took of the unified buffer, by place, in the block that took most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<CutBuffers>,
    /// End of the highest of them in bytes.
    #[serde(default)]
    pub buffers_end_bytes: u64,
    /// Counters by name for diagnosis, such as `vec_ratio`, `mte2_ratio`, `bank_conflict_cycles`, `scalar_ratio`.
    pub counters: std::collections::BTreeMap<String, f64>,
}

/// What an `InitBuffer` call took of the unified buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutBuffers {
    /// Site of the call.
    pub site: u64,
    /// Bytes of all its buffers.
    pub bytes: u64,
}

/// What a part of the critical path is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathPart {
    /// Begin of a block.
    Start,
    /// The scalar unit issues an instruction of another pipe.
    Issue,
    /// Scalar work.
    Scalar,
    /// An instruction on its pipe, bank conflicts included.
    Instruction,
    /// Latency of a copy before its first byte.
    StartUp,
    /// Least distance of a copy to the one before.
    Spacing,
    /// What a copy's many rows, or bank conflicts of the vector unit, hold it up.
    Rows,
    /// Bytes at the rate that the core has alone.
    Bytes,
    /// Bytes beyond that, because others use the memory.
    SharedMemory,
    /// From the last cycle of an instruction until its results are there.
    Tail,
    /// Setting or passing a flag.
    Flag,
    /// A barrier of one pipe.
    Barrier,
    /// A barrier of all pipes.
    BarrierAll,
    /// A control register.
    Register,
    /// A flag or barrier on its way between cores.
    Cores,
    /// What was not followed: another core, or a block too long to keep.
    Unfollowed,
}

/// One contributor to the critical path of the longest core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathStep {
    /// Pipe: `s`, `v`, `mte2`, `mte3`, `mte1`, `m`, `fix`.
    pub pipe: String,
    /// What the time is spent on.
    pub part: PathPart,
    /// Instruction, empty if there is none.
    pub opcode: String,
    /// Microseconds of the path. All steps together are the longest core's time.
    pub time_us: f64,
    /// How often the path passes it.
    pub count: u64,
    /// How the path mostly leaves the pipe from here: `flag mte2->v`, `barrier all`, `queue of v full`; empty at the end.
    pub via: String,
    /// Site, 0 if unknown.
    pub site: u64,
}

/// Time one pipe lost to one reason, mean over cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// Pipe that waited: `s`, `v`, `mte2`, `mte3`, `mte1`, `m`, `fix`.
    pub pipe: String,
    /// What it waited for, such as `flag mte2->v` or `barrier all`.
    pub reason: String,
    /// Microseconds, mean over cores that ran.
    pub time_us: f64,
    /// Site of the instruction that waited longest, 0 if unknown.
    pub site: u64,
}

/// One busy interval of a pipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Pipe: `s`, `v`, `mte2`, `mte3`, `mte1`, `m`, `fix`.
    pub pipe: String,
    /// Instruction.
    pub opcode: String,
    /// Start in microseconds from the core's start.
    pub start_us: f64,
    /// End in microseconds.
    pub end_us: f64,
    /// Site, 0 if unknown.
    pub site: u64,
}
