//! What the libraries of an operator depend on beside its own directory, compiler and SDK: so that it can be said later that nothing of
//! it has changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::builder::Builder;
use super::error::BuildError;
use super::includes::{Closure, closure};
use project::{OperatorProject, cmake_files};
use source::SourceTree;

/// What libraries were made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildInputs {
    /// Files that were read or looked for, and folders whose files were.
    pub files: BTreeSet<PathBuf>,
    /// Files that are not there: another header would be taken if one of them were.
    pub absent: BTreeSet<PathBuf>,
    /// File names of what is included: the repository's files of these names are what can be meant.
    pub names: BTreeSet<String>,
}

impl BuildInputs {
    fn add(&mut self, reached: &Closure, folders: &[PathBuf]) {
        self.files.extend(reached.other_files.keys().cloned());
        for spelled in &reached.spelled {
            self.names.extend(spelled.rsplit('/').next().map(str::to_owned));
            let places = folders.iter().map(|folder| folder.join(spelled));
            self.absent.extend(places.filter(|place| !place.exists()));
        }
    }
}

/// What is read of the repository around an operator to find its folders and variables: the CMake files of every folder above.
fn read_as_text(project: &OperatorProject) -> Vec<PathBuf> {
    let above = project.root.ancestors().skip(1).take_while(|folder| folder.starts_with(&project.repository_root));
    above.flat_map(|folder| [vec![folder.join("cmake")], cmake_files(folder)].concat()).collect()
}

/// What sources reach by their texts alone: nobody asked CMake for folders. Names say what else may be meant.
pub fn inputs_by_text(project: &OperatorProject, tree: &SourceTree) -> BuildInputs {
    let mut inputs = BuildInputs::default();
    for (file, _) in tree.iter() {
        inputs.add(&closure(project, tree, file, &[], None), &[]);
    }
    inputs
}

impl Builder {
    /// What the libraries of these sources are made from beside the operator's own directory and the SDK. Compiles what was not compiled
    /// yet: which sources of a repository host code needs is found by linking.
    pub fn inputs(&self, tree: &SourceTree) -> Result<BuildInputs, BuildError> {
        let mut inputs = BuildInputs::default();
        inputs.files.extend(self.model().inputs.iter().cloned());
        for (file, _) in tree.iter() {
            self.add_reached(&mut inputs, tree, file, &self.project_flags(file).includes);
        }
        let in_repository = self.project.repository_root != self.project.root;
        if in_repository {
            inputs.files.extend(read_as_text(&self.project));
            let own = self.host_sources(tree);
            if !own.is_empty() {
                let objects = self.objects(tree, &own)?;
                for (file, flags, _) in self.dependencies(tree, &own, &objects)? {
                    self.add_reached(&mut inputs, tree, &file, &flags.includes);
                }
                // Each of them may define what the others miss.
                inputs.files.extend(self.candidates(tree, &own).all().iter().cloned());
            }
        }
        // What is below these has digests of its own, or is made from what is here.
        let is_known = |path: &Path| path.starts_with(&self.sdk.root) || path.starts_with(&self.work_directory);
        inputs.files.retain(|path| !is_known(path));
        inputs.absent.retain(|path| !is_known(path) && !path.starts_with(&self.project.root));
        Ok(inputs)
    }

    fn add_reached(&self, inputs: &mut BuildInputs, tree: &SourceTree, file: &str, includes: &[PathBuf]) {
        // What the SDK has is covered by its own digest.
        let includes = includes.iter().filter(|folder| !folder.starts_with(&self.sdk.root));
        let folders: Vec<PathBuf> = includes.chain(&self.project.repository_includes).cloned().collect();
        let reached = closure(&self.project, tree, file, &folders, Some(&self.sdk.include()));
        inputs.add(&reached, &folders);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn headers_of_headers_and_names_that_lead_nowhere_are_inputs() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path();
        write(base, "common/inc/cast.h", "#include \"deep.h\"\n");
        write(base, "common/inc/deep.h", "");
        write(base, "common/inc/other.h", "");
        let root = base.join("math/add");
        write(&root, "op_host/add.cpp", "#include \"cast.h\"\n#include \"not/there.h\"\n");
        write(&root, "op_kernel/add.cpp", "extern \"C\" __global__ __aicore__ void add(GM_ADDR x) {}\n");
        let project = OperatorProject::find(&root).unwrap();
        let inputs = inputs_by_text(&project, &project.load_sources().unwrap());
        let files = ["common/inc/cast.h", "common/inc/deep.h"].map(|file| base.join(file));
        assert!(inputs.files.iter().eq(files.iter()), "{inputs:?}");
        assert!(inputs.names.iter().eq(["cast.h", "deep.h", "there.h"]), "{inputs:?}");
        write(base, "math/cmake/more.cmake", "");
        let read = ["math/cmake", "math/CMakeLists.txt", "math/cmake/more.cmake", "cmake", "CMakeLists.txt"];
        assert_eq!(read_as_text(&project), read.map(|file| base.join(file)));
    }
}
