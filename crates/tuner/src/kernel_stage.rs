//! The kernel stage: rewrites of the best candidate's kernel, proposed from its profile and the experience bank.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::candidate::Candidate;
use super::experience::Pair;
use super::opened::Opened;
use super::progress::Progress;
use super::scheduler::Limits;
use super::session::{BATCH, Judged, Session};
use super::{TunerError, evaluation};
use aicore::Profile;
use backend::{LaunchProfile, longest};
use events::Warning;
use events::{Event, Stage};
use experience::{Bank, Provenance, Record, Verdict, judge, symptoms_of};
use motif::{Context, Counter, Coverage, CutLines, HotLines, TilingStructure, named};
use proposer::{self, Asked, Heard, History, Proposal, Proposer, Standing};
use source::SourceTree;
use source::facts::KnownValues;
use space::Tunable;

/// Gains below this are no gain.
const NOISE: f64 = 1.005;

/// How rewrites follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rewriting {
    /// Every rewrite starts from the best candidate so far; several are evaluated at once.
    #[default]
    Successive,
    /// One at a time from the best candidate so far.
    OneByOne,
    /// Every rewrite starts from the operator as it was: the best of many, never two after each other.
    FromBaseline,
}

/// What the kernel stage works with.
pub struct KernelStage<'a> {
    /// All tunables: a rewrite may change what they stand at.
    pub tunables: &'a [Tunable],
    /// Experience.
    pub bank: &'a Bank,
    /// Who makes proposals: those of the first come first.
    pub proposers: &'a [&'a dyn Proposer],
    /// Whether what may be a tunable stays as it is: a stage that varies it has not had a turn yet.
    pub keep_constants: bool,
    /// What no case runs.
    pub coverage: &'a Coverage,
    /// Files that the sources include beside themselves.
    pub beside: &'a Arc<SourceTree>,
    /// What the host writes for the kernel.
    pub tiling: &'a [TilingStructure],
    /// How rewrites follow each other.
    pub rewriting: Rewriting,
    /// The operator as it was, with its objective in microseconds.
    pub baseline: (&'a Candidate, f64),
    /// Where records made here come from.
    pub provenance: &'a Provenance,
    /// Whether everybody but these proposers has nothing left.
    pub last_resort: bool,
}

/// What the kernel stage has learned over all its turns.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// Proposals and outcomes.
    pub history: History,
    /// Records for a bank: single motifs, whether they helped or not.
    pub records: Vec<Record>,
    /// Rewrites that were taken over and may have brought constants along.
    pub(super) opened: Vec<Opened>,
    /// Best candidates whose motifs were doubted one by one.
    doubted: BTreeSet<String>,
}

/// What rewrites start from.
struct Parent {
    candidate: Candidate,
    us: f64,
    profile: Option<Profile>,
    context: Context,
}

