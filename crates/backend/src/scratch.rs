//! Private directories of runs, and what runs that were killed have left of theirs: a trace may have gigabytes.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use super::RunFailure;

const PREFIX: &str = "run-";
/// Holds a lock for as long as the run lives; the system gives it up with the process.
const HELD: &str = ".held";
const UNNAMED: &str = ".held-soon";

/// A private directory for one run, gone with this value.
pub(super) struct ScratchDirectory {
    directory: tempfile::TempDir,
    _held: File,
}

impl ScratchDirectory {
    /// Makes one below `parent`. The first one that a process makes there takes away what killed runs left.
    pub(super) fn below(parent: &Path) -> Result<Self, RunFailure> {
        static SWEPT: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
        fs_err::create_dir_all(parent).map_err(|error| RunFailure::Broken(error.to_string()))?;
        // Whoever comes second waits: a directory that another thread makes has no lock in it yet.
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.insert(parent.to_owned()) {
            sweep(parent);
        }
        drop(swept);
        let broken = |error: std::io::Error| {
            RunFailure::Broken(format!("{}: cannot make a directory: {error}", parent.display()))
        };
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).map_err(broken)?;
        // It has its name only once it is locked, so that nobody finds it without.
        let unnamed = directory.path().join(UNNAMED);
        let held = File::create(&unnamed).map_err(broken)?;
        // Where a file system has no locks nothing is swept either.
        let _ = held.try_lock();
        std::fs::rename(&unnamed, directory.path().join(HELD)).map_err(broken)?;
        Ok(Self { directory, _held: held })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes directories of runs below `parent` whose process is no more: what holds a lock, or cannot be asked, stays. So does what has no
/// file to lock, which is a directory that another process makes at this moment.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_of_run = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let path = entry.path();
        let left = is_of_run && File::open(path.join(HELD)).is_ok_and(|held| held.try_lock().is_ok());
        if left {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_is_removed_and_what_lives_stays() {
        let parent = tempfile::tempdir().expect("a directory");
        let alive = ScratchDirectory::below(parent.path()).expect("a directory of a run");
        let dead = parent.path().join("run-dead");
        let (bare, other) = (parent.path().join("run-bare"), parent.path().join("kept"));
        for folder in [&dead, &bare, &other] {
            std::fs::create_dir(folder).expect("a directory");
        }
        std::fs::write(dead.join(HELD), "").expect("the file of a lock");
        std::fs::write(other.join(HELD), "").expect("the file of a lock");

        sweep(parent.path());
        assert_eq!([alive.path(), &dead, &bare, &other].map(Path::is_dir), [true, false, true, true]);
        let path = alive.path().to_owned();
        drop(alive);
        assert!(!path.exists());
    }
}
