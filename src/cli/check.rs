//! `check`: measures what the lock says and compares.

use super::Exit;
use super::args::{CheckArgs, Common};
use super::output::Output;
use super::run::locked_machine;
use super::target::{open, runtime, start_event};
use crate::lock::{
    self, CaseVerdict, Current, LOCK_FILE, MeasuredCase, Origin, Picoseconds, compare, drift, source_digests,
};
use crate::report::event::{Check, CheckCase, CheckVerdict, Event, Warning};
use crate::tuner::{Outcome, TunerError, establish_baseline};

/// Executes the command.
pub fn execute(common: &Common, arguments: &CheckArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let workspace = open(start_event("check", common), common, &arguments.target, false, output)?;
    let locked = lock::read(&workspace.project.root.join(LOCK_FILE))?;
    let candidate = workspace.baseline()?;
    let drifted = drift(
        &locked,
        &Current {
            operator: &workspace.manifest.operator,
            sources: &source_digests(&workspace.sources),
            manifest: &blake3::hash(workspace.manifest_text.as_bytes()).to_hex(),
            machine: &locked_machine(&workspace),
            configuration: Some(&candidate.configuration),
        },
    );
    let tolerance = arguments.tolerance.unwrap_or(workspace.manifest.check_tolerance);
    let mut check = Check {
        verdict: CheckVerdict::Ok,
        cases: Vec::new(),
        drift: drifted.iter().map(ToString::to_string).collect(),
        tolerance,
        origin: Origin::Modelled,
        machine: workspace.machine.name.clone(),
        machine_version: workspace.machine.version.clone(),
    };
    // The sources are their own reference here: what is asked is whether they are still as fast, and hazard-free.
    let measured = match runtime()?.block_on(establish_baseline(&workspace, &candidate)) {
        Ok((trialled, references)) => {
            let verification = workspace.verification_digests(&references);
            for case in &locked.cases {
                let now = verification.get(&case.name);
                if drifted.is_empty() && now.is_some_and(|now| *now != case.verification) {
                    output.emit(&Event::Warning(Warning {
                        code: "outputs-changed".to_owned(),
                        message: format!("case {}: the outputs are not the ones that were locked", case.name),
                        help: Some("another compiler or seed count may be the reason".to_owned()),
                    }));
                }
            }
            match trialled.evaluation.outcome {
                Outcome::Valid(times) => times
                    .into_iter()
                    .filter_map(|time| {
                        Some(MeasuredCase { name: time.name, time: Picoseconds::from_us(time.task_us)? })
                    })
                    .collect(),
                Outcome::Rejected(_) => Vec::new(),
            }
        }
        Err(TunerError::Baseline(rejection)) if rejection.reason != crate::verify::Reason::BuildFailed => {
            output.emit(&Event::Warning(Warning {
                code: "wrong".to_owned(),
                message: rejection.to_string(),
                help: None,
            }));
            check.verdict = CheckVerdict::Wrong;
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    let comparisons = compare(&locked, &measured, tolerance, &arguments.target.cases);
    check.cases = comparisons
        .iter()
        .map(|case| CheckCase {
            name: case.name.clone(),
            locked_us: case.locked.map(Picoseconds::us),
            now_us: case.now.map(Picoseconds::us),
            ratio: case.ratio,
            verdict: case.verdict,
        })
        .collect();
    if check.verdict == CheckVerdict::Ok {
        let any = |verdict: CaseVerdict| comparisons.iter().any(|case| case.verdict == verdict);
        check.verdict = if any(CaseVerdict::Regressed) {
            CheckVerdict::Regressed
        } else if !drifted.is_empty() {
            CheckVerdict::Drifted
        } else if any(CaseVerdict::Missing) {
            CheckVerdict::Missing
        } else {
            CheckVerdict::Ok
        };
    }
    let exit = if check.verdict == CheckVerdict::Ok { Exit::Fine } else { Exit::CheckFailed };
    output.emit(&Event::Check(check));
    Ok(exit)
}
