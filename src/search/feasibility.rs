//! Learning what will not work from what did not.
//!
//! Two views, both over what was told only. *Monotone*: larger tiles, more buffers and more cores overflow; so a point
//! that is at least as large as an infeasible one in every ordered tunable is expected to fail too, as long as no
//! feasible point contradicts that rule. The same is tried downwards (too small a tile is also refused). *Neighbours*: the nearest known points vote.

use crate::space::{Point, SearchSpace};

use super::Outcome;
use super::archive::Archive;

/// Chance of failure beyond a known failure.
const RULED_OUT: f64 = 0.95;

/// Nearest points that vote.
const VOTERS: usize = 5;

/// Model of feasibility, fitted anew at each ask.
pub(super) struct Feasibility<'a> {
    space: &'a SearchSpace,
    feasible: Vec<&'a Point>,
    infeasible: Vec<&'a Point>,
    upward: bool,
    downward: bool,
}

impl<'a> Feasibility<'a> {
    pub fn fit(space: &'a SearchSpace, archive: &'a Archive) -> Self {
        let mut feasible = Vec::new();
        let mut infeasible = Vec::new();
        for (point, entry) in archive.iter() {
            match entry.outcome {
                Some(Outcome::Objective(_)) => feasible.push(point),
                Some(Outcome::Infeasible { .. }) => infeasible.push(point),
                None => {}
            }
        }
        let mut model = Self { space, feasible, infeasible, upward: false, downward: false };
        // A rule is believed when it explains more than one failure, or one, and no success contradicts it.
        let contradicted = |up: bool| {
            model.infeasible.iter().any(|bad| model.feasible.iter().any(|good| model.at_least_as_far(good, bad, up)))
        };
        let upward = !contradicted(true);
        let downward = !contradicted(false);
        model.upward = upward;
        // With few data both directions are uncontradicted; overflow is by far the more common reason.
        model.downward = downward && !upward;
        model
    }

    /// Whether `point` lies beyond `other` in every ordered tunable and equals it in the others.
    fn at_least_as_far(&self, point: &[u32], other: &[u32], up: bool) -> bool {
        point.iter().zip(other).enumerate().all(|(dimension, (here, there))| {
            if !self.space.is_ordered(dimension) {
                here == there
            } else if up {
                here >= there
            } else {
                here <= there
            }
        })
    }

    fn distance(&self, point: &[u32], other: &[u32]) -> f64 {
        let mut sum = 0.0;
        for (dimension, (here, there)) in point.iter().zip(other).enumerate() {
            let extent = f64::from(self.space.domain_len(dimension).saturating_sub(1).max(1));
            sum += if self.space.is_ordered(dimension) {
                f64::from(here.abs_diff(*there)) / extent
            } else {
                f64::from(u8::from(here != there))
            };
        }
        sum
    }

    /// Chance of failure as the monotone rules have it: high beyond a known failure, otherwise none.
    pub fn rule_risk(&self, point: &[u32]) -> f64 {
        let dominated = |up: bool| self.infeasible.iter().any(|bad| self.at_least_as_far(point, bad, up));
        if (self.upward && dominated(true)) || (self.downward && dominated(false)) { RULED_OUT } else { 0.0 }
    }

    /// Expected chance of failure, 0 to 1.
    pub fn risk(&self, point: &[u32]) -> f64 {
        if self.infeasible.is_empty() {
            return 0.0;
        }
        let ruled = self.rule_risk(point);
        if ruled > 0.0 {
            return ruled;
        }
        let mut known: Vec<(f64, bool)> = Vec::with_capacity(self.feasible.len() + self.infeasible.len());
        known.extend(self.feasible.iter().map(|other| (self.distance(point, other), false)));
        known.extend(self.infeasible.iter().map(|other| (self.distance(point, other), true)));
        if known.len() > VOTERS {
            known.select_nth_unstable_by(VOTERS - 1, |left, right| {
                left.0.total_cmp(&right.0).then(left.1.cmp(&right.1))
            });
            known.truncate(VOTERS);
        }
        let (mut failing, mut all) = (0.0, 0.25);
        for (distance, failed) in known {
            let weight = 1.0 / (0.05 + distance);
            all += weight;
            failing += if failed { weight } else { 0.0 };
        }
        failing / all
    }
}
