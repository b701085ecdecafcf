//! `init`: manifests for operators that have none ([`one`], [`many`]), and files beside them that CI, git and CMake read.

mod many;
mod one;

use std::io::Write as _;

use super::args::{Common, InitArgs};
use super::output::Output;
use super::target::processors;
use super::{Exit, ci, installed};
use tuner::TunerError;

/// Executes the command.
pub fn execute(common: &Common, arguments: &InitArgs, output: &mut Output) -> Result<Exit, TunerError> {
    if let Some(system) = arguments.ci {
        return ci::execute(common, arguments, system, output);
    }
    match (arguments.cmake, arguments.hook) {
        (true, _) => return installed::cmake_module(common, arguments, output),
        (_, true) => return installed::hook(common, arguments, output),
        (false, false) => {}
    }
    let jobs = arguments.jobs.map_or_else(processors, |jobs| jobs as usize);
    if arguments.selection.is_many() {
        return many::make(common, arguments, jobs, output);
    }
    let made = one::make(common, arguments, jobs, output)?;
    if arguments.dry_run && !output.json {
        std::io::stdout().write_all(made.text.as_bytes())?;
    }
    Ok(Exit::Fine)
}
