//! `comparison.html`: two runs on one page, with the timelines of both winners one above the other.

use events::RunComparison;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};

use super::html::{RenderError, STYLE, TIMELINE_SCRIPT, timeline_value};
use super::record::RunRecord;
use super::svg::{Side, timelines};
use super::units::{factor, microseconds, seconds};

const TEMPLATE: &str = include_str!("../../../templates/comparison.html");
/// A cell of what is not there.
const NONE: &str = "–";

/// The page as text. The records are those that were compared, the other one first.
///
/// # Errors
/// Where the template does not fit: a bug of ours.
pub fn render_comparison(comparison: &RunComparison, records: [&RunRecord; 2]) -> Result<String, RenderError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("comparison.html", TEMPLATE)?;
    Ok(environment.get_template("comparison.html")?.render(page(comparison, records))?)
}

fn page(comparison: &RunComparison, records: [&RunRecord; 2]) -> Value {
    let time = |us: Option<f64>| us.map_or_else(|| NONE.to_owned(), microseconds);
    let gain = |gain: Option<f64>| gain.map_or_else(|| NONE.to_owned(), factor);
    let this = &comparison.runs[1];
    let runs = comparison.runs.iter().map(|run| {
        context! {
            record => run.record.as_str(),
            operator => run.operator.as_str(),
            tool => run.tool.as_str(),
            origin => run.origin.word(),
            machine => run.machine.as_str(),
            machine_version => run.machine_version.as_str(),
            seed => run.seed,
            budget => run.budget,
            evaluations => run.evaluations,
            rejected => run.rejected,
            claimed => factor(run.claimed),
            wall => seconds(run.wall_s),
        }
    });
    let cases = comparison.cases.iter().map(|case| {
        context! {
            name => case.name.as_str(),
            differs => case.differs,
            baselines => case.baseline_us.map(time).to_vec(),
            bests => case.best_us.map(time).to_vec(),
            ratio => gain(case.ratio),
            faster => case.ratio.is_some_and(|ratio| ratio > 1.0),
            slower => case.ratio.is_some_and(|ratio| ratio < 1.0),
        }
    });
    let steps = comparison.steps.iter().map(|step| {
        let gains = step.gains.map(gain).to_vec();
        context! { title => step.title.as_str(), stage => step.stage.word(), motif => step.motif.as_deref(), gains }
    });
    let tunables = comparison.tunables.iter().map(|one| {
        let values: Vec<String> =
            one.values.iter().map(|value| value.clone().unwrap_or_else(|| NONE.to_owned())).collect();
        context! { name => one.name.as_str(), values, changed => one.values[0] != one.values[1] }
    });
    let hazards = comparison.hazards.iter();
    let hazards = hazards.map(|one| context! { text => one.text.as_str(), known => one.known.to_vec() });
    let words = match comparison.ratio {
        Some(ratio) if ratio > 1.0 => format!("{} faster", factor(ratio)),
        Some(ratio) if ratio < 1.0 => format!("{} slower", factor(1.0 / ratio)),
        Some(_) => "as fast".to_owned(),
        None => "not compared".to_owned(),
    };
    context! {
        operator => this.operator.as_str(),
        origin => this.origin.word(),
        words,
        faster => comparison.ratio.is_some_and(|ratio| ratio >= 1.0),
        exact => comparison.exact,
        incomparable => comparison.incomparable.clone(),
        runs => runs.collect::<Vec<_>>(),
        cases => cases.collect::<Vec<_>>(),
        steps => steps.collect::<Vec<_>>(),
        tunables => tunables.collect::<Vec<_>>(),
        hazards => hazards.collect::<Vec<_>>(),
        timelines => winners(comparison, records),
        style => Value::from_safe_string(STYLE.to_owned()),
        timeline_script => Value::from_safe_string(TIMELINE_SCRIPT.to_owned()),
    }
}

/// Timelines of both winners, on one scale of time where times are comparable and on two pictures where they are not.
fn winners(comparison: &RunComparison, records: [&RunRecord; 2]) -> Vec<Value> {
    let mut shown = Vec::new();
    for (index, case) in comparison.cases.iter().enumerate() {
        let sides = ["Other", "This"].into_iter().zip(records).zip(&comparison.runs);
        let sides: Vec<(Side<'_>, &str)> = sides
            .filter_map(|((name, record), run)| {
                let profile = record.cases.iter().find(|one| one.name == case.name)?.after.as_ref()?;
                Some((Side { name, profile, sites: &record.sites }, run.origin.word()))
            })
            .collect();
        let together = comparison.incomparable.is_empty() && !case.differs;
        let pictures = sides.chunks(if together { 2 } else { 1 }).enumerate().filter_map(|(part, chunk)| {
            let sides: Vec<Side<'_>> = chunk.iter().map(|(side, _)| *side).collect();
            timelines(&format!("winners-{index}-{part}"), &sides, chunk[0].1).map(timeline_value)
        });
        let pictures: Vec<Value> = pictures.collect();
        if !pictures.is_empty() {
            shown.push(context! { name => case.name.as_str(), pictures, open => shown.is_empty() });
        }
    }
    shown
}
