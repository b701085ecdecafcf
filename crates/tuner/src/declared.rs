//! What an operator's directory says by itself: project, manifest, sources. Nothing is compiled or made ready for that.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::TunerError;
use aicore::Machine;
use manifest::{FILE_NAME, Layout, Manifest, ManifestError};
use project::{OperatorProject, load_machine};
use source::SourceTree;
use source::tunable::of_choices;

/// Folder of input files below the work directory.
pub(super) const DATA: &str = "data";

/// An operator as it is declared.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Project.
    pub project: OperatorProject,
    /// Directory for everything that the tool writes beside sources, manifest and lock.
    pub work_directory: PathBuf,
    /// Text of the manifest; empty if it was made up.
    pub manifest_text: String,
    /// Manifest.
    pub manifest: Manifest,
    /// Sources as they are on disk, as far as tuning may edit them.
    pub sources: SourceTree,
}

impl Declared {
    /// Finds the project and reads manifest and sources. What a killed command left behind is carried to its end or removed first.
    /// `work_directory` is `target/ascend-tune` of the project if not given, and `made_up` is taken in place of the manifest.
    pub fn read(directory: &Path, work_directory: Option<&Path>, made_up: Option<&str>) -> Result<Self, TunerError> {
        let project = OperatorProject::find(directory)?;
        let path = project.root.join(FILE_NAME);
        let work_directory = work_directory.map_or_else(|| project.work_directory(), Path::to_owned);
        let (manifest_text, mut manifest) = match made_up {
            Some(text) => (String::new(), Manifest::parse(text, &path).map_err(ManifestError::from)?),
            None if path.exists() => {
                let manifest = Manifest::load(&path)?;
                (fs_err::read_to_string(&path)?, manifest)
            }
            None => return Err(TunerError::NoManifest(path)),
        };
        super::finish::recover(&project.root, &work_directory)?;
        sweep(&work_directory);
        known_kernel(&project, &manifest)?;
        let sources = editable_sources(&project, &manifest)?;
        // A constant that a run has made of one of the manifest is a tunable as that one is.
        let of_choices = of_choices(&sources, &manifest.tunables);
        manifest.tunables.extend(of_choices);
        Ok(Self { project, work_directory, manifest_text, manifest, sources })
    }

    /// The machine description of that name or file, or else the manifest's.
    pub fn machine(&self, named: Option<&str>) -> Result<Machine, TunerError> {
        Ok(load_machine(named.unwrap_or(&self.manifest.machine), &self.project.root)?)
    }
}

/// Another kernel than the one that is named must not be tuned in its place.
fn known_kernel(project: &OperatorProject, manifest: &Manifest) -> Result<(), TunerError> {
    let entries = &project.kernel_entries;
    // Entries that macros make are not seen here.
    let may_be = entries.is_empty() || manifest.layout == Layout::DirectLaunch;
    if may_be || project.entry_called(&manifest.kernel).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = entries.iter().map(|entry| entry.function.as_str()).collect();
    Err(TunerError::Usage(format!(
        "{}: there is no kernel `{}`; found: {}",
        manifest.path.display(),
        manifest.kernel,
        known.join(", ")
    )))
}

/// Removes what killed commands left behind. Directories of commands that may still run are younger than that.
fn sweep(work_directory: &Path) {
    const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(3600);
    // Inputs of runs by other seeds are made again when they are wanted.
    const UNUSED_AFTER: Duration = Duration::from_secs(24 * 3600);
    let data = work_directory.join(DATA);
    let folders =
        [work_directory.join("runs"), work_directory.join("overlay"), work_directory.to_owned(), data.clone()];
    for entry in folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten() {
        let name = entry.file_name();
        let temporary = entry.path().parent() != Some(work_directory) || name.to_string_lossy().starts_with("clean-");
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|at| at.elapsed().ok());
        let limit = if entry.path().parent() == Some(&data) { UNUSED_AFTER } else { LEFT_BEHIND_AFTER };
        if temporary && age.is_some_and(|age| age > limit) {
            // Somebody else may be at it as well; what cannot be removed now is tried again next time.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The files that tuning may edit: those of the manifest, or everything the project offers where it names none.
fn editable_sources(project: &OperatorProject, manifest: &Manifest) -> Result<SourceTree, TunerError> {
    let all = project.load_sources()?;
    if manifest.sources.is_empty() {
        return Ok(all);
    }
    let mut chosen = SourceTree::new();
    for file in &manifest.sources {
        let text = all.text(file).ok_or_else(|| {
            TunerError::Usage(format!(
                "{}: sources: {file} is not a source file of the operator",
                manifest.path.display()
            ))
        })?;
        chosen.insert(file.clone(), text);
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_used_for_long_is_swept() {
        let directory = tempfile::tempdir().unwrap();
        let aged = |name: &str, hours: u64| {
            let folder = directory.path().join(name);
            fs_err::create_dir_all(&folder).unwrap();
            let at = std::time::SystemTime::now() - Duration::from_secs(hours * 3600);
            std::fs::File::open(&folder).unwrap().set_modified(at).unwrap();
            folder
        };
        let left_behind = [aged("runs/killed", 2), aged("data/case-random-1-ab", 30)];
        let wanted = [aged("runs/running", 0), aged("data/case-random-0", 2), aged("locked-outputs", 99)];
        sweep(directory.path());
        assert!(left_behind.iter().all(|folder| !folder.exists()));
        assert!(wanted.iter().all(|folder| folder.exists()));
    }
}
