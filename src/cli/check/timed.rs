//! Times that are not the same each time: what is there is run in turn with what was locked, where that can be had, until a test is decided.

use std::collections::BTreeMap;
use std::process::Command;

use crate::cli::compare::at_revision;
use crate::cli::entries::as_built;
use crate::cli::target::runtime;
use events::CaseVerdict;
use lock::{CaseComparison, Drift, LOCK_FILE, Lock, LockedMeasurement, MeasuredCase, locked_sources};
use search::{PairedOptions, PairedVerdict};
use tuner::{BackendKind, Candidate, LockedTime, PairedTimes, TunerError, Workspace, paired_times};

/// What the pairs say.
pub(super) struct Timed {
    /// Cases, judged by pairs where they have a time in the lock and one here.
    pub cases: Vec<CaseComparison>,
    /// Pairs that it took, by case.
    pub pairs: BTreeMap<String, u64>,
    /// What was timed on, and against what.
    pub said: String,
}

/// Judges cases by pairs of runs. `candidate` is what the entry of the lock is about as it is now, with its first `times`, and `drifted` how
/// that differs from what was locked.
pub(super) fn timed(
    workspace: &Workspace,
    (whole, entry): (&Lock, &Lock),
    (candidate, times): (&Candidate, &[MeasuredCase]),
    drifted: &[Drift],
    tolerance: f64,
    cases: Vec<CaseComparison>,
) -> Result<Timed, TunerError> {
    let mut locked = locked_times(entry, &cases);
    let then = then(workspace, (whole, entry), drifted);
    if then.is_none() {
        // Nothing would be run in turn, and the launches of the first time may be enough to tell.
        locked.retain(|name, locked| {
            times.iter().find(|now| now.name == *name).is_none_or(|now| !is_clearly_same(*locked, now, tolerance))
        });
    }
    let found = match locked.is_empty() {
        true => BTreeMap::new(),
        false => runtime()?.block_on(paired_times(workspace, candidate, then.as_ref(), &locked, tolerance))?,
    };
    let against = match &then {
        Some(_) => "in turn with the sources that were locked, as they were committed",
        None => "against the locked times and their spread",
    };
    let said = format!("{} {against}", machine(workspace));
    let pairs = found.iter().map(|(name, times)| (name.clone(), times.pairs as u64)).collect();
    Ok(Timed { cases: judged(cases, &found), pairs, said })
}

/// Times of the lock, of cases that are compared.
fn locked_times(entry: &Lock, cases: &[CaseComparison]) -> BTreeMap<String, LockedTime> {
    let compared = cases.iter().filter(|case| case.ratio.is_some()).filter_map(|case| entry.case(&case.name));
    compared
        .map(|case| {
            let error = case.measured.map_or(0.0, error_of);
            (case.name.clone(), LockedTime { us: case.tuned.us(), error })
        })
        .collect()
}

/// Standard error of a time, as a share of it.
fn error_of(measured: LockedMeasurement) -> f64 {
    measured.spread_permille as f64 / 1000.0 / (measured.launches.max(1) as f64).sqrt()
}

/// Whether a measured time lies within the tolerance by as many standard errors of both as a test that ends early needs.
fn is_clearly_same(locked: LockedTime, now: &MeasuredCase, tolerance: f64) -> bool {
    let Some(measured) = now.measured else { return false };
    let off = (now.time.us() / locked.us).ln().abs();
    off + PairedOptions::default().early * locked.error.hypot(error_of(measured)) < tolerance.ln()
}

/// Cases with the verdicts of their pairs.
fn judged(cases: Vec<CaseComparison>, found: &BTreeMap<String, PairedTimes>) -> Vec<CaseComparison> {
    let one = |case: CaseComparison| match found.get(&case.name) {
        Some(times) => CaseComparison {
            ratio: Some(times.ratio),
            now: case.locked.and_then(|locked| lock::Picoseconds::from_us(locked.us() * times.ratio)),
            verdict: match times.verdict {
                PairedVerdict::Slower => CaseVerdict::Regressed,
                PairedVerdict::Faster => CaseVerdict::Improved,
                PairedVerdict::Same => CaseVerdict::Ok,
                PairedVerdict::Open => CaseVerdict::CannotTell,
            },
            ..case
        },
        None => case,
    };
    cases.into_iter().map(one).collect()
}

