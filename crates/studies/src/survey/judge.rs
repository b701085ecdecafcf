//! Whether outputs are right: against the operator's own reference, and by a second run in other garbage.

use std::path::Path;

use super::case::{Accepted, POISONS};
use super::cause;
use super::stop::Stop;
use backend::{Execution, KernelJob, RunFailure, SimBackend};
use discovery::cases::{Array, Defined, DescribedOp, Python, ReferenceError, golden_script};
use events::survey::{Cause, CauseKind, Says, State, Testimony, Witness};
use manifest::Tolerance;
use project::snake_case;
use verify::{DType, compare, narrowed, tolerance_from};

/// Judges the outputs of a run by every witness there is: what was compared, or why they are not right, or not known to be.
pub(super) async fn judge(
    directory: &Path,
    backend: &SimBackend,
    python: &Python,
    op: &DescribedOp,
    accepted: &mut Accepted,
    execution: &Execution,
    testimonies: &mut Vec<Testimony>,
) -> Result<String, Stop> {
    let defined = defined(python, op, accepted, execution).await;
    written_and_stable(backend, accepted, execution, defined.as_ref().ok()).await?;
    let authors = by_authors(directory, backend, python, op, accepted, execution).await;
    let definition = defined.and_then(|defined| by_definition(accepted, execution, &defined));
    testimonies.push(testimony(Witness::Authors, &authors));
    testimonies.push(testimony(Witness::Definition, &definition));
    both(authors, definition)
}

/// Judges a run whose outputs are zero before the launch. An operator that is right then adds to its outputs, or leaves some of them as
/// they are, and relies on callers to clear them. A witness has to say so; without one, nobody knows what is right to begin with.
pub(super) async fn judge_where_cleared(
    directory: &Path,
    backend: &SimBackend,
    python: &Python,
    op: &DescribedOp,
    accepted: &mut Accepted,
    testimonies: &mut Vec<Testimony>,
) -> Option<String> {
    for output in &mut accepted.job.outputs {
        output.initial.get_or_insert(0.0);
    }
    accepted.job.poison = POISONS[0];
    let execution = backend.run_operator(&accepted.job).await.ok()?;
    let verdict = judge(directory, backend, python, op, accepted, &execution, testimonies).await.ok()?;
    Some(format!(
        "{verdict}, where outputs are zero before the launch: what lies there comes through, and callers have to clear it"
    ))
}

fn testimony(witness: Witness, verdict: &Result<String, Stop>) -> Testimony {
    let (says, detail) = match verdict {
        Ok(detail) => (Says::Right, detail.clone()),
        Err(stop) if stop.state == State::Failed => (Says::Wrong, stop.detail.clone()),
        Err(stop) => (Says::Nothing, stop.detail.clone()),
    };
    Testimony { witness, says, detail }
}

/// One verdict of two. Of witnesses that contradict each other none is believed.
fn both(authors: Result<String, Stop>, definition: Result<String, Stop>) -> Result<String, Stop> {
    let disagree = |right: &str, wrong: Stop| Stop {
        state: State::Unknown,
        cause: Cause::new(CauseKind::WitnessesDisagree, format!("right by {right}")),
        detail: wrong.detail,
    };
    match (authors, definition) {
        (Ok(authors), Ok(definition)) => Ok(format!("{authors}; {definition}")),
        (Ok(_), Err(wrong)) if wrong.state == State::Failed => Err(disagree("its authors' reference alone", wrong)),
        (Err(wrong), Ok(_)) if wrong.state == State::Failed => Err(disagree("the definition alone", wrong)),
        (Ok(detail), Err(_)) | (Err(_), Ok(detail)) => Ok(detail),
        (Err(authors), Err(definition)) if authors.state == definition.state => {
            Err(Stop { detail: format!("{}; {}", authors.detail, definition.detail), ..authors })
        }
        (Err(stop), Err(other)) => Err(if stop.state == State::Failed { stop } else { other }),
    }
}

