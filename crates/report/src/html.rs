//! `report.html`: a finished run on one page that needs nothing else, neither files nor a network. Its one script makes parts of timelines larger;
//! without it they are still pictures.

use std::collections::BTreeMap;

use aicore::{PipeTimes, Profile};
use events::{Generalisation, KnownHazard, PathReport, ProbeResult, Stage, Status};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};
use space::Configuration;

use super::record::{CaseRecord, ChangeRecord, FileDiff, RunRecord};
use super::svg::{Side, Timelines, lineage, search_chart, stall_bars, timelines};
use super::units::{
    bytes, factor, limiter, microseconds, path_shown, path_words, percent, percent_of_bound, place, seconds,
};

const TEMPLATE: &str = include_str!("../../../templates/report.html");
/// How pages look.
pub(super) const STYLE: &str = include_str!("../../../templates/report.css");
/// What makes parts of timelines larger, and where it takes its place in a page.
pub(super) const TIMELINE_SCRIPT: &str = include_str!("../../../templates/timeline.js");
/// Rejected candidates listed one by one; the counts cover all.
const REJECTED_ROWS: usize = 500;
/// How a cap is said that limits nothing.
const NO_LIMIT: &str = "no limit";
/// Changes below this factor brought nothing that the report should praise.
const NO_GAIN: f64 = 1.0005;

/// The template does not fit the record: a bug of ours.
#[derive(Debug, thiserror::Error)]
#[error("the report template does not fit the record: {0}")]
pub struct RenderError(#[from] minijinja::Error);

/// The page as text.
pub fn render_html(record: &RunRecord) -> Result<String, RenderError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("report.html", TEMPLATE)?;
    Ok(environment.get_template("report.html")?.render(page(record))?)
}

fn page(record: &RunRecord) -> Value {
    let valid = record.evaluations.iter().filter(|one| one.status == Status::Valid).count();
    let best = record.baseline_objective_us / record.speedup;
    let share = record.bound_objective_us.and_then(|bound| percent_of_bound(best, bound));
    let contributions: Vec<Value> = [("host", record.stages.host), ("kernel", record.stages.kernel)]
        .into_iter()
        .map(|(name, stage)| context! { name, gain => factor(stage.gain), evaluations => stage.evaluations })
        .collect();
    context! {
        operator => record.operator.as_str(),
        lineage => lineage(&record.lineage).map(Value::from_safe_string),
        kernel => record.kernel.as_str(),
        layout => record.layout.as_str(),
        tool => record.tool.as_str(),
        backend => record.backend.as_str(),
        origin => record.origin.word(),
        machine => record.machine.name.as_str(),
        machine_version => record.machine.version.as_str(),
        machine_digest => record.machine.digest.as_str(),
        machine_facts => pairs(&record.machine.facts),
        environment => pairs(&record.environment),
        seed => record.seed,
        budget => record.budget,
        wall => seconds(record.wall_s),
        claimed => factor(record.claimed),
        speedup => factor(record.speedup),
        faster => record.speedup > NO_GAIN,
        baseline => microseconds(record.baseline_objective_us),
        best => microseconds(best),
        share => share.map(percent),
        evaluations => record.evaluations.len(),
        rejected_count => record.evaluations.len() - valid,
        contributions,
        cases => record.cases.iter().map(|case| case_row(case, record.origin.word())).collect::<Vec<_>>(),
        profiles => profiles(record),
        chart => Value::from_safe_string(search_chart(record)),
        changes => record.changes.iter().map(change).collect::<Vec<_>>(),
        tunables => tunables(record),
        diffs => record.diffs.iter().map(diff).collect::<Vec<_>>(),
        rejections => rejections(record),
        rejected => rejected(record),
        rejected_limit => REJECTED_ROWS,
        style => Value::from_safe_string(STYLE.to_owned()),
        timeline_script => Value::from_safe_string(TIMELINE_SCRIPT.to_owned()),
        known => record.known.iter().map(known).collect::<Vec<_>>(),
        generalisation => record.generalisation.as_ref().map(generalisation),
        taken_back => record.taken_back.iter().map(|step| context! { step => step.step.as_str(), why => step.why.as_str() }).collect::<Vec<_>>(),
    }
}

fn generalisation(general: &Generalisation) -> Value {
    let probe = |probe: &ProbeResult| {
        context! { name => probe.name.as_str(), speedup => factor(probe.speedup), compared => probe.compared }
    };
    context! {
        seed => general.seed,
        speedup => (!general.unconfirmed).then(|| factor(general.speedup)),
        worst => general.worst().map(probe),
        probes => general.probes.iter().map(probe).collect::<Vec<_>>(),
        joined => general.joined.join(", "),
        representing => general.representing.join(", "),
        faulty => general.faulty.clone(),
        at_fault => general.at_fault,
    }
}

