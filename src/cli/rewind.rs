//! `rewind`: mines experience from a strong kernel.

use super::Exit;
use super::args::{Common, RewindArgs};
use super::bank::load;
use super::output::Output;
use super::run::own_bank;
use super::target::{open, opened_event, runtime};
use crate::lock::Origin;
use crate::report::event::{Event, Rewind};
use crate::tuner::{RewindOptions, TunerError, rewind};

/// Executes the command.
pub fn execute(common: &Common, arguments: &RewindArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let workspace = open(common, &arguments.target, true, output)?;
    let mut start = opened_event("rewind", common, &workspace);
    start.seed = Some(arguments.seed);
    start.budget = Some(arguments.budget);
    output.emit(&Event::Start(start));
    let options = RewindOptions { evaluations: arguments.budget };
    let report = runtime()?.block_on(rewind(&workspace, &options))?;
    let directory = arguments.bank.clone().unwrap_or_else(|| own_bank(&workspace));
    if !arguments.dry_run {
        let mut bank = load(&directory)?;
        for record in report.records {
            bank.add(&directory, record).map_err(|error| TunerError::Io(std::io::Error::other(error)))?;
        }
    }
    output.emit(&Event::Rewind(Rewind {
        operator: workspace.manifest.operator.clone(),
        steps: report.steps,
        bank: directory.display().to_string(),
        origin: Origin::Modelled,
        machine: workspace.machine.name.clone(),
    }));
    Ok(Exit::Fine)
}
