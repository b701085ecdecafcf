//! From a directory to an [`OperatorProject`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::entry::{KernelEntry, kernel_entries};
use super::repository::repository_around;
use manifest::Layout;
use source::SourceTree;
use source::arch::TARGET;
use source::lex::{compiles_at_run_time, has_launch};

const SOURCE_EXTENSIONS: [&str; 5] = ["h", "hpp", "cpp", "cc", "asc"];
const SKIPPED_DIRECTORIES: [&str; 12] = [
    "tests",
    "test",
    "examples",
    "docs",
    "build",
    "build_out",
    "target",
    "figures",
    "scripts",
    "cmake",
    "op_kernel_aicpu",
    "node_modules",
];
const MANIFEST: &str = "ascend.toml";
/// What `msopgen gen` writes into a project's `cmake` folder and its `CMakeLists.txt` includes.
const GENERATED_MODULES: [&str; 3] = ["cmake/config.cmake", "cmake/func.cmake", "cmake/intf.cmake"];

/// Where CMake starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CmakeRoot {
    /// A `CMakeLists.txt` with its own `project()`.
    Project(PathBuf),
    /// One operator's directory of a repository: the builder writes a wrapper project around it.
    Operator(PathBuf),
}

impl CmakeRoot {
    /// The directory itself.
    pub fn directory(&self) -> &Path {
        match self {
            CmakeRoot::Project(directory) | CmakeRoot::Operator(directory) => directory,
        }
    }
}

/// An operator project as found on disk. All file names are relative to `root`, with `/`, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorProject {
    /// Directory that holds the operator's sources.
    pub root: PathBuf,
    /// Shape of the project.
    pub layout: Layout,
    /// Host sources and headers (`op_host`); empty for direct launch.
    pub host_files: Vec<String>,
    /// Kernel sources and headers; for direct launch all sources.
    pub kernel_files: Vec<String>,
    /// Kernel entries of the modelled architecture, in file order.
    pub kernel_entries: Vec<KernelEntry>,
    /// Files that tuning may edit.
    pub editable_files: Vec<String>,
    /// Include folders of the repository around the operator, absolute, nearest first.
    pub repository_includes: Vec<PathBuf>,
    /// Directory of the repository around the operator; `root` itself where there is none.
    pub repository_root: PathBuf,
    /// Where CMake starts.
    pub cmake_root: CmakeRoot,
    /// The Cargo package that named the project, if one did.
    pub cargo_package: Option<String>,
}

/// Why no operator project was found.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The directory does not exist.
    #[error("{}: not a directory", path.display())]
    NotADirectory {
        /// The path asked for.
        path: PathBuf,
    },
    /// Nothing recognisable there.
    #[error("no operator project in {}: looked for op_host/ with op_kernel/ (an operator framework project or one operator of a repository), and for .asc or .cpp files that launch a kernel with <<<>>> or compile one by aclrtcCompileProg beside a CMakeLists.txt{}", path.display(), searched_text(searched))]
    NotFound {
        /// The directory asked for.
        path: PathBuf,
        /// Other directories that were looked at.
        searched: Vec<PathBuf>,
    },
    /// There are operator directories but no way to choose.
    #[error("{} holds {} operators; name one with --project, for instance --project {}", path.display(), found.len(), found.first().map(|first| first.display().to_string()).unwrap_or_default())]
    Ambiguous {
        /// The directory asked for.
        path: PathBuf,
        /// Operator directories below it.
        found: Vec<PathBuf>,
    },
    /// `op_kernel` has no entry for the modelled architecture.
    #[error("{}: no __global__ kernel for {chip}; files for other architectures (*_apt.cpp, arch3x/) do not count", path.display(), chip = TARGET.chip)]
    NoKernel {
        /// The kernel directory.
        path: PathBuf,
    },
    /// The Cargo package points to a place that is not there.
    #[error("{}: [package.metadata.ascend-tune] project = \"{directory}\" is not a directory", manifest.display())]
    BadMetadata {
        /// The Cargo.toml.
        manifest: PathBuf,
        /// The value given.
        directory: String,
    },
    /// cargo could not read the package.
    #[error("{}: {source}", manifest.display())]
    Cargo {
        /// The Cargo.toml.
        manifest: PathBuf,
        /// What cargo said.
        source: Box<cargo_metadata::Error>,
    },
    /// A file or directory could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

