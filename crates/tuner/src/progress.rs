//! Where a run stands: the best candidate, what each stage brought, and the record for reports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::candidate::{AppliedPatch, Candidate};
use super::evaluation::{CaseTime, Champion, Outcome};
use super::session::Judged;
use events::{self, Event, Stage};
use space::{Configuration, Tunable};
use verify::{Reason, Rejection};

/// Evaluations and gain of one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageTally {
    /// Evaluations spent.
    pub evaluations: u64,
    /// Product of all improvements: 2.0 means that this stage made the operator twice as fast.
    pub gain: f64,
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
    /// Motifs of the rewrites that its sources have, in order.
    pub rewrites: Vec<String>,
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
    /// Whether it became the best of all.
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
    /// Its times.
    pub before_times: Vec<CaseTime>,
    /// Best candidate after.
    pub after: Candidate,
    /// The step that this one is a part of, while that is taken apart.
    pub part_of: Option<Arc<Milestone>>,
}

/// Where a way through the candidates has led.
#[derive(Clone, Debug)]
struct Way {
    best: Candidate,
    best_us: f64,
    best_times: Vec<CaseTime>,
    milestones: Vec<Milestone>,
}

/// State shared by the stages.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Objective of the operator as it was.
    pub baseline_us: f64,
    /// Best candidate of the way that is followed now.
    pub best: Candidate,
    /// Its objective.
    pub best_us: f64,
    /// Its case times.
    pub best_times: Vec<CaseTime>,
    /// What the way before has led to, while another one is followed.
    aside: Option<Way>,
    /// Rewrites that were gone back from: digest of the sources before, and title.
    gone_back: BTreeSet<(String, String)>,
    /// Case times of the operator as it was.
    baseline_times: Vec<CaseTime>,
    /// The last best candidate that held on all probes, as long as the cases are the same.
    held: Option<Way>,
    /// Ratios by which the cases may end slower than they began.
    floors: Vec<f64>,
    /// Evaluations of each stage.
    evaluations: BTreeMap<Stage, u64>,
    /// Everything tried, in order.
    pub attempts: Vec<Attempt>,
    /// What the best candidate is made of, in order.
    pub milestones: Vec<Milestone>,
}

impl Progress {
    /// A run that starts at the baseline.
    /// `floors` are the ratios by which the timed cases may end slower than they began.
    pub fn new(baseline: Candidate, baseline_us: f64, times: Vec<CaseTime>, floors: Vec<f64>) -> Self {
        Self {
            baseline_times: times.clone(),
            floors,
            held: None,
            baseline_us,
            best: baseline,
            best_us: baseline_us,
            best_times: times,
            aside: None,
            gone_back: BTreeSet::new(),
            evaluations: BTreeMap::new(),
            attempts: Vec::new(),
            milestones: Vec::new(),
        }
    }

    /// How far the worst case lies beyond the floor, as a ratio; 1 where no case does.
    pub fn beyond_floor(&self, times: &[CaseTime]) -> f64 {
        let ratios = self.baseline_times.iter().zip(times).map(|(before, after)| after.task_us / before.task_us);
        ratios.zip(&self.floors).map(|(ratio, floor)| ratio / floor).fold(1.0, f64::max)
    }

    /// What others race against.
    pub fn champion(&self, tunables: &[Tunable]) -> Champion {
        Champion { times: self.best_times.clone(), us: self.best_us, plan: self.best.plain_plan(tunables) }
    }

    /// Best speed-up so far, on whatever way.
    pub fn speedup(&self) -> f64 {
        self.baseline_us / self.best_us.min(self.aside_us())
    }

    /// What a stage has spent, and what it brought on the way that is followed.
    pub fn tally(&self, stage: Stage) -> StageTally {
        let evaluations = self.evaluations.get(&stage).copied().unwrap_or(0);
        let gains = self.milestones.iter().filter(|milestone| milestone.stage == stage).map(|milestone| milestone.gain);
        StageTally { evaluations, gain: gains.product() }
    }

    fn aside_us(&self) -> f64 {
        self.aside.as_ref().map_or(f64::INFINITY, |aside| aside.best_us)
    }

    /// Takes up again what was put aside, if that is no slower than what the way followed since has led to.
    pub fn keep_best(&mut self) {
        if let Some(aside) = self.aside.take().filter(|aside| aside.best_us <= self.best_us) {
            self.take_up(aside);
        }
    }

