//! Local search: descend to the best neighbour as soon as one is better, start anew where none is.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::archive::Archive;
use super::neighbourhood::differing_in_one;
use super::proposer::Proposer;
use super::random::fresh_sample;
use super::start::first_point;
use space::{Point, SearchSpace};

/// First-improvement local search with random restarts. Neighbours differ in one tunable.
#[derive(Clone, Debug)]
pub struct LocalSearch {
    space: SearchSpace,
    random: ChaCha8Rng,
    archive: Archive,
    /// Points asked from here on belong to the present descent.
    since: u64,
    /// The point whose neighbours are being asked, and those that are left.
    around: Option<(Point, Vec<Point>)>,
}

impl LocalSearch {
    /// A strategy over `space`; equal seeds and outcomes give equal sequences. The first descent starts at the
    /// project's present configuration, where that is valid.
    pub fn new(space: SearchSpace, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { space, random, archive: Archive::default(), since: 0, around: None }
    }
}

impl Proposer for LocalSearch {
    fn label(&self) -> &'static str {
        "local"
    }

    fn state(&mut self) -> (&SearchSpace, &mut Archive) {
        (&self.space, &mut self.archive)
    }

    fn next_point(&mut self) -> Option<Point> {
        if self.archive.asked() == 0
            && let Some(start) = first_point(&self.space, &self.archive, &mut self.random)
        {
            return Some(start);
        }
        let best = self.archive.ranked(self.since).first().map(|(point, _, _)| (*point).clone());
        // Nothing of this descent has a time yet: look for a point that does.
        let Some(best) = best else {
            return fresh_sample(&self.space, &self.archive, &mut self.random);
        };
        if self.around.as_ref().is_none_or(|(centre, _)| *centre != best) {
            let mut neighbours = differing_in_one(&self.space, &best);
            neighbours.shuffle(&mut self.random);
            self.around = Some((best, neighbours));
        }
        let left = &mut self.around.as_mut()?.1;
        while let Some(point) = left.pop() {
            if !self.archive.contains(&point) {
                return Some(point);
            }
        }
        self.since = self.archive.asked() + 1;
        self.around = None;
        fresh_sample(&self.space, &self.archive, &mut self.random)
    }
}
