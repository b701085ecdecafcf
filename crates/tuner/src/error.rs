//! Why a command could not do its work.

use std::path::PathBuf;

use crate::candidate::CandidateError;
use crate::result_error::ResultError;
use crate::workload::WorkloadError;
use backend::RunFailure;
use build::{BuildError, BuildErrorKind};
use lock::LockError;
use manifest::ManifestError;
use project::{LoadMachineError, ProjectError, SourceLoadError};
use verify::{Reason, Rejection};

/// Everything that ends a command early. The command line maps it to an exit status.
#[derive(Debug, thiserror::Error)]
pub enum TunerError {
    /// No operator project there.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Sources cannot be read.
    #[error(transparent)]
    Sources(#[from] SourceLoadError),
    /// No manifest.
    #[error("{}: there is no manifest", .0.display())]
    NoManifest(PathBuf),
    /// The manifest is not valid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Something asked for on the command line does not exist or fit.
    #[error("{0}")]
    Usage(String),
    /// The machine description is not usable.
    #[error(transparent)]
    Machine(#[from] LoadMachineError),
    /// Building failed outside of a candidate.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The simulator could not run something, for a reason that lies in the machine.
    #[error("case {case}: {source}")]
    Run {
        /// Case that was to be run.
        case: String,
        /// What went wrong.
        source: RunFailure,
    },
    /// Toolkit or devices are not there, or not to be had.
    #[error("{0}")]
    Device(String),
    /// Outputs of the baseline, all of which are kept, do not fit into memory.
    #[error(
        "case {case}: what comes out of all trials up to it is {:.1} GiB, more than the quarter of this machine's memory that is for it: make the case smaller, or give fewer seeds",
        *.bytes as f64 / (1_u64 << 30) as f64
    )]
    TooMuchOutput {
        /// Case at which it was too much.
        case: String,
        /// Bytes of all outputs so far.
        bytes: u64,
    },
    /// Test data could not be made.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The operator as it stands is not right, or does not take a case.
    #[error("{}", of_baseline(.0))]
    Baseline(Box<Rejection>),
    /// The winner did not pass its last verification.
    #[error("the winner failed its last verification from clean: {0}")]
    Winner(Box<Rejection>),
    /// A configuration given by the user cannot be applied.
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    /// The journal cannot be written.
    #[error("the journal cannot be written: {source}")]
    Journal {
        /// Why.
        source: std::io::Error,
    },
    /// The lock file is missing, corrupt or of a newer version.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no lock that a command is about.
    #[error("{}: there is no lock to compare the project with, or to take its state over into", .0.display())]
    NoLock(PathBuf),
    /// Uncommitted changes in files that a run would edit.
    #[error("uncommitted changes in {}", .0.join(", "))]
    Dirty(Vec<String>),
    /// The lock would change, but `--locked` was given.
    #[error("{} would change, but --locked was given", .0.display())]
    Locked(PathBuf),
    /// The project is not what was locked, but `--locked` was given.
    #[error("{} is stale, but --locked was given: {}", path.display(), differences.join("; "))]
    Stale {
        /// The lock.
        path: PathBuf,
        /// How they differ, one sentence each.
        differences: Vec<String>,
    },
    /// A recorded result cannot be undone or applied.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A bug in this program.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Kinds of failure, one per exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Command line or manifest.
    Usage,
    /// Something on this machine.
    Environment,
    /// The project does not build.
    Build,
    /// The operator is wrong, or nothing valid was found.
    Wrong,
    /// The lock is missing, stale or must not change.
    Check,
    /// A bug.
    Bug,
}

/// What is wrong with an operator as it stands, or with the case that it was asked about.
fn of_baseline(rejection: &Rejection) -> String {
    match rejection.reason {
        Reason::TilingFailed => {
            format!("the operator as it stands does not take case {}: {}", rejection.case, rejection.detail)
        }
        Reason::BuildFailed => format!("the operator as it stands {rejection}"),
        _ => format!("the operator as it stands is not right: {rejection}"),
    }
}

