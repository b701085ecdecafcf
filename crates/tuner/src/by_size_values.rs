//! Which values of constants of host code are best for which sizes: what the search has seen, and what it has not, because a
//! candidate that is slow on the first case is out of the race before the others run.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::Candidate;
use super::classes::SizeClass;
use super::evaluation::Outcome;
use super::evaluator::Evaluator;
use super::plan::Plan;
use super::probe_sizes::case_bytes;
use super::progress::{Attempt, Progress};
use super::round::Field;
use super::session::Session;
use super::trial_error::Judgeable;
use super::{CaseTime, TunerError};
use space::{Configuration, SearchSpace, Tunable, Value};

/// A case that moves more is too long to be tried with many values; the search ran it first, and with all of them.
const QUICK_BYTES: u64 = 4 << 20;
/// Of a tunable with more values than these those are tried that lie twice as far from the first one as the one before.
const MOST_VALUES: usize = 10;
/// Candidates of which every case is timed, beside the single one.
const MOST_TIMED: usize = 6;
/// What differs by less, in logarithms, is the same: no reason for a line.
const SAME: f64 = 0.0025;
/// Where a value is slower by more, in logarithms, than what there was, no value beyond it is tried.
const WORSE: f64 = 0.05;

/// Values of the tunables in question.
pub(super) type Values = BTreeMap<String, i64>;

/// A candidate with other values than the single best one, and its times.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    /// It.
    pub candidate: Candidate,
    /// Times of the cases, in their order.
    pub us: Vec<f64>,
}

/// Who looks for values.
pub(super) struct Seeker<'a> {
    /// Cases and weights.
    pub field: &'a Field,
    /// Which configurations there are.
    pub space: &'a SearchSpace,
    /// The tunables that may be chosen by size.
    pub tunables: Vec<&'a Tunable>,
    /// The classes.
    pub classes: &'a [SizeClass],
    /// The single best candidate.
    pub best: &'a Candidate,
    /// Its times.
    pub best_times: &'a [CaseTime],
}

