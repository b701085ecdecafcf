//! The few statistics of the report.

/// Value below which a share of the values lies, by linear interpolation; nothing of nothing.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
}

/// Published values closer than this are taken as equal: neither order would be wrong.
const SAME: f64 = 0.01;

/// Kendall's rank correlation of modelled and published values over the pairs whose published values differ; nothing if
/// there is no such pair. Pairs that the model makes equal count as neither.
pub fn kendall_tau(pairs: &[(f64, f64)]) -> Option<f64> {
    let (mut agree, mut counted) = (0_i64, 0_i64);
    for (index, (published, modelled)) in pairs.iter().enumerate() {
        for (other_published, other_modelled) in &pairs[index + 1..] {
            if (published / other_published).ln().abs() < SAME {
                continue;
            }
            counted += 1;
            let same = (modelled / other_modelled).ln().abs() < SAME / 10.0;
            if !same {
                agree += if (published < other_published) == (modelled < other_modelled) { 1 } else { -1 };
            }
        }
    }
    (counted > 0).then(|| agree as f64 / counted as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[0.0, 10.0], 0.9), Some(9.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn tau_counts_orders_and_leaves_out_published_ties() {
        assert_eq!(kendall_tau(&[(1.0, 2.0), (2.0, 3.0), (3.0, 9.0)]), Some(1.0));
        assert_eq!(kendall_tau(&[(1.0, 3.0), (2.0, 2.0)]), Some(-1.0));
        assert_eq!(kendall_tau(&[(1.0, 3.0), (2.0, 3.0)]), Some(0.0));
        assert_eq!(kendall_tau(&[(1.0, 3.0), (1.001, 2.0)]), None);
    }
}
