//! What a replay found: per space and strategy, beside the peers, and over all spaces.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::peers::PeerRow;
use super::recorded::RecordedSpace;
use super::simulation::{Bench, SimulationError, Trace};
use super::statistics::{BudgetResult, expected_best_of_random, summarise};
use crate::search::StrategyKind;

/// Result of `replay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayReport {
    /// Evaluations at which results are given, ascending.
    pub budgets: Vec<usize>,
    /// Runs of each strategy on each space.
    pub seeds: u64,
    /// Configurations in flight.
    pub batch: usize,
    /// Standard deviation of measured times as a share of the recorded ones.
    #[serde(default)]
    pub noise: f64,
    /// The spaces.
    pub spaces: Vec<SpaceResult>,
    /// Every engine over all spaces, ours first, by budget.
    pub engines: Vec<EngineResult>,
}

/// One space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpaceResult {
    /// Its name.
    pub space: String,
    /// What was measured where.
    pub about: String,
    /// Configurations.
    pub configurations: usize,
    /// Those without a time.
    pub infeasible: usize,
    /// The least time.
    pub optimum: f64,
    /// Unit of times.
    pub unit: String,
    /// Expected best of uniform random search over the optimum, by budget.
    pub random: Vec<f64>,
    /// Our strategies.
    pub strategies: Vec<StrategyResult>,
    /// Rows of peers on this space at these budgets.
    pub peers: Vec<PeerRow>,
}

/// One strategy on one space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrategyResult {
    /// Its name.
    pub strategy: String,
    /// Figures by budget.
    pub results: Vec<BudgetResult>,
    /// Mean of best found over optimum after each evaluation.
    #[serde(skip)]
    pub curve: Vec<f64>,
    /// Evaluations of a run that measured a configuration once more, as a mean over the runs.
    #[serde(default)]
    pub again: f64,
    /// Time that the strategy itself took per evaluation, in milliseconds, with everything else on the machine.
    pub overhead_ms: f64,
}

/// One engine over all spaces where it has figures, at one budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineResult {
    /// `ascend-tune STRATEGY`, or the name of the peer.
    pub engine: String,
    /// Whether it is one of ours.
    pub ours: bool,
    /// Evaluations.
    pub budget: usize,
    /// Spaces with figures.
    pub spaces: usize,
    /// Geometric mean over spaces of mean best found over optimum.
    pub geometric_mean_ratio: f64,
    /// Mean score over spaces that have one.
    pub score: Option<f64>,
    /// Spaces on which its mean is no worse than that of the best peer; nothing without peers.
    pub no_worse_than_best_peer: Option<usize>,
}

/// Name of a strategy of ours among engines.
pub fn engine_name(strategy: &str) -> String {
    format!("ascend-tune {strategy}")
}

/// Runs strategies on spaces. `bench.budget` is the largest of `budgets`.
pub fn replay(
    spaces: &[RecordedSpace],
    strategies: &[StrategyKind],
    budgets: &[usize],
    bench: Bench,
    peers: &[PeerRow],
    mut done: impl FnMut(&SpaceResult),
) -> Result<ReplayReport, SimulationError> {
    let mut results = Vec::new();
    for recorded in spaces {
        let mut of_strategies = Vec::new();
        for kind in strategies {
            let traces = bench.run(recorded, &|seed| kind.build(&recorded.space, seed))?;
            of_strategies.push(strategy_result(recorded, *kind, budgets, &traces));
        }
        let wanted = |row: &&PeerRow| row.space == recorded.name && budgets.contains(&row.budget);
        let result = SpaceResult {
            space: recorded.name.clone(),
            about: recorded.about.clone(),
            configurations: recorded.len(),
            infeasible: recorded.len() - recorded.times().len(),
            optimum: recorded.optimum(),
            unit: recorded.unit.clone(),
            random: budgets
                .iter()
                .map(|budget| expected_best_of_random(recorded, *budget) / recorded.optimum())
                .collect(),
            strategies: of_strategies,
            peers: peers.iter().filter(wanted).cloned().collect(),
        };
        done(&result);
        results.push(result);
    }
    let engines = engines(&results, budgets);
    let noise = bench.noise.deviation;
    Ok(ReplayReport {
        budgets: budgets.to_vec(),
        seeds: bench.seeds,
        batch: bench.batch,
        noise,
        spaces: results,
        engines,
    })
}

