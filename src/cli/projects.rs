//! Operator projects below directories, for commands that work on many.

use std::path::{Path, PathBuf};

use crate::manifest::FILE_NAME;
use crate::tuner::TunerError;

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
        projects.extend(found.into_iter().filter(chosen).map(|project| (root.clone(), project)));
    }
    if projects.is_empty() {
        return Err(TunerError::Usage(format!("--only {}: no project has this in its path", only.join(", "))));
    }
    Ok(projects)
}

/// Directories with a manifest, relative to the root; the root itself is `.`.
fn projects_below(root: &Path) -> Vec<String> {
    let hidden = |name: &str| name == "target" || (name.starts_with('.') && name.len() > 1);
    let walk = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(|entry| {
        entry.depth() == 0 || !entry.file_type().is_dir() || !hidden(&entry.file_name().to_string_lossy())
    });
    let manifests = walk.filter_map(Result::ok).filter(|entry| entry.file_name() == FILE_NAME);
    let relative = manifests.filter_map(|entry| entry.path().parent()?.strip_prefix(root).ok().map(Path::to_owned));
    relative.map(|path| if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }).collect()
}
