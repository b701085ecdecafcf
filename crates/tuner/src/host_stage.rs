//! The host stage: search over tunables of the best candidate's sources.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use super::evaluation::Outcome;
use super::plan::Plan;
use super::progress::{Attempt, Progress};
use super::scheduler::Limits;
use super::session::{BATCH, Session};
use super::twins::{Made, Twins};
use super::{TunerError, injection::Injection};
use events::{Event, Stage};
use search::{self, InfeasibleClass, Strategy};
use space::{Configuration, Tunable};
use verify::{Reason, Rejection};

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
    /// Values of tunables whose place a rewrite has taken away: the space still has them, the sources do not.
    pub gone: &'a Configuration,
}

/// A configuration as it was asked for, what it makes of the sources, and how that is run.
struct Asked {
    configuration: Configuration,
    candidate: Candidate,
    plan: Plan,
    /// What the tiling function makes of it, where that is all there is to it.
    made: Option<Made>,
    /// Others that were asked for together with it, of which the same is made.
    twins: Vec<Configuration>,
}

impl HostStage<'_> {
    /// Searches until the turn's limits are reached or nothing is promised any more. Returns whether anything improved.
    pub async fn run(
        &self,
        strategy: &mut dyn Strategy,
        twins: &mut Twins,
        session: &mut Session,
        progress: &mut Progress,
        limits: Limits,
        emit: &mut dyn FnMut(Event),
    ) -> Result<bool, TunerError> {
        // Rewrites are kept, values change: every configuration is applied to the sources that the stage began with.
        let origin = progress.best.clone();
        let (begun, before_us) = (session.spent(), progress.best_us);
        let mut last_gain = session.used();
        let mut improved = false;
        let mut idle_rounds = 0;
        let mut hopeless = 0;
        let mut first = self.first.clone();
        loop {
            let spent = session.spent().since(begun);
            let idle = session.used() - last_gain;
            if session.left() == 0 || limits.reached(spent, idle, before_us / progress.best_us) {
                break;
            }
            let room = limits.left(spent).min(session.left());
            let asked = match std::mem::take(&mut first) {
                none if none.is_empty() => {
                    strategy.set_prices(session.prices(self.injection));
                    strategy.ask(BATCH.min(room as usize))
                }
                first => first,
            };
            hopeless = if strategy.expected_gain().is_some_and(|gain| gain < WORTH_ASKING) { hopeless + 1 } else { 0 };
            if asked.is_empty() || idle_rounds >= BATCH || hopeless > 1 {
                break;
            }
            let before = session.used();
            let asked = self.prepare(&origin, asked, strategy);
            let asked = self.without_twins(asked, strategy, twins, session).await?;
            let plans = asked.iter().map(|asked| asked.plan.clone()).collect();
            let judged = session.evaluate(plans, &progress.champion(self.tunables)).await?;
            for (Asked { configuration, candidate, made, twins: with_it, .. }, judged) in asked.into_iter().zip(judged)
            {
                let Some(judged) = judged else { continue };
                let outcome = match (&judged.evaluation.outcome, judged.objective_us) {
                    (Outcome::Rejected(rejection), _) => search::Observation::Infeasible { class: class_of(rejection) },
                    // A candidate that may not win must not look like one.
                    (Outcome::Valid(times), Some(us)) => {
                        search::Observation::Objective(us * progress.beyond_floor(times))
                    }
                    (Outcome::Valid(_), None) => continue,
                };
                for told in [&configuration].into_iter().chain(&with_it) {
                    strategy.tell(told, &outcome);
                }
                twins.note(made, outcome);
                if progress.record(Stage::Host, &candidate, None, &judged, true, emit) {
                    improved = true;
                    last_gain = session.used();
                }
            }
            idle_rounds = if session.used() == before { idle_rounds + 1 } else { 0 };
        }
        Ok(improved)
    }

    /// Candidates and plans of configurations; those that cannot be applied are told infeasible at once.
    fn prepare(&self, origin: &Candidate, asked: Vec<Configuration>, strategy: &mut dyn Strategy) -> Vec<Asked> {
        let mut prepared = Vec::with_capacity(asked.len());
        for configuration in asked {
            let is_there = |name: &str| self.gone.get(name).is_none();
            let present = configuration.iter().filter(|(name, _)| is_there(name));
            let present = present.map(|(name, value)| (name.to_owned(), value.clone())).collect();
            let made = origin.with_configuration(self.tunables, &present).and_then(|candidate| {
                let plan = self.injection.plan(&candidate, self.tunables)?;
                Ok((candidate, plan))
            });
            match made {
                Ok((candidate, plan)) => {
                    prepared.push(Asked { configuration, candidate, plan, made: None, twins: Vec::new() });
                }
                Err(error) => {
                    tracing::debug!(%configuration, %error, "configuration cannot be applied");
                    strategy.tell(&configuration, &search::Observation::Infeasible { class: InfeasibleClass::Build });
                }
            }
        }
        prepared
    }

    /// Those that are unlike all before them. Of the others the strategy is told what is known.
    async fn without_twins(
        &self,
        asked: Vec<Asked>,
        strategy: &mut dyn Strategy,
        twins: &Twins,
        session: &Session,
    ) -> Result<Vec<Asked>, TunerError> {
        let mut unlike: Vec<Asked> = Vec::with_capacity(asked.len());
        for mut asked in asked {
            let made = Made::by(session.evaluator(), self.injection, &asked.plan, session.jobs()).await?;
            if let Some(outcome) = twins.outcome(made.as_ref()) {
                strategy.tell(&asked.configuration, outcome);
                continue;
            }
            let first =
                made.as_ref().and_then(|made| unlike.iter_mut().find(|first| first.made.as_ref() == Some(made)));
            if let Some(first) = first {
                first.twins.push(asked.configuration);
                continue;
            }
            asked.made = made;
            unlike.push(asked);
        }
        Ok(unlike)
    }

    /// Tunables that the sources of the best candidate do not have, with the values that they have `at_first`.
    pub fn gone(at_first: &Configuration, best: &Candidate) -> Configuration {
        let lost = at_first.iter().filter(|(name, _)| best.configuration.get(name).is_none());
        lost.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }

    /// What is already known of this space, for a strategy that starts: the best configuration, and those that fail whatever is
    /// rewritten on top.
    pub fn known(progress: &Progress, gone: &Configuration) -> BTreeMap<Configuration, search::Observation> {
        let complete = |configuration: &Configuration| {
            let mut complete = configuration.clone();
            for (name, value) in gone.iter() {
                complete.set(name, value.clone());
            }
            complete
        };
        let rewrites = progress.best.rewrites();
        let failing = progress.attempts.iter().filter(|attempt| goes_on_failing(attempt, &rewrites));
        let failing = failing.filter_map(|attempt| {
            let class = class_of(attempt.rejection.as_ref()?);
            Some((complete(&attempt.configuration), search::Observation::Infeasible { class }))
        });
        let mut known: BTreeMap<Configuration, search::Observation> = failing.collect();
        known.insert(complete(&progress.best.configuration), search::Observation::Objective(progress.best_us));
        known
    }
}