/// What the authors' data or golden function say.
async fn by_authors(
    directory: &Path,
    backend: &SimBackend,
    python: &Python,
    op: &DescribedOp,
    accepted: &mut Accepted,
    execution: &Execution,
) -> Result<String, Stop> {
    if let Some(arrays) = accepted.golden.take() {
        let arrays: Vec<Option<Array>> = arrays.into_iter().map(Some).collect();
        let compared = agrees(accepted, execution, &arrays);
        let doubt = match &compared {
            Err(stop) if stop.state == State::Failed => doubt(directory, op),
            _ => None,
        };
        return match (compared, doubt) {
            (Err(stop), Some(why)) => Err(Stop {
                state: State::Unknown,
                cause: Cause::new(CauseKind::NoReference, format!("its test data disagree, perhaps {why}")),
                detail: stop.detail,
            }),
            (compared, _) => compared,
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

/// What the definition of the operator's type gives.
async fn defined(
    python: &Python,
    op: &DescribedOp,
    accepted: &Accepted,
    execution: &Execution,
) -> Result<Defined, Stop> {
    let job = with_shapes_that_came(accepted, execution);
    python.define(op, &job, &|_| None).await.map_err(|error| silent(error.to_string()))
}

/// The job with shapes of outputs as far as they are as long as what came out. A shape is what the case expects; shape inference has the
/// last word.
fn with_shapes_that_came(accepted: &Accepted, execution: &Execution) -> KernelJob {
    let mut job = accepted.job.clone();
    for (output, bytes) in job.outputs.iter_mut().zip(&execution.outputs) {
        let size = output.dtype.parse().map_or(0, DType::size_bytes) as u64;
        output.shape = output.shape.take().filter(|shape| shape.iter().product::<u64>() * size == bytes.len() as u64);
    }
    job
}

fn silent(detail: String) -> Stop {
    Stop { state: State::Unknown, cause: Cause::new(CauseKind::NoReference, "no definition fits"), detail }
}

/// What a definition says.
fn by_definition(accepted: &Accepted, execution: &Execution, defined: &Defined) -> Result<String, Stop> {
    let job = &accepted.job;
    let definition = &defined.definition;
    let mut compared = 0;
    for (index, output) in job.outputs.iter().enumerate() {
        let (Some(actual), Some(Some(expected))) = (execution.outputs.get(index), defined.outputs.get(index)) else {
            continue;
        };
        let Ok(dtype) = output.dtype.parse::<DType>() else { continue };
        if actual.len() != expected.bytes.len() {
            let (right, given) = (expected.bytes.len(), actual.len());
            return Err(silent(format!("output {}: the definition gives {right} bytes, not {given}", output.name)));
        }
        expected.agrees(actual, dtype).map_err(|mismatch| {
            Stop::failed(
                Cause::new(CauseKind::WrongResult, format!("{dtype} output")),
                format!("output {}: {mismatch}; defined as {} ({})", output.name, definition.formula, definition.file),
            )
        })?;
        compared += 1;
    }
    match compared {
        0 => Err(silent("the definition says nothing about any output".to_owned())),
        count if count < job.outputs.len() => {
            Ok(format!("{count} of {} outputs agree with the definition {}", job.outputs.len(), definition.formula))
        }
        _ => Ok(format!("agrees with the definition {}", definition.formula)),
    }
}

/// Why data of a script may not be what the operator itself takes and gives.
fn doubt(directory: &Path, op: &DescribedOp) -> Option<&'static str> {
    // A script says nothing about attributes: it may have meant others than the defaults.
    if !op.attrs.is_empty() {
        return Some("for other attributes");
    }
    changes_data(directory).then_some("for what its interface does to them")
}

/// Calls by which the host code of an interface turns its tensors into others.
const CHANGES: [&str; 6] =
    ["l0op::Transpose", "l0op::Cast", "l0op::Reshape", "l0op::Pad", "l0op::Slice", "l0op::TransData"];

/// Whether the operator brings an interface with it that does more to data than to hand them on.
fn changes_data(directory: &Path) -> bool {
    let files = walkdir::WalkDir::new(directory).max_depth(4).into_iter().flatten();
    let mut interfaces = files.filter(|entry| {
        let name = entry.file_name().to_string_lossy();
        name.starts_with("aclnn") && name.ends_with(".cpp")
    });
    interfaces.any(|entry| {
        let text = fs_err::read(entry.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        CHANGES.iter().any(|call| text.contains(call))
    })
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

/// Runs once more with other garbage in unwritten memory: what differs was never written, or depends on it. What a definition that holds
/// says nothing about may be left unwritten.
async fn written_and_stable(
    backend: &SimBackend,
    accepted: &mut Accepted,
    execution: &Execution,
    defined: Option<&Defined>,
) -> Result<(), Stop> {
    let job = &mut accepted.job;
    job.poison = POISONS[1];
    job.trace = false;
    let again = backend.run_operator(job).await.map_err(|failure| {
        if let RunFailure::KernelMissing(key) = failure {
            let name = "the tiling function chooses another kernel the second time";
            return Stop::failed(Cause::new(CauseKind::UnstableResult, name), format!("tiling key {key}"));
        }
        let cause = cause::of_run(&failure);
        Stop::failed(Cause::new(cause.kind, format!("second run: {}", cause.name)), failure.to_string())
    })?;
    for (index, (first, second)) in execution.outputs.iter().zip(&again.outputs).enumerate() {
        let size = job.outputs.get(index).and_then(|output| output.dtype.parse().ok()).map_or(1, DType::size_bytes);
        let counts = |byte: &usize| !defined.is_some_and(|defined| defined.says_nothing_of(index, byte / size));
        let pairs = || (0..first.len().min(second.len())).filter(counts).map(|byte| (&first[byte], &second[byte]));
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
        compare(actual, &expected, dtype, tolerance(accepted, dtype, &expected)).map_err(|mismatch| {
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

/// What an output may differ by: its own resolution, or that of the coarsest input. Small expected values narrow it, as they do
/// where candidates are verified.
fn tolerance(accepted: &Accepted, dtype: DType, expected: &[u8]) -> Tolerance {
    let inputs = accepted.job.inputs.iter().filter_map(|input| input.dtype.parse().ok());
    narrowed(tolerance_from(dtype, inputs), dtype, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_witnesses_that_contradict_each_other_none_is_believed() {
        let right = || Ok("right".to_owned());
        let wrong = || Err(Stop::failed(Cause::new(CauseKind::WrongResult, ""), "wrong"));
        let silent = || Err(unknown(None));
        let state = |authors, definition| both(authors, definition).map_or_else(|stop| stop.state, |_| State::Passed);
        assert_eq!(state(right(), right()), State::Passed);
        assert_eq!((state(right(), silent()), state(silent(), right())), (State::Passed, State::Passed));
        assert_eq!((state(wrong(), silent()), state(silent(), wrong())), (State::Failed, State::Failed));
        assert_eq!((state(wrong(), wrong()), state(silent(), silent())), (State::Failed, State::Unknown));
        for stop in [both(right(), wrong()), both(wrong(), right())].map(Result::unwrap_err) {
            assert_eq!((stop.state, stop.cause.kind), (State::Unknown, CauseKind::WitnessesDisagree));
        }
    }

    #[test]
    fn data_of_an_interface_that_changes_them_are_no_reference_for_the_operator() {
        let directory = tempfile::tempdir().unwrap();
        let interface = directory.path().join("op_host/aclnn_sample.cpp");
        fs_err::create_dir_all(interface.parent().unwrap()).unwrap();
        let op: DescribedOp =
            serde_json::from_value(serde_json::json!({ "type": "Sample", "inputs": [], "outputs": [], "attrs": [] }))
                .unwrap();
        assert_eq!(doubt(directory.path(), &op), None);
        fs_err::write(&interface, "auto x = l0op::Contiguous(given, executor);").unwrap();
        assert_eq!(doubt(directory.path(), &op), None, "handed on as they are");
        fs_err::write(&interface, "auto x = l0op::Transpose(given, order, executor);").unwrap();
        assert_eq!(doubt(directory.path(), &op), Some("for what its interface does to them"));
    }
}
