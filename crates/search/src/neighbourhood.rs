//! Moves from points to others: one tunable changed, a step in a domain, children of good points.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use space::{Point, SearchSpace};

/// Longer domains are looked at around the present value only.
const SCANNED: u32 = 64;

/// Valid points that differ from `point` in one tunable, in any value of its domain (the nearest ones of a long domain).
pub(super) fn differing_in_one(space: &SearchSpace, point: &[u32]) -> Vec<Point> {
    let mut found = Vec::new();
    for dimension in 0..space.dimensions() {
        let here = point[dimension];
        let first = here.saturating_sub(SCANNED / 2).min(space.domain_len(dimension).saturating_sub(SCANNED));
        let last = space.domain_len(dimension).min(first + SCANNED);
        for index in (first..last).filter(|index| *index != here) {
            let mut neighbour = point.to_vec();
            neighbour[dimension] = index;
            space.settle(&mut neighbour);
            if neighbour != point && space.allows(&neighbour) {
                found.push(neighbour);
            }
        }
    }
    found
}

/// A child of two of the `elite`, with one or two tunables moved a little; `None` where it cannot be made valid.
pub(super) fn offspring(space: &SearchSpace, elite: &[&Point], random: &mut ChaCha8Rng) -> Option<Point> {
    const JUMP: f64 = 0.1;
    let free: Vec<usize> = (0..space.dimensions()).filter(|dimension| space.domain_len(*dimension) > 1).collect();
    if elite.is_empty() || free.is_empty() {
        return None;
    }
    let mut child = elite[random.random_range(0..elite.len())].clone();
    let other = elite[random.random_range(0..elite.len())];
    for (gene, from) in child.iter_mut().zip(other) {
        if random.random_bool(0.5) {
            *gene = *from;
        }
    }
    for _ in 0..random.random_range(1..=2) {
        let dimension = free[random.random_range(0..free.len())];
        child[dimension] = moved(space, dimension, child[dimension], JUMP, random);
    }
    space.repair(&mut child, random).then_some(child)
}

/// Another position in a domain: a step up or down, short steps more often than long ones, and with the chance `jump`
/// anywhere. The domain has at least two values.
pub(super) fn moved(space: &SearchSpace, dimension: usize, from: u32, jump: f64, random: &mut ChaCha8Rng) -> u32 {
    let length = space.domain_len(dimension);
    if !space.is_ordered(dimension) || random.random_bool(jump) {
        // Any other value: the skipped position is the present one.
        let other = random.random_range(0..length - 1);
        return if other >= from { other + 1 } else { other };
    }
    let mut step = (length / 32).max(1);
    if length > 32 {
        step = random.random_range(1..=step);
    }
    while random.random_bool(0.3) && step < length {
        step *= 2;
    }
    let up = if from == 0 {
        true
    } else if from + 1 >= length {
        false
    } else {
        random.random_bool(0.5)
    };
    if up { from.saturating_add(step).min(length - 1) } else { from.saturating_sub(step) }
}