impl KernelStage<'_> {
    /// Rewrites until nothing is left to propose or the turn's limits are reached.
    /// The stage improved something if [`Progress::best_us`] fell.
    pub async fn run(
        &self,
        session: &mut Session,
        progress: &mut Progress,
        learned: &mut Learned,
        limits: Limits,
        emit: &mut dyn FnMut(Event),
    ) -> Result<(), TunerError> {
        let (begun, before_us) = (session.spent(), progress.best_us);
        let mut last_gain = session.used();
        let mut parent = match self.rewriting {
            Rewriting::FromBaseline => self.parent(session, self.baseline.0, self.baseline.1).await?,
            _ => self.parent(session, &progress.best, progress.best_us).await?,
        };
        let size = if self.rewriting == Rewriting::OneByOne { 1 } else { BATCH };
        loop {
            let spent = session.spent().since(begun);
            let idle = session.used() - last_gain;
            if session.left() == 0 || limits.reached(spent, idle, before_us / progress.best_us) {
                break;
            }
            let room = limits.left(spent).min(session.left()) as usize;
            let profile = parent.profile.as_ref();
            let size = size.min(room);
            let standing = self.standing(session, progress);
            let mut batch = self.propose_batch(session, &parent, learned, (standing, false), size, emit)?;
            if batch.is_empty() && spent.evaluations == 0 {
                // A turn with nothing better to do: an evaluation tells more than the bank.
                batch = self.propose_batch(session, &parent, learned, (standing, true), size, emit)?;
            }
            // Where another stage has something to do, it does that meanwhile.
            let may_wait = self.last_resort || limits.is_alone();
            while batch.is_empty() && may_wait && self.proposers.iter().any(|proposer| proposer.is_at_work()) {
                batch = self.propose_batch(session, &parent, learned, (standing, false), size, emit)?;
            }
            if batch.is_empty() {
                if !self.doubt(session, progress, learned, room, emit).await? {
                    break;
                }
                last_gain = session.used();
                parent = self.parent(session, &progress.best, progress.best_us).await?;
                continue;
            }
            let plans = batch.iter().map(|(_, candidate)| candidate.plain_plan(self.tunables)).collect();
            let judged = session.evaluate(plans, &progress.champion(self.tunables)).await?;
            let winner = best_of(&judged);
            let mut taken = None;
            for (position, ((proposal, candidate), judged)) in batch.into_iter().zip(judged).enumerate() {
                let Some(judged) = judged else { continue };
                let patch = candidate.patches.last();
                let improved =
                    progress.record(Stage::Kernel, &candidate, patch, &judged, winner == Some(position), emit);
                learned.history.learn(&proposal, outcome_of(&judged, parent.us));
                let heard = heard_of(&judged, parent.us, improved);
                self.proposers.iter().for_each(|proposer| proposer.hear(&proposal, &heard));
                if improved {
                    taken = Some(proposal);
                } else {
                    if proposal.given {
                        emit(without_gain(&proposal, &judged, parent.us));
                    }
                    learned.records.extend(self.no_help(&parent, &proposal, &candidate, &judged));
                }
            }
            if let Some(proposal) = taken {
                last_gain = session.used();
                let next = self.parent(session, &progress.best, progress.best_us).await?;
                progress.explain(&moved(&proposal.motifs, profile, next.profile.as_ref()));
                learned.records.extend(self.help(&parent, &proposal, &next));
                if proposal.brings_constants {
                    let (before, after) = (parent.candidate.sources.clone(), next.candidate.sources.clone());
                    learned.opened.push(Opened { motif: proposal.motifs.join("+"), before, after });
                }
                if self.rewriting != Rewriting::FromBaseline {
                    parent = next;
                }
            }
        }
        Ok(())
    }

    /// Where nothing is left to propose: the sources as they were with the best configuration, and the way to the best candidate
    /// and everything at once again, each time without one of its motifs. Returns whether that was faster.
    async fn doubt(
        &self,
        session: &mut Session,
        progress: &mut Progress,
        learned: &mut Learned,
        room: usize,
        emit: &mut dyn FnMut(Event),
    ) -> Result<bool, TunerError> {
        let best = progress.best.clone();
        let takes_several = self.rewriting == Rewriting::default() && !best.patches.is_empty();
        if !takes_several || !learned.doubted.insert(best.digest(self.tunables)) {
            return Ok(false);
        }
        // What a rewrite has put in the place of a tunable is not there yet.
        let mut configuration = self.baseline.0.configuration.clone();
        let was_there = |name: &str| self.baseline.0.configuration.get(name).is_some();
        for (name, value) in best.configuration.iter().filter(|(name, _)| was_there(name)) {
            configuration.set(name, value.clone());
        }
        // A value that only a rewrite made possible has no such candidate.
        let Ok(origin) = self.baseline.0.with_configuration(self.tunables, &configuration) else {
            return Ok(false);
        };
        let parent = self.parent(session, &origin, progress.baseline_us).await?;
        let taken: Vec<&str> = best.patches.iter().flat_map(|patch| patch.motif.split('+')).collect();
        let used: BTreeSet<&str> = taken.iter().copied().collect();
        let asked = self.asked(&parent, &learned.history, self.standing(session, progress), false);
        let of = |motif: &&str| {
            let ways = self.proposers.iter().flat_map(|proposer| proposer.without(&asked, &taken, motif));
            ways.collect::<Vec<_>>()
        };
        let proposals = used.iter().flat_map(of).collect();
        let batch = self.next_batch(session, &parent, proposals, &mut learned.history, room, emit);
        let plans = batch.iter().map(|(_, candidate)| candidate.plain_plan(self.tunables)).collect();
        let judged = session.evaluate(plans, &progress.champion(self.tunables)).await?;
        let winner = best_of(&judged);
        let mut improved = false;
        for (position, ((_, candidate), judged)) in batch.iter().zip(judged).enumerate() {
            let Some(judged) = judged else { continue };
            let patch = candidate.patches.last();
            improved |= progress.record(Stage::Kernel, candidate, patch, &judged, winner == Some(position), emit);
        }
        if improved {
            let next = self.parent(session, &progress.best, progress.best_us).await?;
            progress.explain(&moved(&[], parent.profile.as_ref(), next.profile.as_ref()));
        }
        Ok(improved)
    }

    /// A candidate with its profile and what is known of its sources.
    async fn parent(&self, session: &Session, candidate: &Candidate, us: f64) -> Result<Parent, TunerError> {
        let launch = self.profile(session, candidate).await?;
        let profile = launch.as_ref().map(|launch| launch.profile.clone());
        let known = (self.coverage, self.beside, self.tiling);
        let context = context_of(&candidate.sources, launch.as_ref(), known);
        Ok(Parent { candidate: candidate.clone(), us, profile, context })
    }

    /// The record of a single motif that was not taken over because it did not help.
    fn no_help(&self, parent: &Parent, proposal: &Proposal, candidate: &Candidate, judged: &Judged) -> Option<Record> {
        let [motif] = proposal.motifs.as_slice() else { return None };
        teaches(proposal, motif).then_some(())?;
        let (verdict, us, avoid_when) = match (&judged.evaluation.outcome, judged.objective_us) {
            (evaluation::Outcome::Rejected(rejection), _) => {
                (Verdict::Rejected, parent.us, vec![rejection.reason.to_string()])
            }
            (_, Some(us)) if parent.us / us < NOISE => {
                (Verdict::NoGain, us, parent.profile.as_ref().map(symptoms_of).unwrap_or_default())
            }
            // It helped, only not as much as another one: it will be proposed again.
            _ => return None,
        };
        let pair = Pair {
            slow: &parent.context,
            fast: &candidate.sources,
            slow_us: parent.us,
            fast_us: us,
            slow_profile: parent.profile.as_ref(),
            fast_profile: None,
        };
        Some(pair.record(self.provenance, motif, verdict, &proposal.conditions, avoid_when))
    }

    /// The record of a single motif that was taken over.
    fn help(&self, parent: &Parent, proposal: &Proposal, next: &Parent) -> Option<Record> {
        let [motif] = proposal.motifs.as_slice() else { return None };
        let (slow, fast) = (parent.profile.as_ref()?, next.profile.as_ref()?);
        let pair = Pair {
            slow: &parent.context,
            fast: &next.candidate.sources,
            slow_us: parent.us,
            fast_us: next.us,
            slow_profile: Some(slow),
            fast_profile: Some(fast),
        };
        teaches(proposal, motif).then_some(())?;
        // Nobody has said which counter the rewrite of a model should relieve.
        let relieves = named(motif).map_or(&[][..], |motif| motif.metadata().relieves);
        let verdict = judge(parent.us / next.us, slow, fast, relieves).verdict;
        Some(pair.record(self.provenance, motif, verdict, &proposal.conditions, Vec::new()))
    }

    fn standing(&self, session: &Session, progress: &Progress) -> Standing {
        Standing { evaluations: session.used(), speedup: progress.speedup(), last_resort: self.last_resort }
    }

    fn asked<'b>(&'b self, parent: &'b Parent, history: &'b History, standing: Standing, unlikely: bool) -> Asked<'b> {
        let (bank, keep_constants) = (self.bank, self.keep_constants);
        let (context, profile) = (&parent.context, parent.profile.as_ref());
        Asked { context, profile, bank, history, keep_constants, unlikely, standing }
    }

    /// Asks everybody, and makes candidates of the first proposals.
    fn propose_batch(
        &self,
        session: &Session,
        parent: &Parent,
        learned: &mut Learned,
        (standing, unlikely): (Standing, bool),
        size: usize,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Vec<(Proposal, Candidate)>, TunerError> {
        let asked = self.asked(parent, &learned.history, standing, unlikely);
        let proposals = self.proposers.iter().flat_map(|proposer| proposer.propose(&asked)).collect();
        for proposer in self.proposers {
            proposer.notes().into_iter().for_each(|note| emit(told(note)));
            if let Some(failure) = proposer.failure() {
                return Err(TunerError::Usage(failure));
            }
        }
        Ok(self.next_batch(session, parent, proposals, &mut learned.history, size, emit))
    }

    /// The first proposals that give candidates which were not evaluated yet. Of the same motifs at several places one is
    /// tried first: it tells something about the others.
    fn next_batch(
        &self,
        session: &Session,
        parent: &Parent,
        proposals: Vec<Proposal>,
        history: &mut History,
        size: usize,
        emit: &mut dyn FnMut(Event),
    ) -> Vec<(Proposal, Candidate)> {
        let mut batch = BTreeMap::new();
        let mut order = Vec::new();
        let mut sets = BTreeSet::new();
        let (first, others): (Vec<Proposal>, Vec<Proposal>) =
            proposals.into_iter().partition(|proposal| sets.insert(proposal.motifs.clone()));
        for proposal in first.into_iter().chain(others) {
            if batch.len() == size {
                break;
            }
            // Whoever proposed it: what nothing would verify is no candidate. What motifs and users do is not made to please a few probes.
            let is_meant = proposal.given || proposal.motifs.iter().all(|motif| named(motif).is_some());
            let context = &parent.context;
            let admitted =
                if is_meant { context.admit(&proposal.patch) } else { context.admit_on_cases(&proposal.patch) };
            if let Err(refusal) = admitted {
                let heard = Heard::NotAdmitted(refusal.to_string());
                self.proposers.iter().for_each(|proposer| proposer.hear(&proposal, &heard));
                if proposal.given {
                    history.learn(&proposal, proposer::Effect::Rejected);
                    emit(not_admitted(&proposal, &refusal.to_string()));
                }
                continue;
            }
            let Ok(mut candidate) = parent.candidate.with_patch(self.tunables, &proposal.patch, &proposal.why) else {
                continue;
            };
            if let Some(patch) = candidate.patches.last_mut() {
                patch.parts = proposal.parts.clone();
            }
            let digest = candidate.digest(self.tunables);
            if session.knows(&digest) {
                history.record(&proposal);
                continue;
            }
            if batch.insert(digest.clone(), (proposal, candidate)).is_none() {
                order.push(digest);
            }
        }
        order.into_iter().filter_map(|digest| batch.remove(&digest)).collect()
    }

    /// Profile of the launch that takes longest over all cases.
    async fn profile(&self, session: &Session, best: &Candidate) -> Result<Option<LaunchProfile>, TunerError> {
        let trialled = session.profile(&best.plain_plan(self.tunables)).await?;
        Ok(longest(trialled.profiles.values().flatten()).cloned())
    }
}

