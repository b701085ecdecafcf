//! Answers of the simulator that are kept, so that a question is asked once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use build::artifact_name;

use super::execution::{Execution, RunFailure};
use super::job::{KernelJob, ProgramJob};

/// Bytes of outputs that are kept; what would be more is run again.
const MOST_BYTES: usize = 256 << 20;

/// Answers by question.
#[derive(Debug, Default)]
pub(super) struct Tape {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    runs: BTreeMap<String, Execution>,
    bytes: usize,
}

impl Tape {
    /// The answer that is kept, or that of this run.
    pub async fn answer(
        &self,
        key: &str,
        run: impl Future<Output = Result<Execution, RunFailure>>,
    ) -> Result<Execution, RunFailure> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().runs.get(key).cloned();
        if let Some(execution) = known {
            return Ok(execution);
        }
        let execution = run.await?;
        let bytes: usize = execution.outputs.iter().map(Vec::len).sum();
        let mut kept = kept();
        if kept.bytes + bytes <= MOST_BYTES {
            kept.bytes += bytes;
            kept.runs.insert(key.to_owned(), execution.clone());
        }
        Ok(execution)
    }
}

/// What makes two jobs the same question: neither artifacts nor data are told by where they lie.
pub(super) fn question(job: &KernelJob, critical_path: bool) -> String {
    // Who else is asked does not change the answer.
    let mut job = KernelJob { device: None, ..job.clone() };
    let libraries = job.kernels.values_mut().chain(job.cube_kernels.values_mut()).chain([&mut job.host]);
    for path in libraries.chain(job.inputs.iter_mut().map(|input| &mut input.file)) {
        *path = artifact_name(path);
    }
    blake3::hash(format!("{critical_path} {job:?}").as_bytes()).to_hex().to_string()
}

/// The same of a program.
pub(super) fn question_of_program(job: &ProgramJob<'_>, critical_path: bool) -> String {
    let ProgramJob { program, arguments, knobs, dump, .. } = *job;
    let asked = (artifact_name(program), arguments, knobs, dump, critical_path);
    blake3::hash(format!("{asked:?}").as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_question_is_the_same_in_another_place_and_another_with_other_values() {
        let job = |place: &str, cores: i64| KernelJob {
            host: PathBuf::from(format!("{place}/0a1b/host.so")),
            knobs: BTreeMap::from([("CORES".to_owned(), cores)]),
            ..KernelJob::default()
        };
        assert_eq!(question(&job("/here", 8), false), question(&job("/there", 8), false));
        assert_ne!(question(&job("/here", 8), false), question(&job("/here", 9), false));
        assert_ne!(question(&job("/here", 8), false), question(&job("/here", 8), true));
    }
}
