//! Which configuration wins where times are noisy, and what has to be measured again to know.
//!
//! A measured time is off by chance, and the least of many is the luckiest one. While the search goes on that does no
//! harm: the strategy allows for it, and every evaluation is worth more elsewhere. But when the winner is named, the
//! configurations that chance could have put in the wrong order are measured again: the first and the one behind it, until
//! the difference is beyond chance or both were measured often enough. Nothing else is measured twice: a second time that
//! cannot change the decision is a wasted evaluation. Exact times are always decided.

use std::collections::BTreeMap;

use space::Configuration;

/// When a contest is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContestOptions {
    /// Standard errors by which the winner has to be ahead. With 0 every measured time is believed.
    pub certainty: f64,
    /// Measurements of one configuration at most.
    pub most: u32,
    /// Share of the budget that is kept for the end at most. Less is kept where the noise is a smaller share of the times:
    /// what it may cost to name the wrong one is then worth less.
    pub reserve: f64,
}

impl ContestOptions {
    /// Every measured time is believed.
    pub const AT_FACE_VALUE: Self = Self { certainty: 0.0, most: 1, reserve: 0.0 };

    /// Evaluations kept for the end where measured times have this standard error, as a share of them.
    pub fn reserved(&self, budget: usize, error: f64) -> usize {
        (budget as f64 * self.reserve.min(error)) as usize
    }
}

impl Default for ContestOptions {
    fn default() -> Self {
        Self { certainty: 1.0, most: 4, reserve: 0.1 }
    }
}

/// What is known of the time of one configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of the measured times, in their unit.
    pub time: f64,
    /// Standard error of that mean as a share of it; 0 for an exact time.
    pub error: f64,
    /// Measurements.
    pub count: u32,
}

impl Estimate {
    /// The mean of this and another measurement, each by its precision.
    fn with(self, other: Self) -> Self {
        let count = self.count + other.count;
        if self.error == 0.0 || other.error == 0.0 {
            return Self { count, ..if self.error == 0.0 { self } else { other } };
        }
        let precision = |estimate: &Self| 1.0 / (estimate.error * estimate.error);
        let (own, new) = (precision(&self), precision(&other));
        let time = (own * self.time + new * other.time) / (own + new);
        Self { time, error: 1.0 / (own + new).sqrt(), count }
    }
}

/// The contest for the best configuration.
#[derive(Clone, Debug)]
pub struct Contest {
    options: ContestOptions,
    estimates: BTreeMap<Configuration, Estimate>,
}

impl Contest {
    /// A contest that nobody has entered yet.
    pub fn new(options: ContestOptions) -> Self {
        Self { options, estimates: BTreeMap::new() }
    }

    /// Takes note of a measured time whose standard error is this share of it (0 where it is exact). Returns what is known
    /// of the configuration now.
    pub fn enter(&mut self, configuration: &Configuration, time: f64, error: f64) -> Estimate {
        let measured = Estimate { time, error, count: 1 };
        let known = self.estimates.get(configuration);
        let estimate = known.map_or(measured, |known| known.with(measured));
        self.estimates.insert(configuration.clone(), estimate);
        estimate
    }

    /// The configuration with the least time, with what is known of it.
    pub fn winner(&self) -> Option<(&Configuration, Estimate)> {
        self.best(None)
    }

    /// The configuration that has to be measured again before the winner can be named, if there is one.
    pub fn undecided(&self) -> Option<Configuration> {
        let (winner, first) = self.winner()?;
        let open = |estimate: Estimate| estimate.error > 0.0 && estimate.count < self.options.most;
        let (rival, second) = self.best(Some(winner))?;
        let ahead = second.time / first.time - 1.0;
        let doubt = (first.error * first.error + second.error * second.error).sqrt();
        if ahead >= self.options.certainty * doubt {
            return None;
        }
        // The less certain one, so that neither is judged by a single lucky time.
        let of_first = open(first) && (!open(second) || first.error >= second.error);
        (open(first) || open(second)).then(|| if of_first { winner.clone() } else { rival.clone() })
    }

    fn best(&self, but: Option<&Configuration>) -> Option<(&Configuration, Estimate)> {
        let others = self.estimates.iter().filter(|(configuration, _)| Some(*configuration) != but);
        let best = others.min_by(|left, right| left.1.time.total_cmp(&right.1.time).then_with(|| left.0.cmp(right.0)));
        best.map(|(configuration, estimate)| (configuration, *estimate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Value;

    fn tile(value: i64) -> Configuration {
        [("TILE".to_owned(), Value::Int(value))].into_iter().collect()
    }

    fn winner(contest: &Contest) -> Option<Configuration> {
        contest.winner().map(|(configuration, _)| configuration.clone())
    }

    fn contest(times: &[(i64, f64)], error: f64) -> Contest {
        let mut contest = Contest::new(ContestOptions::default());
        times.iter().for_each(|(value, time)| _ = contest.enter(&tile(*value), *time, error));
        contest
    }

    #[test]
    fn exact_times_are_never_measured_again() {
        let contest = contest(&[(1, 10.0), (2, 9.999_999), (3, 12.0)], 0.0);
        assert_eq!((contest.undecided(), winner(&contest)), (None, Some(tile(2))));
        assert_eq!(ContestOptions::default().reserved(100, 0.0), 0);
    }

    #[test]
    fn the_luckiest_time_is_found_out() {
        let mut contest = contest(&[(1, 10.0), (2, 9.9), (3, 12.0)], 0.02);
        assert_eq!(contest.undecided(), Some(tile(2)), "1 % ahead with 2 % of noise decides nothing");
        let estimate = contest.enter(&tile(2), 10.5, 0.02);
        assert!((estimate.time - 10.2).abs() < 1e-9 && estimate.count == 2, "{estimate:?}");
        assert_eq!(winner(&contest), Some(tile(1)));
        assert_eq!(contest.undecided(), Some(tile(1)), "and the one that leads now had a single time so far");
    }

    #[test]
    fn nothing_is_measured_again_where_chance_does_not_explain_the_difference() {
        let contest = contest(&[(1, 10.0), (2, 8.0), (3, 11.0)], 0.02);
        assert_eq!((contest.undecided(), winner(&contest)), (None, Some(tile(2))));
    }

    #[test]
    fn a_draw_ends_after_so_many_measurements() {
        let mut contest = contest(&[(1, 10.0), (2, 9.999)], 0.02);
        let mut again = 0;
        while let Some(configuration) = contest.undecided() {
            let time = if configuration == tile(1) { 10.0 } else { 9.999 };
            contest.enter(&configuration, time, 0.02);
            again += 1;
        }
        assert_eq!((again, winner(&contest)), (2 * (ContestOptions::default().most - 1), Some(tile(2))));
    }

    #[test]
    fn the_order_of_entering_does_not_matter() {
        let one = contest(&[(1, 10.0), (2, 9.9), (3, 9.0), (4, 9.05)], 0.02);
        let other = contest(&[(4, 9.05), (2, 9.9), (1, 10.0), (3, 9.0)], 0.02);
        assert_eq!((one.undecided(), winner(&one)), (other.undecided(), winner(&other)));
        assert_eq!(winner(&one), Some(tile(3)));
    }
}
