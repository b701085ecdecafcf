//! Operators of a tree: directories with `op_kernel/`, and CMake projects that launch kernels themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use super::reach::{KernelFolders, class, is_foreign, reached};
use events::survey::{Class, Shape};
use project::{kernel_entries, without_cmake_comments};
use source::arch::TARGET;
use source::lex::has_launch;

/// An operator of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Name of the repository.
    pub repository: String,
    /// Directory in the repository, with `/`.
    pub operator: String,
    /// The directory.
    pub directory: PathBuf,
    /// What it looks like.
    pub shape: Shape,
    /// Which cores it needs.
    pub class: Class,
}

/// What a tree holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Operators for the 910B, by repository and directory.
    pub operators: Vec<Found>,
    /// Operators that exist only for other chips.
    pub other_chips: Vec<String>,
}

/// Directories in which there are no operators: tests, templates, results of builds, other people's code.
const SKIPPED: [&str; 17] = [
    "tests",
    "test",
    "docs",
    "build",
    "build_out",
    "target",
    "scripts",
    "cmake",
    "third_party",
    "op_host",
    "op_kernel",
    "op_api",
    "op_graph",
    "op_kernel_aicpu",
    "node_modules",
    "templates",
    "template",
];

/// Walks the trees. Directories that cannot be read are left out.
pub fn discover(roots: &[PathBuf]) -> Census {
    let mut census = Census::default();
    for root in roots {
        let root = root.canonicalize().unwrap_or_else(|_| root.clone());
        let directories = directories(&root);
        let folders: KernelFolders = directories
            .iter()
            .filter(|directory| directory.join("op_kernel").is_dir())
            .filter_map(|directory| Some((file_name(directory)?, directory.join("op_kernel"))))
            .collect();
        let mut names = BTreeMap::new();
        for directory in &directories {
            let top = repository_top(directory, &root);
            let repository = names.entry(top.clone()).or_insert_with(|| file_name(&top).unwrap_or_default()).clone();
            let operator = match directory.strip_prefix(&top) {
                Ok(inside) if !inside.as_os_str().is_empty() => slashed(inside),
                _ => ".".to_owned(),
            };
            let Some((shape, files)) = kernels(directory) else { continue };
            if !files.wanted {
                census.other_chips.push(format!("{repository}/{operator}"));
                continue;
            }
            let reached = reached(&files.entries, &directory.join("op_kernel"), &folders);
            let class = class(&reached);
            census.operators.push(Found { repository, operator, directory: directory.clone(), shape, class });
        }
    }
    census
        .operators
        .sort_by(|left, right| (&left.repository, &left.operator).cmp(&(&right.repository, &right.operator)));
    census.operators.dedup();
    census.other_chips.sort();
    census.other_chips.dedup();
    census
}

/// Files with kernels of one directory.
struct Kernels {
    entries: Vec<PathBuf>,
    wanted: bool,
}

fn kernels(directory: &Path) -> Option<(Shape, Kernels)> {
    let kernel = directory.join("op_kernel");
    if kernel.is_dir() {
        let all = with_entries(&kernel, &["cpp", "cc", "asc", "h", "hpp"], 4);
        if all.is_empty() {
            return None;
        }
        let entries: Vec<PathBuf> = all.into_iter().filter(|file| !is_foreign(file)).collect();
        let wanted = !entries.is_empty() && targets_our_chip(directory);
        return Some((Shape::Framework, Kernels { entries, wanted }));
    }
    let cmake = std::fs::read(directory.join("CMakeLists.txt")).ok()?;
    if !declares_project(&String::from_utf8_lossy(&cmake)) {
        return None;
    }
    let entries = with_entries(directory, &["cpp", "cc", "asc", "h", "hpp"], 3);
    let launches = entries.iter().any(|file| text_of(file).is_some_and(|text| has_launch(&text)))
        || files_of(directory, &["cpp", "cc", "asc"], 3)
            .iter()
            .any(|file| text_of(file).is_some_and(|text| has_launch(&text)));
    if entries.is_empty() || !launches {
        return None;
    }
    let wanted = !only_for_others(&String::from_utf8_lossy(&cmake));
    Some((Shape::DirectLaunch, Kernels { entries, wanted }))
}

/// Whether a CMake file of an example names architectures and ours is not among them.
fn only_for_others(cmake: &str) -> bool {
    let code = without_cmake_comments(cmake);
    code.contains("dav-") && !code.contains(&TARGET.npu_arch())
}

/// Whether an operator's own tiling functions are all for other architectures.
fn tiles_for_others_only(directory: &Path) -> bool {
    let host = directory.join("op_host");
    let tiles = |file: &PathBuf| text_of(file).is_some_and(|text| text.contains("IMPL_OP_OPTILING("));
    let is_other = |file: PathBuf| file.strip_prefix(directory).is_ok_and(|inside| TARGET.is_foreign(&slashed(inside)));
    let mut tiling = files_of(&host, &["cpp", "cc"], 4).into_iter().filter(tiles).map(is_other).peekable();
    tiling.peek().is_some() && tiling.all(|other| other)
}

