//! `bank`: lists, shows and merges experience.

use std::path::PathBuf;

use super::Exit;
use super::args::{BankAction, BankArgs, Common};
use super::output::Output;
use super::target::start_event;
use crate::experience::{Bank, Record};
use crate::project::OperatorProject;
use crate::report::event::{Bank as BankEvent, BankRecord, Event};
use crate::tuner::TunerError;

/// Executes the command. Without `--bank` it is the project's own bank, or the one that ships with the tool.
pub fn execute(common: &Common, arguments: &BankArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(start_event("bank", common)));
    let directory = arguments.bank.clone().or_else(|| project_bank(common));
    let path = directory.as_ref().map_or_else(|| "(shipped)".to_owned(), |path| path.display().to_string());
    let bank = match &directory {
        Some(directory) => load(directory)?,
        None => Bank::shipped(),
    };
    let event = |records: Vec<BankRecord>, added| Event::Bank(BankEvent { path: path.clone(), records, added });
    match &arguments.action {
        BankAction::List { motif } => {
            let wanted = |record: &&Record| motif.as_ref().is_none_or(|motif| record.motif == *motif);
            output.emit(&event(bank.iter().map(|(_, record)| record).filter(wanted).map(summary).collect(), None));
        }
        BankAction::Show { record } => {
            let found = bank.iter().filter(|(id, _)| id.starts_with(record.as_str())).map(|(_, record)| record);
            let found: Vec<&Record> = found.collect();
            let [one] = found.as_slice() else {
                let what = if found.is_empty() { "no record" } else { "several records" };
                return Err(TunerError::Usage(format!("{record}: {what} of this name in {path}")));
            };
            if !output.json {
                use std::io::Write as _;
                std::io::stdout().write_all(one.to_text().as_bytes())?;
            }
            output.emit(&event(vec![summary(one)], None));
        }
        BankAction::Merge { sources, dry_run } => {
            let Some(directory) = directory.as_ref() else {
                return Err(TunerError::Usage("merge: name the bank to merge into with --bank".to_owned()));
            };
            let mut merged = bank.clone();
            let mut added = Vec::new();
            for source in sources {
                let more = load(source)?;
                added.extend(more.iter().filter(|(id, _)| merged.get(id).is_none()).map(|(_, record)| record.clone()));
                merged.merge(more);
            }
            if !dry_run {
                let mut target = bank.clone();
                for record in &added {
                    target
                        .add(directory, record.clone())
                        .map_err(|error| TunerError::Io(std::io::Error::other(error)))?;
                }
            }
            let count = added.len() as u64;
            output.emit(&event(added.iter().map(summary).collect(), Some(count)));
        }
    }
    Ok(Exit::Fine)
}

fn project_bank(common: &Common) -> Option<PathBuf> {
    let project = OperatorProject::find(&common.project).ok()?;
    let bank = project.work_directory().join("bank");
    bank.is_dir().then_some(bank)
}

/// Reads a bank.
pub fn load(directory: &std::path::Path) -> Result<Bank, TunerError> {
    Bank::load(directory).map_err(|error| TunerError::Usage(error.to_string()))
}

fn summary(record: &Record) -> BankRecord {
    BankRecord {
        id: record.id(),
        motif: record.motif.clone(),
        operator: record.provenance.operator.clone(),
        gain: record.gain(),
        summary: format!("{:?} on {}: {}", record.verdict, record.provenance.machine, record.symptoms.join(", ")),
    }
}
