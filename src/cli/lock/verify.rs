//! `lock verify`.

use crate::cli::Exit;
use crate::cli::args::Common;
use crate::cli::check::drift;
use crate::cli::output::Output;
use events::Event;
use tuner::TunerError;

/// Executes the command.
pub(super) fn execute(common: &Common, named: &drift::Named<'_>, output: &mut Output) -> Result<Exit, TunerError> {
    let path = super::path_of(common)?;
    let mut exit = Exit::Fine;
    for compared in drift::compare(&common.project, named)? {
        let verified = compared.verified(&path);
        if !verified.verdict.passes() {
            exit = Exit::CheckFailed;
        }
        output.emit(&Event::LockVerified(verified));
    }
    Ok(exit)
}
