//! The kernel stage: rewrites of the best candidate's kernel, proposed from its profile and the experience bank.

use std::collections::BTreeMap;

use super::TunerError;
use super::candidate::Candidate;
use super::progress::Progress;
use super::session::{Judged, Session};
use crate::backend::{LaunchProfile, longest};
use crate::experience::Bank;
use crate::motif::{Context, HotLines};
use crate::proposer::{History, MotifProposer, Proposal};
use crate::report::event::{Event, Stage};
use crate::source::facts::KnownValues;
use crate::space::Tunable;

/// Proposals evaluated at once. A constant, so that results do not depend on the number of jobs.
const BATCH: usize = 4;

/// What the kernel stage works with.
pub struct KernelStage<'a> {
    /// All tunables: a rewrite may change what they stand at.
    pub tunables: &'a [Tunable],
    /// Experience.
    pub bank: &'a Bank,
    /// Makes proposals.
    pub proposer: &'a MotifProposer,
    /// Values of names over all cases.
    pub known: &'a KnownValues,
}

impl KernelStage<'_> {
    /// Rewrites until nothing proposed helps, or `limit` evaluations are spent. The stage improved something if
    /// [`Progress::best_us`] fell.
    pub async fn run(
        &self,
        session: &mut Session,
        progress: &mut Progress,
        history: &mut History,
        limit: u64,
        emit: &mut dyn FnMut(Event),
    ) -> Result<(), TunerError> {
        let start = session.used();
        while session.left() > 0 && session.used() - start < limit {
            let launch = self.profile(session, &progress.best).await;
            let profile = launch.as_ref().map(|launch| launch.profile.clone());
            let hot = launch.as_ref().map(hot_lines).unwrap_or_default();
            let context =
                Context::new(progress.best.sources.clone(), self.known.clone(), profile.clone()).with_hot_lines(hot);
            let room = (limit - (session.used() - start)).min(session.left()) as usize;
            let proposals = self.proposer.propose(&context, self.bank, profile.as_ref(), history);
            let batch = self.next_batch(session, &progress.best, proposals, history, BATCH.min(room));
            if batch.is_empty() {
                break;
            }
            let before_us = progress.best_us;
            let plans = batch.iter().map(|(_, candidate)| candidate.plain_plan(self.tunables)).collect();
            let judged = session.evaluate(plans, before_us).await?;
            let winner = best_of(&judged);
            for (position, ((proposal, candidate), judged)) in batch.into_iter().zip(judged).enumerate() {
                let Some(judged) = judged else { continue };
                let patch = candidate.patches.last();
                progress.record(Stage::Kernel, &candidate, patch, &judged, winner == Some(position), emit);
                history.record(&proposal);
            }
        }
        Ok(())
    }

    /// The first proposals that give candidates which were not evaluated yet.
    fn next_batch(
        &self,
        session: &Session,
        best: &Candidate,
        proposals: Vec<Proposal>,
        history: &mut History,
        size: usize,
    ) -> Vec<(Proposal, Candidate)> {
        let mut batch = BTreeMap::new();
        let mut order = Vec::new();
        for proposal in proposals {
            if batch.len() == size {
                break;
            }
            let Ok(candidate) = best.with_patch(self.tunables, &proposal.patch, &proposal.why) else { continue };
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
    async fn profile(&self, session: &Session, best: &Candidate) -> Option<LaunchProfile> {
        let trialled = session.profile(&best.plain_plan(self.tunables)).await;
        longest(trialled.profiles.values().flatten()).cloned()
    }
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

fn best_of(judged: &[Option<Judged>]) -> Option<usize> {
    judged
        .iter()
        .enumerate()
        .filter_map(|(position, judged)| Some((position, judged.as_ref()?.objective_us?)))
        .min_by(|left, right| left.1.total_cmp(&right.1))
        .map(|(position, _)| position)
}
