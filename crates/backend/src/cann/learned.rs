//! What a run has learnt of the model: how far it is off here, and what the fastest takes by it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ::cann::measure::{HOPELESS, ModelError};

use super::super::execution::RunFailure;

/// Shared by everything that runs candidates.
#[derive(Debug, Default)]
pub struct Learned {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    error: ModelError,
    latest: Option<(f64, f64)>,
    /// Least modelled time by what was run, among those that a device has run.
    fastest: BTreeMap<String, f64>,
}

impl Learned {
    /// Whether it is worth a device's time to run this. The first of its kind always is.
    ///
    /// # Errors
    /// Where it is hopelessly slow by the model.
    pub fn is_worth(&self, what: &str, modelled_us: f64) -> Result<(), RunFailure> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(fastest) = known.fastest.get(what) else { return Ok(()) };
        let ratio = modelled_us / fastest.max(f64::MIN_POSITIVE);
        if ratio > HOPELESS { Err(RunFailure::Hopeless { modelled_us, ratio }) } else { Ok(()) }
    }

    /// Takes note of what a device said.
    pub fn note(&self, what: &str, modelled_us: f64, measured_us: f64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.error.note(modelled_us, measured_us);
        known.latest = Some((modelled_us, measured_us));
        let fastest = known.fastest.entry(what.to_owned()).or_insert(modelled_us);
        *fastest = fastest.min(modelled_us);
    }

    /// The model's error so far.
    pub fn error(&self) -> ModelError {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).error
    }

    /// The latest pair: modelled and measured microseconds.
    pub fn latest(&self) -> Option<(f64, f64)> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hopeless_is_told_by_the_fastest_of_its_kind_that_a_device_has_run() {
        let learned = Learned::default();
        assert!(learned.is_worth("a", 900.0).is_ok(), "the first always runs");
        learned.note("a", 10.0, 11.0);
        learned.note("a", 20.0, 21.0);
        assert!(learned.is_worth("a", 29.0).is_ok());
        let refused = learned.is_worth("a", 31.0).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "by the model it takes 3.1 times as long as the fastest so far, at 31.00 us: no device time is spent on it"
        );
        assert!(learned.is_worth("b", 31.0).is_ok(), "another shape has a fastest of its own");
        assert_eq!((learned.error().count(), learned.latest()), (2, Some((20.0, 21.0))));
    }
}
