//! Which of two is faster where times are noisy: they are run in turn, and each pair gives one ratio.
//!
//! What changes slowly, such as a clock that falls as a chip warms up, changes both times of a pair alike and is gone from their
//! ratio. Pairs are added until the mean of the ratios is clear of the limit, or there have been enough of them.

/// When a duel is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuelOptions {
    /// Standard errors by which the mean has to be clear of the limit.
    pub certainty: f64,
    /// Pairs before anything is decided.
    pub least: usize,
    /// Pairs at most.
    pub most: usize,
}

impl DuelOptions {
    /// For steps of a search: a wrong step costs little, and the next one is tried against it.
    pub const STEP: Self = Self { certainty: 2.0, least: 4, most: 32 };
    /// For what is written into somebody's sources. What stops as soon as it looks good looks too good: more pairs at least.
    pub const FINAL: Self = Self { certainty: 3.0, least: 24, most: 64 };
}

/// How a duel ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuelVerdict {
    /// The ratio is below the limit.
    Below,
    /// The ratio is above the limit.
    Above,
    /// All pairs were run and do not tell.
    Open,
}

/// A duel under way: ratios of the challenger's times to the other's.
#[derive(Clone, Debug)]
pub struct Duel {
    options: DuelOptions,
    /// Logarithm of the ratio that is asked about.
    limit: f64,
    logarithms: Vec<f64>,
}

impl Duel {
    /// Asks whether the challenger's time is below `limit` times the other's.
    pub fn new(limit: f64, options: DuelOptions) -> Self {
        Self { options, limit: limit.ln(), logarithms: Vec::new() }
    }

    /// Takes note of a pair: the challenger's time over the other's.
    pub fn note(&mut self, ratio: f64) {
        self.logarithms.push(ratio.ln());
    }

    /// Pairs so far.
    pub fn pairs(&self) -> usize {
        self.logarithms.len()
    }

    /// Geometric mean of the ratios; 1 without any.
    pub fn ratio(&self) -> f64 {
        self.mean().exp()
    }

    /// Standard error of that mean, as a share of it; infinite with fewer than two pairs.
    pub fn error(&self) -> f64 {
        let count = self.logarithms.len() as f64;
        if count < 2.0 {
            return f64::INFINITY;
        }
        let mean = self.mean();
        let squares: f64 = self.logarithms.iter().map(|value| (value - mean) * (value - mean)).sum();
        (squares / (count - 1.0) / count).sqrt()
    }

    /// The verdict, or `None` while another pair is wanted.
    pub fn verdict(&self) -> Option<DuelVerdict> {
        if self.logarithms.len() < self.options.least {
            return None;
        }
        let ahead = self.limit - self.mean();
        if ahead.abs() > self.options.certainty * self.error() {
            return Some(if ahead > 0.0 { DuelVerdict::Below } else { DuelVerdict::Above });
        }
        (self.logarithms.len() >= self.options.most).then_some(DuelVerdict::Open)
    }

    fn mean(&self) -> f64 {
        self.logarithms.iter().sum::<f64>() / (self.logarithms.len() as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Runs a duel of times with this ratio, 5 % noise, and a drift by a third over its length.
    fn fought(ratio: f64, limit: f64, seed: u64) -> (DuelVerdict, usize) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0 };
        let mut duel = Duel::new(limit, DuelOptions::STEP);
        loop {
            if let Some(verdict) = duel.verdict() {
                return (verdict, duel.pairs());
            }
            let drift = 1.0 + duel.pairs() as f64 / 96.0;
            let mut time = |us: f64| us * drift * (0.05 * normal()).exp();
            let challenger = time(10.0 * ratio);
            duel.note(challenger / time(10.0));
        }
    }

    fn share(ratio: f64, limit: f64, wanted: DuelVerdict) -> usize {
        (0..200).filter(|&seed| fought(ratio, limit, seed).0 == wanted).count()
    }

    #[test]
    fn clear_differences_are_decided_soon_whatever_drifts() {
        assert!(share(0.9, 1.0, DuelVerdict::Below) >= 198);
        assert!(share(1.1, 1.0, DuelVerdict::Above) >= 198);
        let pairs: usize = (0..200).map(|seed| fought(0.9, 1.0, seed).1).sum();
        assert!(pairs < 200 * 8, "{pairs} pairs");
    }

    #[test]
    fn a_loss_is_seldom_taken_for_a_gain() {
        assert!(share(1.02, 1.0, DuelVerdict::Below) <= 10);
        assert!(share(1.0, 1.0, DuelVerdict::Open) >= 100, "of equals most are not told apart");
    }

    #[test]
    fn times_without_noise_need_the_least_pairs() {
        let mut duel = Duel::new(1.0, DuelOptions::STEP);
        while duel.verdict().is_none() {
            duel.note(0.999);
        }
        assert_eq!((duel.verdict(), duel.pairs()), (Some(DuelVerdict::Below), DuelOptions::STEP.least));
        assert!((duel.ratio() - 0.999).abs() < 1e-12 && duel.error() < 1e-12);
    }
}
