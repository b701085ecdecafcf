//! Findings that are shown beside lines: GitHub's workflow commands and GitLab's code quality report.

use std::fmt::Write;

use serde::Serialize;

use super::{Placed, Places, placed};
use events::{CheckSummary, Verdict};

/// One workflow command a line.
pub(super) fn github(summary: &CheckSummary, places: &Places) -> String {
    let mut text = String::new();
    for found in placed(summary, places) {
        let level = if found.finding.verdict.passes() { "notice" } else { "error" };
        let title = format!("{}: {}", name(&found), found.finding.verdict.word());
        let _ = writeln!(
            text,
            "::{level} file={},line={},title={}::{}",
            property(&found.file),
            found.line,
            property(&title),
            data(&found.finding.message)
        );
    }
    text
}

/// The operator, or its directory where nobody knows what it is called.
fn name<'summary>(found: &Placed<'summary>) -> &'summary str {
    if found.operator.operator.is_empty() { &found.operator.project } else { &found.operator.operator }
}

/// Lines and percent signs mean something in a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Colons and commas too, in its properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

/// A list of issues.
pub(super) fn gitlab(summary: &CheckSummary, places: &Places) -> Result<String, serde_json::Error> {
    let issue = |found: Placed<'_>| Issue {
        description: format!("{}: {}", name(&found), found.finding.message),
        check_name: format!("ascend-tune/{}", found.finding.verdict.rule()),
        fingerprint: found.fingerprint(),
        severity: severity(found.finding.verdict),
        location: Location { path: found.file, lines: Lines { begin: found.line } },
    };
    let issues: Vec<Issue> = placed(summary, places).map(issue).collect();
    Ok(serde_json::to_string_pretty(&issues)? + "\n")
}

fn severity(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same | Verdict::Faster => "info",
        Verdict::Drifted => "minor",
        Verdict::Slower | Verdict::CannotTell => "major",
        Verdict::Different | Verdict::Wrong => "critical",
    }
}
