//! What every pipe did, before and after, on one time scale.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aicore::{Interval, Profile};

use super::super::trace::PIPES;
use super::super::units::microseconds;
use super::axis::{Scale, label};
use super::plot::{WIDTH, escape, open};

const LEFT: f64 = 74.0;
const RIGHT: f64 = 14.0;
const LANE: f64 = 20.0;
const BAR: f64 = 15.0;
const HEADING: f64 = 26.0;
const AXIS: f64 = 34.0;
/// Gaps narrower than this are not visible; the intervals around them become one mark.
const GAP: f64 = 0.35;
/// From this ratio of lengths on, the shorter timeline is shown enlarged as well.
const ENLARGE: f64 = 2.5;

/// A mark: one interval, or several too close to tell apart.
struct Mark<'a> {
    start_us: f64,
    end_us: f64,
    busy_us: f64,
    count: usize,
    first: &'a Interval,
}

/// Both timelines of a case; `None` where there is nothing to show. `id` is unique in the page.
pub(crate) fn timelines(
    id: &str,
    before: Option<&Profile>,
    after: Option<&Profile>,
    origin: &str,
    sites: &BTreeMap<u64, String>,
) -> Option<String> {
    let present: Vec<(&str, &Profile)> = [("Before", before), ("After", after)]
        .into_iter()
        .filter_map(|(name, profile)| profile.filter(|one| !one.timeline.is_empty()).map(|one| (name, one)))
        .collect();
    let span = present.iter().map(|(_, profile)| length_us(profile)).fold(0.0, f64::max);
    if present.is_empty() || span <= 0.0 {
        return None;
    }
    let mut panels: Vec<(String, &Profile, f64)> =
        present.iter().map(|(name, profile)| ((*name).to_owned(), *profile, span)).collect();
    if let Some((name, shorter)) = present.last() {
        let length = length_us(shorter);
        if length > 0.0 && span / length > ENLARGE {
            panels.push((format!("{name}, enlarged {:.1} times", span / length), shorter, length));
        }
    }
    let lanes: Vec<(usize, &str)> = PIPES
        .iter()
        .enumerate()
        .filter(|(_, (pipe, _))| present.iter().any(|(_, one)| one.timeline.iter().any(|mark| mark.pipe == *pipe)))
        .map(|(index, (pipe, _))| (index, *pipe))
        .collect();
    let panel_height = HEADING + lanes.len() as f64 * LANE + AXIS;
    let lengths: Vec<String> = present
        .iter()
        .map(|(name, profile)| format!("{}: {}", name.to_lowercase(), microseconds(profile.longest_core_us)))
        .collect();
    let mut svg = open(
        id,
        panels.len() as f64 * panel_height,
        "Pipe timelines of the longest core",
        &format!("Busy intervals of each pipe, {origin}. Longest core {}.", lengths.join(", ")),
    );
    for (position, (name, profile, span)) in panels.iter().enumerate() {
        panel(&mut svg, position as f64 * panel_height, name, profile, *span, &lanes, origin, sites);
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn length_us(profile: &Profile) -> f64 {
    profile.timeline.iter().map(|one| one.end_us).filter(|end| end.is_finite()).fold(0.0, f64::max)
}

#[expect(clippy::too_many_arguments, reason = "one call, and a struct would only repeat the names")]
fn panel(
    svg: &mut String,
    top: f64,
    name: &str,
    profile: &Profile,
    span_us: f64,
    lanes: &[(usize, &str)],
    origin: &str,
    sites: &BTreeMap<u64, String>,
) {
    let right = WIDTH - RIGHT;
    let x = Scale::linear(0.0, span_us, LEFT, right);
    let shown = length_us(profile);
    let cut = if shown < profile.longest_core_us * 0.98 {
        format!(", the first {} of {} are recorded", microseconds(shown), microseconds(profile.longest_core_us))
    } else {
        format!(", {}", microseconds(profile.longest_core_us))
    };
    let _ = write!(
        svg,
        "<text class=\"heading\" x=\"0\" y=\"{:.1}\">{} <tspan class=\"tick\">longest core{} ({origin})</tspan></text>",
        top + 16.0,
        escape(name),
        cut
    );
    let first_lane = top + HEADING;
    let floor = first_lane + lanes.len() as f64 * LANE;
    for tick in x.ticks(8) {
        let at = x.at(tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{first_lane:.1}\" y2=\"{floor:.1}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} us</text>",
            floor + 15.0,
            label(tick)
        );
    }
    for (row, (_, pipe)) in lanes.iter().enumerate() {
        let lane = first_lane + row as f64 * LANE;
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"lane\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BAR}\"/>",
            LEFT - 8.0,
            lane + 13.0,
            short_name(pipe),
            lane + 2.0,
            (x.at(shown) - LEFT).max(0.0),
        );
        for mark in marks(profile, pipe, span_us / (right - LEFT) * GAP) {
            let (from, to) = (x.at(mark.start_us), x.at(mark.end_us));
            let length = mark.end_us - mark.start_us;
            let share = if length > 0.0 { (mark.busy_us / length).clamp(0.15, 1.0) } else { 1.0 };
            let _ = write!(
                svg,
                "<rect class=\"pipe-{pipe}\" x=\"{from:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{BAR}\"",
                lane + 2.0,
                (to - from).max(0.4),
            );
            if share < 0.995 {
                let _ = write!(svg, " fill-opacity=\"{share:.2}\"");
            }
            let _ = write!(svg, "><title>{}</title></rect>", escape(&tooltip(&mark, sites)));
        }
    }
    let _ = write!(svg, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{floor:.1}\" y2=\"{floor:.1}\"/>");
}

fn tooltip(mark: &Mark<'_>, sites: &BTreeMap<u64, String>) -> String {
    let place = sites.get(&mark.first.site).map(|site| format!("\n{site}")).unwrap_or_default();
    let time = format!("{} at {}", microseconds(mark.end_us - mark.start_us), microseconds(mark.start_us));
    match mark.count {
        1 => format!("{}: {time}{place}", mark.first.opcode),
        count => format!(
            "{count} instructions from {}: {time}, busy {}{place}",
            mark.first.opcode,
            microseconds(mark.busy_us)
        ),
    }
}

/// Marks of one pipe; intervals closer than `gap_us` are one.
fn marks<'a>(profile: &'a Profile, pipe: &str, gap_us: f64) -> Vec<Mark<'a>> {
    let mut marks: Vec<Mark<'a>> = Vec::new();
    for interval in profile.timeline.iter().filter(|one| one.pipe == pipe && one.end_us >= one.start_us) {
        let busy_us = interval.end_us - interval.start_us;
        // Two clearly visible neighbours stay apart, so that each keeps its own tooltip.
        let wide = busy_us > gap_us * 8.0;
        match marks.last_mut() {
            Some(last) if interval.start_us - last.end_us < gap_us && !wide && last.busy_us <= gap_us * 8.0 => {
                last.end_us = last.end_us.max(interval.end_us);
                last.busy_us += busy_us;
                last.count += 1;
            }
            _ => marks.push(Mark {
                start_us: interval.start_us,
                end_us: interval.end_us,
                busy_us,
                count: 1,
                first: interval,
            }),
        }
    }
    marks
}

fn short_name(pipe: &str) -> &str {
    match pipe {
        "mte2" => "MTE2 in",
        "mte1" => "MTE1",
        "m" => "cube",
        "v" => "vector",
        "fix" => "fixpipe",
        "mte3" => "MTE3 out",
        "s" => "scalar",
        other => other,
    }
}
