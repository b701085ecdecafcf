//! Uniform random search: the yardstick.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use space::{Point, SearchSpace};

use super::archive::Archive;
use super::proposer::Proposer;

/// Draws valid points at random, none twice.
#[derive(Clone, Debug)]
pub struct UniformRandom {
    space: SearchSpace,
    random: ChaCha8Rng,
    archive: Archive,
}

impl UniformRandom {
    /// A strategy over `space`; equal seeds ask equal sequences.
    pub fn new(space: SearchSpace, seed: u64) -> Self {
        Self { space, random: ChaCha8Rng::seed_from_u64(seed), archive: Archive::default() }
    }
}

/// A valid point that is not in the archive, or `None` when none is left or none was found.
pub(super) fn fresh_sample(space: &SearchSpace, archive: &Archive, random: &mut ChaCha8Rng) -> Option<Point> {
    use rand::RngExt;
    const ATTEMPTS: usize = 32;
    for _ in 0..ATTEMPTS {
        match space.sample(random) {
            Some(point) if !archive.contains(&point) => return Some(point),
            Some(_) => {}
            None => break,
        }
    }
    // A nearly exhausted small space is swept; in a large one a neighbour of something known is still new.
    if let Some(points) = space.enumerate() {
        let left: Vec<Point> = points.iter().filter(|point| !archive.contains(point)).cloned().collect();
        return (!left.is_empty()).then(|| left[random.random_range(0..left.len())].clone());
    }
    archive.iter().flat_map(|(point, _)| space.neighbours(point)).find(|point| !archive.contains(point))
}

impl Proposer for UniformRandom {
    fn label(&self) -> &'static str {
        "random"
    }

    fn state(&mut self) -> (&SearchSpace, &mut Archive) {
        (&self.space, &mut self.archive)
    }

    fn next_point(&mut self) -> Option<Point> {
        fresh_sample(&self.space, &self.archive, &mut self.random)
    }
}
