//! `lock` and `lock accept`: shows how the project differs from its lock, and takes the state of today over.

use std::collections::BTreeMap;

use crate::cli::Exit;
use crate::cli::alone::weight_permille;
use crate::cli::args::{Common, Target};
use crate::cli::entries::{candidate_of, drifted_entries, with_beside, with_own};
use crate::cli::locked::{
    changed_outputs, cmake_entries, drift_with_tool, locked_departures, locked_device, locked_files, locked_findings,
    locked_machine, locked_manifest, measured, new_findings,
};
use crate::cli::output::{Output, start_event};
use crate::cli::target::{AsLocked, open_as_locked, runtime};
use events::{Event, LockUpdate};
use lock::{self, Accepted, LOCK_FILE, LOCK_VERSION, Lock, LockError, LockedCase, MeasuredCase, source_digests};
use space::Configuration;
use tuner::{Outcome, TunerError, establish_baseline};

/// Executes the command.
pub(super) fn execute(common: &Common, target: &Target, accept: bool, output: &mut Output) -> Result<Exit, TunerError> {
    if !target.cases.is_empty() || !target.assignments.is_empty() {
        let message = "a lock is of all cases and of the values in the sources: leave out --case and --set";
        return Err(TunerError::Usage(message.to_owned()));
    }
    // Who accepts decides a merge as well: what was there knows of before, and the rest is made anew.
    let read = if accept { lock::read_for_ours } else { lock::read };
    let opened = open_as_locked(start_event("lock", common), common, target, read, output);
    let AsLocked { workspace, whole, entry: locked } = opened.map_err(without_a_lock)?;
    let path = workspace.project.root.join(LOCK_FILE);
    let candidate = candidate_of(&workspace, &whole, &locked)?;
    let is_beside = locked.key() != whole.key();
    let drifted = drift_with_tool(&workspace, (&whole, &locked), &candidate);
    let (trialled, _) = runtime()?.block_on(establish_baseline(&workspace, &candidate))?;
    trialled.known.warnings().iter().for_each(|warning| output.emit(warning));
    let Outcome::Valid(times) = &trialled.evaluation.outcome else {
        return Err(TunerError::Internal("a rejected baseline was taken for a reference".to_owned()));
    };
    let times = measured(times);
    let mut changes: Vec<String> = drifted.iter().map(ToString::to_string).collect();
    changes.extend(changed_outputs(&workspace, &locked, &drifted, &trialled.outputs));
    changes.extend(new_findings(&locked, &trialled.known).iter().map(|hazard| format!("new hazard: {hazard}")));
    changes.extend(changed_times(&locked, &times));
    if matches!(lock::read(&path), Err(LockError::Conflict { .. })) {
        changes.push("the lock had both sides of a merge".to_owned());
    }
    if accept && !changes.is_empty() {
        let digests = workspace.verification_digests(&trialled.outputs);
        let outputs = workspace.output_digests(&trialled.outputs);
        let included = workspace.included_beside();
        let state = Lock {
            version: LOCK_VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            operator: workspace.manifest.operator.clone(),
            origin: workspace.origin(),
            manifest: locked_manifest(&workspace),
            // Nobody tried this state on probes.
            speedup_permille: None,
            machine: locked_machine(&workspace.machine),
            device: locked_device(&workspace),
            sources: source_digests(&workspace.sources),
            applied: BTreeMap::new(),
            files: locked_files(&workspace.project.root, &workspace.sources, &included),
            included: Some(source_digests(&included)),
            cmake: cmake_entries(workspace.tunables()),
            brought: not_named(&locked.brought, &candidate.configuration),
            configuration: candidate.configuration.clone(),
            known: locked_findings(&trialled.known),
            departures: locked_departures(&trialled.known),
            cases: taken_over(&locked, &times, |case| LockedCase {
                weight_permille: workspace
                    .manifest
                    .cases
                    .iter()
                    .find(|one| one.name == case.name)
                    .and_then(|one| weight_permille(one.weight)),
                verification: digests.get(&case.name).cloned().unwrap_or_default(),
                outputs: outputs.get(&case.name).cloned().unwrap_or_default(),
                ..case
            }),
            ..with_history(locked, changes.clone())
        };
        let (state, drifted) = match is_beside {
            true => (with_beside(&whole, state, &workspace.sources, &candidate.sources), Vec::new()),
            false => with_own(Some(&whole), state, &workspace.sources, workspace.tunables()),
        };
        lock::write(&state, &path)?;
        drifted_entries(&drifted).iter().for_each(|warning| output.emit(warning));
        workspace.keep_outputs(&trialled.outputs, &digests)?;
    }
    output.emit(&Event::Lock(LockUpdate {
        lock: path.display().to_string(),
        written: accept && !changes.is_empty(),
        changes,
    }));
    Ok(Exit::Fine)
}

