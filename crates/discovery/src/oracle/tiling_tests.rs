//! Finding, building and running an operator's tiling unit tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use walkdir::WalkDir;

use super::example::{Difference, TilingExample, TilingTest, Verdict};
use backend::{ProcessLimits, RunFailure, WorkerCommand};
use build::{Artifact, BuildError, Builder, Severity};
use project::{OperatorProject, is_interface_code};
use source::SourceTree;
use source::arch::TARGET;

const EXAMPLES: &str = "examples.jsonl";
const RESULT: &str = "result.json";
/// Chips that share this architecture.
const OUR_CHIPS: [&str; 2] = ["Ascend910B", "Ascend910_93"];
const OUR_ARCHITECTURE: u32 = 2201;
/// Tiling classes leave members unset and copy them out: fresh memory reads as zero, as in a young process. That holds for
/// what was freed before only without the allocator's quick lists.
const FRESH_MEMORY: [(&str, &str); 2] = [("MALLOC_PERTURB_", "255"), ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")];
/// The chip that tests of both architectures are mostly written on.
const OTHER_CHIP: &str = "Ascend950";

/// How test programs are run.
#[derive(Clone, Debug)]
pub struct TestRunner {
    /// Our own executable.
    pub worker_exe: PathBuf,
    /// Directory for private run directories.
    pub scratch: PathBuf,
    /// Limits of one test.
    pub limits: ProcessLimits,
}

/// Tiling test files of an operator for the modelled architecture, absolute, sorted.
pub fn tiling_test_files(project: &OperatorProject) -> Vec<PathBuf> {
    let tests = project.root.join("tests");
    let mut files: Vec<PathBuf> = WalkDir::new(&tests)
        .max_depth(6)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| {
            let Ok(inside) = path.strip_prefix(&tests) else { return false };
            let name = inside.to_string_lossy();
            let file = inside.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
            name.contains("op_host/")
                && file.contains("tiling")
                && file.ends_with(".cpp")
                && !is_interface_code(&name)
                && !TARGET.is_foreign(&name)
        })
        .collect();
    files.sort();
    files
}

/// Builds and runs all tiling tests of the builder's operator against its host library. Only a machine in trouble is an
/// error; what does not build or fails is a verdict.
pub async fn run_tiling_tests(
    builder: &Builder,
    tree: &SourceTree,
    host: &Artifact,
    runner: &TestRunner,
) -> Result<Vec<TilingTest>, BuildError> {
    let mut result = Vec::new();
    for path in tiling_test_files(builder.project()) {
        let file = path.strip_prefix(&builder.project().root).unwrap_or(&path).display().to_string();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        let heads = test_heads(&text);
        let whole_file = |verdict: Verdict| TilingTest {
            name: file.clone(),
            file: file.clone(),
            line: 1,
            examples: Vec::new(),
            verdict,
        };
        let program = match builder.tiling_test(tree, host, &path) {
            Ok(program) => program,
            Err(BuildError::Compile(failure)) => {
                let error = failure.diagnostics.iter().find(|found| found.severity == Severity::Error);
                let first = error.map(ToString::to_string);
                let first = first.or_else(|| failure.log.lines().next().map(str::to_owned)).unwrap_or_default();
                result.push(whole_file(Verdict::NotBuilt(first)));
                continue;
            }
            Err(error) => return Err(error),
        };
        let names = match runner.list(&program.path).await {
            Ok(names) => names,
            Err(failure) if failure.is_of_machine() => return Err(trouble(&failure)),
            Err(failure) => {
                result.push(whole_file(Verdict::Crashed(failure.to_string())));
                continue;
            }
        };
        for name in names {
            let line = line_of(&heads, &name);
            let (mut examples, verdict) =
                runner.run(&program.path, &name).await.map_err(|failure| trouble(&failure))?;
            for example in &mut examples {
                example.file.clone_from(&file);
                example.line = line;
            }
            result.push(TilingTest { name, file: file.clone(), line, examples, verdict });
        }
    }
    Ok(result)
}

fn trouble(failure: &RunFailure) -> BuildError {
    let fix = "look for a full disk or too little memory".to_owned();
    BuildError::Environment { message: failure.to_string(), fix }
}

#[derive(Deserialize)]
struct TestResult {
    finished: bool,
    #[serde(default)]
    skipped: Option<String>,
    #[serde(default)]
    failures: Vec<TestFailure>,
}

