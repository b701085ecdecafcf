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
mod constant;
mod copy;
mod core_judge;
mod core_play;
mod cost;
mod cross;
mod cube;
mod data_cache;
mod deadlock;
mod decode;
mod findings;
mod gm_hazard;
mod gm_log;
mod hazard;
mod held;
mod kernel_type;
mod key_hasher;
mod l2;
mod machine;
mod memo;
mod memory;
mod operand;
mod options;
mod ordering;
mod path;
mod pipe;
mod profile;
mod record;
mod recording;
mod region;
mod sample;
mod segments;
mod shared;
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
mod trace_error;
mod vector;
mod visited;
mod words;

pub use analyse::{LaunchReport, analyse, analyse_source};
pub use constant::{Confidence, Constant};
pub use kernel_type::KernelType;
pub use machine::{Machine, MachineError, Parameters};
pub use operand::Space;
pub use options::{Options, Warmth};
pub use profile::{
    Hazard, HazardKind, Interval, Limiter, Origin, PathPart, PathStep, PipeTimes, Profile, Reach, Severity, Stall,
    UnitTimes,
};
pub use recording::Recording;
pub use region::{DataRegion, Region, Role};
pub use sample::{BlockSample, NoSample, WrittenRange};
pub use source::TraceSource;
pub use steps::{LaunchStep, LaunchSteps, Parting, StepOperand, partings, steps};
pub use trace::LaunchStatus;
pub use trace_error::TraceError;
pub use vector::VectorClass;
