//! What `ablation` found, as text.

use events::ablation::{AblationReport, THRESHOLDS, Trial};

use super::table::{Align, table};

/// One run.
pub(super) fn trial(trial: &Trial) -> String {
    let head = format!("{}, {}, seed {}:", trial.project, trial.variant.name(), trial.seed);
    match &trial.result {
        Ok(finished) => format!(
            "{head} {:.2}x, {:.3} to {:.3} us modelled, {} of {} evaluations, {} refused, {:.0} s\n",
            finished.speedup,
            finished.baseline_us,
            finished.best_us,
            finished.evaluations,
            trial.budget,
            finished.rejected,
            finished.wall_s
        ),
        Err(message) => format!("{head} failed: {message}\n"),
    }
}

/// All runs.
pub(super) fn report(report: &AblationReport) -> String {
    let rows: Vec<Vec<String>> = report
        .variants
        .iter()
        .map(|summary| {
            let mut row = vec![
                summary.variant.name().to_owned(),
                summary.trials.to_string(),
                summary.failed.to_string(),
                format!("{:.2}x", summary.geometric_mean),
            ];
            row.extend(summary.reached.iter().map(|reached| {
                let soon =
                    reached.evaluations.map_or_else(String::new, |evaluations| format!(" after {evaluations:.0}"));
                format!("{:.0} %{soon}", reached.share * 100.0)
            }));
            row.push(match (summary.full_needs, summary.full_gets_there) {
                (Some(needs), Some(there)) => format!("{:.0} % (in {:.0} %)", needs * 100.0, there * 100.0),
                (None, Some(_)) => "never there".to_owned(),
                _ => String::new(),
            });
            row
        })
        .collect();
    let thresholds: Vec<String> = THRESHOLDS.iter().map(|speedup| format!("at least {speedup}x")).collect();
    let mut columns =
        vec![("variant", Align::Left), ("runs", Align::Right), ("failed", Align::Right), ("speed-up", Align::Right)];
    columns.extend(thresholds.iter().map(|threshold| (threshold.as_str(), Align::Right)));
    columns.push(("full needs for the same", Align::Right));
    format!(
        "Speed-ups modelled on {} version {}, geometric mean; at most {} evaluations a run\n{}",
        report.machine,
        report.machine_version,
        report.budget,
        table(&columns, &rows)
    )
}