#[derive(Deserialize)]
struct TestFailure {
    line: u32,
    text: String,
}

impl TestRunner {
    async fn list(&self, program: &Path) -> Result<Vec<String>, RunFailure> {
        let directory = self.directory()?;
        let list = directory.path().join("list.txt");
        let ended = self
            .command(program, &["--list"], directory.path(), vec![("ASCEND_UNIT_LIST", list.clone())])
            .run()
            .await?;
        match fs_err::read_to_string(&list) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(_) => Err(RunFailure::Refused(ended.output.trim().to_owned())),
        }
    }

    /// A test that names no chip may have been written on another one: where its values are those of that chip, it says
    /// nothing about this one.
    async fn run(&self, program: &Path, name: &str) -> Result<(Vec<TilingExample>, Verdict), RunFailure> {
        let (examples, verdict) = self.run_on(program, name, None).await?;
        if matches!(verdict, Verdict::Difference(_)) {
            let (_, there) = self.run_on(program, name, Some(OTHER_CHIP)).await?;
            // A chip that is not ours is only reported for a test that holds.
            if matches!(there, Verdict::OtherMachine(_)) {
                return Ok((examples, Verdict::HeldElsewhere(OTHER_CHIP.to_owned())));
            }
        }
        Ok((examples, verdict))
    }

    async fn run_on(
        &self,
        program: &Path,
        name: &str,
        chip: Option<&str>,
    ) -> Result<(Vec<TilingExample>, Verdict), RunFailure> {
        let directory = self.directory()?;
        let (result, examples) = (directory.path().join(RESULT), directory.path().join(EXAMPLES));
        let mut environment =
            vec![("ASCEND_UNIT_RESULT", result.clone()), ("ASCEND_TILING_EXAMPLES", examples.clone())];
        environment.extend(chip.map(|chip| ("ASCEND_TILING_SOC", PathBuf::from(chip))));
        let ended = self.command(program, &["--run", name], directory.path(), environment).run().await;
        if let Err(failure) = &ended
            && failure.is_of_machine()
        {
            return Err(failure.clone());
        }
        let examples = examples_of(&fs_err::read_to_string(&examples).unwrap_or_default());
        let result = fs_err::read(&result).ok().and_then(|bytes| serde_json::from_slice::<TestResult>(&bytes).ok());
        let failed = result.as_ref().is_none_or(|result| !result.finished || !result.failures.is_empty());
        let verdict = verdict_of(&examples, result, &ended.map(|ended| ended.output));
        let verdict = match verdict {
            // Tried on another chip: what matters is whether the test holds there.
            Verdict::OtherMachine(_) if chip.is_some() && failed => Verdict::Difference(Vec::new()),
            verdict => verdict,
        };
        Ok((examples, verdict))
    }

    fn directory(&self) -> Result<tempfile::TempDir, RunFailure> {
        let broken = |error: std::io::Error| RunFailure::Broken(error.to_string());
        fs_err::create_dir_all(&self.scratch).map_err(broken)?;
        tempfile::Builder::new().prefix("test-").tempdir_in(&self.scratch).map_err(broken)
    }

    fn command(
        &self,
        program: &Path,
        arguments: &[&str],
        directory: &Path,
        environment: Vec<(&str, PathBuf)>,
    ) -> WorkerCommand {
        WorkerCommand {
            worker_exe: self.worker_exe.clone(),
            program: program.to_owned(),
            arguments: arguments.iter().map(Into::into).collect(),
            directory: directory.to_owned(),
            // Tests read the repository's files.
            readable: None,
            environment: environment
                .into_iter()
                .map(|(name, path)| (name, path.display().to_string()))
                .chain(FRESH_MEMORY.map(|(name, value)| (name, value.to_owned())))
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            limits: self.limits.clone(),
        }
    }
}

/// Helpers write names in several ways: `Ascend910b`.
fn is_ours(soc: &str) -> bool {
    OUR_CHIPS.iter().any(|ours| ours.eq_ignore_ascii_case(soc))
}

/// Every call is recorded before and after; a call without an outcome ended the process.
fn examples_of(text: &str) -> Vec<TilingExample> {
    let mut examples: Vec<TilingExample> = Vec::new();
    for line in text.lines() {
        let Ok(example) = serde_json::from_str::<TilingExample>(line) else { continue };
        if example.outcome.is_some() && examples.last().is_some_and(|last| last.outcome.is_none()) {
            examples.pop();
        }
        examples.push(example);
    }
    examples
}

