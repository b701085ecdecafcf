//! Operator projects below directories, for commands that work on many.

use std::path::{Path, PathBuf};

use manifest::FILE_NAME;
use tuner::TunerError;

/// Projects with a manifest in and below the directories, each with the directory that it was found from; only those
/// whose path contains one of the texts, if there are any.
pub(super) fn projects(directories: &[PathBuf], only: &[String]) -> Result<Vec<(PathBuf, String)>, TunerError> {
    let mut projects = Vec::new();
    for root in directories {
        let found = projects_below(root);
        if found.is_empty() {
            let message = format!("{}: no {FILE_NAME} here or below; `init` writes one", root.display());
            return Err(TunerError::Usage(message));
        }
        let chosen = |project: &String| {
            let whole = root.join(project).display().to_string();
            only.is_empty() || only.iter().any(|text| whole.contains(text.as_str()))
        };
        projects.extend(found.into_iter().filter(chosen).map(|project| named(root, project)));
    }
    if projects.is_empty() {
        return Err(TunerError::Usage(format!("--only {}: no project has this in its path", only.join(", "))));
    }
    Ok(projects)
}

/// A project that is the root itself has a name only from the directory above.
fn named(root: &Path, project: String) -> (PathBuf, String) {
    let above = || {
        let whole = std::fs::canonicalize(root).ok()?;
        let name = whole.file_name()?.to_string_lossy().into_owned();
        Some((whole.parent()?.to_owned(), name))
    };
    let itself = if project == "." { above() } else { None };
    itself.unwrap_or_else(|| (root.to_owned(), project))
}

/// Directories with a manifest at and below a directory, sorted, without hidden ones and what was built.
pub(super) fn below(root: &Path) -> Vec<PathBuf> {
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let hidden = |name: &str| name == "target" || (name.starts_with('.') && name.len() > 1);
    let walk = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(|entry| {
        let is_searched = || !hidden(&entry.file_name().to_string_lossy()) && !is_built(entry.path());
        entry.depth() == 0 || !entry.file_type().is_dir() || is_searched()
    });
    let manifests = walk.filter_map(Result::ok).filter(|entry| entry.file_name() == FILE_NAME);
    manifests.filter_map(|entry| entry.path().parent().map(Path::to_owned)).collect()
}

/// Whether a directory says of itself that what is in it was built: Cargo's and CMake's do.
pub(super) fn is_built(directory: &Path) -> bool {
    ["CACHEDIR.TAG", "CMakeCache.txt"].iter().any(|sign| directory.join(sign).exists())
}

/// Directories with a manifest, relative to the root; the root itself is `.`.
fn projects_below(root: &Path) -> Vec<String> {
    let below = below(root);
    let relative = below.iter().filter_map(|path| path.strip_prefix(root).ok());
    relative.map(|path| if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_a_name_however_it_is_given() {
        let directory = tempfile::tempdir().unwrap();
        let operator = directory.path().join("some").join("operator");
        fs_err::create_dir_all(&operator).unwrap();
        fs_err::write(operator.join(FILE_NAME), "").unwrap();
        let found = |root: &Path| projects(&[root.to_owned()], &[]).unwrap().remove(0);
        assert_eq!(found(directory.path()).1, "some/operator");
        let (above, name) = found(&operator);
        assert_eq!((name.as_str(), above.join("operator").join(FILE_NAME).exists()), ("operator", true));
    }
}
