//! `lock migrate`: the lock as this version of the tool writes it, out of what is there and without a run.

use std::collections::BTreeMap;
use std::path::Path;

use super::path_of;
use crate::cli::Exit;
use crate::cli::args::Common;
use crate::cli::locked::cmake_entries;
use crate::cli::output::Output;
use events::{Event, LockMigrated};
use lock::{Lock, file_digests, renewed_digests};
use manifest::FILE_NAME;
use tuner::{Declared, TunerError};

/// Executes the command.
pub(super) fn execute(common: &Common, dry_run: bool, output: &mut Output) -> Result<Exit, TunerError> {
    let path = path_of(common)?;
    let locked = lock::read(&path)?;
    let declared = Declared::read(&common.project, None, None)?;
    let entries = cmake_entries(&declared.manifest.tunables);
    let (mut whole, mut changes) = migrated(&locked, &declared.project.root, entries.clone());
    for entry in locked.entries().into_iter().skip(1) {
        let (entry, of_it) = migrated(&entry, &declared.project.root, entries.clone());
        changes.extend(of_it.into_iter().map(|change| format!("{}: {change}", entry.key())));
        whole = whole.with_beside(entry);
    }
    let written = !dry_run && !changes.is_empty();
    if written {
        lock::write(&whole, &path)?;
    }
    let (lock, to) = (path.display().to_string(), whole.written_version());
    output.emit(&Event::LockMigrated(LockMigrated { lock, from: locked.version, to, written, changes }));
    Ok(Exit::Fine)
}

/// The lock of today's format, and what became of it.
fn migrated(locked: &Lock, root: &Path, cmake: BTreeMap<String, String>) -> (Lock, Vec<String>) {
    let mut changes = Vec::new();
    let mut new = Lock { version: locked.written_version(), ..locked.clone() };
    if locked.version < new.version {
        changes.push(format!("format {} is now {}", locked.version, new.version));
        if locked.defaults.is_empty() && !locked.configuration.is_empty() {
            changes.push(
                "values from before tuning and gains of single motifs are not known until the next run".to_owned(),
            );
        }
        new.cmake = cmake;
    }
    // Only digests of what is as it was locked can be said in other words.
    let same = renewed_digests(locked, root, FILE_NAME);
    for (file, digest) in &same.sources {
        if let Some(old) = new.sources.insert(file.clone(), digest.clone()).filter(|old| old != digest) {
            changes.push(format!(
                "{file}: digest of bytes {} is one of content now",
                old.chars().take(8).collect::<String>()
            ));
        }
    }
    if let Some(digest) = same.manifest.filter(|digest| *digest != new.manifest) {
        new.manifest = digest;
        changes.push(format!("{FILE_NAME}: digest of bytes is one of content now"));
    }
    for (file, digest) in file_digests(root, same.unchanged.iter().map(String::as_str)) {
        if new.files.insert(file.clone(), digest.clone()).as_ref() != Some(&digest) {
            changes.push(format!("{file}: digest for readers such as CMake"));
        }
    }
    (new, changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_change_gets_todays_digests() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs_err::write(root.path().join(file), text).unwrap();
        write("a.cpp", "int a; // why\n");
        write("b.cpp", "int b;\n");
        write(FILE_NAME, "[check]\n");
        let bare = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        let old = Lock {
            version: 1,
            manifest: bare("[check]\n"),
            sources: BTreeMap::from([
                ("a.cpp".to_owned(), bare("int a; // why\n")),
                ("b.cpp".to_owned(), bare("int c;\n")),
            ]),
            ..lock::testing::sample()
        };
        let (new, changes) = migrated(&old, root.path(), BTreeMap::from([("E".into(), "T".into())]));
        assert!(new.sources["a.cpp"].starts_with("content:") && new.manifest.starts_with("content:"));
        assert_eq!(new.sources["b.cpp"], old.sources["b.cpp"], "what was changed stays drifted");
        assert_eq!(new.files.keys().collect::<Vec<_>>(), ["a.cpp", FILE_NAME]);
        assert_eq!((new.version, new.cmake.len(), changes.len()), (2, 1, 5), "{changes:?}");
        assert_eq!(migrated(&new, root.path(), BTreeMap::new()).1, [""; 0]);
        // Other words about the same code.
        write("a.cpp", "int a; // because\n");
        let (renewed, changes) = migrated(&new, root.path(), BTreeMap::new());
        assert_eq!((changes.len(), renewed.sources == new.sources, renewed.files != new.files), (1, true, true));
    }
}
