//! Surrogate-assisted search, and the default strategy: evolution proposes, a Gaussian process disposes.
//!
//! The state is a function of the set of told points and of the random stream, so the order of telling within a batch
//! does not matter. Points in flight count as if they came out as predicted.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::Prices;
use super::archive::Archive;
use super::feasibility::Feasibility;
use super::proposer::Proposer;
use super::random::fresh_sample;
use super::start::{first_point, middle};
use super::surrogate::{Model, ModelOptions};
use space::{Point, SearchSpace};

/// Settings of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridOptions {
    /// Points before the model is asked: the present configuration, the middle of the space, then far corners. What is known
    /// without having been asked counts.
    pub initial: usize,
    /// Settings of the model.
    pub model: ModelOptions,
}

impl Default for HybridOptions {
    fn default() -> Self {
        Self { initial: 4, model: ModelOptions { offspring: 16, ..ModelOptions::default() } }
    }
}

impl HybridOptions {
    /// The same search without evolution: candidates are random points and neighbours of the best.
    pub fn surrogate() -> Self {
        Self { model: ModelOptions { offspring: 0, ..ModelOptions::default() }, ..Self::default() }
    }
}

/// The strategy.
#[derive(Clone, Debug)]
pub struct Hybrid {
    name: &'static str,
    space: SearchSpace,
    options: HybridOptions,
    random: ChaCha8Rng,
    archive: Archive,
    model: Model,
    expected_gain: Option<f64>,
}

/// Random points of which the farthest from all known ones is asked.
const SPREAD: usize = 32;

impl Hybrid {
    /// A strategy over `space`; equal seeds, options and outcomes give equal sequences. The first point asked is the
    /// project's present configuration, where it is valid and not known already.
    pub fn new(name: &'static str, space: SearchSpace, seed: u64, options: HybridOptions) -> Self {
        let model = Model::new(&space, options.model.clone());
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { name, space, options, random, archive: Archive::default(), model, expected_gain: None }
    }

    /// A point far from all known ones, and not where others failed.
    fn far(&mut self) -> Option<Point> {
        let coordinates = self.model.coordinates();
        let known: Vec<Vec<f64>> = self.archive.iter().map(|(point, _)| coordinates.of(point)).collect();
        let feasibility = Feasibility::fit(&self.space, &self.archive);
        let mut best: Option<(f64, Point)> = None;
        for _ in 0..SPREAD {
            let Some(point) = self.space.sample(&mut self.random) else { break };
            if self.archive.contains(&point) || feasibility.cannot_work(&point) {
                continue;
            }
            let here = coordinates.of(&point);
            let apart = |there: &Vec<f64>| here.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let nearest = known.iter().map(apart).fold(f64::INFINITY, f64::min);
            let safe = 1.0 - feasibility.risk(&point);
            let score = nearest.min(f64::MAX) * safe * safe;
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, point));
            }
        }
        best.map(|(_, point)| point).or_else(|| fresh_sample(&self.space, &self.archive, &mut self.random))
    }
}

impl Proposer for Hybrid {
    fn label(&self) -> &'static str {
        self.name
    }

    fn state(&mut self) -> (&SearchSpace, &mut Archive) {
        (&self.space, &mut self.archive)
    }

    fn next_point(&mut self) -> Option<Point> {
        let begun = self.archive.begun();
        if begun < self.options.initial {
            let start = match begun {
                0 => first_point(&self.space, &self.archive, &mut self.random),
                1 => middle(&self.space, &mut self.random).filter(|point| !self.archive.contains(point)),
                _ => None,
            };
            return start.or_else(|| self.far());
        }
        let suggestion = self.model.suggest(&self.space, &self.archive, &mut self.random);
        self.expected_gain = suggestion.as_ref().map(|suggestion| suggestion.expected_gain);
        suggestion.map(|suggestion| suggestion.point).or_else(|| self.far())
    }

    fn take_prices(&mut self, prices: Option<Prices>) {
        self.model.set_prices(&self.space, prices);
    }

    fn promise(&self) -> Option<f64> {
        self.expected_gain
    }
}
