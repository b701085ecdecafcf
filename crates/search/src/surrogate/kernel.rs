//! The covariance of two points.

/// Rational quadratic kernel of order 1 for a squared distance in length scales: a mixture of squared-exponential kernels
/// of all lengths, so that one process follows both the trend of a tunable and its jags. Of the kernels tried on recorded
/// spaces (Matern 1/2, 3/2 and 5/2, rational quadratic of order 1 and 2) it found the best points; and it needs neither an
/// exponential nor a root.
pub fn kernel(squared: f64) -> f64 {
    1.0 / (1.0 + 0.5 * squared)
}

/// Minus twice the derivative of [`kernel`] by the squared distance, from the kernel's value.
pub fn slope(kernel: f64) -> f64 {
    kernel * kernel
}

/// Squared Euclidean distance, summed up as in `dot`.
#[inline]
pub fn squared_distance(left: &[f64], right: &[f64]) -> f64 {
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<4>(), right.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in left.iter().zip(right) {
        for lane in 0..4 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(a, b)| (a - b) * (a - b)).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::{kernel, slope};

    #[test]
    fn the_slope_is_the_derivative() {
        for squared in [0.0, 0.3, 2.0, 9.0] {
            let step = 1e-6;
            let numeric = -2.0 * (kernel(squared + step) - kernel(squared)) / step;
            assert!((numeric - slope(kernel(squared))).abs() < 1e-5);
        }
    }
}
