//! One run of one variant on one operator.

use serde::{Deserialize, Serialize};

use super::Variant;

/// The best so far got better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Evaluations spent.
    pub evaluations: u64,
    /// Seconds since the run began, baseline included.
    pub wall_s: f64,
    /// Speed-up over the operator as it was.
    pub speedup: f64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Objective of the operator as it was, in microseconds.
    pub baseline_us: f64,
    /// Objective of the verified winner, in microseconds.
    pub best_us: f64,
    /// Speed-up of the verified winner.
    pub speedup: f64,
    /// Evaluations spent.
    pub evaluations: u64,
    /// How many of them the verifier refused.
    pub rejected: u64,
    /// Seconds of the whole run.
    pub wall_s: f64,
    /// The way there.
    pub steps: Vec<Step>,
    /// Gain of the host stage.
    pub host_gain: f64,
    /// Gain of the kernel stage.
    pub kernel_gain: f64,
    /// Motifs in the winner.
    pub motifs: Vec<String>,
    /// Why the run ended.
    pub ended: String,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Digest of everything the result depends on, so that a finished trial is not run again.
    pub inputs: String,
    /// Operator, as the manifest names it.
    pub operator: String,
    /// Directory of the project below the one that was named.
    pub project: String,
    /// What was taken out.
    pub variant: Variant,
    /// Seed.
    pub seed: u64,
    /// Evaluations that could be spent.
    pub budget: u64,
    /// What came of it, or why there is nothing.
    pub result: Result<Finished, String>,
}

impl Trial {
    /// Speed-up, 1 for a run that failed: nothing was gained.
    pub fn speedup(&self) -> f64 {
        self.result.as_ref().map_or(1.0, |finished| finished.speedup)
    }

    /// The first step that is at least this fast.
    pub fn reached(&self, speedup: f64) -> Option<Step> {
        self.result.as_ref().ok()?.steps.iter().copied().find(|step| step.speedup >= speedup)
    }
}
