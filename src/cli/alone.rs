//! What would have been chosen for a case if there were no others.

use std::collections::BTreeMap;

use lock::{LockedAlone, Picoseconds};
use space::Configuration;
use tuner::{Attempt, CaseTime, RunOutcome};

/// By how much a case has to be faster alone, as a share of its time, before that is worth a line in a lock.
const WORTH_SAYING: f64 = 0.02;

/// For each case the fastest candidate that the run found right, where that is not the winner. Only of exact times: the least of many noisy
/// ones is the luckiest. Cases of which only some blocks ran are left out, since their times are estimates.
pub(super) fn alone(outcome: &RunOutcome) -> BTreeMap<String, LockedAlone> {
    if outcome.error.is_some() {
        return BTreeMap::new();
    }
    let sampled: Vec<&str> = outcome.sampled.iter().map(|case| case.name.as_str()).collect();
    let whole = outcome.winner_times.iter().filter(|time| !sampled.contains(&time.name.as_str()));
    let winner: Vec<&CaseTime> = whole.collect();
    of_attempts(&winner, &outcome.progress.best.configuration, &outcome.progress.attempts)
}

fn of_attempts(winner: &[&CaseTime], chosen: &Configuration, attempts: &[Attempt]) -> BTreeMap<String, LockedAlone> {
    let mut found = BTreeMap::new();
    for time in winner.iter().filter(|time| time.measured.is_none()) {
        let right = attempts.iter().filter(|attempt| attempt.rejection.is_none() && attempt.objective_us.is_some());
        let of_case = right.filter_map(|attempt| {
            let own = attempt.times.iter().find(|own| own.name == time.name && own.measured.is_none())?;
            Some((own.task_us, attempt))
        });
        // The first of equals: what was found earliest.
        let Some((us, attempt)) = of_case.min_by(|left, right| left.0.total_cmp(&right.0)) else { continue };
        if us > time.task_us * (1.0 - WORTH_SAYING) {
            continue;
        }
        let Some(tuned) = Picoseconds::from_us(us) else { continue };
        let other = attempt.configuration.iter().filter(|(name, value)| chosen.get(name) != Some(value));
        let configuration = other.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        found.insert(time.name.clone(), LockedAlone { tuned, configuration });
    }
    found
}

/// The weight of a case in thousandths, where it is not one.
pub(super) fn weight_permille(weight: f64) -> Option<u64> {
    let permille = (weight * 1000.0).round() as u64;
    (permille != 1000).then_some(permille)
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::Stage;
    use space::Value;

    fn time(name: &str, us: f64) -> CaseTime {
        CaseTime { name: name.into(), task_us: us, bound_us: 0.0, bound_by_work: false, measured: None }
    }

    fn tile(value: i64) -> Configuration {
        [("TILE".to_owned(), Value::Int(value)), ("BUFFERS".to_owned(), Value::Int(2))].into_iter().collect()
    }

    fn attempt(value: i64, times: &[(&str, f64)]) -> Attempt {
        Attempt {
            index: 1,
            stage: Stage::Host,
            digest: String::new(),
            configuration: tile(value),
            rewrites: Vec::new(),
            motif: String::new(),
            title: String::new(),
            objective_us: Some(1.0),
            times: times.iter().map(|(name, us)| time(name, *us)).collect(),
            rejection: None,
            improved: false,
        }
    }

    #[test]
    fn a_case_that_would_be_faster_alone_is_told_with_what_makes_it_so() {
        let winner = [time("small", 4.0), time("large", 80.0), time("other", 7.0)];
        let attempts = [
            attempt(64, &[("small", 3.0), ("large", 120.0)]),
            attempt(256, &[("small", 4.0), ("large", 80.0)]),
            attempt(512, &[("small", 3.0), ("large", 79.5)]),
            Attempt { objective_us: None, ..attempt(1024, &[("small", 1.0)]) },
        ];
        let found = of_attempts(&winner.iter().collect::<Vec<_>>(), &tile(256), &attempts);
        let alone = &found["small"];
        assert_eq!(
            (found.len(), alone.tuned),
            (1, Picoseconds(3_000_000)),
            "a hundredth is nothing, and nothing is known of the last"
        );
        assert_eq!(alone.configuration.iter().collect::<Vec<_>>(), [("TILE", &Value::Int(64))]);
        assert_eq!([1.0, 0.25, 2.0].map(weight_permille), [None, Some(250), Some(2000)]);
    }
}
