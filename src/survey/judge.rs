//! Whether outputs are right: against the operator's own reference, and by a second run in other garbage.

use std::path::Path;

use super::case::Accepted;
use super::cause;
use super::outcome::{Cause, CauseKind, State};
use super::trial::{POISONS, Stop};
use crate::backend::{Execution, SimBackend};
use crate::cases::{Array, DescribedOp, Python, ReferenceError, golden_script};
use crate::manifest::Tolerance;
use crate::project::snake_case;
use crate::verify::{DType, compare, default_tolerance};

/// Judges the outputs of a run: what was compared, or why they are not right, or not known to be.
pub(super) async fn judge(
    directory: &Path,
    backend: &SimBackend,
    python: &Python,
    op: &DescribedOp,
    accepted: &mut Accepted,
    execution: &Execution,
) -> Result<String, Stop> {
    written_and_stable(backend, accepted, execution).await?;
    if let Some(arrays) = accepted.golden.take() {
        let arrays: Vec<Option<Array>> = arrays.into_iter().map(Some).collect();
        let compared = agrees(accepted, execution, &arrays);
        // A script says nothing about attributes: it may have meant others than the defaults.
        return match compared {
            Err(stop) if stop.state == State::Failed && !op.attrs.is_empty() => Err(Stop {
                state: State::Unknown,
                cause: Cause::new(CauseKind::NoReference, "its test data disagree, perhaps for other attributes"),
                detail: stop.detail,
            }),
            compared => compared,
        };
    }
    let Some(script) = golden_script(directory) else {
        return Err(unknown(accepted.note.clone()));
    };
    let soc = &backend.machine.name;
    match python.golden(&script, op, &snake_case(&op.kind), &accepted.job, soc).await {
        Ok(arrays) => agrees(accepted, execution, &arrays),
        Err(error) => Err(unknown(Some(error))),
    }
}

fn unknown(error: Option<ReferenceError>) -> Stop {
    let (name, detail) = match error {
        None => ("the operator has none".to_owned(), String::new()),
        Some(ReferenceError::Missing(package)) => {
            (format!("it needs the Python package {package}"), ReferenceError::Missing(package).to_string())
        }
        Some(error) => (cause::general(&error.to_string()), error.to_string()),
    };
    let checked = "outputs are written completely and do not depend on unwritten memory";
    let detail = if detail.is_empty() { checked.to_owned() } else { format!("{detail}; {checked}") };
    Stop { state: State::Unknown, cause: Cause::new(CauseKind::NoReference, name), detail }
}

/// Runs once more with other garbage in unwritten memory: what differs was never written, or depends on it.
async fn written_and_stable(backend: &SimBackend, accepted: &mut Accepted, execution: &Execution) -> Result<(), Stop> {
    let job = &mut accepted.job;
    job.poison = POISONS[1];
    job.trace = false;
    let again = backend.run_operator(job).await.map_err(|failure| {
        let cause = cause::of_run(&failure);
        Stop::failed(Cause::new(cause.kind, format!("second run: {}", cause.name)), failure.to_string())
    })?;
    for (index, (first, second)) in execution.outputs.iter().zip(&again.outputs).enumerate() {
        let pairs = || first.iter().zip(second);
        let differing = pairs().filter(|(left, right)| left != right).count();
        if differing == 0 && first.len() == second.len() {
            continue;
        }
        let unwritten = pairs().filter(|(left, right)| **left == POISONS[0] && **right == POISONS[1]).count();
        let name = job.outputs.get(index).map(|output| output.name.as_str()).unwrap_or_default();
        let detail = format!("{differing} of {} bytes of output {name}", first.len());
        let cause = match unwritten == differing {
            true => Cause::new(CauseKind::UnwrittenOutput, "bytes of an output stay unwritten"),
            false => Cause::new(CauseKind::UnstableResult, "the result depends on unwritten memory"),
        };
        return Err(Stop::failed(cause, detail));
    }
    Ok(())
}

/// Compares every output that the reference gives.
fn agrees(accepted: &Accepted, execution: &Execution, arrays: &[Option<Array>]) -> Result<String, Stop> {
    let mut compared = 0;
    for (index, output) in accepted.job.outputs.iter().enumerate() {
        let (Some(actual), Some(Some(array))) = (execution.outputs.get(index), arrays.get(index)) else { continue };
        let incomparable = |detail: String| Stop {
            state: State::Unknown,
            cause: Cause::new(CauseKind::NoReference, "its outputs have another dtype or length"),
            detail,
        };
        let expected = output.dtype.parse::<DType>().ok().and_then(|dtype| Some((dtype, array.bytes_as(dtype)?)));
        let Some((dtype, expected)) = expected else {
            return Err(incomparable(format!("output {}: {} and {}", output.name, output.dtype, array.dtype)));
        };
        if expected.len() != actual.len() {
            return Err(incomparable(format!(
                "output {}: the reference has {} elements, not {}",
                output.name,
                expected.len() / dtype.size_bytes(),
                actual.len() / dtype.size_bytes()
            )));
        }
        compare(actual, &expected, dtype, tolerance(accepted, dtype)).map_err(|mismatch| {
            Stop::failed(
                Cause::new(CauseKind::WrongResult, format!("{dtype} output")),
                format!("output {}: {mismatch}", output.name),
            )
        })?;
        compared += 1;
    }
    match compared {
        0 => Err(unknown(None)),
        count if count < accepted.job.outputs.len() => {
            Ok(format!("{count} of {} outputs agree with the reference", accepted.job.outputs.len()))
        }
        _ => Ok("agrees with the reference".to_owned()),
    }
}

/// What an output may differ by: its own resolution, or that of the coarsest input, which a wider output does not make finer.
fn tolerance(accepted: &Accepted, dtype: DType) -> Tolerance {
    let own = default_tolerance(dtype);
    if own.relative == 0.0 {
        return own;
    }
    let inputs = accepted.job.inputs.iter().filter_map(|input| input.dtype.parse().ok()).map(default_tolerance);
    inputs.fold(own, |widest, one| if one.relative > widest.relative { one } else { widest })
}
