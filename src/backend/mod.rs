//! Where candidates run. The embedded simulator is the one backend of this version; it runs every kernel in a worker
//! process with limits and plays the recorded instruction streams on the AI Core model.

mod execution;
mod job;
mod process;
mod sim;
mod symbols;
mod trace_file;
mod unit_test;
pub mod worker;

pub use execution::{Execution, LaunchProfile, LocatedHazard, Place, RunFailure, TilingDecision, longest};
pub use job::{Description, JobInput, JobOutput, KernelJob};
pub use process::{NOT_STARTED, NOT_STARTED_SIGN, ProcessLimits, WorkerCommand};
pub use sim::{SimBackend, SimError};
pub use symbols::Symbols;
pub use unit_test::{Script, TestFailure, TestReport, TestRun, TestVerdict};
