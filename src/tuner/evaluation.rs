//! What is known of one candidate after it was tried.

use serde::{Deserialize, Serialize};

use crate::verify::Rejection;

/// Time of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseTime {
    /// Name of the case.
    pub name: String,
    /// Task duration in microseconds; for direct launch the sum over launches.
    pub task_us: f64,
    /// Lower bound in microseconds.
    pub bound_us: f64,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Right as far as it was checked, with the time of every timed case.
    Valid(Vec<CaseTime>),
    /// Not right, or not even runnable.
    Rejected(Rejection),
}

/// One tried candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Digest of the candidate: sources with the configuration applied, and CMake entries.
    pub digest: String,
    /// Whether all seeds, hostile values and verify-only cases were run, or only the timed cases with the first seed.
    pub thorough: bool,
    /// How it ended.
    pub outcome: Outcome,
}

impl Evaluation {
    /// Key in the journal: a thorough trial is another one than a quick one.
    pub fn key(&self) -> String {
        journal_key(&self.digest, self.thorough)
    }

    /// Weighted geometric mean of the times in microseconds, or `None` for a rejected candidate.
    pub fn objective(&self, weights: &[f64]) -> Option<f64> {
        match &self.outcome {
            Outcome::Valid(times) => Some(geometric_mean(times.iter().map(|time| time.task_us), weights)),
            Outcome::Rejected(_) => None,
        }
    }
}

/// Key of an evaluation in the journal.
pub fn journal_key(digest: &str, thorough: bool) -> String {
    format!("{digest}{}", if thorough { "+" } else { "" })
}

/// Weighted geometric mean. Missing weights count as 1; no values give 1.
pub fn geometric_mean(values: impl Iterator<Item = f64>, weights: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut total = 0.0;
    for (index, value) in values.enumerate() {
        let weight = weights.get(index).copied().unwrap_or(1.0);
        sum += weight * value.ln();
        total += weight;
    }
    if total > 0.0 { (sum / total).exp() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_mean_honours_weights() {
        assert!((geometric_mean([1.0, 4.0].into_iter(), &[]) - 2.0).abs() < 1e-12);
        assert!((geometric_mean([1.0, 8.0].into_iter(), &[2.0, 1.0]) - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(std::iter::empty(), &[]), 1.0);
    }
}
