//! Asking tiling functions for probes: which sizes they take, and what they decide there.

use std::path::{Path, PathBuf};

use super::evaluator::Evaluator;
use super::plan::Plan;
use super::probe_sizes::candidate_of;
use super::{TrialError, TunerError, Workspace};
use discovery::cases::{
    Accepted, Candidate as CaseCandidate, DescribedOp, DescribedOps, Finder, ProbeDraw, ProbeKind, Refusal, Wish,
};
use discovery::init::unfit;
use manifest::Case;

/// Cases for which a tiling function may fail to return before it is asked no more.
const MOST_ENDLESS: usize = 2;

/// What probes are made from. What is only checked is mostly there for an odd length or a few elements: no measure for what larger and
/// smaller means.
pub(super) fn timed_candidates(workspace: &Workspace) -> Vec<CaseCandidate> {
    let all = || workspace.cases.iter().map(|&index| &workspace.manifest.cases[index]);
    let timed: Vec<&Case> = all().filter(|case| !case.verify_only).collect();
    if timed.is_empty() { all().map(candidate_of).collect() } else { timed.into_iter().map(candidate_of).collect() }
}

/// Who asks the tiling function of a host library.
pub(super) fn finder<'a>(workspace: &'a Workspace, host: &'a Path, op: &'a DescribedOp, data: &Path) -> Finder<'a> {
    Finder {
        directory: &workspace.project.root,
        data: data.to_owned(),
        host,
        op,
        examples: &[],
        backend: &*workspace.evaluator.backend,
        python: None,
        most_data_bytes: 0,
    }
}

/// Asks the tiling function for every wish until `count` are met.
pub(super) async fn ask_for(
    workspace: &Workspace,
    host: &Path,
    op: &DescribedOp,
    data: &Path,
    (count, seed, most_bytes, whole_blocks): (usize, u64, u64, bool),
) -> Result<Vec<(ProbeKind, Accepted)>, TunerError> {
    let mut cases = timed_candidates(workspace);
    let finder = finder(workspace, host, op, &data.join("asked"));
    let mut keys = Vec::new();
    for case in &mut cases {
        if let Ok(accepted) = finder.ask(case).await {
            keys.push(accepted.tiling_key);
            // With the shapes of outputs where nothing else has a size.
            *case = accepted.candidate;
        }
    }
    let draw = ProbeDraw {
        op,
        cases: &cases,
        cores: workspace.machine.parameters.aiv_cores as u64,
        ub_bytes: workspace.machine.parameters.ub_bytes as u64,
        most_bytes,
        whole_blocks,
        seed,
    };
    let mut met: Vec<(ProbeKind, Accepted)> = Vec::new();
    let mut endless = 0;
    let there_are_others = workspace.evaluator.backend.with_other_cores().is_some();
    let is_possible = |wish: &Wish| there_are_others || wish.kind != ProbeKind::OtherCores;
    let wishes: Vec<Wish> = draw.wishes().into_iter().filter(is_possible).collect();
    let first_ways = wishes.iter().filter_map(|wish| wish.ways.first()).filter(|way| unfit(way).is_none());
    finder.foresee(&first_ways.take(count).cloned().collect::<Vec<_>>()).await;
    for wish in wishes {
        if met.len() >= count || endless >= MOST_ENDLESS {
            break;
        }
        for way in &wish.ways {
            let is_known = |known: &CaseCandidate| match wish.kind {
                ProbeKind::OtherAttribute => known.same_call(way),
                ProbeKind::OtherCores => false,
                _ => known.same_tensors(way),
            };
            if unfit(way).is_some() || met.iter().any(|(_, known)| is_known(&known.candidate)) {
                continue;
            }
            match finder.ask(way).await {
                Ok(accepted) if wish.kind == ProbeKind::OtherKey && keys.contains(&accepted.tiling_key) => {}
                // What comes out grows with more than one axis.
                Ok(accepted) if accepted.bytes() > most_bytes => {}
                // A number that was taken for a size, and is none: what came out is as large as a case.
                Ok(accepted)
                    if accepted.candidate != *way
                        && cases.iter().any(|case| case.same_tensors(&accepted.candidate)) => {}
                Ok(accepted) => {
                    keys.push(accepted.tiling_key);
                    met.push((wish.kind, accepted));
                    break;
                }
                Err(Refusal::Io(error)) => return Err(error.into()),
                Err(refusal) => endless += usize::from(refusal.is_endless()),
            }
        }
    }
    Ok(met)
}

impl Evaluator {
    /// The host library of a plan and the operator's definition in it, if it has one.
    pub(super) async fn defined(&self, plan: &Plan) -> Result<Option<(PathBuf, DescribedOp)>, TunerError> {
        let build = self.build(plan, "", |builder, plan| builder.host(&plan.sources).map(|artifact| artifact.path));
        let host = build.await.map_err(TrialError::of_baseline)?;
        let described = self.description(&host).await;
        let description = described.map_err(|failure| TrialError::of_run(failure, "").of_baseline())?;
        let op = DescribedOps::of(&description.ops).ops.into_iter().find(|op| op.kind == self.manifest.operator);
        Ok(op.map(|op| (host, op)))
    }
}
