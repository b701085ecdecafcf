//! One operator: builds and runs what is there and compares it with what the lock says.

use std::collections::BTreeMap;

use super::findings::{self, Entry};
use super::remembered::{Memory, Recalled};
use super::{Exit, drift, timed};
use crate::cli::args::{CheckArgs, Common};
use crate::cli::entries::candidate_of;
use crate::cli::locked::{changed_outputs, drift_of, measured, new_findings, not_comparable};
use crate::cli::output::{Output, start_event};
use crate::cli::target::{AsLocked, open_as_locked, runtime};
use backend::LaunchProfile;
use events::{CaseVerdict, Check, CheckCase, CheckFinding, CheckVerdict, Event, Start, Warning};
use lock::{CaseComparison, Picoseconds, compare};
use tuner::{Outcome, TunerError, times_vary, try_baseline_by_case};
use verify::{Reason, Rejection};

/// A check that came to its end.
pub(super) struct Done {
    /// The operator.
    pub operator: String,
    /// What was found.
    pub check: Check,
    /// How a command ends that checks this operator alone.
    pub exit: Exit,
}

/// Says what an earlier check of exactly this has found.
fn tell(recalled: Recalled, common: &Common, output: &mut Output) -> Done {
    let check = recalled.check;
    output.emit(&Event::Start(Start {
        operator: Some(recalled.operator.clone()),
        machine: Some(check.machine.clone()),
        machine_version: Some(check.machine_version.clone()),
        origin: Some(check.origin),
        ..start_event("check", common)
    }));
    output.emit(&Event::Check(check.clone()));
    Done { operator: recalled.operator, check, exit: Exit::Fine }
}

/// Checks an entry of the operator's lock, unless the memory has it; `prepare` is called first where it does not.
pub(super) fn check(
    common: &Common,
    arguments: &CheckArgs,
    memory: Option<&Memory>,
    prepare: &dyn Fn(),
    output: &mut Output,
) -> Result<Done, TunerError> {
    if let Some(recalled) = memory.and_then(|memory| memory.recall(&common.project)) {
        return Ok(tell(recalled, common, output));
    }
    prepare();
    // Before anything of it is read: what is changed meanwhile was not checked.
    let memo = memory.and_then(|memory| memory.begin(&common.project));
    let opened = open_as_locked(start_event("check", common), common, &arguments.target, lock::read, output)?;
    let AsLocked { workspace, whole, entry: locked } = opened;
    let not_compared = not_comparable(&workspace, &locked);
    let candidate = candidate_of(&workspace, &whole, &locked)?;
    let drifted = drift_of(&workspace, (&whole, &locked), &candidate);
    let tolerance = arguments.tolerance.unwrap_or(workspace.manifest.check_tolerance);
    let mut check = Check {
        verdict: CheckVerdict::Ok,
        cases: Vec::new(),
        drift: drifted.iter().map(ToString::to_string).collect(),
        differences: Vec::new(),
        findings: drifted.iter().map(drift::finding).collect(),
        remembered: false,
        tolerance,
        claimed: locked.speedup_permille.map(|claimed| claimed as f64 / 1000.0),
        timed: None,
        origin: workspace.origin(),
        machine: workspace.machine.name.clone(),
        machine_version: workspace.machine.version.clone(),
    };
    if let Some(message) = not_compared {
        check.verdict = CheckVerdict::CannotTell;
        check.findings.push(findings::not_compared(message));
        output.emit(&Event::Check(check.clone()));
        return Ok(Done { operator: workspace.manifest.operator.clone(), check, exit: Exit::CheckFailed });
    }
    // The sources are their own reference here: what is asked is whether they still do the same, as fast, with no more hazards.
    let mut wrong: BTreeMap<String, Rejection> = BTreeMap::new();
    let mut all_run = true;
    let entry = Entry::of(&workspace.project, &workspace.manifest.kernel);
    let mut launches: BTreeMap<String, Vec<LaunchProfile>> = BTreeMap::new();
    let times = match runtime()?.block_on(try_baseline_by_case(&workspace, &candidate)) {
        Ok(trialled) => {
            wrong.extend(trialled.rejected);
            check.differences = changed_outputs(&workspace, &locked, &drifted, &trialled.outputs);
            check.findings.extend(check.differences.iter().map(|said| findings::of_difference(said, &entry)));
            for hazard in new_findings(&locked, &trialled.known) {
                check.verdict = CheckVerdict::Wrong;
                check.findings.push(findings::of_hazard(&hazard));
                output.emit(&Event::Warning(Warning {
                    code: "new-hazard".to_owned(),
                    message: format!("a hazard that ascend.lock does not know: {hazard}"),
                    help: Some("mend it, or take it over on purpose with `cargo ascend-tune lock --accept`".to_owned()),
                }));
            }
            launches = trialled.profiles;
            match trialled.evaluation.outcome {
                Outcome::Valid(times) => measured(&times),
                Outcome::Rejected(_) => Vec::new(),
            }
        }
        // Right answers are asked for before anything else, one case after the other.
        Err(TunerError::Baseline(rejection)) if rejection.reason != Reason::BuildFailed => {
            all_run = false;
            wrong.insert(rejection.case.clone(), *rejection);
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    for rejection in wrong.values() {
        check.verdict = CheckVerdict::Wrong;
        check.findings.push(findings::of_rejection(rejection));
        output.emit(&Event::Warning(Warning { code: "wrong".to_owned(), message: rejection.to_string(), help: None }));
    }
    let mut comparisons = compare(&locked, &times, tolerance, &arguments.target.cases);
    let mut pairs: BTreeMap<String, u64> = BTreeMap::new();
    // Times of an operator that is wrong are worth nothing.
    if times_vary(&workspace) && wrong.is_empty() {
        let timed =
            timed::timed(&workspace, (&whole, &locked), (&candidate, &times), &drifted, tolerance, comparisons)?;
        check.timed = Some(timed.said);
        (comparisons, pairs) = (timed.cases, timed.pairs);
    }
    let checked: Vec<&str> = (workspace.cases.iter().map(|&index| &workspace.manifest.cases[index]))
        .filter_map(|case| case.verify_only.then_some(case.name.as_str()))
        .collect();
    check.cases = rows(&comparisons, &checked, &wrong, all_run);
    for case in &mut check.cases {
        case.pairs = pairs.get(&case.name).copied();
    }
    let of_times = |case: &CheckCase| {
        let launches = launches.get(&case.name).map_or(&[][..], Vec::as_slice);
        findings::of_case(case, launches, &entry)
    };
    let of_times: Vec<CheckFinding> = check.cases.iter().filter_map(of_times).collect();
    check.findings.extend(of_times);
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
        } else if any(CaseVerdict::CannotTell) {
            CheckVerdict::CannotTell
        } else {
            CheckVerdict::Ok
        };
    }
    let exit = if check.verdict == CheckVerdict::Ok { Exit::Fine } else { Exit::CheckFailed };
    output.emit(&Event::Check(check.clone()));
    if let Some(memo) = memo.filter(|_| exit == Exit::Fine) {
        memo.keep(&workspace, &check);
    }
    Ok(Done { operator: workspace.manifest.operator.clone(), check, exit })
}

