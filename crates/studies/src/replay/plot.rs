//! Convergence of all strategies on all spaces as one SVG of small charts.

use std::fmt::Write as _;

use events::replay::{ReplayReport, SpaceResult};

const PANEL_WIDTH: f64 = 300.0;
const PANEL_HEIGHT: f64 = 190.0;
const LEFT: f64 = 42.0;
const TOP: f64 = 24.0;
const RIGHT: f64 = 10.0;
const BOTTOM: f64 = 24.0;
const COLUMNS: usize = 3;
/// Colours that stay apart for the colour-blind (Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"];
/// Evaluations before this say more of luck than of strategies.
const FIRST: usize = 5;

/// The chart: mean best-over-optimum by evaluations, both on logarithmic scales; circles are the best peer per budget.
pub fn convergence(report: &ReplayReport) -> String {
    let rows = report.spaces.len().div_ceil(COLUMNS);
    let (width, height) = (PANEL_WIDTH * COLUMNS as f64, PANEL_HEIGHT * rows as f64 + 30.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (at, space) in report.spaces.iter().enumerate() {
        let (x, y) = (PANEL_WIDTH * (at % COLUMNS) as f64, PANEL_HEIGHT * (at / COLUMNS) as f64);
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        panel(&mut svg, space);
        svg.push_str("</g>\n");
    }
    let y = height - 12.0;
    let names = report.spaces.first().map_or(&[][..], |space| space.strategies.as_slice());
    let labels = names.iter().map(|strategy| strategy.strategy.as_str()).zip(COLOURS).chain([("best peer", "black")]);
    for (at, (name, colour)) in labels.enumerate() {
        let x = 20.0 + 110.0 * at as f64;
        let _ = writeln!(svg, "<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{colour}\"/>", y - 5.0);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{y}\">{name}</text>", x + 18.0);
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, space: &SpaceResult) {
    let last = space.strategies.iter().map(|strategy| strategy.curve.len()).max().unwrap_or(FIRST).max(FIRST + 1);
    let highest = space.strategies.iter().filter_map(|strategy| strategy.curve.get(FIRST - 1)).copied();
    let highest = highest.fold(1.01, f64::max);
    // Distance from the optimum by its logarithm, cut off at one in a thousand.
    let level = |ratio: f64| (ratio - 1.0).max(1e-3).ln();
    let (low, high) = (level(1.0), level(highest));
    let x = |evaluations: usize| {
        let share = (evaluations as f64 / FIRST as f64).ln() / (last as f64 / FIRST as f64).ln();
        LEFT + share * (PANEL_WIDTH - LEFT - RIGHT)
    };
    let y = |ratio: f64| {
        let share = (level(ratio) - low) / (high - low);
        PANEL_HEIGHT - BOTTOM - share.clamp(0.0, 1.0) * (PANEL_HEIGHT - TOP - BOTTOM)
    };
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"14\" font-weight=\"bold\">{}</text>", space.space);
    for ratio in [1.001, 1.01, 1.1, 2.0, 11.0] {
        if ratio <= highest {
            let at = y(ratio);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{ratio}</text>",
                PANEL_WIDTH - RIGHT,
                LEFT - 4.0,
                at + 3.0
            );
        }
    }
    for evaluations in [10, 25, 50, 100, 200, 500, 1000, 2000] {
        if evaluations <= last {
            let at = x(evaluations);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{evaluations}</text>",
                PANEL_HEIGHT - BOTTOM + 13.0
            );
        }
    }
    for (strategy, colour) in space.strategies.iter().zip(COLOURS) {
        let points: Vec<String> = strategy
            .curve
            .iter()
            .enumerate()
            .skip(FIRST - 1)
            .map(|(at, ratio)| format!("{:.1},{:.1}", x(at + 1), y(*ratio)))
            .collect();
        let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>", points.join(" "));
    }
    let mut budgets: Vec<usize> = space.peers.iter().map(|row| row.budget).filter(|budget| *budget <= last).collect();
    budgets.sort_unstable();
    budgets.dedup();
    for budget in budgets {
        let rows = space.peers.iter().filter(|row| row.budget == budget);
        if let Some(best) = rows.map(|row| row.mean_ratio).min_by(f64::total_cmp) {
            let _ = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>", x(budget), y(best));
        }
    }
}
