//! `compare`: the operator as it is now beside an earlier state, on cases that nobody tuned on.

use std::path::Path;
use std::process::Command;

use super::Exit;
use super::args::{Common, CompareArgs};
use super::output::{Output, start_event};
use super::target::{open, runtime};
use events::{ComparedProbe, Comparison, Event, Warning};
use manifest::Layout;
use source::SourceTree;
use tuner::{Candidate, Outcome, ProbeSet, ProbeVerdict, References, Scope, TunerError, WithData, Workspace};

/// Executes the command.
pub fn execute(common: &Common, arguments: &CompareArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let workspace = open(start_event("compare", common), common, &arguments.target, false, output)?;
    let now = workspace.baseline()?;
    let before = Candidate::baseline(earlier(&workspace, &arguments.against)?, workspace.tunables());
    if let Some(warning) = other_manifest(&workspace, &arguments.against) {
        output.emit(&Event::Warning(warning));
    }
    let (seed, jobs) = (arguments.target.seed, workspace.options.jobs);
    let (set, edges, verdicts, at_edges) = runtime()?.block_on(async {
        let plan = before.plain_plan(workspace.tunables());
        let evaluator = workspace.evaluator.of_baseline();
        let timed = evaluator.try_plan(&plan, &References::new(), Scope::Timed, false).await?;
        let times = match timed.evaluation.outcome {
            Outcome::Valid(times) => times,
            Outcome::Rejected(_) => Vec::new(),
        };
        let set = ProbeSet::draw(&workspace, &before, &times, arguments.probes as usize, WithData::Most, seed).await?;
        let edges = set.at_edges(&workspace, &times, &before, &now).await?;
        let plan = now.plain_plan(workspace.tunables());
        let (verdicts, at_edges) = (set.check(&plan, jobs, false).await?, edges.check(&plan, jobs, false).await?);
        Ok::<_, TunerError>((set, edges, verdicts, at_edges))
    })?;
    let drawn = verdicts.into_iter().map(|(place, verdict)| (&set, place, verdict));
    let at_edges = at_edges.into_iter().map(|(place, verdict)| (&*edges, place, verdict));
    let probes: Vec<ComparedProbe> = drawn
        .chain(at_edges)
        .map(|(set, place, verdict)| {
            let probe = &set.probes[place];
            let (before_us, now_us) =
                (set.before_us(place), verdict.speedup().map(|ratio| set.before_us(place) / ratio));
            let wrong = match &verdict {
                ProbeVerdict::Wrong(rejection) => Some(rejection.to_string()),
                ProbeVerdict::Held { .. } | ProbeVerdict::Slower { .. } => None,
            };
            let holds = verdict.holds();
            let (name, compared) = (probe.case.name.clone(), probe.with_data);
            let of_the_sample = probe.kind.is_of_the_sample();
            ComparedProbe {
                name,
                of_the_sample,
                tiling_key: probe.tiling_key,
                compared,
                before_us,
                now_us,
                holds,
                wrong,
            }
        })
        .collect();
    if probes.is_empty() {
        let why = match set.faulty.first() {
            _ if workspace.manifest.layout == Layout::DirectLaunch => "the program brings its own data".to_owned(),
            Some((name, reason)) => format!(
                "the operator as it was is not right at any of the {} that were tried, first at {name}: {reason}",
                set.faulty.len()
            ),
            None => "of all sizes and dtypes that were tried the tiling function takes none but those of ascend.toml"
                .to_owned(),
        };
        return Err(TunerError::Usage(format!("no probe can be drawn: {why}")));
    }
    if !probes.iter().any(|probe| probe.compared || probe.wrong.is_some()) {
        let message = "every probe is too large to compare outputs: nothing would be known of what is computed";
        let help = "give `--probes` a larger number, or let ascend.toml have a smaller case";
        return Err(TunerError::Usage(format!("{message}; {help}")));
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
        origin: workspace.origin(),
        machine: workspace.machine.name.clone(),
        machine_version: workspace.machine.version.clone(),
    }));
    Ok(if fine { Exit::Fine } else { Exit::CheckFailed })
}

/// The operator's sources in another directory, or at a revision of the project's repository.
fn earlier(workspace: &Workspace, against: &str) -> Result<SourceTree, TunerError> {
    let mut sources = SourceTree::new();
    for (file, _) in workspace.sources.iter() {
        sources.insert(file, file_of(workspace, against, file)?);
    }
    Ok(sources)
}

fn file_of(workspace: &Workspace, against: &str, file: &str) -> Result<String, TunerError> {
    let directory = Path::new(against);
    if directory.is_dir() {
        return Ok(fs_err::read_to_string(directory.join(file))?);
    }
    at_revision(&workspace.project.root, against, file)
}

/// Both states are held to the manifest as it is now; whoever changed that as well should know.
fn other_manifest(workspace: &Workspace, against: &str) -> Option<Warning> {
    let path = &workspace.manifest.path;
    let earlier = file_of(workspace, against, path.file_name()?.to_str()?).ok()?;
    let now = fs_err::read_to_string(path).ok()?;
    (earlier != now).then(|| Warning {
        code: "other-manifest".to_owned(),
        message: format!("{} is not that of {against}: its cases and tolerances are those of now", path.display()),
        help: None,
    })
}

pub(super) fn at_revision(root: &Path, revision: &str, file: &str) -> Result<String, TunerError> {
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
