//! A real toolkit and its devices: where they are, how they are driven, what they say.
//!
//! Nothing here decides what is faster or right; it finds, starts, reads and classifies. The backend that the tuner runs candidates by
//! stands on it.

pub mod launcher;
pub mod measure;
mod object;
pub mod profiler;
pub mod replay;

pub use object::{KernelObject, Magic, ObjectError};
