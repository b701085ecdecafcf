//! Why a candidate does not count.

use std::fmt;

use serde::{Deserialize, Serialize};

use aicore::HazardKind;

/// Class of a rejection; search learns from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The sources could not be edited as asked.
    EditFailed,
    /// Host or kernel does not compile.
    BuildFailed,
    /// The tiling function refuses the case.
    TilingFailed,
    /// Outputs differ from the reference.
    WrongResult,
    /// It is fast on the data that is timed, and on no other.
    KnownData,
    /// Bytes of an output stayed unwritten.
    UnwrittenOutput,
    /// The hazard judge found an error.
    Hazard,
    /// The worker died of a signal.
    Crashed,
    /// The worker ran into its time limit.
    TimedOut,
    /// The worker ran into its memory limit.
    OutOfMemory,
}

impl Reason {
    /// Whether a limit of this tool ended the run, which says nothing of what a longer one would have shown.
    pub fn is_limit(self) -> bool {
        matches!(self, Reason::TimedOut | Reason::OutOfMemory)
    }
}

/// A rejected candidate: class and particulars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    /// Class.
    pub reason: Reason,
    /// Kind of the hazard, where that is the class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hazard: Option<HazardKind>,
    /// Case it was seen on, empty if it is no matter of cases.
    pub case: String,
    /// Source file, relative to the operator's root, empty if unknown.
    pub file: String,
    /// Line from 1, 0 if unknown.
    pub line: u32,
    /// What happened.
    pub detail: String,
}

impl Rejection {
    /// A rejection without place.
    pub fn new(reason: Reason, case: &str, detail: impl Into<String>) -> Self {
        Self { reason, hazard: None, case: case.to_owned(), file: String::new(), line: 0, detail: detail.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Reason::EditFailed => "edit failed",
            Reason::BuildFailed => "does not build",
            Reason::TilingFailed => "tiling function failed",
            Reason::WrongResult => "wrong result",
            Reason::KnownData => "fast on the timed data alone",
            Reason::UnwrittenOutput => "output not written",
            Reason::Hazard => "hazard",
            Reason::Crashed => "crashed",
            Reason::TimedOut => "timed out",
            Reason::OutOfMemory => "out of memory",
        })
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.reason)?;
        if !self.case.is_empty() {
            write!(formatter, " in case {}", self.case)?;
        }
        if !self.file.is_empty() {
            write!(formatter, " at {}:{}", self.file, self.line)?;
        }
        write!(formatter, ": {}", self.detail)
    }
}
