//! Length scales and noise by the evidence of the observations.

use super::gaussian::Gaussian;
use super::kernel::slope;
use super::numeric::logarithm;
use super::scales::{PRIOR_NOISE_WIDTH, PRIOR_WIDTH, Prior, Scales};

/// What a fit works on, with memory that its steps share.
struct Evidence<'a> {
    owners: &'a [usize],
    inputs: &'a [Vec<f64>],
    targets: &'a [f64],
    prior: &'a Prior,
    process: Gaussian,
    /// Covariances of each input with the earlier ones.
    covariances: Vec<f64>,
    columns: Vec<f64>,
}

impl<'a> Evidence<'a> {
    fn new(owners: &'a [usize], inputs: &'a [Vec<f64>], targets: &'a [f64], prior: &'a Prior) -> Self {
        let process = Gaussian::new(owners, &Scales::initial(prior));
        Self { owners, inputs, targets, prior, process, covariances: Vec::new(), columns: Vec::new() }
    }

    /// Logarithm of the posterior density of the scales, up to a constant. The process takes them on.
    fn value(&mut self, scales: &Scales) -> f64 {
        let (process, covariances) = (&mut self.process, &mut self.covariances);
        process.restart(self.owners, scales);
        covariances.clear();
        for input in self.inputs {
            process.append_noting(input, |covariance| covariances.push(covariance));
        }
        process.set_targets(self.targets.iter().copied().map(Some));
        let signal = process.signal_variance();
        let mut value = -0.5 * (process.factor().log_determinant() + process.effective_count() * logarithm(signal));
        for (scale, centre) in scales.inverse.iter().zip(&self.prior.inverse) {
            let away = (scale - centre) / PRIOR_WIDTH;
            value -= 0.5 * away * away;
        }
        let away = (scales.noise - self.prior.noise) / PRIOR_NOISE_WIDTH;
        value - 0.5 * away * away
    }

    /// Gradient of [`Self::value`] by the scales that were given to it last, noise last.
    fn gradient(&mut self, scales: &Scales) -> Vec<f64> {
        let process = &self.process;
        let groups = scales.inverse.len();
        let signal = process.signal_variance();
        let alpha = process.weights();
        let inverse = process.factor().inverse(&mut self.columns);
        let mut gradient = vec![0.0; groups + 1];
        let noise = libm::exp(scales.noise);
        let mut by_column = vec![0.0; self.owners.len()];
        let mut covariances = self.covariances.iter();
        for i in 0..process.len() {
            let here = process.input(i);
            for (j, covariance) in (0..i).zip(&mut covariances) {
                let weight = alpha[i] * alpha[j] / signal - inverse.entry(i, j);
                let steep = weight * slope(*covariance);
                for ((sum, a), b) in by_column.iter_mut().zip(here).zip(process.input(j)) {
                    *sum -= steep * (a - b) * (a - b);
                }
            }
            gradient[groups] += 0.5 * (alpha[i] * alpha[i] / signal - inverse.entry(i, i)) * noise;
        }
        for (sum, owner) in by_column.iter().zip(self.owners) {
            gradient[*owner] += sum;
        }
        for ((entry, scale), centre) in gradient.iter_mut().zip(&scales.inverse).zip(&self.prior.inverse) {
            *entry -= (scale - centre) / (PRIOR_WIDTH * PRIOR_WIDTH);
        }
        gradient[groups] -= (scales.noise - self.prior.noise) / (PRIOR_NOISE_WIDTH * PRIOR_NOISE_WIDTH);
        gradient
    }
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
    let mut evidence = Evidence::new(owners, inputs, targets, prior);
    for remaining in (0..steps).rev() {
        let value = evidence.value(&scales);
        if value > best.0 {
            best = (value, scales.clone());
        }
        if remaining == 0 {
            break;
        }
        let mut gradient = evidence.gradient(&scales);
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
    use rand_chacha::ChaCha8Rng;

    use super::super::options::ModelOptions;
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_evidence() {
        let inputs: Vec<Vec<f64>> = (0..9).map(|i| vec![f64::from(i % 3) / 2.0, f64::from(i) / 8.0]).collect();
        let targets: Vec<f64> = inputs.iter().map(|x| libm::sin(5.0 * x[0]) + x[1]).collect();
        let scales = Scales { inverse: vec![0.3, -0.4], noise: -3.0 };
        let prior = Prior::new(2, &ModelOptions::default());
        let mut evidence = Evidence::new(&[0, 1], &inputs, &targets, &prior);
        let value = evidence.value(&scales);
        let gradient = evidence.gradient(&scales);
        for (position, slope) in gradient.iter().enumerate() {
            let mut moved = scales.clone();
            let step = 1e-6;
            match moved.inverse.get_mut(position) {
                Some(scale) => *scale += step,
                None => moved.noise += step,
            }
            let numeric = (evidence.value(&moved) - value) / step;
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
