//! What `rewind` and `bank` found: what motifs were worth.

use super::results::ModelUse;
use aicore::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One motif of `rewind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewindStep {
    /// Catalogue id of the motif removed.
    pub motif: String,
    /// Where it was removed, `file:line`.
    pub site: String,
    /// Motifs that were missing already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Latency without it over latency with it; nothing if the removal gave no valid candidate.
    pub gain: Option<f64>,
    /// Whether the pair was kept as a record.
    pub kept: bool,
    /// Why not, or the name of the record.
    pub detail: String,
}

/// What one motif yielded in `rewind`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewindYield {
    /// Catalogue id.
    pub motif: String,
    /// Removals tried.
    pub tried: u64,
    /// Removals after which the kernel was still right.
    pub right: u64,
    /// Removals that hurt through the counter that the motif relieves.
    pub kept: u64,
    /// The largest kept gain; 0 where there is none.
    pub most: f64,
}

/// Result of `rewind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rewind {
    /// Operator.
    pub operator: String,
    /// What was removed and what that did.
    pub steps: Vec<RewindStep>,
    /// What each motif yielded.
    #[serde(default)]
    pub yields: Vec<RewindYield>,
    /// What a language model was asked, and what that cost, where one took optimisations out too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelUse>,
    /// Directory of the bank.
    pub bank: String,
    /// Where the latencies come from.
    pub origin: Origin,
    /// Machine description by name.
    pub machine: String,
}

/// A record of the bank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BankRecord {
    /// Name of the record.
    pub id: String,
    /// Catalogue id of the motif.
    pub motif: String,
    /// Operator it was mined from.
    pub operator: String,
    /// Latency without the motif over latency with it.
    pub gain: f64,
    /// What it says, one line.
    pub summary: String,
}

/// What a bank knows of one motif.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MotifStatistics {
    /// Catalogue id.
    pub motif: String,
    /// Records.
    pub records: u64,
    /// Operators that they come from.
    pub operators: u64,
    /// Faster, through the counter that the motif relieves.
    pub kept: u64,
    /// Right, and not faster.
    pub no_gain: u64,
    /// Faster for another reason.
    pub effect_without_mechanism: u64,
    /// Refused by the verifier.
    pub rejected: u64,
    /// A quarter of the verified records gained no more than this.
    pub lower: f64,
    /// Half of them.
    pub median: f64,
    /// Three quarters of them.
    pub upper: f64,
}

/// Result of `bank`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bank {
    /// Directory of the bank.
    pub path: String,
    /// Records listed, shown or merged.
    pub records: Vec<BankRecord>,
    /// Records that were new in a merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Records that were removed as superfluous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// What is known of each motif.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub motifs: Vec<MotifStatistics>,
}
