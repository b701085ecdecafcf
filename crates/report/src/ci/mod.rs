//! What a check found, in the forms that systems of continuous integration show: beside the line that it is about, in a list of tests, or
//! in a comment on a pull request. Pure functions over the summary; who writes them where is the command's matter.

mod annotations;
mod gained;
mod junit;
mod markdown;
mod sarif;

#[cfg(test)]
mod tests;

pub use gained::gained;

use std::path::PathBuf;

use events::{CheckFinding, CheckSummary, CheckedOperator, Verdict};
use source::normal;

/// A form of the summary of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckFormat {
    /// A list of tests: a suite for each operator, a test for each case.
    Junit,
    /// Static analysis results, version 2.1.0, with source lines.
    Sarif,
    /// Workflow commands that GitHub shows beside the lines.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// A page for a pull request.
    Markdown,
}

impl CheckFormat {
    /// Every form, by name.
    pub const ALL: [CheckFormat; 5] =
        [CheckFormat::Junit, CheckFormat::Sarif, CheckFormat::Github, CheckFormat::Gitlab, CheckFormat::Markdown];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CheckFormat::Junit => "junit",
            CheckFormat::Sarif => "sarif",
            CheckFormat::Github => "github",
            CheckFormat::Gitlab => "gitlab",
            CheckFormat::Markdown => "markdown",
        }
    }
}

/// Where paths of findings begin. Systems show a finding beside its line only where they find the file in their checkout.
#[derive(Clone, Debug)]
pub struct Places {
    /// Top of the checkout.
    pub top: PathBuf,
    /// The directory that operators are named from.
    pub start: PathBuf,
}

impl Places {
    /// A file of an operator as seen from the top, with `/`; what lies outside keeps its whole path.
    fn of(&self, operator: &CheckedOperator, file: &str) -> String {
        let whole = normal(&self.start.join(&operator.project).join(file));
        let seen = whole.strip_prefix(&self.top).unwrap_or(&whole);
        seen.components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
            .replace("//", "/")
    }
}

/// The summary in a form, as the text of a file.
pub fn render_check(summary: &CheckSummary, format: CheckFormat, places: &Places) -> Result<String, serde_json::Error> {
    Ok(match format {
        CheckFormat::Junit => junit::junit(summary),
        CheckFormat::Sarif => sarif::sarif(summary, places)?,
        CheckFormat::Github => annotations::github(summary, places),
        CheckFormat::Gitlab => annotations::gitlab(summary, places)?,
        CheckFormat::Markdown => markdown::markdown(summary, places),
    })
}

/// A finding with its place as seen from the top of the checkout.
struct Placed<'summary> {
    operator: &'summary CheckedOperator,
    finding: &'summary CheckFinding,
    /// The file, or the operator's manifest where the finding has no place.
    file: String,
    /// Line from 1.
    line: u32,
}

impl Placed<'_> {
    /// What stays the same when lines move and times change.
    fn fingerprint(&self) -> String {
        let case = self.finding.case.as_deref().unwrap_or_default();
        let parts = [self.finding.verdict.rule(), &self.operator.name(), &self.file, case];
        // One file can have several findings of a kind, which differ in what they say.
        let said = if case.is_empty() { self.finding.message.as_str() } else { "" };
        blake3::hash(parts.into_iter().chain([said]).collect::<Vec<_>>().join("\n").as_bytes()).to_hex()[..32]
            .to_owned()
    }
}

/// All findings, operator by operator.
fn placed<'summary>(
    summary: &'summary CheckSummary,
    places: &'summary Places,
) -> impl Iterator<Item = Placed<'summary>> {
    summary.operators.iter().flat_map(move |operator| {
        operator.findings.iter().map(move |finding| {
            let file = if finding.file.is_empty() { "ascend.toml" } else { &finding.file };
            Placed { operator, finding, file: places.of(operator, file), line: finding.line.max(1) }
        })
    })
}

/// A finding with its place before it, where it does not say that itself.
pub(crate) fn sentence(finding: &CheckFinding) -> String {
    match (finding.file.as_str(), finding.line) {
        ("", _) => finding.message.clone(),
        (file, 0) if finding.message.contains(file) => finding.message.clone(),
        (file, 0) => format!("{file}: {}", finding.message),
        (file, line) => format!("{file}:{line}: {}", finding.message),
    }
}

/// `100 operators: 97 same, 2 slower, 1 drifted`.
pub(crate) fn counts(summary: &CheckSummary) -> String {
    let all = summary.operators.len();
    let of_each: Vec<String> = Verdict::ALL
        .into_iter()
        .map(|verdict| (summary.count(verdict), verdict.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let operators = if all == 1 { "operator" } else { "operators" };
    match of_each.is_empty() {
        true => format!("{all} {operators}"),
        false => format!("{all} {operators}: {}", of_each.join(", ")),
    }
}

/// What a comparison of digests says, and what it does not.
pub(crate) const DRIFT_SAYS: &str = "Only digests were compared: sources and the headers that they include, ascend.toml, machine description and \
    version of the tool are those that were locked, or the difference is named. Nothing was built or run, so this says nothing of outputs, \
    times, hazards, CMake files, compiler, data files, and sources of other operators that are linked in.";
