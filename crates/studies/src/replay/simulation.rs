//! One strategy on one recorded space.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::recorded::{Recorded, RecordedSpace};
use search::{Contest, ContestOptions, Observation, Strategy};
use space::Configuration;

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
    /// Recorded time of the winner after each evaluation; infinite before the first feasible one. Without noise it is the
    /// least time found.
    pub best: Vec<f64>,
    /// Infeasible evaluations.
    pub infeasible: usize,
    /// Evaluations that measured a configuration once more.
    pub again: usize,
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

/// How times are off by chance, and what is done about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of a measured time as a share of the recorded one.
    pub deviation: f64,
    /// When the contest for the best configuration is decided.
    pub contest: ContestOptions,
}

impl Noise {
    /// Times as they were recorded.
    pub const NONE: Self = Self { deviation: 0.0, contest: ContestOptions::AT_FACE_VALUE };
}

/// A run on a recorded space.
struct Run<'a> {
    recorded: &'a RecordedSpace,
    noise: Noise,
    random: ChaCha8Rng,
    contest: Contest,
    trace: Trace,
}

impl Run<'_> {
    /// Spends an evaluation on a configuration of the space. Returns what the strategy is told.
    fn evaluate(&mut self, configuration: &Configuration, row: Recorded) -> Observation {
        let outcome = match row {
            Recorded::Objective(time) => {
                let deviation = self.noise.deviation;
                let off = if deviation > 0.0 { deviation * normal(&mut self.random) } else { 0.0 };
                let estimate = self.contest.enter(configuration, time * (1.0 + off).max(0.1), deviation);
                Observation::Objective(estimate.time)
            }
            Recorded::Infeasible(_) => {
                self.trace.infeasible += 1;
                row.outcome()
            }
        };
        let winner = self.contest.winner().and_then(|(winner, _)| self.recorded.look_up(winner));
        self.trace.best.push(match winner {
            Some(Recorded::Objective(time)) => time,
            Some(Recorded::Infeasible(_)) | None => f64::INFINITY,
        });
        outcome
    }

    /// Tells the strategy, on its own time.
    fn tell(&mut self, strategy: &mut dyn Strategy, configuration: &Configuration, outcome: &Observation) {
        let started = Instant::now();
        strategy.tell(configuration, outcome);
        self.trace.overhead += started.elapsed();
    }

    /// Measures again what has to be, as long as `budget` lasts.
    fn settle(&mut self, strategy: &mut dyn Strategy, budget: usize) {
        while let Some(open) = self.contest.undecided() {
            let Some(row) = self.recorded.look_up(&open).filter(|_| self.trace.best.len() < budget) else { break };
            let outcome = self.evaluate(&open, row);
            self.trace.again += 1;
            self.tell(strategy, &open, &outcome);
        }
    }
}

/// Runs a strategy until `budget` evaluations were made or it has nothing more to ask. `batch` configurations are in
/// flight at a time. `seed` is that of the noise.
pub fn simulate(
    recorded: &RecordedSpace,
    strategy: &mut dyn Strategy,
    budget: usize,
    batch: usize,
    noise: Noise,
    seed: u64,
) -> Result<Trace, SimulationError> {
    let trace = Trace { best: Vec::with_capacity(budget), infeasible: 0, again: 0, overhead: Duration::ZERO };
    let contest = Contest::new(noise.contest);
    let mut run = Run { recorded, noise, random: ChaCha8Rng::seed_from_u64(seed), contest, trace };
    let mut seen = std::collections::HashSet::new();
    let reserve = noise.contest.reserved(budget, noise.deviation);
    while run.trace.best.len() < budget {
        let left = budget - run.trace.best.len();
        let room = batch.max(1).min(if left > reserve { left - reserve } else { left });
        let started = Instant::now();
        let asked = strategy.ask(room);
        run.trace.overhead += started.elapsed();
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
            if !seen.insert(configuration.clone()) {
                continue;
            }
            fresh += 1;
            let outcome = run.evaluate(&configuration, row);
            run.tell(strategy, &configuration, &outcome);
        }
        if run.trace.best.len() + reserve >= budget {
            run.settle(strategy, budget);
        }
        if fresh == 0 {
            break;
        }
    }
    Ok(run.trace)
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
    /// How times are off.
    pub noise: Noise,
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
                        let trace = simulate(recorded, &mut *make(seed), self.budget, self.batch, self.noise, seed);
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

/// A draw that is as good as one from the standard normal distribution, the same on every machine.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}
