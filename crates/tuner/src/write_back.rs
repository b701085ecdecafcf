//! Writing changed sources over a project: all files or none, and never over text that the patch was not made for.

use std::io::Write;
use std::path::{Path, PathBuf};

use source::SourceTree;

/// Why sources were not written back.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteBackError {
    /// The file on disk is not the one that was tuned.
    #[error("{}: changed since it was read; run again on the new sources, nothing was written", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file name leads out of the project.
    #[error("{file}: not a path inside the project, nothing was written")]
    Outside {
        /// The name.
        file: String,
    },
    /// Reading or writing failed; files already replaced were put back.
    #[error("{}: {source}; the sources were left as they were", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Putting files back failed as well: the originals are beside them.
    #[error("{}: {source}; not all files could be put back, their original texts are in: {}", path.display(), backups.join(", "))]
    HalfWritten {
        /// The file that failed.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// Files with the original texts.
        backups: Vec<String>,
    },
}

/// One prepared replacement: new text and original text wait beside the file.
struct Replacement {
    path: PathBuf,
    changed: tempfile::NamedTempFile,
    original: tempfile::NamedTempFile,
}

/// Replaces the files that differ between `before` and `after` under `root`. Returns their names.
///
/// All new texts are written and synced first, then renamed into place one by one; when one rename fails, those done are undone.
pub(super) fn write_back(root: &Path, before: &SourceTree, after: &SourceTree) -> Result<Vec<String>, WriteBackError> {
    let mut prepared = Vec::new();
    let mut names = Vec::new();
    for (file, text) in after.iter().filter(|(file, text)| before.text(file) != Some(text)) {
        let relative = Path::new(file);
        let inside = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !inside {
            return Err(WriteBackError::Outside { file: file.to_owned() });
        }
        let path = root.join(relative);
        let on_disk =
            std::fs::read_to_string(&path).map_err(|source| WriteBackError::Io { path: path.clone(), source })?;
        if before.text(file) != Some(on_disk.as_str()) {
            return Err(WriteBackError::Changed { path });
        }
        prepared
            .push(prepare(&path, text, &on_disk).map_err(|source| WriteBackError::Io { path: path.clone(), source })?);
        names.push(file.to_owned());
    }
    commit(prepared)?;
    Ok(names)
}

fn prepare(path: &Path, text: &str, original: &str) -> std::io::Result<Replacement> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let beside = |text: &str| -> std::io::Result<tempfile::NamedTempFile> {
        let mut file = tempfile::Builder::new().prefix(".ascend-tune-").suffix(".tmp").tempfile_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(std::fs::metadata(path)?.permissions())?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    Ok(Replacement { path: path.to_owned(), changed: beside(text)?, original: beside(original)? })
}

fn commit(prepared: Vec<Replacement>) -> Result<(), WriteBackError> {
    let mut done: Vec<(PathBuf, tempfile::NamedTempFile)> = Vec::new();
    for Replacement { path, changed, original } in prepared {
        match changed.persist(&path) {
            Ok(_) => done.push((path, original)),
            Err(error) => return Err(undo(path, error.error, done)),
        }
    }
    Ok(())
}

fn undo(failed: PathBuf, source: std::io::Error, done: Vec<(PathBuf, tempfile::NamedTempFile)>) -> WriteBackError {
    let mut backups = Vec::new();
    for (path, original) in done {
        if let Err(error) = original.persist(&path)
            && let Ok((_, kept)) = error.file.keep()
        {
            backups.push(kept.display().to_string());
        }
    }
    if backups.is_empty() {
        WriteBackError::Io { path: failed, source }
    } else {
        WriteBackError::HalfWritten { path: failed, source, backups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> SourceTree {
        files.iter().copied().collect()
    }

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn changed_files_are_replaced_and_nothing_is_left_over() {
        let files = [("a/x.h", "old\n"), ("y.h", "same\n")];
        let root = project(&files);
        let written = write_back(root.path(), &tree(&files), &tree(&[("a/x.h", "new\n"), ("y.h", "same\n")])).unwrap();
        assert_eq!(written, ["a/x.h"]);
        assert_eq!(std::fs::read_to_string(root.path().join("a/x.h")).unwrap(), "new\n");
        assert_eq!(std::fs::read_dir(root.path().join("a")).unwrap().count(), 1);
    }

    #[test]
    fn a_file_edited_meanwhile_stops_everything() {
        let files = [("x.h", "old\n"), ("y.h", "old\n")];
        let root = project(&files);
        std::fs::write(root.path().join("y.h"), "edited\n").unwrap();
        let result = write_back(root.path(), &tree(&files), &tree(&[("x.h", "new\n"), ("y.h", "new\n")]));
        assert!(matches!(result, Err(WriteBackError::Changed { .. })));
        assert_eq!(std::fs::read_to_string(root.path().join("x.h")).unwrap(), "old\n");
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        let root = project(&[]);
        let result = write_back(root.path(), &tree(&[]), &tree(&[("../x.h", "new\n")]));
        assert!(matches!(result, Err(WriteBackError::Outside { .. })));
    }

    #[test]
    fn a_failing_rename_puts_the_others_back() {
        let files = [("x.h", "old\n"), ("y.h", "old\n")];
        let root = project(&files);
        let path = |file: &str| root.path().join(file);
        let prepared =
            vec![prepare(&path("x.h"), "new\n", "old\n").unwrap(), prepare(&path("y.h"), "new\n", "old\n").unwrap()];
        // A directory in the place of the second file makes its rename fail.
        std::fs::remove_file(path("y.h")).unwrap();
        std::fs::create_dir(path("y.h")).unwrap();
        assert!(matches!(commit(prepared), Err(WriteBackError::Io { .. })));
        assert_eq!(std::fs::read_to_string(path("x.h")).unwrap(), "old\n");
    }
}
