//! Writing the winner into the sources so that a kill at any moment leaves them whole.
//!
//! The decision is recorded first: all new texts and the digests of the old ones go into one plan file. Then the files
//! are replaced. A plan that is found at the start of a command belongs to a write-back that was cut short; it is
//! carried to its end, file by file, except where somebody has edited a file since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TunerError;
use super::write_back::write_back;
use lock::{self, LOCK_FILE, Lock};
use source::SourceTree;

const PLAN_FILE: &str = "write-back.json";

/// New text of one file, nothing where it goes, and the digest of the text that it replaces, if there is a file.
#[derive(Debug, Serialize, Deserialize)]
struct PlannedFile {
    before: Option<String>,
    after: Option<String>,
}

/// Replaces the files that differ between the trees under `root`, then writes the lock beside them.
pub fn write_winner(
    root: &Path,
    work_directory: &Path,
    before: &SourceTree,
    after: &SourceTree,
    winner: &Lock,
) -> Result<Vec<String>, TunerError> {
    let lock_path = root.join(LOCK_FILE);
    let text = winner.to_text()?;
    write_planned(root, work_directory, before, after, Some(text), || Ok(lock::write(winner, &lock_path).map(drop)?))
}

/// The same with the text that the lock shall have; without one, the lock goes.
pub(super) fn write_state(
    root: &Path,
    work_directory: &Path,
    before: &SourceTree,
    after: &SourceTree,
    lock_text: Option<&str>,
) -> Result<Vec<String>, TunerError> {
    let path = root.join(LOCK_FILE);
    write_planned(root, work_directory, before, after, lock_text.map(str::to_owned), || match lock_text {
        Some(text) => Ok(replace(&path, text)?),
        None if path.exists() => Ok(fs_err::remove_file(&path)?),
        None => Ok(()),
    })
}

fn write_planned(
    root: &Path,
    work_directory: &Path,
    before: &SourceTree,
    after: &SourceTree,
    lock_text: Option<String>,
    write_lock: impl FnOnce() -> Result<(), TunerError>,
) -> Result<Vec<String>, TunerError> {
    let mut steps: BTreeMap<&str, PlannedFile> = after
        .iter()
        .filter_map(|(file, text)| {
            let old = before.text(file).filter(|old| *old != text)?;
            Some((file, PlannedFile { before: Some(digest(old.as_bytes())), after: Some(text.to_owned()) }))
        })
        .collect();
    let present = fs_err::read(root.join(LOCK_FILE)).ok().map(|bytes| digest(&bytes));
    steps.insert(LOCK_FILE, PlannedFile { before: present, after: lock_text });
    let plan = work_directory.join(PLAN_FILE);
    let temporary = plan.with_extension("json.tmp");
    fs_err::write(&temporary, serde_json::to_vec(&steps).map_err(std::io::Error::from)?)?;
    fs_err::File::open(&temporary)?.sync_all()?;
    fs_err::rename(&temporary, &plan)?;
    let written = write_back(root, before, after).map_err(|error| TunerError::Io(std::io::Error::other(error)));
    let locked = if written.is_ok() { write_lock() } else { Ok(()) };
    fs_err::remove_file(&plan)?;
    locked?;
    written
}

/// Replaces the text of a file by rename; a file that is there keeps its permissions.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let temporary = path.with_file_name(format!(".ascend-tune-{}.tmp", std::process::id()));
    fs_err::write(&temporary, text)?;
    if let Ok(present) = fs_err::metadata(path) {
        fs_err::set_permissions(&temporary, present.permissions())?;
    }
    fs_err::rename(&temporary, path)
}

/// Replaces the files that a repair changes under `root`, all or none. Without a lock: nothing was tuned yet. It is made anew by a run
/// that finds the operator as it was, so that one cut short needs no plan.
pub fn write_repair(root: &Path, before: &SourceTree, after: &SourceTree) -> Result<Vec<String>, TunerError> {
    write_back(root, before, after).map_err(|error| TunerError::Io(std::io::Error::other(error)))
}

/// Carries an interrupted write-back to its end. Returns the files that were still to be written.
pub fn recover(root: &Path, work_directory: &Path) -> Result<Vec<PathBuf>, TunerError> {
    let plan = work_directory.join(PLAN_FILE);
    let Ok(bytes) = fs_err::read(&plan) else { return Ok(Vec::new()) };
    let steps: BTreeMap<String, PlannedFile> = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut written = Vec::new();
    for (file, step) in steps {
        let path = root.join(&file);
        if fs_err::read(&path).ok().map(|present| digest(&present)) == step.before {
            match &step.after {
                Some(text) => replace(&path, text)?,
                None if step.before.is_none() => continue,
                None => fs_err::remove_file(&path)?,
            }
            written.push(path);
        }
    }
    fs_err::remove_file(&plan)?;
    Ok(written)
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aicore::Origin;

    fn tree(files: &[(&str, &str)]) -> SourceTree {
        files.iter().copied().collect()
    }

    fn winner() -> Lock {
        Lock {
            version: 2,
            tool: "0".to_owned(),
            operator: "Op".to_owned(),
            origin: Origin::Modelled,
            seed: 1,
            manifest: String::new(),
            speedup_permille: None,
            machine: lock::LockedMachine { name: "m".to_owned(), version: "1".to_owned(), digest: String::new() },
            device: None,
            sources: BTreeMap::new(),
            applied: BTreeMap::new(),
            included: None,
            configuration: space::Configuration::new(),
            defaults: space::Configuration::new(),
            brought: space::Configuration::new(),
            cmake: BTreeMap::new(),
            files: BTreeMap::new(),
            generalisation: None,
            motifs: Vec::new(),
            cases: Vec::new(),
            known: Vec::new(),
            departures: Vec::new(),
            accepted: Vec::new(),
            others: Vec::new(),
        }
    }

    #[test]
    fn the_winner_is_written_and_no_plan_is_left() {
        let root = tempfile::tempdir().unwrap();
        fs_err::write(root.path().join("a.h"), "one").unwrap();
        let (before, after) = (tree(&[("a.h", "one")]), tree(&[("a.h", "two")]));
        write_winner(root.path(), root.path(), &before, &after, &winner()).unwrap();
        assert_eq!(lock::read(&root.path().join(LOCK_FILE)).unwrap(), winner());
        assert_eq!(fs_err::read_to_string(root.path().join("a.h")).unwrap(), "two");
        assert!(!root.path().join(PLAN_FILE).exists());
    }

    #[test]
    fn a_cut_short_write_back_is_finished_but_edits_are_kept() {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [("done.h", "new"), ("open.h", "old"), ("edited.h", "mine")] {
            fs_err::write(root.path().join(file), text).unwrap();
        }
        let step = || PlannedFile { before: Some(digest(b"old")), after: Some("new".to_owned()) };
        let steps: BTreeMap<&str, PlannedFile> = ["done.h", "open.h", "edited.h"].map(|file| (file, step())).into();
        fs_err::write(root.path().join(PLAN_FILE), serde_json::to_vec(&steps).unwrap()).unwrap();
        let written = recover(root.path(), root.path()).unwrap();
        assert_eq!(written, [root.path().join("open.h")]);
        let text = |file: &str| fs_err::read_to_string(root.path().join(file)).unwrap();
        assert_eq!((text("done.h"), text("open.h"), text("edited.h")), ("new".into(), "new".into(), "mine".into()));
        assert!(recover(root.path(), root.path()).unwrap().is_empty());
    }
}
