//! `lock`: how the project differs from its lock, and everything else that is done with locks.

mod accept;
mod bank;
mod diff;
mod export;
mod migrate;
mod show;
mod verify;

use std::path::PathBuf;

use super::Exit;
use super::args::{Common, LockAction, LockArgs};
use super::check::drift::Named;
use super::output::{Output, start_event};
use events::Event;
use lock::LOCK_FILE;
use project::OperatorProject;
use tuner::TunerError;

/// Executes the command.
pub fn execute(common: &Common, arguments: &LockArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let action = match &arguments.action {
        None => return accept::execute(common, &arguments.target, arguments.accept, output),
        Some(LockAction::Accept { target }) => return accept::execute(common, target, true, output),
        Some(action) => action,
    };
    output.emit(&Event::Start(start_event("lock", common)));
    match action {
        LockAction::Show { soc } => show::execute(common, soc.as_ref(), output),
        LockAction::Diff { before, after, soc } => {
            diff::execute(common, before, after.as_deref(), soc.as_ref(), output)
        }
        LockAction::Verify { machine, soc } => {
            let named = Named { soc: soc.as_ref(), machine: machine.as_deref() };
            verify::execute(common, &named, output)
        }
        LockAction::Migrate { dry_run } => migrate::execute(common, *dry_run, output),
        LockAction::Export { format, out, keys, soc } => {
            export::execute(common, (*format, soc.as_ref()), out.as_deref(), keys, output)
        }
        LockAction::Accept { .. } => Ok(Exit::Fine),
    }
}

/// The lock file of the project. One in the directory itself needs no operator around it.
fn path_of(common: &Common) -> Result<PathBuf, TunerError> {
    let here = common.project.join(LOCK_FILE);
    if here.exists() { Ok(here) } else { Ok(OperatorProject::find(&common.project)?.root.join(LOCK_FILE)) }
}
