//! The host stage: search over tunables of the best candidate's sources.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use super::evaluation::Outcome;
use super::evaluator::Plan;
use super::progress::Progress;
use super::session::Session;
use super::{TunerError, injection::Injection};
use crate::report::event::{Event, Stage};
use crate::search::{self, InfeasibleClass, Strategy};
use crate::space::{Configuration, Tunable};
use crate::verify::{Reason, Rejection};

/// Configurations asked at once. A constant, so that results do not depend on the number of jobs.
/// Recorded spaces show no loss up to four in flight, and a clear one at eight.
const BATCH: usize = 4;

/// A turn ends when no point of a batch promises this relative gain, and none of the batch before did.
const WORTH_ASKING: f64 = 5e-4;

/// What the host stage works on.
pub struct HostStage<'a> {
    /// All tunables.
    pub tunables: &'a [Tunable],
    /// Tunables that need no rebuild, found out for the sources at hand.
    pub injection: &'a Injection,
    /// Configurations to try before the strategy is asked.
    pub first: Vec<Configuration>,
}

impl HostStage<'_> {
    /// Searches until `limit` evaluations are spent or `patience` went by without improvement. Returns whether anything
    /// improved.
    pub async fn run(
        &self,
        strategy: &mut dyn Strategy,
        session: &mut Session,
        progress: &mut Progress,
        limit: u64,
        patience: u64,
        emit: &mut dyn FnMut(Event),
    ) -> Result<bool, TunerError> {
        // Rewrites are kept, values change: every configuration is applied to the sources that the stage began with.
        let origin = progress.best.clone();
        let start = session.used();
        let mut last_gain = start;
        let mut improved = false;
        let mut idle_rounds = 0;
        let mut hopeless = 0;
        let mut first = self.first.clone();
        while session.left() > 0 && session.used() - start < limit && session.used() - last_gain < patience {
            let room = (limit - (session.used() - start)).min(session.left());
            let asked = match std::mem::take(&mut first) {
                none if none.is_empty() => strategy.ask(BATCH.min(room as usize)),
                first => first,
            };
            hopeless = if strategy.expected_gain().is_some_and(|gain| gain < WORTH_ASKING) { hopeless + 1 } else { 0 };
            if asked.is_empty() || idle_rounds >= BATCH || hopeless > 1 {
                break;
            }
            let before = session.used();
            let (candidates, plans) = self.prepare(&origin, asked, strategy);
            let judged = session.evaluate(plans, &progress.champion()).await?;
            for (candidate, judged) in candidates.iter().zip(judged) {
                let Some(judged) = judged else { continue };
                let outcome = match (&judged.evaluation.outcome, judged.objective_us) {
                    (Outcome::Rejected(rejection), _) => search::Outcome::Infeasible { class: class_of(rejection) },
                    // A candidate that may not win must not look like one.
                    (Outcome::Valid(times), Some(us)) => search::Outcome::Objective(us * progress.beyond_floor(times)),
                    (Outcome::Valid(_), None) => continue,
                };
                strategy.tell(&candidate.configuration, &outcome);
                if progress.record(Stage::Host, candidate, None, &judged, true, emit) {
                    improved = true;
                    last_gain = session.used();
                }
            }
            idle_rounds = if session.used() == before { idle_rounds + 1 } else { 0 };
        }
        Ok(improved)
    }

    /// Candidates and plans of configurations; those that cannot be applied are told infeasible at once.
    fn prepare(
        &self,
        origin: &Candidate,
        asked: Vec<Configuration>,
        strategy: &mut dyn Strategy,
    ) -> (Vec<Candidate>, Vec<Plan>) {
        let mut candidates = Vec::with_capacity(asked.len());
        let mut plans = Vec::with_capacity(asked.len());
        for configuration in asked {
            let made = origin.with_configuration(self.tunables, &configuration).and_then(|candidate| {
                let plan = self.injection.plan(&candidate, self.tunables)?;
                Ok((candidate, plan))
            });
            match made {
                Ok((candidate, plan)) => {
                    candidates.push(candidate);
                    plans.push(plan);
                }
                Err(error) => {
                    tracing::debug!(%configuration, %error, "configuration cannot be applied");
                    strategy.tell(&configuration, &search::Outcome::Infeasible { class: InfeasibleClass::Build });
                }
            }
        }
        (candidates, plans)
    }

    /// What is already known of this space, for a strategy that starts: the best configuration, and those that the
    /// tiling function refused.
    pub fn known(progress: &Progress) -> BTreeMap<Configuration, search::Outcome> {
        let refused = progress.attempts.iter().filter_map(|attempt| {
            let rejection = attempt.rejection.as_ref().filter(|rejection| rejection.reason == Reason::TilingFailed)?;
            Some((attempt.configuration.clone(), search::Outcome::Infeasible { class: class_of(rejection) }))
        });
        let mut known: BTreeMap<Configuration, search::Outcome> = refused.collect();
        known.insert(progress.best.configuration.clone(), search::Outcome::Objective(progress.best_us));
        known
    }
}

fn class_of(rejection: &Rejection) -> InfeasibleClass {
    match rejection.reason {
        Reason::EditFailed | Reason::BuildFailed => InfeasibleClass::Build,
        Reason::TilingFailed => InfeasibleClass::Tiling,
        Reason::OutOfMemory => InfeasibleClass::Resource,
        Reason::Hazard if rejection.hazard == Some(crate::aicore::HazardKind::UbOverflow) => InfeasibleClass::Resource,
        Reason::Crashed | Reason::TimedOut => InfeasibleClass::Run,
        Reason::WrongResult | Reason::UnwrittenOutput | Reason::Hazard => InfeasibleClass::Wrong,
    }
}
