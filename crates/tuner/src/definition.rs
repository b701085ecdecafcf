//! The operator's definition as a reference beside the baseline: what it says of every trial, and where the operator as it stands
//! says something else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::evaluator::Evaluator;
use super::known::Departure;
use super::trialled::{References, Trialled};
use super::workload::Trial;
use super::workspace::Workspace;
use super::{TrialError, TunerError};
use backend::{Execution, KernelJob};
use discovery::cases::{Defined, DefinedOutput, DescribedOp, Python, ReferenceError};
use futures_util::{StreamExt, TryStreamExt, stream};
use manifest::{Layout, Reference};
use verify::{DType, Mismatch, Reason, Rejection};

/// What the definition gives for each trial, and why it gives nothing for some.
pub(super) struct Definitions {
    outputs: BTreeMap<usize, Defined>,
    silent: BTreeMap<usize, String>,
}

/// Calls that one process computes: starting it takes longer than most of them, and a few large ones must not keep the others waiting.
const CALLS_OF_A_PROCESS: usize = 6;

/// Computes what the definition gives, where the manifest asks for it.
pub(super) async fn definitions(workspace: &Workspace) -> Result<Option<Definitions>, TunerError> {
    let Reference::Definition { python } = &workspace.manifest.reference else { return Ok(None) };
    if workspace.manifest.layout == Layout::DirectLaunch {
        let message = "a program makes its own data, which no definition can know; take baseline as reference";
        return Err(TunerError::Usage(message.to_owned()));
    }
    let evaluator = &workspace.evaluator;
    let python = python_of(workspace, python);
    let plan = workspace.baseline()?.plain_plan(workspace.tunables());
    let mut found = Definitions { outputs: BTreeMap::new(), silent: BTreeMap::new() };
    let is_only_timed = |trial: &Trial| evaluator.without_data.contains(&workspace.manifest.cases[trial.case].name);
    let (only_timed, trials): (Vec<_>, Vec<_>) =
        evaluator.workload.trials.iter().enumerate().partition(|(_, trial)| is_only_timed(trial));
    found.silent.extend(only_timed.into_iter().map(|(index, _)| (index, "the case is only timed".to_owned())));
    let at_once = workspace.options.jobs.max(1);
    let described = trials.iter().map(|(_, trial)| evaluator.described_job(&plan, trial));
    let calls: Vec<(DescribedOp, KernelJob)> =
        stream::iter(described).buffered(at_once).try_collect().await.map_err(TrialError::of_baseline)?;
    let tolerance = |dtype: DType| workspace.manifest.tolerance.get(&dtype.to_string()).copied();
    let processes = calls.chunks(CALLS_OF_A_PROCESS).map(|calls| python.define_all(calls, &tolerance));
    let said: Vec<_> = stream::iter(processes).buffered(at_once).collect().await;
    for ((index, _), said) in trials.into_iter().zip(said.into_iter().flatten()) {
        match said {
            Ok(defined) => drop(found.outputs.insert(index, defined)),
            Err(error @ (ReferenceError::Undefined(_) | ReferenceError::Unmatched(_) | ReferenceError::Script(_))) => {
                found.silent.insert(index, error.to_string());
            }
            Err(error) => return Err(TunerError::Usage(format!("reference = \"definition\": {error}"))),
        }
    }
    // Data for which it says nothing are no mistake of the manifest; a type, dtypes or attributes that it does not cover are.
    if let (true, Some((op, job))) = (found.outputs.is_empty(), calls.last())
        && let Err(reason) = python.match_definition(op, job).await
    {
        let message = format!("reference = \"definition\" holds for no case: {reason}; take baseline as reference");
        return Err(TunerError::Usage(message));
    }
    Ok(Some(found))
}

fn python_of(workspace: &Workspace, program: &Path) -> Python {
    Python {
        program: program.to_owned(),
        worker_exe: workspace.options.worker_exe.clone(),
        scratch: workspace.work_directory.join("runs"),
    }
}

/// How an output differs from what the definition gives, where there are both.
fn departure(expected: Option<&DefinedOutput>, actual: Option<&Vec<u8>>, dtype: DType) -> Option<Mismatch> {
    expected?.agrees(actual?, dtype).err()
}

impl Definitions {
    /// Whether it gives an output of a trial, by their places.
    pub(super) fn defines(&self, trial: usize, output: usize) -> bool {
        self.outputs.get(&trial).and_then(|defined| defined.outputs.get(output)).is_some_and(Option::is_some)
    }

    /// Places of outputs that are not what it gives: trial, and position.
    pub(super) fn departures(&self, evaluator: &Evaluator, outputs: &References) -> BTreeSet<(usize, usize)> {
        let mut found = BTreeSet::new();
        for (index, actual) in outputs {
            let Some(defined) = self.outputs.get(index) else { continue };
            let trial = &evaluator.workload.trials[*index];
            let departs = |position: &usize| {
                let (_, dtype) = evaluator.output_type(trial, *position);
                departure(defined.outputs[*position].as_ref(), actual.get(*position), dtype).is_some()
            };
            found.extend((0..defined.outputs.len()).filter(departs).map(|position| (*index, position)));
        }
        found
    }

    /// Weighs what the operator as it stands has given: where it agrees, a candidate must agree as well; where it does not, that is
    /// known, and the operator itself is all that a candidate is compared with.
    pub(super) fn weigh(self, evaluator: &Evaluator, trialled: &mut Trialled) {
        for (index, defined) in self.outputs {
            let trial = &evaluator.workload.trials[index];
            let Some(actual) = trialled.outputs.get(&index) else { continue };
            let definition = format!("{} ({})", defined.definition.formula, defined.definition.file);
            let mut held = Vec::new();
            for (position, expected) in defined.outputs.into_iter().enumerate() {
                let (output, dtype) = evaluator.output_type(trial, position);
                match departure(expected.as_ref(), actual.get(position), dtype) {
                    None => held.push(expected),
                    Some(mismatch) => {
                        held.push(None);
                        trialled.known.note_departure(Departure {
                            case: evaluator.manifest.cases[trial.case].name.clone(),
                            trial: trial.label(&evaluator.manifest.cases),
                            output,
                            definition: definition.clone(),
                            detail: mismatch.to_string(),
                        });
                    }
                }
            }
            trialled.known.note_defined(trial, held);
        }
        for (index, reason) in self.silent {
            let trial = &evaluator.workload.trials[index];
            trialled.known.note_undefined(trial.label(&evaluator.manifest.cases), reason);
        }
    }
}

impl Evaluator {
    /// Compares a candidate's outputs with what the definition gives, as far as the operator as it stands agrees with it.
    pub(super) fn agrees_with_definition(
        &self,
        trial: &Trial,
        execution: &Execution,
        defined: &[Option<DefinedOutput>],
    ) -> Result<(), Rejection> {
        for (position, (expected, actual)) in defined.iter().zip(&execution.outputs).enumerate() {
            let Some(expected) = expected else { continue };
            let (name, dtype) = self.output_type(trial, position);
            expected.agrees(actual, dtype).map_err(|mismatch| {
                let detail = format!("output {name} against its definition: {mismatch}");
                Rejection::new(Reason::WrongResult, &trial.label(&self.manifest.cases), detail)
            })?;
        }
        Ok(())
    }
}
