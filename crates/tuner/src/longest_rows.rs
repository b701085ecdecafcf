//! The longest rows that an operator has room for.
//!
//! A kernel that holds a whole row in the unified buffer takes rows up to some length, which nobody wrote down. A second buffer for a
//! queue halves that length, and neither cases nor drawn probes need come near it: who ran such rows before would find out.

use super::TunerError;
use super::plan::Plan;
use super::probe_sizes::most_us;
use super::probing::{ProbeSet, WithData};
use super::round::Field;
use discovery::cases::{Accepted, Candidate as CaseCandidate, Finder, ProbeKind, Refusal, leading_shape, with_length};

/// Rows of a case are at most so many: how long they may be does not depend on it, and how long it takes to try does.
const MOST_ROWS: u64 = 8;
/// No element is smaller, so that no buffer holds a row of more of them.
const LEAST_ELEMENT_BYTES: u64 = 1;
/// How many lengths between one that fits and one that does not are tried beside each other, and how often: a deeper queue is told from
/// a length that is this share of a row off by far.
const BETWEEN: u64 = 4;
const ROUNDS: usize = 2;

/// Rows of one length, as the operator as it was takes them.
type Fitting = (u64, Accepted);

/// Of each case in `cases` one with the longest rows that the operator as it was runs, where its rows are limited at all.
pub(super) async fn longest_rows(
    field: &Field,
    cases: &[CaseCandidate],
    finder: &Finder<'_>,
    before: &Plan,
    seed: u64,
) -> Result<Vec<Accepted>, TunerError> {
    let mut found = Vec::new();
    for case in cases {
        found.extend(Scout { field, finder, before, seed }.of_case(case).await?);
    }
    Ok(found)
}

/// Who tries lengths.
struct Scout<'s> {
    field: &'s Field,
    finder: &'s Finder<'s>,
    before: &'s Plan,
    seed: u64,
}

impl Scout<'_> {
    async fn of_case(&self, case: &CaseCandidate) -> Result<Option<Accepted>, TunerError> {
        let shape = leading_shape(case).unwrap_or_default();
        let [rows, .., width] = shape[..] else { return Ok(None) };
        let few = with_length(case, 0, rows.min(MOST_ROWS)).unwrap_or_else(|| case.clone());
        let axis = shape.len() - 1;
        let ub_bytes = self.field.workspace.machine.parameters.ub_bytes as u64;
        let doubled =
            |power: u32| width.checked_shl(power).filter(|length| *length <= 2 * ub_bytes / LEAST_ELEMENT_BYTES);
        let lengths: Vec<u64> = (1..u64::BITS).map_while(doubled).collect();
        let (mut fits, mut beyond) = (None, None);
        for (length, run) in self.run(&few, axis, &lengths).await? {
            match run {
                Some(accepted) if beyond.is_none() => fits = Some((length, accepted)),
                None if beyond.is_none() => beyond = Some(length),
                _ => {}
            }
        }
        // Whatever the length, it is run: tiles do not grow with rows.
        let Some(mut beyond) = beyond else { return Ok(None) };
        let mut shortest = fits.as_ref().map_or(width, |(length, _): &Fitting| *length);
        for _ in 0..ROUNDS {
            let step = (beyond - shortest) / (BETWEEN + 1);
            let lengths: Vec<u64> = (1..=BETWEEN).map(|place| shortest + place * step).collect();
            if step == 0 {
                break;
            }
            for (length, run) in self.run(&few, axis, &lengths).await? {
                match run {
                    Some(accepted) if length < beyond => {
                        shortest = length;
                        fits = Some((length, accepted));
                    }
                    None => beyond = beyond.min(length),
                    Some(_) => {}
                }
            }
        }
        Ok(fits.map(|(_, accepted)| accepted))
    }

    /// Which of these lengths the operator as it was takes and runs, in order.
    async fn run(
        &self,
        case: &CaseCandidate,
        axis: usize,
        lengths: &[u64],
    ) -> Result<Vec<(u64, Option<Accepted>)>, TunerError> {
        let workspace = &self.field.workspace;
        let mut set = ProbeSet::empty(workspace, workspace.work_directory.join("rows"), self.seed);
        let mut asked = Vec::new();
        for &length in lengths {
            let accepted = match with_length(case, axis, length) {
                Some(longer) => match self.finder.ask(&longer).await {
                    Ok(accepted) => Some(accepted),
                    Err(Refusal::Io(error)) => return Err(error.into()),
                    Err(_) => None,
                },
                None => None,
            };
            asked.push((length, accepted));
        }
        let accepted: Vec<Accepted> = asked.iter().filter_map(|(_, accepted)| accepted.clone()).collect();
        let count = accepted.len();
        set.admit(accepted.into_iter().map(|one| (ProbeKind::Edge, one)).collect(), WithData::Small.bytes())?;
        let names: Vec<String> = set.probes.iter().map(|probe| probe.case.name.clone()).collect();
        set.establish(self.before, workspace.options.jobs, count, most_us(&self.field.baseline_times)).await?;
        let _ = std::fs::remove_dir_all(&set.data);
        let mut names = names.iter();
        let ran = |name: &String| set.probes.iter().any(|probe| probe.case.name == *name);
        let mut of = |accepted: Accepted| names.next().filter(|name| ran(name)).map(|_| accepted);
        Ok(asked.into_iter().map(|(length, accepted)| (length, accepted.and_then(&mut of))).collect())
    }
}
