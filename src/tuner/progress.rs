//! Where a run stands: the best candidate, what each stage brought, and the record for reports.

use std::collections::BTreeMap;

use super::candidate::{AppliedPatch, Candidate};
use super::evaluation::{CaseTime, Champion, Outcome};
use super::session::Judged;
use crate::report::event::{self, Event, Stage};
use crate::space::Configuration;
use crate::verify::{Reason, Rejection};

/// Evaluations and gain of one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageTally {
    /// Evaluations spent.
    pub evaluations: u64,
    /// Product of all improvements: 2.0 means that this stage made the operator twice as fast.
    pub gain: f64,
}

impl Default for StageTally {
    fn default() -> Self {
        Self { evaluations: 0, gain: 1.0 }
    }
}

/// An evaluation with what made it, for the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Number from 1.
    pub index: u64,
    /// Stage that made it.
    pub stage: Stage,
    /// Digest of the candidate.
    pub digest: String,
    /// Values of the tunables.
    pub configuration: Configuration,
    /// Motif tried, empty in the host stage.
    pub motif: String,
    /// What it is, one line.
    pub title: String,
    /// Objective in microseconds, `None` if rejected.
    pub objective_us: Option<f64>,
    /// Times of the cases.
    pub times: Vec<CaseTime>,
    /// Why it was rejected.
    pub rejection: Option<Rejection>,
    /// Whether it became the best.
    pub improved: bool,
}

/// A change that became part of the best candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Milestone {
    /// Stage that found it.
    pub stage: Stage,
    /// Motif, empty in the host stage.
    pub motif: String,
    /// What it does, one line.
    pub title: String,
    /// Why it was proposed, empty in the host stage.
    pub why: String,
    /// Objective before over objective after.
    pub gain: f64,
    /// Best candidate before.
    pub before: Candidate,
    /// Best candidate after.
    pub after: Candidate,
}

/// State shared by the stages.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Objective of the operator as it was.
    pub baseline_us: f64,
    /// Best candidate.
    pub best: Candidate,
    /// Its objective.
    pub best_us: f64,
    /// Its case times.
    pub best_times: Vec<CaseTime>,
    /// Case times of the operator as it was.
    baseline_times: Vec<CaseTime>,
    /// No case may end slower than it began by more than this ratio.
    case_floor: f64,
    /// What each stage did.
    pub tallies: BTreeMap<Stage, StageTally>,
    /// Everything tried, in order.
    pub attempts: Vec<Attempt>,
    /// What the best candidate is made of, in order.
    pub milestones: Vec<Milestone>,
}

impl Progress {
    /// A run that starts at the baseline.
    /// `case_floor` is the ratio by which the slowest case may end slower than it began.
    pub fn new(baseline: Candidate, baseline_us: f64, times: Vec<CaseTime>, case_floor: f64) -> Self {
        Self {
            baseline_times: times.clone(),
            case_floor,
            baseline_us,
            best: baseline,
            best_us: baseline_us,
            best_times: times,
            tallies: BTreeMap::from([(Stage::Host, StageTally::default()), (Stage::Kernel, StageTally::default())]),
            attempts: Vec::new(),
            milestones: Vec::new(),
        }
    }

    /// How far the worst case lies beyond the floor, as a ratio; 1 where no case does.
    pub fn beyond_floor(&self, times: &[CaseTime]) -> f64 {
        let ratios = self.baseline_times.iter().zip(times).map(|(before, after)| after.task_us / before.task_us);
        (ratios.fold(0.0, f64::max) / self.case_floor).max(1.0)
    }

    /// What others race against.
    pub fn champion(&self) -> Champion {
        Champion { times: self.best_times.clone(), us: self.best_us }
    }

    /// Best speed-up so far.
    pub fn speedup(&self) -> f64 {
        self.baseline_us / self.best_us
    }