fn strategy_result(
    recorded: &RecordedSpace,
    kind: StrategyKind,
    budgets: &[usize],
    traces: &[Trace],
) -> StrategyResult {
    let longest = traces.iter().map(|trace| trace.best.len()).max().unwrap_or(0);
    let mean = |count: usize| {
        let sum: f64 = traces.iter().map(|trace| trace.best_after(count, recorded.worst())).sum();
        sum / traces.len() as f64 / recorded.optimum()
    };
    let evaluations: usize = traces.iter().map(|trace| trace.best.len()).sum();
    let overhead: f64 = traces.iter().map(|trace| trace.overhead.as_secs_f64()).sum();
    StrategyResult {
        strategy: kind.name().to_owned(),
        results: budgets.iter().map(|budget| summarise(recorded, traces, *budget)).collect(),
        curve: (1..=longest).map(mean).collect(),
        again: traces.iter().map(|trace| trace.again as f64).sum::<f64>() / traces.len().max(1) as f64,
        overhead_ms: 1e3 * overhead / evaluations.max(1) as f64,
    }
}

fn engines(spaces: &[SpaceResult], budgets: &[usize]) -> Vec<EngineResult> {
    /// Mean ratio and score on every space.
    type Figures = BTreeMap<(bool, String, usize), Vec<(f64, Option<f64>, Option<bool>)>>;
    let mut figures = Figures::new();
    for space in spaces {
        for (position, budget) in budgets.iter().enumerate() {
            let of_peers = space.peers.iter().filter(|row| row.budget == *budget);
            let best = of_peers.clone().map(|row| row.mean_ratio).min_by(f64::total_cmp);
            for strategy in &space.strategies {
                let result = &strategy.results[position];
                let key = (false, engine_name(&strategy.strategy), *budget);
                let no_worse = best.map(|best| result.mean_ratio <= best);
                figures.entry(key).or_default().push((result.mean_ratio, result.score, no_worse));
            }
            for row in of_peers {
                let no_worse = best.map(|best| row.mean_ratio <= best);
                let key = (true, row.engine.clone(), *budget);
                figures.entry(key).or_default().push((row.mean_ratio, row.score, no_worse));
            }
        }
    }
    figures
        .into_iter()
        .map(|((peer, engine, budget), rows)| {
            let logarithms: f64 = rows.iter().map(|row| row.0.ln()).sum();
            let scores: Vec<f64> = rows.iter().filter_map(|row| row.1).collect();
            let compared = rows.iter().any(|row| row.2.is_some());
            EngineResult {
                engine,
                ours: !peer,
                budget,
                spaces: rows.len(),
                geometric_mean_ratio: (logarithms / rows.len() as f64).exp(),
                score: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
                no_worse_than_best_peer: compared.then(|| rows.iter().filter(|row| row.2 == Some(true)).count()),
            }
        })
        .collect()
}

impl ReplayReport {
    /// Our rows in the columns of `peers.csv`.
    pub fn rows(&self) -> Vec<PeerRow> {
        let mut rows = Vec::new();
        for space in &self.spaces {
            for strategy in &space.strategies {
                let engine = engine_name(&strategy.strategy);
                rows.extend(strategy.results.iter().map(|result| PeerRow::new(&space.space, &engine, result)));
            }
        }
        rows
    }

    /// Names of all engines, ours first, then by the geometric mean at the largest budget.
    pub fn ranking(&self) -> Vec<&str> {
        let last = self.budgets.last().copied().unwrap_or(0);
        let mut at_last: Vec<&EngineResult> = self.engines.iter().filter(|engine| engine.budget == last).collect();
        at_last.sort_by(|left, right| {
            let key = |engine: &EngineResult| (!engine.ours, engine.geometric_mean_ratio);
            let (left, right) = (key(left), key(right));
            left.0.cmp(&right.0).then(left.1.total_cmp(&right.1))
        });
        let mut seen = BTreeSet::new();
        at_last.into_iter().map(|engine| engine.engine.as_str()).filter(|name| seen.insert(*name)).collect()
    }
}
