//! What the host stage carries from turn to turn: a strategy for the sources at hand, and what earlier sources say about it.

use std::collections::BTreeSet;

use super::TunerError;
use super::candidate::Candidate;
use super::host_stage::{HostStage, class_of, goes_on_failing};
use super::injection::Injection;
use super::progress::{Attempt, Progress};
use super::scheduler::Limits;
use super::session::Session;
use super::twins::{Made, Twins};
use events::{self, Event, Stage};
use search::{FaultyValues, InfeasibleClass, Observation, Strategy, StrategyKind};
use space::{Configuration, LinearBound, Point, SearchSpace, Tunable};

/// Configurations that did best on the sources before a rewrite, besides the best one: they are tried again before the strategy
/// is asked. Their times would mislead, but what was good there is seldom bad here.
const TRIED_AGAIN: usize = 2;

/// The search of a run over its tunables.
pub struct HostSearch<'a> {
    space: &'a SearchSpace,
    tunables: &'a [Tunable],
    /// Values that the tunables begin with.
    at_first: Configuration,
    kind: StrategyKind,
    seed: u64,
    strategy: Box<dyn Strategy>,
    injection: Injection,
    /// Rewrites of the sources that strategy and injection are for; `None` before the first turn.
    rewrites: Option<Vec<String>>,
    /// Values of tunables that a rewrite has taken away.
    gone: Configuration,
    /// To be tried before the strategy is asked.
    first: Vec<Configuration>,
    /// The space without what cannot fit into memory on the sources as they were.
    fitting: SearchSpace,
    /// What came of configurations of these sources.
    twins: Twins,
    /// Number of attempts when the strategy began.
    begun: usize,
}

impl<'a> HostSearch<'a> {
    /// A search that has not begun; `first` is tried before the strategy is asked.
    pub fn new(
        space: &'a SearchSpace,
        tunables: &'a [Tunable],
        baseline: &Candidate,
        kind: StrategyKind,
        seed: u64,
        first: Vec<Configuration>,
    ) -> Self {
        Self {
            space,
            tunables,
            at_first: baseline.at_first(tunables),
            kind,
            seed,
            strategy: kind.build(space, seed),
            injection: Injection::none(),
            rewrites: None,
            gone: Configuration::new(),
            first,
            fitting: space.clone(),
            twins: Twins::default(),
            begun: 0,
        }
    }

    /// The same, where these bounds are known to hold on the sources of the baseline.
    #[must_use]
    pub fn within(mut self, bounds: &[LinearBound]) -> Self {
        self.fitting = self.space.clone().with_bounds(bounds);
        let first = std::mem::take(&mut self.first);
        self.first = first.into_iter().filter(|configuration| self.may_fit(configuration)).collect();
        self
    }

    /// A turn of the host stage, the `number`-th turn of the run.
    pub async fn turn(
        &mut self,
        number: u64,
        session: &mut Session,
        progress: &mut Progress,
        limits: Limits,
        emit: &mut dyn FnMut(Event),
    ) -> Result<(), TunerError> {
        let rewrites = progress.best.rewrites();
        if self.rewrites.as_ref() != Some(&rewrites) {
            // What can be injected depends on the sources; rewrites may change it.
            self.injection =
                Injection::find_out(session.evaluator(), &progress.best, self.tunables, session.jobs()).await?;
            if self.rewrites.is_some() {
                self.first = self.worth_trying_again(progress);
            }
            if self.rewrites.is_none() {
                let Injection { unread, loose, .. } = &self.injection;
                let idle = [("tunables-unread", unread, READS), ("tunables-loose", loose, COMES_NEAR)];
                idle.into_iter().filter(|(_, names, _)| !names.is_empty()).for_each(|found| emit(idle_tunables(found)));
            }
            self.begin(number, progress);
            self.twins = Twins::default();
            if let Ok(plan) = self.injection.plan(&progress.best, self.tunables) {
                let made = Made::by(session.evaluator(), &self.injection, &plan, session.jobs()).await?;
                self.twins.note(made, Observation::Objective(progress.best_us));
            }
            self.rewrites = Some(rewrites);
        }
        let first = std::mem::take(&mut self.first);
        let host = HostStage { tunables: self.tunables, injection: &self.injection, first, gone: &self.gone };
        host.run(&mut *self.strategy, &mut self.twins, session, progress, limits, emit).await?;
        Ok(())
    }

