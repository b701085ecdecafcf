//! What a strategy has asked and been told. Everything derived from it is independent of the order of telling.

use std::collections::BTreeMap;

use space::Point;

use super::Observation;

/// One point with the number of its asking.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Position in the order of asking; 0 for points told without having been asked.
    pub asked: u64,
    /// `None` while the evaluation is in flight.
    pub outcome: Option<Observation>,
}

/// All points that were asked or told.
#[derive(Clone, Debug, Default)]
pub(super) struct Archive {
    entries: BTreeMap<Point, Entry>,
    asked: u64,
}

impl Archive {
    pub fn contains(&self, point: &[u32]) -> bool {
        self.entries.contains_key(point)
    }

    /// Points that were asked, and those told with a time without having been asked.
    pub fn begun(&self) -> usize {
        let timed = |entry: &Entry| matches!(entry.outcome, Some(Observation::Objective(_)));
        self.entries.values().filter(|entry| entry.asked > 0 || timed(entry)).count()
    }

    /// Number of points asked so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    pub fn ask(&mut self, point: Point) {
        self.asked += 1;
        self.entries.insert(point, Entry { asked: self.asked, outcome: None });
    }

    pub fn tell(&mut self, point: Point, outcome: &Observation) {
        // A time that is no number would poison every comparison.
        let outcome = match outcome {
            Observation::Objective(value) if value.is_nan() => Observation::Objective(f64::INFINITY),
            other => other.clone(),
        };
        self.entries.entry(point).or_insert(Entry { asked: 0, outcome: None }).outcome = Some(outcome);
    }

    /// Time of a point, where it has one.
    pub fn time(&self, point: &[u32]) -> Option<f64> {
        match self.entries.get(point)?.outcome {
            Some(Observation::Objective(time)) => Some(time),
            _ => None,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Point, &Entry)> {
        self.entries.iter()
    }

    /// Points with a time asked at or after `since`, best first; ties in the order of points.
    pub fn ranked(&self, since: u64) -> Vec<(&Point, f64, u64)> {
        let timed = self.entries.iter().filter(|(_, entry)| entry.asked >= since);
        let mut ranked: Vec<(&Point, f64, u64)> = timed
            .filter_map(|(point, entry)| match entry.outcome {
                Some(Observation::Objective(value)) => Some((point, value, entry.asked)),
                _ => None,
            })
            .collect();
        ranked.sort_by(|left, right| left.1.total_cmp(&right.1).then_with(|| left.0.cmp(right.0)));
        ranked
    }
}
