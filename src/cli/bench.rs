//! Candidates that a model wants tried before it proposes them: built and run as a run does, beside it, and counted nowhere.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::target::runtime;
use agent::{Bench, Try};
use backend::{LaunchProfile, longest};
use source::SourceTree;
use tuner::{Candidate, Evaluator, Outcome, References, Scope, Surveyed, TrialError, Trialled, TunerError, Workspace};

/// Tries candidates of one operator.
pub struct ModelBench {
    workspace: Workspace,
    evaluator: Evaluator,
    references: Arc<References>,
    runtime: tokio::runtime::Runtime,
}

impl std::fmt::Debug for ModelBench {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ModelBench").finish_non_exhaustive()
    }
}

/// Hazards, waits and steps that are told of a launch.
const MOST: usize = 12;

impl ModelBench {
    /// For an operator that was looked at.
    pub fn new(workspace: &Workspace, surveyed: &Surveyed) -> Result<Self, TunerError> {
        let (evaluator, references) = surveyed.bench();
        Ok(Self { workspace: workspace.clone(), evaluator, references, runtime: runtime()? })
    }
}

impl Bench for ModelBench {
    fn try_out(&mut self, what: Try, sources: &SourceTree, limit: Duration) -> Result<String, String> {
        let tunables = self.workspace.tunables();
        let plan = Candidate::baseline(sources.clone(), tunables).plain_plan(tunables);
        let evaluator = &self.evaluator;
        let late = || format!("it was not done within {} s", limit.as_secs_f64());
        if what == Try::Compile {
            let built = self.runtime.block_on(async { tokio::time::timeout(limit, evaluator.artifacts(&plan)).await });
            return match built.map_err(|_| late())? {
                Ok(_) => Ok("It compiles.".to_owned()),
                Err(TrialError::Rejected(rejection)) => Ok(format!("Refused: {rejection}")),
                // What it says is of this machine, and none of a model's business.
                Err(TrialError::Machine(_)) => Err("this machine cannot build just now".to_owned()),
            };
        }
        let tried = self.runtime.block_on(async {
            tokio::time::timeout(limit, evaluator.try_plan(&plan, &self.references, Scope::Timed, false)).await
        });
        let tried = tried.map_err(|_| late())?.map_err(|_| "this machine cannot run it just now".to_owned())?;
        Ok(match what {
            Try::Hazards => hazards(&tried),
            Try::Compile | Try::Profile => profile(&tried),
        })
    }
}

fn verdict(tried: &Trialled) -> String {
    match &tried.evaluation.outcome {
        Outcome::Rejected(rejection) => format!("Refused: {rejection}\n"),
        Outcome::Valid(times) => {
            let mut text =
                "Right on the timed cases with one seed; other seeds, values and shapes were not tried.\n".to_owned();
            for time in times {
                // A `String` takes everything that is written to it.
                let _ = writeln!(text, "{}: {:.2} us", time.name, time.task_us);
            }
            text
        }
    }
}

fn profile(tried: &Trialled) -> String {
    let mut text = verdict(tried);
    let Some(launch) = longest(tried.profiles.values().flatten()) else { return text };
    let of = &launch.profile;
    let _ = writeln!(
        text,
        "The longest launch: {:.2} us on {} cores, at least {:.2} us; vector {:.2} us, MTE2 {:.2} us, MTE3 {:.2} us, scalar {:.2} us, \
         cube {:.2} us; reads {} bytes and writes {}.",
        of.task_us,
        of.cores,
        of.bound_us,
        of.pipes.vec_us,
        of.pipes.mte2_us,
        of.pipes.mte3_us,
        of.pipes.scalar_us,
        of.pipes.cube_us,
        of.gm_read_bytes,
        of.gm_write_bytes
    );
    for (stall, place) in of.stalls.iter().zip(&launch.stall_places).take(MOST) {
        let _ = writeln!(
            text,
            "{} waits {:.2} us for {} at {}:{}",
            stall.pipe, stall.time_us, stall.reason, place.file, place.line
        );
    }
    text
}

fn hazards(tried: &Trialled) -> String {
    let mut text = verdict(tried);
    let launches = tried.profiles.values().flatten();
    let of_launch = |launch: &LaunchProfile| launch.hazards.clone();
    let found: Vec<String> = launches
        .flat_map(of_launch)
        .map(|hazard| {
            format!("{} at {}:{}: {}", hazard.kind.word(), hazard.place.file, hazard.place.line, hazard.message)
        })
        .collect();
    if found.is_empty() {
        text.push_str("No hazard in the launches that ran to their end.\n");
    }
    for line in found.iter().take(MOST) {
        let _ = writeln!(text, "{line}");
    }
    text
}