fn verdict_of(examples: &[TilingExample], result: Option<TestResult>, ended: &Result<String, RunFailure>) -> Verdict {
    let other = examples.iter().find_map(|example| {
        let soc = example.platform.soc.as_deref().filter(|soc| !soc.is_empty() && !is_ours(soc));
        let architecture = example.platform.architecture.filter(|number| *number != OUR_ARCHITECTURE);
        soc.map(str::to_owned).or(architecture.map(|number| format!("architecture {number}")))
    });
    if let Some(other) = other {
        return Verdict::OtherMachine(other);
    }
    match result {
        Some(TestResult { skipped: Some(reason), .. }) => Verdict::OtherMachine(format!("skipped by itself: {reason}")),
        Some(TestResult { finished: true, failures, .. }) if failures.is_empty() => Verdict::Agreement,
        Some(TestResult { failures, .. }) if !failures.is_empty() => {
            Verdict::Difference(failures.iter().map(|failure| difference(failure.line, &failure.text)).collect())
        }
        _ => Verdict::Crashed(match ended {
            Ok(output) => output.trim().lines().last().unwrap_or("it ended without a result").to_owned(),
            Err(failure) => failure.to_string(),
        }),
    }
}

/// Takes the report's sentence "expected A == B, but they are X and Y" apart.
fn difference(line: u32, text: &str) -> Difference {
    let parts = text.strip_prefix("expected ").and_then(|rest| rest.split_once(", but they are "));
    match parts.and_then(|(what, values)| values.split_once(" and ").map(|(left, right)| (what, left, right))) {
        Some((what, left, right)) => {
            Difference { line, what: what.to_owned(), expected: right.to_owned(), got: left.to_owned() }
        }
        None => Difference { line, what: text.to_owned(), ..Difference::default() },
    }
}

/// Line of every `TEST*(suite, name)` by `suite.name`.
fn test_heads(text: &str) -> BTreeMap<String, u32> {
    let mut heads = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(rest) = ["TEST_F(", "TEST_P(", "TEST("].iter().find_map(|head| line.strip_prefix(head)) else {
            continue;
        };
        let inside = rest.split(')').next().unwrap_or_default();
        if let Some((suite, name)) = inside.split_once(',') {
            heads.insert(format!("{}.{}", suite.trim(), name.trim()), u32::try_from(index + 1).unwrap_or(0));
        }
    }
    heads
}

/// Tests with parameters are called `prefix/suite.name/index`.
fn line_of(heads: &BTreeMap<String, u32>, name: &str) -> u32 {
    let plain = name.split('/').find(|part| part.contains('.')).unwrap_or(name);
    heads.get(plain).copied().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_sentences_are_read() {
        let heads = test_heads("\nTEST_F(AddTiling, small)\n{\n}\n  TEST_P(Many, each) {}\n");
        assert_eq!(line_of(&heads, "AddTiling.small"), 2);
        assert_eq!(line_of(&heads, "all/Many.each/3"), 5);
        let found = difference(7, "expected tiling_key == expected.key, but they are 3 and 4");
        assert_eq!(
            (found.what.as_str(), found.expected.as_str(), found.got.as_str()),
            ("tiling_key == expected.key", "4", "3")
        );
    }

    #[test]
    fn a_call_without_an_outcome_stays_only_at_the_end() {
        let call = "{\"operator\":\"Add\",\"inputs\":[],\"outputs\":[]}";
        let done = "{\"operator\":\"Add\",\"inputs\":[],\"outputs\":[],\"outcome\":{\"success\":true}}";
        let examples = examples_of(&format!("{call}\n{done}\n{call}\n"));
        assert_eq!(examples.iter().map(|example| example.outcome.is_some()).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn tests_about_other_chips_are_not_judged() {
        let mut example = TilingExample::default();
        let finished = || Some(TestResult { finished: true, skipped: None, failures: Vec::new() });
        assert_eq!(verdict_of(std::slice::from_ref(&example), finished(), &Ok(String::new())), Verdict::Agreement);
        example.platform.soc = Some("Ascend950".to_owned());
        assert!(matches!(verdict_of(&[example], finished(), &Ok(String::new())), Verdict::OtherMachine(_)));
        assert!(
            matches!(verdict_of(&[], None, &Ok("last words".to_owned())), Verdict::Crashed(words) if words == "last words")
        );
    }
}
