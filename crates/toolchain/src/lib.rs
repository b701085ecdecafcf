//! Compilers and CMake: found, run under limits of time, memory and reach, and what they say as findings.
//!
//! Both builds stand on it: the one against the embedded SDK, and the one against a real toolkit.

mod cmake;
pub mod diagnostics;
mod error;
mod presets;
mod tool;

pub use cmake::{CMAKE_FIX, Cmake};
pub use diagnostics::{Diagnostic, Severity};
pub use error::{ToolError, ToolLimit};
pub use presets::{PresetError, preset_entries};
pub use tool::{ToolLimits, ToolRun, run_tool};
