//! `doors`: one operator's kernels built against the embedded headers and against a toolkit's, run on the same cases and
//! compared: outputs bit by bit, and what one core moves and computes step by step. For people who work on the headers.

use std::path::{Path, PathBuf};

use super::Exit;
use super::args::{Common, DoorsArgs, Target};
use super::output::{Output, start_event};
use super::target::{open, runtime};
use aicore::{LaunchStep, LaunchSteps, Severity, partings, steps};
use backend::{Execution, Place, Symbols};
use events::{DoorStep, Doors, DoorsDifference, Event};
use tuner::{TrialError, TunerError, Workspace};

/// Executes the command.
pub fn execute(common: &Common, arguments: &DoorsArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let own = Target { sdk_headers: Some(PathBuf::from("own")), ..arguments.target.clone() };
    let own = Door::open(open(start_event("doors", common), common, &own, true, output)?)?;
    if own.workspace.is_direct_launch() {
        let message = "doors compares framework operators; this project launches its kernels itself".to_owned();
        return Err(TunerError::Usage(message));
    }
    if arguments.target.sdk_headers.as_deref().is_none_or(|path| path == Path::new("own")) {
        let message = "doors needs --sdk-headers DIR, the headers to compare with the embedded ones".to_owned();
        return Err(TunerError::Usage(message));
    }
    let toolkit = Door::open(open(start_event("doors", common), common, &arguments.target, true, output)?)?;
    let mut exit = Exit::Fine;
    let trials = own.workspace.evaluator.workload.trials.iter().enumerate().filter(|(_, trial)| trial.timed);
    for (index, trial) in trials {
        let (left, right) = (own.run(index, arguments.core)?, toolkit.run(index, arguments.core)?);
        let case = trial.label(&own.workspace.manifest.cases);
        let doors = compare(case, &left, &right, arguments.most);
        if doors.differences > 0 || !doors.outputs.is_empty() || !doors.hazards.is_empty() {
            exit = Exit::NothingValid;
        }
        output.emit(&Event::Doors(Box::new(doors)));
    }
    Ok(exit)
}

/// One way to build the kernels.
struct Door {
    workspace: Workspace,
    directory: tempfile::TempDir,
}

/// A trial through one door.
struct Passage {
    execution: Execution,
    steps: Vec<LaunchStep>,
    modules: String,
}

impl Door {
    fn open(mut workspace: Workspace) -> Result<Self, TunerError> {
        let directory = tempfile::tempdir()?;
        workspace.evaluator.backend = workspace.evaluator.backend.keeping_trace(directory.path().join("trace.bin"));
        Ok(Self { workspace, directory })
    }

    fn run(&self, index: usize, core: u32) -> Result<Passage, TunerError> {
        let workspace = &self.workspace;
        let plan = workspace.baseline()?.plain_plan(workspace.tunables());
        let trial = &workspace.evaluator.workload.trials[index];
        let execution =
            runtime()?.block_on(workspace.evaluator.run_trial(&plan, trial, true)).map_err(TrialError::of_baseline)?;
        let trace = fs_err::read(self.directory.path().join("trace.bin"))?;
        let launches = steps(&trace, core).map_err(|error| TunerError::Io(std::io::Error::other(error)))?;
        // An operator is one launch.
        let LaunchSteps { modules, steps } = launches.into_iter().next().unwrap_or_default();
        Ok(Passage { execution, steps, modules })
    }
}

fn compare(case: String, own: &Passage, toolkit: &Passage, most: usize) -> Doors {
    let outputs = own.execution.outputs.iter().zip(&toolkit.execution.outputs).enumerate();
    let outputs = outputs.filter_map(|(number, (left, right))| {
        let at = (0..left.len().max(right.len())).find(|at| left.get(*at) != right.get(*at))?;
        Some(format!("output {number} differs from byte {at} on"))
    });
    let partings = partings(&own.steps, &toolkit.steps);
    let (mut left, mut right) = (Symbols::new(&own.modules), Symbols::new(&toolkit.modules));
    let first = partings.iter().take(most).map(|parting| DoorsDifference {
        own: parting.left.map(|at| door_step(at, &own.steps[at], &mut left)),
        toolkit: parting.right.map(|at| door_step(at, &toolkit.steps[at], &mut right)),
    });
    let first = first.collect();
    Doors {
        case,
        outputs: outputs.collect(),
        hazards: hazards("embedded", own).chain(hazards("toolkit's", toolkit)).collect(),
        own_steps: own.steps.len() as u64,
        toolkit_steps: toolkit.steps.len() as u64,
        differences: partings.len() as u64,
        first,
    }
}

fn hazards<'passage>(headers: &'passage str, passage: &'passage Passage) -> impl Iterator<Item = String> + 'passage {
    let all = passage.execution.launches.iter().flat_map(|launch| &launch.hazards);
    all.filter(|hazard| hazard.severity == Severity::Error).map(move |hazard| {
        format!("with the {headers} headers, {}:{}: {}", hazard.place.file, hazard.place.line, hazard.message)
    })
}

fn door_step(number: usize, step: &LaunchStep, symbols: &mut Symbols) -> DoorStep {
    let Place { file, line } = symbols.place(step.site);
    DoorStep { number: number as u64, what: step.to_string(), file, line }
}
