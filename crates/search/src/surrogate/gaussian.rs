//! Gaussian-process regression whose predictions are kept up to date instead of being made anew.

use super::factor::Factor;
use super::kernel::{kernel, squared_distance};
use super::numeric::dot;
use super::scales::Scales;

/// A process conditioned on observations.
#[derive(Clone, Debug)]
pub struct Gaussian {
    /// Inverse length scale of each column.
    stretch: Vec<f64>,
    noise: f64,
    /// Observed vectors in length scales, one after the other.
    inputs: Vec<f64>,
    factor: Factor,
    /// `L^-1 y` of the targets.
    whitened: Vec<f64>,
    /// Grows when the target of an observation changes, so that means built up from it are made anew.
    generation: u64,
}

/// Observations that the prior of the signal variance is worth: with few targets the variance stays near 1.
const PRIOR_COUNT: f64 = 4.0;

/// Least variance of a prediction over the signal variance.
const LEAST_SPREAD: f64 = 1e-9;

impl Gaussian {
    /// A process without observations. `owners` gives the group of each column.
    pub fn new(owners: &[usize], scales: &Scales) -> Self {
        let mut process = Self {
            stretch: Vec::with_capacity(owners.len()),
            noise: 0.0,
            inputs: Vec::new(),
            factor: Factor::default(),
            whitened: Vec::new(),
            generation: 0,
        };
        process.restart(owners, scales);
        process
    }

    /// Takes out all observations and takes on other scales; the memory stays.
    pub(super) fn restart(&mut self, owners: &[usize], scales: &Scales) {
        self.stretch.clear();
        self.stretch.extend(owners.iter().map(|owner| libm::exp(scales.inverse[*owner])));
        self.noise = libm::exp(scales.noise);
        self.inputs.clear();
        self.factor.clear();
        self.whitened.clear();
        self.generation = 0;
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.factor.len()
    }

    pub(super) fn factor(&self) -> &Factor {
        &self.factor
    }

    pub(super) fn input(&self, at: usize) -> &[f64] {
        row_of(&self.inputs, self.stretch.len(), at)
    }

    /// Adds an observed vector; its target comes with [`Self::set_targets`].
    pub fn append(&mut self, vector: &[f64]) {
        self.append_noting(vector, |_| {});
    }

    /// The same, telling the covariances with the earlier observations.
    pub(super) fn append_noting(&mut self, vector: &[f64], mut note: impl FnMut(f64)) {
        let (columns, count, begin) = (self.stretch.len(), self.len(), self.inputs.len());
        self.inputs.extend(vector.iter().zip(&self.stretch).map(|(value, stretch)| value * stretch));
        let (known, here) = self.inputs.split_at(begin);
        let against = (0..count).map(|at| {
            let covariance = kernel(squared_distance(row_of(known, columns, at), here));
            note(covariance);
            covariance
        });
        self.factor.append(against, 1.0 + self.noise);
    }

    /// Sets the targets of all observations. One without a target counts as if it had come out as predicted, which leaves
    /// every prediction as it is and only takes away the doubt around it.
    pub fn set_targets(&mut self, targets: impl IntoIterator<Item = Option<f64>>) {
        for (at, target) in targets.into_iter().enumerate() {
            let (row, diagonal) = self.factor.row(at);
            let value = target.map_or(0.0, |target| (target - dot(row, &self.whitened[..at])) / diagonal);
            match self.whitened.get_mut(at) {
                Some(known) if *known == value => {}
                Some(known) => {
                    *known = value;
                    self.generation += 1;
                }
                None => self.whitened.push(value),
            }
        }
    }

    /// Observations that the signal variance rests on, its prior included.
    pub(super) fn effective_count(&self) -> f64 {
        self.len() as f64 + PRIOR_COUNT
    }

    /// Signal variance that makes the targets likeliest, shrunk towards 1.
    pub fn signal_variance(&self) -> f64 {
        (dot(&self.whitened, &self.whitened) + PRIOR_COUNT) / self.effective_count()
    }

    /// Weights of the observations in a prediction.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.factor.solve_transposed(&self.whitened)
    }

    /// A candidate whose prediction is to be kept up to date.
    pub fn watch(&self, vector: &[f64]) -> Watched {
        let mut watched = Watched::default();
        self.watch_anew(&mut watched, vector);
        watched
    }

    /// The same in the memory of another one.
    pub fn watch_anew(&self, watched: &mut Watched, vector: &[f64]) {
        watched.stretched.clear();
        watched.stretched.extend(vector.iter().zip(&self.stretch).map(|(value, stretch)| value * stretch));
        watched.solved.clear();
        watched.solved.reserve(self.len() + 8);
        (watched.spread, watched.mean, watched.generation) = (1.0, 0.0, self.generation);
    }

    /// Mean, and variance over the signal variance, of a candidate; takes into account what is new since the last look.
    pub fn predict(&self, watched: &mut Watched) -> (f64, f64) {
        if watched.generation != self.generation {
            watched.mean = dot(&watched.solved, &self.whitened[..watched.solved.len()]);
            watched.generation = self.generation;
        }
        for at in watched.solved.len()..self.len() {
            let (row, diagonal) = self.factor.row(at);
            let covariance = kernel(squared_distance(self.input(at), &watched.stretched));
            let value = (covariance - dot(row, &watched.solved)) / diagonal;
            watched.spread -= value * value;
            watched.mean += value * self.whitened[at];
            watched.solved.push(value);
        }
        (watched.mean, watched.spread.max(LEAST_SPREAD))
    }
}

fn row_of(inputs: &[f64], columns: usize, at: usize) -> &[f64] {
    &inputs[at * columns..(at + 1) * columns]
}

/// A candidate with what is known of it so far.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    stretched: Vec<f64>,
    /// `L^-1 k` for the observations seen.
    solved: Vec<f64>,
    spread: f64,
    mean: f64,
    generation: u64,
}

impl Watched {
    /// Covariance with another point, over the signal variance.
    pub fn likeness(&self, other: &Self) -> f64 {
        kernel(squared_distance(&self.stretched, &other.stretched))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process() -> Gaussian {
        let mut process = Gaussian::new(&[0], &Scales { inverse: vec![1.0], noise: -8.0 });
        for at in [0.0, 0.4, 1.0] {
            process.append(&[at]);
        }
        process.set_targets([1.0, -1.0, 0.5].map(Some));
        process
    }

    #[test]
    fn predictions_pass_through_observations() {
        let process = process();
        for (at, target) in [(0.0, 1.0), (0.4, -1.0), (1.0, 0.5)] {
            let mut watched = process.watch(&[at]);
            let (mean, variance) = process.predict(&mut watched);
            assert!((mean - target).abs() < 0.01 && variance < 0.01, "{at}: {mean} {variance}");
        }
        let mut between = process.watch(&[0.7]);
        assert!(process.predict(&mut between).1 > 0.05);
    }

    #[test]
    fn an_open_observation_only_takes_doubt_away() {
        let mut process = process();
        let mut watched = process.watch(&[0.7]);
        let (mean, variance) = process.predict(&mut watched);
        process.append(&[0.72]);
        process.set_targets([Some(1.0), Some(-1.0), Some(0.5), None]);
        let (then, less) = process.predict(&mut watched);
        assert!((mean - then).abs() < 1e-12 && less < 0.1 * variance);
    }
}
