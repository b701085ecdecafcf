//! Length scales and noise by the evidence of the observations.

use rand_chacha::ChaCha8Rng;

use super::gaussian::Gaussian;
use super::kernel::{slope, squared_distance};
use super::model::ModelOptions;
use super::numeric::{logarithm, normal};

/// Length scales and noise of a process. The signal variance follows from the targets in closed form.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    /// Logarithm of the inverse length scale of each group of coordinates.
    pub inverse: Vec<f64>,
    /// Logarithm of the noise variance over the signal variance.
    pub noise: f64,
}

/// What is expected of the scales before anything is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// Logarithm of the inverse length scale of each group.
    inverse: Vec<f64>,
    /// Logarithm of the noise ratio.
    noise: f64,
}

/// Width of the prior of the logarithm of inverse length scales.
const PRIOR_WIDTH: f64 = 1.0;
/// Width of the prior of the logarithm of the noise ratio.
const PRIOR_NOISE_WIDTH: f64 = 1.5;

impl Prior {
    /// The prior for so many groups: the more there are, the longer each scale, so that two random points are about as
    /// much alike in every space.
    pub fn new(groups: usize, options: &ModelOptions) -> Self {
        let length = options.prior_length * libm::sqrt(groups.max(1) as f64 / 2.0);
        Self { inverse: vec![-logarithm(length); groups], noise: options.prior_noise }
    }

    /// A prior of the same width with a centre drawn from this one.
    pub fn drawn(&self, random: &mut ChaCha8Rng) -> Self {
        let mut inverse = Vec::with_capacity(self.inverse.len());
        for centre in &self.inverse {
            inverse.push(centre + PRIOR_WIDTH * normal(random));
        }
        Self { inverse, noise: self.noise + PRIOR_NOISE_WIDTH * normal(random) }
    }
}

impl Scales {
    /// Where fitting starts: the centre of the prior.
    pub fn initial(prior: &Prior) -> Self {
        Self { inverse: prior.inverse.clone(), noise: prior.noise }
    }
}

/// Logarithm of the posterior density of the scales, up to a constant, and its gradient by the scales (noise last).
fn evidence(owners: &[usize], inputs: &[Vec<f64>], targets: &[f64], prior: &Prior, scales: &Scales) -> (f64, Vec<f64>) {
    let mut process = Gaussian::new(owners, scales);
    inputs.iter().for_each(|input| process.append(input));
    process.set_targets(targets.iter().copied().map(Some));
    let groups = scales.inverse.len();
    let signal = process.signal_variance();
    let alpha = process.weights();
    let mut value = -0.5 * (process.factor().log_determinant() + process.effective_count() * logarithm(signal));
    let inverse = process.factor().inverse();
    let mut gradient = vec![0.0; groups + 1];
    let noise = libm::exp(scales.noise);
    let mut by_column = vec![0.0; owners.len()];
    for (i, inverse_row) in inverse.iter().enumerate() {
        let here = process.input(i);
        for j in 0..i {
            let there = process.input(j);
            let weight = alpha[i] * alpha[j] / signal - inverse_row[j];
            let steep = weight * slope(super::kernel::kernel(squared_distance(here, there)));
            for ((sum, a), b) in by_column.iter_mut().zip(here).zip(there) {
                *sum -= steep * (a - b) * (a - b);
            }
        }
        gradient[groups] += 0.5 * (alpha[i] * alpha[i] / signal - inverse_row[i]) * noise;
    }
    for (sum, owner) in by_column.iter().zip(owners) {
        gradient[*owner] += sum;
    }
    for ((entry, scale), centre) in gradient.iter_mut().zip(&scales.inverse).zip(&prior.inverse) {
        let away = (scale - centre) / PRIOR_WIDTH;
        value -= 0.5 * away * away;
        *entry -= away / PRIOR_WIDTH;
    }
    let away = (scales.noise - prior.noise) / PRIOR_NOISE_WIDTH;
    value -= 0.5 * away * away;
    gradient[groups] -= away / PRIOR_NOISE_WIDTH;
    (value, gradient)
}

