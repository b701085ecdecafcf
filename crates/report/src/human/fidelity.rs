//! The fidelity report as text.

use std::fmt::Write as _;

use events::fidelity::{Calibration, Report};

use super::table::{Align, table};

/// Error above which a row is shown without being asked for.
const SHOWN_ERROR: f64 = 0.25;

/// Result of `fidelity`; all rows when `verbose`, else those that are a quarter off or have no figure.
pub(super) fn fidelity(report: &Report, verbose: bool) -> String {
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

/// Result of `calibrate`.
pub(super) fn calibration(calibration: &Calibration) -> String {
    let constants: Vec<Vec<String>> = calibration
        .constants
        .iter()
        .map(|constant| {
            vec![
                constant.name.clone(),
                format!("{:.4}", constant.before),
                format!("{:.4}", constant.after),
                constant.unit.clone(),
                constant.rows.to_string(),
                constant.kernels.to_string(),
            ]
        })
        .collect();
    let columns = [
        ("constant", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("unit", Align::Left),
        ("rows", Align::Right),
        ("kernels", Align::Right),
    ];
    let mut text = table(&columns, &constants);
    let rows: Vec<Vec<String>> = calibration
        .residuals
        .iter()
        .map(|row| {
            vec![
                row.case.clone(),
                format!("{:?}", row.metric).to_lowercase(),
                format!("{:.3}", row.before),
                format!("{:.3}", row.after),
                format!("{:.3}", row.left_out),
            ]
        })
        .collect();
    let columns = [
        ("modelled over published", Align::Left),
        ("of", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("kernel left out", Align::Right),
    ];
    text.push('\n');
    text.push_str(&table(&columns, &rows));
    for (name, errors) in [("median", calibration.median), ("90th percentile", calibration.p90)] {
        let [before, after, left_out] = errors.map(|error| format!("{:.1} %", 100.0 * error));
        let _ = writeln!(text, "{name} of the error: {before} before, {after} after, {left_out} for kernels left out");
    }
    text
}
