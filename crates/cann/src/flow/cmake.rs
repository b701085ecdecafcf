//! CMake, driven: configured once for a set of entries, then asked for single targets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::FlowError;
use crate::diagnosis::{diagnose, named_logs};
use toolchain::{CMAKE_FIX, Cmake, ToolLimits, run_tool};

/// The toolkit's own functions hand `$(MAKE)` to their scripts.
const GENERATOR: &str = "Unix Makefiles";
/// Variables of a make that we may run below, which would tell the project's make whose child it is.
const OF_MAKE: [&str; 3] = ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"];

/// One private binary tree and how tools are run for it.
pub(super) struct Drive<'call> {
    pub source: PathBuf,
    pub binary: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub limits: ToolLimits,
    pub jobs: usize,
    /// Folder where the toolkit's kernel compiler leaves logs.
    pub logs: PathBuf,
    pub map: &'call dyn Fn(&str) -> String,
    pub log: String,
}

impl Drive<'_> {
    /// Runs a command; where it says no, what it said is read, with the logs that it names.
    pub(super) fn run(&mut self, step: &str, mut command: Command, fix: &str) -> Result<(), FlowError> {
        command.envs(&self.environment).env("LC_ALL", "C");
        for name in OF_MAKE {
            command.env_remove(name);
        }
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        self.log.push_str(&format!("$ {} {}\n", command.get_program().to_string_lossy(), words.join(" ")));
        let before = std::time::SystemTime::now();
        let run = run_tool(&command, &self.limits, step, fix)?;
        self.log.push_str(&run.output);
        if run.success {
            return Ok(());
        }
        let mut text = run.output;
        for file in self.error_logs(&text, before) {
            text.push_str(&String::from_utf8_lossy(&fs_err::read(&file).unwrap_or_default()));
            text.push('\n');
        }
        // The error is worth more than its log.
        let _ = fs_err::write(self.logs.join("last-build.txt"), &self.log);
        Err(FlowError::Refused { step: step.to_owned(), findings: diagnose(&text, self.map), log: text })
    }

    /// Logs that are named, and those of failures that were written meanwhile.
    fn error_logs(&self, text: &str, since: std::time::SystemTime) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = named_logs(text).into_iter().map(|file| self.binary.join(file)).collect();
        let is_error = |path: &Path| {
            path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_error"))
                && fs_err::metadata(path).and_then(|found| found.modified()).is_ok_and(|written| written >= since)
        };
        let written = walkdir::WalkDir::new(&self.logs).into_iter().flatten().map(walkdir::DirEntry::into_path);
        files.extend(written.filter(|path| path.is_file() && is_error(path)));
        files.retain(|file| file.is_file());
        files.dedup();
        files
    }

    /// Configures the tree. An earlier configuration is gone on from.
    pub(super) fn configure(&mut self, cmake: &Cmake, entries: &BTreeMap<String, String>) -> Result<(), FlowError> {
        fs_err::create_dir_all(&self.binary).map_err(FlowError::io(&self.binary))?;
        let mut command = Command::new(&cmake.program);
        command.arg("-S").arg(&self.source).arg("-B").arg(&self.binary).args(["-G", GENERATOR]);
        command.args(entries.iter().map(|(name, value)| format!("-D{name}={value}")));
        command.current_dir(&self.binary);
        self.run("the configuration (cmake)", command, CMAKE_FIX)
    }

    /// Names of the tree's targets.
    pub(super) fn targets(&mut self, cmake: &Cmake) -> Result<Vec<String>, FlowError> {
        let mut command = Command::new(&cmake.program);
        command.arg("--build").arg(&self.binary).args(["--target", "help"]);
        let from = self.log.len();
        self.run("the list of targets (make help)", command, CMAKE_FIX)?;
        let listed = self.log.split_off(from);
        let name = |line: &str| Some(line.strip_prefix("... ")?.split_whitespace().next()?.to_owned());
        Ok(listed.lines().filter_map(name).collect())
    }

    /// Builds targets; all that the project builds by itself where none is named.
    pub(super) fn build(&mut self, cmake: &Cmake, step: &str, targets: &[String]) -> Result<(), FlowError> {
        let mut command = Command::new(&cmake.program);
        command.arg("--build").arg(&self.binary).arg("--parallel").arg(self.jobs.max(1).to_string());
        if !targets.is_empty() {
            command.arg("--target").args(targets);
        }
        self.run(step, command, CMAKE_FIX)
    }

    /// What the project would install, below a folder of ours.
    pub(super) fn install(&mut self, cmake: &Cmake, prefix: &Path) -> Result<(), FlowError> {
        let mut command = Command::new(&cmake.program);
        command.arg("--install").arg(&self.binary).arg("--prefix").arg(prefix);
        self.run("the layout of the package (cmake --install)", command, CMAKE_FIX)
    }
}