/// Scales that explain the targets best, found from `start` in `steps` steps of resilient back-propagation.
pub fn fit(
    owners: &[usize],
    inputs: &[Vec<f64>],
    targets: &[f64],
    prior: &Prior,
    start: &Scales,
    steps: usize,
) -> Scales {
    let mut scales = start.clone();
    let mut best = (f64::NEG_INFINITY, start.clone());
    let mut step = vec![0.2; scales.inverse.len() + 1];
    let mut before = vec![0.0_f64; step.len()];
    for _ in 0..steps {
        let (value, mut gradient) = evidence(owners, inputs, targets, prior, &scales);
        if value > best.0 {
            best = (value, scales.clone());
        }
        for (position, slope) in gradient.iter_mut().enumerate() {
            let agreement = *slope * before[position];
            if agreement > 0.0 {
                step[position] = (step[position] * 1.3_f64).min(0.8);
            } else if agreement < 0.0 {
                step[position] *= 0.5;
                *slope = 0.0;
            }
            let change = if *slope == 0.0 { 0.0 } else { step[position].copysign(*slope) };
            match scales.inverse.get_mut(position) {
                Some(scale) => *scale = (*scale + change).clamp(-5.0, 4.0),
                None => scales.noise = (scales.noise + change).clamp(-12.0, 0.0),
            }
        }
        before = gradient;
    }
    best.1
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_evidence() {
        let inputs: Vec<Vec<f64>> = (0..9).map(|i| vec![f64::from(i % 3) / 2.0, f64::from(i) / 8.0]).collect();
        let targets: Vec<f64> = inputs.iter().map(|x| libm::sin(5.0 * x[0]) + x[1]).collect();
        let scales = Scales { inverse: vec![0.3, -0.4], noise: -3.0 };
        let prior = Prior::new(2, &ModelOptions::default());
        let (value, gradient) = evidence(&[0, 1], &inputs, &targets, &prior, &scales);
        for (position, slope) in gradient.iter().enumerate() {
            let mut moved = scales.clone();
            let step = 1e-6;
            match moved.inverse.get_mut(position) {
                Some(scale) => *scale += step,
                None => moved.noise += step,
            }
            let numeric = (evidence(&[0, 1], &inputs, &targets, &prior, &moved).0 - value) / step;
            assert!((numeric - slope).abs() < 1e-3, "{position}: {numeric} {slope}");
        }
    }

    #[test]
    fn many_times_agree_where_few_leave_a_guess() {
        let options = ModelOptions::default();
        let spread = |count: u32| {
            let inputs: Vec<Vec<f64>> = (0..count).map(|i| vec![f64::from(i * 7 % count) / f64::from(count)]).collect();
            let targets: Vec<f64> = inputs.iter().map(|x| libm::sin(9.0 * x[0])).collect();
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let fitted: Vec<f64> = (0..12)
                .map(|_| {
                    let prior = Prior::new(1, &options).drawn(&mut random);
                    fit(&[0], &inputs, &targets, &prior, &Scales::initial(&prior), 30).inverse[0]
                })
                .collect();
            let mean = fitted.iter().sum::<f64>() / 12.0;
            libm::sqrt(fitted.iter().map(|scale| (scale - mean) * (scale - mean)).sum::<f64>() / 12.0)
        };
        let (few, many) = (spread(2), spread(40));
        assert!(few > 0.4 && many < 0.5 * few, "{few} {many}");
    }

    #[test]
    fn what_does_not_matter_gets_a_long_scale() {
        let inputs: Vec<Vec<f64>> = (0..30).map(|i| vec![f64::from(i * 7 % 30) / 29.0, f64::from(i) / 29.0]).collect();
        let targets: Vec<f64> = inputs.iter().map(|x| libm::sin(6.0 * x[0])).collect();
        let prior = Prior::new(2, &ModelOptions::default());
        let fitted = fit(&[0, 1], &inputs, &targets, &prior, &Scales::initial(&prior), 30);
        assert!(fitted.inverse[0] > fitted.inverse[1] + 1.0, "{fitted:?}");
    }
}
