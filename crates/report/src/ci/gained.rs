//! What a run has gained, as a section for the text of a pull request.

use std::fmt::Write;

use super::markdown::escaped;
use crate::units::microseconds;
use events::Summary;

/// What is less is no gain.
const GAIN: f64 = 1.005;

/// The section of an operator that lies at `place`; nothing where it is as it was.
pub fn gained(summary: &Summary, place: &str) -> Option<String> {
    if summary.claimed < GAIN {
        return None;
    }
    let mut text = format!("### {} in {}: {:.2}x\n\n", escaped(&summary.operator), escaped(place), summary.claimed);
    text.push_str("| case | before | now | speed-up |\n|---|---:|---:|---:|\n");
    for case in &summary.cases {
        let (name, before, now) = (escaped(&case.name), microseconds(case.baseline_us), microseconds(case.best_us));
        let _ = writeln!(text, "| {name} | {before} | {now} | {:.2}x |", case.speedup);
    }
    text.push('\n');
    if let Some(general) = summary.generalisation.as_ref().filter(|general| !general.unconfirmed) {
        let at_worst = general.worst().map(|worst| format!(", {:.2}x at worst", worst.speedup)).unwrap_or_default();
        let count = general.probes.len();
        let _ = writeln!(text, "On {count} probes that the search never saw: {:.2}x{at_worst}.", general.speedup);
    }
    if !summary.motifs.is_empty() {
        let _ = writeln!(text, "Rewrites: {}.", escaped(&summary.motifs.join(", ")));
    }
    if !summary.configuration.is_empty() {
        let _ = writeln!(text, "Values: {}.", escaped(&summary.configuration.to_string()));
    }
    let (machine, version) = (escaped(&summary.machine), escaped(&summary.machine_version));
    let _ = writeln!(text, "Latencies are {} on {machine} version {version}.\n", summary.origin.word());
    Some(text)
}