fn searched_text(searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return String::new();
    }
    let list: Vec<String> = searched.iter().map(|path| path.display().to_string()).collect();
    format!(" (also in {})", list.join(", "))
}

/// Why the editable sources could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SourceLoadError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// File, relative to the operator's root.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is not UTF-8.
    #[error("{file}: byte {at} is not UTF-8; convert the file, for instance with iconv -t UTF-8")]
    NotText {
        /// File, relative to the operator's root.
        file: String,
        /// Offset of the first bad byte.
        at: usize,
    },
}

impl OperatorProject {
    /// Finds the project that a directory belongs to: the directory itself, one named by a Cargo package, or the nearest
    /// one above it that has an `ascend.toml` or is an operator.
    pub fn find(directory: &Path) -> Result<OperatorProject, ProjectError> {
        let start = std::path::absolute(directory)?;
        if !start.is_dir() {
            return Err(ProjectError::NotADirectory { path: directory.to_owned() });
        }
        if let Some(found) = from_cargo(&start)? {
            return Ok(found);
        }
        if let Some(found) = at(&start)? {
            return Ok(found);
        }
        let mut searched = Vec::new();
        for parent in start.ancestors().skip(1).take(6) {
            if parent.join(MANIFEST).is_file() || is_operator_directory(parent) {
                if let Some(found) = at(parent)? {
                    return Ok(found);
                }
                searched.push(parent.to_owned());
            }
        }
        let below = operators_below(&start);
        match below.as_slice() {
            [] => Err(ProjectError::NotFound { path: start, searched }),
            [only] => at(only)?.ok_or(ProjectError::NotFound { path: start, searched }),
            _ => Err(ProjectError::Ambiguous { path: start, found: below }),
        }
    }

    /// The first kernel entry; detection guarantees one.
    pub fn kernel_entry(&self) -> Option<&KernelEntry> {
        self.kernel_entries.first()
    }

    /// Kernel entry of an operator type (`AddCustom` is in `add_custom.cpp` or the function `add_custom`), of a function
    /// or of a file name.
    pub fn entry_called(&self, name: &str) -> Option<&KernelEntry> {
        let snake = snake_case(name);
        let is_function = |entry: &&KernelEntry| entry.function == name || entry.function == snake;
        let is_file = |entry: &&KernelEntry| {
            let stem = Path::new(&entry.file).file_stem().map(|stem| stem.to_string_lossy());
            stem.is_some_and(|stem| stem == snake || stem == name)
        };
        self.kernel_entries.iter().find(is_function).or_else(|| self.kernel_entries.iter().find(is_file))
    }

    /// The same, or the only entry if there is one.
    pub fn entry_named(&self, name: &str) -> Option<&KernelEntry> {
        self.entry_called(name).or(match self.kernel_entries.as_slice() {
            [only] => Some(only),
            _ => None,
        })
    }

    /// A file of the repository by its path as seen from the operator's root, such as `../common/x.h`. `None` for files of others,
    /// and for what builds leave.
    pub fn seen_from_root(&self, file: &Path) -> Option<String> {
        let outside = self.root.strip_prefix(&self.repository_root).ok()?.components().count();
        let (above, rest) = self.root.ancestors().take(outside + 1).enumerate().find_map(|(above, folder)| {
            let rest = file.strip_prefix(folder).ok()?;
            Some((above, rest))
        })?;
        let made = above == 0 && rest.starts_with("target");
        (!made).then(|| format!("{}{}", "../".repeat(above), rest.display()))
    }

