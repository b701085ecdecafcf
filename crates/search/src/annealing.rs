//! Simulated annealing over neighbours.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::archive::Archive;
use super::neighbourhood::moved;
use super::proposer::Proposer;
use super::random::fresh_sample;
use super::start::first_point;
use space::{Point, SearchSpace};

/// Settings of annealing.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnealingOptions {
    /// Relative loss that is accepted with chance 1/e at the start.
    pub hot: f64,
    /// The same at the end of a cycle.
    pub cold: f64,
    /// Evaluations from hot to cold; then the next cycle starts from the best point.
    pub cycle: u64,
    /// Chance that a step goes anywhere in a domain.
    pub jump: f64,
}

impl Default for AnnealingOptions {
    fn default() -> Self {
        Self { hot: 0.5, cold: 0.01, cycle: 60, jump: 0.3 }
    }
}

/// Simulated annealing. Times are compared by their ratio, so that the settings fit kernels of every length.
#[derive(Clone, Debug)]
pub struct Annealing {
    space: SearchSpace,
    options: AnnealingOptions,
    random: ChaCha8Rng,
    archive: Archive,
    /// Where the walk is, with its time.
    here: Option<(Point, f64)>,
    /// The step being tried.
    tried: Option<Point>,
}

impl Annealing {
    /// A strategy over `space`; equal seeds, options and outcomes give equal sequences. Asked for several points at once
    /// it tries several steps from one place.
    pub fn new(space: SearchSpace, seed: u64, options: AnnealingOptions) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { space, options, random, archive: Archive::default(), here: None, tried: None }
    }

    /// Accepts or refuses the step that was tried last.
    fn decide(&mut self) {
        let Some(tried) = self.tried.take() else { return };
        let Some(time) = self.archive.time(&tried) else { return };
        let phase = self.archive.asked() % self.options.cycle.max(1);
        if phase == 0
            && let Some((best, best_time, _)) = self.archive.ranked(0).first()
        {
            self.here = Some(((*best).clone(), *best_time));
            return;
        }
        let share = phase as f64 / self.options.cycle.max(1) as f64;
        let cooled = libm::pow(self.options.cold / self.options.hot, share);
        let accepted = self.here.as_ref().is_none_or(|(_, present)| {
            let loss = (time - present) / present;
            loss <= 0.0 || self.random.random_bool(libm::exp(-loss / (self.options.hot * cooled)).clamp(0.0, 1.0))
        });
        if accepted {
            self.here = Some((tried, time));
        }
    }

    fn step(&mut self) -> Option<Point> {
        const ATTEMPTS: usize = 48;
        self.decide();
        let free: Vec<usize> =
            (0..self.space.dimensions()).filter(|dimension| self.space.domain_len(*dimension) > 1).collect();
        let Some((here, _)) = self.here.clone().filter(|_| !free.is_empty()) else {
            return first_point(&self.space, &self.archive, &mut self.random)
                .or_else(|| fresh_sample(&self.space, &self.archive, &mut self.random));
        };
        for attempt in 0..ATTEMPTS {
            let mut step = here.clone();
            // Where all single steps are known, longer ones are taken.
            for _ in 0..=attempt / (ATTEMPTS / 3) {
                let dimension = free[self.random.random_range(0..free.len())];
                step[dimension] = moved(&self.space, dimension, step[dimension], self.options.jump, &mut self.random);
            }
            if self.space.repair(&mut step, &mut self.random) && !self.archive.contains(&step) {
                return Some(step);
            }
        }
        fresh_sample(&self.space, &self.archive, &mut self.random)
    }
}

impl Proposer for Annealing {
    fn label(&self) -> &'static str {
        "annealing"
    }

    fn state(&mut self) -> (&SearchSpace, &mut Archive) {
        (&self.space, &mut self.archive)
    }

    fn next_point(&mut self) -> Option<Point> {
        let next = self.step();
        self.tried.clone_from(&next);
        next
    }
}