/// What is known of sources with the launch that takes longest.
pub(super) fn context_of(
    sources: &SourceTree,
    launch: Option<&LaunchProfile>,
    (coverage, beside, tiling): (&Coverage, &Arc<SourceTree>, &[TilingStructure]),
) -> Context {
    let profile = launch.map(|launch| launch.profile.clone());
    let context = Context::new(sources.clone(), KnownValues::default(), profile)
        .with_coverage(coverage)
        .with_beside(Arc::clone(beside))
        .with_tiling(tiling.to_vec())
        .with_hot_lines(launch.map(hot_lines).unwrap_or_default());
    match launch {
        Some(launch) => context.with_buffers(&cut_lines(launch), launch.profile.buffers_end_bytes),
        None => context,
    }
}

/// What a proposer has to say to the user.
fn told(note: proposer::Note) -> Event {
    Event::Warning(Warning { code: note.code.to_owned(), message: note.message, help: note.help })
}

/// What a user hears of a patch that never became a candidate.
fn not_admitted(proposal: &Proposal, why: &str) -> Event {
    Event::Warning(Warning {
        code: "patch-refused".to_owned(),
        message: format!("{} is not tried: {why}", proposal.motifs.join(" + ")),
        help: None,
    })
}

/// What a user hears of a patch that was tried and not taken.
fn without_gain(proposal: &Proposal, judged: &Judged, before_us: f64) -> Event {
    let name = proposal.motifs.join(" + ");
    let (code, message) = match (&judged.evaluation.outcome, judged.objective_us) {
        (evaluation::Outcome::Rejected(rejection), _) => ("patch-refused", format!("{name} is refused: {rejection}")),
        (_, us) => {
            let factor = us.map_or(1.0, |us| before_us / us);
            let why = if factor < NOISE { "" } else { ", and another rewrite more" };
            ("patch-not-taken", format!("{name} is not taken: it brings {factor:.2}x{why}"))
        }
    };
    Event::Warning(Warning { code: code.to_owned(), message, help: None })
}

