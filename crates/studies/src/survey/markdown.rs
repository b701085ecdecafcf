//! `docs/coverage.md`: a survey as Markdown, without dates and times, so that the same result gives the same text.

use std::fmt::Write as _;

use super::own_tests::KERNEL_TESTS;
use events::survey::{Row, Summary, SurveyStep, Surveyed, TestTotals, WitnessCounts};

/// Operators named for each cause.
const NAMED: usize = 6;

/// One survey: through one of the doors.
pub struct Section<'data> {
    /// Counts and groups.
    pub summary: &'data Summary,
    /// Operators.
    pub outcomes: &'data [Surveyed],
}

/// The page: a section for each door.
pub fn render_markdown(sections: &[Section<'_>]) -> String {
    let mut text = String::from(
        "# Coverage\n\n\
         Written by `cargo ascend-tune survey --markdown FILE`; do not edit. Each operator is taken through the steps in order:\n\
         recognised, host library built, tiling accepts a case, kernel built, every block ran to its end, outputs against references\n\
         that are not the operator (its authors' and definitions of ours), no error of the hazard judge. *Right* and *wrong* are their\n\
         verdict. *Unknown* ran and has no reference, or two that contradict each other: it is not counted as right. *Unwritten* left bytes of an output unwritten, or its result depends\n\
         on bytes that nobody wrote: a defect, or a case with shapes or data that the operator is not meant for. A kernel that does\n\
         not run is tried again on the chip of the family with the next fewer vector cores, then with another case.\n",
    );
    for section in sections {
        let summary = section.summary;
        let _ = write!(
            text,
            "\n## Kernels against {} headers\n\nMachine description: {} version {}.",
            summary.headers, summary.machine, summary.machine_version
        );
        if summary.other_chips > 0 {
            let _ = write!(text, " {} operators exist only for other chips and were not tried.", summary.other_chips);
        }
        if summary.left_out > 0 {
            let _ = write!(text, " {} operators were not part of the sample.", summary.left_out);
        }
        text.push_str("\n\n");
        table(&mut text, &summary.rows);
        witnesses(&mut text, &summary.rows);
        own_tests(&mut text, &summary.rows);
        causes(&mut text, section);
    }
    text
}

fn table(text: &mut String, rows: &[Row]) {
    text.push_str(
        "| repository | cores | operators | host | tiling | kernel | run | right | wrong | unwritten | unknown | no hazard |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let name = if row.repository.is_empty() { "**all**" } else { row.repository.as_str() };
        let share = |count: u32| match row.operators {
            0 => "-".to_owned(),
            all => format!("{count} ({} %)", (100.0 * f64::from(count) / f64::from(all)).round()),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.class,
            row.operators,
            share(row.passed(SurveyStep::Host)),
            share(row.passed(SurveyStep::Tiling)),
            share(row.passed(SurveyStep::Kernel)),
            share(row.passed(SurveyStep::Run)),
            row.right,
            row.wrong,
            row.unwritten,
            row.unknown,
            row.clean,
        );
    }
}

/// Verdicts by witness, where there are some.
fn witnesses(text: &mut String, rows: &[Row]) {
    if rows.iter().all(|row| row.witnesses.is_empty()) {
        return;
    }
    let columns = WitnessCounts::COLUMNS;
    let _ = write!(
        text,
        "\nVerdicts by witness: the authors' data script or golden function, and definitions of ours (docs/definitions.md).\n\n\
         | repository | cores | {} |\n|---|---|{}\n",
        columns.join(" | "),
        "---|".repeat(columns.len())
    );
    for row in rows.iter().filter(|row| !row.witnesses.is_empty()) {
        let name = if row.repository.is_empty() { "**all**" } else { row.repository.as_str() };
        let _ = writeln!(text, "| {name} | {} | {} |", row.class, row.witnesses.cells().join(" | "));
    }
}

/// The operators' own unit tests, where they were run.
fn own_tests(text: &mut String, rows: &[Row]) {
    if rows.iter().all(|row| row.tests.is_empty()) {
        return;
    }
    let columns = TestTotals::COLUMNS;
    let _ = write!(
        text,
        "\nThe operators' own unit tests, where their host libraries were built. The first two columns and *kernel tests of* count\n\
         operators, the others tests; at most {KERNEL_TESTS} kernel tests of each operator were run. *Other chip*: the test names\n\
         another one. *Hold only elsewhere*: it names none, fails on ours and holds on another. Neither is agreement. *Ran only*:\n\
         nothing looked at the results.\n\n| repository | cores | {} |\n|---|---|{}\n",
        columns.join(" | "),
        "---|".repeat(columns.len())
    );
    for row in rows.iter().filter(|row| !row.tests.is_empty()) {
        let name = if row.repository.is_empty() { "**all**" } else { row.repository.as_str() };
        let _ = writeln!(text, "| {name} | {} | {} |", row.class, row.tests.cells().join(" | "));
    }
}

fn causes(text: &mut String, section: &Section<'_>) {
    if section.summary.groups.is_empty() {
        text.push_str("\nNothing was in the way.\n");
        return;
    }
    text.push_str("\n| operators | step | in the way | for instance |\n|---|---|---|---|\n");
    for group in &section.summary.groups {
        let mut names: Vec<&str> = group.operators.iter().take(NAMED).map(String::as_str).collect();
        if group.operators.len() > NAMED {
            names.push("…");
        }
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            group.operators.len(),
            group.step,
            escaped(&group.cause_text()),
            names.join(", ")
        );
    }
}

/// Text that is safe in a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_")
}
