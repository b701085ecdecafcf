//! Whether an operator is as fast as it was locked, where times are not the same each time: it is run again, in turn with what was locked
//! where that can still be built, until a test on the pairs is decided.

use std::collections::BTreeMap;

use super::TunerError;
use super::candidate::Candidate;
use super::noise::{Times, Timing};
use super::plan::Plan;
use super::workspace::Workspace;
use search::{Paired, PairedOptions, PairedVerdict};

/// What a lock says of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockedTime {
    /// Latency in microseconds.
    pub us: f64,
    /// Standard error of it as a share, from the spread and the launches in the lock; 0 where it is exact.
    pub error: f64,
}

/// How a case did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedTimes {
    /// The verdict.
    pub verdict: PairedVerdict,
    /// Time now over the locked one.
    pub ratio: f64,
    /// Standard error of that ratio, as a share of it.
    pub error: f64,
    /// Pairs that were run.
    pub pairs: usize,
}

/// Whether times of the same operator differ from run to run here.
pub fn times_vary(workspace: &Workspace) -> bool {
    !workspace.evaluator.backend.capabilities().exact
}

/// Times `now` until it is known of each case of `locked` whether it is slower or faster by more than `tolerance`, a ratio: in turn with
/// `then` where there is one, against the locked time and its spread where not.
pub async fn paired_times(
    workspace: &Workspace,
    now: &Candidate,
    then: Option<&Candidate>,
    locked: &BTreeMap<String, LockedTime>,
    tolerance: f64,
) -> Result<BTreeMap<String, PairedTimes>, TunerError> {
    let evaluator = workspace.evaluator.of_baseline().on_one_device();
    let trials = evaluator.workload.trials.iter().filter(|trial| trial.timed);
    let names: Vec<String> = trials.map(|trial| workspace.manifest.cases[trial.case].name.clone()).collect();
    let plan = |candidate: &Candidate| candidate.plain_plan(workspace.tunables());
    let (now, then) = (plan(now), then.map(plan));
    let known: Vec<Option<LockedTime>> = names.iter().map(|name| locked.get(name).copied()).collect();
    let found = until_decided(&evaluator, (&now, then.as_ref()), &known, tolerance).await?;
    Ok(names.into_iter().zip(found).filter_map(|(name, found)| Some((name, found?))).collect())
}

/// The same of the cases in the order in which they are timed.
async fn until_decided(
    timing: &dyn Timing,
    (now, then): (&Plan, Option<&Plan>),
    locked: &[Option<LockedTime>],
    tolerance: f64,
) -> Result<Vec<Option<PairedTimes>>, TunerError> {
    let mut tests: Vec<Option<Paired>> = (locked.iter().copied())
        .map(|locked| {
            // What is run in turn has its error in the pairs.
            let error = if then.is_some() { 0.0 } else { locked?.error };
            locked.map(|_| Paired::new(tolerance, error, PairedOptions::default()))
        })
        .collect();
    // What takes no time makes no ratio, and ends with no verdict.
    for round in 0..PairedOptions::default().most {
        if tests.iter().flatten().all(|test| test.verdict().is_some()) {
            break;
        }
        let (own, earlier) = pair(timing, now, then, round % 2 == 1).await?;
        for (place, test) in tests.iter_mut().enumerate() {
            let then =
                earlier.as_ref().map_or(locked[place].map(|locked| locked.us), |times| times.get(place).copied());
            if let (Some(test), Some(now), Some(then)) =
                (test.as_mut().filter(|test| test.verdict().is_none()), own.get(place), then)
            {
                test.note(now / then);
            }
        }
    }
    let done = |test: Paired| {
        let verdict = test.verdict()?;
        Some(PairedTimes { verdict, ratio: test.ratio(), error: test.error(), pairs: test.pairs() })
    };
    Ok(tests.into_iter().map(|test| test.and_then(done)).collect())
}

/// Times of both, one run after the other; whoever runs second may find caches warm, so that they take turns at that, too.
async fn pair(
    timing: &dyn Timing,
    now: &Plan,
    then: Option<&Plan>,
    swapped: bool,
) -> Result<(Vec<f64>, Option<Vec<f64>>), TunerError> {
    let timed = |times: Times| times.map_err(|rejection| TunerError::Baseline(Box::new(rejection)));
    let Some(then) = then else { return Ok((timed(timing.time(now).await?)?, None)) };
    let (first, second) = if swapped { (then, now) } else { (now, then) };
    let (first, second) = (timed(timing.time(first).await?)?, timed(timing.time(second).await?)?);
    Ok(if swapped { (second, Some(first)) } else { (first, Some(second)) })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::noise::ToCome;

    /// Times of two plans, the second slower by a fifth in its second case; what was locked takes 10 and 20 us.
    struct Rehearsed {
        slow: Plan,
        runs: AtomicUsize,
    }

    impl Timing for Rehearsed {
        fn time<'a>(&'a self, plan: &'a Plan) -> ToCome<'a> {
            let run = self.runs.fetch_add(1, Ordering::Relaxed);
            let jitter = 1.0 + (run * 7 % 11) as f64 / 500.0;
            let slower = if *plan == self.slow { 1.2 } else { 1.0 };
            Box::pin(async move { Ok(Ok(vec![10.0 * jitter, 20.0 * slower * jitter])) })
        }
    }

    fn decided(then: bool, error: f64) -> Vec<PairedVerdict> {
        let slow = Plan { cmake: [("SLOW".to_owned(), "1".to_owned())].into(), ..Plan::default() };
        let (timing, quick) = (Rehearsed { slow: slow.clone(), runs: AtomicUsize::new(0) }, Plan::default());
        let locked = [(10.0, error), (20.0, error)].map(|(us, error)| Some(LockedTime { us, error }));
        let plans = (&slow, then.then_some(&quick));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(until_decided(&timing, plans, &locked, 1.03)).unwrap();
        let runs = timing.runs.load(Ordering::Relaxed);
        assert!(runs <= 48 * if then { 2 } else { 1 } && (!then || runs % 2 == 0), "{runs}");
        found.into_iter().map(|found| found.unwrap().verdict).collect()
    }

    #[test]
    fn cases_are_judged_in_turn_or_by_the_spread_of_the_lock() {
        use PairedVerdict::{Open, Same, Slower};
        assert_eq!(decided(true, 0.0), [Same, Slower]);
        assert_eq!(decided(false, 0.005), [Same, Slower]);
        assert_eq!(decided(false, 0.3), [Open, Open], "times known so badly decide nothing");
    }
}