/// Whether the host code or the CMake files of an operator name our chips, or no chip at all.
fn targets_our_chip(directory: &Path) -> bool {
    if directory.join("op_host/config").join(TARGET.chip).is_dir() {
        return true;
    }
    // A list of chips in the operator's CMake files counts more than what its definition could do.
    for file in ["CMakeLists.txt", "op_host/CMakeLists.txt"] {
        let cmake = text_of(&directory.join(file)).unwrap_or_default();
        let cmake = without_cmake_comments(&cmake);
        if let Some(chips) = cmake.lines().rfind(|line| line.contains("set(SUPPORT_COMPUTE_UNIT")) {
            return chips.contains(TARGET.chip);
        }
    }
    if tiles_for_others_only(directory) {
        return false;
    }
    let mut named = false;
    let host = files_of(&directory.join("op_host"), &["cpp", "cc", "h", "hpp", "txt"], 4);
    for file in host.iter().chain(&[directory.join("CMakeLists.txt"), directory.join("op_kernel/CMakeLists.txt")]) {
        let Some(text) = text_of(file) else { continue };
        let is_definition = text.contains("AddConfig(") || file.extension().is_some_and(|extension| extension == "txt");
        if is_definition && text.contains(TARGET.chip) {
            return true;
        }
        named |= is_definition && TARGET.names_other_chip(&text);
    }
    !named
}

fn with_entries(folder: &Path, extensions: &[&str], depth: usize) -> Vec<PathBuf> {
    files_of(folder, extensions, depth)
        .into_iter()
        .filter(|file| {
            text_of(file).is_some_and(|text| {
                text.contains("__global__") && (!kernel_entries("", &text).is_empty() || text.contains("##"))
            })
        })
        .collect()
}

fn files_of(folder: &Path, extensions: &[&str], depth: usize) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = WalkDir::new(folder)
        .max_depth(depth)
        .into_iter()
        .filter_entry(|entry| {
            entry.depth() == 0 || !matches!(entry.file_name().to_str(), Some("tests" | "build" | "op_api" | ".git"))
        })
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .map(DirEntry::into_path)
        .filter(|path| path.extension().and_then(|one| one.to_str()).is_some_and(|one| extensions.contains(&one)))
        .collect();
    files.sort();
    files
}

fn text_of(file: &Path) -> Option<String> {
    std::fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn directories(root: &Path) -> Vec<PathBuf> {
    WalkDir::new(root)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0
                || (entry.file_type().is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_ref()))
        })
        .flatten()
        .filter(|entry| entry.file_type().is_dir())
        .map(DirEntry::into_path)
        .collect()
}

/// Top of the repository that a directory is in: the nearest directory with `.git`, or the tree that was named.
fn repository_top(directory: &Path, root: &Path) -> PathBuf {
    let inside = directory.ancestors().take_while(|parent| parent.starts_with(root));
    inside.into_iter().find(|parent| parent.join(".git").exists()).unwrap_or(root).to_owned()
}

fn declares_project(cmake: &str) -> bool {
    cmake.lines().any(|line| {
        let line = line.trim_start();
        line.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("project"))
            && line[7..].trim_start().starts_with('(')
    })
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_of_the_cmake_file_count_more_than_the_definition() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        std::fs::create_dir(root.join("op_host")).unwrap();
        std::fs::write(root.join("op_host/add_def.cpp"), "this->AICore().AddConfig(\"ascend910b\");").unwrap();
        assert!(targets_our_chip(root));
        for (list, wanted) in [("\"ascend950\"", false), ("\"ascend950\" \"ascend910b\"", true)] {
            std::fs::write(root.join("CMakeLists.txt"), format!("set(SUPPORT_COMPUTE_UNIT {list})\n")).unwrap();
            assert_eq!(targets_our_chip(root), wanted, "{list}");
        }
    }

    #[test]
    fn tiling_functions_for_is_foreigns_are_no_tiling_functions_here() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        std::fs::create_dir_all(root.join("op_host/arch35")).unwrap();
        std::fs::write(root.join("op_host/add_def.cpp"), "this->AICore().AddConfig(\"ascend910b\");").unwrap();
        std::fs::write(root.join("op_host/arch35/add_tiling.cpp"), "IMPL_OP_OPTILING(Add)").unwrap();
        assert!(!targets_our_chip(root));
        std::fs::write(root.join("op_host/add_tiling.cpp"), "IMPL_OP_OPTILING(Add)").unwrap();
        assert!(targets_our_chip(root));
        std::fs::write(root.join("op_host/CMakeLists.txt"), "set(SUPPORT_COMPUTE_UNIT \"ascend950\")\n").unwrap();
        assert!(!targets_our_chip(root), "the list of the host's own CMake file");
    }
}
