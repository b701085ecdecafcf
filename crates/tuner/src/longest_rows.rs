//! The longest rows that an operator has room for.
//!
//! A kernel that holds a whole row in the unified buffer takes rows up to some length, which nobody wrote down. A second buffer for a
//! queue halves that length, and neither cases nor drawn probes need come near it: who ran such rows before would find out.

use super::plan::Plan;
use super::probe_run::ProbeRun;
use super::probing::{ProbeSet, WithData};
use super::{TunerError, Workspace};
use aicore::HazardKind;
use discovery::cases::{
    Accepted, Candidate as CaseCandidate, EVEN, Finder, ProbeKind, Refusal, leading_shape, of_length,
};

/// Rows of a case are at most so many: how long they may be does not depend on it, and how long it takes to try does.
const MOST_ROWS: u64 = 8;
/// Parts of the length at which the buffers would be full, in thousandths, that are tried first: what is rounded up to blocks, and a host
/// that cuts longer rows, is seen there.
const AROUND: [u64; 4] = [850, 950, 1000, 1100];
/// Lengths between one that fits and one that does not that are tried after it.
const BETWEEN: u64 = 4;

/// Of each case in `cases` one with about the longest rows that the operator as it was runs, where its rows are limited at all.
pub(super) async fn longest_rows(
    workspace: &Workspace,
    cases: &[CaseCandidate],
    finder: &Finder<'_>,
    before: &Plan,
    (seed, whole_blocks): (u64, bool),
) -> Result<Vec<Accepted>, TunerError> {
    let mut found = Vec::new();
    for case in cases {
        found.extend(Scout { workspace, finder, before, seed, whole_blocks }.of_case(case).await?);
    }
    Ok(found)
}

/// Who tries lengths.
struct Scout<'s> {
    workspace: &'s Workspace,
    finder: &'s Finder<'s>,
    before: &'s Plan,
    seed: u64,
    /// Whether the operator takes rows of whole blocks alone.
    whole_blocks: bool,
}

/// Rows of a length that the operator as it was runs, and where its buffers end then, in bytes.
struct Fitting {
    length: u64,
    accepted: Accepted,
    buffers_end_bytes: u64,
}

impl Scout<'_> {
    async fn of_case(&self, case: &CaseCandidate) -> Result<Option<Accepted>, TunerError> {
        let shape = leading_shape(case).unwrap_or_default();
        let [rows, .., width] = shape[..] else { return Ok(None) };
        let few = of_length(case, 0, rows.min(MOST_ROWS));
        let ub_bytes = self.workspace.machine.parameters.ub_bytes as u64;
        let run = async |lengths: &[u64]| self.run(&few, shape.len() - 1, lengths).await;

        let [Some(once), twice] = <[_; 2]>::try_from(run(&[width, 2 * width]).await?).unwrap_or([None, None]) else {
            return Ok(None);
        };
        let (mut longest, beyond) = match twice {
            None => (once, 2 * width),
            Some(twice) => {
                let grown_bytes = twice.buffers_end_bytes.saturating_sub(once.buffers_end_bytes);
                // Tiles that do not grow with rows take any row.
                let Some(left) = (ub_bytes.saturating_sub(once.buffers_end_bytes) * width).checked_div(grown_bytes)
                else {
                    return Ok(None);
                };
                let full = width + left;
                let lengths = AROUND.map(|part| self.whole(full * part / 1000).max(2 * width));
                let (longest, beyond) = parted(&lengths, run(&lengths).await?);
                // What is longer than the buffers have room for is cut.
                let Some(beyond) = beyond else { return Ok(None) };
                (longest.unwrap_or(twice), beyond)
            }
        };
        let step = (beyond - longest.length) / (BETWEEN + 1);
        if step > 0 {
            let lengths: Vec<u64> = (1..=BETWEEN).map(|place| self.whole(longest.length + place * step)).collect();
            let (longer, _) = parted(&lengths, run(&lengths).await?);
            longest = longer.unwrap_or(longest);
        }
        Ok(Some(longest.accepted))
    }

    fn whole(&self, length: u64) -> u64 {
        if self.whole_blocks { length / EVEN * EVEN } else { length }
    }

    /// What the operator as it was does with rows of these lengths, in order; `None` where it does not take or run them.
    async fn run(
        &self,
        case: &CaseCandidate,
        axis: usize,
        lengths: &[u64],
    ) -> Result<Vec<Option<Fitting>>, TunerError> {
        let workspace = self.workspace;
        let mut set = ProbeSet::empty(workspace, workspace.work_directory.join("rows"), self.seed);
        let mut found: Vec<Option<Fitting>> = lengths.iter().map(|_| None).collect();
        let (mut places, mut asked) = (Vec::new(), Vec::new());
        let longer: Vec<CaseCandidate> = lengths.iter().map(|length| of_length(case, axis, *length)).collect();
        self.finder.foresee(&longer).await;
        for (place, longer) in longer.iter().enumerate() {
            match self.finder.ask(longer).await {
                Ok(accepted) => {
                    places.push(place);
                    asked.push(accepted);
                }
                Err(Refusal::Io(error)) => return Err(error.into()),
                Err(_) => {}
            }
        }
        set.admit(asked.iter().map(|one| (ProbeKind::Edge, one.clone())).collect(), WithData::Small.bytes())?;
        let runs = set.run_places(self.before, workspace.options.jobs, (0..asked.len()).collect()).await?;
        let _ = std::fs::remove_dir_all(&set.data);
        for ((place, accepted), run) in places.into_iter().zip(asked).zip(runs.into_values()) {
            // Other hazards it may have: what counts is room.
            if let Some(Ok(run)) = run.filter(|run| run.as_ref().is_ok_and(has_room)) {
                let (length, buffers_end_bytes) = (lengths[place], run.buffers_end_bytes);
                found[place] = Some(Fitting { length, accepted, buffers_end_bytes });
            }
        }
        Ok(found)
    }
}

/// Whether all buffers had room.
fn has_room(run: &ProbeRun) -> bool {
    !run.known.kinds.contains(&HazardKind::UbOverflow)
}

/// The longest of these that fits before the first that does not, and that one's length.
fn parted(lengths: &[u64], found: Vec<Option<Fitting>>) -> (Option<Fitting>, Option<u64>) {
    let mut longest = None;
    for (found, length) in found.into_iter().zip(lengths) {
        match found {
            Some(fitting) => longest = Some(fitting),
            None => return (longest, Some(*length)),
        }
    }
    (longest, None)
}
