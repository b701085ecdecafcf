//! `undo` and `apply`: the recorded result of the last run, taken out of the sources or put into them.

use super::Exit;
use super::args::{ApplyArgs, Common, UndoArgs};
use super::output::{Output, start_event};
use events::{Event, Restored};
use lock::LOCK_FILE;
use project::OperatorProject;
use tuner::{RecordedResult, Rewritten, TunerError, recover};

/// Executes `undo`.
pub fn undo(common: &Common, arguments: &UndoArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(start_event("undo", common)));
    let project = OperatorProject::find(&common.project)?;
    let (root, work_directory) = (&project.root, project.work_directory());
    // A write-back that was cut short is carried to its end first: then the sources are in a state that is known.
    recover(root, &work_directory)?;
    let rewritten = RecordedResult::read(&work_directory)?.undo(root, &work_directory, arguments.dry_run)?;
    let next =
        (!arguments.dry_run).then(|| "`cargo ascend-tune apply` does it again, `--only STEP` a part of it".to_owned());
    output.emit(&restored("undo", rewritten, !arguments.dry_run, next));
    Ok(Exit::Fine)
}

/// Executes `apply`.
pub fn apply(common: &Common, arguments: &ApplyArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(start_event("apply", common)));
    let project = OperatorProject::find(&common.project)?;
    let (root, work_directory) = (&project.root, project.work_directory());
    recover(root, &work_directory)?;
    let recorded = RecordedResult::read(&work_directory)?;
    let rewritten = recorded.apply(root, &work_directory, &arguments.only, arguments.dry_run)?;
    let is_whole = rewritten.steps.iter().all(|step| step.applied);
    let next = match (arguments.dry_run, is_whole) {
        (true, _) => None,
        (false, true) => Some("`cargo ascend-tune check` compares it with what was locked".to_owned()),
        (false, false) => Some(format!(
            "{LOCK_FILE} has the latencies of the whole result; `cargo ascend-tune lock accept` verifies, times and locks this"
        )),
    };
    output.emit(&restored("apply", rewritten, !arguments.dry_run, next));
    Ok(Exit::Fine)
}

fn restored(action: &str, rewritten: Rewritten, written: bool, next: Option<String>) -> Event {
    let Rewritten { operator, files, removed, steps } = rewritten;
    Event::Restored(Restored { action: action.to_owned(), operator, files, removed, written, steps, next })
}