    /// Takes note of an evaluation, makes its candidate the best if it is, and says so.
    ///
    /// `patch` is the rewrite that made the candidate, `None` in the host stage. `may_win` is false for a candidate that
    /// another one of its batch beats. Returns whether it improved.
    pub fn record(
        &mut self,
        stage: Stage,
        candidate: &Candidate,
        patch: Option<&AppliedPatch>,
        judged: &Judged,
        may_win: bool,
        emit: &mut dyn FnMut(Event),
    ) -> bool {
        let (times, rejection) = match &judged.evaluation.outcome {
            Outcome::Valid(times) => (times.clone(), None),
            Outcome::Rejected(rejection) => (Vec::new(), Some(rejection.clone())),
        };
        let improved = may_win
            && !judged.repeated
            && judged.evaluation.thorough
            && judged.objective_us.is_some_and(|us| us < self.best_us)
            && self.beyond_floor(&times) <= 1.0;
        let title =
            patch.map_or_else(|| changed_values(&self.best.configuration, candidate), |patch| patch.title.clone());
        if improved {
            let objective_us = judged.objective_us.unwrap_or(self.best_us);
            self.take_over(stage, candidate, patch, &title, objective_us, &times);
        }
        if !judged.repeated {
            self.tallies.entry(stage).or_default().evaluations += 1;
        }
        emit(Event::Evaluation(event::Evaluation {
            index: judged.index,
            candidate: judged.evaluation.digest.clone(),
            stage,
            configuration: candidate.configuration.clone(),
            motif: patch.map(|patch| patch.motif.clone()),
            status: rejection.as_ref().map_or(event::Status::Valid, status_of),
            reason: rejection.as_ref().map(Rejection::to_string),
            cases: times.iter().map(|time| event::CaseTime { name: time.name.clone(), us: time.task_us }).collect(),
            objective_us: judged.objective_us,
            estimated: judged.evaluation.estimate_us.is_some(),
            blocks: judged.evaluation.blocks.clone(),
            speedup: self.speedup(),
            cached: judged.repeated,
        }));
        if improved {
            emit(Event::Improvement(event::Improvement {
                index: judged.index,
                candidate: judged.evaluation.digest.clone(),
                stage,
                objective_us: self.best_us,
                speedup: self.speedup(),
                change: title.clone(),
            }));
        }
        if !judged.repeated {
            self.attempts.push(Attempt {
                index: judged.index,
                stage,
                digest: judged.evaluation.digest.clone(),
                configuration: candidate.configuration.clone(),
                motif: patch.map(|patch| patch.motif.clone()).unwrap_or_default(),
                title,
                objective_us: judged.objective_us,
                times,
                rejection,
                improved,
            });
        }
        improved
    }

    /// Adds to the reason of the rewrite that was taken over last what it did.
    pub fn explain(&mut self, clause: &str) {
        let patch = self.best.patches.last_mut().map(|patch| &mut patch.why);
        let milestone = self.milestones.last_mut();
        let after = milestone.map(|last| (&mut last.why, last.after.patches.last_mut().map(|patch| &mut patch.why)));
        let (milestone, after) = after.map_or((None, None), |(why, after)| (Some(why), after));
        for why in [patch, milestone, after].into_iter().flatten() {
            why.push_str("; ");
            why.push_str(clause);
        }
    }

    fn take_over(
        &mut self,
        stage: Stage,
        candidate: &Candidate,
        patch: Option<&AppliedPatch>,
        title: &str,
        objective_us: f64,
        times: &[CaseTime],
    ) {
        let gain = self.best_us / objective_us;
        self.tallies.entry(stage).or_default().gain *= gain;
        let before = std::mem::replace(&mut self.best, candidate.clone());
        if patch.is_some()
            && let Some(last) = self.best.patches.last_mut()
        {
            last.gain = gain;
        }
        self.best_us = objective_us;
        self.best_times = times.to_vec();
        // Steps of the search that follow each other are one change of values to a reader.
        match self.milestones.last_mut() {
            Some(last) if stage == Stage::Host && last.stage == Stage::Host => {
                last.gain *= gain;
                last.after = self.best.clone();
                last.title = changed_values(&last.before.configuration, &self.best);
            }
            _ => self.milestones.push(Milestone {
                stage,
                motif: patch.map(|patch| patch.motif.clone()).unwrap_or_default(),
                title: title.to_owned(),
                why: patch.map(|patch| patch.why.clone()).unwrap_or_default(),
                gain,
                before,
                after: self.best.clone(),
            }),
        }
    }
}

fn changed_values(before: &Configuration, candidate: &Candidate) -> String {
    let changed: Vec<String> = candidate
        .configuration
        .iter()
        .filter(|(name, value)| before.get(name) != Some(value))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if changed.is_empty() { candidate.configuration.to_string() } else { changed.join(" ") }
}

/// The event format's word for a rejection.
pub fn status_of(rejection: &Rejection) -> event::Status {
    match rejection.reason {
        Reason::EditFailed => event::Status::PatchFailed,
        Reason::BuildFailed => event::Status::BuildFailed,
        Reason::TilingFailed => event::Status::Infeasible,
        Reason::WrongResult | Reason::UnwrittenOutput => event::Status::WrongOutput,
        Reason::Hazard => event::Status::Hazard,
        Reason::Crashed => event::Status::RunFailed,
        Reason::TimedOut | Reason::OutOfMemory => event::Status::LimitExceeded,
    }
}
