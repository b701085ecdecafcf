//! What `replay` says: strategies on recorded spaces beside the peers, and settings that were searched for.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of `replay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// One space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// What the runs of one strategy on one space had reached at one budget. The columns of `peers.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetResult {
    /// Evaluations.
    pub budget: usize,
    /// Runs.
    pub repeats: usize,
    /// Median of best found over optimum.
    pub median_ratio: f64,
    /// Mean of best found over optimum.
    pub mean_ratio: f64,
    /// 90th percentile of best found over optimum.
    pub p90_ratio: f64,
    /// Share of runs within 1 % of the optimum.
    pub hit1pct: f64,
    /// Share of the gap between random search's expectation and the optimum that the mean closes: 0 is random search, 1
    /// the optimum, never below -1. `None` where random search is expected within 0.1 % of the optimum.
    pub score: Option<f64>,
}

/// One row: what an engine reached on a space at a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerRow {
    /// Name of the space.
    pub space: String,
    /// Name of the engine and its strategy.
    pub engine: String,
    /// Evaluations.
    pub budget: usize,
    /// Runs.
    pub repeats: usize,
    /// Median of best found over optimum.
    pub median_ratio: f64,
    /// Mean of best found over optimum.
    pub mean_ratio: f64,
    /// 90th percentile of best found over optimum.
    pub p90_ratio: f64,
    /// Share of runs within 1 % of the optimum.
    pub hit1pct: f64,
    /// See [`BudgetResult::score`].
    pub score: Option<f64>,
}

impl PeerRow {
    /// The row of a result of ours.
    pub fn new(space: &str, engine: &str, result: &BudgetResult) -> Self {
        Self {
            space: space.to_owned(),
            engine: engine.to_owned(),
            budget: result.budget,
            repeats: result.repeats,
            median_ratio: result.median_ratio,
            mean_ratio: result.mean_ratio,
            p90_ratio: result.p90_ratio,
            hit1pct: result.hit1pct,
            score: result.score,
        }
    }
}

/// What a search for settings found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsReport {
    /// Spaces that settings were chosen on: every second one, from the first.
    pub chosen_on: Vec<String>,
    /// Spaces that took no part in choosing.
    pub held_out: Vec<String>,
    /// The settings in use.
    pub default: SettingsResult,
    /// The settings that were best where they were chosen.
    pub best: SettingsResult,
    /// Settings tried, the default among them.
    pub tried: usize,
}

/// One choice of settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsResult {
    /// The settings in words.
    pub settings: String,
    /// Geometric mean over spaces and budgets of mean best-over-optimum, where settings are chosen.
    pub chosen_on: f64,
    /// The same on the other spaces.
    pub held_out: f64,
}
