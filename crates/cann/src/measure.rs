//! From samples to a time: which count, when there are enough, and what is said of them.

/// How times are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasureOptions {
    /// Launches before the first that counts.
    pub warm_up: u32,
    /// Microseconds that these take at least: an idle chip's clock is low.
    pub warm_up_us: u32,
    /// Launches that count, at least.
    pub least: u32,
    /// Launches that count, at most.
    pub most: u32,
    /// There are enough of them when the median is known this well, as a share of it.
    pub precision: f64,
    /// Whether the L2 cache is emptied before every launch.
    pub flush: bool,
    /// Copies of the tensors that launches take turns through.
    pub rotate: u32,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        Self { warm_up: 5, warm_up_us: 1000, least: 10, most: 50, precision: 0.01, flush: false, rotate: 1 }
    }
}

/// A time out of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Median in microseconds.
    pub median_us: f64,
    /// Standard deviation of one sample as a share of the median, out of the median of the differences from it.
    pub spread: f64,
    /// Samples.
    pub count: u32,
    /// Samples that did not count.
    pub discarded: u32,
}

/// What makes the median of absolute differences a standard deviation where errors are normal.
const NORMAL: f64 = 1.4826;
/// The standard error of a median over that of a mean.
const OF_MEDIAN: f64 = 1.2533;

/// Samples of one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    us: Vec<f64>,
    discarded: u32,
}

impl Samples {
    /// Takes samples up. Those of nothing are none: a device that is occupied answers so.
    pub fn extend(&mut self, us: impl IntoIterator<Item = f64>) {
        for time in us {
            if time.is_finite() && time > 0.0 {
                self.us.push(time);
            } else {
                self.discarded += 1;
            }
        }
    }

    /// Takes note of a sample that does not count, such as one at another clock than the rated one.
    pub fn discard(&mut self) {
        self.discarded += 1;
    }

    /// What they say together; `None` without any.
    pub fn measured(&self) -> Option<Measured> {
        let median_us = median(&self.us)?;
        let differences: Vec<f64> = self.us.iter().map(|us| (us - median_us).abs()).collect();
        let spread = NORMAL * median(&differences)? / median_us;
        Some(Measured { median_us, spread, count: self.us.len() as u32, discarded: self.discarded })
    }

    /// How many more to take.
    pub fn wanted(&self, options: &MeasureOptions) -> u32 {
        let count = self.us.len() as u32;
        let taken = count + self.discarded;
        if count < options.least {
            // Half of the samples may be lost before there is an end of it.
            return (options.least - count).min((2 * options.most).saturating_sub(taken));
        }
        let Some(measured) = self.measured() else { return 0 };
        let error = OF_MEDIAN * measured.spread / f64::from(count).sqrt();
        if error <= options.precision { 0 } else { options.most.saturating_sub(taken).min(options.least) }
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The order in which two jobs are run so often each: A B B A, so that neither has the warmer cache, or the clock that falls.
pub fn abba(each: u32) -> Vec<usize> {
    (0..each).flat_map(|pair| if pair % 2 == 0 { [0, 1] } else { [1, 0] }).collect()
}

/// How far the model is off on an operator: what measured times have been over modelled ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelError {
    logarithms: f64,
    squares: f64,
    count: u32,
}

impl ModelError {
    /// Takes a pair of times up.
    pub fn note(&mut self, modelled_us: f64, measured_us: f64) {
        if modelled_us > 0.0 && measured_us > 0.0 {
            let logarithm = (measured_us / modelled_us).ln();
            self.logarithms += logarithm;
            self.squares += logarithm * logarithm;
            self.count += 1;
        }
    }

    /// Pairs so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Geometric mean of measured over modelled; `None` before there is a pair.
    pub fn ratio(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.logarithms / f64::from(self.count)).exp())
    }

    /// Standard deviation of a single ratio, as a share of it; `None` before there are two pairs.
    pub fn deviation(&self) -> Option<f64> {
        let count = f64::from(self.count);
        let mean = self.logarithms / count;
        (self.count > 1).then(|| ((self.squares - count * mean * mean).max(0.0) / (count - 1.0)).sqrt())
    }
}

/// By how much a candidate has to be slower than the fastest by the model before no device time is spent on it.
pub const HOPELESS: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(us: &[f64]) -> Samples {
        let mut samples = Samples::default();
        samples.extend(us.iter().copied());
        samples
    }

    #[test]
    fn an_outlier_moves_neither_median_nor_spread() {
        let quiet = samples(&[10.0, 10.1, 9.9, 10.0, 10.1]).measured().unwrap();
        let loud = samples(&[10.0, 10.1, 9.9, 10.0, 400.0]).measured().unwrap();
        assert_eq!((quiet.median_us, loud.median_us), (10.0, 10.0));
        assert!((quiet.spread - 0.014826).abs() < 1e-9 && (loud.spread - 0.014826).abs() < 1e-9, "{quiet:?} {loud:?}");
        assert_eq!(samples(&[]).measured(), None);
        assert_eq!(samples(&[1.0, 2.0]).measured().unwrap().median_us, 1.5);
    }

    #[test]
    fn times_of_nothing_are_none() {
        let samples = samples(&[0.0, -1.0, f64::NAN, 5.0]);
        assert_eq!(samples.measured().unwrap(), Measured { median_us: 5.0, spread: 0.0, count: 1, discarded: 3 });
    }

    #[test]
    fn quiet_times_need_the_least_launches_and_loud_ones_no_more_than_the_most() {
        let options = MeasureOptions::default();
        assert_eq!(Samples::default().wanted(&options), 10);
        assert_eq!(samples(&[10.0; 10]).wanted(&options), 0);
        let loud: Vec<f64> = (0..10).map(|step| 10.0 + f64::from(step)).collect();
        let mut all = samples(&loud);
        let mut rounds = 0;
        while all.wanted(&options) > 0 {
            let count = all.wanted(&options) as usize;
            all.extend(loud.iter().copied().cycle().take(count));
            rounds += 1;
        }
        assert_eq!((rounds, all.measured().unwrap().count), (4, 50));
    }

    #[test]
    fn a_device_at_another_clock_has_an_end() {
        let options = MeasureOptions::default();
        let mut all = Samples::default();
        let mut taken = 0;
        while all.wanted(&options) > 0 {
            all.discard();
            taken += 1;
        }
        assert_eq!((taken, all.measured()), (100, None));
    }

    #[test]
    fn two_take_turns_at_being_first() {
        assert_eq!(abba(4), [0, 1, 1, 0, 0, 1, 1, 0]);
    }

    #[test]
    fn the_models_error_is_a_ratio_with_a_deviation() {
        let mut error = ModelError::default();
        assert_eq!((error.ratio(), error.deviation()), (None, None));
        error.note(9.1, 10.4);
        assert!((error.ratio().unwrap() - 1.142857).abs() < 1e-6 && error.deviation().is_none());
        error.note(9.1, 9.1);
        error.note(0.0, 1.0);
        assert_eq!(error.count(), 2);
        assert!(error.deviation().unwrap() > 0.09);
    }
}