/// For other commands a missing lock is a check that fails; this one has nothing to work on.
fn without_a_lock(error: TunerError) -> TunerError {
    match error {
        TunerError::Lock(LockError::Absent { path }) => TunerError::NoLock(path),
        other => other,
    }
}

/// What was brought along and is no tunable now.
fn not_named(brought: &Configuration, now: &Configuration) -> Configuration {
    let left = brought.iter().filter(|(name, _)| now.get(name).is_none());
    left.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The lock with one entry more of what was taken over.
fn with_history(locked: Lock, changes: Vec<String>) -> Lock {
    let mut locked = locked;
    locked.accepted.push(Accepted { tool: env!("CARGO_PKG_VERSION").to_owned(), changes });
    locked
}

/// The cases of today: what the unmodified operator took stays, for cases that the lock has.
fn taken_over(locked: &Lock, times: &[MeasuredCase], finish: impl Fn(LockedCase) -> LockedCase) -> Vec<LockedCase> {
    let case = |now: &MeasuredCase| LockedCase {
        name: now.name.clone(),
        baseline: locked.case(&now.name).map_or(now.time, |case| case.baseline),
        tuned: now.time,
        measured: now.measured,
        weight_permille: None,
        alone: None,
        verification: String::new(),
        outputs: BTreeMap::new(),
    };
    times.iter().map(|now| finish(case(now))).collect()
}

/// Times that are not the locked ones, one sentence each.
fn changed_times(locked: &Lock, times: &[MeasuredCase]) -> Vec<String> {
    let mut changes = Vec::new();
    for now in times {
        match locked.case(&now.name) {
            Some(case) if case.tuned != now.time => {
                changes.push(format!("case {}: {} -> {}", now.name, case.tuned, now.time));
            }
            Some(_) => {}
            None => changes.push(format!("case {}: new, {}", now.name, now.time)),
        }
    }
    let gone = locked.cases.iter().filter(|case| times.iter().all(|now| now.name != case.name));
    changes.extend(gone.map(|case| format!("case {}: gone", case.name)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use lock::Picoseconds;
    use lock::testing::sample;

    #[test]
    fn baselines_and_history_stay() {
        let locked = sample();
        let now =
            |name: &str, time: u64| MeasuredCase { name: name.to_owned(), time: Picoseconds(time), measured: None };
        let times = [now("small", 3_000_000), now("new", 7_000_000)];
        let changes = changed_times(&locked, &times);
        assert_eq!(changes, ["case small: 2.000 us -> 3.000 us", "case new: new, 7.000 us", "case large: gone"]);
        let cases = taken_over(&locked, &times, |case| case);
        assert_eq!((cases[0].baseline, cases[0].tuned), (Picoseconds(4_000_000), Picoseconds(3_000_000)));
        assert_eq!((cases[1].baseline, cases[1].tuned), (Picoseconds(7_000_000), Picoseconds(7_000_000)));
        let once = with_history(locked.clone(), changes.clone());
        let twice = with_history(once, vec!["case small: 3.000 us -> 2.900 us".to_owned()]);
        assert_eq!(twice.motifs, locked.motifs);
        assert_eq!(twice.accepted.len(), 2);
        assert_eq!(twice.accepted[0].changes, changes);
    }
}
