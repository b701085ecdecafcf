//! The fidelity report as text.

use std::fmt::Write as _;

use super::super::event::Fidelity;
use super::table::{Align, table};

/// Error above which a row is shown without being asked for.
const SHOWN_ERROR: f64 = 0.25;

/// Result of `fidelity`; all rows when `verbose`, else those that are a quarter off or have no figure.
pub(super) fn fidelity(report: &Fidelity, verbose: bool) -> String {
    let mut rows = Vec::new();
    let mut hidden = 0;
    for row in &report.rows {
        if !verbose && row.error().is_some_and(|error| error <= SHOWN_ERROR) {
            hidden += 1;
            continue;
        }
        let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        rows.push(vec![
            row.case.clone(),
            format!("{:?}", row.metric).to_lowercase(),
            row.unit.clone(),
            format!("{:.2}", row.published),
            figure(row.modelled),
            figure(row.ratio()),
            if row.modelled.is_some() { String::new() } else { row.note.clone() },
        ]);
    }
    let columns = [
        ("case", Align::Left),
        ("of", Align::Left),
        ("unit", Align::Left),
        ("published", Align::Right),
        ("modelled", Align::Right),
        ("ratio", Align::Right),
        ("", Align::Left),
    ];
    let mut text = table(&columns, &rows);
    if hidden > 0 {
        let _ = writeln!(text, "{hidden} more rows are within 25 %; -v shows them");
    }
    let groups: Vec<Vec<String>> = report
        .groups
        .iter()
        .chain(&report.categories)
        .map(|group| {
            vec![
                group.name.clone(),
                group.rows.to_string(),
                format!("{:.1} %", 100.0 * group.median),
                format!("{:.1} %", 100.0 * group.p90),
            ]
        })
        .collect();
    let columns = [
        ("rows of", Align::Left),
        ("count", Align::Right),
        ("median error", Align::Right),
        ("90th percentile", Align::Right),
    ];
    text.push('\n');
    text.push_str(&table(&columns, &groups));
    let tau = report.mean_tau().map_or_else(|| "-".to_owned(), |tau| format!("{tau:.2}"));
    let _ = writeln!(
        text,
        "\nmean of Kendall's tau over {} kernels: {tau}; {} of {} speed-ups modelled as slow-downs",
        report.orders.len(),
        report.reversed.len(),
        report.speed_ups
    );
    text
}