/// One row a case: those of the lock, those that are only `checked` and have no time, and last what is wrong and in neither.
fn rows(
    comparisons: &[CaseComparison],
    checked: &[&str],
    wrong: &BTreeMap<String, Rejection>,
    all_run: bool,
) -> Vec<CheckCase> {
    let verdict = |case: &CaseComparison| match case.verdict {
        _ if wrong.contains_key(&case.name) => CaseVerdict::Wrong,
        CaseVerdict::Missing if !all_run => CaseVerdict::NotRun,
        other => other,
    };
    let row = |case: &CaseComparison| CheckCase {
        name: case.name.clone(),
        locked_us: case.locked.map(Picoseconds::us),
        now_us: case.now.map(Picoseconds::us),
        ratio: case.ratio,
        pairs: None,
        verdict: verdict(case),
    };
    let without_time = |name: &str, verdict| CheckCase {
        name: name.to_owned(),
        locked_us: None,
        now_us: None,
        ratio: None,
        pairs: None,
        verdict,
    };
    let verified = checked.iter().filter(|name| comparisons.iter().all(|case| case.name != **name)).map(|&name| {
        let verdict = match wrong.contains_key(name) {
            true => CaseVerdict::Wrong,
            false if all_run => CaseVerdict::Ok,
            false => CaseVerdict::NotRun,
        };
        without_time(name, verdict)
    });
    let is_new = |name: &&String| {
        comparisons.iter().all(|case| case.name != **name) && checked.iter().all(|checked| checked != name)
    };
    let unlocked = wrong.keys().filter(is_new).map(|name| without_time(name, CaseVerdict::Wrong));
    comparisons.iter().map(row).chain(verified).chain(unlocked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_missing_only_where_it_could_have_been_run() {
        let case = |name: &str, verdict| CaseComparison {
            name: name.to_owned(),
            locked: Some(Picoseconds(1)),
            now: None,
            ratio: None,
            verdict,
        };
        let comparisons = [case("a", CaseVerdict::Missing), case("b", CaseVerdict::Missing)];
        let crashed = |name: &str| (name.to_owned(), Rejection::new(Reason::Crashed, name, "SIGSEGV"));
        let verdicts = |wrong: &[&str], all_run| -> Vec<String> {
            let wrong = wrong.iter().map(|name| crashed(name)).collect();
            let rows = rows(&comparisons, &["odd"], &wrong, all_run);
            rows.iter().map(|row| format!("{} {}", row.name, row.verdict.word())).collect()
        };
        assert_eq!(verdicts(&["a"], true), ["a wrong", "b missing", "odd ok"]);
        assert_eq!(verdicts(&["a"], false), ["a wrong", "b not-run", "odd not-run"]);
        assert_eq!(verdicts(&["new"], true), ["a missing", "b missing", "odd ok", "new wrong"]);
        assert_eq!(verdicts(&["odd"], true), ["a missing", "b missing", "odd wrong"]);
    }
}
