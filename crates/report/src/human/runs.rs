//! Two runs side by side.

use std::fmt::Write as _;

use events::RunComparison;

use super::super::units::{factor, microseconds, seconds};
use super::table::{Align, table};
use super::{BAD, GOOD, WARN, machine_text, paint};

/// Cell of what is not there.
const NONE: &str = "-";

pub(super) fn comparison(comparison: &RunComparison, color: bool) -> String {
    let mut text = String::new();
    let [other, this] = &comparison.runs;
    let time = |us: Option<f64>| us.map_or_else(|| NONE.to_owned(), microseconds);
    let gain = |gain: Option<f64>| gain.map_or_else(|| NONE.to_owned(), factor);
    let facts: [(&str, [String; 2]); 5] = [
        ("claimed", [factor(other.claimed), factor(this.claimed)]),
        ("evaluations", [other.evaluations.to_string(), this.evaluations.to_string()]),
        ("rejected", [other.rejected.to_string(), this.rejected.to_string()]),
        ("seed", [other.seed.to_string(), this.seed.to_string()]),
        ("took", [seconds(other.wall_s), seconds(this.wall_s)]),
    ];
    let rows: Vec<Vec<String>> =
        facts.into_iter().map(|(name, [other, this])| vec![name.to_owned(), other, this]).collect();
    let _ = writeln!(text, "{}: other is {}, this is {}", this.operator, other.record, this.record);
    let mut section = |name: &str, columns: &[&str], rows: Vec<Vec<String>>| {
        if !rows.is_empty() {
            let columns = columns.iter().map(|title| (*title, Align::Right));
            let columns: Vec<(&str, Align)> = std::iter::once((name, Align::Left)).chain(columns).collect();
            let _ = write!(text, "\n{}", table(&columns, &rows));
        }
    };
    section("run", &["other", "this"], rows);
    let cases = comparison.cases.iter().map(|case| {
        let name = if case.differs { format!("{} (another shape)", case.name) } else { case.name.clone() };
        let [was, is] = case.baseline_us.map(time);
        let [other, this] = case.best_us.map(time);
        vec![name, was, is, other, this, gain(case.ratio)]
    });
    let columns = ["other: as it was", "this: as it was", "other: best", "this: best", "this is faster"];
    section("case", &columns, cases.collect());
    let steps = comparison.steps.iter().map(|step| {
        let motif = step.motif.as_ref().map(|motif| format!(", {motif}")).unwrap_or_default();
        let [other, this] = step.gains.map(gain);
        vec![format!("{} ({}{motif})", step.title, step.stage.word()), other, this]
    });
    section("step", &["other", "this"], steps.collect());
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let tunables = comparison.tunables.iter();
    let tunables = tunables.map(|one| vec![one.name.clone(), value(&one.values[0]), value(&one.values[1])]);
    section("tunable", &["other", "this"], tunables.collect());
    let known = |known: bool| if known { "yes" } else { NONE }.to_owned();
    let hazards = comparison.hazards.iter();
    let hazards = hazards.map(|one| vec![one.text.clone(), known(one.known[0]), known(one.known[1])]);
    section("known hazard of the operator as it was", &["other", "this"], hazards.collect());
    text.push('\n');
    for reason in &comparison.incomparable {
        let _ = writeln!(text, "{} latencies are not compared: {reason}", paint(color, WARN, "warning:"));
    }
    if let Some(ratio) = comparison.ratio {
        let (style, words) = match ratio {
            ratio if ratio > 1.0 => (GOOD, format!("{} faster", factor(ratio))),
            ratio if ratio < 1.0 => (BAD, format!("{} slower", factor(1.0 / ratio))),
            _ => (GOOD, "as fast".to_owned()),
        };
        let exact = if comparison.exact { "" } else { "; how far measurements spread is not known here" };
        let on = machine_text(this.origin.word(), &this.machine, &this.machine_version);
        let _ = writeln!(text, "this winner is {}, {on}{exact}", paint(color, style, &words));
    }
    if let Some(page) = &comparison.page {
        let _ = writeln!(text, "{page}");
    }
    text
}
