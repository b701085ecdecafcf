//! Whether a point fits into memory, as a logistic model over the positions of its values.
//!
//! What an operator asks of a memory is a product of tile, buffers and the like, and domains grow by factors: its logarithm is
//! nearly linear in the positions. The model finds out by itself which tunables count, and in which direction: fewer buffers may
//! mean longer tiles, and a number of cores often means nothing.

use space::{Point, SearchSpace};

/// Failures that a model needs before it is believed.
const LEAST_FAILURES: usize = 3;
/// Steps of gradient descent, their length, and how much large weights cost.
const STEPS: usize = 1000;
const STEP: f64 = 4.0;
const DECAY: f64 = 0.0005;

/// A fitted model.
pub(super) struct MemoryFit {
    weights: Vec<f64>,
    bias: f64,
    /// Between all that fitted and all that did not.
    limit: f64,
}

impl MemoryFit {
    /// A model of what fitted and what did not; `None` where too little is known.
    pub fn of(space: &SearchSpace, fitting: &[&Point], failing: &[&Point]) -> Option<Self> {
        if failing.len() < LEAST_FAILURES || fitting.is_empty() {
            return None;
        }
        // Either side weighs the same, however many more there are of the other.
        let side = |points: &[&Point], target: f64| {
            let weight = 0.5 / points.len() as f64;
            points.iter().map(|point| (features(space, point), target, weight)).collect::<Vec<_>>()
        };
        let examples = [side(fitting, 0.0), side(failing, 1.0)].concat();
        let mut fit = Self { weights: vec![0.0; space.dimensions()], bias: 0.0, limit: 1.0 };
        for _ in 0..STEPS {
            let mut slope = vec![0.0; fit.weights.len()];
            let mut slope_of_bias = 0.0;
            for (features, target, weight) in &examples {
                let error = (fit.chance_at(features) - target) * weight;
                slope_of_bias += error;
                for (slope, feature) in slope.iter_mut().zip(features) {
                    *slope += error * feature;
                }
            }
            fit.bias -= STEP * slope_of_bias;
            for (weight, slope) in fit.weights.iter_mut().zip(slope) {
                *weight -= STEP * (slope + DECAY * *weight);
            }
        }
        // Whoever cannot tell the known ones apart has not understood it.
        let most = fitting.iter().map(|point| fit.chance(space, point)).fold(0.0, f64::max);
        let least = failing.iter().map(|point| fit.chance(space, point)).fold(1.0, f64::min);
        fit.limit = most.midpoint(least);
        (most < least).then_some(fit)
    }

    /// Whether a point is not expected to fit.
    pub fn is_too_large(&self, space: &SearchSpace, point: &[u32]) -> bool {
        self.chance(space, point) > self.limit
    }

    fn chance(&self, space: &SearchSpace, point: &[u32]) -> f64 {
        self.chance_at(&features(space, point))
    }

    fn chance_at(&self, features: &[f64]) -> f64 {
        let sum: f64 = self.weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum();
        1.0 / (1.0 + (-(sum + self.bias)).exp())
    }
}

/// Positions from -1 to 1; what has no order says nothing.
fn features(space: &SearchSpace, point: &[u32]) -> Vec<f64> {
    let of = |(dimension, index): (usize, &u32)| {
        let last = space.domain_len(dimension).saturating_sub(1);
        if last == 0 || !space.is_ordered(dimension) { 0.0 } else { f64::from(*index) / f64::from(last) * 2.0 - 1.0 }
    };
    point.iter().enumerate().map(of).collect()
}
