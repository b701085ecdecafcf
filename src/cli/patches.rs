//! Patches that the user gives to a run.

use std::path::{Path, PathBuf};

use super::args::{RunArgs, StageChoice};
use proposer::PatchFiles;
use tuner::{TunerError, Workspace};

/// What `--patch` names.
pub fn patches(arguments: &RunArgs, workspace: &Workspace) -> Result<Option<PatchFiles>, TunerError> {
    if arguments.patch.is_empty() {
        return Ok(None);
    }
    if arguments.stage == StageChoice::Host {
        let message = "--patch is a matter of the kernel stage, which --stage host leaves out";
        return Err(TunerError::Usage(message.to_owned()));
    }
    let mut texts = Vec::new();
    for given in &arguments.patch {
        for path in patch_files(given)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs_err::read_to_string(&path).map_err(|error| TunerError::Usage(error.to_string()))?;
            texts.push((name, text));
        }
    }
    let read = PatchFiles::new(&workspace.sources, &texts);
    read.map(Some).map_err(|error| TunerError::Usage(error.to_string()))
}

/// A file itself; of a directory its patches, by name.
fn patch_files(given: &Path) -> Result<Vec<PathBuf>, TunerError> {
    if !given.is_dir() {
        return Ok(vec![given.to_owned()]);
    }
    let mut found: Vec<PathBuf> =
        fs_err::read_dir(given)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "patch" || extension == "diff"));
    found.sort();
    if found.is_empty() {
        let message = format!("--patch {}: no *.patch or *.diff is in this directory", given.display());
        return Err(TunerError::Usage(message));
    }
    Ok(found)
}
