//! The case that a survey runs: the first that the tiling function accepts, small ones first.

use super::cause;
use super::stop::Stop;
use backend::KernelJob;
use discovery::cases::{Array, Candidate, Finder, MOST_ENDLESS, Reach, ReferenceError, Refusal, Sense, Stage};
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

/// Accepted cases of one stage that mean nothing after which the next stage is asked.
const SENSELESS: usize = 8;

/// The first case that is accepted and means something to the definition of the operator's type, after as many with other shapes as are
/// skipped; the first that is accepted where none does or nobody can tell; else why the first guess is not.
pub async fn find(finder: &Finder<'_>, skipped: usize) -> Result<Accepted, Stop> {
    let mut note = None;
    let mut seen = Vec::new();
    let mut first: Option<Stop> = None;
    let mut accepted_first: Option<discovery::cases::Accepted> = None;
    let mut endless = 0;
    for stage in Stage::ALL {
        let (mut candidates, reason) = finder.candidates(stage).await;
        note = note.or(reason);
        candidates.retain(|candidate| candidate.elements() <= MOST_ELEMENTS);
        if stage == Stage::Tests {
            candidates.sort_by_key(Candidate::elements);
        }
        let attempts = if stage == Stage::Guesses { GUESSES } else { ATTEMPTS };
        let mut senseless = 0;
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
                    let accepted = finder.with_meaning(accepted, Reach::ItsShapes).await;
                    if finder.sense(&accepted).await != Sense::HoldsNot {
                        return Ok(chosen(accepted, note));
                    }
                    accepted_first.get_or_insert(accepted);
                    senseless += 1;
                    if senseless == SENSELESS {
                        break;
                    }
                }
                Err(Refusal::Io(error)) => return Err(Stop::machine(error)),
                Err(refusal) => {
                    first.get_or_insert_with(|| stop(&refusal, candidate));
                    endless += usize::from(refusal.is_endless());
                    if endless == MOST_ENDLESS {
                        return accepted_first
                            .map(|found| chosen(found, note))
                            .ok_or_else(|| stop(&refusal, candidate));
                    }
                }
            }
        }
    }
    if let Some(accepted) = accepted_first {
        return Ok(chosen(accepted, note));
    }
    Err(first.unwrap_or_else(|| {
        Stop::failed(Cause::new(CauseKind::NotRecognised, "the operator has no input"), "no case to try")
    }))
}

fn chosen(accepted: discovery::cases::Accepted, note: Option<ReferenceError>) -> Accepted {
    let (name, tiling_key) = (accepted.candidate.title(), accepted.tiling_key);
    let golden = accepted.candidate.data.map(|data| data.outputs);
    Accepted { name, job: accepted.job, tiling_key, note: note.filter(|_| golden.is_none()), golden }
}

fn stop(refusal: &Refusal, candidate: &Candidate) -> Stop {
    let detail = format!("{refusal}; case {}", candidate.title());
    match refusal {
        Refusal::Call(failure) => Stop::failed(cause::of_run(failure), detail),
        Refusal::DType(dtype) => Stop::failed(Cause::new(CauseKind::NotRecognised, format!("dtype {dtype}")), detail),
        Refusal::Io(error) => Stop::machine(error),
    }
}
