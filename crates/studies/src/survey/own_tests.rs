//! What an operator's own unit tests say, counted. They are information beside the way: an operator without tests is not
//! worse for it, and a test that cannot be judged here is neither for nor against us.

use serde::{Deserialize, Serialize};

use super::cause::general;
use backend::TestRun;
use discovery::oracle::{TilingTest, Verdict};
use events::TestVerdict;
use events::survey::{Cause, CauseKind, State, TilingTestCounts};

/// Kernel tests that are run of an operator: each is a simulation of its own.
pub const KERNEL_TESTS: usize = 6;

/// Which of the operators' own unit tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum OwnTests {
    /// Tiling and kernel tests
    All,
    /// Tiling tests only
    Tiling,
    /// Kernel tests only
    Kernel,
}

/// File of an operator's directory with a line for every tiling test.
pub(super) const TILING_TESTS: &str = "tiling_tests.jsonl";

/// Every tiling test as a line of JSON: where it is, what became of it and what it looked at.
pub(super) fn lines(tests: &[TilingTest]) -> String {
    let line = |test: &TilingTest| {
        let (verdict, words) = match &test.verdict {
            Verdict::Agreement => ("agree", Vec::new()),
            Verdict::Difference(differences) => (
                "differ",
                differences
                    .iter()
                    .map(|found| {
                        format!("line {}: {}: expected {}, got {}", found.line, found.what, found.expected, found.got)
                    })
                    .collect(),
            ),
            Verdict::OtherMachine(machine) => ("other-machine", vec![machine.clone()]),
            Verdict::HeldElsewhere(machine) => ("held-elsewhere", vec![machine.clone()]),
            Verdict::Crashed(message) => ("crashed", vec![message.clone()]),
            Verdict::NotBuilt(message) => ("not-built", vec![message.clone()]),
        };
        let with_data = test.examples.iter().filter(|example| example.expected.tiling_data.is_some()).count();
        serde_json::json!({
            "test": test.name, "file": test.file, "line": test.line, "verdict": verdict, "words": words,
            "calls": test.examples.iter().filter(|example| example.outcome.is_some()).count(), "calls_with_tiling_data": with_data,
        })
    };
    tests.iter().map(|test| format!("{}\n", line(test))).collect()
}

/// What all tests of one kind amount to.
pub(super) struct TestJudgement {
    pub state: State,
    pub cause: Option<Cause>,
    pub detail: String,
}

fn count(counts: &mut TilingTestCounts, verdict: &Verdict) {
    match verdict {
        Verdict::Agreement => counts.agree += 1,
        Verdict::Difference(_) | Verdict::Crashed(_) => counts.differ += 1,
        Verdict::OtherMachine(_) => counts.other_machine += 1,
        Verdict::HeldElsewhere(_) => counts.held_elsewhere += 1,
        Verdict::NotBuilt(_) => counts.not_built += 1,
    }
}

/// Counts tiling tests; the cause is that of the first that does not agree.
pub(super) fn judge_tiling(tests: &[TilingTest]) -> (TilingTestCounts, TestJudgement) {
    let mut counts = TilingTestCounts::default();
    for test in tests {
        count(&mut counts, &test.verdict);
    }
    let first = tests.iter().find_map(|test| {
        let (cause, words) = match &test.verdict {
            Verdict::NotBuilt(message) => (super::cause::of_message(message), message.clone()),
            Verdict::Crashed(message) => (Cause::new(CauseKind::Crash, general(message)), message.clone()),
            Verdict::Difference(differences) => {
                let first = differences.first()?;
                let words = format!("{}: expected {}, got {}", first.what, first.expected, first.got);
                (Cause::new(CauseKind::TestDisagrees, general(&first.what)), words)
            }
            _ => return None,
        };
        Some((cause, format!("{}:{} {}: {words}", test.file, test.line, test.name)))
    });
    let judgement = match first {
        Some((cause, detail)) => TestJudgement { state: State::Failed, cause: Some(cause), detail },
        None if counts.agree > 0 => {
            TestJudgement { state: State::Passed, cause: None, detail: format!("{} agree", counts.agree) }
        }
        None => TestJudgement {
            state: State::Unknown,
            cause: Some(Cause::new(CauseKind::NoReference, "no tiling test is about this machine")),
            detail: String::new(),
        },
    };
    (counts, judgement)
}

