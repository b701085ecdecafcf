//! Styles of projects: who writes their CMake, and with what words.

use std::fmt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use project::{CmakeRoot, OperatorProject, without_cmake_comments};

/// How a project is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Made by msOpGen: `op_host`, `op_kernel`, CMake functions of its own folder.
    MsOpGen,
    /// `find_package(ASC)` and the functions `npu_op_*`.
    Package,
    /// `ascendc_library`, and a program of its own.
    KernelLaunch,
    /// Sources in the language `ASC` of CMake.
    Language,
    /// One operator of a repository with a `build.sh` of its own.
    Repository,
    /// Sources compiled by the program itself while it runs.
    RunTime,
    /// None of them.
    Unknown,
}

impl fmt::Display for Style {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Style::MsOpGen => "an msOpGen project",
            Style::Package => "a project of `find_package(ASC)` and npu_op functions",
            Style::KernelLaunch => "a kernel-launch project of `ascendc_library`",
            Style::Language => "a project in the language ASC",
            Style::Repository => "an operator of a repository with a build.sh",
            Style::RunTime => "a program that compiles its kernel while it runs",
            Style::Unknown => "a project of no known style",
        })
    }
}

impl Style {
    /// Whether its product is a program or a library, and not a package of operators.
    pub fn is_program(self) -> bool {
        matches!(self, Style::KernelLaunch | Style::Language | Style::RunTime)
    }

    /// The style of a project, by the words in its CMake files.
    pub fn of(project: &OperatorProject) -> Style {
        let root = project.cmake_root.directory();
        if let CmakeRoot::Operator(_) = &project.cmake_root {
            return if repository_of(project).is_some() { Style::Repository } else { Style::Unknown };
        }
        let text = cmake_texts(root);
        let calls = |name: &str| calls(&text, name);
        if calls("npu_op_package") || calls("npu_op_library") || calls("npu_op_kernel_library") {
            Style::Package
        } else if declares_language(&text) {
            Style::Language
        } else if calls("ascendc_library") || calls("ascendc_fatbin_library") {
            Style::KernelLaunch
        } else if calls("opbuild") || calls("add_kernels_compile") || calls("add_ops_compile_options") {
            Style::MsOpGen
        } else if compiles_at_run_time(project) {
            Style::RunTime
        } else if project.root.join("op_host").is_dir() && root.join("CMakePresets.json").is_file() {
            Style::MsOpGen
        } else {
            Style::Unknown
        }
    }
}

/// The repository whose script builds the project: the one that was found around it, or the nearest folder above with such a script.
pub(super) fn repository_of(project: &OperatorProject) -> Option<&Path> {
    let builds = |folder: &&Path| {
        let text = fs_err::read_to_string(folder.join("build.sh")).unwrap_or_default();
        text.contains("--ops")
    };
    let above = project.root.ancestors().skip(1).take(4);
    std::iter::once(project.repository_root.as_path()).chain(above).find(builds)
}

/// CMake files of a project, without comments: those of its folders, not those of builds.
fn cmake_texts(root: &Path) -> String {
    let is_left_out = |name: &std::ffi::OsStr| {
        ["build", "build_out", "target", ".git", "node_modules"].iter().any(|folder| name == *folder)
    };
    let files = WalkDir::new(root)
        .max_depth(4)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_left_out(entry.file_name()))
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| is_cmake_file(path));
    let mut text = String::new();
    for file in files.collect::<Vec<PathBuf>>() {
        if let Ok(bytes) = fs_err::read(&file) {
            text.push_str(&without_cmake_comments(&String::from_utf8_lossy(&bytes)));
            text.push('\n');
        }
    }
    text
}

/// Whether a file says how CMake builds.
pub(super) fn is_cmake_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == "CMakeLists.txt"
        || name == "CMakePresets.json"
        || path.extension().is_some_and(|extension| extension == "cmake")
}

/// Whether a function or macro is called, and not only defined.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let opens = text[at + name.len()..].trim_start_matches([' ', '\t']).starts_with('(');
        let defines = text[..at].trim_end().ends_with('(');
        opens && !defines && before.is_none_or(|one| !one.is_ascii_alphanumeric() && one != '_')
    })
}

fn declares_language(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["project", "enable_language"].iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let Some(rest) = text[at + name.len()..].trim_start().strip_prefix('(') else { return false };
            let arguments = rest.split(')').next().unwrap_or_default();
            arguments.split_whitespace().any(|word| word == "ASC")
        })
    })
}

fn compiles_at_run_time(project: &OperatorProject) -> bool {
    project.kernel_files.iter().chain(&project.host_files).any(|file| {
        let text = fs_err::read(project.root.join(file)).unwrap_or_default();
        source::lex::compiles_at_run_time(&String::from_utf8_lossy(&text))
    })
}

/// Whether the program has all its kernels in its own text.
pub(super) fn kernels_are_embedded(project: &OperatorProject) -> bool {
    project.kernel_entries.iter().all(|entry| {
        let text = fs_err::read(project.root.join(&entry.file)).unwrap_or_default();
        source::lex::only_embedded_kernels(&String::from_utf8_lossy(&text))
    })
}

#[cfg(test)]
mod tests {
    use super::{calls, declares_language};

    #[test]
    fn calls_are_told_from_definitions() {
        assert!(calls("opbuild(OPS_SRC a)", "opbuild"));
        assert!(calls("  ascendc_library (k SHARED a.cpp)", "ascendc_library"));
        assert!(!calls("function(opbuild)\n", "opbuild"));
        assert!(!calls("function(opbuild A)\nmy_opbuild(x)", "opbuild"));
    }

    #[test]
    fn the_language_is_declared_in_two_ways() {
        assert!(declares_language("project(x LANGUAGES ASC CXX)"));
        assert!(declares_language("enable_language(ASC)"));
        assert!(!declares_language("project(asc LANGUAGES CXX)\nfind_package(ASC REQUIRED)"));
    }
}