fn known(hazard: &KnownHazard) -> Value {
    context! { text => hazard.to_string(), statement => hazard.statement.as_str(), allowed => hazard.allowed.as_deref() }
}

fn pairs(map: &BTreeMap<String, String>) -> Vec<Value> {
    map.iter().map(|(name, value)| context! { name => name.as_str(), value => value.as_str() }).collect()
}

/// A number for a cell, a dash where there is none.
fn cell(us: Option<f64>) -> String {
    us.map_or_else(|| "–".to_owned(), microseconds)
}

fn case_row(case: &CaseRecord, origin: &str) -> Value {
    let speedup = match (case.baseline_us, case.best_us) {
        (Some(baseline), Some(best)) if best > 0.0 => Some(baseline / best),
        _ => None,
    };
    let bound = case.after.as_ref().map(|profile| profile.bound_us);
    let share = case.best_us.zip(bound).and_then(|(best, bound)| percent_of_bound(best, bound));
    context! {
        name => case.name.as_str(),
        description => case.description.as_str(),
        timed => case.baseline_us.is_some(),
        baseline => cell(case.baseline_us),
        best => cell(case.best_us),
        speedup => speedup.map_or_else(|| "–".to_owned(), factor),
        bound => cell(bound),
        share => share.map(percent),
        share_width => share.map(|share| format!("{share:.0}")),
        limiter => case.after.as_ref().map(|profile| limiter(profile.limiter)),
        published => case.published_us.map(microseconds),
        published_note => case
            .published_us
            .zip(case.baseline_us)
            .map(|(published, baseline)| format!("{origin} over published {:.2}", baseline / published)),
    }
}

fn profiles(record: &RunRecord) -> Vec<Value> {
    let origin = record.origin.word();
    record
        .cases
        .iter()
        .enumerate()
        .filter(|(_, case)| case.before.is_some() || case.after.is_some())
        .map(|(index, case)| {
            let (before, after) = (case.before.as_ref(), case.after.as_ref());
            let sides = [("Before", before), ("After", after)];
            let sides = sides.iter().filter_map(|(name, profile)| profile.map(|profile| (*name, profile)));
            let sides: Vec<Side<'_>> =
                sides.map(|(name, profile)| Side { name, profile, sites: &record.sites }).collect();
            let timeline = timelines(&format!("timeline-{index}"), &sides, origin);
            let stalls = stall_bars(&format!("stalls-{index}"), before, after, origin);
            context! {
                name => case.name.as_str(),
                open => index == 0,
                summary => format!("{} → {}", cell(case.baseline_us), cell(case.best_us)),
                timeline => timeline.map(timeline_value),
                stalls => stalls.map(Value::from_safe_string),
                pipes => pipe_rows(before, after),
                paths => [("before", &case.path_before), ("after", &case.path_after)]
                    .into_iter()
                    .filter(|(_, steps)| !steps.is_empty())
                    .map(|(side, steps)| path(side, steps))
                    .collect::<Vec<_>>(),
                facts => fact_rows(before, after),
            }
        })
        .collect()
}

/// A timeline as the template has it.
pub(super) fn timeline_value(timeline: Timelines) -> Value {
    context! { svg => Value::from_safe_string(timeline.svg), data => Value::from_safe_string(timeline.data) }
}

fn pipe_rows(before: Option<&Profile>, after: Option<&Profile>) -> Vec<Value> {
    type Select = fn(&PipeTimes) -> f64;
    let pipes: [(&str, &str, Select); 7] = [
        ("mte2", "MTE2, global memory in", |pipes| pipes.mte2_us),
        ("mte1", "MTE1, L1 to L0", |pipes| pipes.mte1_us),
        ("m", "cube", |pipes| pipes.cube_us),
        ("v", "vector", |pipes| pipes.vec_us),
        ("fix", "fixpipe", |pipes| pipes.fixpipe_us),
        ("mte3", "MTE3, global memory out", |pipes| pipes.mte3_us),
        ("s", "scalar", |pipes| pipes.scalar_us),
    ];
    let busy = |profile: Option<&Profile>, select: Select| {
        profile.map(|one| {
            let us = select(&one.pipes);
            let share = if one.longest_core_us > 0.0 { 100.0 * us / one.longest_core_us } else { 0.0 };
            context! { us => microseconds(us), share => percent(share), width => format!("{:.1}", share.clamp(0.0, 100.0)) }
        })
    };
    pipes
        .into_iter()
        .filter(|(_, _, select)| [before, after].into_iter().flatten().any(|one| select(&one.pipes) > 0.0))
        .map(|(pipe, name, select)| context! { pipe, name, before => busy(before, select), after => busy(after, select) })
        .collect()
}