impl Seeker<'_> {
    /// The single best candidate and others that are better for some class, with their times on every case.
    pub async fn seek(&self, session: &mut Session, progress: &Progress) -> Result<Vec<Timed>, TunerError> {
        let single = self.values_of(&self.best.configuration);
        let mut wanted: Vec<Values> = Vec::new();
        for class in self.classes {
            let seen = best_seen(class, self.best_times, &self.names(), &self.best.rewrites(), &progress.attempts);
            let from = seen.filter(|values| self.with(values).is_some());
            let values = match self.is_quick(class) {
                true => Some(self.descend(session, class, from.unwrap_or_else(|| single.clone())).await?),
                false => from,
            };
            wanted.extend(values.filter(|values| *values != single));
        }
        let mut known = BTreeSet::new();
        wanted.retain(|values| known.insert(values.clone()));
        let us = self.best_times.iter().map(|time| time.task_us).collect();
        let mut timed = vec![Timed { candidate: self.best.clone(), us }];
        for values in wanted.into_iter().take(MOST_TIMED) {
            let Some(candidate) = self.with(&values) else { continue };
            let judged = session.evaluate_every_case(&self.plan(&candidate)).await?;
            let Outcome::Valid(times) = judged.evaluation.outcome else { continue };
            let us: Vec<f64> = times.iter().map(|time| time.task_us).collect();
            if us.len() == self.best_times.len() {
                timed.push(Timed { candidate, us });
            }
        }
        Ok(timed)
    }

    /// Of two candidates the first one with as many values of the second as cost nothing on a class: what makes no difference is no
    /// choice.
    pub async fn closer(
        &self,
        session: &mut Session,
        (one, other): (&Candidate, &Candidate),
        class: &[usize],
    ) -> Result<Candidate, TunerError> {
        let (mut values, others) = (self.values_of(&one.configuration), self.values_of(&other.configuration));
        let Some(mut least) = self.time(session, &values, class).await? else { return Ok(one.clone()) };
        for (name, value) in others {
            if values.get(&name) == Some(&value) {
                continue;
            }
            let mut tried = values.clone();
            tried.insert(name, value);
            if let Some(us) = self.time(session, &tried, class).await?.filter(|us| *us <= least + SAME) {
                (values, least) = (tried, us.min(least));
            }
        }
        Ok(self.with(&values).unwrap_or_else(|| one.clone()))
    }

    fn names(&self) -> Vec<&str> {
        self.tunables.iter().map(|tunable| tunable.name.as_str()).collect()
    }

    fn values_of(&self, configuration: &Configuration) -> Values {
        let of = |tunable: &&Tunable| Some((tunable.name.clone(), configuration.get(&tunable.name)?.as_int()?));
        self.tunables.iter().filter_map(of).collect()
    }

    /// The single best candidate with other values; `None` where the space has no such point.
    fn with(&self, values: &Values) -> Option<Candidate> {
        let mut configuration = self.best.configuration.clone();
        for (name, value) in values {
            configuration.set(name, Value::Int(*value));
        }
        // Of what a rewrite took away the space wants to know all the same.
        let mut whole = configuration.clone();
        for tunable in self.space.tunables() {
            if let (None, Some(value)) = (whole.get(&tunable.name), &tunable.default) {
                whole.set(&tunable.name, value.clone());
            }
        }
        self.space.check(&whole).ok()?;
        self.best.with_configuration(self.field.workspace.tunables(), &configuration).ok()
    }

    /// All of these tunables are read at run time where that compiles, so that candidates share a build.
    fn plan(&self, candidate: &Candidate) -> Plan {
        let tunables = self.field.workspace.tunables();
        let injected: Vec<Tunable> = self.tunables.iter().copied().cloned().collect();
        candidate.injected_plan(tunables, &injected).unwrap_or_else(|_| candidate.plain_plan(tunables))
    }

    fn is_quick(&self, class: &SizeClass) -> bool {
        let manifest = &self.field.workspace.manifest;
        let bytes = |place: &usize| {
            let name = &self.best_times[*place].name;
            manifest.cases.iter().find(|case| case.name == *name).map_or(u64::MAX, case_bytes)
        };
        class.cases.iter().map(bytes).sum::<u64>() <= QUICK_BYTES
    }

    /// Better values for a class, one tunable after the other, from some values on.
    async fn descend(&self, session: &mut Session, class: &SizeClass, from: Values) -> Result<Values, TunerError> {
        let mut values = from;
        let Some(mut least) = self.time(session, &values, &class.cases).await? else { return Ok(values) };
        for tunable in &self.tunables {
            let Some(here) = values.get(&tunable.name).copied() else { continue };
            let start = least;
            for side in sides(self.space, &tunable.name, here) {
                for value in side {
                    let mut tried = values.clone();
                    tried.insert(tunable.name.clone(), value);
                    let Some(us) = self.time(session, &tried, &class.cases).await? else { break };
                    if us < least - SAME {
                        (values, least) = (tried, us);
                    }
                    if us > start + WORSE {
                        break;
                    }
                }
            }
        }
        Ok(values)
    }

    /// Weighted logarithms of the times of some cases; `None` where one of them fails.
    async fn time(&self, session: &mut Session, values: &Values, cases: &[usize]) -> Result<Option<f64>, TunerError> {
        let Some(candidate) = self.with(values) else { return Ok(None) };
        session.note_beyond(1);
        let plan = self.plan(&candidate);
        let (mut sum, mut weight) = (0.0, 0.0);
        for place in cases {
            let Some(us) = time_case(session.evaluator(), &plan, &self.best_times[*place].name).await? else {
                return Ok(None);
            };
            sum += self.field.weights[*place] * us.ln();
            weight += self.field.weights[*place];
        }
        Ok(Some(sum / weight))
    }
}

/// Time of a case, without looking at what it computes; `None` where it fails.
async fn time_case(evaluator: &Evaluator, plan: &Plan, name: &str) -> Result<Option<f64>, TunerError> {
    let of_case = |case: usize| evaluator.manifest.cases[case].name == name;
    let Some(trial) = evaluator.workload.trials.iter().find(|trial| trial.timed && of_case(trial.case)) else {
        return Ok(None);
    };
    Ok(match evaluator.time_trial(plan, trial).await.judged()? {
        Ok(Ok(execution)) => Some(execution.task_us()),
        Ok(Err(_)) => evaluator.run_trial(plan, trial, false).await.judged()?.ok().map(|execution| execution.task_us()),
        Err(_) => None,
    })
}