    /// Private working directory: `<root>/target/ascend-tune`.
    pub fn work_directory(&self) -> PathBuf {
        self.root.join("target").join("ascend-tune")
    }

    /// Modules that the generator of a classic project writes beside the sources and that are not there, as many a repository leaves them
    /// out. The embedded backend needs none of them; a toolkit's own build does not start without.
    pub fn missing_modules(&self) -> Vec<&'static str> {
        if self.layout != Layout::Msopgen {
            return Vec::new();
        }
        let text = std::fs::read_to_string(self.root.join("CMakeLists.txt")).unwrap_or_default();
        let is_missing =
            |module: &&str| text.contains(&format!("include({module})")) && !self.root.join(module).is_file();
        GENERATED_MODULES.into_iter().filter(is_missing).collect()
    }

    /// Reads the editable files.
    pub fn load_sources(&self) -> Result<SourceTree, SourceLoadError> {
        let mut tree = SourceTree::new();
        for file in &self.editable_files {
            let bytes = std::fs::read(self.root.join(file))
                .map_err(|source| SourceLoadError::Read { file: file.clone(), source })?;
            let text = String::from_utf8(bytes).map_err(|error| SourceLoadError::NotText {
                file: file.clone(),
                at: error.utf8_error().valid_up_to(),
            })?;
            tree.insert(file.clone(), text);
        }
        Ok(tree)
    }
}

/// `AddCustom` to `add_custom`; an upper-case run is one word.
pub fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut result = String::with_capacity(name.len() + 4);
    for (index, letter) in letters.iter().enumerate() {
        if letter.is_ascii_uppercase() {
            let after_lower = index > 0 && !letters[index - 1].is_ascii_uppercase() && letters[index - 1] != '_';
            let before_lower =
                index > 0 && letters[index - 1] != '_' && letters.get(index + 1).is_some_and(char::is_ascii_lowercase);
            if after_lower || before_lower {
                result.push('_');
            }
            result.push(letter.to_ascii_lowercase());
        } else {
            result.push(*letter);
        }
    }
    result
}

/// `add_custom` to `AddCustom`, as operator types are named after their folders.
pub fn camel_case(name: &str) -> String {
    let upper = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    name.split('_').map(upper).collect()
}

fn from_cargo(start: &Path) -> Result<Option<OperatorProject>, ProjectError> {
    let Some(manifest) = start.ancestors().map(|directory| directory.join("Cargo.toml")).find(|path| path.is_file())
    else {
        return Ok(None);
    };
    let package_root = manifest.parent().unwrap_or(start).to_owned();
    // An operator directory inside somebody's Rust repository stands for itself.
    if start != package_root && (is_operator_directory(start) || start.join("CMakeLists.txt").is_file()) {
        return Ok(None);
    }
    let metadata = match cargo_metadata::MetadataCommand::new()
        .manifest_path(&manifest)
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
    {
        Ok(metadata) => metadata,
        Err(error) if start == package_root => {
            return Err(ProjectError::Cargo { manifest, source: Box::new(error) });
        }
        Err(_) => return Ok(None),
    };
    let Some(package) = metadata.packages.iter().find(|package| package.manifest_path.as_std_path() == manifest) else {
        return Ok(None);
    };
    let named =
        package.metadata.get("ascend-tune").and_then(|table| table.get("project")).and_then(|value| value.as_str());
    let directory = match named {
        Some(name) => {
            let directory = package_root.join(name);
            if !directory.is_dir() {
                return Err(ProjectError::BadMetadata { manifest, directory: name.to_owned() });
            }
            directory
        }
        None => package_root,
    };
    let Some(mut project) = at(&directory)? else {
        return match named {
            Some(_) => Err(ProjectError::NotFound { path: directory, searched: Vec::new() }),
            None => Ok(None),
        };
    };
    project.cargo_package = Some(package.name.to_string());
    Ok(Some(project))
}

