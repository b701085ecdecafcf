//! Which files a source can reach by `#include`, found in the texts, so that a digest covers what matters and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use project::{OperatorProject, RepositoryIndex};
use source::lex::{Include, includes};
use source::{SourceTree, normal};

/// What a source reaches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closure {
    /// Files of the tree, the source itself included.
    pub tree_files: BTreeSet<String>,
    /// Other files with their bytes' digest.
    pub other_files: BTreeMap<PathBuf, String>,
    /// Folders of other operators under the name that the flattened kernel tree gives them.
    pub flat_folders: BTreeMap<String, PathBuf>,
    /// Folders that lead to headers which the repository has somewhere else.
    pub found_folders: BTreeSet<PathBuf>,
    /// What follows `#include` in them, without quotes.
    pub spelled: BTreeSet<String>,
}

/// Follows includes from a file of the tree, or from another one by its absolute path. Headers in `sdk` are left
/// alone, where that is given.
pub(crate) fn closure(
    project: &OperatorProject,
    tree: &SourceTree,
    start: &str,
    folders: &[PathBuf],
    sdk: Option<&Path>,
) -> Closure {
    let mut result = Closure::default();
    let start =
        if tree.text(start).is_some() { HeaderFile::Tree(start.to_owned()) } else { HeaderFile::Other(start.into()) };
    let mut pending = vec![start];
    while let Some(place) = pending.pop() {
        let text = match &place {
            HeaderFile::Tree(file) => {
                let Some(text) = tree.text(file) else { continue };
                if !result.tree_files.insert(file.clone()) {
                    continue;
                }
                text.to_owned()
            }
            HeaderFile::Other(path) => {
                if result.other_files.contains_key(path) {
                    continue;
                }
                let Ok(bytes) = std::fs::read(path) else { continue };
                result.other_files.insert(path.clone(), blake3::hash(&bytes).to_hex()[..32].to_owned());
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        for include in includes(&text) {
            match include {
                Include::Quoted(path) => {
                    result.spelled.insert(path.clone());
                    pending.extend(resolve(project, tree, &place, &path, folders, sdk, &mut result));
                }
                Include::Angled(path) => {
                    result.spelled.insert(path.clone());
                    let found = in_folders(project, tree, &path, folders);
                    // Libraries of the system change with the system.
                    pending.extend(found.filter(|place| place.is_of(&project.repository_root)));
                }
                // A macro may name any file.
                Include::Macro => pending.extend(tree.iter().map(|(file, _)| HeaderFile::Tree(file.to_owned()))),
            }
        }
    }
    result
}

/// Directories above the operator in which common folders are looked for.
const HIGHEST: usize = 8;

#[derive(Clone, Debug)]
enum HeaderFile {
    Tree(String),
    Other(PathBuf),
}

impl HeaderFile {
    fn is_of(&self, repository: &Path) -> bool {
        match self {
            HeaderFile::Tree(_) => true,
            HeaderFile::Other(path) => path.starts_with(repository),
        }
    }
}

fn resolve(
    project: &OperatorProject,
    tree: &SourceTree,
    from: &HeaderFile,
    include: &str,
    folders: &[PathBuf],
    sdk: Option<&Path>,
    result: &mut Closure,
) -> Option<HeaderFile> {
    let from_folder = match from {
        HeaderFile::Tree(file) => project.root.join(file).parent()?.to_owned(),
        HeaderFile::Other(path) => path.parent()?.to_owned(),
    };
    let beside = place_at(project, tree, &from_folder.join(include));
    if let Some(place) = beside.or_else(|| in_folders(project, tree, include, folders)) {
        return Some(place);
    }
    if sdk.is_some_and(|sdk| sdk.join(include).is_file()) {
        return None;
    }
    let path = flattened(project, include, &mut result.flat_folders).or_else(|| elsewhere(project, include, result))?;
    place_at(project, tree, &path)
}

/// A header in one of the folders that a compilation is given. What is in none of them is the system's or the SDK's.
fn in_folders(project: &OperatorProject, tree: &SourceTree, include: &str, folders: &[PathBuf]) -> Option<HeaderFile> {
    let standard = [project.root.join("op_host"), project.root.join("op_kernel"), project.root.clone()];
    let mut searched = folders.iter().chain(&standard).chain(&project.repository_includes);
    searched.find_map(|folder| place_at(project, tree, &folder.join(include)))
}

/// A header that no include folder leads to, found by the end of its path.
fn elsewhere(project: &OperatorProject, include: &str, result: &mut Closure) -> Option<PathBuf> {
    if project.repository_root == project.root {
        return None;
    }
    let index = RepositoryIndex::of(&project.repository_root);
    let path = index.ending(include, &project.root)?.to_owned();
    let folder = path.ancestors().nth(Path::new(include.trim_start_matches("../")).components().count())?.to_owned();
    match leaving(include) {
        Some((name, _)) => {
            result.flat_folders.insert(name.to_owned(), folder.join(name));
        }
        None => {
            result.found_folders.insert(folder);
        }
    }
    Some(path)
}

fn place_at(project: &OperatorProject, tree: &SourceTree, path: &Path) -> Option<HeaderFile> {
    let path = normal(path);
    if let Ok(relative) = path.strip_prefix(&project.root) {
        let name = relative.to_string_lossy().into_owned();
        if tree.text(&name).is_some() {
            return Some(HeaderFile::Tree(name));
        }
    }
    path.is_file().then_some(HeaderFile::Other(path))
}

/// Folder and rest of an include that leaves the kernels' folder: `../other_op/x.h`, with more `..` in subfolders.
fn leaving(include: &str) -> Option<(&str, &str)> {
    let inside = include.trim_start_matches("../");
    (inside.len() < include.len()).then(|| inside.split_once('/')).flatten()
}

/// Repositories copy all kernel folders side by side before they compile: `../other_op/x.h` means
/// `<somewhere>/other_op/op_kernel/x.h`, and `../inc/x.h` means `common/inc/op_kernel/x.h`.
fn flattened(project: &OperatorProject, include: &str, flat: &mut BTreeMap<String, PathBuf>) -> Option<PathBuf> {
    let (name, rest) = leaving(include)?;
    let mut candidates = Vec::new();
    if name == "inc" || name == "common" {
        candidates
            .extend(project.root.ancestors().skip(1).take(HIGHEST).map(|above| above.join("common/inc/op_kernel")));
    }
    for parent in project.root.ancestors().skip(1) {
        candidates.push(parent.join(name).join("op_kernel"));
        if parent == project.repository_root {
            break;
        }
    }
    if let Ok(categories) = std::fs::read_dir(&project.repository_root) {
        let mut categories: Vec<PathBuf> = categories.flatten().map(|entry| entry.path()).collect();
        categories.sort();
        candidates.extend(categories.into_iter().map(|category| category.join(name).join("op_kernel")));
    }
    let folder = candidates.into_iter().find(|folder| folder.join(rest).is_file())?;
    let path = folder.join(rest);
    flat.insert(name.to_owned(), folder);
    Some(path)
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
    fn includes_are_followed_in_all_layouts() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path();
        let root = base.join("math/add");
        write(base, "common/inc/op_kernel/platform.h", "");
        write(base, "math/utils/op_kernel/tools.h", "#include \"../inc/platform.h\"\n");
        write(
            &root,
            "op_host/add_tiling.cpp",
            "#include \"math/add/op_kernel/add_data.h\"\n#include \"../op_kernel/add_key.h\"\n",
        );
        write(&root, "op_kernel/add.cpp", "#include \"add.h\"\n__global__ void add(GM_ADDR x) {}\n");
        write(
            &root,
            "op_kernel/add.h",
            "#include \"../utils/tools.h\"\n#include \"add_data.h\"\n#include \"kernel_operator.h\"\n#include \"arch22/deep.h\"\n",
        );
        write(&root, "op_kernel/arch22/deep.h", "#include \"../../mul/mul_common.h\"\n");
        write(base, "math/mul/op_kernel/mul_common.h", "");
        write(&root, "op_kernel/add_data.h", "");
        write(&root, "op_kernel/add_key.h", "");
        write(base, "other/deep/op_host/far.h", "");
        let no_sdk = base.join("sdk");
        let project = OperatorProject::find(&root).unwrap();
        let tree = project.load_sources().unwrap();
        let kernel = closure(&project, &tree, "op_kernel/add.cpp", &[], Some(&no_sdk));
        assert_eq!(
            kernel.tree_files.iter().collect::<Vec<_>>(),
            ["op_kernel/add.cpp", "op_kernel/add.h", "op_kernel/add_data.h", "op_kernel/arch22/deep.h"]
        );
        assert_eq!(kernel.other_files.len(), 3);
        assert_eq!(kernel.flat_folders.keys().collect::<Vec<_>>(), ["inc", "mul", "utils"]);
        let host = closure(&project, &tree, "op_host/add_tiling.cpp", &[], Some(&no_sdk));
        assert_eq!(host.tree_files.len(), 3);
        assert!(host.other_files.is_empty());
        let mut tree = tree;
        tree.insert("op_host/add_tiling.cpp".to_owned(), "#include \"far.h\"\n".to_owned());
        let host = closure(&project, &tree, "op_host/add_tiling.cpp", &[], Some(&no_sdk));
        assert_eq!(host.found_folders.iter().collect::<Vec<_>>(), [&base.join("other/deep/op_host")]);
    }
}
