//! Why a profile says nothing.

use std::path::PathBuf;

/// A profile that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfilerError {
    /// The profiler ended badly.
    #[error("the profiler ended with exit status {code}: {output}")]
    ExitStatus {
        /// Its exit status; negative for a signal.
        code: i32,
        /// The end of what it said.
        output: String,
    },
    /// It ended well and does not say that everything ran.
    #[error("the profiler does not say that all tasks succeeded: {output}")]
    NoSuccess {
        /// The end of what it said.
        output: String,
    },
    /// It says that everything ran, and files are missing.
    #[error("{}: the profiler left no {file}", folder.display())]
    NoFile {
        /// Where it was to lie.
        folder: PathBuf,
        /// What was looked for.
        file: String,
    },
    /// It profiled, and not this kernel.
    #[error("{}: no launch of kernel {kernel}; there are: {found}", folder.display())]
    OtherKernels {
        /// Where was looked.
        folder: PathBuf,
        /// The kernel that was asked for.
        kernel: String,
        /// Names that are there.
        found: String,
    },
    /// A file cannot be read.
    #[error("{}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A column that has to be there is not.
    #[error("{}: there is no column {column}; there are: {found}", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column, as newer versions call it.
        column: String,
        /// The columns that there are.
        found: String,
    },
    /// A column has another unit than is known of it.
    #[error("{}: column {column} is in {found}, not in {wanted}: this version of the profiler is not known", path.display())]
    OtherUnit {
        /// The file.
        path: PathBuf,
        /// The column as it stands.
        column: String,
        /// Its unit.
        found: String,
        /// The unit that it has to have.
        wanted: String,
    },
    /// A number that is none.
    #[error("{}:{line}: column {column} holds {value:?}, which is no number", path.display())]
    NoNumber {
        /// The file.
        path: PathBuf,
        /// Line from 1.
        line: usize,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
    },
}
