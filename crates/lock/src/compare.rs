//! Latencies now against latencies in the lock.

use super::{Lock, LockedMeasurement, Picoseconds};
use events::CaseVerdict;

/// A case as it runs now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredCase {
    /// Name of the case.
    pub name: String,
    /// Latency.
    pub time: Picoseconds,
    /// How it was measured; nothing of a modelled one.
    pub measured: Option<LockedMeasurement>,
}

/// One case compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseComparison {
    /// Name of the case.
    pub name: String,
    /// Latency in the lock.
    pub locked: Option<Picoseconds>,
    /// Latency now.
    pub now: Option<Picoseconds>,
    /// Now over locked.
    pub ratio: Option<f64>,
    /// Verdict.
    pub verdict: CaseVerdict,
}

/// Compares case by case: first those of the lock in its order, then those that only `measured` has.
///
/// `tolerance` is a ratio of at least 1: with 1.03 a case may take 3 % longer, and must take 3 % less to count as
/// improved. `selected` limits the comparison to cases of these names; empty means all.
pub fn compare(lock: &Lock, measured: &[MeasuredCase], tolerance: f64, selected: &[String]) -> Vec<CaseComparison> {
    let wanted = |name: &str| selected.is_empty() || selected.iter().any(|one| one == name);
    let now_of = |name: &str| measured.iter().find(|case| case.name == name).map(|case| case.time);
    let locked = lock.cases.iter().map(|case| (case.name.as_str(), Some(case.tuned), now_of(&case.name)));
    let unlocked = measured
        .iter()
        .filter(|case| lock.case(&case.name).is_none())
        .map(|case| (case.name.as_str(), None, Some(case.time)));
    locked
        .chain(unlocked)
        .filter(|(name, ..)| wanted(name))
        .map(|(name, locked, now)| {
            let ratio = match (locked, now) {
                (Some(locked), Some(now)) if locked.0 > 0 => Some(now.0 as f64 / locked.0 as f64),
                _ => None,
            };
            let verdict = match (locked, now) {
                (Some(locked), Some(now)) => judge(locked, now, tolerance.max(1.0)),
                _ => CaseVerdict::Missing,
            };
            CaseComparison { name: name.to_owned(), locked, now, ratio, verdict }
        })
        .collect()
}

fn judge(locked: Picoseconds, now: Picoseconds, tolerance: f64) -> CaseVerdict {
    let (locked, now) = (locked.0 as f64, now.0 as f64);
    if now > locked * tolerance {
        CaseVerdict::Regressed
    } else if now * tolerance < locked {
        CaseVerdict::Improved
    } else {
        CaseVerdict::Ok
    }
}
