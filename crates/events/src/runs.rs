//! Two finished runs side by side.

use aicore::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Stage;

/// What a run was made with and what it brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// The record.
    pub record: String,
    /// Operator.
    pub operator: String,
    /// Version of the tool.
    pub tool: String,
    /// Where the latencies come from.
    pub origin: Origin,
    /// Machine description.
    pub machine: String,
    /// Its version.
    pub machine_version: String,
    /// Seed of the search.
    pub seed: u64,
    /// Evaluations that could be spent.
    pub budget: u64,
    /// Evaluations that were spent.
    pub evaluations: u64,
    /// Those of them that were rejected.
    pub rejected: u64,
    /// Geometric mean of the cases' speed-ups.
    pub speedup: f64,
    /// What may be claimed.
    pub claimed: f64,
    /// Seconds that the run took.
    pub wall_s: f64,
}

/// A case of both runs, the other one first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCase {
    /// Name of the case.
    pub name: String,
    /// Latencies of the operator as it was, in microseconds; `null` where a run has no such case, or does not time it.
    pub baseline_us: [Option<f64>; 2],
    /// Latencies of the winners in microseconds.
    pub best_us: [Option<f64>; 2],
    /// The other winner's latency over this one's; `null` where they cannot be compared.
    pub ratio: Option<f64>,
    /// Whether the shapes, dtypes or attributes are not the same.
    pub differs: bool,
}

/// A step of one of the winners, or of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedStep {
    /// What it does.
    pub title: String,
    /// Stage that found it.
    pub stage: Stage,
    /// Catalogue id of the motif; nothing for a configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motif: Option<String>,
    /// What it brought in each run; `null` where a run has no such step.
    pub gains: [Option<f64>; 2],
}

/// A tunable of both winners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedTunable {
    /// Its name.
    pub name: String,
    /// Its values for people; `null` where a run has no such tunable.
    pub values: [Option<String>; 2],
}

/// A hazard that the operator had before one of the runs, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedHazard {
    /// Kind, place and cases.
    pub text: String,
    /// In which of the runs.
    pub known: [bool; 2],
}

/// Result of `report --compare`: everywhere the other run comes first, then this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunComparison {
    /// The runs.
    pub runs: [RunFacts; 2],
    /// Why latencies cannot be compared; none where they can.
    pub incomparable: Vec<String>,
    /// Whether both are modelled by the same description, so that every difference is one of the kernels.
    pub exact: bool,
    /// Geometric mean of the cases' ratios; `null` where there is none.
    pub ratio: Option<f64>,
    /// Cases of either run.
    pub cases: Vec<ComparedCase>,
    /// Steps of either winner.
    pub steps: Vec<ComparedStep>,
    /// Tunables of either winner.
    pub tunables: Vec<ComparedTunable>,
    /// Hazards of the operator before either run.
    pub hazards: Vec<ComparedHazard>,
    /// The page that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}
