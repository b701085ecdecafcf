//! What comes before tuning: the operator as it stands is run, and mended where it is wrong and the user wants it.

use tokio::runtime::Runtime;

use super::args::RunArgs;
use super::output::Output;
use events::{self, Event, Warning};
use lock::LOCK_FILE;
use tuner::{Repair, RepairStep, Surveyed, Tries, TunerError, Workspace, find_repair, write_repair};

/// Runs the operator as it stands. Where it is wrong and something mends it, that is told, and with `--repair` it is made: what comes
/// back is the repaired operator then, run again, and its sources are written, except in a dry run.
pub fn survey_and_repair(
    workspace: Workspace,
    arguments: &RunArgs,
    runtime: &Runtime,
    output: &mut Output,
) -> Result<(Workspace, Surveyed), TunerError> {
    let surveyed = runtime.block_on(Surveyed::of(&workspace));
    let tries = if arguments.repair { Tries::Asked } else { Tries::Unasked };
    let Some(repair) = runtime.block_on(find_repair(&workspace, &surveyed, tries, arguments.time_limit))? else {
        return Ok((workspace, surveyed?));
    };
    if !arguments.repair {
        output.emit(&proposal(&repair));
        return Ok((workspace, surveyed?));
    }
    let root = &workspace.project.root;
    if !arguments.dry_run {
        if arguments.locked {
            return Err(TunerError::Locked(root.join(LOCK_FILE)));
        }
        write_repair(root, &workspace.sources, &repair.sources)?;
    }
    repair.steps.iter().for_each(|step| output.emit(&made(step, !arguments.dry_run)));
    if !repair.is_complete() {
        output.emit(&in_part(&repair));
    }
    let repaired = workspace.with_sources(&repair.sources);
    let surveyed = runtime.block_on(Surveyed::of(&repaired))?;
    Ok((repaired, surveyed))
}

fn made(step: &RepairStep, written: bool) -> Event {
    Event::Repair(Box::new(events::Repair {
        title: step.title.clone(),
        file: step.file.clone(),
        line: step.line as u64,
        diff: step.diff.clone(),
        before: step.before as u64,
        after: step.after as u64,
        written,
    }))
}

/// What `--repair` would do.
fn proposal(repair: &Repair) -> Event {
    let steps = repair.steps.iter().map(|step| format!("{}:{}: {}", step.file, step.line, step.title));
    let mends = match repair.left() {
        0 => "mends all that is wrong with the operator as it stands".to_owned(),
        left => format!("mends a part of what is wrong with the operator as it stands, and leaves {left} faults"),
    };
    Event::Warning(Warning {
        code: "repair-found".to_owned(),
        message: format!("an edit {mends}: {}", steps.collect::<Vec<_>>().join("; then ")),
        help: Some("`run --repair` writes it into the sources first and tunes from there".to_owned()),
    })
}

fn in_part(repair: &Repair) -> Event {
    let of = repair.steps.first().map_or(0, |step| step.before);
    Event::Warning(Warning {
        code: "repaired-in-part".to_owned(),
        message: format!(
            "{} of {of} faults of the operator are left: nothing was found that mends them",
            repair.left()
        ),
        help: None,
    })
}
