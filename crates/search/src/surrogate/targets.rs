//! Times as targets of the process.

use super::numeric::logarithm;

/// Standardised logarithms of times. What is far worse than the median is drawn in: how bad a bad point is does not help
/// to find a good one, and a long tail would take the detail away from the process.
#[derive(Clone, Debug)]
pub struct Targets {
    cap: f64,
    mean: f64,
    deviation: f64,
}

/// The distance from the best to the median is taken to be at least this (in logarithms).
const LEAST_DISTANCE: f64 = 0.05;

impl Default for Targets {
    /// Logarithms as they are.
    fn default() -> Self {
        Self { cap: f64::INFINITY, mean: 0.0, deviation: 1.0 }
    }
}

impl Targets {
    /// The transformation for a set of times, all above zero; at least one. Those beyond the median by `cap` times the
    /// distance from the best to the median count as alike.
    pub fn new(times: &[f64], cap: f64) -> Self {
        let mut logarithms: Vec<f64> = times.iter().map(|time| logarithm(*time)).collect();
        logarithms.sort_by(f64::total_cmp);
        let (least, median) = (logarithms[0], logarithms[logarithms.len() / 2]);
        let cap = median + cap * (median - least).max(LEAST_DISTANCE);
        let mut targets = Self { cap, mean: 0.0, deviation: 1.0 };
        let drawn_in: Vec<f64> = logarithms.iter().map(|value| targets.drawn_in(*value)).collect();
        let count = drawn_in.len() as f64;
        targets.mean = drawn_in.iter().sum::<f64>() / count;
        let variance =
            drawn_in.iter().map(|value| (value - targets.mean) * (value - targets.mean)).sum::<f64>() / count;
        targets.deviation = libm::sqrt(variance).max(1e-9);
        targets
    }

    fn drawn_in(&self, logarithm: f64) -> f64 {
        logarithm.min(self.cap)
    }

    /// The target of a time.
    pub fn of(&self, time: f64) -> f64 {
        (self.drawn_in(logarithm(time)) - self.mean) / self.deviation
    }

    /// Standard deviation of the logarithms: one unit of a target is about this relative change of time.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }
}