    /// Has the next turn try other values of one tunable at a time beside those of the best candidate. Returns how many.
    ///
    /// A strategy stops where it expects nothing; whoever reads the result expects that no single change makes it better.
    pub fn try_beside(&mut self, progress: &Progress) -> u64 {
        let mut best = progress.best.configuration.clone();
        for (name, value) in HostStage::gone(&self.at_first, &progress.best).iter() {
            best.set(name, value.clone());
        }
        let Some(here) = self.space.point(&best) else { return 0 };
        let faulty = self.faulty(progress);
        let mut beside = Vec::new();
        for (dimension, tunable) in self.space.tunables().enumerate() {
            let varied = progress.best.configuration.get(&tunable.name).is_some();
            if !varied || self.injection.is_idle(&tunable.name) {
                continue;
            }
            for index in values_beside(here[dimension], self.space.domain_len(dimension)) {
                let Some(value) = self.space.value(dimension, index) else { continue };
                let mut configuration = best.clone();
                configuration.set(&tunable.name, value.clone());
                let may_fit = !progress.best.patches.is_empty() || self.may_fit(&configuration);
                let point = self.space.point(&configuration);
                let may_work = !point.is_some_and(|point| faulty.iter().any(|values| values.is_in(&point)));
                if may_fit && may_work && self.space.check(&configuration).is_ok() {
                    beside.push(configuration);
                }
            }
        }
        let count = beside.len() as u64;
        self.first.extend(beside);
        count
    }

    /// Whether nothing is known that keeps a configuration from fitting into memory on the sources as they were.
    fn may_fit(&self, configuration: &Configuration) -> bool {
        self.space.check(configuration).is_err() || self.fitting.check(configuration).is_ok()
    }

    /// Values that keep everything from compiling, and such that are wrong on the sources of the best candidate, as far as this run
    /// has seen.
    fn faulty(&self, progress: &Progress) -> [FaultyValues; 2] {
        let points = |attempts: Vec<&Attempt>| -> Vec<Point> {
            attempts.iter().filter_map(|attempt| self.space.point(&attempt.configuration)).collect()
        };
        let rejected_as = |attempt: &Attempt, class| attempt.rejection.as_ref().map(class_of) == Some(class);
        let baseline = self.space.point(&self.at_first);
        let unbuilt = |attempt: &&Attempt| rejected_as(attempt, InfeasibleClass::Build);
        let (failed, built): (Vec<&Attempt>, Vec<&Attempt>) = progress.attempts.iter().partition(unbuilt);
        let (failed, mut built) = (points(failed), points(built));
        built.extend(baseline.clone());
        let rewrites = progress.best.rewrites();
        let wrong =
            |attempt: &&Attempt| rejected_as(attempt, InfeasibleClass::Wrong) && goes_on_failing(attempt, &rewrites);
        let mut right = points(progress.attempts.iter().filter(|attempt| attempt.rejection.is_none()).collect());
        right.extend(baseline);
        let wrong = points(progress.attempts.iter().filter(wrong).collect());
        [FaultyValues::unbuildable(&built, &failed), FaultyValues::wrong(&right, &wrong)]
    }

    /// Tunables that had to be compiled in, with reasons.
    pub fn compiled_in(self) -> Vec<(String, String)> {
        self.injection.compiled_in
    }

    /// A strategy for the sources of the best candidate. Times of other sources mislead; what the tiling function refuses, it
    /// goes on refusing.
    fn begin(&mut self, number: u64, progress: &Progress) {
        // What a rewrite has taken away is no choice any more, and what nobody reads makes no difference.
        self.gone = HostStage::gone(&self.at_first, &progress.best);
        let mut fixed = self.gone.clone();
        for name in self.injection.unread.iter().chain(&self.injection.loose) {
            if let Some(value) = progress.best.configuration.get(name) {
                fixed.set(name, value.clone());
            }
        }
        // A rewrite may have made room.
        let space = if progress.best.patches.is_empty() { &self.fitting } else { self.space };
        let left = space.clone().with_fixed(&fixed).unwrap_or_else(|_| space.clone());
        // Every turn draws its own numbers, and always the same ones.
        let seed = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number);
        self.strategy = self.kind.build(&left, seed);
        for (configuration, outcome) in HostStage::known(progress, &self.gone) {
            self.strategy.tell(&configuration, &outcome);
        }
        self.begun = progress.attempts.len();
    }

    /// The best of what the search tried on the sources before, without the values that the best candidate has already.
    fn worth_trying_again(&self, progress: &Progress) -> Vec<Configuration> {
        let of_host = progress.attempts[self.begun..].iter().filter(|attempt| attempt.stage == Stage::Host);
        let mut timed: Vec<(f64, &Configuration)> =
            of_host.filter_map(|attempt| Some((attempt.objective_us?, &attempt.configuration))).collect();
        timed.sort_by(|left, right| left.0.total_cmp(&right.0));
        let gone = HostStage::gone(&self.at_first, &progress.best);
        let mut again = Vec::new();
        for (_, tried) in timed {
            // A value that is gone from the sources is not varied any more.
            let mut configuration = tried.clone();
            for (name, value) in gone.iter() {
                configuration.set(name, value.clone());
            }
            let differs =
                progress.best.configuration.iter().any(|(name, value)| configuration.get(name) != Some(value));
            if differs && !again.contains(&configuration) && self.space.check(&configuration).is_ok() {
                again.push(configuration);
            }
        }
        again.truncate(TRIED_AGAIN);
        again
    }
}

