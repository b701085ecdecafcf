//! Functions whose last bit does not depend on the system's mathematics library, so that equal seeds give equal runs
//! everywhere.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Natural logarithm.
pub fn logarithm(value: f64) -> f64 {
    libm::log(value)
}

/// Density of the standard normal distribution.
fn normal_pdf(at: f64) -> f64 {
    const NORM: f64 = 0.398_942_280_401_432_7;
    NORM * libm::exp(-0.5 * at * at)
}

/// Cumulative distribution of the standard normal.
fn normal_cdf(at: f64) -> f64 {
    0.5 * libm::erfc(-at * std::f64::consts::FRAC_1_SQRT_2)
}

/// A draw that is as good as one from the standard normal distribution, without a function whose last bit could differ.
pub fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

/// Inner product with four running sums: quicker than one, and the same on every machine.
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (mut left, mut right) = (left.chunks_exact(4), right.chunks_exact(4));
    let mut sums = [0.0; 4];
    for (a, b) in left.by_ref().zip(right.by_ref()) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Expected amount by which a normal variable falls below `target`.
pub fn expected_improvement(target: f64, mean: f64, deviation: f64) -> f64 {
    let ahead = (target - mean) / deviation;
    if ahead < -7.0 {
        // Below 1e-12 of the deviation.
        return 0.0;
    }
    deviation * (ahead * normal_cdf(ahead) + normal_pdf(ahead))
}
