//! Folders that a profiler writes into: names with time stamps, and rights that it insists on.

use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::ProfilerError;

/// A folder for a profiler's output that only its owner can reach, as the profiler demands of it and of its parent.
#[derive(Debug)]
pub struct PrivateFolder {
    directory: tempfile::TempDir,
}

impl PrivateFolder {
    /// A new one below `base`. It goes when this value does.
    ///
    /// # Errors
    /// Where it cannot be made, or somebody else could write to its parent.
    pub fn below(base: &Path) -> Result<Self, ProfilerError> {
        let fail = |path: &Path, message: String| ProfilerError::Unreadable { path: path.to_owned(), message };
        fs_err::create_dir_all(base).map_err(|error| fail(base, error.to_string()))?;
        // A link on the way is refused.
        let base = fs_err::canonicalize(base).map_err(|error| fail(base, error.to_string()))?;
        let parent = base.join("profiles");
        if !parent.is_dir() {
            let made = std::fs::DirBuilder::new().mode(0o700).create(&parent);
            match made {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(fail(&parent, error.to_string()));
                }
                _ => {}
            }
        }
        let rights = fs_err::metadata(&parent).map_err(|error| fail(&parent, error.to_string()))?;
        if rights.mode() & 0o022 != 0 {
            let message = "others may write to it, which the profiler refuses; remove it, or `chmod go-w` it";
            return Err(fail(&parent, message.to_owned()));
        }
        let directory = tempfile::Builder::new()
            .prefix("p")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&parent)
            .map_err(|error| fail(&parent, error.to_string()))?;
        Ok(Self { directory })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Leaves it where it is.
    pub fn keep(self) -> PathBuf {
        self.directory.keep()
    }
}

/// The newest file of this kind in a folder: `NAME.csv`, or `NAME_STAMP.csv` with the highest stamp.
pub fn newest(folder: &Path, name: &str) -> Option<PathBuf> {
    let stamp = |path: &Path| -> Option<(usize, String)> {
        let file = path.file_name()?.to_str()?;
        let rest = file.strip_prefix(name)?.strip_suffix(".csv")?;
        if rest.is_empty() {
            return Some((0, String::new()));
        }
        let digits = rest.strip_prefix('_')?;
        let is_stamp = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_stamp.then(|| (digits.trim_start_matches('0').len(), digits.trim_start_matches('0').to_owned()))
    };
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter_map(|path| Some((stamp(&path)?, path))).max().map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stamp_wins_and_other_files_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs_err::write(folder.path().join(name), "").unwrap();
        assert_eq!(newest(folder.path(), "PipeUtilization"), None);
        write("PipeUtilization.csv");
        let found = |name: &str| newest(folder.path(), name).unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(found("PipeUtilization"), "PipeUtilization.csv");
        for stamp in ["20250101123045123", "20250101123045999", "9"] {
            write(&format!("PipeUtilization_{stamp}.csv"));
        }
        write("PipeUtilization_old.csv");
        write("PipeUtilizationX_20990101123045999.csv");
        assert_eq!(found("PipeUtilization"), "PipeUtilization_20250101123045999.csv");
    }

    #[test]
    fn the_folder_and_its_parent_are_private() {
        let base = tempfile::tempdir().unwrap();
        let made = PrivateFolder::below(&base.path().join("work")).unwrap();
        for path in [made.path(), made.path().parent().unwrap()] {
            assert_eq!(fs_err::metadata(path).unwrap().mode() & 0o777, 0o700, "{}", path.display());
        }
        let parent = made.path().parent().unwrap().to_owned();
        std::fs::set_permissions(&parent, Permissions::from_mode(0o770)).unwrap();
        let refused = PrivateFolder::below(&base.path().join("work")).unwrap_err().to_string();
        assert!(refused.contains("others may write to it"), "{refused}");
    }
}
