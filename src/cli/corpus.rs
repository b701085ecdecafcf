//! Operators that a rule is tried on beside the one that it comes from: those of `--corpus`, or the others of the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::check::top_of_checkout;
use super::projects::below;
use super::target::runtime;
use agent::without_folders;
use motif::{LocalForm, LocalMotif, LocalRecord};
use tuner::{BackendKind, Elsewhere, InputData, TunerError, Workspace, WorkspaceOptions, has_place, try_elsewhere};

/// Operators whose text is searched, at most.
const SEARCHED: usize = 64;
/// Operators that are run with a rule for one run of the tool, at most: each takes two evaluations.
const TRIED: usize = 8;
/// What is less is no gain.
const GAIN: f64 = 1.005;

/// The operators, opened when they are first asked for.
pub(super) struct Corpus {
    directories: Vec<PathBuf>,
    /// Those that can be opened.
    opened: Option<Vec<Workspace>>,
    options: WorkspaceOptions,
    /// Operators that may still be run.
    left: usize,
}

impl Corpus {
    /// Beside the operator of a workspace: all below the directories `given`; without any, all of the repository that it lies in.
    pub fn beside(workspace: &Workspace, given: &[PathBuf]) -> Result<Self, TunerError> {
        let own = canonical(&workspace.project.root);
        let found = match given {
            [] => below(&top_of_checkout(&own)),
            given => named(given)?,
        };
        let mut seen = BTreeSet::from([own]);
        let others = found.into_iter().filter(|directory| seen.insert(canonical(directory)));
        let options = WorkspaceOptions {
            machine: None,
            cases: Vec::new(),
            fixed: space::Configuration::new(),
            made_up: None,
            work_directory: None,
            // Nothing of an operator is made before there is something to try on it.
            data: InputData::Left,
            backend: BackendKind::Sim,
            ..workspace.options.clone()
        };
        Ok(Self { directories: others.take(SEARCHED).collect(), opened: None, options, left: TRIED })
    }

    /// What becomes of a rule on them, until it breaks one.
    pub fn record(&mut self, form: &LocalForm) -> Result<LocalRecord, TunerError> {
        let mut record = LocalRecord::default();
        let Ok(motif) = LocalMotif::new(form.clone()) else { return Ok(record) };
        let opened = self.opened.get_or_insert_with(|| opened(&self.directories, &self.options));
        for workspace in opened.iter_mut() {
            record.searched += 1;
            if !has_place(workspace, &motif) {
                continue;
            }
            record.matched += 1;
            if self.left == 0 {
                continue;
            }
            self.left -= 1;
            let tried = workspace.make_data().and_then(|()| runtime()?.block_on(try_elsewhere(workspace, &motif)));
            match tried {
                Ok(Elsewhere::Held { gain }) => {
                    record.held += 1;
                    record.gained += u32::from(gain > GAIN);
                }
                Ok(Elsewhere::Broken(why)) => {
                    // It lies in a bank that others may get: no folders of this machine.
                    let why = without_folders(why.lines().next().unwrap_or_default());
                    record.refused = format!("{}: {why}", workspace.manifest.operator);
                    break;
                }
                Ok(Elsewhere::Unreached) => {}
                // An operator that is not right as it stands says nothing about the rule.
                Err(error) => tracing::debug!(operator = %workspace.manifest.operator, %error, "not tried there"),
            }
        }
        Ok(record)
    }
}

/// The operators at and below directories that a user names.
///
/// # Errors
/// There are none in one of them: a run says so before it begins.
pub(super) fn named(given: &[PathBuf]) -> Result<Vec<PathBuf>, TunerError> {
    let mut all = Vec::new();
    for directory in given {
        let found = below(directory);
        if found.is_empty() {
            let message = format!("--corpus {}: no ascend.toml there or below", directory.display());
            return Err(TunerError::Usage(message));
        }
        all.extend(found);
    }
    Ok(all)
}

fn opened(directories: &[PathBuf], options: &WorkspaceOptions) -> Vec<Workspace> {
    let open = |directory: &PathBuf| {
        let options = WorkspaceOptions { directory: directory.clone(), ..options.clone() };
        let opened = Workspace::open(options, &mut |_| {});
        opened.inspect_err(|error| tracing::debug!(%error, "not searched")).ok()
    };
    directories.iter().filter_map(open).collect()
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
