//! `compare`: the operator as it is now beside an earlier state, on cases that nobody tuned on.

use std::path::Path;
use std::process::Command;

use super::Exit;
use super::args::{Common, CompareArgs};
use super::output::Output;
use super::target::{open, runtime, start_event};
use crate::lock::Origin;
use crate::report::event::{ComparedProbe, Comparison, Event};
use crate::source::SourceTree;
use crate::tuner::{Candidate, Outcome, ProbeSet, ProbeVerdict, References, Scope, TunerError, Workspace};

/// Executes the command.
pub fn execute(common: &Common, arguments: &CompareArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let workspace = open(start_event("compare", common), common, &arguments.target, false, output)?;
    let now = workspace.baseline()?;
    let before = Candidate::baseline(earlier(&workspace, &arguments.against)?, workspace.tunables());
    let (seed, jobs) = (arguments.target.seed, workspace.options.jobs);
    let (set, verdicts) = runtime()?.block_on(async {
        let plan = before.plain_plan(workspace.tunables());
        let evaluator = workspace.evaluator.of_baseline();
        let timed = evaluator.try_plan(&plan, &References::new(), Scope::Timed, false).await?;
        let times = match timed.evaluation.outcome {
            Outcome::Valid(times) => times,
            Outcome::Rejected(_) => Vec::new(),
        };
        let set = ProbeSet::draw(&workspace, &before, &times, arguments.probes as usize, seed).await?;
        let verdicts = set.check(&now.plain_plan(workspace.tunables()), jobs, false).await?;
        Ok::<_, TunerError>((set, verdicts))
    })?;
    let probes: Vec<ComparedProbe> = verdicts
        .into_iter()
        .map(|(place, verdict)| {
            let probe = &set.probes[place];
            let (before_us, now_us) =
                (set.before_us(place), verdict.speedup().map(|ratio| set.before_us(place) / ratio));
            let wrong = match &verdict {
                ProbeVerdict::Wrong(rejection) => Some(rejection.to_string()),
                ProbeVerdict::Held { .. } | ProbeVerdict::Slower { .. } => None,
            };
            let holds = verdict.holds();
            let (name, compared) = (probe.case.name.clone(), probe.with_data);
            ComparedProbe { name, tiling_key: probe.tiling_key, compared, before_us, now_us, holds, wrong }
        })
        .collect();
    if probes.is_empty() {
        let message =
            "no probe can be drawn: the program brings its own data, or the tiling function takes no other case";
        return Err(TunerError::Usage(message.to_owned()));
    }
    let fine = probes.iter().all(|probe| probe.holds);
    output.emit(&Event::Comparison(Comparison {
        operator: workspace.manifest.operator.clone(),
        against: arguments.against.clone(),
        seed,
        floor: workspace.manifest.case_floor,
        probes,
        faulty: set.faulty.iter().map(|(name, reason)| format!("{name}: {reason}")).collect(),
        at_fault: set.at_fault() as u64,
        origin: Origin::Modelled,
        machine: workspace.machine.name.clone(),
        machine_version: workspace.machine.version.clone(),
    }));
    Ok(if fine { Exit::Fine } else { Exit::CheckFailed })
}

/// The operator's sources in another directory, or at a revision of the project's repository.
fn earlier(workspace: &Workspace, against: &str) -> Result<SourceTree, TunerError> {
    let mut sources = SourceTree::new();
    let directory = Path::new(against);
    for (file, _) in workspace.sources.iter() {
        let text = if directory.is_dir() {
            fs_err::read_to_string(directory.join(file))?
        } else {
            at_revision(&workspace.project.root, against, file)?
        };
        sources.insert(file, text);
    }
    Ok(sources)
}

fn at_revision(root: &Path, revision: &str, file: &str) -> Result<String, TunerError> {
    // `./` makes the path one of the operator's directory, wherever that lies in the repository.
    let shown = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["show", "--end-of-options", &format!("{revision}:./{file}")])
        .output()?;
    if !shown.status.success() {
        let reason = String::from_utf8_lossy(&shown.stderr).trim().to_owned();
        return Err(TunerError::Usage(format!(
            "--against {revision}: neither a directory nor a revision that has {file}: {reason}"
        )));
    }
    Ok(String::from_utf8_lossy(&shown.stdout).into_owned())
}
