//! Whether something is as fast as it was, where times are noisy: a paired test on ratios.
//!
//! Each pair is a time now over a time then; both run in turn where what was then can still be run, so that what drifts slowly (a clock, a
//! chip that warms up) is gone from their ratio. The test is Wilcoxon's signed-rank test on the logarithms of the ratios: it asks whether
//! these lie symmetrically around a limit and, unlike a mean, is not moved far by the one launch in fifty that took three times as long.
//! The estimate that goes with it is the median of the pairwise means (Hodges and Lehmann). Where a time then is only known as a number
//! with a spread, its error is added to that of the pairs.

/// When a test is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedOptions {
    /// Pairs at most.
    pub most: usize,
    /// Standard errors by which a test has to be clear that stops early: it is looked at after every pair, and each look is a chance to err.
    /// With 3.3 ranks cannot be so clear before the fifteenth pair.
    pub early: f64,
    /// The same once all pairs were run.
    pub late: f64,
}

impl Default for PairedOptions {
    fn default() -> Self {
        Self { most: 48, early: 3.3, late: 2.6 }
    }
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedVerdict {
    /// Slower by more than the tolerance.
    Slower,
    /// Faster by more than the tolerance.
    Faster,
    /// Neither.
    Same,
    /// The times vary so much that a change of twice the tolerance could not be told from chance.
    Open,
}

/// A test under way.
#[derive(Clone, Debug)]
pub struct Paired {
    options: PairedOptions,
    /// Logarithm of the tolerance.
    tolerance: f64,
    /// Standard error of the times then as a share of them; 0 where they are run in turn with those of now.
    error_then: f64,
    logarithms: Vec<f64>,
}

impl Paired {
    /// Asks whether times are slower or faster by more than `tolerance`, a ratio above 1. `error_then` is the standard error, as a share, of
    /// the time that all pairs have in common; 0 where each pair has its own.
    pub fn new(tolerance: f64, error_then: f64, options: PairedOptions) -> Self {
        // A tolerance of nothing would never be decided for equals.
        Self { options, tolerance: tolerance.max(1.001).ln(), error_then, logarithms: Vec::new() }
    }

    /// Takes note of a pair: the time now over the time then. What is no ratio is left out.
    pub fn note(&mut self, ratio: f64) {
        if ratio.is_finite() && ratio > 0.0 {
            self.logarithms.push(ratio.ln());
        }
    }

    /// Pairs so far.
    pub fn pairs(&self) -> usize {
        self.logarithms.len()
    }

    /// The ratio now over then: median of the means of any two pairs, each with itself included. 1 without any.
    pub fn ratio(&self) -> f64 {
        self.centre().exp()
    }

    /// The verdict, or `None` while another pair is wanted.
    pub fn verdict(&self) -> Option<PairedVerdict> {
        let (pairs, options) = (self.pairs(), &self.options);
        let (above, below) = (self.beyond(self.tolerance), self.beyond(-self.tolerance));
        if above >= options.early {
            return Some(PairedVerdict::Slower);
        } else if below <= -options.early {
            return Some(PairedVerdict::Faster);
        } else if above <= -options.early && below >= options.early {
            return Some(PairedVerdict::Same);
        } else if pairs < options.most {
            return None;
        }
        // The last word: what differs beyond chance, by more than is tolerated as far as anybody can tell.
        let (centre, off) = (self.centre(), self.beyond(0.0));
        Some(if centre > self.tolerance && off >= options.late {
            PairedVerdict::Slower
        } else if centre < -self.tolerance && off <= -options.late {
            PairedVerdict::Faster
        } else if self.error() * options.late > 2.0 * self.tolerance {
            PairedVerdict::Open
        } else {
            PairedVerdict::Same
        })
    }

    /// Standard error of the ratio as a share of it, from the spread of the pairs: 1.4826 times the median distance from the centre
    /// estimates a deviation, and times the root of pi over three per pair, the error of the centre.
    pub fn error(&self) -> f64 {
        let centre = self.centre();
        let mut distances: Vec<f64> = self.logarithms.iter().map(|value| (value - centre).abs()).collect();
        let deviation = 1.4826 * median(&mut distances);
        let of_pairs = deviation * (std::f64::consts::PI / 3.0).sqrt() / (self.pairs() as f64).max(1.0).sqrt();
        of_pairs.hypot(self.error_then)
    }

