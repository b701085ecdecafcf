//! What `replay` found, as text.

use events::replay::{ReplayReport, SettingsReport, SettingsResult, SpaceResult};

use super::table::{Align, table};

/// One space.
pub(super) fn space(space: &SpaceResult) -> String {
    let mut rows = Vec::new();
    for strategy in &space.strategies {
        for result in &strategy.results {
            let of_peers = space.peers.iter().filter(|row| row.budget == result.budget);
            let best = of_peers.min_by(|left, right| left.mean_ratio.total_cmp(&right.mean_ratio));
            rows.push(vec![
                strategy.strategy.clone(),
                result.budget.to_string(),
                format!("{:.4}", result.mean_ratio),
                format!("{:.4}", result.median_ratio),
                format!("{:.4}", result.p90_ratio),
                format!("{:.0} %", 100.0 * result.hit1pct),
                result.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}")),
                best.map_or_else(String::new, |row| format!("{:.4} {}", row.mean_ratio, row.engine)),
            ]);
        }
    }
    let columns = [
        ("strategy", Align::Left),
        ("evaluations", Align::Right),
        ("mean", Align::Right),
        ("median", Align::Right),
        ("p90", Align::Right),
        ("within 1 %", Align::Right),
        ("score", Align::Right),
        (if space.peers.is_empty() { "" } else { "best peer" }, Align::Left),
    ];
    format!(
        "{} ({}; {} configurations, {} invalid): best found / optimum of {:.4} {}\n{}",
        space.space,
        space.about,
        space.configurations,
        space.infeasible,
        space.optimum,
        space.unit,
        table(&columns, &rows)
    )
}

/// All spaces.
pub(super) fn report(report: &ReplayReport) -> String {
    let mut rows = Vec::new();
    for name in report.ranking() {
        for engine in report.engines.iter().filter(|engine| engine.engine == name) {
            rows.push(vec![
                engine.engine.clone(),
                engine.budget.to_string(),
                engine.spaces.to_string(),
                format!("{:.4}", engine.geometric_mean_ratio),
                engine.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}")),
                engine.no_worse_than_best_peer.map_or_else(String::new, |count| count.to_string()),
            ]);
        }
    }
    let columns = [
        ("engine", Align::Left),
        ("evaluations", Align::Right),
        ("spaces", Align::Right),
        ("geometric mean", Align::Right),
        ("score", Align::Right),
        ("no worse than best peer", Align::Right),
    ];
    format!("all spaces, {} seeds\n{}", report.seeds, table(&columns, &rows))
}

/// Settings that were best on one half of the spaces, and the default, on both halves.
pub(super) fn settings(report: &SettingsReport) -> String {
    let row = |name: &str, result: &SettingsResult| {
        let (chosen, held) = (format!("{:.4}", result.chosen_on), format!("{:.4}", result.held_out));
        vec![name.to_owned(), chosen, held, result.settings.clone()]
    };
    let rows = [row("default", &report.default), row("best", &report.best)];
    let columns =
        [("", Align::Left), ("chosen on", Align::Right), ("held out", Align::Right), ("settings", Align::Left)];
    format!(
        "{} settings tried; geometric mean of best found / optimum\n{}chosen on {}; held out {}\n",
        report.tried,
        table(&columns, &rows),
        report.chosen_on.join(", "),
        report.held_out.join(", ")
    )
}
