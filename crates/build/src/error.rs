//! What can go wrong in a build, in the project's own words.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::forwards::ForwardsError;
use toolchain::{Diagnostic, PresetError, Severity, ToolError, ToolLimit};

/// Coarse kind of a [`BuildError`], for exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildErrorKind {
    /// The sources do not compile or link.
    Compile,
    /// CMake refuses the project.
    Cmake,
    /// Something is missing on this machine.
    Environment,
}

/// A compiler or linker that said no. Stored in the cache, so a bad candidate costs one compilation only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileFailure {
    /// What was being built: `host.so`, `kernel.so`, a program.
    pub what: String,
    /// Findings with the project's own file names, errors first.
    pub diagnostics: Vec<Diagnostic>,
    /// The compiler's output with paths mapped, shortened.
    pub log: String,
}

impl CompileFailure {
    /// The first error, or the first line of the log.
    pub fn headline(&self) -> String {
        self.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error).map_or_else(
            || self.log.lines().next().unwrap_or("the compiler failed without a message").to_owned(),
            Diagnostic::to_string,
        )
    }
}

/// Why there is no artifact.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The sources do not compile or link.
    #[error("{} does not build: {}", .0.what, .0.headline())]
    Compile(CompileFailure),
    /// CMake refuses the project.
    #[error("cmake failed: {}", diagnostics.first().map_or_else(|| log.lines().next().unwrap_or("no message").to_owned(), Diagnostic::to_string))]
    Cmake {
        /// Findings with the project's own file names.
        diagnostics: Vec<Diagnostic>,
        /// CMake's output.
        log: String,
    },
    /// Compiler or CMake ran into its limits. Not remembered: with others it may succeed.
    #[error("{tool} ran into its limit of {limit}")]
    Limit {
        /// The tool.
        tool: String,
        /// What there was too little of.
        limit: ToolLimit,
    },
    /// Something is missing on this machine.
    #[error("{message}; {fix}")]
    Environment {
        /// What is missing.
        message: String,
        /// How to get it.
        fix: String,
    },
    /// The SDK's table of forwarding headers cannot be followed.
    #[error(transparent)]
    Forwards(#[from] ForwardsError),
    /// A file of the cache or the work directory cannot be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

impl BuildError {
    /// Coarse kind.
    pub fn kind(&self) -> BuildErrorKind {
        match self {
            BuildError::Compile(_) | BuildError::Limit { .. } => BuildErrorKind::Compile,
            BuildError::Cmake { .. } => BuildErrorKind::Cmake,
            BuildError::Environment { .. } | BuildError::Forwards(_) | BuildError::Io { .. } => {
                BuildErrorKind::Environment
            }
        }
    }

    /// For `map_err`: what the system said about a path.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
        let path = path.into();
        move |source| BuildError::Io { path, source }
    }
}

impl From<ToolError> for BuildError {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Limit { tool, limit } => BuildError::Limit { tool, limit },
            ToolError::Trouble { message, fix } => BuildError::Environment { message, fix },
        }
    }
}

impl From<PresetError> for BuildError {
    fn from(PresetError(diagnostic): PresetError) -> Self {
        BuildError::Cmake { log: diagnostic.message.clone(), diagnostics: vec![diagnostic] }
    }
}
