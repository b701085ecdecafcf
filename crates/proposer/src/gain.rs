//! How much a motif may bring: seeds of ours bounded by the profile, what the bank knows of like kernels, and what this
//! run has seen.

use super::expectation::Expectation;
use super::history::History;
use aicore::Profile;
use experience::{Bank, Query, Shingles, features_of, symptoms_of};
use motif::{Context, Counter, Motif};

/// The bank never counts for more than so many seeds.
const BANK_WEIGHT: f64 = 4.0;
/// What was seen on this very kernel counts for so many seeds.
const SEEN_WEIGHT: f64 = 4.0;
/// A proposal is expected to verify as often as if it had done so this many times before.
const FAITH: f64 = 2.0;

/// Expects gains for one kernel.
pub(super) struct Oracle<'a> {
    bank: &'a Bank,
    history: &'a History,
    profile: Option<&'a Profile>,
    query: Query,
}

impl<'a> Oracle<'a> {
    pub(super) fn new(context: &Context, bank: &'a Bank, history: &'a History, profile: Option<&'a Profile>) -> Self {
        let symptoms = profile.map(symptoms_of).unwrap_or_default();
        let query = Query { symptoms, features: features_of(context), shingles: Shingles::default() };
        Self { bank, history, profile, query }
    }

    /// What the run has seen.
    pub(super) fn history(&self) -> &History {
        self.history
    }

    /// Gain of a motif at all its sites together; `code` is the text of these sites.
    pub(super) fn expect(&self, motif: &dyn Motif, code: &str) -> Expectation {
        let prior = motif.metadata().prior_gain;
        let mut reasons = Vec::new();
        let mut weights = 1.0;
        let mut logs = match self.share(motif) {
            // Amdahl: the motif shortens the share of time that its counters stand for.
            Some((share, said)) => {
                reasons.push(said);
                -(1.0 - share * (1.0 - 1.0 / prior)).ln()
            }
            None => {
                reasons.push(format!("our seed for this motif is {prior:.2}x"));
                prior.ln()
            }
        };
        let (mut verified, mut asked) = (FAITH, FAITH);
        let query = Query { shingles: Shingles::of(code), ..self.query.clone() };
        if let Some(known) = self.bank.expected(motif.id().name(), &query) {
            let weight = known.weight.min(BANK_WEIGHT);
            logs += weight * known.median.max(0.5).ln();
            weights += weight;
            verified += weight * known.verified;
            asked += weight;
            let records = if known.records == 1 { "1 record".to_owned() } else { format!("{} records", known.records) };
            reasons
                .push(format!("the bank knows a median gain of {:.2}x over {records} of like kernels", known.median));
        }
        if let Some(seen) = self.history.seen(motif.id().name()) {
            for gain in &seen.gains {
                logs += SEEN_WEIGHT * gain.max(0.5).ln();
                weights += SEEN_WEIGHT;
            }
            verified += seen.gains.len() as f64;
            asked += seen.gains.len() as f64 + seen.rejected as f64 + seen.suspicion;
            if !seen.gains.is_empty() {
                let mean = seen.gains.iter().map(|gain| gain.ln()).sum::<f64>() / seen.gains.len() as f64;
                reasons.push(format!("here it brought {:.2}x", mean.exp()));
            }
            if seen.rejected > 0 {
                reasons.push(format!("refused here {} times", seen.rejected));
            }
        }
        Expectation { gain: (logs / weights * verified / asked).exp(), reason: reasons.join(", ") }
    }

    /// Share of the time that the motif can shorten, with the words for it. What is not on the critical path can be
    /// shortened without gain.
    fn share(&self, motif: &dyn Motif) -> Option<(f64, String)> {
        let profile = self.profile.filter(|profile| profile.longest_core_us > 0.0)?;
        let shares = motif.metadata().relieves.iter().map(|counter| {
            let share = counter.path_share(profile).unwrap_or(counter.read(profile) / profile.longest_core_us);
            (counter, share.clamp(0.0, 0.95))
        });
        let (counter, share) = shares.max_by(|left, right| left.1.total_cmp(&right.1))?;
        let of = match counter {
            Counter::LaunchUs => "the task's time",
            _ if profile.critical_path.is_empty() => "the longest core's time",
            _ => "the critical path",
        };
        Some((share, format!("{} is {:.0} % of {of}", counter.name(), share * 100.0)))
    }
}
