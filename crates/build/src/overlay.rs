//! Edited texts over the project's files: a mirrored directory tree that the compiler reads instead of the originals.

use std::path::{Path, PathBuf};

use super::error::BuildError;
use project::OperatorProject;
use source::{SourceTree, normal};

/// A materialised [`SourceTree`]; removed when dropped. The tree hangs below a stand-in for the repository, so includes by
/// repository path find the edited text too.
pub(crate) struct Overlay {
    directory: tempfile::TempDir,
    operator: PathBuf,
}

/// Replacement for a file's text on its way to the disk, given its name and text.
pub(crate) type Change<'call> = &'call dyn Fn(&str, &str) -> Result<Option<String>, BuildError>;

impl Overlay {
    /// Writes the files; `change` may replace a text on its way (launch rewriting).
    pub fn materialise(
        project: &OperatorProject,
        work_directory: &Path,
        tree: &SourceTree,
        change: Change<'_>,
    ) -> Result<Overlay, BuildError> {
        let parent = work_directory.join("overlay");
        fs_err::create_dir_all(&parent).map_err(BuildError::io(&parent))?;
        let directory = tempfile::Builder::new().prefix("t").tempdir_in(&parent).map_err(BuildError::io(&parent))?;
        let prefix = project.root.strip_prefix(&project.repository_root).unwrap_or(Path::new(""));
        // Joining an empty path would add a slash at the end, and prefix maps would no longer match the directory itself.
        let operator = match prefix.as_os_str().is_empty() {
            true => directory.path().to_owned(),
            false => directory.path().join(prefix),
        };
        for (file, text) in tree.iter() {
            let path = operator.join(file);
            if let Some(folder) = path.parent() {
                fs_err::create_dir_all(folder).map_err(BuildError::io(folder))?;
            }
            let changed = change(file, text)?;
            std::fs::write(&path, changed.as_deref().unwrap_or(text)).map_err(BuildError::io(&path))?;
        }
        fs_err::create_dir_all(&operator).map_err(BuildError::io(&operator))?;
        Ok(Overlay { directory, operator })
    }

    /// Stand-in for the operator's root.
    pub fn operator(&self) -> &Path {
        &self.operator
    }

    /// Stand-in for the repository's root.
    pub fn repository(&self) -> &Path {
        self.directory.path()
    }

    /// Words that make file names in debug information and messages relative to the operator, those of files beside it too. Of
    /// several that fit the compiler takes the last.
    pub fn prefix_maps(&self, project: &OperatorProject) -> Vec<String> {
        let pairs = [(&project.root, &project.repository_root), (&self.operator, &self.directory.path().to_owned())];
        let mut words = Vec::new();
        for (operator, repository) in pairs {
            let above: Vec<&Path> =
                operator.ancestors().skip(1).take_while(|folder| folder.starts_with(repository)).collect();
            for (place, folder) in above.iter().enumerate().rev() {
                words.push(format!("-ffile-prefix-map={}={}", folder.display(), vec![".."; place + 1].join("/")));
            }
        }
        words.extend([&project.root, &self.operator].map(|root| format!("-ffile-prefix-map={}=.", root.display())));
        words
    }

    /// Name of a file in the project, for a path that the compiler printed.
    pub fn original_name(&self, project: &OperatorProject, path: &str) -> String {
        let absolute = normal(&self.operator.join(path));
        if let Ok(rest) = absolute.strip_prefix(&self.operator) {
            return rest.display().to_string();
        }
        if let Ok(rest) = absolute.strip_prefix(self.directory.path()) {
            let original = normal(&project.repository_root.join(rest));
            return project_relative(project, &original.to_string_lossy())
                .unwrap_or_else(|| original.display().to_string());
        }
        project_relative(project, &absolute.to_string_lossy()).unwrap_or_else(|| absolute.display().to_string())
    }

    /// Replaces the overlay's paths in a message.
    pub fn original_text(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.operator.display()), "")
            .replace(&format!("{}/", self.directory.path().display()), "")
    }
}

/// Project-relative name for a path from debug information or a message; `None` if the file is not the project's.
pub fn project_relative(project: &OperatorProject, path: &str) -> Option<String> {
    let path = Path::new(path);
    let relative =
        if path.is_absolute() { normal(path).strip_prefix(&project.root).ok()?.to_owned() } else { normal(path) };
    let name = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    let known = project.host_files.iter().chain(&project.kernel_files).any(|file| *file == name);
    (known || project.root.join(&name).is_file()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beside_the_operator_have_names_too() {
        let repository = tempfile::tempdir().unwrap();
        let root = repository.path().join("math/add");
        let write = |path: PathBuf, text: &str| {
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        write(repository.path().join("CMakeLists.txt"), "project(ops)\n");
        write(repository.path().join("common/inc/x.h"), "");
        write(root.join("CMakeLists.txt"), "add_all_modules_sources(OPTYPE add)\n");
        write(root.join("op_host/add_def.cpp"), "");
        write(root.join("op_kernel/add.cpp"), "extern \"C\" __global__ __aicore__ void add(GM_ADDR x) {}\n");
        let project = OperatorProject::find(&root).unwrap();
        let work = tempfile::tempdir().unwrap();
        let overlay = Overlay::materialise(&project, work.path(), &SourceTree::new(), &|_, _| Ok(None)).unwrap();
        let words = overlay.prefix_maps(&project);
        let named = |path: &Path| {
            let path = path.display().to_string();
            let maps = words.iter().filter_map(|word| word.strip_prefix("-ffile-prefix-map=")?.split_once('='));
            let last = maps.filter_map(|(from, to)| Some(format!("{to}{}", path.strip_prefix(from)?))).next_back();
            last.unwrap_or(path)
        };
        for (operator, above) in [(&root, repository.path()), (&overlay.operator, overlay.repository())] {
            assert_eq!(named(&operator.join("op_kernel/add.cpp")), "./op_kernel/add.cpp");
            assert_eq!(named(&above.join("math/norm/op_kernel/x.h")), "../norm/op_kernel/x.h");
            assert_eq!(named(&above.join("common/inc/x.h")), "../../common/inc/x.h");
        }
        assert_eq!(named(Path::new("/usr/include/x.h")), "/usr/include/x.h", "the SDK's and the system's stay");
    }
}
