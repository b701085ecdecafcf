//! A list of tests: a suite for each operator, a test for each of its cases, and one for what is no matter of cases.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::sentence;
use crate::units::microseconds;
use events::{CaseVerdict, Check, CheckCase, CheckFinding, CheckSummary, CheckedOperator, Verdict};

/// Name of the test that is about the operator as a whole.
const WHOLE: &str = "as locked";

/// A report with one suite for each operator.
pub(super) fn junit(summary: &CheckSummary) -> String {
    let mut report = Report::new("cargo ascend-tune check");
    report.set_time(duration(summary.wall_s));
    report.add_test_suites(summary.operators.iter().map(suite));
    report.to_string().unwrap_or_default()
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn suite(operator: &CheckedOperator) -> TestSuite {
    let mut suite = TestSuite::new(operator.name());
    suite.set_time(duration(operator.wall_s));
    let of = |case: Option<&str>| -> Vec<&CheckFinding> {
        operator.findings.iter().filter(|finding| finding.case.as_deref() == case).collect()
    };
    let cases = operator.check.iter().flat_map(|check| check.cases.iter().map(move |case| (check, case)));
    let mut tests: Vec<TestCase> = cases.map(|(check, case)| test(check, case, &of(Some(&case.name)))).collect();
    // What is found in cases that have no row of their own is told here too.
    let rows = operator.check.iter().flat_map(|check| &check.cases);
    let names: Vec<&str> = rows.map(|case| case.name.as_str()).collect();
    let whole =
        operator.findings.iter().filter(|found| found.case.as_deref().is_none_or(|case| !names.contains(&case)));
    tests.push(TestCase::new(WHOLE, status(&whole.collect::<Vec<_>>())));
    for test in &mut tests {
        test.set_classname(operator.name());
    }
    suite.add_test_cases(tests);
    suite
}

/// One case, with its times as output.
fn test(check: &Check, case: &CheckCase, findings: &[&CheckFinding]) -> TestCase {
    let mut test = TestCase::new(
        case.name.as_str(),
        match (case.verdict, findings) {
            (CaseVerdict::NotRun, []) => TestCaseStatus::skipped(),
            (CaseVerdict::Missing | CaseVerdict::CannotTell, []) => {
                failed(NonSuccessKind::Error, Verdict::CannotTell, "no time to compare")
            }
            (CaseVerdict::Wrong, []) => failed(NonSuccessKind::Failure, Verdict::Wrong, Verdict::Wrong.meaning()),
            _ => status(findings),
        },
    );
    if let (Some(locked), Some(now)) = (case.locked_us, case.now_us) {
        test.set_system_out(format!(
            "locked {}, now {} ({} on {} version {})",
            microseconds(locked),
            microseconds(now),
            check.origin.word(),
            check.machine,
            check.machine_version
        ));
    }
    test
}

/// Success where nothing speaks against it.
fn status(findings: &[&CheckFinding]) -> TestCaseStatus {
    let against: Vec<&&CheckFinding> = findings.iter().filter(|finding| !finding.verdict.passes()).collect();
    let Some(first) = against.first() else { return TestCaseStatus::success() };
    // An error is a test that came to no end.
    let kind = match first.verdict {
        Verdict::CannotTell => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    let sentences: Vec<String> = against.iter().map(|finding| sentence(finding)).collect();
    failed(kind, first.verdict, &sentences.join("\n"))
}

fn failed(kind: NonSuccessKind, verdict: Verdict, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(verdict.rule()).set_message(text.lines().next().unwrap_or_default()).set_description(text);
    status
}
