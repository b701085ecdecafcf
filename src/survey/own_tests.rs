//! What an operator's own unit tests say, counted. They are information beside the way: an operator without tests is not
//! worse for it, and a test that cannot be judged here is neither for nor against us.

use serde::{Deserialize, Serialize};

use super::cause::general;
use super::outcome::{Cause, CauseKind, Outcome, State};
use crate::backend::{TestRun, TestVerdict};
use crate::oracle::{TilingTest, Verdict};

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

/// Tiling unit tests of an operator, by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TilingTestCounts {
    /// Tests whose expectations all hold.
    pub agree: u32,
    /// Tests with an expectation that does not hold, or that crashed.
    pub differ: u32,
    /// Tests that name another chip or architecture themselves, or skip themselves.
    pub other_machine: u32,
    /// Tests that name no chip, fail on ours and hold on another: not counted as agreement.
    pub held_elsewhere: u32,
    /// Test files that do not compile here.
    pub not_built: u32,
}

impl TilingTestCounts {
    /// Tests that could be compared.
    pub fn compared(&self) -> u32 {
        self.agree + self.differ
    }

    /// Whether every test for this machine agrees, and there is one.
    pub fn all_agree(&self) -> bool {
        self.agree > 0 && self.differ == 0 && self.not_built == 0
    }

    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Agreement => self.agree += 1,
            Verdict::Difference(_) | Verdict::Crashed(_) => self.differ += 1,
            Verdict::OtherMachine(_) => self.other_machine += 1,
            Verdict::HeldElsewhere(_) => self.held_elsewhere += 1,
            Verdict::NotBuilt(_) => self.not_built += 1,
        }
    }
}

/// Kernel unit tests of an operator, by their verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTestCounts {
    /// They looked at results and found them right.
    pub right: u32,
    /// They found something wrong.
    pub wrong: u32,
    /// The kernel ran, and nothing looked at its results.
    pub ran_only: u32,
    /// They need something that is not here, or skip themselves.
    pub not_runnable: u32,
    /// Their program does not compile, or could not be run.
    pub not_built: bool,
}

impl KernelTestCounts {
    /// Counts one.
    pub fn add(&mut self, verdict: &TestVerdict) {
        match verdict {
            TestVerdict::Right => self.right += 1,
            TestVerdict::Wrong { .. } => self.wrong += 1,
            TestVerdict::RanOnly => self.ran_only += 1,
            TestVerdict::NotRunnable { .. } => self.not_runnable += 1,
        }
    }
}

/// Own tests of many operators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestTotals {
    /// Operators whose tiling tests were run.
    pub tiling_operators: u32,
    /// Those of them that have a test for this machine, or one that does not build.
    pub tiling_judged: u32,
    /// Those of them with nothing but agreement.
    pub tiling_agreeing: u32,
    /// Their tests, summed.
    pub tiling: TilingTestCounts,
    /// Operators whose kernel tests were run.
    pub kernel_operators: u32,
    /// Those of them whose tests do not build.
    pub kernel_not_built: u32,
    /// Their tests, summed; `not_built` says nothing here.
    pub kernel: KernelTestCounts,
}

impl TestTotals {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.tiling_operators + self.kernel_operators == 0
    }

    pub(super) fn add(&mut self, outcome: &Outcome) {
        if let Some(counts) = &outcome.tiling_tests {
            self.tiling_operators += 1;
            self.tiling_judged += u32::from(counts.compared() + counts.not_built > 0);
            self.tiling_agreeing += u32::from(counts.all_agree());
            self.tiling.agree += counts.agree;
            self.tiling.differ += counts.differ;
            self.tiling.other_machine += counts.other_machine;
            self.tiling.held_elsewhere += counts.held_elsewhere;
            self.tiling.not_built += counts.not_built;
        }
        if let Some(counts) = &outcome.kernel_tests {
            self.kernel_operators += 1;
            self.kernel_not_built += u32::from(counts.not_built);
            self.kernel.right += counts.right;
            self.kernel.wrong += counts.wrong;
            self.kernel.ran_only += counts.ran_only;
            self.kernel.not_runnable += counts.not_runnable;
        }
    }

    /// What every output heads the columns of [`TestTotals::cells`] with.
    pub const COLUMNS: [&'static str; 12] = [
        "tiling tests of",
        "agree fully",
        "tests agree",
        "differ",
        "other chip",
        "hold only elsewhere",
        "files not built",
        "kernel tests of",
        "right",
        "wrong",
        "ran only",
        "not runnable",
    ];

    /// The figures, in the order of [`TestTotals::COLUMNS`]: operators for `... of` and `agree fully`, else tests.
    pub fn cells(&self) -> [String; 12] {
        let kernel_operators = match self.kernel_not_built {
            0 => self.kernel_operators.to_string(),
            count => format!("{} ({count} not built)", self.kernel_operators),
        };
        let agreeing = match self.tiling_judged {
            0 => "-".to_owned(),
            all => format!("{} of {all}", self.tiling_agreeing),
        };
        [
            self.tiling_operators.to_string(),
            agreeing,
            self.tiling.agree.to_string(),
            self.tiling.differ.to_string(),
            self.tiling.other_machine.to_string(),
            self.tiling.held_elsewhere.to_string(),
            self.tiling.not_built.to_string(),
            kernel_operators,
            self.kernel.right.to_string(),
            self.kernel.wrong.to_string(),
            self.kernel.ran_only.to_string(),
            self.kernel.not_runnable.to_string(),
        ]
    }
}

/// What all tests of one kind amount to.
pub(super) struct TestJudgement {
    pub state: State,
    pub cause: Option<Cause>,
    pub detail: String,
}

/// Counts tiling tests; the cause is that of the first that does not agree.
pub(super) fn judge_tiling(tests: &[TilingTest]) -> (TilingTestCounts, TestJudgement) {
    let mut counts = TilingTestCounts::default();
    for test in tests {
        counts.add(&test.verdict);
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
    use crate::oracle::Difference;

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
