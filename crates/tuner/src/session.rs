//! A session: evaluations under one budget, with journal, cache and events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::TunerError;
use super::evaluation::{CaseTime, Champion, Evaluation, Outcome, journal_key};
use super::evaluator::Evaluator;
use super::injection::Injection;
use super::journal::Journal;
use super::noise::fight;
use super::plan::Plan;
use super::prices::PriceBook;
use super::race::Race;
use super::ranking::Sampling;
use super::trialled::{References, Scope, Trialled};
use events::SampledCase;
use search::{DuelOptions, DuelVerdict, Prices};

/// What may be spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Evaluations of new candidates.
    pub evaluations: u64,
    /// Time after which no further evaluation is begun. A run cut short by it is not reproducible.
    pub time_limit: Option<Duration>,
}

/// What evaluations have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// How many there were.
    pub evaluations: u64,
    /// Seconds that they took, each by itself, whatever ran beside it.
    pub seconds: f64,
}

impl Spent {
    /// What was spent since another moment.
    pub fn since(self, earlier: Self) -> Self {
        Self { evaluations: self.evaluations - earlier.evaluations, seconds: self.seconds - earlier.seconds }
    }
}

/// What a run has too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scarce {
    /// The budget ends before the time does: what an evaluation takes is of no account.
    Evaluations,
    /// The time ends before the budget does: what counts is what comes of a second.
    Time,
}

/// Runs evaluations in parallel and keeps the books. What it does never depends on how many run at once.
pub struct Session {
    evaluator: Evaluator,
    journal: Arc<Journal>,
    budget: Budget,
    deadline: Option<Instant>,
    jobs: usize,
    weights: Vec<f64>,
    /// Standard deviation of a time as a share of it; 0 where times are exact.
    noise: f64,
    references: Arc<References>,
    seen: BTreeMap<String, Evaluation>,
    used: u64,
    prices: PriceBook,
    rejected: u64,
    sampling: Sampling,
    round: u32,
    beyond: u64,
}

/// A candidate's evaluation as the stages see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The evaluation.
    pub evaluation: Evaluation,
    /// Weighted geometric mean in microseconds, or `None` if rejected.
    pub objective_us: Option<f64>,
    /// Number of the evaluation from 1, or of the last one before it for a repeated candidate.
    pub index: u64,
    /// Whether it cost nothing because the candidate had been seen in this run.
    pub repeated: bool,
}

/// A candidate is worth a thorough check when it is this much faster than the best: model times have no noise, so any
/// real gain is larger than rounding.
const WORTH_CHECKING: f64 = 0.9995;
/// Standard deviations by which a single time may mislead about what is worth a closer look.
const LIKELY: f64 = 2.0;

/// Candidates evaluated at once. A constant, so that results do not depend on the number of jobs. Recorded spaces show no loss
/// up to four in flight, and a clear one at eight.
pub(super) const BATCH: usize = 4;

/// Share of the time limit that may be spent on steps that the winner may be as fast without, beyond it.
const TIDYING: f64 = 0.5;

/// Why a run ends whose time limit has passed.
pub(super) const TIME_IS_UP: &str = "the time is up";

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

async fn unless_past<T>(deadline: Option<Instant>, work: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline.into(), work).await.ok(),
        None => Some(work.await),
    }
}

impl Session {
    /// A session over an evaluator; `references` are the baseline's outputs.
    pub fn new(
        evaluator: Evaluator,
        journal: Arc<Journal>,
        references: Arc<References>,
        budget: Budget,
        jobs: usize,
        weights: Vec<f64>,
    ) -> Self {
        Self {
            evaluator,
            journal,
            budget,
            deadline: budget.time_limit.map(|limit| Instant::now() + limit),
            jobs: jobs.max(1),
            weights,
            noise: 0.0,
            references,
            seen: BTreeMap::new(),
            used: 0,
            prices: PriceBook::default(),
            rejected: 0,
            sampling: Sampling::default(),
            round: 0,
            beyond: 0,
        }
    }

    /// The same where a time differs by this share from run to run.
    #[must_use]
    pub fn with_noise(self, noise: f64) -> Self {
        Self { noise, ..self }
    }

    /// Goes on with other cases. What was seen on those before is not known on these; budget and prices count on.
    pub fn enlarge(&mut self, evaluator: Evaluator, references: Arc<References>, weights: Vec<f64>) {
        (self.evaluator, self.references, self.weights) = (evaluator, references, weights);
        self.seen.clear();
        self.round += 1;
    }