    /// By how many standard errors the ratios lie above a limit, below it where negative.
    fn beyond(&self, limit: f64) -> f64 {
        let mut distances: Vec<f64> =
            self.logarithms.iter().map(|value| value - limit).filter(|off| *off != 0.0).collect();
        distances.sort_by(|left, right| left.abs().total_cmp(&right.abs()));
        let count = distances.len() as f64;
        if distances.is_empty() {
            return 0.0;
        }
        // Equal distances share the mean of their ranks.
        let (mut sum, mut from) = (0.0, 0);
        while from < distances.len() {
            let size = distances[from].abs();
            let ties = distances[from..].iter().take_while(|off| off.abs() == size).count();
            let rank = from as f64 + (ties as f64 + 1.0) / 2.0;
            sum += distances[from..from + ties].iter().map(|off| rank * off.signum()).sum::<f64>();
            from += ties;
        }
        let signed_rank = sum / (count * (count + 1.0) * (2.0 * count + 1.0) / 6.0).sqrt();
        if self.error_then == 0.0 {
            return signed_rank;
        }
        // All pairs are off together by as much as the common time is: no number of them makes up for that.
        let of_centre = (self.centre() - limit) / self.error().max(f64::MIN_POSITIVE);
        if signed_rank.abs() < of_centre.abs() { signed_rank } else { of_centre }
    }

    fn centre(&self) -> f64 {
        let values = &self.logarithms;
        let mut means: Vec<f64> = (0..values.len())
            .flat_map(|one| (one..values.len()).map(move |other| f64::midpoint(values[one], values[other])))
            .collect();
        median(&mut means)
    }
}

/// The median; 0 of nothing.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => 0.0,
        (count, half) if count % 2 == 0 => f64::midpoint(values[half - 1], values[half]),
        (_, half) => values[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A check by pairs of times with 5 % noise, a clock that falls by a third, and now and then a launch that takes twice as long.
    fn checked(ratio: f64, seed: u64) -> (PairedVerdict, usize) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut test = Paired::new(1.03, 0.0, PairedOptions::default());
        loop {
            if let Some(verdict) = test.verdict() {
                return (verdict, test.pairs());
            }
            let drift = 1.0 + test.pairs() as f64 / 96.0;
            let mut time = |us: f64| {
                let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                let hiccup = if rng.random::<f64>() < 0.02 { 2.0 } else { 1.0 };
                us * drift * hiccup * (0.05 * normal).exp()
            };
            let now = time(10.0 * ratio);
            test.note(now / time(10.0));
        }
    }

    fn of(ratio: f64, wanted: PairedVerdict) -> usize {
        (0..100).filter(|&seed| checked(ratio, seed).0 == wanted).count()
    }

    #[test]
    fn a_tenth_is_found_and_equals_are_the_same() {
        assert!(of(1.0, PairedVerdict::Same) >= 95, "{}", of(1.0, PairedVerdict::Same));
        assert!(of(1.1, PairedVerdict::Slower) >= 98, "{}", of(1.1, PairedVerdict::Slower));
        assert!(of(0.9, PairedVerdict::Faster) >= 98, "{}", of(0.9, PairedVerdict::Faster));
        let pairs: usize = (0..100).map(|seed| checked(1.1, seed).1).sum();
        assert!(pairs <= 100 * 30, "{pairs}");
    }

    #[test]
    fn the_spread_of_the_lock_counts_where_nothing_runs_in_turn() {
        // What was locked was 4 % off by chance, and known to 2 %: many exact times now do not make a regression of that.
        let verdict = |error_then: f64| {
            let mut test = Paired::new(1.03, error_then, PairedOptions::default());
            (0..48).for_each(|at| test.note(1.04 + f64::from(at % 3) * 1e-4));
            test.verdict().unwrap()
        };
        assert_eq!(verdict(0.0), PairedVerdict::Slower);
        assert_eq!(verdict(0.02), PairedVerdict::Same);
        assert_eq!(verdict(0.2), PairedVerdict::Open, "a change of twice the tolerance could not be told from chance");
    }

    #[test]
    fn exact_times_need_fifteen_pairs_and_wild_ones_decide_nothing() {
        let mut exact = Paired::new(1.03, 0.0, PairedOptions::default());
        while exact.verdict().is_none() {
            exact.note(1.0);
        }
        assert_eq!((exact.verdict(), exact.pairs(), exact.ratio()), (Some(PairedVerdict::Same), 15, 1.0));
        let mut wild = Paired::new(1.03, 0.0, PairedOptions::default());
        (0..48).for_each(|at| wild.note(if at % 2 == 0 { 2.0 } else { 0.5 }));
        assert_eq!(wild.verdict(), Some(PairedVerdict::Open));
        wild.note(f64::NAN);
        assert_eq!(wild.pairs(), 48);
    }
}
