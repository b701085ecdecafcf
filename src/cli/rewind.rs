//! `rewind`: mines experience from a strong kernel.

use super::Exit;
use super::args::{Common, RewindArgs};
use super::bank::load;
use super::output::Output;
use super::run::own_bank;
use super::target::{open, runtime, start_event};
use crate::lock::Origin;
use crate::report::event::{Event, Rewind, Start};
use crate::tuner::{RewindOptions, TunerError, rewind};

/// Executes the command.
pub fn execute(common: &Common, arguments: &RewindArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let start =
        Start { seed: Some(arguments.target.seed), budget: Some(arguments.budget), ..start_event("rewind", common) };
    let workspace = open(start, common, &arguments.target, true, output)?;
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
