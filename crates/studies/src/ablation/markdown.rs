//! The tables as a page.

use std::fmt::Write as _;

use events::ablation::{AblationReport, THRESHOLDS, Trial, Variant, VariantSummary};

/// The page; `command` made it.
pub fn render(report: &AblationReport, command: &str) -> String {
    let mut page = String::new();
    let _ = writeln!(page, "# What each part is worth\n");
    let _ = writeln!(page, "<!-- Made by `{command}`; do not edit. -->\n");
    let _ = writeln!(
        page,
        "Latencies are modelled on {} version {}; at most {} evaluations a run. A run that failed counts as 1x. The bank never \
         holds records of the operator under test.\n",
        report.machine, report.machine_version, report.budget
    );
    let thresholds: Vec<String> = THRESHOLDS.iter().map(|speedup| format!("≥ {speedup}x")).collect();
    let _ = writeln!(
        page,
        "| variant | runs | failed | speed-up | {} | evaluations | full needs for the same |",
        thresholds.join(" | ")
    );
    let _ = writeln!(page, "|---|--:|--:|--:|{}--:|--:|", "--:|".repeat(thresholds.len()));
    for variant in &report.variants {
        let _ = writeln!(page, "{}", summary_row(variant));
    }
    let _ = writeln!(
        page,
        "\nSpeed-up: geometric mean. Thresholds: share of the runs; in brackets the median of evaluations and seconds until \
         then. Last column: median share of the variant's evaluations after which the whole tuner has the variant's result, \
         and how often it gets there.\n\n## Operator by operator\n"
    );
    let variants: Vec<Variant> = report.variants.iter().map(|summary| summary.variant).collect();
    let names: Vec<&str> = variants.iter().map(|variant| variant.name()).collect();
    let _ = writeln!(page, "| operator | us before | {} | motifs of the whole tuner |", names.join(" | "));
    let _ = writeln!(page, "|---|--:|{}---|", "--:|".repeat(names.len()));
    let mut projects: Vec<&str> = report.trials.iter().map(|trial| trial.project.as_str()).collect();
    projects.dedup();
    for project in projects {
        let of_project: Vec<&Trial> = report.trials.iter().filter(|trial| trial.project == project).collect();
        let _ = writeln!(page, "{}", project_row(project, &of_project, &variants));
    }
    let failed: Vec<&Trial> = report.trials.iter().filter(|trial| trial.result.is_err()).collect();
    if !failed.is_empty() {
        let _ = writeln!(page, "\n## Failed\n");
        for trial in failed {
            let why = trial.result.as_ref().err().map_or("", |message| message.lines().next().unwrap_or_default());
            let _ = writeln!(page, "- `{}`, {}, seed {}: {why}", trial.project, trial.variant.name(), trial.seed);
        }
    }
    page
}

fn summary_row(summary: &VariantSummary) -> String {
    let reached: Vec<String> = summary
        .reached
        .iter()
        .map(|reached| {
            let soon = match (reached.evaluations, reached.wall_s) {
                (Some(evaluations), Some(wall_s)) => format!(" ({evaluations:.0}, {wall_s:.0} s)"),
                _ => String::new(),
            };
            format!("{:.0} %{soon}", reached.share * 100.0)
        })
        .collect();
    let needs = match (summary.full_needs, summary.full_gets_there) {
        (Some(needs), Some(there)) => format!("{:.0} % ({:.0} % of the runs)", needs * 100.0, there * 100.0),
        (None, Some(_)) => "never there".to_owned(),
        _ => String::new(),
    };
    format!(
        "| {} | {} | {} | {:.2}x | {} | {:.0} | {needs} |",
        summary.variant.name(),
        summary.trials,
        summary.failed,
        summary.geometric_mean,
        reached.join(" | "),
        summary.evaluations
    )
}

fn project_row(project: &str, trials: &[&Trial], variants: &[Variant]) -> String {
    let before = trials.iter().find_map(|trial| Some(trial.result.as_ref().ok()?.baseline_us));
    let cells: Vec<String> = variants
        .iter()
        .map(|variant| {
            let speedups: Vec<f64> = trials
                .iter()
                .filter(|trial| trial.variant == *variant)
                .filter_map(|trial| Some(trial.result.as_ref().ok()?.speedup))
                .collect();
            if speedups.is_empty() {
                return "failed".to_owned();
            }
            let mean = (speedups.iter().map(|speedup| speedup.ln()).sum::<f64>() / speedups.len() as f64).exp();
            format!("{mean:.2}x")
        })
        .collect();
    let full = trials.iter().find(|trial| trial.variant == Variant::Full);
    let motifs = full.and_then(|trial| Some(trial.result.as_ref().ok()?.motifs.join(" "))).unwrap_or_default();
    let before = before.map_or_else(String::new, |us| format!("{us:.2}"));
    format!("| {project} | {before} | {} | {motifs} |", cells.join(" | "))
}
