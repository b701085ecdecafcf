//! `__bisheng`: stands in for the toolkit's compiler driver, so that a project's plain CMake build works.

use std::ffi::OsString;
use std::process::ExitCode;

use build::bisheng;
use build::sdk::{Sdk, SdkOptions};

/// Word of the command line that makes this program the driver.
pub const NAME: &str = "__bisheng";

/// Translates the command line and runs the host compiler.
pub fn execute(arguments: &[OsString]) -> ExitCode {
    let arguments: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let outcome = Sdk::prepare(&SdkOptions::from_environment()).and_then(|sdk| bisheng::run(&arguments, &sdk));
    match outcome {
        Ok(outcome) => {
            eprint!("{}", outcome.output);
            ExitCode::from(outcome.code)
        }
        Err(error) => {
            eprintln!("bisheng: {error}");
            ExitCode::FAILURE
        }
    }
}
