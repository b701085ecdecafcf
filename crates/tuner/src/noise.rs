//! Times that differ from run to run: what is faster is found out by running two candidates in turn.

use std::pin::Pin;

use super::TunerError;
use super::evaluator::Evaluator;
use super::plan::Plan;
use super::trial_error::Judgeable;
use search::{Duel, DuelOptions, DuelVerdict, geometric_mean};
use verify::Rejection;

/// Times in microseconds of one run, case by case, or why there are none.
pub(super) type Times = Result<Vec<f64>, Rejection>;

/// Times to come.
pub(super) type ToCome<'a> = Pin<Box<dyn Future<Output = Result<Times, TunerError>> + Send + 'a>>;

/// Something that candidates are timed on.
pub(super) trait Timing: Sync {
    /// Runs a candidate once. Nothing is verified: whoever is timed was verified before.
    fn time<'a>(&'a self, plan: &'a Plan) -> ToCome<'a>;
}

impl Timing for Evaluator {
    fn time<'a>(&'a self, plan: &'a Plan) -> ToCome<'a> {
        Box::pin(async move {
            let mut times = Vec::new();
            for trial in self.workload.trials.iter().filter(|trial| trial.timed) {
                match self.run_trial(plan, trial, false).await.judged()? {
                    Ok(execution) => times.push(execution.task_us()),
                    Err(rejection) => return Ok(Err(rejection)),
                }
            }
            Ok(Ok(times))
        })
    }
}

/// How a candidate did against another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fought {
    /// Whether its time is below the limit that was asked about.
    pub verdict: DuelVerdict,
    /// Its time over the other's, over all cases.
    pub ratio: f64,
    /// Standard error of that ratio, as a share of it.
    pub error: f64,
    /// The ratio of each case.
    pub cases: Vec<f64>,
}

/// Runs two candidates in turn until it is clear whether the first takes less than `limit` times as long, or there have been
/// enough pairs.
pub(super) async fn fight(
    timing: &dyn Timing,
    challenger: &Plan,
    other: &Plan,
    weights: &[f64],
    (limit, options): (f64, DuelOptions),
) -> Result<Result<Fought, Rejection>, TunerError> {
    let mut duel = Duel::new(limit, options);
    let mut logarithms: Vec<f64> = Vec::new();
    let verdict = loop {
        if let Some(verdict) = duel.verdict() {
            break verdict;
        }
        // Whoever runs second may find caches warm: they take turns at that, too.
        let swapped = duel.pairs() % 2 == 1;
        let (first, second) = if swapped { (other, challenger) } else { (challenger, other) };
        let (first, second) = match (timing.time(first).await?, timing.time(second).await?) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(rejection), _) | (_, Err(rejection)) => return Ok(Err(rejection)),
        };
        let (own, theirs) = if swapped { (second, first) } else { (first, second) };
        let ratios: Vec<f64> = own.iter().zip(&theirs).map(|(own, theirs)| own / theirs).collect();
        logarithms.resize(ratios.len(), 0.0);
        logarithms.iter_mut().zip(&ratios).for_each(|(sum, ratio)| *sum += ratio.ln());
        duel.note(geometric_mean(ratios.into_iter(), weights));
    };
    let pairs = duel.pairs() as f64;
    let cases = logarithms.iter().map(|sum| (sum / pairs).exp()).collect();
    Ok(Ok(Fought { verdict, ratio: duel.ratio(), error: duel.error(), cases }))
}

/// Runs of the operator as it stands by which the noise of a machine is known.
const RUNS: usize = 8;

/// What repeated runs of one candidate show.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repeated {
    /// Geometric means of the times of each case, in microseconds.
    pub us: Vec<f64>,
    /// Standard deviation of one run's objective, as a share of it.
    pub deviation: f64,
}

/// Runs a candidate several times.
pub(super) async fn repeat(timing: &dyn Timing, plan: &Plan, weights: &[f64]) -> Result<Repeated, TunerError> {
    let mut sums: Vec<f64> = Vec::new();
    let mut objectives = Vec::new();
    for _ in 0..RUNS {
        let times = timing.time(plan).await?.map_err(|rejection| TunerError::Baseline(Box::new(rejection)))?;
        sums.resize(times.len(), 0.0);
        sums.iter_mut().zip(&times).for_each(|(sum, time)| *sum += time.ln());
        objectives.push(geometric_mean(times.into_iter(), weights).ln());
    }
    let mean = objectives.iter().sum::<f64>() / RUNS as f64;
    let squares: f64 = objectives.iter().map(|value| (value - mean) * (value - mean)).sum();
    let us = sums.iter().map(|sum| (sum / RUNS as f64).exp()).collect();
    Ok(Repeated { us, deviation: (squares / (RUNS - 1) as f64).sqrt() })
}
