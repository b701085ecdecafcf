//! Golden outputs: right answers that the user gives, as files or by a command.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::trialled::References;
use super::workspace::Workspace;
use super::{TrialError, TunerError};
use backend::KernelJob;
use discovery::cases::{Array, Defined, Definition, DescribedOp, Python, ReferenceError, golden_script};
use discovery::init::{Discovery, FoundReference};
use manifest::{Layout, Reference};
use project::{OperatorProject, snake_case};
use verify::DType;

/// A golden command that takes longer than this is taken for hung.
const COMMAND_LIMIT: Duration = Duration::from_secs(600);

/// The user's right answers by trial; empty where the unmodified operator is the reference.
pub async fn golden_references(workspace: &Workspace) -> Result<References, TunerError> {
    let mut golden = workspace.evaluator.workload.golden.clone();
    match &workspace.manifest.reference {
        Reference::Command(command) => golden.extend(command_references(workspace, command).await?),
        Reference::Script { script, python } => golden.extend(script_references(workspace, script, python).await?),
        Reference::Baseline | Reference::Npy(_) | Reference::Definition { .. } => {}
    }
    Ok(golden)
}

/// Calls the script's function for every trial.
async fn script_references(workspace: &Workspace, script: &Path, python: &Path) -> Result<References, TunerError> {
    let evaluator = &workspace.evaluator;
    let named = script.display();
    if workspace.manifest.layout == Layout::DirectLaunch {
        let message = format!("a program makes its own data, which {named} cannot know; take baseline as reference");
        return Err(TunerError::Usage(message));
    }
    let python = Python {
        program: python.to_owned(),
        worker_exe: workspace.options.worker_exe.clone(),
        scratch: workspace.work_directory.join("runs"),
    };
    let script = workspace.project.root.join(script);
    if !script.is_file() {
        return Err(TunerError::Usage(format!("the reference script {} is not there", script.display())));
    }
    let plan = workspace.baseline()?.plain_plan(workspace.tunables());
    let mut references = References::new();
    for (index, trial) in evaluator.workload.trials.iter().enumerate() {
        let label = trial.label(&workspace.manifest.cases);
        let failed = |what: String| TunerError::Usage(format!("the reference {named} failed on case {label}: {what}"));
        let (op, job) = evaluator.described_job(&plan, trial).await.map_err(TrialError::of_baseline)?;
        let arrays = python
            .golden(&script, &op, &snake_case(&op.kind), &job, &workspace.machine.name)
            .await
            .map_err(|error| failed(error.to_string()))?;
        references.insert(index, right_outputs(&job, &arrays).map_err(failed)?);
    }
    Ok(references)
}

/// What says which outputs of jobs are right, for `init`: a script of the authors that does so in every dtype, else a definition of ours.
pub(super) async fn find_reference(
    python: &Python,
    project: &OperatorProject,
    op: &DescribedOp,
    jobs: &[&KernelJob],
    soc: &str,
    discovery: &mut Discovery,
) {
    let Some(first) = jobs.first() else { return };
    let program = || python.program.display().to_string();
    if let Some(script) = golden_script(&project.root) {
        let name = script.strip_prefix(&project.root).unwrap_or(&script).display().to_string();
        let mut refused = None;
        for job in one_of_each_dtype(jobs) {
            let arrays = python.golden(&script, op, &snake_case(&op.kind), job, soc).await;
            let right = arrays.map_err(|error| error.to_string()).and_then(|arrays| right_outputs(job, &arrays));
            if let Err(reason) = right {
                refused = Some(format!("{name} is no reference here: {reason} ({})", dtypes_of(job).join(", ")));
                break;
            }
        }
        match refused {
            Some(reason) => discovery.reference_notes.push(reason),
            None => {
                discovery.reference = Some(FoundReference::Script { script: name, python: program() });
                return;
            }
        }
    }
    match python.define(op, first, &|_| None).await {
        Ok(Defined { definition, .. }) => {
            let Definition { operator, file, formula } = definition;
            discovery.reference_notes.push(format!("The definition of {operator} fits ({file}): {formula}."));
            discovery.reference = Some(FoundReference::Definition { python: program() });
        }
        Err(ReferenceError::Missing(package)) => {
            let without = format!("Whether a definition fits is not known: Python has no {package}.");
            discovery.reference_notes.push(without);
        }
        // Most operators have none, which is not worth a line in every manifest.
        Err(ReferenceError::Undefined(_)) => {}
        Err(error) => discovery.reference_notes.push(format!("No definition: {error}.")),
    }
}

