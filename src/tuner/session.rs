//! A session: evaluations under one budget, with journal, cache and events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::TunerError;
use super::evaluation::{Champion, Evaluation, Outcome, journal_key};
use super::evaluator::{Evaluator, Plan, References, Scope, Trialled};
use super::journal::Journal;

/// What may be spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Evaluations of new candidates.
    pub evaluations: u64,
    /// Wall-clock end, where one is set. A run cut short by it is not reproducible.
    pub deadline: Option<Instant>,
}

/// Runs evaluations in parallel and keeps the books. What it does never depends on how many run at once.
pub struct Session {
    evaluator: Evaluator,
    journal: Arc<Journal>,
    budget: Budget,
    jobs: usize,
    weights: Vec<f64>,
    references: Arc<References>,
    seen: BTreeMap<String, Evaluation>,
    used: u64,
    rejected: u64,
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
            jobs: jobs.max(1),
            weights,
            references,
            seen: BTreeMap::new(),
            used: 0,
            rejected: 0,
        }
    }

    /// Evaluations that may still be made.
    pub fn left(&self) -> u64 {
        if self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return 0;
        }
        self.budget.evaluations.saturating_sub(self.used)
    }

    /// Evaluations made so far.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Candidates rejected so far.
    pub fn rejected(&self) -> u64 {
        self.rejected
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
    /// budget have none.
    pub async fn evaluate(&mut self, plans: Vec<Plan>, champion: &Champion) -> Result<Vec<Option<Judged>>, TunerError> {
        let mut results: Vec<Option<Judged>> = vec![None; plans.len()];
        let mut running: JoinSet<Result<(usize, Evaluation), TunerError>> = JoinSet::new();
        let permits = Arc::new(Semaphore::new(self.jobs));
        let mut admitted: BTreeMap<String, usize> = BTreeMap::new();
        let mut twins: Vec<(usize, usize)> = Vec::new();
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
            let task = Task {
                evaluator: self.evaluator.clone(),
                journal: Arc::clone(&self.journal),
                references: Arc::clone(&self.references),
                weights: self.weights.clone(),
                champion: champion.clone(),
            };
            let permits = Arc::clone(&permits);
            running.spawn(async move {
                let _permit = permits.acquire().await;
                Ok((position, task.run(&plan).await?))
            });
        }
        let mut evaluations: BTreeMap<usize, Evaluation> = BTreeMap::new();
        while let Some(joined) = running.join_next().await {
            let (position, evaluation) = joined.map_err(|error| TunerError::Internal(error.to_string()))??;
            evaluations.insert(position, evaluation);
        }
        for (position, evaluation) in evaluations {
            self.used += 1;
            self.rejected += u64::from(matches!(evaluation.outcome, Outcome::Rejected(_)));
            self.seen.insert(evaluation.digest.clone(), evaluation.clone());
            results[position] = Some(self.judged(evaluation, self.used, false));
        }
        for (position, first) in twins {
            results[position] = results[first].clone().map(|judged| Judged { repeated: true, ..judged });
        }
        Ok(results)
    }

    fn judged(&self, evaluation: Evaluation, index: u64, repeated: bool) -> Judged {
        let objective_us = evaluation.objective(&self.weights);
        Judged { evaluation, objective_us, index, repeated }
    }

    /// Runs a candidate outside the budget, for its profile with the critical path.
    pub async fn profile(&self, plan: &Plan) -> Trialled {
        let mut evaluator = self.evaluator.clone();
        evaluator.backend.critical_path = true;
        evaluator.try_plan(plan, &self.references, Scope::Timed, false).await
    }
}

/// One evaluation, independent of the session's state.
struct Task {
    evaluator: Evaluator,
    journal: Arc<Journal>,
    references: Arc<References>,
    weights: Vec<f64>,
    champion: Champion,
}

impl Task {
    async fn run(&self, plan: &Plan) -> Result<Evaluation, TunerError> {
        let quick = self.journalled(plan, Scope::Timed).await?;
        let promising = quick.objective(&self.weights).is_some_and(|us| us < self.champion.us * WORTH_CHECKING);
        if !promising {
            return Ok(quick);
        }
        let checks = self.journalled(plan, Scope::Checks).await?;
        Ok(match checks.outcome {
            Outcome::Rejected(_) => checks,
            Outcome::Valid(_) => Evaluation { thorough: true, ..quick },
        })
    }

    async fn journalled(&self, plan: &Plan, scope: Scope) -> Result<Evaluation, TunerError> {
        let key = journal_key(&plan.digest, scope != Scope::Timed);
        if let Some(known) = self.journal.get(&key) {
            return Ok(known.clone());
        }
        let trialled = match scope {
            Scope::Timed => self.evaluator.race(plan, &self.references, &self.champion, &self.weights).await,
            _ => self.evaluator.try_plan(plan, &self.references, scope, false).await,
        };
        let evaluation = trialled.evaluation;
        self.journal.append(&evaluation).map_err(|source| TunerError::Journal { source })?;
        Ok(evaluation)
    }
}
