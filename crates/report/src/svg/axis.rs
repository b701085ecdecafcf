//! Scales and their ticks.

/// Maps values to positions, linearly or by logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// From `low..high` to `start..end`.
    pub(super) fn linear(low: f64, high: f64, start: f64, end: f64) -> Self {
        Self { low, high: if high > low { high } else { low + 1.0 }, start, end, logarithmic: false }
    }

    /// The same by logarithm; both ends are positive.
    pub(super) fn logarithmic(low: f64, high: f64, start: f64, end: f64) -> Self {
        let low = low.max(1e-9);
        Self { low, high: if high > low { high } else { low * 2.0 }, start, end, logarithmic: true }
    }

    /// Position of a value, kept within the plot.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Round values within the range, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        // Below a factor of four the 1-2-5 series gives too few ticks, and linear ones read well enough.
        if self.logarithmic && self.high / self.low > 4.0 {
            let decades = (self.high / self.low).log10();
            let steps: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let first = self.low.log10().floor() as i32;
            let last = self.high.log10().ceil() as i32;
            return (first..=last)
                .flat_map(|exponent| steps.iter().map(move |step| step * 10f64.powi(exponent)))
                .filter(|tick| (self.low..=self.high).contains(tick))
                .collect();
        }
        let step = round_step((self.high - self.low) / wanted.max(1) as f64);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }
}

/// The next of 1, 2, 5, 10, ... times a power of ten.
fn round_step(step: f64) -> f64 {
    if step <= 0.0 || !step.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf(step.log10().floor());
    let factor = step / power;
    let rounded = [1.0, 2.0, 5.0, 10.0].into_iter().find(|one| factor <= one + 1e-9).unwrap_or(10.0);
    rounded * power
}

/// A tick's label without digits that say nothing.
pub(super) fn label(value: f64) -> String {
    let text = if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else if value.abs() >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