    /// Things that may be done at the same time.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Evaluations that may still be made.
    pub fn left(&self) -> u64 {
        if self.is_late() {
            return 0;
        }
        self.budget.evaluations.saturating_sub(self.used)
    }

    /// Whether the time is up.
    pub fn is_late(&self) -> bool {
        is_past(self.deadline)
    }

    /// Whether so much time has passed since then that what is not needed for a right result is left out.
    pub fn is_very_late(&self) -> bool {
        let more = self.budget.time_limit.unwrap_or_default().mul_f64(TIDYING);
        is_past(self.deadline.map(|deadline| deadline + more))
    }

    /// What there is no more of, if there is no more: evaluations or time.
    pub fn used_up(&self) -> Option<&'static str> {
        if self.used >= self.budget.evaluations {
            return Some("the budget is spent");
        }
        self.is_late().then_some(TIME_IS_UP)
    }

    /// What `work` comes to, or `None` if that takes longer than there is time: it is given up then, with all that it has started.
    pub async fn in_time<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        unless_past(self.deadline, work).await
    }

    /// The same in half of the time that is left.
    pub async fn in_half_the_time<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let now = Instant::now();
        unless_past(self.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 2), work).await
    }

    /// Evaluations made beside the budget: when steps of a winner were taken back to see what they are worth.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Evaluations made so far.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// What the evaluations made so far have cost.
    pub fn spent(&self) -> Spent {
        Spent { evaluations: self.used, seconds: self.prices.seconds() }
    }

    /// What there is too little of: evaluations, or the time to make them all at the pace so far. Both are taken from the
    /// journal in a resumed run, so it goes on by the same prices.
    pub fn scarce(&self) -> Scarce {
        let Some(limit) = self.budget.time_limit.filter(|_| self.used > 0) else { return Scarce::Evaluations };
        let each = self.prices.seconds() / self.used as f64 / self.jobs as f64;
        let all = each * self.budget.evaluations as f64;
        if all > limit.as_secs_f64() { Scarce::Time } else { Scarce::Evaluations }
    }

    /// What configurations cost, where that matters because time is scarce.
    pub fn prices(&self, injection: &Injection) -> Option<Prices> {
        if self.scarce() == Scarce::Time { self.prices.prices(injection) } else { None }
    }

    /// Candidates rejected so far.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Large cases: how many of their blocks ran with data in quick trials.
    pub fn sampled(&self) -> Vec<SampledCase> {
        self.sampling.cases()
    }

    /// The evaluator behind this session.
    pub fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// Whether a candidate was evaluated in this session.
    pub fn knows(&self, digest: &str) -> bool {
        self.seen.contains_key(digest)
    }

    /// Remembers an evaluation that was made outside, such as the baseline's.
    pub fn remember(&mut self, evaluation: Evaluation) {
        self.seen.insert(evaluation.digest.clone(), evaluation);
    }

    /// Evaluates a batch against the best so far. Results stand in the order of the plans; plans beyond the
    /// budget, and those that would begin when the time is up, have none.
    pub async fn evaluate(&mut self, plans: Vec<Plan>, champion: &Champion) -> Result<Vec<Option<Judged>>, TunerError> {
        let mut results: Vec<Option<Judged>> = vec![None; plans.len()];
        let mut waiting: Vec<(usize, Plan)> = Vec::new();
        let whole = Arc::new(self.sampling.whole(champion));
        let permits = Arc::new(Semaphore::new(self.jobs));
        let mut admitted: BTreeMap<String, usize> = BTreeMap::new();
        let mut twins: Vec<(usize, usize)> = Vec::new();
        let mut building: BTreeSet<usize> = BTreeSet::new();
        for (position, plan) in plans.into_iter().enumerate() {
            if let Some(evaluation) = self.seen.get(&plan.digest) {
                results[position] = Some(self.judged(evaluation.clone(), self.used, true));
                continue;
            }
            if let Some(&first) = admitted.get(&plan.digest) {
                twins.push((position, first));
                continue;
            }
            if self.left() <= admitted.len() as u64 {
                continue;
            }
            admitted.insert(plan.digest.clone(), position);
            if self.prices.needs_build(&plan) {
                building.insert(position);
            }
            waiting.push((position, plan));
        }
        let mut running: JoinSet<Result<(usize, Option<Evaluation>), TunerError>> = JoinSet::new();
        let beside = waiting.len().min(BATCH);
        for (position, plan) in waiting {
            let task = self.task(champion, &whole, None, beside);
            let permits = Arc::clone(&permits);
            let deadline = self.deadline;
            running.spawn(async move {
                let _permit = permits.acquire().await;
                // A batch of slow ones may begin in time and go on for several times as long.
                if is_past(deadline) {
                    return Ok((position, None));
                }
                Ok((position, Some(task.run(&plan).await?)))
            });
        }
        let mut evaluations: BTreeMap<usize, Evaluation> = BTreeMap::new();
        while let Some(joined) = running.join_next().await {
            let (position, evaluation) = joined.map_err(|error| TunerError::Internal(error.to_string()))??;
            evaluations.extend(evaluation.map(|evaluation| (position, evaluation)));
        }
        for (position, evaluation) in evaluations {
            self.used += 1;
            self.sampling.note(&evaluation.blocks);
            self.prices.note(building.contains(&position), evaluation.seconds);
            self.rejected += u64::from(matches!(evaluation.outcome, Outcome::Rejected(_)));
            self.seen.insert(evaluation.digest.clone(), evaluation.clone());
            results[position] = Some(self.judged(evaluation, self.used, false));
        }
        for (position, first) in twins {
            results[position] = results[first].clone().map(|judged| Judged { repeated: true, ..judged });
        }
        Ok(results)
    }

    /// One of `at_once` evaluations: jobs that these leave over go to the trials of each.
    fn task(&self, champion: &Champion, whole: &Arc<BTreeSet<String>>, limit: Option<f64>, at_once: usize) -> Task {
        Task {
            evaluator: self.evaluator.clone().with_trials_at_once(self.jobs / at_once),
            journal: Arc::clone(&self.journal),
            references: Arc::clone(&self.references),
            weights: self.weights.clone(),
            champion: champion.clone(),
            whole: Arc::clone(whole),
            noise: self.noise,
            limit,
            round: self.round,
        }
    }

    /// Evaluates one candidate beside the budget, thoroughly if it is faster than `limit_us`.
    pub async fn evaluate_beyond(&mut self, plan: &Plan, best: &Champion, limit_us: f64) -> Result<Judged, TunerError> {
        if let Some(known) = self.seen.get(&plan.digest).filter(|known| known.thorough) {
            return Ok(self.judged(known.clone(), self.used, true));
        }
        let whole = Arc::new(self.sampling.whole(best));
        let evaluation = self.task(best, &whole, Some(limit_us / best.us), 1).run(plan).await?;
        self.beyond += 1;
        Ok(self.judged(evaluation, self.used, false))
    }

    /// Evaluates one candidate beside the budget on every timed case, however slow the first ones are: it may be for the others.
    pub async fn evaluate_every_case(&mut self, plan: &Plan) -> Result<Judged, TunerError> {
        let nobody = Champion::default();
        let whole = Arc::new(BTreeSet::new());
        let digest = format!("{}~every-case", plan.digest);
        let task = self.task(&nobody, &whole, None, 1);
        let evaluation = task.journalled_as(&digest, plan, Scope::Timed).await?;
        self.beyond += 1;
        Ok(self.judged(evaluation, self.used, false))
    }

    /// Takes note of what somebody has evaluated in part.
    pub fn note_beyond(&mut self, count: u64) {
        self.beyond += count;
    }

    fn judged(&self, evaluation: Evaluation, index: u64, repeated: bool) -> Judged {
        let objective_us = evaluation.objective(&self.weights);
        Judged { evaluation, objective_us, index, repeated }
    }

    /// Runs a candidate outside the budget, for its profile with the critical path.
    pub async fn profile(&self, plan: &Plan) -> Result<Trialled, TunerError> {
        self.evaluator.following().try_plan(plan, &self.references, Scope::Timed, false).await
    }
}

