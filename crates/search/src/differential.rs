//! Differential evolution over the positions of domains.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::archive::Archive;
use super::proposer::Proposer;
use super::random::fresh_sample;
use super::start::first_point;
use space::{Point, SearchSpace};

/// Settings of differential evolution.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferentialOptions {
    /// Members of the population.
    pub population: usize,
    /// Weight of the difference between two members.
    pub weight: f64,
    /// Chance that a tunable comes from the mutant.
    pub crossover: f64,
}

impl Default for DifferentialOptions {
    fn default() -> Self {
        Self { population: 12, weight: 0.7, crossover: 0.7 }
    }
}

/// Differential evolution (best/1/bin). The population is the best of what was told, so every better child is in it at
/// once.
#[derive(Clone, Debug)]
pub struct DifferentialEvolution {
    space: SearchSpace,
    options: DifferentialOptions,
    random: ChaCha8Rng,
    archive: Archive,
}

impl DifferentialEvolution {
    /// A strategy over `space`; equal seeds, options and outcomes give equal sequences.
    pub fn new(space: SearchSpace, seed: u64, options: DifferentialOptions) -> Self {
        Self { space, options, random: ChaCha8Rng::seed_from_u64(seed), archive: Archive::default() }
    }

    fn child(&mut self, members: &[Point]) -> Point {
        let mut pick = || members[self.random.random_range(0..members.len())].clone();
        let (mut child, left, right) = (pick(), pick(), pick());
        let certain = self.random.random_range(0..child.len().max(1));
        for dimension in 0..child.len() {
            if dimension != certain && !self.random.random_bool(self.options.crossover) {
                continue;
            }
            let base = members[0][dimension];
            child[dimension] = if self.space.is_ordered(dimension) {
                let apart = f64::from(left[dimension]) - f64::from(right[dimension]);
                // A fraction of a step is a chance of one, so that small differences are not rounded away.
                let at = f64::from(base) + self.options.weight * apart + self.random.random_range(-0.5..0.5);
                let last = f64::from(self.space.domain_len(dimension) - 1);
                at.round().clamp(0.0, last) as u32
            } else if self.random.random_bool(0.5) {
                left[dimension]
            } else {
                base
            };
        }
        child
    }
}

impl Proposer for DifferentialEvolution {
    fn label(&self) -> &'static str {
        "differential"
    }

    fn state(&mut self) -> (&SearchSpace, &mut Archive) {
        (&self.space, &mut self.archive)
    }

    fn next_point(&mut self) -> Option<Point> {
        const ATTEMPTS: usize = 24;
        if self.archive.asked() == 0
            && let Some(start) = first_point(&self.space, &self.archive, &mut self.random)
        {
            return Some(start);
        }
        let members: Vec<Point> = self
            .archive
            .ranked(0)
            .into_iter()
            .take(self.options.population)
            .map(|(point, _, _)| point.clone())
            .collect();
        if members.len() == self.options.population {
            for _ in 0..ATTEMPTS {
                let mut child = self.child(&members);
                if self.space.repair(&mut child, &mut self.random) && !self.archive.contains(&child) {
                    return Some(child);
                }
            }
        }
        fresh_sample(&self.space, &self.archive, &mut self.random)
    }
}
