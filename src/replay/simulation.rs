//! One strategy on one recorded space.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::recorded::{Recorded, RecordedSpace};
use crate::search::Strategy;

/// The strategy broke the contract of asking.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// It asked for a configuration outside the space.
    #[error("{strategy} asked for {configuration}, which is not in the space")]
    Outside {
        /// Name of the strategy.
        strategy: String,
        /// What it asked for.
        configuration: String,
    },
    /// It asked for more than it was to.
    #[error("{strategy} asked for {asked} configurations where {room} were left")]
    OverBudget {
        /// Name of the strategy.
        strategy: String,
        /// Configurations asked.
        asked: usize,
        /// Evaluations left.
        room: usize,
    },
}

/// What happened in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Least time found after each evaluation; infinite before the first feasible one.
    pub best: Vec<f64>,
    /// Infeasible evaluations.
    pub infeasible: usize,
    /// Time that the strategy itself took for all its suggestions.
    pub overhead: Duration,
}

impl Trace {
    /// Least time after `evaluations`, or `otherwise` where nothing feasible was found by then. A run that ended early,
    /// the space being exhausted, keeps what it had.
    pub fn best_after(&self, evaluations: usize, otherwise: f64) -> f64 {
        let seen = &self.best[..evaluations.min(self.best.len())];
        seen.last().copied().filter(|best| best.is_finite()).unwrap_or(otherwise)
    }
}

/// Runs a strategy until `budget` configurations were evaluated or it has nothing more to ask. `batch` configurations
/// are in flight at a time.
pub fn simulate(
    recorded: &RecordedSpace,
    strategy: &mut dyn Strategy,
    budget: usize,
    batch: usize,
) -> Result<Trace, SimulationError> {
    let mut trace = Trace { best: Vec::with_capacity(budget), infeasible: 0, overhead: Duration::ZERO };
    let mut best = f64::INFINITY;
    let mut seen = std::collections::HashSet::new();
    while trace.best.len() < budget {
        let room = batch.max(1).min(budget - trace.best.len());
        let started = Instant::now();
        let asked = strategy.ask(room);
        trace.overhead += started.elapsed();
        if asked.is_empty() {
            break;
        }
        if asked.len() > room {
            return Err(SimulationError::OverBudget { strategy: strategy.name().to_owned(), asked: asked.len(), room });
        }
        let mut fresh = 0;
        for configuration in asked {
            let Some(row) = recorded.look_up(&configuration) else {
                let (strategy, configuration) = (strategy.name().to_owned(), configuration.to_string());
                return Err(SimulationError::Outside { strategy, configuration });
            };
            // Asking again costs nothing and tells nothing new.
            if seen.insert(configuration.clone()) {
                fresh += 1;
                match row {
                    Recorded::Objective(time) => best = best.min(time),
                    Recorded::Infeasible(_) => trace.infeasible += 1,
                }
                trace.best.push(best);
            }
            let started = Instant::now();
            strategy.tell(&configuration, &row.outcome());
            trace.overhead += started.elapsed();
        }
        if fresh == 0 {
            break;
        }
    }
    Ok(trace)
}

/// Many runs in parallel.
#[derive(Clone, Copy, Debug)]
pub struct Bench {
    /// Evaluations of one run.
    pub budget: usize,
    /// Configurations in flight.
    pub batch: usize,
    /// Runs, with the seeds 0, 1, ...
    pub seeds: u64,
    /// Threads.
    pub jobs: usize,
}

impl Bench {
    /// One trace per seed, in the order of the seeds, whatever the number of threads.
    pub fn run(
        &self,
        recorded: &RecordedSpace,
        make: &(dyn Fn(u64) -> Box<dyn Strategy> + Sync),
    ) -> Result<Vec<Trace>, SimulationError> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, self.seeds.max(1) as usize) {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed) as u64;
                        if seed >= self.seeds {
                            break;
                        }
                        let trace = simulate(recorded, &mut *make(seed), self.budget, self.batch);
                        // A poisoned lock holds whole traces all the same: each is pushed at once.
                        done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((seed, trace));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.sort_by_key(|(seed, _)| *seed);
        done.into_iter().map(|(_, trace)| trace).collect()
    }
}
