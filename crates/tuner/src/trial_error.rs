//! Why a trial gave no execution: a verdict about the candidate, or trouble of the machine that says nothing about it.

use super::TunerError;
use backend::{Place, RunFailure};
use build::{BuildError, BuildErrorKind};
use verify::{Reason, Rejection};

/// Why there is no execution, or none that counts.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The candidate is not right. Belongs into journal and bank.
    #[error("{0}")]
    Rejected(Box<Rejection>),
    /// The machine is at fault: a full disk, a missing program, a process that was killed. Ends the run and is written down
    /// nowhere.
    #[error(transparent)]
    Machine(Box<TunerError>),
}

impl From<Rejection> for TrialError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(Box::new(rejection))
    }
}

impl TrialError {
    /// What it means that a case of this name was run so.
    pub(super) fn of_run(failure: RunFailure, case: &str) -> Self {
        let reason = match &failure {
            RunFailure::Broken(_) | RunFailure::NoDevice(_) => {
                return Self::Machine(Box::new(TunerError::Run { case: case.to_owned(), source: failure }));
            }
            RunFailure::Tiling(_) | RunFailure::Misfit(_) => Reason::TilingFailed,
            RunFailure::EndlessTrace { limit_mib, place } => {
                let nowhere = RunFailure::EndlessTrace { limit_mib: *limit_mib, place: Place::default() };
                let rejection = Rejection::new(Reason::TimedOut, case, nowhere.to_string());
                return Rejection { file: place.file.clone(), line: place.line, ..rejection }.into();
            }
            RunFailure::Build { place, message } => {
                let rejection = Rejection::new(Reason::BuildFailed, case, message.clone());
                return Rejection { file: place.file.clone(), line: place.line, ..rejection }.into();
            }
            RunFailure::TimedOut(_) | RunFailure::TilingTimedOut(_) | RunFailure::Hopeless { .. } => Reason::TimedOut,
            RunFailure::OutOfMemory(_) => Reason::OutOfMemory,
            RunFailure::Program { .. } => Reason::WrongResult,
            RunFailure::Crashed(_)
            | RunFailure::Refused(_)
            | RunFailure::KernelMissing(_)
            | RunFailure::NeedsData { .. } => Reason::Crashed,
        };
        Rejection::new(reason, case, failure.to_string()).into()
    }

    /// What it means that a candidate does not build for a case of this name.
    pub(super) fn of_build(error: BuildError, case: &str) -> Self {
        if error.kind() == BuildErrorKind::Environment {
            return Self::Machine(Box::new(error.into()));
        }
        let mut rejection = Rejection::new(Reason::BuildFailed, case, error.to_string());
        if let BuildError::Compile(failure) = &error
            && let Some(diagnostic) = failure.diagnostics.first()
        {
            rejection.file.clone_from(&diagnostic.file);
            rejection.line = diagnostic.line;
            rejection.detail.clone_from(&diagnostic.message);
        }
        rejection.into()
    }

    /// The error of a command whose operator as it stands failed so.
    pub fn of_baseline(self) -> TunerError {
        match self {
            Self::Rejected(rejection) => TunerError::Baseline(rejection),
            Self::Machine(error) => *error,
        }
    }

    /// The verdict about the candidate, unless the machine is at fault.
    pub fn verdict(self) -> Result<Rejection, TunerError> {
        match self {
            Self::Rejected(rejection) => Ok(*rejection),
            Self::Machine(error) => Err(*error),
        }
    }
}

/// Takes verdicts about the candidate apart from trouble of the machine, which `?` passes on.
pub(super) trait Judgeable<Value> {
    /// What came out, or why the candidate does not count.
    fn judged(self) -> Result<Result<Value, Rejection>, TunerError>;
}

impl<Value> Judgeable<Value> for Result<Value, TrialError> {
    fn judged(self) -> Result<Result<Value, Rejection>, TunerError> {
        match self {
            Ok(value) => Ok(Ok(value)),
            Err(error) => error.verdict().map(Err),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;

    #[test]
    fn what_the_machine_does_is_no_verdict() {
        let broken = RunFailure::Broken("No space left on device".to_owned());
        let missing = || BuildError::Environment { message: "no compiler".to_owned(), fix: "install one".to_owned() };
        let full = BuildError::io("kernel.o")(std::io::Error::from_raw_os_error(28));
        for error in [
            TrialError::of_run(broken, "small"),
            TrialError::of_build(missing(), "small"),
            TrialError::of_build(full, "small"),
        ] {
            let error = error.verdict().expect_err("nothing is known of the candidate");
            assert_eq!(error.kind(), FailureKind::Environment, "{error}");
        }
    }

    #[test]
    fn the_candidates_own_limits_are_verdicts() {
        let reason = |failure| TrialError::of_run(failure, "small").verdict().unwrap().reason;
        assert_eq!(reason(RunFailure::OutOfMemory(64)), Reason::OutOfMemory);
        assert_eq!(reason(RunFailure::TimedOut(1.0)), Reason::TimedOut);
        assert_eq!(reason(RunFailure::Crashed("SIGSEGV".to_owned())), Reason::Crashed);
        assert_eq!(reason(RunFailure::Misfit("no attribute 'strides'".to_owned())), Reason::TilingFailed);
        assert_eq!(reason(RunFailure::Refused("undefined symbol".to_owned())), Reason::Crashed);
    }
}
