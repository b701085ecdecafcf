//! The AI Core model: machine descriptions, instruction streams, timing and hazards. No I/O.
//!
//! [`analyse`] is the one entry: bytes of a trace in, one [`LaunchReport`] per launch out. `docs/model.md` explains
//! what is modelled and what is not.

mod accesses;
mod adjust;
mod agenda;
mod alike;
mod analyse;
mod buffers;
mod byte_classes;
mod core_judge;
mod core_play;
mod cross;
mod cube;
mod data_cache;
mod deadlock;
mod decode;
mod findings;
mod gm_hazard;
mod gm_log;
mod hazard;
mod kernel_type;
mod l2;
mod machine;
mod memo;
mod memory;
mod operand;
mod ordering;
mod path;
mod pipe;
mod profile;
mod region;
mod sample;
mod segments;
mod source;
mod steps;
mod stream;
mod summary;
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod timing;
mod trace;
mod vector;
mod visited;

pub use analyse::{LaunchReport, Options, analyse, analyse_source, launches, profiles};
pub use kernel_type::KernelType;
pub use machine::{Confidence, Constant, Machine, MachineError, Parameters};
pub use profile::{
    Hazard, HazardKind, Interval, Limiter, Origin, PathPart, PathStep, PipeTimes, Profile, Severity, Stall, UnitTimes,
};
pub use sample::{BlockSample, NoSample, WrittenRange};
pub use source::TraceSource;
pub use steps::{LaunchSteps, Parting, Step, StepOperand, partings, steps};
pub use trace::{DataRegion, LaunchStatus, Region, Role, Space, TraceError};
pub use vector::VectorClass;
