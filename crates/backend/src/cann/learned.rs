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
    /// Sum of the logarithms of modelled times.
    modelled: f64,
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
        if modelled_us > 0.0 && measured_us > 0.0 {
            known.error.note(modelled_us, measured_us);
            known.modelled += modelled_us.ln();
        }
        let fastest = known.fastest.entry(what.to_owned()).or_insert(modelled_us);
        *fastest = fastest.min(modelled_us);
    }

    /// The model's error so far.
    pub fn error(&self) -> ModelError {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).error
    }

    /// Geometric means of modelled and of measured times in microseconds; `None` before there is a pair.
    pub fn means_us(&self) -> Option<(f64, f64)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let modelled_us = (known.modelled / f64::from(known.error.count())).exp();
        known.error.ratio().map(|ratio| (modelled_us, modelled_us * ratio))
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
        let (modelled_us, measured_us) = learned.means_us().unwrap();
        assert_eq!(learned.error().count(), 2);
        assert!((modelled_us - 200.0_f64.sqrt()).abs() < 1e-9 && (measured_us - 231.0_f64.sqrt()).abs() < 1e-9);
    }
}
