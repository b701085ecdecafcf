//! Probes are drawn: what the tiling function accepts, run by the operator as it was.

use std::path::Path;

use super::candidate::Candidate;
use super::plan::Plan;
use super::probe_questions::{ask_for, finder, timed_candidates};
use super::probe_sizes::{affordable_bytes, case_bytes, most_us, unreached};
use super::probing::{ProbeSet, WithData};
use super::{CaseTime, TunerError, Workspace};
use discovery::cases::{DescribedOp, ProbeKind, Refusal, leading_shape, of_length, traffic_bytes};
use discovery::init::dtypes_without_cases;

impl ProbeSet {
    /// Draws at most `count` probes by `seed` and runs the operator as it is on them. `times` are those of its timed cases: what
    /// would take much longer than these is not drawn.
    ///
    /// The same seed, sources and manifest give the same probes. An operator with its own `main` has none: its program
    /// decides on its data.
    pub async fn draw(
        workspace: &Workspace,
        baseline: &Candidate,
        times: &[CaseTime],
        count: usize,
        with_data: WithData,
        seed: u64,
    ) -> Result<Self, TunerError> {
        let mut set = Self::empty(workspace, workspace.work_directory.join("probes"), seed);
        if workspace.is_direct_launch() || count == 0 {
            return Ok(set);
        }
        let plan = baseline.plain_plan(workspace.tunables());
        let Some((host, op)) = set.evaluator.defined(&plan).await? else { return Ok(set) };
        set.untried_dtypes = dtypes_without_cases(&op);
        // Some of them will turn out to say nothing: dtypes that do not build for this chip, and the like.
        let affordable = affordable_bytes(workspace, times);
        set.whole_blocks = takes_whole_blocks_alone(workspace, (&host, &op), &plan, seed).await?;
        let wanted = (2 * count, seed, affordable, set.whole_blocks);
        let accepted = ask_for(workspace, &host, &op, &set.data, wanted).await?;
        let _ = std::fs::remove_dir_all(&set.data);
        set.admit(accepted, with_data.bytes())?;
        let tried_bytes = set.establish(&plan, workspace.options.jobs, count, most_us(times)).await?;
        let cases = workspace.cases.iter().map(|&index| &workspace.manifest.cases[index]);
        let seen_bytes = cases.chain(set.probes.iter().map(|probe| &probe.case)).map(case_bytes).max();
        set.unreached_beyond = unreached(seen_bytes, tried_bytes, workspace.machine.parameters.ub_bytes as u64);
        set.plan = Some(plan);
        Ok(set)
    }
}

/// Whether the operator as it is leaves part of its output unwritten where a row is no whole number of blocks, though its tiling function
/// takes such rows: many copy with what moves whole blocks. The smallest case with such a row says so.
async fn takes_whole_blocks_alone(
    workspace: &Workspace,
    (host, op): (&Path, &DescribedOp),
    plan: &Plan,
    seed: u64,
) -> Result<bool, TunerError> {
    let mut set = ProbeSet::empty(workspace, workspace.work_directory.join("blocks"), seed);
    let cases = timed_candidates(workspace);
    let smallest = cases.iter().min_by_key(|case| traffic_bytes(case));
    let row = smallest.and_then(|case| leading_shape(case)?.last().copied());
    let (Some(case), Some(row)) = (smallest, row) else { return Ok(false) };
    let axis = leading_shape(case).map_or(0, |shape| shape.len() - 1);
    let odd = of_length(case, axis, (row + 1) | 1);
    let accepted = match finder(workspace, host, op, &set.data.join("asked")).ask(&odd).await {
        Ok(accepted) => accepted,
        Err(Refusal::Io(error)) => return Err(error.into()),
        Err(_) => return Ok(false),
    };
    set.admit(vec![(ProbeKind::Ragged, accepted)], WithData::Small.bytes())?;
    let runs = set.run_places(plan, 1, vec![0]).await?;
    let _ = std::fs::remove_dir_all(&set.data);
    Ok(runs.into_values().flatten().any(|run| run.is_ok_and(|run| run.no_whole_block().is_some())))
}
