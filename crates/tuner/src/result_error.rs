//! Why a recorded result cannot be undone or applied.

use std::path::PathBuf;

/// Why a result cannot be undone or applied. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// There is no record.
    #[error("{}: no result of a run is recorded here; `cargo ascend-tune run` records one, with --dry-run too", .0.display())]
    NoRecord(PathBuf),
    /// Files are in no state that the record knows.
    #[error(
        "{}: changed since the last run, nothing was written; bring the sources back to one of its states (your version control has \
         them), or run again", .0.join(", ")
    )]
    Changed(Vec<String>),
    /// There is nothing to undo.
    #[error("{0} is as it was before the last run: there is nothing to undo")]
    NotApplied(String),
    /// No step is called so.
    #[error("`{step}` is no step of the recorded result; its steps are: {}", known.join("; "))]
    NoStep {
        /// What was asked for.
        step: String,
        /// Steps that there are.
        known: Vec<String>,
    },
    /// The step needs others.
    #[error("step {number} ({title}) does not stand without the steps before it: both change the same words")]
    NotAlone {
        /// Its number, from 1.
        number: usize,
        /// What it does.
        title: String,
    },
}
