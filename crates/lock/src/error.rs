//! Why a lock could not be read or written.

use std::io;
use std::path::PathBuf;

/// Why a lock could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// There is no lock file.
    #[error("{path}: no lock file; `cargo ascend-tune run` writes it")]
    Absent {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("{path}: cannot read the lock file")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("{path}: cannot write the lock file")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The text is not a lock file.
    #[error(
        "{path}:{line}:{column}: {message}; restore the file from version control or run `cargo ascend-tune run` again"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A merge has left its marks.
    #[error(
        "{path}:{line}: a merge of `{ours}` and `{theirs}` left both sides in the lock, which cannot be merged by hand; when the sources \
         are merged, `cargo ascend-tune lock accept` verifies, times and locks them as they are, and keeps what `{ours}` knows of before"
    )]
    Conflict {
        /// The file.
        path: PathBuf,
        /// Line of the first mark, from 1.
        line: usize,
        /// What git calls the side that was there.
        ours: String,
        /// What git calls the side that came in.
        theirs: String,
    },
    /// A newer tool wrote the file.
    #[error("{path}:{line}: lock format {found}, this tool reads up to {supported}; update cargo-ascend-tune")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Line of the version, from 1.
        line: usize,
        /// Version in the file.
        found: i64,
        /// Newest version that this tool reads.
        supported: u32,
    },
    /// No entry of that name.
    #[error("{path}: there is no entry for {asked}, only for {known}; `cargo ascend-tune run --soc {asked}` makes one")]
    NoEntry {
        /// The file.
        path: PathBuf,
        /// Chip that was asked for.
        asked: String,
        /// Chips that there are.
        known: String,
    },
    /// A value that the format cannot hold.
    #[error("the lock file cannot hold {field} = {value}: {reason}")]
    Value {
        /// Field.
        field: String,
        /// The value as text.
        value: String,
        /// Why not.
        reason: &'static str,
    },
}

impl LockError {
    /// The line of the lock that shows it, from 1; 0 where none does.
    pub fn line(&self) -> usize {
        match self {
            LockError::Corrupt { line, .. } | LockError::Conflict { line, .. } | LockError::Newer { line, .. } => *line,
            LockError::Absent { .. }
            | LockError::Read { .. }
            | LockError::Write { .. }
            | LockError::NoEntry { .. }
            | LockError::Value { .. } => 0,
        }
    }
}