    /// Where greedy steps end, one of them may have closed a better way: returns to before the last rewrite of the best way that was
    /// not returned to yet, and names it. What there is counts on, and the best is put aside.
    pub fn go_back(&mut self) -> Option<String> {
        self.keep_best();
        let key = |milestone: &Milestone| (milestone.before.sources.digest(), milestone.title.clone());
        let position = self
            .milestones
            .iter()
            .rposition(|milestone| milestone.stage == Stage::Kernel && !self.gone_back.contains(&key(milestone)))?;
        let before = self.milestones[position].clone();
        self.gone_back.insert(key(&before));
        let gained: f64 = self.milestones[position..].iter().map(|milestone| milestone.gain).product();
        self.aside = Some(self.way());
        (self.best, self.best_us, self.best_times) = (before.before, self.best_us * gained, before.before_times);
        self.milestones.truncate(position);
        Some(before.motif)
    }

    /// Puts another candidate in the place of the best: one that has fewer of its steps.
    /// Milestones whose step it does not have are forgotten.
    pub fn settle(&mut self, candidate: Candidate, us: f64, times: Vec<CaseTime>) {
        self.aside = None;
        let still_there = |milestone: &Milestone| {
            let is_in = |patch: &AppliedPatch| {
                candidate.patches.iter().any(|kept| kept.title == patch.title && kept.motif == patch.motif)
            };
            milestone.motif.is_empty() || milestone.after.patches.last().is_some_and(is_in)
        };
        self.milestones.retain(still_there);
        for milestone in self.milestones.iter_mut().filter(|milestone| milestone.motif.is_empty()) {
            milestone.title = kept_values(milestone, &candidate);
        }
        self.milestones.retain(|milestone| !milestone.title.is_empty());
        (self.best, self.best_us, self.best_times) = (candidate, us, times);
    }

    /// The same where the candidate has another value of one tunable: the step that chose it stays, with that value.
    pub fn settle_value(&mut self, name: &str, candidate: Candidate, us: f64, times: Vec<CaseTime>) {
        let chose = |milestone: &&mut Milestone| {
            milestone.before.configuration.get(name) != milestone.after.configuration.get(name)
        };
        if let (Some(value), Some(milestone)) =
            (candidate.configuration.get(name), self.milestones.iter_mut().rev().find(chose))
        {
            milestone.after.configuration.set(name, value.clone());
            milestone.gain *= self.best_us / us;
        }
        self.settle(candidate, us, times);
    }

    /// The same where the candidate has one rewrite more, which makes it hold.
    pub fn settle_rewrite(&mut self, candidate: Candidate, us: f64, times: Vec<CaseTime>) {
        if let Some(patch) = candidate.patches.last() {
            self.milestones.push(Milestone {
                stage: Stage::Kernel,
                motif: patch.motif.clone(),
                title: patch.title.clone(),
                why: patch.why.clone(),
                gain: self.best_us / us,
                before: self.best.clone(),
                before_times: self.best_times.clone(),
                after: candidate.clone(),
                part_of: None,
            });
        }
        self.settle(candidate, us, times);
    }

    /// Goes on with other cases, on which the operator as it was takes these times. What the best candidate takes there has to
    /// be found out.
    pub fn rebase(&mut self, baseline_us: f64, times: Vec<CaseTime>, floors: Vec<f64>) {
        (self.aside, self.held) = (None, None);
        (self.best_us, self.best_times) = (baseline_us, times.clone());
        (self.baseline_us, self.baseline_times, self.floors) = (baseline_us, times, floors);
    }

    /// Whether no other way has led to something faster than the best of this one.
    pub fn is_best_of_all(&self) -> bool {
        self.best_us < self.aside_us()
    }

    /// Reads the values of these tunables from the sources of everything that the run may go back to.
    pub fn read_again(&mut self, tunables: &[Tunable]) {
        let ways = self.aside.iter_mut().chain(&mut self.held);
        let mut candidates: Vec<&mut Candidate> = vec![&mut self.best];
        let mut milestones: Vec<&mut Milestone> = self.milestones.iter_mut().collect();
        for Way { best, milestones: of_way, .. } in ways {
            candidates.push(best);
            milestones.extend(of_way);
        }
        candidates.extend(milestones.into_iter().flat_map(|one| [&mut one.before, &mut one.after]));
        candidates.into_iter().for_each(|candidate| candidate.read_again(tunables));
    }

    /// Takes note that the best candidate holds on all probes.
    pub fn note_held(&mut self) {
        self.held = Some(self.way());
    }

    /// The last best candidate that held on all probes that were drawn.
    pub fn held(&self) -> Option<&Candidate> {
        self.held.as_ref().map(|held| &held.best)
    }