impl TunerError {
    /// Which kind of failure it is.
    pub fn kind(&self) -> FailureKind {
        match self {
            // A file that the user names is not there, or the disk is full.
            TunerError::Workload(WorkloadError::Io(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                FailureKind::Environment
            }
            TunerError::Project(_)
            | TunerError::Sources(_)
            | TunerError::NoManifest(_)
            | TunerError::NoLock(_)
            | TunerError::Manifest(_)
            | TunerError::Usage(_)
            | TunerError::TooMuchOutput { .. }
            | TunerError::Machine(_)
            | TunerError::Workload(_)
            | TunerError::Candidate(_)
            | TunerError::Result(_)
            | TunerError::Dirty(_) => FailureKind::Usage,
            TunerError::Build(error) => match error.kind() {
                BuildErrorKind::Environment => FailureKind::Environment,
                BuildErrorKind::Compile | BuildErrorKind::Cmake => FailureKind::Build,
            },
            TunerError::Baseline(rejection) if rejection.reason == Reason::BuildFailed => FailureKind::Build,
            TunerError::Baseline(_) | TunerError::Winner(_) => FailureKind::Wrong,
            TunerError::Lock(_) | TunerError::Locked(_) | TunerError::Stale { .. } => FailureKind::Check,
            TunerError::Journal { .. } | TunerError::Io(_) | TunerError::Run { .. } | TunerError::Device(_) => {
                FailureKind::Environment
            }
            TunerError::Internal(_) => FailureKind::Bug,
        }
    }

    /// What the user can do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            TunerError::NoManifest(_) => Some("run `cargo ascend-tune init` to write one from the sources".to_owned()),
            TunerError::NoLock(_) => Some(
                "`cargo ascend-tune run` writes the first one, also where it finds nothing faster (`--budget 1` hardly looks); from \
                 then on `lock` shows what differs, and `lock --accept` takes it over"
                    .to_owned(),
            ),
            TunerError::Dirty(_) => {
                Some("commit or stash them, so that the tool's edits can be told apart, or give --allow-dirty".to_owned())
            }
            TunerError::Locked(_) => Some("run without --locked, and commit the new lock".to_owned()),
            TunerError::Stale { .. } => Some(
                "tune the sources as they are with `cargo ascend-tune run`, or take them over with `cargo ascend-tune lock --accept`; \
                 without --locked they are built all the same"
                    .to_owned(),
            ),
            TunerError::Baseline(rejection) if rejection.reason == Reason::TilingFailed => Some(format!(
                "give case `{}` in ascend.toml shapes, dtypes and attributes that the tiling function takes, as the operator's \
                 tests and examples have them, or take other cases (`--case`)",
                rejection.case
            )),
            TunerError::Baseline(rejection) if rejection.reason == Reason::BuildFailed => Some(
                "where it builds with the toolkit, the headers that come with this program lack what it names: please report the \
                 first error; `--sdk-headers DIR` takes a toolkit's own (docs/doors.md)"
                    .to_owned(),
            ),
            TunerError::Baseline(_) => Some(
                "a faster operator must be compared with a right one: mend it first, or tune with other cases (`--case`, or \
                 without this one in ascend.toml); `cargo ascend-tune profile` shows its hazards"
                    .to_owned(),
            ),
            TunerError::Device(_) | TunerError::Run { source: RunFailure::NoDevice(_), .. } => Some(
                "`cargo ascend-tune doctor` says what there is of toolkit and devices; `--backend sim` needs neither".to_owned(),
            ),
            TunerError::Run { .. } => Some(
                "this says nothing about the operator: look for a full disk or too little memory, `cargo ascend-tune doctor` \
                 for what is missing; then run again, which goes on where it stopped"
                    .to_owned(),
            ),
            TunerError::Internal(_) => Some("please report this, with the command and the project's layout".to_owned()),
            _ => None,
        }
    }
}
