//! Rows that runs of this project left: what devices measured of its candidates, each run once more on the simulator for its trace.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::args::{CalibrateArgs, Common};
use super::super::output::Output;
use super::super::target::{processors, runtime, worker_exe};
use super::Rows;
use super::measured::{chosen, row};
use aicore::{Machine, Warmth};
use build::sdk::SdkOptions;
use events::{Event, Warning};
use studies::fidelity::{Case, Measured, Recorded, Run, quantile};
use tuner::{Kept, MeasuredOn, Measurement, Plan, TunerError, Workspace, WorkspaceOptions};

/// What was measured of the project's candidates, with their traces.
pub fn rows(
    common: &Common,
    arguments: &CalibrateArgs,
    base: &Machine,
    output: &mut Output,
) -> Result<Rows, TunerError> {
    let options = WorkspaceOptions {
        directory: common.project.clone(),
        machine: Some(arguments.machine.clone()),
        jobs: arguments.jobs.map_or_else(processors, |jobs| jobs as usize),
        worker_exe: worker_exe()?,
        sdk: SdkOptions::from_environment(),
        ..WorkspaceOptions::default()
    };
    let workspace = Workspace::open(options, &mut |_| {})?;
    let kept = Kept::below(&workspace.work_directory, &workspace.manifest.cases)?
        .ok_or_else(|| nothing(&workspace, "nothing was measured on a device here"))?;
    if !kept.on.machine.eq_ignore_ascii_case(&base.name) {
        return Err(TunerError::Usage(format!(
            "what was measured here ran first on the description {}, which decides how it is cut: give --machine {}",
            kept.on.machine,
            kept.on.machine.to_lowercase()
        )));
    }
    let warmth = kept.on.caches.exactly().ok_or_else(|| {
        TunerError::Usage(
            "launches took turns through copies of their tensors, and the model cannot say what L2 held of them: measure with \
             `rotate` = 1"
                .to_owned(),
        )
    })?;
    if !kept.stale.is_empty() {
        let stale: Vec<&str> = kept.stale.iter().map(String::as_str).collect();
        let message = format!("{} were measured when they said something else, and are left out", stale.join(", "));
        warn("stale-measurements", message, output);
    }
    let chosen = chosen(&kept);
    if chosen.is_empty() {
        return Err(nothing(&workspace, "no case of the manifest was measured as it is now"));
    }
    if chosen.len() < kept.times.len() {
        let message = format!(
            "{} of {} measured times are fitted to: of each case some that stand for the range of its times",
            chosen.len(),
            kept.times.len()
        );
        warn("rows-chosen", message, output);
    }
    let (cases, recorded) = traced(&workspace, &kept, &chosen, warmth, base, output)?;
    let spreads: Vec<f64> = chosen.iter().map(|time| time.spread).collect();
    let measured = Measured {
        on: said_of(&kept.on, &workspace.manifest.operator),
        date: Some(date_of(&kept.on)),
        spread: quantile(&spreads, 0.5),
    };
    Ok(Rows {
        machines: cases.iter().map(|case| (case.machine.clone(), base.clone())).collect::<BTreeMap<_, _>>(),
        cases,
        recorded,
        digest: kept.digest.clone(),
        constants: movable(base),
        all_hoped_for: false,
        measured: Some(measured),
    })
}

/// Constants that one operator may tell of: nobody knows beforehand which it uses. Sizes are none of them, which the model takes in whole
/// steps.
fn movable(base: &Machine) -> Vec<String> {
    let all = base.constants.iter();
    let movable = all.filter(|(_, known)| known.confidence.may_be_fitted() && known.unit != "bytes");
    movable.map(|(name, _)| name.clone()).collect()
}

/// The measurements as rows, and the traces of their candidates.
fn traced(
    workspace: &Workspace,
    kept: &Kept,
    chosen: &[&Measurement],
    warmth: Warmth,
    base: &Machine,
    output: &mut Output,
) -> Result<(Vec<Case>, Recorded), TunerError> {
    let scratch = tempfile::Builder::new().prefix("calibrate-").tempdir_in(&workspace.work_directory)?;
    let runtime = runtime()?;
    let mut recorded = Recorded::new();
    let mut cases = Vec::new();
    for time in chosen {
        let case = row(time, warmth, base);
        let file = scratch.path().join("trace");
        let trace = match kept.plan(time) {
            Some(plan) => runtime.block_on(trace_of(workspace, &plan, &time.case, &file))?,
            None => Err("its sources were not kept".to_owned()),
        };
        if let Err(reason) = &trace {
            warn("not-traced", format!("{}: left out: {reason}", case.case), output);
        }
        recorded.insert(Run::of(&case), trace);
        cases.push(case);
    }
    Ok((cases, recorded))
}

/// What the simulator records of a candidate on a case, or why there is nothing.
async fn trace_of(
    workspace: &Workspace,
    plan: &Plan,
    case: &str,
    file: &Path,
) -> Result<Result<Vec<u8>, String>, TunerError> {
    let named = |place: usize| workspace.manifest.cases[place].name == case;
    let trials = &workspace.evaluator.workload.trials;
    let Some(trial) = trials.iter().find(|trial| trial.timed && named(trial.case)) else {
        return Ok(Err("the case is not timed".to_owned()));
    };
    let mut tracing = workspace.evaluator.clone();
    tracing.backend = tracing.backend.keeping_trace(file.to_owned());
    Ok(match tracing.run_trial(plan, trial, false).await {
        Ok(_) => Ok(fs_err::read(file)?),
        Err(error) => Err(error.verdict()?.to_string()),
    })
}

fn nothing(workspace: &Workspace, why: &str) -> TunerError {
    TunerError::Usage(format!(
        "{}: {why}: `cargo ascend-tune run --backend cann` measures candidates",
        workspace.project.root.display()
    ))
}

fn said_of(on: &MeasuredOn, operator: &str) -> String {
    format!("Candidates of {operator} measured on {} with toolkit {}, by {}", on.soc, on.toolkit, on.route)
}

fn date_of(on: &MeasuredOn) -> String {
    let since = std::time::UNIX_EPOCH + std::time::Duration::from_secs(on.since_s);
    humantime::format_rfc3339_seconds(since).to_string()
}

fn warn(code: &str, message: String, output: &mut Output) {
    output.emit(&Event::Warning(Warning { code: code.to_owned(), message, help: None }));
}