/// The critical path as `profile` shows it.
fn path(side: &str, steps: &[PathReport]) -> Value {
    let shown = path_shown(steps);
    let rest = &steps[shown.len()..];
    let rows = shown.iter().map(|step| {
        context! {
            pipe => step.pipe.as_str(),
            share => percent(100.0 * step.share),
            width => format!("{:.1}", (100.0 * step.share).clamp(0.0, 100.0)),
            us => microseconds(step.time_us),
            what => path_words(step),
            place => place(&step.file, step.line),
            via => step.via.as_str(),
        }
    });
    context! {
        side,
        steps => rows.collect::<Vec<_>>(),
        smaller => rest.len(),
        smaller_share => percent(100.0 * rest.iter().map(|step| step.share).sum::<f64>()),
    }
}

fn fact_rows(before: Option<&Profile>, after: Option<&Profile>) -> Vec<Value> {
    type Show = fn(&Profile) -> String;
    let facts: [(&str, Show); 6] = [
        ("task duration", |one| microseconds(one.task_us)),
        ("lower bound", |one| microseconds(one.bound_us)),
        ("limited by", |one| limiter(one.limiter).to_owned()),
        ("cores", |one| one.cores.to_string()),
        ("shortest and longest core", |one| {
            format!("{} to {}", microseconds(one.shortest_core_us), microseconds(one.longest_core_us))
        }),
        ("global memory", |one| format!("{} in, {} out", bytes(one.gm_read_bytes), bytes(one.gm_write_bytes))),
    ];
    let text = |profile: Option<&Profile>, show: Show| profile.map_or_else(|| "–".to_owned(), show);
    facts
        .into_iter()
        .map(|(name, show)| context! { name, before => text(before, show), after => text(after, show) })
        .collect()
}

fn change(change: &ChangeRecord) -> Value {
    context! {
        stage => change.stage.word(),
        kernel => change.stage == Stage::Kernel,
        title => change.title.as_str(),
        motif => change.motif.as_deref(),
        effect => change.effect.as_str(),
        gain => factor(change.gain),
        useful => change.gain > NO_GAIN,
        diffs => change.diffs.iter().map(diff).collect::<Vec<_>>(),
    }
}

fn diff(diff: &FileDiff) -> Value {
    let kind = |line: &str| match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
        [b'@', ..] => "hunk",
        [b'+', ..] => "add",
        [b'-', ..] => "del",
        _ => "same",
    };
    let changed =
        |sign: char| diff.unified.lines().filter(|line| line.starts_with(sign) && kind(line) != "file").count();
    context! {
        file => diff.file.as_str(),
        added => changed('+'),
        removed => changed('-'),
        lines => diff.unified.lines().map(|text| context! { kind => kind(text), text }).collect::<Vec<_>>(),
    }
}

/// The value of a tunable for people. Zero is no limit where the tunable is one.
pub(super) fn setting(record: &RunRecord, name: &str, configuration: &Configuration) -> String {
    match configuration.get(name) {
        None => NO_LIMIT.to_owned(),
        Some(space::Value::Int(0)) if record.caps.contains(name) => NO_LIMIT.to_owned(),
        Some(value) => value.to_string(),
    }
}

fn tunables(record: &RunRecord) -> Vec<Value> {
    let names: std::collections::BTreeSet<&str> =
        record.baseline_configuration.iter().chain(record.configuration.iter()).map(|(name, _)| name).collect();
    names
        .into_iter()
        .map(|name| {
            let before = setting(record, name, &record.baseline_configuration);
            let after = setting(record, name, &record.configuration);
            context! { name, changed => before != after, before, after }
        })
        .collect()
}

/// Number of rejections by status, most frequent first.
fn rejections(record: &RunRecord) -> Vec<Value> {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for evaluation in record.evaluations.iter().filter(|one| one.status != Status::Valid) {
        *counts.entry(evaluation.status).or_default() += 1;
    }
    let mut counts: Vec<(Status, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
    counts.into_iter().map(|(status, count)| context! { status => status.word(), count }).collect()
}

fn rejected(record: &RunRecord) -> Vec<Value> {
    record
        .evaluations
        .iter()
        .filter(|one| one.status != Status::Valid)
        .take(REJECTED_ROWS)
        .map(|one| {
            context! {
                index => one.index,
                stage => one.stage.word(),
                motif => one.motif.as_deref(),
                configuration => one.configuration.to_string(),
                status => one.status.word(),
                reason => one.reason.as_deref().unwrap_or("no reason recorded"),
            }
        })
        .collect()
}
