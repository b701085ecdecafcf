//! Latency over evaluations: a step for every improvement, a dot for every valid candidate, a cross for every rejected one.

use std::fmt::Write as _;

use events::{Stage, Status};

use super::super::record::{EvaluationRecord, RunRecord};
use super::super::units::{factor, microseconds};
use super::axis::{Scale, label};
use super::plot::{WIDTH, escape, open, shortened};

const HEIGHT: f64 = 360.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 118.0;
const TOP: f64 = 14.0;
/// Lower edge of the area for latencies; the strip of rejected candidates is below.
const FLOOR: f64 = 282.0;
const STRIP: f64 = 302.0;

/// The plot for a whole run.
pub(crate) fn search_chart(record: &RunRecord) -> String {
    let valid: Vec<(&EvaluationRecord, f64)> = record
        .evaluations
        .iter()
        .filter(|one| one.status == Status::Valid)
        .filter_map(|one| one.objective_us.filter(|us| *us > 0.0).map(|us| (one, us)))
        .collect();
    let baseline = record.baseline_objective_us;
    let bound = record.bound_objective_us.filter(|us| *us > 0.0);
    let all = valid.iter().map(|(_, us)| *us).chain([baseline]).chain(bound).filter(|us| us.is_finite() && *us > 0.0);
    let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), us| (low.min(us), high.max(us)));
    let (low, high) = if low.is_finite() { (low * 0.9, high * 1.1) } else { (0.1, 1.0) };
    let last = record.evaluations.iter().map(|one| one.index).max().unwrap_or(1) as f64;
    let x = Scale::linear(0.0, last, LEFT, WIDTH - RIGHT);
    let y = Scale::logarithmic(low, high, FLOOR, TOP);

    let best = valid.iter().map(|(_, us)| *us).fold(baseline, f64::min);
    let word = record.origin.word();
    let mut svg = open(
        "search",
        HEIGHT,
        "Latency over evaluations",
        &format!(
            "Best latency so far, {word}, over {} evaluations, from {} down to {}, {}; {} candidates were rejected.",
            record.evaluations.len(),
            microseconds(baseline),
            microseconds(best),
            factor(baseline / best),
            record.evaluations.len() - valid.len(),
        ),
    );
    axes(&mut svg, &x, &y, word);
    levels(&mut svg, &y, &[("unmodified", Some(baseline)), ("bound", bound)]);
    best_line(&mut svg, &x, &y, baseline, last, &valid);
    dots(&mut svg, &x, &y, &valid);
    crosses(&mut svg, &x, record);
    svg.push_str("</svg>");
    svg
}

fn axes(svg: &mut String, x: &Scale, y: &Scale, word: &str) {
    let right = WIDTH - RIGHT;
    for tick in y.ticks(6) {
        let at = y.at(tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            label(tick)
        );
    }
    let _ = write!(svg, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{FLOOR}\" y2=\"{FLOOR}\"/>");
    // There is no half of an evaluation.
    for tick in x.ticks(10).into_iter().filter(|tick| tick.fract() == 0.0) {
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x.at(tick),
            STRIP + 26.0,
            label(tick)
        );
    }
    let middle = f64::midpoint(TOP, FLOOR);
    let _ = write!(
        svg,
        "<text class=\"label\" x=\"14\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {middle})\">\
         latency in us ({word})</text><text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">evaluation</text>\
         <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">rejected</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 10.0,
        LEFT - 8.0,
        STRIP + 4.0,
    );
}

/// Dashed levels with their labels at the right, moved apart where they would meet.
fn levels(svg: &mut String, y: &Scale, levels: &[(&str, Option<f64>)]) {
    let right = WIDTH - RIGHT;
    let mut taken: Vec<f64> = Vec::new();
    for (name, value) in levels {
        let Some(value) = value else { continue };
        let at = y.at(*value);
        let _ = write!(
            svg,
            "<line class=\"level\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>",
            right + 6.0
        );
        let mut text_at = at;
        while taken.iter().any(|other| (other - text_at).abs() < 28.0) {
            text_at += 4.0;
        }
        taken.push(text_at);
        let _ = write!(
            svg,
            "<text class=\"level-label\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>\
             <text class=\"level-value\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            right + 10.0,
            text_at - 1.0,
            right + 10.0,
            text_at + 12.0,
            microseconds(*value)
        );
    }
}

fn best_line(svg: &mut String, x: &Scale, y: &Scale, baseline: f64, last: f64, valid: &[(&EvaluationRecord, f64)]) {
    let mut best = baseline;
    let mut path = format!("M{:.1} {:.1}", x.at(0.0), y.at(best));
    for (evaluation, us) in valid {
        if *us < best {
            best = *us;
            let _ = write!(path, "H{:.1}V{:.1}", x.at(evaluation.index as f64), y.at(best));
        }
    }
    let _ = write!(path, "H{:.1}", x.at(last));
    let _ = write!(svg, "<path class=\"best\" d=\"{path}\"/>");
}

fn dots(svg: &mut String, x: &Scale, y: &Scale, valid: &[(&EvaluationRecord, f64)]) {
    for (evaluation, us) in valid {
        let (cx, cy) = (x.at(evaluation.index as f64), y.at(*us));
        let what = match &evaluation.motif {
            Some(motif) => format!("{motif} {}", evaluation.configuration),
            None => evaluation.configuration.to_string(),
        };
        let tip = format!(
            "#{} {} stage: {}\n{}",
            evaluation.index,
            evaluation.stage.word(),
            microseconds(*us),
            shortened(what.trim(), 200)
        );
        let title = format!("<title>{}</title>", escape(&tip));
        let _ = match evaluation.stage {
            Stage::Host => {
                write!(svg, "<circle class=\"host\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3.6\">{title}</circle>")
            }
            Stage::Kernel => {
                write!(svg, "<path class=\"kernel\" d=\"M{cx:.1} {:.1}l5 5l-5 5l-5 -5z\">{title}</path>", cy - 5.0)
            }
        };
    }
}

fn crosses(svg: &mut String, x: &Scale, record: &RunRecord) {
    for evaluation in record.evaluations.iter().filter(|one| one.status != Status::Valid) {
        let at = x.at(evaluation.index as f64);
        let tip = format!(
            "#{} {} stage: {}\n{}",
            evaluation.index,
            evaluation.stage.word(),
            evaluation.status.word(),
            shortened(evaluation.reason.as_deref().unwrap_or("no reason recorded"), 200)
        );
        let _ = write!(
            svg,
            "<path class=\"rejected\" d=\"M{:.1} {:.1}l6 6m0 -6l-6 6\"><title>{}</title></path>",
            at - 3.0,
            STRIP - 3.0,
            escape(&tip)
        );
    }
}