/// The first job of each combination of dtypes: a script may know some of them only, or lack a package for one.
fn one_of_each_dtype<'jobs>(jobs: &[&'jobs KernelJob]) -> Vec<&'jobs KernelJob> {
    let mut known = BTreeSet::new();
    jobs.iter().copied().filter(|job| known.insert(dtypes_of(job))).collect()
}

fn dtypes_of(job: &KernelJob) -> Vec<&str> {
    job.inputs.iter().map(|input| input.dtype.as_str()).collect()
}

/// The arrays of a reference as the bytes of all outputs of a job, or what is amiss with them.
fn right_outputs(job: &KernelJob, arrays: &[Option<Array>]) -> Result<Vec<Vec<u8>>, String> {
    let outputs = job.outputs.iter().enumerate().map(|(position, output)| {
        let name = &output.name;
        let Some(Some(array)) = arrays.get(position) else { return Err(format!("it gives no output {name}")) };
        let dtype: DType = output.dtype.parse().map_err(|_| format!("output {name}: dtype {}", output.dtype))?;
        let bytes = array.bytes_as(dtype).ok_or_else(|| format!("output {name} comes as {}", array.dtype))?;
        let elements = output.shape.iter().flatten().product::<u64>();
        if bytes.len() as u64 != elements * dtype.size_bytes() as u64 {
            let given = bytes.len() / dtype.size_bytes();
            return Err(format!("output {name} has {elements} elements, and it gives {given}"));
        }
        Ok(bytes)
    });
    outputs.collect()
}

/// Runs the command for every trial. Placeholders: `{case}`, `{input:NAME}`, `{output:NAME}`; files are raw little-endian
/// elements.
async fn command_references(workspace: &Workspace, command: &[String]) -> Result<References, TunerError> {
    let mut references = References::new();
    let Some((program, arguments)) = command.split_first() else {
        return Err(TunerError::Usage("the reference command is empty".to_owned()));
    };
    let cases = &workspace.manifest.cases;
    for (index, trial) in workspace.evaluator.workload.trials.iter().enumerate() {
        let folder = tempfile::Builder::new().prefix("golden-").tempdir_in(&workspace.work_directory)?;
        let fill = |word: &String| {
            let mut word = word.replace("{case}", &cases[trial.case].name);
            for input in &trial.inputs {
                word = word.replace(&format!("{{input:{}}}", input.name), &input.file.display().to_string());
            }
            for output in &trial.outputs {
                let file = folder.path().join(format!("{}.bin", output.name));
                word = word.replace(&format!("{{output:{}}}", output.name), &file.display().to_string());
            }
            word
        };
        let mut child = tokio::process::Command::new(fill(program));
        child
            .args(arguments.iter().map(fill))
            .current_dir(&workspace.project.root)
            .env_remove(workspace.manifest.model_key_variable())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let label = trial.label(cases);
        let failed = |what: String| TunerError::Usage(format!("the reference command failed on case {label}: {what}"));
        let output = tokio::time::timeout(COMMAND_LIMIT, child.output())
            .await
            .map_err(|_| failed(format!("no end after {} s", COMMAND_LIMIT.as_secs())))?
            .map_err(|error| failed(format!("{program}: {error}")))?;
        if !output.status.success() {
            return Err(failed(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())));
        }
        let files = trial.outputs.iter().map(|output| fs_err::read(folder.path().join(format!("{}.bin", output.name))));
        references.insert(index, files.collect::<Result<_, _>>()?);
    }
    Ok(references)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend::JobInput;

    #[test]
    fn a_script_is_asked_once_for_each_combination_of_dtypes() {
        let job = |dtypes: [&str; 2], rows: u64| KernelJob {
            inputs: dtypes
                .map(|dtype| JobInput {
                    name: "x".to_owned(),
                    dtype: dtype.to_owned(),
                    format: "ND".to_owned(),
                    shape: vec![rows],
                    file: "x.bin".into(),
                })
                .to_vec(),
            ..KernelJob::default()
        };
        let jobs = [
            job(["float16", "float16"], 8),
            job(["float16", "float16"], 16),
            job(["float16", "float32"], 8),
            job(["bfloat16", "float32"], 8),
        ];
        let asked = one_of_each_dtype(&jobs.each_ref());
        assert_eq!(
            asked.iter().map(|job| dtypes_of(job).join("+")).collect::<Vec<_>>(),
            ["float16+float16", "float16+float32", "bfloat16+float32"]
        );
        assert_eq!(asked[0].inputs[0].shape, [8], "the first of them");
    }
}
