//! `rewind`: mines experience from strong kernels.

use std::path::PathBuf;
use std::sync::Arc;

use super::Exit;
use super::args::{Common, ModelArgs, RewindArgs};
use super::bank::load;
use super::bank::own_bank;
use super::model::show_prompt;
use super::output::{Output, start_event};
use super::projects::projects;
use super::rewinder::Removing;
use super::target::{open, runtime};
use events::{Event, Rewind, Start, Warning};
use experience::{OF_A_MODEL, local_motifs};
use proposer::Note;
use tuner::{RewindOptions, Surveyed, TunerError, Workspace, rewind};

/// Executes the command.
pub fn execute(common: &Common, arguments: &RewindArgs, output: &mut Output) -> Result<Exit, TunerError> {
    if arguments.directories.is_empty() {
        one(common, arguments, output)?;
        return Ok(Exit::Fine);
    }
    let ModelArgs { record, replay, .. } = &arguments.model;
    if record.is_some() || replay.is_some() {
        let message = "--record and --replay are about one operator: name none, and give --project";
        return Err(TunerError::Usage(message.to_owned()));
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
    let runtime = runtime()?;
    let survey = |workspace: &Workspace| runtime.block_on(Surveyed::of(workspace));
    if let Some(role) = arguments.model.show_prompt {
        show_prompt(&workspace, &survey(&workspace)?, role, output)?;
        return Ok(());
    }
    let removing = match Removing::invite(arguments, &workspace, output)? {
        Some(invited) => Some(invited(&survey(&workspace)?)),
        None => None,
    };
    let directory: PathBuf = arguments.bank.clone().unwrap_or_else(|| own_bank(&workspace));
    let local = local_motifs(&directory).map_err(|error| TunerError::Usage(error.to_string()))?;
    let options = RewindOptions {
        evaluations: arguments.budget,
        sites: arguments.sites as usize,
        chain: arguments.chain,
        resume: !arguments.no_resume,
        local: local.into_iter().map(|(name, motif)| (name, Arc::new(motif))).collect(),
        rewinder: removing.as_ref().map(Removing::rewinder),
    };
    let report = runtime.block_on(rewind(&workspace, &options))?;
    for Note { code, message, help } in report.notes {
        output.emit(&Event::Warning(Warning { code: code.to_owned(), message, help }));
    }
    let of_model = report.steps.iter().filter(|step| step.motif.starts_with(OF_A_MODEL)).count() as u64;
    let model = removing.map(|removing| removing.used(of_model));
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
        model,
        origin: workspace.origin(),
        machine: workspace.machine.name.clone(),
    }));
    Ok(())
}
