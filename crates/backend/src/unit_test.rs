//! Running an operator's kernel unit tests, one process a test.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::execution::{LaunchProfile, RunFailure};
use super::process::WorkerCommand;
use super::scratch::ScratchDirectory;
use super::sim::SimBackend;
use events::TestVerdict;

/// Where the tests expect to stand in the repository: scripts are named relative to it.
const WORKING_FOLDER: &str = "build/tests/ut/op_kernel";

/// What a test program writes about the test that it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// False when the program ended in the middle of the test.
    pub finished: bool,
    /// Kernel launches.
    pub launches: u32,
    /// Assertions that were evaluated.
    pub checks: u32,
    /// Those of them behind a launch.
    pub checks_after_launch: u32,
    /// Why the test skipped itself.
    #[serde(default)]
    pub skipped: Option<String>,
    /// Assertions that failed.
    pub failures: Vec<TestFailure>,
    /// Commands that the test gave to a shell.
    pub scripts: Vec<Script>,
}

/// An assertion that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFailure {
    /// File of the test.
    pub file: String,
    /// Line.
    pub line: u32,
    /// What was expected.
    pub text: String,
}

/// A command of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Its text.
    pub command: String,
    /// Its exit status.
    pub status: i32,
    /// Whether it ran behind a launch: then it may have looked at results.
    pub after_launch: bool,
    /// The end of what it printed.
    pub output: String,
}

/// A kernel unit test that was run.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRun {
    /// Name of the test.
    pub name: String,
    /// What it says.
    pub verdict: TestVerdict,
    /// The launches, with their hazards.
    pub launches: Vec<LaunchProfile>,
}

impl TestReport {
    /// The verdict that the report amounts to.
    pub fn verdict(&self) -> TestVerdict {
        if let Some(why) = &self.skipped {
            return TestVerdict::NotRunnable { why: format!("the test skips itself: {why}") };
        }
        // Scripts often fail for reasons of their own; a comparison says so by its status.
        let broken = self.scripts.iter().find(|script| script.status != 0 && script.is_broken());
        if let Some(script) = broken {
            return TestVerdict::NotRunnable { why: format!("`{}`: {}", script.command, script.last_words()) };
        }
        if let Some(failure) = self.failures.first() {
            return TestVerdict::Wrong { what: format!("{}:{}: {}", failure.file, failure.line, failure.text) };
        }
        if self.launches == 0 {
            return TestVerdict::NotRunnable { why: "the test launches no kernel".to_owned() };
        }
        let comparisons: Vec<&Script> = self.scripts.iter().filter(|script| script.compares()).collect();
        if let Some(script) = comparisons.iter().find(|script| script.says_wrong()) {
            return TestVerdict::Wrong { what: format!("`{}`: {}", script.command, script.last_words()) };
        }
        if comparisons.is_empty() && self.checks_after_launch == 0 { TestVerdict::RanOnly } else { TestVerdict::Right }
    }
}

impl Script {
    fn compares(&self) -> bool {
        self.after_launch && self.command.contains("python")
    }

    fn says_wrong(&self) -> bool {
        self.status != 0 || self.output.contains("FAILED") || self.output.contains("[FAIL]")
    }

    /// An interpreter, module or file is missing: no verdict on the kernel.
    fn is_broken(&self) -> bool {
        ["ModuleNotFoundError", "ImportError", "not found", "No such file or directory", "Traceback"]
            .iter()
            .any(|sign| self.output.contains(sign))
            && self.command.contains("python")
    }

    fn last_words(&self) -> &str {
        self.output.trim().lines().last().unwrap_or("no output")
    }
}

