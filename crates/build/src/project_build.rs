//! A plain build of the whole project through its own CMake flow, as the user would start it.

use std::path::{Path, PathBuf};
use std::process::Command;

use walkdir::WalkDir;

use super::builder::Builder;
use super::error::{BuildError, CompileFailure};
use source::SourceTree;
use toolchain::diagnostics::{Severity, parse_compiler_output};
use toolchain::{Cmake, ToolLimits, run_tool};

/// Directories that a copy of a project leaves out: results of builds, and history.
const LEFT_OUT: [&str; 5] = ["target", "build", "build_out", ".git", "node_modules"];

/// How much longer all of a project may take than one call of the compiler.
const WHOLE_PROJECT: f64 = 10.0;

impl Builder {
    /// The command that [`Builder::build_project`] runs, for a dry run.
    pub fn project_build_command(&self) -> Result<String, BuildError> {
        let cmake = Cmake::find()?;
        Ok(format!("{} --build {}", cmake.program.display(), self.configured.binary_directory.display()))
    }

    /// Builds every target of the project. Sources that differ from those on disk are built in a copy of the project.
    ///
    /// Returns the libraries and programs that were made.
    pub fn build_project(&self, tree: &SourceTree, tool: &Path, jobs: usize) -> Result<Vec<PathBuf>, BuildError> {
        let changed: Vec<(&str, &str)> = tree
            .iter()
            .filter(|(file, text)| {
                std::fs::read(self.project.root.join(file)).map_or(true, |bytes| bytes != text.as_bytes())
            })
            .collect();
        if changed.is_empty() {
            return self.run_build(tool, jobs);
        }
        let copy = self.work_directory.join("build");
        copy_project(&self.project.root, &copy)?;
        for (file, text) in changed {
            let path = copy.join(file);
            std::fs::write(&path, text).map_err(BuildError::io(&path))?;
        }
        let project = project::OperatorProject::find(&copy).map_err(|error| BuildError::Environment {
            message: error.to_string(),
            fix: "build without --set, or write the values into the sources".to_owned(),
        })?;
        let options = super::BuildOptions { work_directory: None, ..self.options.clone() };
        Builder::new(project, self.sdk.clone(), options)?.run_build(tool, jobs)
    }

    fn run_build(&self, tool: &Path, jobs: usize) -> Result<Vec<PathBuf>, BuildError> {
        let cmake = Cmake::find()?;
        let binary = &self.configured.binary_directory;
        let mut command = Command::new(&cmake.program);
        command
            .arg("--build")
            .arg(binary)
            .arg("--parallel")
            .arg(jobs.max(1).to_string())
            .env("ASCEND_HOME_PATH", &self.sdk.root)
            .env("ASCEND_TUNE_EXE", tool)
            .env("LC_ALL", "C");
        // All of the project takes longer than one file.
        let of_one = self.sdk.compiler.limits();
        let limits = ToolLimits { wall_s: of_one.wall_s * WHOLE_PROJECT, writable: Vec::new(), ..of_one.clone() };
        let run = run_tool(&command, &limits, "cmake --build", "install cmake, or name it in ASCEND_TUNE_CMAKE")?;
        if !run.success {
            let log = run.output;
            let root = self.project.root.display().to_string() + "/";
            let mut diagnostics = parse_compiler_output(&log, &|path| path.replace(&root, ""));
            diagnostics.retain(|diagnostic| diagnostic.severity != Severity::Warning);
            return Err(BuildError::Compile(CompileFailure { what: "the project".to_owned(), diagnostics, log }));
        }
        Ok(products(binary))
    }
}

/// Shared libraries and programs below a binary directory, without CMake's own probes.
fn products(binary: &Path) -> Vec<PathBuf> {
    let own = |name: &std::ffi::OsStr| name != "CMakeFiles" && name != "_deps";
    let entries = WalkDir::new(binary).sort_by_file_name().into_iter().filter_entry(|entry| own(entry.file_name()));
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_file() && is_product(entry.path()))
        .map(walkdir::DirEntry::into_path)
        .collect()
}

fn is_product(path: &Path) -> bool {
    const ELF: [u8; 4] = [0x7f, b'E', b'L', b'F'];
    const ARCHIVE: &[u8] = b"!<arch>";
    let mut start = [0_u8; 7];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut start));
    let is_object = path.extension().is_some_and(|extension| extension == "o");
    matches!(read, Ok(4..)) && !is_object && (start[..4] == ELF || start == *ARCHIVE)
}

fn copy_project(from: &Path, to: &Path) -> Result<(), BuildError> {
    let kept =
        |entry: &walkdir::DirEntry| entry.depth() == 0 || !LEFT_OUT.iter().any(|name| entry.file_name() == *name);
    for entry in WalkDir::new(from).into_iter().filter_entry(kept) {
        let entry = entry.map_err(|error| BuildError::Io { path: from.to_owned(), source: error.into() })?;
        let Ok(relative) = entry.path().strip_prefix(from) else { continue };
        let target = to.join(relative);
        if entry.file_type().is_dir() {
            fs_err::create_dir_all(&target).map_err(BuildError::io(&target))?;
        } else if entry.file_type().is_file() {
            std::fs::copy(entry.path(), &target).map_err(BuildError::io(&target))?;
        }
    }
    Ok(())
}