/// Whether a configuration that was rejected before is rejected on sources with these rewrites too. What the tiling function refuses, it
/// goes on refusing; what is wrong by its values stays so with more rewrites, which may only make room, or be quicker.
pub(super) fn goes_on_failing(attempt: &Attempt, rewrites: &[String]) -> bool {
    let Some(rejection) = &attempt.rejection else { return false };
    if rejection.reason == Reason::TilingFailed {
        return true;
    }
    let of_host = attempt.stage == Stage::Host;
    match class_of(rejection) {
        InfeasibleClass::Build | InfeasibleClass::Wrong => {
            of_host && attempt.rewrites.iter().all(|motif| rewrites.contains(motif))
        }
        InfeasibleClass::Resource => of_host && attempt.rewrites == rewrites,
        InfeasibleClass::Tiling | InfeasibleClass::Run => false,
    }
}

/// What a rejection is to a search.
pub(super) fn class_of(rejection: &Rejection) -> InfeasibleClass {
    match rejection.reason {
        Reason::EditFailed | Reason::BuildFailed => InfeasibleClass::Build,
        Reason::TilingFailed => InfeasibleClass::Tiling,
        Reason::OutOfMemory => InfeasibleClass::Resource,
        Reason::Hazard if rejection.hazard == Some(aicore::HazardKind::UbOverflow) => InfeasibleClass::Resource,
        Reason::Crashed | Reason::TimedOut => InfeasibleClass::Run,
        Reason::WrongResult | Reason::KnownData | Reason::UnwrittenOutput | Reason::Hazard => InfeasibleClass::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;
    use space::Value;

    #[test]
    fn a_tunable_that_a_rewrite_took_away_keeps_its_value_in_the_space() {
        let candidate = |values: &[(&str, i64)]| Candidate {
            sources: SourceTree::new(),
            configuration: values.iter().map(|(name, value)| ((*name).to_owned(), Value::Int(*value))).collect(),
            patches: Vec::new(),
        };
        let gone =
            HostStage::gone(&candidate(&[("CORES", 16), ("TILE", 256)]).configuration, &candidate(&[("TILE", 512)]));
        assert_eq!(gone.to_string(), "CORES=16");
    }

    #[test]
    fn what_is_wrong_stays_wrong_under_more_rewrites_and_not_under_others() {
        let attempt = |stage, reason, rewrites: &[&str]| Attempt {
            index: 1,
            stage,
            digest: String::new(),
            configuration: Configuration::new(),
            rewrites: rewrites.iter().map(|motif| (*motif).to_owned()).collect(),
            motif: String::new(),
            title: String::new(),
            objective_us: None,
            times: Vec::new(),
            rejection: Some(Rejection::new(reason, "small", "")),
            improved: false,
        };
        let now = ["D23".to_owned(), "L08".to_owned()];
        let goes_on = |reason, rewrites: &[&str]| goes_on_failing(&attempt(Stage::Host, reason, rewrites), &now);
        assert!(goes_on(Reason::WrongResult, &["D23"]) && goes_on(Reason::BuildFailed, &[]));
        assert!(!goes_on(Reason::WrongResult, &["D23", "Y04"]), "gone back to before Y04");
        assert!(goes_on(Reason::OutOfMemory, &["D23", "L08"]) && !goes_on(Reason::OutOfMemory, &["D23"]));
        assert!(goes_on(Reason::TilingFailed, &["Y04"]));
        assert!(!goes_on(Reason::TimedOut, &["D23"]), "a rewrite may make it quicker");
        let by_rewrite = attempt(Stage::Kernel, Reason::WrongResult, &["D23"]);
        assert!(!goes_on_failing(&by_rewrite, &now), "the rewrite is to blame");
    }
}
