//! What keeps a tool from saying yes or no.

use std::fmt;

/// A limit of compiler and CMake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ToolLimit {
    /// Seconds of one call.
    Seconds(f64),
    /// Memory of one process in MiB.
    MemoryMib(u64),
}

impl fmt::Display for ToolLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolLimit::Seconds(seconds) => write!(formatter, "{seconds} s; raise compile-timeout-s"),
            ToolLimit::MemoryMib(mib) => write!(formatter, "{mib} MiB of memory; raise compile-memory-mib"),
        }?;
        formatter.write_str(" under [limits] in ascend.toml if the sources need that much")
    }
}

/// Why a tool said nothing of what it was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// It ran into its limits: with others it may succeed.
    #[error("{tool} ran into its limit of {limit}")]
    Limit {
        /// The tool.
        tool: String,
        /// What there was too little of.
        limit: ToolLimit,
    },
    /// It is not there, or the machine is in trouble.
    #[error("{message}; {fix}")]
    Trouble {
        /// What is wrong.
        message: String,
        /// What helps.
        fix: String,
    },
}