/// One evaluation, independent of the session's state.
struct Task {
    evaluator: Evaluator,
    journal: Arc<Journal>,
    references: Arc<References>,
    weights: Vec<f64>,
    champion: Champion,
    /// Cases of which quick trials run every block.
    whole: Arc<BTreeSet<String>>,
    noise: f64,
    /// How much longer than the champion it may take and still be of interest; `None` where it has to be faster.
    limit: Option<f64>,
    round: u32,
}

impl Task {
    async fn run(&self, plan: &Plan) -> Result<Evaluation, TunerError> {
        let quick = self.journalled(plan, Scope::Timed).await?;
        // Where times are noisy, one that looks a little slower may be faster.
        let worth = self.limit.unwrap_or(WORTH_CHECKING) * (1.0 + LIKELY * self.noise);
        let promising = quick.objective(&self.weights).is_some_and(|us| us < self.champion.us * worth);
        if !promising {
            return Ok(quick);
        }
        // What ranks by some of its blocks has not been seen to be right: all of it runs before it can become the best.
        let scope = if quick.is_sampled() { Scope::All } else { Scope::Checks };
        let checks = self.journalled(plan, scope).await?;
        let seconds = quick.seconds + checks.seconds;
        if matches!(checks.outcome, Outcome::Rejected(_)) {
            return Ok(Evaluation { seconds, blocks: quick.blocks, ..checks });
        }
        let times = match &quick.outcome {
            Outcome::Valid(times) => times.as_slice(),
            Outcome::Rejected(_) => &[],
        };
        if let Some(flattered) = self.evaluator.usual.refuses(times, &checks.other_data) {
            return Ok(Evaluation { seconds, outcome: Outcome::Rejected(flattered), blocks: quick.blocks, ..checks });
        }
        let thorough = Evaluation { thorough: true, seconds, ..quick };
        if self.noise > 0.0 { self.fought(plan, thorough).await } else { Ok(thorough) }
    }

