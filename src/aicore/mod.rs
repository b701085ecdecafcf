//! The AI Core model: machine descriptions, instruction streams, timing and hazards. No I/O.

mod profile;

pub use profile::{Hazard, HazardKind, Interval, Limiter, PipeTimes, Profile, Severity, Stall};
