//! What devices measured of an operator's candidates, as rows that constants can be fitted to.

use std::collections::BTreeMap;

use aicore::{Machine, Warmth};
use events::fidelity::{Level, Metric, Role};
use studies::fidelity::{Case, Unit};
use tuner::{Kept, Measurement};

/// Rows that are fitted to: every one is played some hundred times.
const MOST_ROWS: usize = 48;

/// The measurements that rows are made of: all, or of each case some that stand for the range of its times.
pub fn chosen(kept: &Kept) -> Vec<&Measurement> {
    let mut by_case: BTreeMap<&str, Vec<&Measurement>> = BTreeMap::new();
    for time in &kept.times {
        by_case.entry(&time.case).or_default().push(time);
    }
    let each = (MOST_ROWS / by_case.len().max(1)).max(2);
    by_case.into_values().flat_map(|times| spread(times, each)).collect()
}

/// Of the times of a case so many, from the shortest to the longest.
fn spread(mut times: Vec<&Measurement>, most: usize) -> Vec<&Measurement> {
    times.sort_by(|one, other| one.task_us.total_cmp(&other.task_us).then_with(|| one.candidate.cmp(&other.candidate)));
    let wanted = times.len().min(most);
    let steps = wanted.saturating_sub(1).max(1);
    (0..wanted).map(|place| times[place * (times.len() - 1) / steps]).collect()
}

/// A measurement as a row. Its program is the candidate, and its argument the case; candidates are kernels, and their cases variants.
pub fn row(time: &Measurement, warmth: Warmth, machine: &Machine) -> Case {
    let candidate: String = time.candidate.chars().take(8).collect();
    Case {
        case: format!("{} of {candidate}", time.case),
        kernel: candidate,
        level: Level::Kernel,
        category: String::new(),
        role: Role::Headline,
        program: time.candidate.clone(),
        defines: Vec::new(),
        arguments: vec![time.case.clone()],
        launch: None,
        minus: None,
        warmth,
        machine: machine.name.to_lowercase(),
        metric: Metric::Task,
        scale: 1.0,
        published: time.task_us,
        unit: Unit::Microseconds,
        fit: true,
        compare: None,
        note: format!("measured {} times, spread {:.1} %", time.count, 100.0 * time.spread),
        line: 0,
    }
}
