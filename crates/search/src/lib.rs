//! Search strategies behind one ask/tell trait. A strategy knows the space and what it was told, not how points are evaluated.

mod annealing;
mod archive;
mod contest;
mod differential;
mod duel;
mod evolutionary;
mod faulty_values;
mod feasibility;
mod hybrid;
mod kind;
mod local;
mod memory_fit;
mod neighbourhood;
mod objective;
mod paired;
mod proposer;
mod random;
mod start;
mod surrogate;
#[cfg(test)]
mod tests;

pub use annealing::{Annealing, AnnealingOptions};
pub use contest::{Contest, ContestOptions, Estimate};
pub use differential::{DifferentialEvolution, DifferentialOptions};
pub use duel::{Duel, DuelOptions, DuelVerdict};
pub use evolutionary::{Evolutionary, EvolutionaryOptions};
pub use faulty_values::FaultyValues;
pub use hybrid::{Hybrid, HybridOptions};
pub use kind::{StrategyKind, UnknownStrategy};
pub use local::LocalSearch;
pub use objective::geometric_mean;
pub use paired::{Paired, PairedOptions, PairedVerdict};
pub use random::UniformRandom;
pub use surrogate::ModelOptions;

use space::Configuration;

/// Why a configuration could not be given a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InfeasibleClass {
    /// It does not compile.
    Build,
    /// The tiling function refused it.
    Tiling,
    /// A buffer does not fit, or another limit of the hardware.
    Resource,
    /// It crashed or ran too long.
    Run,
    /// It ran, but a hazard or a wrong output was found.
    Wrong,
}

/// What became of an asked configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// The number to minimise.
    Objective(f64),
    /// It cannot be used.
    Infeasible {
        /// Class of the reason.
        class: InfeasibleClass,
    },
}

/// What configurations cost relative to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// Names of tunables that are compiled in: other values of them need a rebuild.
    pub compiled_in: Vec<String>,
    /// What an evaluation with a rebuild costs over one without.
    pub rebuild: f64,
}

/// A search strategy. Configurations are asked in batches and told in any order.
pub trait Strategy {
    /// Up to `count` configurations worth an evaluation, none asked or told before. Fewer when the space is exhausted.
    fn ask(&mut self, count: usize) -> Vec<Configuration>;

    /// Reports the outcome of a configuration, asked or known from elsewhere (the baseline, a journal). Where a time was
    /// measured again, the better estimate takes the place of the earlier one.
    fn tell(&mut self, configuration: &Configuration, outcome: &Observation);

    /// What configurations cost from now on, where time is scarce; `None` where every evaluation counts alike. Strategies
    /// without a model of times have no use for it.
    fn set_prices(&mut self, _prices: Option<Prices>) {}

    /// Name for reports.
    fn name(&self) -> &'static str;

    /// Relative gain over the best time that is expected of the point asked last, where the strategy has a model of times.
    fn expected_gain(&self) -> Option<f64> {
        None
    }
}
