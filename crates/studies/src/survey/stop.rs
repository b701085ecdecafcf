//! Why a step did not pass.

use super::cause;
use backend::{Execution, LocatedHazard, RunFailure};
use build::BuildError;
use events::survey::{Cause, CauseKind, State};

/// A step that did not pass.
pub(super) struct Stop {
    pub state: State,
    pub cause: Cause,
    pub detail: String,
}

impl Stop {
    pub fn failed(cause: Cause, detail: impl Into<String>) -> Self {
        Self { state: State::Failed, cause, detail: detail.into() }
    }

    pub fn build(error: &BuildError) -> Self {
        Self::failed(cause::of_build(error), error.to_string())
    }

    pub fn run(failure: &RunFailure) -> Self {
        Self::failed(cause::of_run(failure), failure.to_string())
    }

    pub fn machine(error: impl std::fmt::Display) -> Self {
        Self::failed(Cause::new(CauseKind::Machine, cause::general(&error.to_string())), error.to_string())
    }
}

/// All hazards of a run.
pub(super) fn hazards_of(execution: &Execution) -> impl Iterator<Item = &LocatedHazard> {
    execution.launches.iter().flat_map(|launch| &launch.hazards)
}

/// A hazard with its place, in words.
pub(super) fn located(hazard: &LocatedHazard) -> String {
    format!("{}:{}: {} ({} times)", hazard.place.file, hazard.place.line, hazard.message, hazard.count)
}

/// Why a run that returned did not come to its end.
pub(super) fn fault(execution: &Execution) -> Option<Stop> {
    let hazard = hazards_of(execution).find(|hazard| cause::stops_the_run(hazard))?;
    Some(Stop::failed(cause::of_hazard(hazard), located(hazard)))
}