    /// Goes back to the last best candidate that held on all probes, if it is faster than what is left of a later one.
    pub fn take_up_held(&mut self) -> bool {
        let Some(held) = self.held.take_if(|held| held.best_us < self.best_us) else { return false };
        self.aside = None;
        self.take_up(held);
        true
    }

    fn way(&self) -> Way {
        Way {
            best: self.best.clone(),
            best_us: self.best_us,
            best_times: self.best_times.clone(),
            milestones: self.milestones.clone(),
        }
    }

    fn take_up(&mut self, way: Way) {
        let Way { best, best_us, best_times, milestones } = way;
        (self.best, self.best_us, self.best_times, self.milestones) = (best, best_us, best_times, milestones);
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
        let best_of_all = improved && judged.objective_us.is_some_and(|us| us < self.aside_us());
        if improved {
            let objective_us = judged.objective_us.unwrap_or(self.best_us);
            self.take_over(stage, candidate, patch, &title, objective_us, &times);
        }
        if !judged.repeated {
            *self.evaluations.entry(stage).or_default() += 1;
        }
        emit(Event::Evaluation(events::Evaluation {
            index: judged.index,
            candidate: judged.evaluation.digest.clone(),
            stage,
            configuration: candidate.configuration.clone(),
            motif: patch.map(|patch| patch.motif.clone()),
            status: rejection.as_ref().map_or(events::Status::Valid, status_of),
            reason: rejection.as_ref().map(Rejection::to_string),
            cases: times.iter().map(|time| events::CaseTime { name: time.name.clone(), us: time.task_us }).collect(),
            objective_us: judged.objective_us,
            estimated: judged.evaluation.estimate_us.is_some(),
            blocks: judged.evaluation.blocks.clone(),
            error: judged.evaluation.error,
            speedup: self.speedup(),
            cached: judged.repeated,
        }));
        if best_of_all {
            emit(Event::Improvement(events::Improvement {
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
                rewrites: candidate.rewrites(),
                motif: patch.map(|patch| patch.motif.clone()).unwrap_or_default(),
                title,
                objective_us: judged.objective_us,
                times,
                rejection,
                improved: best_of_all,
            });
        }
        improved
    }

    /// The same of a rewrite that was evaluated beside the budget: it counts as none of its stage.
    pub fn record_beside(
        &mut self,
        stage: Stage,
        candidate: &Candidate,
        patch: &AppliedPatch,
        judged: &Judged,
        emit: &mut dyn FnMut(Event),
    ) {
        let before = self.evaluations.get(&stage).copied();
        self.record(stage, candidate, Some(patch), judged, true, emit);
        self.evaluations.insert(stage, before.unwrap_or(0));
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
        let before = std::mem::replace(&mut self.best, candidate.clone());
        if patch.is_some()
            && let Some(last) = self.best.patches.last_mut()
        {
            last.gain = gain;
        }
        self.best_us = objective_us;
        let before_times = std::mem::replace(&mut self.best_times, times.to_vec());
        // Steps of the search that follow each other are one change of values to a reader.
        match self.milestones.last_mut() {
            Some(last) if patch.is_none() && stage == Stage::Host && last.motif.is_empty() => {
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
                before_times,
                after: self.best.clone(),
                part_of: None,
            }),
        }
    }
}

