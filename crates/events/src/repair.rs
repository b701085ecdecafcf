//! What mends an operator that is wrong as it stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something was mended in the operator before it is tuned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repair {
    /// What was done.
    pub title: String,
    /// File, relative to the operator's root.
    pub file: String,
    /// Line of what was wrong there, before this change.
    pub line: u64,
    /// The change as a unified diff.
    pub diff: String,
    /// How much was wrong before: hazards, outputs of runs, cases that do not count.
    pub before: u64,
    /// How much is wrong after it.
    pub after: u64,
    /// Whether the change is in the sources.
    pub written: bool,
}
