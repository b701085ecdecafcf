//! A small program of ours on AscendCL: it loads kernel objects once, runs them with whatever tiling it is given, reads outputs back
//! and times launches. The fastest way to try candidates, and the only one in which two of them take turns within a millisecond.

mod fault;
mod process;
mod program;
mod protocol;

pub use fault::{DeviceFault, LaunchFailure};
pub use process::{LauncherProcess, ProcessOptions};
pub use program::{LauncherError, LauncherProgram};
pub use protocol::{Hello, LaunchInput, LaunchJob, LaunchOutput, LaunchParameter, Listed, LoadRequest, RunRequest};