/// What a milestone of the host stage changed and a candidate still has; empty for nothing.
fn kept_values(milestone: &Milestone, candidate: &Candidate) -> String {
    let (before, after) = (&milestone.before.configuration, &milestone.after.configuration);
    let kept = after
        .iter()
        .filter(|(name, value)| before.get(name) != Some(value) && candidate.configuration.get(name) == Some(value));
    kept.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
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
pub fn status_of(rejection: &Rejection) -> events::Status {
    match rejection.reason {
        Reason::EditFailed => events::Status::PatchFailed,
        Reason::BuildFailed => events::Status::BuildFailed,
        Reason::TilingFailed => events::Status::Infeasible,
        // What it claims is not so either.
        Reason::WrongResult | Reason::KnownData | Reason::UnwrittenOutput => events::Status::WrongOutput,
        Reason::Hazard => events::Status::Hazard,
        Reason::Crashed => events::Status::RunFailed,
        Reason::TimedOut | Reason::OutOfMemory => events::Status::LimitExceeded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Evaluation;
    use source::SourceTree;
    use space::Value;

    fn candidate(text: &str) -> Candidate {
        let mut sources = SourceTree::new();
        sources.insert("k.h", text);
        Candidate { sources, configuration: Configuration::new(), patches: Vec::new() }
    }

    fn take(progress: &mut Progress, text: &str, us: f64) -> bool {
        let outcome = Outcome::Valid(Vec::new());
        let evaluation = Evaluation {
            digest: text.to_owned(),
            thorough: true,
            outcome,
            estimate_us: None,
            blocks: Vec::new(),
            round: 0,
            seconds: 0.0,
            error: None,
            other_data: BTreeMap::new(),
        };
        let judged = Judged { evaluation, objective_us: Some(us), index: 1, repeated: false };
        let patch = AppliedPatch {
            motif: text.to_owned(),
            title: text.to_owned(),
            why: String::new(),
            gain: 1.0,
            parts: Vec::new(),
        };
        let mut improvements = 0;
        progress.record(Stage::Kernel, &candidate(text), Some(&patch), &judged, true, &mut |event| {
            improvements += usize::from(matches!(event, Event::Improvement(_)));
        });
        improvements > 0
    }

    #[test]
    fn another_way_is_followed_from_before_the_last_rewrite_and_the_best_is_kept() {
        let mut progress = Progress::new(candidate("slow"), 100.0, Vec::new(), Vec::new());
        assert_eq!(progress.go_back(), None, "nothing was rewritten");
        assert!(take(&mut progress, "first", 50.0) && take(&mut progress, "second", 25.0));
        assert_eq!(progress.tally(Stage::Kernel), StageTally { evaluations: 2, gain: 4.0 });

        assert_eq!(progress.go_back().as_deref(), Some("second"));
        assert_eq!((progress.best.clone(), progress.best_us, progress.speedup()), (candidate("first"), 50.0, 4.0));
        assert!(!take(&mut progress, "third", 40.0), "better than before, but not the best of all");
        assert_eq!(progress.go_back().as_deref(), Some("first"), "the way to the best, one step further back");
        assert_eq!((progress.best.clone(), progress.milestones.len()), (candidate("slow"), 0));
        assert!(take(&mut progress, "fourth", 20.0));
        assert_eq!(progress.go_back().as_deref(), Some("fourth"));
        assert_eq!(progress.go_back(), None, "every rewrite of the best way was gone back from");
        progress.keep_best();
        assert_eq!((progress.best, progress.best_us, progress.milestones.len()), (candidate("fourth"), 20.0, 1));
    }

    #[test]
    fn a_step_that_chose_a_value_stays_with_another_one() {
        let with = |share: i64| {
            let mut candidate = candidate("source");
            candidate.configuration.set("share", Value::Int(share));
            candidate
        };
        let mut progress = Progress::new(with(0), 100.0, Vec::new(), Vec::new());
        progress.milestones.push(Milestone {
            stage: Stage::Host,
            motif: String::new(),
            title: "share=1024".to_owned(),
            why: String::new(),
            gain: 1.25,
            before: with(0),
            before_times: Vec::new(),
            after: with(1024),
            part_of: None,
        });
        progress.best_us = 80.0;
        progress.settle_value("share", with(512), 50.0, Vec::new());
        let left = &progress.milestones;
        assert_eq!((left.len(), left[0].title.as_str(), left[0].gain), (1, "share=512", 2.0));
        assert_eq!((progress.best_us, progress.best.configuration.get("share")), (50.0, Some(&Value::Int(512))));
    }

    #[test]
    fn the_last_that_held_is_taken_up_where_less_is_left_of_a_later_one() {
        let mut progress = Progress::new(candidate("slow"), 100.0, Vec::new(), Vec::new());
        take(&mut progress, "first", 50.0);
        progress.note_held();
        take(&mut progress, "second", 25.0);
        progress.settle(candidate("second without half"), 40.0, Vec::new());
        assert!(!progress.take_up_held(), "what is left is faster");
        progress.settle(candidate("slow"), 100.0, Vec::new());
        assert!(progress.take_up_held());
        assert_eq!((progress.best.clone(), progress.best_us, progress.milestones.len()), (candidate("first"), 50.0, 1));

        progress.note_held();
        progress.rebase(10.0, Vec::new(), Vec::new());
        progress.settle(candidate("slow"), 100.0, Vec::new());
        assert!(!progress.take_up_held(), "its time on other cases is not known");
    }

    #[test]
    fn every_case_has_its_own_floor() {
        let time = |task_us: f64| CaseTime {
            name: String::new(),
            task_us,
            bound_us: 0.0,
            bound_by_work: false,
            measured: None,
        };
        let before = vec![time(10.0), time(10.0)];
        let progress = Progress::new(candidate("slow"), 10.0, before, vec![1.02, 1.01]);
        assert_eq!(progress.beyond_floor(&[time(10.15), time(9.0)]), 1.0);
        assert!(progress.beyond_floor(&[time(9.0), time(10.15)]) > 1.004);
    }
}