/// Positions of a domain to try beside one: its neighbours, and others spread over the domain.
fn values_beside(here: u32, length: u32) -> BTreeSet<u32> {
    const SPREAD: u32 = 12;
    let near = [here.wrapping_sub(2), here.wrapping_sub(1), here + 1, here + 2];
    let spread = (0..SPREAD).map(|step| step * (length - 1) / (SPREAD - 1));
    near.into_iter().chain(spread).filter(|index| *index < length && *index != here).collect()
}

/// What no case does with a tunable that makes no difference, and what to do about it.
type Idle = (&'static str, &'static str);
const READS: Idle = ("reads", "add a case that comes by where they stand, or take them out of the manifest");
const COMES_NEAR: Idle =
    ("comes near the limits", "add a case that they would change something for, or take them out of the manifest");

fn idle_tunables((code, names, (does, help)): (&str, &BTreeSet<String>, Idle)) -> Event {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Event::Warning(events::Warning {
        code: code.to_owned(),
        message: format!("no timed case {does} {}: they keep their values", names.join(", ")),
        help: Some(help.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AppliedPatch;
    use source::SourceTree;
    use space::{Binding, Domain, Value};

    fn tunable(name: &str) -> Tunable {
        Tunable {
            name: name.to_owned(),
            domain: Domain::Range { min: 1, max: 48, step: 1 },
            default: Some(Value::Int(1)),
            binding: Binding::Recorded,
            reason: String::new(),
            when: None,
        }
    }

    fn configuration(cores: i64, tile: i64) -> Configuration {
        [("CORES".to_owned(), Value::Int(cores)), ("TILE".to_owned(), Value::Int(tile))].into_iter().collect()
    }

    fn attempt(stage: Stage, configuration: Configuration, objective_us: Option<f64>) -> Attempt {
        Attempt {
            index: 1,
            stage,
            digest: String::new(),
            configuration,
            rewrites: Vec::new(),
            motif: String::new(),
            title: String::new(),
            objective_us,
            times: Vec::new(),
            rejection: None,
            improved: false,
        }
    }

    #[test]
    fn after_a_rewrite_what_did_well_before_is_tried_again() {
        let tunables = [tunable("CORES"), tunable("TILE")];
        let space = SearchSpace::new(&tunables, &[], &[]).unwrap();
        let candidate = |configuration| Candidate { sources: SourceTree::new(), configuration, patches: Vec::new() };
        let baseline = candidate(configuration(1, 1));
        let mut search = HostSearch::new(&space, &tunables, &baseline, StrategyKind::Random, 1, Vec::new());
        let mut progress = Progress::new(baseline.clone(), 10.0, Vec::new(), Vec::new());
        progress.attempts.push(attempt(Stage::Host, configuration(2, 2), Some(1.0)));
        search.begin(0, &progress);
        progress.attempts.extend([
            attempt(Stage::Host, configuration(8, 4), Some(7.0)),
            attempt(Stage::Host, configuration(8, 8), Some(5.0)),
            attempt(Stage::Kernel, configuration(9, 9), Some(1.0)),
            attempt(Stage::Host, configuration(8, 16), None),
            attempt(Stage::Host, configuration(4, 4), Some(9.0)),
            attempt(Stage::Host, configuration(16, 4), Some(6.0)),
        ]);
        progress.best = candidate(configuration(8, 8));
        progress.best.patches.push(AppliedPatch {
            motif: "D01".to_owned(),
            title: String::new(),
            why: String::new(),
            gain: 1.1,
            parts: Vec::new(),
        });
        // Not the best itself, nothing of the kernel stage, of a search before, or refused; and no more than two.
        assert_eq!(search.worth_trying_again(&progress), [configuration(16, 4), configuration(8, 4)]);
        // Where the rewrite has taken the tile away, its value is no difference.
        progress.best.configuration = [("CORES".to_owned(), Value::Int(8))].into_iter().collect();
        assert_eq!(search.worth_trying_again(&progress), [configuration(16, 1), configuration(4, 1)]);
    }
}
