//! `bank`: lists, searches, merges and prunes experience.

use std::path::{Path, PathBuf};

use super::Exit;
use super::args::{BankAction, BankArgs, Common};
use super::output::{Output, start_event, write_whole};
use events::{Bank as BankEvent, BankRecord, Event};
use experience::{Bank, Match, Query, Record, Shingles, features_of};
use motif::Context;
use project::OperatorProject;
use source::SourceTree;
use source::facts::KnownValues;
use tuner::{TunerError, Workspace};

/// Executes the command. Without `--bank` it is the project's own bank, or the one that ships with the tool.
pub fn execute(common: &Common, arguments: &BankArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(start_event("bank", common)));
    let directory = arguments.bank.clone().or_else(|| project_bank(common));
    let path = directory.as_ref().map_or_else(|| "(shipped)".to_owned(), |path| path.display().to_string());
    let bank = match &directory {
        Some(directory) => load(directory)?,
        None => Bank::shipped(),
    };
    let empty =
        || BankEvent { path: path.clone(), records: Vec::new(), added: None, removed: None, motifs: Vec::new() };
    let event = |records: Vec<BankRecord>, added| Event::Bank(BankEvent { records, added, ..empty() });
    // The shipped bank is part of the program.
    let own = |action: &str| {
        let missing = || TunerError::Usage(format!("{action}: name the bank to change with --bank"));
        directory.as_deref().ok_or_else(missing)
    };
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
        BankAction::Search { code, symptoms, top } => {
            let query = query(code.as_deref(), symptoms)?;
            let found = bank.search(&query).into_iter().take(*top);
            let shown = |found: Match<'_>| {
                let summary = summary(found.record);
                BankRecord { summary: format!("{:.0} % alike; {}", found.likeness * 100.0, summary.summary), ..summary }
            };
            output.emit(&event(found.map(shown).collect(), None));
        }
        BankAction::Stats => output.emit(&Event::Bank(BankEvent { motifs: bank.statistics(), ..empty() })),
        BankAction::Prune { dry_run } => {
            let directory = own("prune")?;
            let superfluous = bank.superfluous();
            let records: Vec<BankRecord> = superfluous.iter().filter_map(|id| bank.get(id)).map(summary).collect();
            let mut left = bank.clone();
            for id in superfluous.iter().filter(|_| !dry_run) {
                left.remove(directory, id).map_err(|error| TunerError::Io(std::io::Error::other(error)))?;
            }
            let removed = Some(records.len() as u64);
            output.emit(&Event::Bank(BankEvent { records, removed, ..empty() }));
        }
        BankAction::Export { out } => {
            let page = out.extension().is_some_and(|kind| kind == "md");
            write_whole(out, &if page { bank.to_markdown() } else { bank.to_json() })?;
            output.emit(&event(bank.iter().map(|(_, record)| summary(record)).collect(), None));
        }
        BankAction::Merge { sources, dry_run } => {
            let directory = own("merge")?;
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

/// What a kernel's code and symptoms ask for.
fn query(code: Option<&Path>, symptoms: &[String]) -> Result<Query, TunerError> {
    let mut tree = SourceTree::new();
    for path in code.into_iter().flat_map(|path| walkdir::WalkDir::new(path).sort_by_file_name()) {
        let path = path.map_err(|error| TunerError::Usage(error.to_string()))?.into_path();
        if path.extension().is_some_and(|kind| kind == "h" || kind == "cpp" || kind == "asc") {
            tree.insert(path.display().to_string(), fs_err::read_to_string(&path)?);
        }
    }
    let text: Vec<&str> = tree.iter().map(|(_, text)| text).collect();
    let shingles = Shingles::of(&text.join("\n"));
    let features = features_of(&Context::new(tree, KnownValues::default(), None));
    Ok(Query { symptoms: symptoms.to_vec(), features, shingles })
}

pub fn project_bank(common: &Common) -> Option<PathBuf> {
    let project = OperatorProject::find(&common.project).ok()?;
    let bank = project.work_directory().join("bank");
    bank.is_dir().then_some(bank)
}

/// The project's own bank, which may not exist yet.
pub fn own_bank(workspace: &Workspace) -> PathBuf {
    workspace.work_directory.join("bank")
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
