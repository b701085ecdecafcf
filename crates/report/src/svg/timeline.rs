//! What every pipe did, before and after, on one time scale: a still picture of all of it, and the data from which the page's script draws a
//! part of it larger.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aicore::{Interval, Profile};
use serde_json::json;

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

/// A timeline to show.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// Name of the panel, with a capital.
    pub name: &'a str,
    /// What ran.
    pub profile: &'a Profile,
    /// Source lines by instruction site.
    pub sites: &'a BTreeMap<u64, String>,
}

/// The timelines of a case.
pub(crate) struct Timelines {
    /// The picture, whole and still.
    pub svg: String,
    /// Every interval of it as JSON, for the script of the page that shows a part of it larger.
    pub data: String,
}

/// Timelines of a case one above the other; `None` where there is nothing to show. `id` is unique in the page.
pub(crate) fn timelines(id: &str, sides: &[Side<'_>], origin: &str) -> Option<Timelines> {
    let present: Vec<&Side<'_>> = sides.iter().filter(|side| !side.profile.timeline.is_empty()).collect();
    let span = present.iter().map(|side| length_us(side.profile)).fold(0.0, f64::max);
    if present.is_empty() || span <= 0.0 {
        return None;
    }
    // Place of a side, name, and the time that the panel shows.
    let mut panels: Vec<(usize, String, f64)> =
        present.iter().enumerate().map(|(at, side)| (at, side.name.to_owned(), span)).collect();
    if let Some(shorter) = present.last() {
        let length = length_us(shorter.profile);
        if length > 0.0 && span / length > ENLARGE {
            panels.push((present.len() - 1, format!("{}, enlarged {:.1} times", shorter.name, span / length), length));
        }
    }
    let is_used = |pipe: &str| present.iter().any(|side| side.profile.timeline.iter().any(|mark| mark.pipe == pipe));
    let lanes: Vec<&str> = PIPES.iter().map(|(pipe, _)| *pipe).filter(|pipe| is_used(pipe)).collect();
    let panel_height = HEADING + lanes.len() as f64 * LANE + AXIS;
    let lengths: Vec<String> = present
        .iter()
        .map(|side| format!("{}: {}", side.name.to_lowercase(), microseconds(side.profile.longest_core_us)))
        .collect();
    let mut svg = open(
        id,
        panels.len() as f64 * panel_height,
        "Pipe timelines of the longest core",
        &format!("Busy intervals of each pipe, {origin}. Longest core {}.", lengths.join(", ")),
    );
    for (position, (at, name, span)) in panels.iter().enumerate() {
        panel(&mut svg, position as f64 * panel_height, &Side { name, ..*present[*at] }, *span, &lanes, origin);
    }
    svg.push_str("</svg>");
    let shown: Vec<(usize, f64)> = panels.iter().map(|(at, _, span)| (*at, *span)).collect();
    Some(Timelines { svg, data: data(&present, &shown, &lanes, panel_height) })
}

/// What the page's script draws with: geometry, and every interval by side. Times in microseconds.
fn data(sides: &[&Side<'_>], panels: &[(usize, f64)], lanes: &[&str], panel_height: f64) -> String {
    let mut labels: Vec<String> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    // A tenth of a nanosecond is less than a cycle.
    let rounded = |us: f64| (us * 1e4).round() / 1e4;
    let mut intervals_of = |side: &Side<'_>| {
        let mut intervals = Vec::new();
        for one in side.profile.timeline.iter().filter(|one| one.end_us >= one.start_us) {
            let Some(lane) = lanes.iter().position(|pipe| *pipe == one.pipe) else { continue };
            let label =
                side.sites.get(&one.site).map_or_else(|| one.opcode.clone(), |site| format!("{}\n{site}", one.opcode));
            let at = *known.entry(label).or_insert_with_key(|label| {
                labels.push(label.clone());
                labels.len() - 1
            });
            intervals.push(json!([lane, rounded(one.start_us), rounded(one.end_us), at]));
        }
        intervals
    };
    let sides: Vec<_> = sides.iter().map(|side| intervals_of(side)).collect();
    let panels: Vec<_> = panels
        .iter()
        .enumerate()
        .map(|(position, (at, span))| {
            let first = position as f64 * panel_height + HEADING;
            json!({ "side": at, "span": span, "top": first, "floor": first + lanes.len() as f64 * LANE })
        })
        .collect();
    let data = json!({
        "left": LEFT, "right": WIDTH - RIGHT, "lane": LANE, "bar": BAR, "gap": GAP,
        "lanes": lanes, "panels": panels, "sides": sides, "labels": labels,
    });
    // Nothing in it ends the element that it stands in.
    data.to_string().replace('<', "\\u003c")
}

fn length_us(profile: &Profile) -> f64 {
    profile.timeline.iter().map(|one| one.end_us).filter(|end| end.is_finite()).fold(0.0, f64::max)
}

fn panel(svg: &mut String, top: f64, side: &Side<'_>, span_us: f64, lanes: &[&str], origin: &str) {
    let Side { name, profile, sites } = *side;
    let right = WIDTH - RIGHT;
    let x = Scale::linear(0.0, span_us, LEFT, right);
    let shown = length_us(profile);
    let cut = if shown < profile.longest_core_us * 0.98 {
        let instructions = profile.timeline.len();
        let (shown, all) = (microseconds(shown), microseconds(profile.longest_core_us));
        format!(", capped: the first {instructions} instructions, {shown} of {all}")
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
    svg.push_str("<g class=\"ticks\">");
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
    svg.push_str("</g>");
    for (row, pipe) in lanes.iter().enumerate() {
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
        svg.push_str("<g class=\"marks\">");
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
        svg.push_str("</g>");
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
