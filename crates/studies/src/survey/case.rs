//! The case that a survey runs: the first that the tiling function accepts, small ones first.

use super::cause;
use super::stop::Stop;
use backend::KernelJob;
use discovery::cases::{Array, Candidate, Finder, MOST_ENDLESS, ReferenceError, Refusal, Stage};
use events::survey::{Cause, CauseKind};

/// A case that the tiling function accepts.
pub struct Accepted {
    /// Shapes and dtypes, and where they come from.
    pub name: String,
    /// The job, without kernel.
    pub job: KernelJob,
    /// Key that selects the kernel.
    pub tiling_key: u64,
    /// Right outputs that came with the data.
    pub golden: Option<Vec<Array>>,
    /// Why the operator's own data were not used, if there are some.
    pub note: Option<ReferenceError>,
}

/// Byte patterns of unwritten memory in the first and the second run.
pub(super) const POISONS: [u8; 2] = [0xCD, 0x3A];

/// Attempts at a tiling that are made with candidates of one kind before the next kind is asked.
const ATTEMPTS: usize = 150;
/// The same for guesses: nothing comes after them.
const GUESSES: usize = 500;
/// Elements of all tensors above which a case is too large for a survey.
const MOST_ELEMENTS: u64 = 1 << 22;

/// The first case that is accepted, after as many with other shapes as are skipped; else why the first guess is not.
pub async fn find(finder: &Finder<'_>, skipped: usize) -> Result<Accepted, Stop> {
    let mut note = None;
    let mut seen = Vec::new();
    let mut first: Option<Stop> = None;
    let mut endless = 0;
    for stage in Stage::ALL {
        let (mut candidates, reason) = finder.candidates(stage).await;
        note = note.or(reason);
        candidates.retain(|candidate| candidate.elements() <= MOST_ELEMENTS);
        if stage == Stage::Tests {
            candidates.sort_by_key(Candidate::elements);
        }
        let attempts = if stage == Stage::Guesses { GUESSES } else { ATTEMPTS };
        for candidate in candidates.iter().take(attempts) {
            match finder.ask(candidate).await {
                Ok(accepted) => {
                    let shapes: Vec<_> = accepted.job.inputs.iter().map(|input| input.shape.clone()).collect();
                    if !seen.contains(&shapes) {
                        seen.push(shapes);
                    }
                    if seen.len() <= skipped {
                        continue;
                    }
                    let accepted = finder.with_meaning(accepted).await;
                    let golden = accepted.candidate.data.map(|data| data.outputs);
                    let note = note.filter(|_| golden.is_none());
                    let (name, tiling_key) = (candidate.title(), accepted.tiling_key);
                    return Ok(Accepted { name, job: accepted.job, tiling_key, golden, note });
                }
                Err(Refusal::Io(error)) => return Err(Stop::machine(error)),
                Err(refusal) => {
                    endless += usize::from(refusal.is_endless());
                    if endless == MOST_ENDLESS {
                        return Err(stop(&refusal, candidate));
                    }
                    first.get_or_insert_with(|| stop(&refusal, candidate));
                }
            }
        }
    }
    Err(first.unwrap_or_else(|| {
        Stop::failed(Cause::new(CauseKind::NotRecognised, "the operator has no input"), "no case to try")
    }))
}

fn stop(refusal: &Refusal, candidate: &Candidate) -> Stop {
    let detail = format!("{refusal}; case {}", candidate.title());
    match refusal {
        Refusal::Call(failure) => Stop::failed(cause::of_run(failure), detail),
        Refusal::DType(dtype) => Stop::failed(Cause::new(CauseKind::NotRecognised, format!("dtype {dtype}")), detail),
        Refusal::Io(error) => Stop::machine(error),
    }
}
