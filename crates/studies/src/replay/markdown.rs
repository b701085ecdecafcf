//! The report as a page.

use std::fmt::Write as _;

use events::replay::{ReplayReport, SpaceResult};

/// Peers shown besides ours.
const MOST_PEERS: usize = 12;

/// The page. `command` made it; `plot` is the file name of the convergence plots beside it.
pub fn render(report: &ReplayReport, command: &str, plot: &str) -> String {
    let mut page = String::new();
    let _ = writeln!(page, "# Search strategies on recorded tuning spaces\n");
    let _ = writeln!(page, "<!-- Made by `{command}`; do not edit. -->\n");
    let _ = writeln!(
        page,
        "Best found over optimum, mean of {} seeds, one evaluation in flight at a time{}. Every space was measured \
         exhaustively on a real device by others; a strategy learns a time only by spending an evaluation, an invalid \
         configuration costs one too. Peers: released tuners at the same budgets of unique evaluations, fewer repeats \
         for the slow ones. No figure here is of an Ascend device.\n",
        report.seeds,
        if report.batch > 1 { format!(" (here: {})", report.batch) } else { String::new() }
    );
    if report.noise > 0.0 {
        let _ = writeln!(
            page,
            "Here times are told with noise of {} % of a time; figures are the recorded times of the winners.\n",
            report.noise * 100.0
        );
    }
    let _ = writeln!(page, "## All spaces\n");
    let _ = writeln!(
        page,
        "Geometric mean of best-over-optimum (score: share of the gap between random search and the optimum that is closed; \
         0 is random search).\n"
    );
    summary(&mut page, report);
    pairs(&mut page, report);
    let _ = writeln!(page, "\n## Convergence\n\n![Convergence per space]({plot})\n");
    let _ = writeln!(page, "## Space by space\n");
    for space in &report.spaces {
        one_space(&mut page, report, space);
    }
    page
}

fn header(page: &mut String, report: &ReplayReport, first: &str) {
    let budgets: Vec<String> = report.budgets.iter().map(ToString::to_string).collect();
    let _ = writeln!(page, "| {first} | {} |", budgets.join(" | "));
    let _ = writeln!(page, "|---{}|", "|--:".repeat(budgets.len()));
}

fn summary(page: &mut String, report: &ReplayReport) {
    header(page, report, "engine");
    let mut peers = 0;
    for name in report.ranking() {
        let mut cells = Vec::new();
        let mut ours = false;
        for budget in &report.budgets {
            let found = report.engines.iter().find(|engine| engine.engine == name && engine.budget == *budget);
            ours |= found.is_some_and(|engine| engine.ours);
            cells.push(found.map_or_else(String::new, |engine| {
                let score = engine.score.map_or_else(String::new, |score| format!(" ({score:.2})"));
                format!("{:.4}{score}", engine.geometric_mean_ratio)
            }));
        }
        peers += usize::from(!ours);
        if peers > MOST_PEERS {
            break;
        }
        let name = if ours { format!("**{name}**") } else { name.to_owned() };
        let _ = writeln!(page, "| {name} | {} |", cells.join(" | "));
    }
}

/// On how many (space, budget) pairs ours is no worse than whichever peer is best there.
fn pairs(page: &mut String, report: &ReplayReport) {
    let mut counts: Vec<(String, usize, usize)> = Vec::new();
    for engine in report.engines.iter().filter(|engine| engine.ours) {
        let Some(won) = engine.no_worse_than_best_peer else { continue };
        match counts.iter_mut().find(|count| count.0 == engine.engine) {
            Some(count) => {
                count.1 += won;
                count.2 += engine.spaces;
            }
            None => counts.push((engine.engine.clone(), won, engine.spaces)),
        }
    }
    if !counts.is_empty() {
        let _ = writeln!(
            page,
            "\nPairs of space and budget with a mean no worse than that of the best peer *of that pair*:\n"
        );
        for (engine, won, all) in counts {
            let _ = writeln!(page, "- {engine}: {won} of {all}");
        }
    }
}

fn one_space(page: &mut String, report: &ReplayReport, space: &SpaceResult) {
    let _ = writeln!(
        page,
        "### {}\n\n{}; {} configurations, {} invalid; optimum {:.4} {}.\n",
        space.space, space.about, space.configurations, space.infeasible, space.optimum, space.unit
    );
    header(page, report, "engine");
    for strategy in &space.strategies {
        let cells: Vec<String> = strategy.results.iter().map(|result| format!("{:.4}", result.mean_ratio)).collect();
        let _ = writeln!(page, "| **{}** | {} |", strategy.strategy, cells.join(" | "));
    }
    let cells: Vec<String> = space.random.iter().map(|ratio| format!("{ratio:.4}")).collect();
    let _ = writeln!(page, "| random, expected | {} |", cells.join(" | "));
    let best: Vec<String> = report
        .budgets
        .iter()
        .map(|budget| {
            let rows = space.peers.iter().filter(|row| row.budget == *budget);
            let best = rows.min_by(|left, right| left.mean_ratio.total_cmp(&right.mean_ratio));
            best.map_or_else(String::new, |row| format!("{:.4} {} ({} runs)", row.mean_ratio, row.engine, row.repeats))
        })
        .collect();
    if !space.peers.is_empty() {
        let _ = writeln!(page, "| best peer | {} |", best.join(" | "));
    }
    let _ = writeln!(page);
}
