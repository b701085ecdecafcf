//! Where candidates run. The embedded simulator runs every kernel in a worker process with limits and plays its instruction
//! streams on the AI Core model; a recording of it, with noise on its times, stands in for a machine that measures.

mod cann;
mod execution;
mod foreseen;
mod job;
mod process;
mod processor_time;
mod questions;
mod recorded;
mod scratch;
mod seam;
mod sim;
mod symbols;
mod tape;
mod trace_file;
mod unit_test;
pub mod worker;

pub use self::cann::{
    BuiltOnce, CannBackend, DeviceBuild, DeviceProducts, Fleet, FleetDevice, FleetError, FleetOptions, Learned, Route,
};
pub use execution::{
    CallOutput, DeviceTime, Execution, KernelCall, LaunchProfile, LocatedHazard, Parameter, Place, RunFailure, Tiled,
    TilingDecision, longest,
};
pub use foreseen::Foreseen;
pub use job::{Description, DeviceSources, JobInput, JobOutput, KernelJob, ProgramJob};
pub use process::{NOT_STARTED, NOT_STARTED_SIGN, ProcessLimits, WorkerCommand};
pub use processor_time::Meter;
pub use recorded::Recorded;
pub use seam::{Answer, Backend, Capabilities, ToCome};
pub use sim::{SimBackend, SimError, VECTOR_CORES};
pub use symbols::Symbols;
pub use unit_test::{Script, TestFailure, TestReport, TestRun};