impl SimBackend {
    /// Names of the tests of a program.
    pub async fn list_kernel_tests(&self, program: &Path) -> Result<Vec<String>, RunFailure> {
        let directory = ScratchDirectory::below(&self.scratch)?;
        let command = self.command(program, vec![OsString::from("--list")], directory.path(), Vec::new());
        let ended = WorkerCommand { readable: None, ..command }.run().await?;
        if ended.code != 0 {
            return Err(RunFailure::Program { code: ended.code, output: ended.output });
        }
        Ok(ended.output.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    /// Runs one test in a place from which the repository's files are found as tests expect them.
    pub async fn run_kernel_test(&self, program: &Path, name: &str, repository: &Path) -> Result<TestRun, RunFailure> {
        let scratch = ScratchDirectory::below(&self.scratch)?;
        let folder = working_folder(scratch.path(), repository)
            .map_err(|error| RunFailure::Broken(format!("{}: {error}", scratch.path().display())))?;
        let (trace, report) = (folder.join("ascend-trace.bin"), folder.join("ascend-test.json"));
        let mut environment: Vec<(String, String)> = vec![
            ("ASCEND_SIM_TRACE".to_owned(), trace.display().to_string()),
            ("ASCEND_UNIT_RESULT".to_owned(), report.display().to_string()),
            ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
        ];
        environment.extend(self.platform_environment());
        let arguments = vec![OsString::from("--run"), OsString::from(name)];
        // Tests read the repository's files.
        let command = self.command(program, arguments, &folder, environment);
        let ended = WorkerCommand { readable: None, ..command }.run().await;
        let text = fs_err::read(&report).unwrap_or_default();
        let said: TestReport = serde_json::from_slice(&text).unwrap_or_default();
        let launches = match trace.exists() {
            true => match self.analyse_file(&trace, false).await {
                Err(failure) if failure.is_of_machine() => return Err(failure),
                analysed => analysed.map(|(launches, _)| launches).unwrap_or_default(),
            },
            false => Vec::new(),
        };
        let verdict = match (said.verdict(), ended) {
            (not_runnable @ TestVerdict::NotRunnable { .. }, Ok(_)) => not_runnable,
            (_, Err(failure)) if failure.is_of_machine() => return Err(failure),
            (_, Err(failure)) => TestVerdict::Wrong { what: failure.to_string() },
            (_, Ok(_)) if !said.finished => {
                TestVerdict::Wrong { what: "the program ended in the middle of the test".to_owned() }
            }
            (verdict, Ok(_)) => verdict,
        };
        Ok(TestRun { name: name.to_owned(), verdict, launches })
    }
}

/// Links the repository's top-level entries around a folder of the depth that tests are run at.
fn working_folder(scratch: &Path, repository: &Path) -> std::io::Result<PathBuf> {
    let top = scratch.join("repository");
    let folder = top.join(WORKING_FOLDER);
    fs_err::create_dir_all(&folder)?;
    for entry in fs_err::read_dir(repository)? {
        let entry = entry?;
        let link = top.join(entry.file_name());
        if !link.exists() {
            std::os::unix::fs::symlink(entry.path(), link)?;
        }
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(command: &str, status: i32, after_launch: bool, output: &str) -> Script {
        Script { command: command.to_owned(), status, after_launch, output: output.to_owned() }
    }

    #[test]
    fn a_verdict_needs_something_that_looked_at_the_results() {
        let ran = TestReport { finished: true, launches: 1, ..TestReport::default() };
        assert_eq!(ran.verdict(), TestVerdict::RanOnly);
        let checked = TestReport { checks_after_launch: 2, ..ran.clone() };
        assert_eq!(checked.verdict(), TestVerdict::Right);
        let compared =
            TestReport { scripts: vec![script("python3 compare_data.py", 0, true, "PASSED!")], ..ran.clone() };
        assert_eq!(compared.verdict(), TestVerdict::Right);
        let generated = TestReport { scripts: vec![script("python3 gen_data.py", 0, false, "")], ..ran.clone() };
        assert_eq!(generated.verdict(), TestVerdict::RanOnly);
        let copied = TestReport { scripts: vec![script("cp a b", 0, true, "")], ..ran };
        assert_eq!(copied.verdict(), TestVerdict::RanOnly);
    }

    #[test]
    fn wrong_results_and_missing_tools_are_told_apart() {
        let ran = TestReport { finished: true, launches: 1, ..TestReport::default() };
        for (status, output) in [(1, "differs"), (0, "FAILED! (z)")] {
            let report =
                TestReport { scripts: vec![script("python3 compare_data.py", status, true, output)], ..ran.clone() };
            assert!(matches!(report.verdict(), TestVerdict::Wrong { .. }), "{output}");
        }
        let missing = script("python3 compare_data.py", 1, true, "ModuleNotFoundError: No module named 'numpy'");
        let report = TestReport { scripts: vec![missing], ..ran };
        assert_eq!(
            report.verdict(),
            TestVerdict::NotRunnable {
                why: "`python3 compare_data.py`: ModuleNotFoundError: No module named 'numpy'".to_owned()
            }
        );
    }
}