/// What kernel tests amount to: wrong where one is, right where at least one is and none is wrong, else unknown.
pub(super) fn judge_kernel(runs: &[TestRun]) -> TestJudgement {
    let wrong = runs.iter().find_map(|run| match &run.verdict {
        TestVerdict::Wrong { what } => Some((run, what)),
        _ => None,
    });
    if let Some((run, what)) = wrong {
        let cause = Some(Cause::new(CauseKind::TestDisagrees, general(super::cause::after_place(what))));
        return TestJudgement { state: State::Failed, cause, detail: format!("{}: {what}", run.name) };
    }
    if runs.iter().any(|run| run.verdict == TestVerdict::Right) {
        return TestJudgement { state: State::Passed, cause: None, detail: String::new() };
    }
    let (name, detail) = runs
        .iter()
        .find_map(|run| match &run.verdict {
            TestVerdict::NotRunnable { why } => Some((general(why), format!("{}: {why}", run.name))),
            _ => None,
        })
        .unwrap_or_else(|| ("no kernel test compares results".to_owned(), String::new()));
    TestJudgement { state: State::Unknown, cause: Some(Cause::new(CauseKind::NoReference, name)), detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::oracle::Difference;

    fn test(verdict: Verdict) -> TilingTest {
        TilingTest { name: "Suite.name".into(), file: "tests/t.cpp".into(), line: 7, examples: Vec::new(), verdict }
    }

    fn run(verdict: TestVerdict) -> TestRun {
        TestRun { name: "Suite.name".into(), verdict, launches: Vec::new() }
    }

    #[test]
    fn only_agreement_is_agreement() {
        let difference = Difference { line: 9, what: "key".into(), expected: "1".into(), got: "2".into() };
        let tests = [
            test(Verdict::Agreement),
            test(Verdict::HeldElsewhere("Ascend950".into())),
            test(Verdict::OtherMachine("Ascend310P".into())),
        ];
        let (counts, judgement) = judge_tiling(&tests);
        assert_eq!((counts.agree, counts.compared(), counts.held_elsewhere, counts.other_machine), (1, 1, 1, 1));
        assert!(counts.all_agree() && judgement.state == State::Passed);

        let (counts, judgement) = judge_tiling(&tests[1..]);
        assert!(!counts.all_agree() && judgement.state == State::Unknown);

        let tests = [test(Verdict::Agreement), test(Verdict::Difference(vec![difference]))];
        let (counts, judgement) = judge_tiling(&tests);
        assert!(!counts.all_agree() && judgement.state == State::Failed);
        assert_eq!(judgement.cause.unwrap().to_string(), "test disagrees: key");
        assert_eq!(judgement.detail, "tests/t.cpp:7 Suite.name: key: expected 1, got 2");
    }

    #[test]
    fn a_test_file_that_does_not_build_is_not_full_agreement() {
        let message = "tests/t.cpp:3:10: error: thing.h: No such file or directory".to_owned();
        let (counts, judgement) = judge_tiling(&[test(Verdict::Agreement), test(Verdict::NotBuilt(message))]);
        assert!(!counts.all_agree() && counts.not_built == 1);
        assert_eq!(judgement.cause.unwrap().to_string(), "missing header: thing.h");
    }

    #[test]
    fn a_kernel_that_only_ran_is_not_right() {
        let state =
            |verdicts: &[TestVerdict]| judge_kernel(&verdicts.iter().cloned().map(run).collect::<Vec<_>>()).state;
        let wrong = TestVerdict::Wrong { what: "t.cpp:5: a == b".into() };
        assert_eq!(state(&[TestVerdict::RanOnly]), State::Unknown);
        assert_eq!(state(&[]), State::Unknown);
        assert_eq!(state(&[TestVerdict::RanOnly, TestVerdict::Right]), State::Passed);
        assert_eq!(state(&[TestVerdict::Right, wrong]), State::Failed);
    }
}