/// Values of the fastest right candidate for a class that the search has seen with these rewrites, where it is faster there than the single
/// best one.
fn best_seen(
    class: &SizeClass,
    single: &[CaseTime],
    names: &[&str],
    rewrites: &[String],
    attempts: &[Attempt],
) -> Option<Values> {
    let mut found: Option<(f64, Values)> = None;
    let right = attempts.iter().filter(|attempt| attempt.rejection.is_none() && attempt.rewrites == rewrites);
    for attempt in right {
        let ratio = |place: &usize| {
            let own = attempt.times.iter().find(|own| own.name == single[*place].name)?;
            Some((own.task_us / single[*place].task_us).ln())
        };
        let Some(ratios) = class.cases.iter().map(ratio).collect::<Option<Vec<f64>>>() else { continue };
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let values = names.iter().map(|name| Some(((*name).to_owned(), attempt.configuration.get(name)?.as_int()?)));
        let Some(values) = values.collect::<Option<Values>>() else { continue };
        if mean < -SAME && found.as_ref().is_none_or(|(least, _)| mean < *least) {
            found = Some((mean, values));
        }
    }
    found.map(|(_, values)| values)
}

/// Values of a tunable on both sides of the one that it has, each further away from it, and closer to each other where they are small.
fn sides(space: &SearchSpace, name: &str, here: i64) -> [Vec<i64>; 2] {
    let Some(dimension) = space.tunables().position(|tunable| tunable.name == name) else { return Default::default() };
    let all: Vec<i64> = (0..space.domain_len(dimension))
        .filter_map(|index| space.value(dimension, index).and_then(Value::as_int))
        .collect();
    let Some(last) = all.len().checked_sub(1) else { return Default::default() };
    let doubled = (0..usize::BITS).map(|power| (1usize << power) - 1).take_while(|place| *place <= last).chain([last]);
    let places: BTreeSet<usize> = if all.len() <= MOST_VALUES { (0..=last).collect() } else { doubled.collect() };
    let (mut below, above): (Vec<i64>, Vec<i64>) =
        places.into_iter().map(|place| all[place]).filter(|value| *value != here).partition(|value| *value < here);
    below.reverse();
    [below, above]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::size_classes;
    use events::Stage;
    use space::{Binding, Domain};

    fn tunable(name: &str, domain: Domain) -> Tunable {
        Tunable {
            name: name.to_owned(),
            domain,
            default: Some(Value::Int(1)),
            binding: Binding::Recorded,
            reason: String::new(),
            when: None,
        }
    }

    fn time(name: &str, us: f64) -> CaseTime {
        CaseTime { name: name.to_owned(), task_us: us, bound_us: 0.0, bound_by_work: false, measured: None }
    }

    #[test]
    fn values_on_both_sides_are_tried() {
        let range = tunable("CORES", Domain::Range { min: 1, max: 48, step: 1 });
        let powers = tunable("TILE", Domain::PowerOfTwo { min: 64, max: 1024 });
        let space = SearchSpace::new(&[range, powers], &[], &[]).unwrap();
        assert_eq!(sides(&space, "CORES", 40), [vec![32, 16, 8, 4, 2, 1], vec![48]]);
        assert_eq!(sides(&space, "TILE", 128), [vec![64], vec![256, 512, 1024]]);
        assert!(sides(&space, "OTHER", 64).iter().all(Vec::is_empty));
    }

    #[test]
    fn what_the_search_has_seen_counts_where_all_of_a_class_was_run() {
        let attempt = |tile: i64, rewrites: &[&str], times: &[(&str, f64)]| Attempt {
            index: 1,
            stage: Stage::Host,
            digest: String::new(),
            configuration: [("TILE".to_owned(), Value::Int(tile))].into_iter().collect(),
            rewrites: rewrites.iter().map(|name| (*name).to_owned()).collect(),
            motif: String::new(),
            title: String::new(),
            objective_us: Some(1.0),
            times: times.iter().map(|(name, us)| time(name, *us)).collect(),
            rejection: None,
            improved: false,
        };
        let single = [time("large", 80.0), time("small", 10.0), time("other", 10.0)];
        let classes = size_classes(&[(4096, None), (64, None), (64, None)]);
        let attempts = [
            attempt(512, &["D01"], &[("large", 90.0), ("small", 8.0), ("other", 9.0)]),
            attempt(256, &["D01"], &[("large", 90.0), ("small", 5.0)]),
            attempt(128, &[], &[("large", 10.0), ("small", 1.0), ("other", 1.0)]),
            attempt(64, &["D01"], &[("large", 79.99), ("small", 9.0), ("other", 9.0)]),
        ];
        let seen = |class: usize| best_seen(&classes[class], &single, &["TILE"], &["D01".to_owned()], &attempts);
        assert_eq!(
            seen(0),
            Some(Values::from([("TILE".to_owned(), 512)])),
            "without those of other sources, or of one case only"
        );
        assert_eq!(seen(1), None, "hardly faster");
        assert_eq!(best_seen(&classes[0], &single, &["TILE", "CORES"], &["D01".to_owned()], &attempts), None);
    }
}
