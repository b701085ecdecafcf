//! Which tunables can be given at run time instead of being compiled in: found out once per set of sources.

use std::collections::BTreeSet;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::TunerError;
use super::candidate::{Candidate, CandidateError};
use super::device_sources::only_host;
use super::evaluator::Evaluator;
use super::plan::Plan;
use super::trial_error::Judgeable;
use manifest::Layout;
use source::tunable::looks_compile_time;
use space::{Binding, Tunable, Value, domain_values};
use verify::Reason;

/// Tunables that need no rebuild.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Injection {
    injectable: Vec<Tunable>,
    /// Tunables that must be compiled in, each with the reason.
    pub compiled_in: Vec<(String, String)>,
    /// Tunables that no timed case reads: they stand where none comes by.
    pub unread: BTreeSet<String>,
    /// Limits that no timed case comes near: whatever they are, the tiling function decides the same.
    pub loose: BTreeSet<String>,
    /// Tunables given at run time that no kernel can see: all that they do is in what the tiling function decides.
    pub of_host: BTreeSet<String>,
}

impl Injection {
    /// Nothing is injected.
    pub fn none() -> Self {
        Self::default()
    }

    /// Tries by compiling, so many things `at_once`: first everything that does not look like a compile-time constant, then, if
    /// that fails, each alone.
    pub async fn find_out(
        evaluator: &Evaluator,
        best: &Candidate,
        tunables: &[Tunable],
        at_once: usize,
    ) -> Result<Self, TunerError> {
        let mut found = Self::none();
        let mut hopeful = Vec::new();
        for tunable in tunables {
            if matches!(tunable.binding, Binding::Cmake { .. }) {
                found.compiled_in.push((tunable.name.clone(), "it is a CMake cache entry".to_owned()));
            } else if let Some(reason) = looks_compile_time(&best.sources, tunable) {
                found.compiled_in.push((tunable.name.clone(), reason));
            } else {
                hopeful.push(tunable.clone());
            }
        }
        if hopeful.is_empty() {
            return Ok(found);
        }
        if compiles(evaluator, best, tunables, &hopeful).await? {
            found.injectable = hopeful;
            return found.with_idle(evaluator, best, tunables, at_once).await;
        }
        let alone = hopeful.iter().map(|tunable| compiles(evaluator, best, tunables, std::slice::from_ref(tunable)));
        let compiled: Vec<bool> = stream::iter(alone).buffered(at_once.max(1)).try_collect().await?;
        for (tunable, compiles) in hopeful.into_iter().zip(compiled) {
            if compiles {
                found.injectable.push(tunable);
            } else {
                found.compiled_in.push((tunable.name.clone(), "it does not compile as a run-time value".to_owned()));
            }
        }
        if found.injectable.len() > 1 && !compiles(evaluator, best, tunables, &found.injectable).await? {
            found.injectable.truncate(1);
        }
        found.with_idle(evaluator, best, tunables, at_once).await
    }

    /// Whether nothing changes by a tunable's value.
    pub fn is_idle(&self, name: &str) -> bool {
        self.unread.contains(name) || self.loose.contains(name)
    }

    /// The same, with what makes no difference.
    async fn with_idle(
        mut self,
        evaluator: &Evaluator,
        best: &Candidate,
        tunables: &[Tunable],
        at_once: usize,
    ) -> Result<Self, TunerError> {
        self.unread = self.never_read(evaluator, best, tunables, at_once).await?;
        if evaluator.manifest.layout != Layout::DirectLaunch {
            let kernels = &evaluator.builder.project().kernel_files;
            let of_host = self.injectable.iter().filter(|tunable| only_host(tunable, &best.sources, kernels));
            self.of_host = of_host.map(|tunable| tunable.name.clone()).collect();
        }
        self.loose = self.never_near(evaluator, best, tunables, at_once).await?;
        Ok(self)
    }

