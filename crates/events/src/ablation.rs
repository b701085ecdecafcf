//! What `ablation` says: variants of the tuner, what a run of each brought, and what the runs say together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tuner, whole or without a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Both stages, the bank without records of the operator under test, motifs together.
    Full,
    /// No experience at all: seeds and profile only.
    NoBank,
    /// Host stage only.
    NoKernel,
    /// Kernel stage only.
    NoHost,
    /// Kernel stage only, every rewrite made of the operator as it was: the best of many, never two after each other.
    BestOfN,
    /// Both stages, one single motif at a time from the best candidate so far.
    Greedy,
}

impl Variant {
    /// All of them, the whole tuner first.
    pub const ALL: [Self; 6] = [Self::Full, Self::NoBank, Self::NoKernel, Self::NoHost, Self::BestOfN, Self::Greedy];

    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Full => "full",
            Variant::NoBank => "no-bank",
            Variant::NoKernel => "no-kernel",
            Variant::NoHost => "no-host",
            Variant::BestOfN => "best-of-n",
            Variant::Greedy => "greedy",
        }
    }
}

impl std::str::FromStr for Variant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|variant| variant.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|variant| variant.name()).collect();
            format!("no such variant; there are {}", names.join(", "))
        })
    }
}

/// The best so far got better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BestSoFar {
    /// Evaluations spent.
    pub evaluations: u64,
    /// Seconds since the run began, baseline included.
    pub wall_s: f64,
    /// Speed-up over the operator as it was.
    pub speedup: f64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub steps: Vec<BestSoFar>,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub fn reached(&self, speedup: f64) -> Option<BestSoFar> {
        self.result.as_ref().ok()?.steps.iter().copied().find(|step| step.speedup >= speedup)
    }
}

/// Speed-ups that are counted. The first stands for "faster at all", beyond rounding.
pub const THRESHOLDS: [f64; 5] = [1.001, 1.2, 1.4, 1.8, 2.0];

/// How often a speed-up was reached, and how soon.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reached {
    /// The speed-up.
    pub speedup: f64,
    /// Share of the trials.
    pub share: f64,
    /// Median evaluations over the trials that reached it.
    pub evaluations: Option<f64>,
    /// Median seconds over the trials that reached it.
    pub wall_s: Option<f64>,
}

/// A variant over all operators and seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariantSummary {
    /// The variant.
    pub variant: Variant,
    /// Trials, failed ones included.
    pub trials: usize,
    /// Trials that failed; they count as 1x.
    pub failed: usize,
    /// Geometric mean of the speed-ups.
    pub geometric_mean: f64,
    /// Median of the evaluations spent.
    pub evaluations: f64,
    /// What was reached.
    pub reached: Vec<Reached>,
    /// Median share of this variant's evaluations that the whole tuner needs for this variant's result, over pairs of the
    /// same operator and seed where it gets there; `None` for the whole tuner itself.
    pub full_needs: Option<f64>,
    /// Share of these pairs in which the whole tuner gets there.
    pub full_gets_there: Option<f64>,
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AblationReport {
    /// Machine whose model gave the latencies.
    pub machine: String,
    /// Version of its description.
    pub machine_version: String,
    /// Evaluations per run.
    pub budget: u64,
    /// By variant.
    pub variants: Vec<VariantSummary>,
    /// All trials, by operator, variant and seed.
    pub trials: Vec<Trial>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_a_name_that_reads_back() {
        for variant in Variant::ALL {
            assert_eq!(variant.name().parse(), Ok(variant));
            assert_eq!(serde_json::to_string(&variant).unwrap(), format!("\"{}\"", variant.name()));
        }
        assert!("none".parse::<Variant>().unwrap_err().contains("no-bank"));
    }
}
