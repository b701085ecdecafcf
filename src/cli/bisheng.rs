//! `__bisheng`: stands in for the toolkit's compiler driver, so that a project's plain CMake build works.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::build::bisheng;

/// Translates the command line and runs the host compiler.
pub fn execute(arguments: &[OsString]) -> ExitCode {
    match bisheng::run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("bisheng: {error}");
            ExitCode::FAILURE
        }
    }
}
