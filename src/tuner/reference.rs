//! Golden outputs: right answers that the user gives, as files or by a command.

use std::process::Stdio;
use std::time::Duration;

use super::TunerError;
use super::evaluator::References;
use super::workspace::Workspace;
use crate::manifest::Reference;

/// A golden command that takes longer than this is taken for hung.
const COMMAND_LIMIT: Duration = Duration::from_secs(600);

/// The user's right answers by trial; empty where the unmodified operator is the reference.
pub async fn golden_references(workspace: &Workspace) -> Result<References, TunerError> {
    let mut golden = workspace.evaluator.workload.golden.clone();
    if let Reference::Command(command) = &workspace.manifest.reference {
        golden.extend(command_references(workspace, command).await?);
    }
    Ok(golden)
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
