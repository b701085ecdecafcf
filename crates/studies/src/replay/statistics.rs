//! Figures over the seeds of one space, and what random search would reach.

use super::recorded::RecordedSpace;
use super::simulation::Trace;
use events::replay::BudgetResult;

/// Share of the optimum within which random search leaves nothing to score.
const NOTHING_TO_GAIN: f64 = 1e-3;

/// Figures at one budget over all runs.
pub fn summarise(recorded: &RecordedSpace, traces: &[Trace], budget: usize) -> BudgetResult {
    let optimum = recorded.optimum();
    let mut ratios: Vec<f64> =
        traces.iter().map(|trace| trace.best_after(budget, recorded.worst()) / optimum).collect();
    ratios.sort_by(f64::total_cmp);
    let mean_ratio = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    let within = ratios.iter().filter(|ratio| **ratio <= 1.01).count();
    let random = expected_best_of_random(recorded, budget) / optimum;
    BudgetResult {
        budget,
        repeats: ratios.len(),
        median_ratio: quantile(&ratios, 0.5),
        mean_ratio,
        p90_ratio: quantile(&ratios, 0.9),
        hit1pct: within as f64 / ratios.len().max(1) as f64,
        score: (random - 1.0 > NOTHING_TO_GAIN).then(|| ((random - mean_ratio) / (random - 1.0)).max(-1.0)),
    }
}

/// Quantile with linear interpolation over ascending values.
fn quantile(ascending: &[f64], share: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    ascending[low] + (ascending[high] - ascending[low]) * (at - low as f64)
}

/// The exact expectation of the least time among `budget` different configurations drawn uniformly. A draw without a
/// feasible configuration counts as the largest time.
pub fn expected_best_of_random(recorded: &RecordedSpace, budget: usize) -> f64 {
    let (all, times) = (recorded.len(), recorded.times());
    let budget = budget.min(all);
    // Chance that none of the k best is among the draws, for k = 0, 1, ...
    let mut none = 1.0;
    let mut expected = 0.0;
    for (k, time) in times.iter().enumerate() {
        let next = none * (all - k).saturating_sub(budget) as f64 / (all - k) as f64;
        expected += (none - next) * time;
        none = next;
        if none <= 0.0 {
            break;
        }
    }
    expected + none * recorded.worst()
}
