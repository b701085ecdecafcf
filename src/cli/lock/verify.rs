//! `lock verify`.

use crate::cli::Exit;
use crate::cli::args::Common;
use crate::cli::check::drift;
use crate::cli::output::Output;
use events::Event;
use tuner::TunerError;

/// Executes the command.
pub(super) fn execute(common: &Common, machine: Option<&str>, output: &mut Output) -> Result<Exit, TunerError> {
    let path = super::path_of(common)?;
    let verified = drift::compare(&common.project, machine)?.verified(&path);
    let exit = if verified.verdict.passes() { Exit::Fine } else { Exit::CheckFailed };
    output.emit(&Event::LockVerified(verified));
    Ok(exit)
}