    /// Limits of host code that are the same to the tiling function at both ends of their domain, whether all others are as they are
    /// or as tight as can be. Values of a limit between two ends that decide the same decide the same as well.
    async fn never_near(
        &self,
        evaluator: &Evaluator,
        best: &Candidate,
        tunables: &[Tunable],
        at_once: usize,
    ) -> Result<BTreeSet<String>, TunerError> {
        let limits: Vec<(&Tunable, [Value; 2])> = self
            .injectable
            .iter()
            .filter(|tunable| {
                matches!(tunable.binding, Binding::Cap { .. } | Binding::Share { .. } | Binding::Portion { .. })
            })
            .filter(|tunable| self.of_host.contains(&tunable.name) && !self.unread.contains(&tunable.name))
            .filter_map(|tunable| Some((tunable, ends(tunable)?)))
            .collect();
        let mut tight = best.clone();
        for (tunable, [tightest, _]) in &limits {
            tight.configuration.set(&tunable.name, tightest.clone());
        }
        let mut loose = BTreeSet::new();
        for (tunable, ends) in &limits {
            let beside = if limits.len() > 1 { vec![best, &tight] } else { vec![best] };
            if self.decide_alike(evaluator, tunables, &tunable.name, ends, &beside, at_once).await? {
                loose.insert(tunable.name.clone());
            }
        }
        Ok(loose)
    }

    /// Whether the tiling function decides the same for every timed case with two values of a tunable, beside all these.
    async fn decide_alike(
        &self,
        evaluator: &Evaluator,
        tunables: &[Tunable],
        name: &str,
        values: &[Value; 2],
        beside: &[&Candidate],
        at_once: usize,
    ) -> Result<bool, TunerError> {
        for candidate in beside {
            let with = |value: &Value| {
                let mut changed = Candidate::clone(candidate);
                changed.configuration.set(name, value.clone());
                self.plan(&changed, tunables)
            };
            let [Ok(one), Ok(other)] = values.each_ref().map(with) else { return Ok(false) };
            // What the tiling function refuses is a difference.
            let Some(decided) = evaluator.decisions(&one, at_once).await? else { return Ok(false) };
            if evaluator.decisions(&other, at_once).await? != Some(decided) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tunables given at run time that no timed case reads; none where that is not known.
    async fn never_read(
        &self,
        evaluator: &Evaluator,
        best: &Candidate,
        tunables: &[Tunable],
        at_once: usize,
    ) -> Result<BTreeSet<String>, TunerError> {
        let mut unread: BTreeSet<String> = self.injectable.iter().map(|tunable| tunable.name.clone()).collect();
        let Ok(plan) = self.plan(best, tunables) else { return Ok(BTreeSet::new()) };
        let timed = evaluator.workload.trials.iter().filter(|trial| trial.timed);
        let runs = timed.map(|trial| async { evaluator.run_trial(&plan, trial, false).await.judged() });
        let all: Vec<_> = stream::iter(runs).buffered(at_once.max(1)).try_collect().await?;
        for ran in all {
            let Some(read) = ran.ok().and_then(|execution| execution.knobs_read) else { return Ok(BTreeSet::new()) };
            unread.retain(|name| !read.contains(name));
        }
        Ok(unread)
    }

    /// Names of the tunables that need no rebuild.
    pub fn names(&self) -> Vec<&str> {
        self.injectable.iter().map(|tunable| tunable.name.as_str()).collect()
    }

    /// How to build and run a candidate.
    pub fn plan(&self, candidate: &Candidate, tunables: &[Tunable]) -> Result<Plan, CandidateError> {
        candidate.injected_plan(tunables, &self.injectable)
    }
}

/// The first and the last value of a tunable.
fn ends(tunable: &Tunable) -> Option<[Value; 2]> {
    let mut values = domain_values(tunable).ok()?;
    let last = values.pop()?;
    Some([values.into_iter().next()?, last])
}

/// Whether the candidate builds, and computes as it should, with these tunables read at run time.
async fn compiles(
    evaluator: &Evaluator,
    best: &Candidate,
    tunables: &[Tunable],
    injectable: &[Tunable],
) -> Result<bool, TunerError> {
    let Ok(plan) = best.injected_plan(tunables, injectable) else { return Ok(false) };
    let Some(trial) = evaluator.workload.trials.first() else { return Ok(false) };
    Ok(match evaluator.run_trial(&plan, trial, false).await.judged()? {
        Ok(_) => true,
        // The build is what is asked here; a kernel that fails otherwise is judged as a candidate.
        Err(rejection) => rejection.reason != Reason::BuildFailed,
    })
}
