//! What keeps a campaign from going on. Kernels that fail are findings, not errors.

use aicore::TraceError;
use backend::RunFailure;
use build::BuildError;

/// A fault of this machine or of the campaign itself.
#[derive(Debug, thiserror::Error)]
pub enum SoundnessError {
    /// The compiler cannot be run.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Files of a batch.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The recorded launches cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The program around the kernels cannot be run.
    #[error("the program around the kernels failed: {0}")]
    Program(RunFailure),
    /// The program around the kernels does not build, whatever kernel is in it.
    #[error("the program around the kernels does not build:\n{0}")]
    Harness(String),
    /// No kernel of a batch is free of faults: the generator has nothing to offer.
    #[error("none of {kernels} generated kernels runs without faults; the first one: {first}")]
    NoKernel {
        /// How many were made.
        kernels: usize,
        /// What is wrong with one.
        first: String,
    },
}
