//! The strategies by name.

use std::fmt;
use std::str::FromStr;

use super::{
    Annealing, AnnealingOptions, DifferentialEvolution, DifferentialOptions, Evolutionary, EvolutionaryOptions, Hybrid,
    HybridOptions, LocalSearch, Strategy, UniformRandom,
};
use space::SearchSpace;

/// A strategy by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StrategyKind {
    /// Evolution proposes candidates, a Gaussian process chooses among them.
    #[default]
    Hybrid,
    /// Gaussian process over random points and neighbours.
    Surrogate,
    /// Population, tournament, crossover, mutation.
    Evolutionary,
    /// Differences of good points.
    Differential,
    /// Simulated annealing.
    Annealing,
    /// Local search with restarts.
    Local,
    /// Uniform random, the yardstick.
    Random,
}

impl StrategyKind {
    /// All strategies, the default first.
    pub const ALL: [Self; 7] = [
        Self::Hybrid,
        Self::Surrogate,
        Self::Evolutionary,
        Self::Differential,
        Self::Annealing,
        Self::Local,
        Self::Random,
    ];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Surrogate => "surrogate",
            Self::Evolutionary => "evolutionary",
            Self::Differential => "differential",
            Self::Annealing => "annealing",
            Self::Local => "local",
            Self::Random => "random",
        }
    }

    /// The strategy with its default settings. Equal seeds and outcomes give equal sequences.
    pub fn build(self, space: &SearchSpace, seed: u64) -> Box<dyn Strategy> {
        let space = space.clone();
        match self {
            Self::Hybrid => Box::new(Hybrid::new(self.name(), space, seed, HybridOptions::default())),
            Self::Surrogate => Box::new(Hybrid::new(self.name(), space, seed, HybridOptions::surrogate())),
            Self::Evolutionary => Box::new(Evolutionary::new(space, seed, EvolutionaryOptions::default())),
            Self::Differential => Box::new(DifferentialEvolution::new(space, seed, DifferentialOptions::default())),
            Self::Annealing => Box::new(Annealing::new(space, seed, AnnealingOptions::default())),
            Self::Local => Box::new(LocalSearch::new(space, seed)),
            Self::Random => Box::new(UniformRandom::new(space, seed)),
        }
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that no strategy has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy `{0}`: take {names}", names = StrategyKind::ALL.map(StrategyKind::name).join(", "))]
pub struct UnknownStrategy(String);

impl FromStr for StrategyKind {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownStrategy(name.to_owned()))
    }
}
