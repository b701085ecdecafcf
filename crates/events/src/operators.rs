//! What became of many operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a command ended for one of several operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorEnd {
    /// Its directory, as seen from the working directory.
    pub project: String,
    /// The exit status that the command would have had for it alone.
    pub exit: u8,
    /// What went wrong, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The speed-up that a run claims: the lesser of that on its cases and that on its probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<f64>,
    /// Seconds that it took.
    pub wall_s: f64,
}

/// Result of `run`, `profile` and `build` for several operators, their last event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorsDone {
    /// The operators in their order.
    pub operators: Vec<OperatorEnd>,
    /// How many were left out since nothing of theirs has changed.
    pub left_out: u64,
    /// Seconds that all of them took.
    pub wall_s: f64,
}

/// What `init` did with one of several operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitOutcome {
    /// Its manifest was written.
    Written,
    /// Its manifest was only shown.
    Shown,
    /// It had one, which stays.
    #[default]
    LeftAlone,
    /// None could be made.
    Failed,
}

/// How `init` ended for one of several operators.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitEnd {
    /// Its directory, as seen from the working directory.
    pub project: String,
    /// What was done.
    pub outcome: InitOutcome,
    /// Operator; empty where no manifest was made.
    pub operator: String,
    /// Cases of the manifest.
    pub cases: u64,
    /// Tunables of the manifest.
    pub tunables: u64,
    /// Things that the user should know about it.
    pub remarks: u64,
    /// The exit status that the command would have had for it alone.
    pub exit: u8,
    /// What went wrong, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Seconds that it took.
    pub wall_s: f64,
}

/// Result of `init` for several operators, its last event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitsDone {
    /// The operators, by directory.
    pub operators: Vec<InitEnd>,
    /// Operators that exist only for other chips, by repository and directory.
    pub other_chips: Vec<String>,
    /// Seconds that all of them took.
    pub wall_s: f64,
}