    /// The evaluation with times that come of a duel with the champion.
    async fn fought(&self, plan: &Plan, thorough: Evaluation) -> Result<Evaluation, TunerError> {
        let digest = format!("{}~{}", plan.digest, self.champion.plan.digest);
        let fought = match self.journal.get(&journal_key(&digest, true, self.round)) {
            Some(known) => known.clone(),
            None => {
                let started = Instant::now();
                let limit = (self.limit.unwrap_or(1.0), DuelOptions::STEP);
                let ended =
                    fight(&self.evaluator.on_one_device(), plan, &self.champion.plan, &self.weights, limit).await?;
                let (outcome, error) = match ended {
                    Err(rejection) => (Outcome::Rejected(rejection), None),
                    // In a search a tie is none: what cannot be told from the best does not take its place.
                    Ok(fought) if self.limit.is_none() && fought.verdict == DuelVerdict::Open => {
                        (Outcome::Valid(self.champion.times.clone()), Some(fought.error))
                    }
                    Ok(fought) => {
                        let of = |(time, ratio): (&CaseTime, &f64)| CaseTime {
                            task_us: time.task_us * ratio,
                            ..time.clone()
                        };
                        let times = self.champion.times.iter().zip(&fought.cases).map(of).collect();
                        (Outcome::Valid(times), Some(fought.error))
                    }
                };
                let seconds = started.elapsed().as_secs_f64();
                let fought = Evaluation { digest, outcome, error, seconds, ..thorough.clone() };
                self.journal.append(&fought).map_err(|source| TunerError::Journal { source })?;
                fought
            }
        };
        let seconds = thorough.seconds + fought.seconds;
        Ok(Evaluation { outcome: fought.outcome, error: fought.error, seconds, ..thorough })
    }

    async fn journalled(&self, plan: &Plan, scope: Scope) -> Result<Evaluation, TunerError> {
        self.journalled_as(&plan.digest, plan, scope).await
    }

    async fn journalled_as(&self, digest: &str, plan: &Plan, scope: Scope) -> Result<Evaluation, TunerError> {
        let key = journal_key(digest, scope != Scope::Timed, self.round);
        if let Some(known) = self.journal.get(&key) {
            return Ok(known.clone());
        }
        let started = Instant::now();
        let trialled = match scope {
            Scope::Timed => {
                let race = Race { champion: &self.champion, weights: &self.weights, whole: &self.whole };
                self.evaluator.race(plan, &self.references, &race).await?
            }
            _ => self.evaluator.try_plan(plan, &self.references, scope, false).await?,
        };
        let seconds = started.elapsed().as_secs_f64();
        let digest = digest.to_owned();
        let evaluation = Evaluation { digest, seconds, round: self.round, ..trialled.evaluation };
        self.journal.append(&evaluation).map_err(|source| TunerError::Journal { source })?;
        Ok(evaluation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_takes_longer_than_there_is_time_is_given_up() {
        let never = std::future::pending::<()>;
        assert_eq!(unless_past(Some(Instant::now() + Duration::from_millis(20)), never()).await, None);
        assert_eq!(unless_past(Some(Instant::now() + Duration::from_secs(600)), async { 7 }).await, Some(7));
        assert_eq!(unless_past(None, async { 7 }).await, Some(7));
    }
}
