//! Probes where a winner's rules begin and end, and with the longest rows that there was room for: the narrow places that drawn ones
//! miss.

use std::sync::{Arc, PoisonError};

use super::candidate::Candidate;
use super::longest_rows::longest_rows;
use super::plan::Plan;
use super::probe_questions::{finder, timed_candidates};
use super::probe_sizes::{MOST_BYTES, candidate_of, most_us};
use super::probing::{ProbeSet, WithData};
use super::{CaseTime, TunerError, Workspace};
use discovery::cases::{
    Accepted, Candidate as CaseCandidate, EVEN, Edges, Finder, ProbeKind, Refusal, leading_shape, of_length,
    smallest_and_largest, traffic_bytes,
};

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

    /// Probes of such cases, each to be resized along its first axis to about so many elements of its first input, in the order of their
    /// sizes. Those that the operator as it was does not take or is at fault at are left out.
    ///
    /// # Errors
    /// Where the operator as it was cannot be built, or data for a question cannot be written.
    pub(super) async fn of_sizes(
        &self,
        workspace: &Workspace,
        times: &[CaseTime],
        baseline: &Candidate,
        wanted: &[(CaseCandidate, u64)],
        folder: &str,
    ) -> Result<Self, TunerError> {
        let mut set = Self::empty(workspace, workspace.work_directory.join(folder), self.seed);
        set.floor = self.floor;
        let before = baseline.plain_plan(workspace.tunables());
        let Some((host, op)) = set.evaluator.defined(&before).await? else { return Ok(set) };
        let data = set.data.join("asked");
        let finder = finder(workspace, &host, &op, &data);
        let mut accepted = Vec::new();
        for (case, size) in wanted {
            accepted.extend(asked(&finder, case, *size).await?);
        }
        if self.whole_blocks {
            accepted = in_whole_blocks(&finder, accepted).await?;
        }
        accepted.sort_by_key(|found| first_elements(&found.candidate));
        accepted.dedup_by(|one, other| one.candidate.same_tensors(&other.candidate));
        set.with_edges(workspace, times, accepted, before).await
    }

    /// The set with probes of what was accepted, as far as the operator as it was is right there.
    async fn with_edges(
        mut self,
        workspace: &Workspace,
        times: &[CaseTime],
        accepted: Vec<Accepted>,
        before: Plan,
    ) -> Result<Self, TunerError> {
        let accepted: Vec<_> = accepted.into_iter().map(|found| (ProbeKind::Edge, found)).collect();
        let _ = std::fs::remove_dir_all(&self.data);
        let count = accepted.len();
        self.admit(accepted, WithData::Small.bytes())?;
        self.establish(&before, workspace.options.jobs, count, most_us(times)).await?;
        self.plan = Some(before);
        Ok(self)
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
        accepted.extend(ends_of_ranges(workspace, &edges.before).await?);
        let smallest: Vec<_> = groups.iter().map(|(smallest, _)| (*smallest).clone()).collect();
        let rows =
            async || longest_rows(workspace, &smallest, &edges.before, &before, (self.seed, self.whole_blocks)).await;
        accepted.extend(self.longest_rows.get_or_try_init(rows).await?.iter().cloned());
        let accepted = if self.whole_blocks { in_whole_blocks(&edges.before, accepted).await? } else { accepted };
        set.with_edges(workspace, times, accepted, before).await
    }
}

/// The same with the next whole blocks below and above in place of a row that is none, which the operator does not take.
async fn in_whole_blocks(finder: &Finder<'_>, accepted: Vec<Accepted>) -> Result<Vec<Accepted>, TunerError> {
    let mut found: Vec<Accepted> = Vec::new();
    for one in accepted {
        let shape = leading_shape(&one.candidate).unwrap_or_default();
        let Some((axis, row)) = shape.iter().copied().enumerate().next_back() else { continue };
        if row.is_multiple_of(EVEN) {
            found.push(one);
            continue;
        }
        for length in [row / EVEN * EVEN, row.next_multiple_of(EVEN)].into_iter().filter(|length| *length > 0) {
            match finder.ask(&of_length(&one.candidate, axis, length)).await {
                Ok(accepted) => found.push(accepted),
                Err(Refusal::Io(error)) => return Err(error.into()),
                Err(_) => {}
            }
        }
    }
    let mut kept: Vec<Accepted> = Vec::new();
    for one in found {
        if !kept.iter().any(|known| known.candidate.same_tensors(&one.candidate)) {
            kept.push(one);
        }
    }
    Ok(kept)
}

/// Elements of the first input.
pub(super) fn first_elements(case: &CaseCandidate) -> u64 {
    let shape = case.inputs.first().and_then(|input| input.shape.as_deref()).unwrap_or_default();
    shape.iter().fold(1, |product: u64, dimension| product.saturating_mul(*dimension))
}

/// The case with so many elements of its first input, or somewhat fewer, where its first axis can be as long; `None` where that is no
/// other case, or one that is too large to try.
fn sized(case: &CaseCandidate, elements: u64) -> Option<CaseCandidate> {
    let length = *leading_shape(case)?.first()?;
    let unit = first_elements(case).checked_div(length).filter(|unit| *unit > 0)?;
    let wanted = (elements / unit).max(1);
    let other = of_length(case, 0, wanted);
    let is_other = wanted != length && first_elements(&other) == wanted * unit;
    (is_other && traffic_bytes(&other) <= MOST_BYTES).then_some(other)
}

/// What the tiling function says of a case of about so many elements.
async fn asked(finder: &Finder<'_>, case: &CaseCandidate, elements: u64) -> Result<Option<Accepted>, TunerError> {
    let Some(case) = sized(case, elements) else { return Ok(None) };
    match finder.ask(&case).await {
        Ok(accepted) => Ok(Some(accepted)),
        Err(Refusal::Io(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// The smallest and the largest sizes that cases of the manifest stand for.
async fn ends_of_ranges(workspace: &Workspace, finder: &Finder<'_>) -> Result<Vec<Accepted>, TunerError> {
    let mut found: Vec<Accepted> = Vec::new();
    for case in workspace.cases.iter().map(|&index| &workspace.manifest.cases[index]) {
        let Some(range) = case.stands_for else { continue };
        for size in [range.least, range.most] {
            let end = asked(finder, &candidate_of(case), size).await?;
            found.extend(end.filter(|end| !found.iter().any(|known| known.candidate.same_tensors(&end.candidate))));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use manifest::Manifest;
    use manifest::testing::SMALLEST;

    #[test]
    fn a_case_is_resized_to_about_so_many_elements() {
        let of = |shape: &str, elements: u64| {
            let text = SMALLEST.replace("shape = [8]", &format!("shape = {shape}"));
            let manifest = Manifest::parse(&text, Path::new("ascend.toml")).expect("a manifest");
            let sized = sized(&candidate_of(&manifest.cases[0]), elements)?;
            sized.inputs[0].shape.clone()
        };
        assert_eq!(of("[8]", 100), Some(vec![100]));
        assert_eq!(of("[4, 16]", 100), Some(vec![6, 16]), "not more than that");
        assert_eq!(of("[4, 16]", 64), None, "it is of that size");
        assert_eq!(of("[4, 16]", 3), Some(vec![1, 16]), "nothing shorter is there");
        assert_eq!(of("[8]", 1 << 40), None, "nobody tries that");
    }
}
