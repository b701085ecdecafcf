//! The repository around one operator: where it ends, which folders its sources include from, and where a header or a
//! source is that no include folder leads to.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use walkdir::WalkDir;

/// Folders below any directory between the operator and the repository's top that repositories include from.
const COMMON_FOLDERS: [&str; 9] = [
    "common/inc",
    "common/inc/op_kernel",
    "common/inc/op_host",
    "common/include",
    "common/include/common",
    "utils/inc",
    "common/op_host",
    "common",
    "common/inc/op_api",
];
/// The folders among them that count only where the repository's CMake files name them: others include their headers by
/// `op_host/..`, and by their bare names those of the toolkit.
const NAMED_ONLY: [&str; 2] = ["common/inc/op_host", "common/inc/op_api"];
/// Folders that hold copies of headers for other purposes, or none at all.
const NOT_SEARCHED: [&str; 12] = [
    "tests",
    "test",
    "examples",
    "docs",
    "build",
    "build_out",
    "target",
    "third_party",
    "op_api",
    "op_kernel_aicpu",
    "framework",
    "stub",
];
const HIGHEST: usize = 10;

/// The repository around an operator and its include folders, nearest first. Without one, the operator itself.
pub(super) fn repository_around(root: &Path, own_project: bool) -> (PathBuf, Vec<PathBuf>) {
    if own_project {
        return (root.to_owned(), Vec::new());
    }
    let Some(top) = top(root) else { return (root.to_owned(), Vec::new()) };
    let between: Vec<&Path> = root.ancestors().skip(1).take_while(|folder| folder.starts_with(&top)).collect();
    let scripts = cmake_scripts(&top);
    let is_included =
        |name: &str| !NAMED_ONLY.contains(&name) || scripts.is_empty() || scripts.iter().any(|text| names(text, name));
    let common: Vec<&str> = COMMON_FOLDERS.into_iter().filter(|name| is_included(name)).collect();
    let mut folders = Vec::new();
    for folder in between {
        folders.push(folder.to_owned());
        folders.extend(common.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()));
    }
    (top, folders)
}

/// A repository's CMake files outside its operators, which decide what is included from where.
pub fn cmake_files(top: &Path) -> Vec<PathBuf> {
    let scripts = std::fs::read_dir(top.join("cmake")).into_iter().flatten().flatten().map(|entry| entry.path());
    let scripts = scripts.filter(|path| path.extension().is_some_and(|extension| extension == "cmake"));
    std::iter::once(top.join("CMakeLists.txt")).chain(scripts).collect()
}

fn cmake_scripts(top: &Path) -> Vec<String> {
    let texts = cmake_files(top).into_iter().filter_map(|path| std::fs::read(path).ok());
    texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

/// Whether a CMake file names a folder itself, and not only something in it.
fn names(text: &str, folder: &str) -> bool {
    text.match_indices(folder).any(|(at, _)| !text[at + folder.len()..].trim_start_matches('/').starts_with(is_of_path))
}

fn is_of_path(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '*' | '.' | '$')
}

/// The nearest directory above with common folders, or the checkout that it is part of.
fn top(root: &Path) -> Option<PathBuf> {
    let above: Vec<&Path> = root.ancestors().skip(1).take(HIGHEST).collect();
    let has_common = |folder: &Path| folder.join("common/inc").is_dir() || folder.join("common/include").is_dir();
    let common = above.iter().position(|folder| has_common(folder));
    let checkout = above.iter().position(|folder| folder.join(".git").exists());
    match (common, checkout) {
        // A checkout far above the common folders holds other things too.
        (Some(common), Some(checkout)) if checkout >= common && checkout - common <= 2 => {
            Some(above[checkout].to_owned())
        }
        (Some(common), _) => Some(above[common].to_owned()),
        (None, Some(checkout)) => Some(above[checkout].to_owned()),
        (None, None) => None,
    }
}

/// Names of all headers and sources of a repository.
#[derive(Debug)]
pub struct RepositoryIndex {
    by_name: HashMap<String, Vec<PathBuf>>,
}

impl RepositoryIndex {
    /// The index of a repository; made once per process.
    pub fn of(root: &Path) -> Arc<RepositoryIndex> {
        static KNOWN: OnceLock<Mutex<BTreeMap<PathBuf, Arc<RepositoryIndex>>>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        if let Ok(known) = known.lock()
            && let Some(index) = known.get(root)
        {
            return index.clone();
        }
        let index = Arc::new(RepositoryIndex::walk(root));
        if let Ok(mut known) = known.lock() {
            known.insert(root.to_owned(), index.clone());
        }
        index
    }

    fn walk(root: &Path) -> RepositoryIndex {
        let mut by_name: HashMap<String, Vec<PathBuf>> = HashMap::new();
        let walk = WalkDir::new(root).max_depth(14).sort_by_file_name().into_iter().filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0
                || !entry.file_type().is_dir()
                || !(name.starts_with('.') || NOT_SEARCHED.contains(&name.as_ref()))
        });
        for entry in walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_file()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if matches!(name.rsplit_once('.'), Some((_, "h" | "hpp" | "cpp" | "cc"))) {
                by_name.entry(name).or_default().push(entry.into_path());
            }
        }
        RepositoryIndex { by_name }
    }

    /// The file that an include means whose path ends so, nearest to `from`; `None` if there is none. `../` at the front
    /// says nothing about where the repository puts a file before it compiles.
    pub fn ending(&self, include: &str, from: &Path) -> Option<&Path> {
        let wanted = include.trim_start_matches("../").trim_start_matches("./");
        let name = wanted.rsplit('/').next()?;
        let found = self.by_name.get(name)?.iter().filter(|path| path.ends_with(wanted));
        found
            .max_by_key(|path| (shared(path, from), std::cmp::Reverse(path.components().count())))
            .map(PathBuf::as_path)
    }

    /// All headers and sources of a file name.
    pub fn named(&self, name: &str) -> &[PathBuf] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Sources below a folder.
    pub fn sources_below<'index>(&'index self, folder: &'index Path) -> impl Iterator<Item = &'index Path> {
        self.by_name.values().flatten().map(PathBuf::as_path).filter(move |path| {
            path.starts_with(folder) && path.extension().is_some_and(|kind| kind == "cpp" || kind == "cc")
        })
    }
}

fn shared(path: &Path, other: &Path) -> usize {
    path.components().zip(other.components()).take_while(|(one, two)| one == two).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, file: &str) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn folders_of_all_levels_and_the_nearest_file_of_a_name() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path();
        write(base, ".git/HEAD");
        write(base, "csrc/common/inc/x.h");
        write(base, "csrc/moe/common/op_host/moe.h");
        write(base, "csrc/moe/gate/op_host/a.cpp");
        write(base, "csrc/moe/util/op_host/helper.h");
        write(base, "csrc/gmm/util/op_host/helper.h");
        let root = base.join("csrc/moe/gate");
        let (top, folders) = repository_around(&root, false);
        assert_eq!(top, base);
        for folder in ["csrc/moe", "csrc/moe/common/op_host", "csrc/common/inc"] {
            assert!(folders.contains(&base.join(folder)), "{folder}");
        }
        let index = RepositoryIndex::of(base);
        assert_eq!(index.ending("op_host/helper.h", &root).unwrap(), base.join("csrc/moe/util/op_host/helper.h"));
        assert_eq!(
            index.ending("../gmm/util/op_host/helper.h", &root).unwrap(),
            base.join("csrc/gmm/util/op_host/helper.h")
        );
        assert!(index.ending("other/helper.h", &root).is_none());
        assert_eq!(index.sources_below(&root).count(), 1);
    }
}
