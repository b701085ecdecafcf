//! How much a motif may bring: from the bank where it knows, else from seeds of ours and the profile.

use crate::aicore::Profile;
use crate::experience::{Bank, Features, features_of, symptoms_of};
use crate::motif::{Context, Motif};

/// An expected speed-up with its reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expectation {
    pub(super) gain: f64,
    pub(super) reason: String,
}

/// Expects gains for one kernel.
pub(super) struct Oracle<'a> {
    bank: &'a Bank,
    profile: Option<&'a Profile>,
    symptoms: Vec<String>,
    features: Features,
}

impl<'a> Oracle<'a> {
    pub(super) fn new(context: &Context, bank: &'a Bank, profile: Option<&'a Profile>) -> Self {
        let symptoms = profile.map(symptoms_of).unwrap_or_default();
        Self { bank, profile, symptoms, features: features_of(context) }
    }

    /// Gain of a motif at all its sites together.
    pub(super) fn expect(&self, motif: &dyn Motif) -> Expectation {
        if let Some(quantiles) = self.bank.gain_quantiles(motif.id(), &self.symptoms, &self.features) {
            let records =
                if quantiles.records == 1 { "1 record".to_owned() } else { format!("{} records", quantiles.records) };
            let reason =
                format!("the bank knows a median gain of {:.2}x over {records} of like kernels", quantiles.median);
            return Expectation { gain: quantiles.median.max(0.5), reason };
        }
        let prior = motif.prior_gain();
        let Some(profile) = self.profile.filter(|profile| profile.longest_core_us > 0.0) else {
            return Expectation { gain: prior, reason: format!("no record; our seed for this motif is {prior:.2}x") };
        };
        // Amdahl: the motif shortens the share of time that its counters stand for. What is not on the critical path
        // can be shortened without gain.
        let shares = motif.relieves().iter().map(|counter| {
            let share = counter.path_share(profile).unwrap_or(counter.read(profile) / profile.longest_core_us);
            (counter, share.clamp(0.0, 0.95))
        });
        let Some((counter, share)) = shares.max_by(|left, right| left.1.total_cmp(&right.1)) else {
            return Expectation { gain: prior, reason: format!("no record; our seed for this motif is {prior:.2}x") };
        };
        let gain = 1.0 / (1.0 - share * (1.0 - 1.0 / prior));
        let of = if profile.critical_path.is_empty() { "the longest core's time" } else { "the critical path" };
        let reason = format!("{} is {:.0} % of {of}", counter.name(), share * 100.0);
        Expectation { gain, reason }
    }
}
