//! Evolutionary search: a seeded population, tournaments, crossover, mutation along ordered domains, restarts.
//!
//! The population is not stored: it is the best of what was told since the last restart, so the state is a function of
//! the set of told points and the order of telling within a batch does not matter.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use space::{Point, SearchSpace};

use super::archive::Archive;
use super::feasibility::Feasibility;
use super::neighbourhood::moved;
use super::proposer::Proposer;
use super::random::fresh_sample;
use super::start::first_point;

/// Settings of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct EvolutionaryOptions {
    /// Random points before evolution starts, the present configuration included.
    pub initial: usize,
    /// Members of the population.
    pub population: usize,
    /// Members that meet in a tournament.
    pub tournament: usize,
    /// Chance that a child has two parents.
    pub crossover: f64,
    /// Chance that a mutated tunable jumps anywhere in its domain instead of stepping.
    pub jump: f64,
    /// Told points without improvement after which the population starts anew, plus four per tunable.
    pub stagnation: u64,
    /// Candidates with a higher expected chance of failure are passed over while others can be found.
    pub accepted_risk: f64,
}

impl Default for EvolutionaryOptions {
    fn default() -> Self {
        Self {
            initial: 10,
            population: 8,
            tournament: 3,
            crossover: 0.5,
            jump: 0.15,
            stagnation: 20,
            accepted_risk: 0.6,
        }
    }
}

/// The evolutionary strategy.
#[derive(Clone, Debug)]
pub struct Evolutionary {
    space: SearchSpace,
    options: EvolutionaryOptions,
    random: ChaCha8Rng,
    archive: Archive,
    /// Points asked from here on form the population.
    since: u64,
    /// Random points still owed to the population of this start.
    owed: usize,
    restarts: u32,
}

impl Evolutionary {
    /// A strategy over `space`; equal seeds, options and outcomes give equal sequences. The first point asked is the
    /// project's present configuration, where it is valid and not known already.
    pub fn new(space: SearchSpace, seed: u64, options: EvolutionaryOptions) -> Self {
        let owed = options.initial;
        Self {
            space,
            options,
            random: ChaCha8Rng::seed_from_u64(seed),
            archive: Archive::default(),
            since: 0,
            owed,
            restarts: 0,
        }
    }

    /// How often the population started anew.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    fn restart_if_stagnant(&mut self) {
        let patience = self.options.stagnation + 4 * self.space.dimensions() as u64;
        let ranked = self.archive.ranked(self.since);
        // Among equal times the first one asked was the improvement.
        let best = ranked.first().map(|entry| entry.1);
        let improved = ranked.iter().take_while(|entry| Some(entry.1) == best).map(|entry| entry.2).min();
        let last_improvement = improved.unwrap_or(0).max(self.since);
        if self.owed == 0 && self.archive.asked().saturating_sub(last_improvement) >= patience {
            self.since = self.archive.asked() + 1;
            self.owed = self.options.initial;
            self.restarts += 1;
        }
    }
}

/// A valid child of the population (best first), possibly known already.
fn breed(
    space: &SearchSpace,
    options: &EvolutionaryOptions,
    population: &[Point],
    random: &mut ChaCha8Rng,
) -> Option<Point> {
    let select = |random: &mut ChaCha8Rng| {
        let rank = (0..options.tournament.max(1)).map(|_| random.random_range(0..population.len())).min();
        rank.map(|rank| population[rank].clone())
    };
    if population.is_empty() {
        return None;
    }
    let mut child = select(random)?;
    if random.random_bool(options.crossover) {
        let other = select(random)?;
        for (gene, from) in child.iter_mut().zip(other) {
            if random.random_bool(0.5) {
                *gene = from;
            }
        }
    }
    let free: Vec<usize> = (0..space.dimensions()).filter(|dimension| space.domain_len(*dimension) > 1).collect();
    if free.is_empty() {
        return Some(child);
    }
    let certain = free[random.random_range(0..free.len())];
    let rate = 1.0 / free.len() as f64;
    for dimension in free {
        if dimension == certain || random.random_bool(rate) {
            child[dimension] = moved(space, dimension, child[dimension], options.jump, random);
        }
    }
    space.repair(&mut child, random).then_some(child)
}

impl Proposer for Evolutionary {
    fn label(&self) -> &'static str {
        "evolutionary"
    }

    fn state(&mut self) -> (&SearchSpace, &mut Archive) {
        (&self.space, &mut self.archive)
    }

    fn next_point(&mut self) -> Option<Point> {
        self.restart_if_stagnant();
        if self.archive.asked() == 0
            && let Some(start) = first_point(&self.space, &self.archive, &mut self.random)
        {
            self.owed = self.owed.saturating_sub(1);
            return Some(start);
        }
        let random_start = self.owed > 0 || self.archive.ranked(self.since).len() < 2;
        self.owed = self.owed.saturating_sub(1);

        /// Candidates looked at before the least risky one is taken.
        const CANDIDATES: usize = 16;
        let mut best: Option<(f64, Point)> = None;
        let parents: Vec<Point> = self
            .archive
            .ranked(self.since)
            .into_iter()
            .take(self.options.population)
            .map(|(point, _, _)| point.clone())
            .collect();
        let feasibility = Feasibility::fit(&self.space, &self.archive);
        for attempt in 0..CANDIDATES {
            // After some fruitless attempts the neighbourhood of the parents is used up: look elsewhere.
            let candidate = if random_start || (attempt >= CANDIDATES - 4 && best.is_none()) {
                fresh_sample(&self.space, &self.archive, &mut self.random)
            } else {
                breed(&self.space, &self.options, &parents, &mut self.random)
            };
            let Some(candidate) = candidate.filter(|point| !self.archive.contains(point)) else { continue };
            let risk = feasibility.risk(&candidate);
            if best.as_ref().is_none_or(|(least, _)| risk < *least) {
                best = Some((risk, candidate));
            }
            if risk <= self.options.accepted_risk {
                break;
            }
        }
        best.map(|(_, point)| point).or_else(|| fresh_sample(&self.space, &self.archive, &mut self.random))
    }
}
