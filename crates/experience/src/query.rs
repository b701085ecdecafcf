//! Asking a bank: what is like this kernel, by symptoms, by shape of the code, and by its text.

use super::bank::Kept;
use super::shingles::Shingles;
use super::{Bank, Features, Record, SettingKind, Verdict};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Symptoms of the profile.
    pub symptoms: Vec<String>,
    /// Shape of the kernel.
    pub features: Features,
    /// Shingles of the code at the sites; empty where only symptoms and shape are known.
    pub shingles: Shingles,
}

/// A record with its likeness to what was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match<'a> {
    /// Id of the record.
    pub id: &'a str,
    /// The record.
    pub record: &'a Record,
    /// Likeness between 0 and 1.
    pub likeness: f64,
}

/// What the records of one motif let expect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Records that say something.
    pub records: usize,
    /// A quarter of the likeness lies in records that gained no more than this.
    pub lower: f64,
    /// Half of it.
    pub median: f64,
    /// Three quarters of it.
    pub upper: f64,
    /// Share, by likeness, of the records that verified.
    pub verified: f64,
    /// Sum of the squared likenesses: how much the answer is worth.
    pub weight: f64,
}

/// Less alike than this says nothing.
const UNLIKE: f64 = 0.2;

impl Query {
    /// Likeness of a record: a third each for symptoms, shape and text; halves where there is no text to compare.
    fn likeness(&self, kept: &Kept) -> f64 {
        let record = &kept.record;
        let shared = record.symptoms.iter().filter(|symptom| self.symptoms.contains(symptom)).count();
        let all = record.symptoms.len() + self.symptoms.len() - shared;
        let by_symptom = if all == 0 { 0.0 } else { shared as f64 / all as f64 };
        let by_shape = record.features.likeness(&self.features);
        if self.shingles.is_empty() || kept.slow_side().is_empty() {
            return (by_symptom + by_shape) / 2.0;
        }
        (by_symptom + by_shape + kept.slow_side().found_in(&self.shingles)) / 3.0
    }
}

impl Bank {
    /// Records by likeness, most alike first; ties by id.
    pub fn search(&self, query: &Query) -> Vec<Match<'_>> {
        let mut found: Vec<Match<'_>> =
            self.kept().map(|(id, kept)| Match { id, record: &kept.record, likeness: query.likeness(kept) }).collect();
        found.sort_by(|left, right| right.likeness.total_cmp(&left.likeness).then(left.id.cmp(right.id)));
        found
    }

    /// What a motif may bring to the kernel asked about; `None` where no record of the motif is alike at all.
    pub fn expected(&self, motif: &str, query: &Query) -> Option<Expected> {
        let of_motif = self.kept().filter(|(_, kept)| kept.record.motif == motif);
        let mut weighed: Vec<(f64, f64, bool)> = Vec::new();
        for (_, kept) in of_motif {
            let (record, likeness) = (&kept.record, query.likeness(kept));
            if likeness < UNLIKE {
                continue;
            }
            let gain = match record.verdict {
                // What did not work through the motif's mechanism is no promise.
                Verdict::EffectWithoutMechanism | Verdict::Rejected => 1.0,
                Verdict::Kept | Verdict::NoGain => record.gain(),
            };
            weighed.push((gain, likeness * likeness, record.verdict != Verdict::Rejected));
        }
        let weight: f64 = weighed.iter().map(|(_, weight, _)| weight).sum();
        if weight <= 0.0 {
            return None;
        }
        let good: f64 = weighed.iter().filter(|(_, _, good)| *good).map(|(_, weight, _)| weight).sum();
        let mut gains: Vec<(f64, f64)> =
            weighed.iter().filter(|(_, _, good)| *good).map(|(gain, weight, _)| (*gain, *weight)).collect();
        gains.sort_by(|left, right| left.0.total_cmp(&right.0));
        let quantile = |share: f64| weighted_quantile(&gains, share).unwrap_or(1.0);
        Some(Expected {
            records: weighed.len(),
            lower: quantile(0.25),
            median: quantile(0.5),
            upper: quantile(0.75),
            verified: good / weight,
            weight,
        })
    }

    /// What operators like the one asked about run best with, in the measure of the kind: the median over the records that show a
    /// gain, each weighted by the square of its likeness. `None` where there are none, or more that show none.
    pub fn setting(&self, kind: SettingKind, query: &Query) -> Option<f64> {
        let (mut found, mut without_gain) = (Vec::new(), 0.0);
        for (_, kept) in self.kept().filter(|(_, kept)| kept.record.motif == kind.id()) {
            let (record, likeness) = (&kept.record, query.likeness(kept));
            match (record.verdict, record.setting) {
                (Verdict::Kept, Some(setting)) => found.push((setting.fast, likeness * likeness)),
                (Verdict::NoGain, Some(_)) => without_gain += likeness * likeness,
                _ => {}
            }
        }
        let weight: f64 = found.iter().map(|(_, weight)| weight).sum();
        if weight <= without_gain {
            return None;
        }
        found.sort_by(|left, right| left.0.total_cmp(&right.0));
        weighted_quantile(&found, 0.5)
    }
}

/// The least value that holds `share` of the weight together with those before it; of values with their weights, in order.
fn weighted_quantile(values: &[(f64, f64)], share: f64) -> Option<f64> {
    let whole: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut passed = 0.0;
    let reached = |(_, weight): &&(f64, f64)| {
        passed += weight;
        passed >= share * whole
    };
    values.iter().find(reached).or(values.last()).map(|(value, _)| *value)
}