/// The project at exactly this directory (or the operator whose `op_host` or `op_kernel` it is).
fn at(directory: &Path) -> Result<Option<OperatorProject>, ProjectError> {
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if matches!(name.as_str(), "op_kernel" | "op_host" | "op_api" | "op_graph")
        && let Some(parent) = directory.parent().filter(|parent| is_operator_directory(parent))
    {
        return framework_project(parent).map(Some);
    }
    if is_operator_directory(directory) {
        return framework_project(directory).map(Some);
    }
    direct_project(directory)
}

fn is_operator_directory(directory: &Path) -> bool {
    directory.join("op_kernel").is_dir() && directory.join("op_host").is_dir()
}

fn operators_below(directory: &Path) -> Vec<PathBuf> {
    WalkDir::new(directory)
        .max_depth(4)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_dir() && is_operator_directory(entry.path()))
        .map(walkdir::DirEntry::into_path)
        .collect()
}

fn framework_project(root: &Path) -> Result<OperatorProject, ProjectError> {
    let own_project = declares_project(&root.join("CMakeLists.txt"));
    let host_files = source_files(root, "op_host")?;
    let kernel_files = source_files(root, "op_kernel")?;
    let mut entries = Vec::new();
    for file in &kernel_files {
        if TARGET.is_foreign(file) || !matches!(extension(file), "cpp" | "cc" | "asc") {
            continue;
        }
        entries.extend(kernel_entries(file, &String::from_utf8_lossy(&std::fs::read(root.join(file))?)));
    }
    if entries.is_empty() {
        return Err(ProjectError::NoKernel { path: root.join("op_kernel") });
    }
    let (repository_root, repository_includes) = repository_around(root, own_project);
    let editable_files = host_files
        .iter()
        .filter(|file| !is_interface_code(file))
        .chain(&kernel_files)
        .filter(|file| !TARGET.is_foreign(file))
        .cloned()
        .collect::<BTreeSet<String>>()
        .into_iter()
        .collect();
    Ok(OperatorProject {
        root: root.to_owned(),
        layout: if own_project { Layout::Msopgen } else { Layout::InTree },
        host_files,
        kernel_files,
        kernel_entries: entries,
        editable_files,
        repository_includes,
        repository_root,
        cmake_root: if own_project {
            CmakeRoot::Project(root.to_owned())
        } else {
            CmakeRoot::Operator(root.to_owned())
        },
        cargo_package: None,
    })
}

fn direct_project(directory: &Path) -> Result<Option<OperatorProject>, ProjectError> {
    if !declares_project(&directory.join("CMakeLists.txt")) {
        return Ok(None);
    }
    let files = source_files(directory, "")?;
    let mut entries = Vec::new();
    let mut launches = false;
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(directory.join(file))?).into_owned();
        launches |= has_launch(&text) || compiles_at_run_time(&text);
        if !TARGET.is_foreign(file) {
            entries.extend(kernel_entries(file, &text));
        }
    }
    if !launches {
        return Ok(None);
    }
    if entries.is_empty() {
        return Err(ProjectError::NoKernel { path: directory.to_owned() });
    }
    Ok(Some(OperatorProject {
        root: directory.to_owned(),
        layout: Layout::DirectLaunch,
        host_files: Vec::new(),
        kernel_files: files.clone(),
        kernel_entries: entries,
        editable_files: files,
        repository_includes: Vec::new(),
        repository_root: directory.to_owned(),
        cmake_root: CmakeRoot::Project(directory.to_owned()),
        cargo_package: None,
    }))
}

/// Sources and headers below a folder of the operator, sorted.
fn source_files(root: &Path, folder: &str) -> Result<Vec<String>, ProjectError> {
    let mut files = BTreeSet::new();
    let walk = WalkDir::new(root.join(folder)).follow_links(true).max_depth(6).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry)) {
        let entry = entry.map_err(std::io::Error::from)?;
        if !entry.file_type().is_file() {
            continue;
        }
        let Ok(relative) = entry.path().strip_prefix(root) else { continue };
        let name = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        if SOURCE_EXTENSIONS.contains(&extension(&name)) {
            files.insert(name);
        }
    }
    Ok(files.into_iter().collect())
}