fn hot_lines(launch: &LaunchProfile) -> HotLines {
    let mut hot = HotLines::new();
    for (step, place) in launch.profile.critical_path.iter().zip(&launch.path_places) {
        if place.line > 0 {
            *hot.entry((place.file.clone(), place.line)).or_default() += step.time_us / launch.profile.longest_core_us;
        }
    }
    hot
}

fn cut_lines(launch: &LaunchProfile) -> CutLines {
    let mut cuts = CutLines::new();
    for (buffer, place) in launch.profile.buffers.iter().zip(&launch.buffer_places) {
        if place.line > 0 {
            *cuts.entry((place.file.clone(), place.line)).or_default() += buffer.bytes;
        }
    }
    cuts
}

/// Which counter moved, one clause.
fn moved(motifs: &[String], slow: Option<&Profile>, fast: Option<&Profile>) -> String {
    let (Some(slow), Some(fast)) = (slow, fast) else { return "no profile shows which counter moved".to_owned() };
    let fell = |counters: &mut dyn Iterator<Item = Counter>| {
        let drops = counters.map(|counter| (counter, counter.read(slow), counter.read(fast)));
        let most = drops.max_by(|left, right| (left.1 - left.2).total_cmp(&(right.1 - right.2)));
        most.filter(|(_, before, after)| after * NOISE < *before)
    };
    let relieved = motifs.iter().filter_map(|id| named(id)).flat_map(|motif| motif.metadata().relieves.iter().copied());
    let said = |(counter, before, after): (Counter, f64, f64)| {
        format!("{} fell from {before:.2} to {after:.2} us", counter.name())
    };
    if let Some(drop) = fell(&mut relieved.into_iter()) {
        return said(drop);
    }
    match fell(&mut Counter::ALL.into_iter()) {
        Some(drop) => format!("not what it should relieve, but {}", said(drop)),
        None => format!("no counter fell; the task takes {:.2} instead of {:.2} us", fast.task_us, slow.task_us),
    }
}

fn outcome_of(judged: &Judged, before_us: f64) -> proposer::Effect {
    judged.objective_us.map_or(proposer::Effect::Rejected, |us| proposer::Effect::Gain(before_us / us))
}

/// The same in words.
fn heard_of(judged: &Judged, before_us: f64, taken: bool) -> Heard {
    match (&judged.evaluation.outcome, judged.objective_us) {
        (evaluation::Outcome::Rejected(rejection), _) => Heard::Rejected(rejection.to_string()),
        (_, us) => Heard::Right { gain: us.map_or(1.0, |us| before_us / us), taken },
    }
}

fn best_of(judged: &[Option<Judged>]) -> Option<usize> {
    judged
        .iter()
        .enumerate()
        .filter_map(|(position, judged)| Some((position, judged.as_ref()?.objective_us?)))
        .min_by(|left, right| left.1.total_cmp(&right.1))
        .map(|(position, _)| position)
}

/// Whether what became of a proposal is worth a record: a patch that a user gives says nothing about other kernels, and nothing about a
/// model's does before somebody has said what it was.
fn teaches(proposal: &Proposal, motif: &str) -> bool {
    !proposal.given && (named(motif).is_some() || motif.starts_with("model-"))
}
