//! The number that is minimised over several cases.

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
