//! `rewind`: mines experience from strong kernels.

use std::path::PathBuf;

use super::Exit;
use super::args::{Common, RewindArgs};
use super::bank::load;
use super::bank::own_bank;
use super::output::{Output, start_event};
use super::projects::projects;
use super::target::{open, runtime};
use events::{Event, Rewind, Start};
use tuner::{RewindOptions, TunerError, rewind};

/// Executes the command.
pub fn execute(common: &Common, arguments: &RewindArgs, output: &mut Output) -> Result<Exit, TunerError> {
    if arguments.directories.is_empty() {
        one(common, arguments, output)?;
        return Ok(Exit::Fine);
    }
    let mut exit = Exit::Fine;
    for (root, project) in projects(&arguments.directories, &arguments.only)? {
        let common = Common { project: root.join(&project), ..common.clone() };
        // One operator that does not build must not end the mining of all others.
        if let Err(error) = one(&common, arguments, output) {
            exit = output.fail(&error);
        }
    }
    Ok(exit)
}

fn one(common: &Common, arguments: &RewindArgs, output: &mut Output) -> Result<(), TunerError> {
    let start =
        Start { seed: Some(arguments.target.seed), budget: Some(arguments.budget), ..start_event("rewind", common) };
    let workspace = open(start, common, &arguments.target, true, output)?;
    let options = RewindOptions {
        evaluations: arguments.budget,
        sites: arguments.sites as usize,
        chain: arguments.chain,
        resume: !arguments.no_resume,
    };
    let report = runtime()?.block_on(rewind(&workspace, &options))?;
    let directory: PathBuf = arguments.bank.clone().unwrap_or_else(|| own_bank(&workspace));
    if !arguments.dry_run {
        let mut bank = load(&directory)?;
        for record in report.records {
            bank.add(&directory, record).map_err(|error| TunerError::Io(std::io::Error::other(error)))?;
        }
    }
    output.emit(&Event::Rewind(Rewind {
        operator: workspace.manifest.operator.clone(),
        steps: report.steps,
        yields: report.yields,
        bank: directory.display().to_string(),
        origin: workspace.origin(),
        machine: workspace.machine.name.clone(),
    }));
    Ok(())
}
