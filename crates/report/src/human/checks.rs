//! Results of `check`: of one operator, and of many.

use std::fmt::Write as _;

use events::{CaseVerdict, Check, CheckFinding, CheckSummary, CheckVerdict, CheckedOperator, Verdict};

use super::super::ci::{DRIFT_SAYS, counts, sentence};
use super::super::units::{counted, factor, microseconds, percent, seconds};
use super::table::{Align, table};
use super::{BAD, GOOD, machine_text, paint};

/// Operators up to which each has its row; of more, those that are the same are only counted.
const ROWS: usize = 40;

pub(super) fn check(check: &Check, color: bool) -> String {
    let mut text = String::new();
    let time = |us: Option<f64>| us.map_or_else(|| "-".to_owned(), microseconds);
    let rows: Vec<Vec<String>> = check
        .cases
        .iter()
        .map(|case| {
            let change = case.ratio.map(|ratio| 100.0 * (ratio - 1.0));
            vec![
                case.name.clone(),
                time(case.locked_us),
                time(case.now_us),
                change.map_or_else(|| "-".to_owned(), |change| format!("{change:+.1} %")),
                case.verdict.word().to_owned(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let now = format!("now ({})", check.origin.word());
        text.push_str(&table(
            &[
                ("case", Align::Left),
                ("locked", Align::Right),
                (&now, Align::Right),
                ("change", Align::Right),
                ("verdict", Align::Left),
            ],
            &rows,
        ));
        text.push('\n');
    }
    for difference in &check.differences {
        let _ = writeln!(text, "{} {difference}", paint(color, BAD, "different:"));
    }
    for drift in &check.drift {
        let _ = writeln!(text, "{} {drift}", paint(color, BAD, "drift:"));
    }
    let told = |finding: &&CheckFinding| matches!(finding.verdict, Verdict::Slower | Verdict::CannotTell);
    for finding in check.findings.iter().filter(told) {
        let word = paint(color, BAD, &format!("{}:", finding.verdict.word()));
        let _ = writeln!(text, "{word} {}", sentence(finding));
    }
    if let Some(timed) = &check.timed {
        let _ = writeln!(text, "timed: {timed}");
    }
    let slack = percent(100.0 * (check.tolerance - 1.0));
    let machine = machine_text(check.origin.word(), &check.machine, &check.machine_version);
    let slower = check.cases.iter().filter(|case| case.verdict == CaseVerdict::Regressed).count() as u64;
    let outcome = check.outcome();
    let word = paint(color, if outcome.passes() { GOOD } else { BAD }, outcome.word());
    let meaning = match check.verdict {
        CheckVerdict::Ok => format!("no case is more than {slack} slower than ascend.lock"),
        CheckVerdict::Regressed => format!("{} more than {slack} slower than ascend.lock", counted(slower, "case")),
        CheckVerdict::Drifted => {
            "the project is not what ascend.lock was made for; tune again with `cargo ascend-tune run`, or take it over as it is with \
             `cargo ascend-tune lock --accept`"
                .to_owned()
        }
        CheckVerdict::Different => {
            "outputs are not what was locked; `cargo ascend-tune lock --accept` takes them over, if they are meant to be".to_owned()
        }
        CheckVerdict::Wrong => "a case fails verification".to_owned(),
        CheckVerdict::Missing => "project and ascend.lock have different cases".to_owned(),
        CheckVerdict::CannotTell => "times here do not tell whether it is as fast as ascend.lock".to_owned(),
    };
    let remembered = match check.remembered {
        true => {
            "; an earlier check on this machine passed with exactly these files, compiler and tool, and --fresh runs all again"
        }
        false => "",
    };
    let claimed = match check.claimed {
        Some(claimed) => format!("; what is locked claims {}", factor(claimed)),
        None => String::new(),
    };
    let _ = writeln!(text, "{word}: {meaning}{claimed}{remembered} ({machine})");
    text
}

/// One row an operator, what speaks against each, and how many there are of each verdict.
pub(super) fn checks(summary: &CheckSummary, color: bool) -> String {
    let mut text = String::new();
    let all = summary.operators.len() <= ROWS;
    let shown: Vec<&CheckedOperator> =
        summary.operators.iter().filter(|operator| all || operator.verdict != Verdict::Same).collect();
    if !shown.is_empty() {
        let columns = [
            ("operator", Align::Left),
            ("verdict", Align::Left),
            ("slowest", Align::Right),
            ("cases", Align::Right),
            ("took", Align::Right),
        ];
        text.push_str(&table(&columns, &shown.iter().map(|operator| row(operator)).collect::<Vec<_>>()));
        text.push('\n');
    }
    for operator in shown.iter().filter(|operator| !operator.verdict.passes()) {
        let word = paint(color, BAD, operator.verdict.word());
        let _ = writeln!(text, "{} {word}", operator.name());
        for finding in &operator.findings {
            let _ = writeln!(text, "  {}", sentence(finding));
        }
    }
    if summary.drift_only {
        let _ = writeln!(text, "{DRIFT_SAYS}");
    }
    let checks = || summary.operators.iter().filter_map(|operator| operator.check.as_ref());
    let remembered = checks().filter(|check| check.remembered).count() as u64;
    if remembered > 0 {
        let _ = writeln!(
            text,
            "{} passed an earlier check on this machine with exactly these files, compiler and tool; --fresh runs all again",
            counted(remembered, "operator")
        );
    }
    if summary.left_out > 0 {
        let _ = writeln!(
            text,
            "{} left out: nothing that they depend on has changed",
            counted(summary.left_out, "operator")
        );
    }
    let passes = summary.operators.iter().all(|operator| operator.verdict.passes());
    let word = if passes { paint(color, GOOD, "passed") } else { paint(color, BAD, "failed") };
    let _ = writeln!(text, "{word}: {} in {}", counts(summary), seconds(summary.wall_s));
    text
}

fn row(operator: &CheckedOperator) -> Vec<String> {
    let cases = operator.check.iter().flat_map(|check| &check.cases);
    let worst = cases.filter_map(|case| case.ratio).max_by(f64::total_cmp);
    let count = operator.check.as_ref().map(|check| check.cases.len());
    vec![
        operator.name(),
        operator.verdict.word().to_owned(),
        worst.map_or_else(|| "-".to_owned(), |ratio| format!("{:+.1} %", 100.0 * (ratio - 1.0))),
        count.map_or_else(|| "-".to_owned(), |count| count.to_string()),
        seconds(operator.wall_s),
    ]
}
