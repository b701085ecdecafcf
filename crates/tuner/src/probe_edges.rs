//! Probes where a winner's rules begin and end, and with the longest rows that there was room for: the narrow places that drawn ones
//! miss.

use std::sync::{Arc, PoisonError};

use super::candidate::Candidate;
use super::longest_rows::longest_rows;
use super::probe_questions::{finder, timed_candidates};
use super::probe_sizes::most_us;
use super::probing::{ProbeSet, WithData};
use super::{CaseTime, TunerError, Workspace};
use discovery::cases::{Edges, ProbeKind, smallest_and_largest};

impl ProbeSet {
    /// Probes on both sides of the sizes at which a candidate begins to launch other numbers of cores than the operator as it was,
    /// for the dtypes of the cases; none of these where its host code is the same. And those with the longest rows that the operator as it
    /// was has room for. None at all where the manifest wants no probes. `times` are those of the operator as it was on the cases.
    ///
    /// # Errors
    /// Where the operator as it was cannot be built, or data for a question cannot be written.
    pub async fn at_edges(
        &self,
        workspace: &Workspace,
        times: &[CaseTime],
        baseline: &Candidate,
        candidate: &Candidate,
    ) -> Result<Arc<Self>, TunerError> {
        let digest = candidate.digest(workspace.tunables());
        let known = self.edges.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, edges)) = known.filter(|(of, _)| *of == digest) {
            return Ok(edges);
        }
        let edges = Arc::new(self.find_edges(workspace, times, baseline, candidate).await?);
        *self.edges.lock().unwrap_or_else(PoisonError::into_inner) = Some((digest, Arc::clone(&edges)));
        Ok(edges)
    }

    async fn find_edges(
        &self,
        workspace: &Workspace,
        times: &[CaseTime],
        baseline: &Candidate,
        candidate: &Candidate,
    ) -> Result<Self, TunerError> {
        let tunables = workspace.tunables();
        let mut set = Self::empty(workspace, workspace.work_directory.join("edges"), self.seed);
        set.floor = self.floor;
        let (before, now) = (baseline.plain_plan(tunables), candidate.plain_plan(tunables));
        if workspace.is_direct_launch() || workspace.manifest.probes == 0 {
            return Ok(set);
        }
        let Some((old, op)) = set.evaluator.defined(&before).await? else { return Ok(set) };
        let Some((new, _)) = set.evaluator.defined(&now).await? else { return Ok(set) };
        let data = set.data.join("asked");
        let finder = |host| finder(workspace, host, &op, &data);
        let edges = Edges { before: finder(&old), now: finder(&new) };
        let mut accepted = Vec::new();
        let timed = timed_candidates(workspace);
        let groups = smallest_and_largest(&timed);
        if old != new {
            for (smallest, largest) in &groups {
                accepted.extend(edges.between(smallest, largest).await?);
            }
        }
        let smallest: Vec<_> = groups.iter().map(|(smallest, _)| (*smallest).clone()).collect();
        let rows = async || longest_rows(workspace, &smallest, &edges.before, &before, self.seed).await;
        accepted.extend(self.longest_rows.get_or_try_init(rows).await?.iter().cloned());
        let accepted: Vec<_> = accepted.into_iter().map(|found| (ProbeKind::Edge, found)).collect();
        let _ = std::fs::remove_dir_all(&set.data);
        let count = accepted.len();
        set.admit(accepted, WithData::Small.bytes())?;
        set.establish(&before, workspace.options.jobs, count, most_us(times)).await?;
        set.plan = Some(before);
        Ok(set)
    }
}
