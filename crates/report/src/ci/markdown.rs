//! A page for a pull request: what is not as the lock says, and why, as far as the tool knows.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{DRIFT_SAYS, Places, counts};
use crate::units::microseconds;
use events::{CaseVerdict, Check, CheckSummary, CheckedOperator, Verdict};

/// A page.
pub(super) fn markdown(summary: &CheckSummary, places: &Places) -> String {
    let mut text = format!("### cargo ascend-tune check: {}\n\n", escaped(&counts(summary)));
    let shown: Vec<&CheckedOperator> =
        summary.operators.iter().filter(|operator| operator.verdict != Verdict::Same).collect();
    if !shown.is_empty() {
        text.push_str("| operator | verdict | case | locked | now | change |\n|---|---|---|---:|---:|---:|\n");
        shown.iter().for_each(|operator| rows(operator, &mut text));
        text.push('\n');
    }
    for operator in shown.iter().filter(|operator| !operator.findings.is_empty()) {
        let _ = writeln!(text, "**{}** ({})\n", escaped(&operator.name()), operator.verdict.word());
        for finding in &operator.findings {
            let place = match (finding.file.as_str(), finding.line) {
                ("", _) => String::new(),
                (file, 0) => format!("`{}`: ", code(&places.of(operator, file))),
                (file, line) => format!("`{}:{line}`: ", code(&places.of(operator, file))),
            };
            let _ = writeln!(text, "- {place}{}", escaped(&finding.message));
        }
        text.push('\n');
    }
    let checks: Vec<&Check> = summary.operators.iter().filter_map(|operator| operator.check.as_ref()).collect();
    let remembered = checks.iter().filter(|check| check.remembered).count();
    if remembered > 0 {
        let _ = writeln!(text, "{remembered} passed before, exactly as they are, and were not built again.\n");
    }
    if summary.left_out > 0 {
        let _ = writeln!(text, "{} left out: nothing that they depend on has changed.\n", summary.left_out);
    }
    let machines: BTreeSet<String> = checks
        .iter()
        .map(|check| format!("{} on {} version {}", check.origin.word(), check.machine, check.machine_version))
        .collect();
    if !machines.is_empty() {
        let _ = writeln!(text, "Latencies are {}.", escaped(&machines.into_iter().collect::<Vec<_>>().join(" and ")));
    }
    if summary.drift_only {
        let _ = writeln!(text, "{DRIFT_SAYS}");
    }
    text
}

/// A row for each case that is worth one; an operator without such a case has a row without times.
fn rows(operator: &CheckedOperator, text: &mut String) {
    let cases = operator.check.iter().flat_map(|check| &check.cases);
    let told: Vec<_> = cases.filter(|case| case.verdict != CaseVerdict::Ok).collect();
    let (project, verdict) = (escaped(&operator.name()), operator.verdict.word());
    if told.is_empty() {
        let _ = writeln!(text, "| {project} | {verdict} | | | | |");
    }
    for case in told {
        let time = |us: Option<f64>| us.map_or_else(|| "-".to_owned(), microseconds);
        let change = case.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:+.1} %", 100.0 * (ratio - 1.0)));
        let (name, locked, now) = (escaped(&case.name), time(case.locked_us), time(case.now_us));
        let _ = writeln!(
            text,
            "| {project} | {verdict} | {name} ({}) | {locked} | {now} | {change} |",
            case.verdict.word()
        );
    }
}

/// A path between backticks, where only these mean something.
fn code(path: &str) -> String {
    path.replace('`', "'").replace(['\n', '\r'], " ")
}

/// Text in which nothing is markup: names and messages come from sources that anybody may have written.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            // A mention would call somebody.
            '@' => escaped.push_str("&#64;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '!' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}
