//! `check`: measures what the lock says and compares.

use super::Exit;
use super::args::{CheckArgs, Common};
use super::locked::{changed_outputs, drift_of, measured, new_findings};
use super::output::{Output, start_event};
use super::target::{open_as_locked, runtime};
use events::{CaseVerdict, Check, CheckCase, CheckVerdict, Event, Warning};
use lock::{Picoseconds, compare};
use tuner::{Outcome, TunerError, establish_baseline};

/// Executes the command.
pub fn execute(common: &Common, arguments: &CheckArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let (workspace, locked) = open_as_locked(start_event("check", common), common, &arguments.target, output)?;
    if locked.origin != workspace.origin() {
        let message =
            "ascend.lock was measured on an NPU, and this version only models: its latencies cannot be compared";
        return Err(TunerError::Usage(message.to_owned()));
    }
    let candidate = workspace.baseline()?;
    let drifted = drift_of(&workspace, &locked, &candidate);
    let tolerance = arguments.tolerance.unwrap_or(workspace.manifest.check_tolerance);
    let mut check = Check {
        verdict: CheckVerdict::Ok,
        cases: Vec::new(),
        drift: drifted.iter().map(ToString::to_string).collect(),
        differences: Vec::new(),
        tolerance,
        origin: workspace.origin(),
        machine: workspace.machine.name.clone(),
        machine_version: workspace.machine.version.clone(),
    };
    // The sources are their own reference here: what is asked is whether they still do the same, as fast, with no more hazards.
    let times = match runtime()?.block_on(establish_baseline(&workspace, &candidate)) {
        Ok((trialled, _)) => {
            check.differences = changed_outputs(&workspace, &locked, &drifted, &trialled.outputs);
            for hazard in new_findings(&locked, &trialled.known) {
                check.verdict = CheckVerdict::Wrong;
                output.emit(&Event::Warning(Warning {
                    code: "new-hazard".to_owned(),
                    message: format!("a hazard that ascend.lock does not know: {hazard}"),
                    help: Some("mend it, or take it over on purpose with `cargo ascend-tune lock --accept`".to_owned()),
                }));
            }
            match trialled.evaluation.outcome {
                Outcome::Valid(times) => measured(&times),
                Outcome::Rejected(_) => Vec::new(),
            }
        }
        Err(TunerError::Baseline(rejection)) if rejection.reason != verify::Reason::BuildFailed => {
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
    let comparisons = compare(&locked, &times, tolerance, &arguments.target.cases);
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
        check.verdict = if !check.differences.is_empty() {
            CheckVerdict::Different
        } else if any(CaseVerdict::Regressed) {
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
