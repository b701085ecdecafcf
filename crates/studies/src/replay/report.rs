//! What a replay found: per space and strategy, beside the peers, and over all spaces.

use std::collections::BTreeMap;

use super::recorded::RecordedSpace;
use super::simulation::{Bench, SimulationError, Trace};
use super::statistics::{expected_best_of_random, summarise};
use events::replay::{EngineResult, PeerRow, ReplayReport, SpaceResult, StrategyResult, engine_name};
use search::StrategyKind;

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