pub(super) fn is_skipped(entry: &walkdir::DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.file_type().is_dir() && (name.starts_with('.') || SKIPPED_DIRECTORIES.contains(&name.as_ref()))
}

fn extension(file: &str) -> &str {
    file.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Hand-written interface layers: they call the operator and have no part in its speed. What a graph calls on the host in place of its
/// kernel (`fallback_add.cpp`) needs the interface's own headers.
pub fn is_interface_code(file: &str) -> bool {
    let is_layer = |part: &str| {
        part == "op_api" || part == "op_graph" || part.starts_with("aclnn_") || part.starts_with("fallback_")
    };
    file.split('/').any(is_layer)
}

/// Whether a CMake file calls `project(`.
fn declares_project(file: &Path) -> bool {
    let Ok(text) = std::fs::read(file) else { return false };
    String::from_utf8_lossy(&text).lines().any(|line| {
        let line = line.trim_start();
        line.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("project"))
            && line[7..].trim_start().starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR tiling) {}\n";

    fn write(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    #[test]
    fn operator_types_are_named_after_their_folders() {
        for (folder, kind) in
            [("add_custom", "AddCustom"), ("relu", "Relu"), ("adaptive_max_pool3d", "AdaptiveMaxPool3d")]
        {
            assert_eq!(camel_case(folder), kind);
        }
    }

    #[test]
    fn framework_project_with_its_own_cmake() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("add");
        write(&root, "CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(opp)\n");
        write(&root, "op_host/add_custom.cpp", "");
        write(&root, "op_host/op_api/aclnn_add.cpp", "");
        write(&root, "op_host/fallback_add.cpp", "");
        write(&root, "op_kernel/add_custom.cpp", KERNEL);
        write(&root, "op_kernel/fallback_rows.h", "");
        write(&root, "op_kernel/add_custom_apt.cpp", KERNEL);
        write(&root, "op_kernel/tests/x.cpp", KERNEL);
        write(&root, "build_out/op_kernel/y.cpp", KERNEL);
        for start in [root.clone(), root.join("op_kernel"), root.join("op_host"), root.join("op_host/op_api")] {
            let project = OperatorProject::find(&start).unwrap();
            assert_eq!(project.layout, Layout::Msopgen);
            assert_eq!(project.root, root);
            let editable = ["op_host/add_custom.cpp", "op_kernel/add_custom.cpp", "op_kernel/fallback_rows.h"];
            assert_eq!(project.editable_files, editable);
            assert_eq!(project.entry_named("AddCustom").unwrap().function, "add_custom");
            assert_eq!(project.load_sources().unwrap().len(), 3);
        }
    }

    #[test]
    fn one_operator_of_a_repository() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("math/add");
        write(temporary.path(), "CMakeLists.txt", "project(ops)\n# common/inc/op_host/x.h\n");
        write(temporary.path(), "cmake/variables.cmake", "set(INCLUDES ${OPS}/common/inc/op_host)\n");
        write(temporary.path(), "common/inc/op_host/x.h", "");
        write(&root, "CMakeLists.txt", "add_all_modules_sources(OPTYPE add)\n# project(no)\n");
        write(&root, "op_host/add_def.cpp", "");
        write(&root, "op_kernel/add.cpp", KERNEL);
        write(&root, "op_kernel/arch35/add.h", "");
        let project = OperatorProject::find(&root).unwrap();
        assert_eq!(project.layout, Layout::InTree);
        assert_eq!(project.cmake_root, CmakeRoot::Operator(root.clone()));
        assert_eq!(project.repository_root, temporary.path());
        let common = temporary.path().join("common/inc/op_host");
        assert!(project.repository_includes.contains(&common));
        let seen = |file: &Path| project.seen_from_root(file);
        assert_eq!(seen(&common.join("x.h")).as_deref(), Some("../../common/inc/op_host/x.h"));
        assert_eq!(seen(&root.join("op_host/x.h")).as_deref(), Some("op_host/x.h"));
        assert_eq!((seen(Path::new("/usr/include/stdio.h")), seen(&root.join("target/x.h"))), (None, None));
        write(temporary.path(), "cmake/variables.cmake", "");
        assert!(!OperatorProject::find(&root).unwrap().repository_includes.contains(&common), "nobody names it");
        write(temporary.path(), "common/inc/op_api/y.h", "");
        write(temporary.path(), "cmake/variables.cmake", "set(INCLUDES ${OPS}/common/inc ${OPS}/common/inc/op_api)\n");
        let shared = temporary.path().join("common/inc/op_api");
        assert_eq!(OperatorProject::find(&root).unwrap().repository_includes.last(), Some(&shared), "after all others");
        assert!(!project.editable_files.contains(&"op_kernel/arch35/add.h".to_owned()));
        // From the repository's top there is one operator only, so it is the one meant.
        assert_eq!(OperatorProject::find(temporary.path()).unwrap().root, root);
        write(temporary.path(), "math/sub/op_host/a.cpp", "");
        write(temporary.path(), "math/sub/op_kernel/sub.cpp", KERNEL);
        assert!(matches!(OperatorProject::find(temporary.path()), Err(ProjectError::Ambiguous { .. })));
    }

    #[test]
    fn modules_that_were_not_kept_are_named() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        write(root, "CMakeLists.txt", "project(opp)\ninclude(cmake/config.cmake)\ninclude(cmake/func.cmake)\n");
        write(root, "op_host/add.cpp", "");
        write(root, "op_kernel/add_custom.cpp", KERNEL);
        write(root, "cmake/func.cmake", "");
        assert_eq!(OperatorProject::find(root).unwrap().missing_modules(), ["cmake/config.cmake"]);
    }

    #[test]
    fn direct_launch_and_cargo_package() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("npu");
        write(&root, "CMakeLists.txt", "find_package(ASC REQUIRED)\nproject(demo LANGUAGES ASC CXX)\n");
        write(&root, "add.asc", &format!("{KERNEL}int main() {{ add_custom<<<8, nullptr, s>>>(x, t); }}\n"));
        let project = OperatorProject::find(&root).unwrap();
        assert_eq!(project.layout, Layout::DirectLaunch);
        assert_eq!(project.kernel_entries.len(), 1);
        write(
            temporary.path(),
            "Cargo.toml",
            "[package]\nname = \"outer\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[package.metadata.ascend-tune]\nproject = \"npu\"\n",
        );
        write(temporary.path(), "src/lib.rs", "");
        let project = OperatorProject::find(temporary.path()).unwrap();
        assert_eq!(project.root, root);
        assert_eq!(project.cargo_package.as_deref(), Some("outer"));
    }

    #[test]
    fn what_was_looked_for_is_named() {
        let temporary = tempfile::tempdir().unwrap();
        let error = OperatorProject::find(temporary.path()).unwrap_err().to_string();
        assert!(error.contains("op_kernel") && error.contains("<<<>>>"), "{error}");
        let missing = temporary.path().join("missing");
        assert!(matches!(OperatorProject::find(&missing), Err(ProjectError::NotADirectory { .. })));
        write(temporary.path(), "op_host/a.cpp", "");
        write(temporary.path(), "op_kernel/a_apt.cpp", KERNEL);
        assert!(matches!(OperatorProject::find(temporary.path()), Err(ProjectError::NoKernel { .. })));
    }

    #[test]
    fn names_turn_to_snake_case() {
        for (from, to) in
            [("AddCustom", "add_custom"), ("MatMulV3", "mat_mul_v3"), ("GELU", "gelu"), ("RMSNorm", "rms_norm")]
        {
            assert_eq!(snake_case(from), to);
        }
    }
}
