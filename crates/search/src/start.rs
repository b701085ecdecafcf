//! Where a search begins.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::archive::Archive;
use space::{Point, SearchSpace};

/// The project's present configuration, where it is valid; else the middle of every ordered domain (those who choose the
/// values tend to put what they believe in there, and extremes tend to be bad). `None` where it is known already.
pub(super) fn first_point(space: &SearchSpace, archive: &Archive, random: &mut ChaCha8Rng) -> Option<Point> {
    let present = space.present().filter(|present| space.allows(present));
    present.or_else(|| middle(space, random)).filter(|point| !archive.contains(point))
}

/// The valid point nearest to the middle of every ordered domain.
pub(super) fn middle(space: &SearchSpace, random: &mut ChaCha8Rng) -> Option<Point> {
    let mut point: Point = Vec::with_capacity(space.dimensions());
    for dimension in 0..space.dimensions() {
        let length = space.domain_len(dimension);
        point.push(if space.is_ordered(dimension) { (length - 1) / 2 } else { random.random_range(0..length) });
    }
    space.repair(&mut point, random).then_some(point)
}