/// What was locked, where the sources are no longer it and git still has it: as the commit has it that the lock was last changed in. What
/// the sources include has to be as it was, since that is read from the disk.
fn then(workspace: &Workspace, (whole, entry): (&Lock, &Lock), drifted: &[Drift]) -> Option<Candidate> {
    let changed = |drift: &Drift| matches!(drift, Drift::Source { .. } | Drift::Tunable { .. });
    let included = |drift: &Drift| match drift {
        Drift::Source { file, .. } => {
            !entry.sources.contains_key(file) && !workspace.sources.iter().any(|(name, _)| name == file)
        }
        _ => false,
    };
    if !drifted.iter().any(changed) || drifted.iter().any(included) {
        return None;
    }
    let root = &workspace.project.root;
    let log =
        Command::new("git").arg("-C").arg(root).args(["log", "-1", "--format=%H", "--", LOCK_FILE]).output().ok()?;
    let revision = String::from_utf8_lossy(&log.stdout).trim().to_owned();
    if !log.status.success() || revision.is_empty() {
        return None;
    }
    let sources = locked_sources(entry, &workspace.sources, |file| at_revision(root, &revision, file).ok())?;
    let tunables = workspace.tunables();
    Some(match entry.key() == whole.key() {
        true => Candidate::baseline(sources, tunables),
        false => as_built(&sources, tunables, &entry.configuration),
    })
}

/// What the times are of.
fn machine(workspace: &Workspace) -> String {
    match (&workspace.attached, &workspace.options.backend) {
        (Some(attached), _) => format!("measured on {} with toolkit {},", attached.soc, attached.toolkit),
        (None, BackendKind::Recorded { noise }) => {
            format!("rehearsed on {} with {:.1} % of noise,", workspace.machine.name, noise * 100.0)
        }
        (None, _) => format!("modelled on {},", workspace.machine.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lock::Picoseconds;
    use lock::testing::sample;

    #[test]
    fn pairs_judge_what_has_two_times() {
        let mut entry = sample();
        entry.cases[0].measured = Some(LockedMeasurement { spread_permille: 40, launches: 16 });
        let now = [("small", 2_100_000), ("new", 1)];
        let now = now.map(|(name, time)| MeasuredCase { name: name.into(), time: Picoseconds(time), measured: None });
        let cases = lock::compare(&entry, &now, 1.03, &[]);
        let locked = locked_times(&entry, &cases);
        assert_eq!(locked.into_iter().collect::<Vec<_>>(), [("small".to_owned(), LockedTime { us: 2.0, error: 0.01 })]);
        let once = |time: u64, spread_permille: u64| {
            let measured = Some(LockedMeasurement { spread_permille, launches: 16 });
            let now = MeasuredCase { name: "small".into(), time: Picoseconds(time), measured };
            is_clearly_same(LockedTime { us: 2.0, error: 0.001 }, &now, 1.03)
        };
        assert_eq!([once(2_010_000, 10), once(2_010_000, 40), once(2_059_000, 1)], [true, false, false]);
        let times = PairedTimes { verdict: PairedVerdict::Same, ratio: 1.01, error: 0.01, pairs: 15 };
        let judged = judged(cases, &BTreeMap::from([("small".to_owned(), times)]));
        let verdicts: Vec<_> = judged.iter().map(|case| (case.name.as_str(), case.verdict, case.now)).collect();
        assert_eq!(verdicts[0], ("small", CaseVerdict::Ok, Some(Picoseconds(2_020_000))));
        assert_eq!((verdicts[1].1, verdicts[2].1), (CaseVerdict::Missing, CaseVerdict::Missing));
    }
}
