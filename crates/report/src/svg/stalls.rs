//! Time lost to waiting, before and after, by pipe and reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aicore::Profile;

use super::super::units::microseconds;
use super::axis::Scale;
use super::plot::{WIDTH, escape, open, shortened};

const LEFT: f64 = 250.0;
const RIGHT: f64 = 90.0;
const ROW: f64 = 40.0;
/// Reasons shown, those that cost most first.
const ROWS: usize = 8;

/// The bars of a case; `None` where nothing waited.
pub(crate) fn stall_bars(id: &str, before: Option<&Profile>, after: Option<&Profile>, origin: &str) -> Option<String> {
    let mut times: BTreeMap<(&str, &str), [f64; 2]> = BTreeMap::new();
    for (column, profile) in [before, after].into_iter().enumerate() {
        for stall in profile.into_iter().flat_map(|one| &one.stalls) {
            times.entry((&stall.pipe, &stall.reason)).or_default()[column] += stall.time_us;
        }
    }
    let mut rows: Vec<((&str, &str), [f64; 2])> =
        times.into_iter().filter(|(_, both)| both[0] + both[1] > 0.0).collect();
    rows.sort_by(|left, right| right.1[0].max(right.1[1]).total_cmp(&left.1[0].max(left.1[1])));
    rows.truncate(ROWS);
    let longest = rows.iter().map(|(_, both)| both[0].max(both[1])).fold(0.0, f64::max);
    if rows.is_empty() || !longest.is_finite() {
        return None;
    }
    let sum = |column: usize| rows.iter().map(|(_, both)| both[column]).sum::<f64>();
    let mut svg = open(
        id,
        rows.len() as f64 * ROW + 4.0,
        "Time lost to waiting",
        &format!(
            "The {} largest reasons, {origin}, mean over cores: {} before, {} after.",
            rows.len(),
            microseconds(sum(0)),
            microseconds(sum(1))
        ),
    );
    let x = Scale::linear(0.0, longest, LEFT, WIDTH - RIGHT);
    for (position, ((pipe, reason), both)) in rows.iter().enumerate() {
        let top = position as f64 * ROW;
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 10.0,
            top + 22.0,
            escape(&shortened(&format!("{pipe} waits for {reason}"), 38)),
        );
        for (column, (class, name)) in [("before", "before"), ("after", "after")].into_iter().enumerate() {
            let us = both[column];
            let at = top + 5.0 + column as f64 * 14.0;
            let end = x.at(us);
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{at:.1}\" width=\"{:.1}\" height=\"12\"><title>{}</title></rect>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                (end - LEFT).max(if us > 0.0 { 1.0 } else { 0.0 }),
                escape(&format!("{name}: {pipe} waits for {reason}: {}", microseconds(us))),
                end + 6.0,
                at + 10.0,
                if us > 0.0 { microseconds(us) } else { "none".to_owned() },
            );
        }
    }
    svg.push_str("</svg>");
    Some(svg)
}
