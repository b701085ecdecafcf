//! A least share with which some size is slower: a larger one may hold there, and keeps what it gains on much work.

use super::TunerError;
use super::candidate::Candidate;
use super::probing::ProbeSet;
use space::{Binding, Tunable, Value, domain_values};

/// Larger shares that are tried in place of one.
const MORE_SHARES: usize = 3;

/// A candidate with a larger share, and what was changed.
pub(super) struct LargerShare {
    /// The candidate, which holds on the probe.
    pub candidate: Candidate,
    /// The tunable.
    pub tunable: String,
    /// One line: the share that does not hold, and the one that takes its place.
    pub step: String,
}

/// Where a larger least share is all that it takes to hold on a probe, the winner with the least such one: less work goes to as few
/// cores as before, and much work to all of them still.
pub(super) async fn with_larger_share(
    winner: &Candidate,
    probes: &ProbeSet,
    place: usize,
    tunables: &[Tunable],
) -> Result<Option<LargerShare>, TunerError> {
    for tunable in tunables.iter().filter(|tunable| matches!(tunable.binding, Binding::Share { .. })) {
        let Some(chosen) = winner.configuration.get(&tunable.name).and_then(share) else { continue };
        let mut larger: Vec<i64> = domain_values(tunable).unwrap_or_default().iter().filter_map(share).collect();
        larger.retain(|value| *value > chosen);
        larger.sort_unstable();
        for value in larger.into_iter().take(MORE_SHARES) {
            let mut values = winner.configuration.clone();
            values.set(&tunable.name, Value::Int(value));
            let Ok(candidate) = winner.with_configuration(tunables, &values) else { continue };
            let verdict = probes.check_one(&candidate.plain_plan(tunables), place).await?;
            if verdict.is_some_and(|verdict| verdict.holds()) {
                let step = format!("{} {chosen} (now {value})", tunable.name);
                return Ok(Some(LargerShare { candidate, tunable: tunable.name.clone(), step }));
            }
        }
    }
    Ok(None)
}

/// A share that is one: 0 stands for no such rule.
fn share(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) if *value > 0 => Some(*value),
        _ => None,
    }
}
