//! Settings of the default strategy, searched for on one half of the spaces and reported on the other.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::recorded::RecordedSpace;
use super::simulation::{Bench, SimulationError};
use super::statistics::summarise;
use events::replay::{SettingsReport, SettingsResult};
use search::{Hybrid, HybridOptions, ModelOptions};

/// Draws settings, tries each on every second space, and reports the best of them and the default on both halves.
pub fn search_settings(
    spaces: &[RecordedSpace],
    budgets: &[usize],
    bench: Bench,
    trials: usize,
) -> Result<SettingsReport, SimulationError> {
    let half = |first: usize| spaces.iter().skip(first).step_by(2).collect::<Vec<_>>();
    let (chosen_on, held_out) = (half(0), half(1));
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let default = HybridOptions::default();
    let on_default = mean_ratio(&chosen_on, budgets, bench, &default)?;
    let mut best = (on_default, default.clone());
    for _ in 1..trials {
        let settings = draw(&mut random);
        let ratio = mean_ratio(&chosen_on, budgets, bench, &settings)?;
        if ratio < best.0 {
            best = (ratio, settings);
        }
    }
    let result = |settings: &HybridOptions, chosen: f64| {
        let held = mean_ratio(&held_out, budgets, bench, settings)?;
        Ok(SettingsResult { settings: describe(settings), chosen_on: chosen, held_out: held })
    };
    let names = |half: &[&RecordedSpace]| half.iter().map(|space| space.name.clone()).collect();
    Ok(SettingsReport {
        default: result(&default, on_default)?,
        best: result(&best.1, best.0)?,
        chosen_on: names(&chosen_on),
        held_out: names(&held_out),
        tried: trials.max(1),
    })
}

fn draw(random: &mut ChaCha8Rng) -> HybridOptions {
    let model = ModelOptions {
        elite: random.random_range(1..=8),
        offspring: [0, 8, 16, 32][random.random_range(0..4)],
        fresh: [16, 32, 64][random.random_range(0..3)],
        prior_length: libm::exp(random.random_range(-0.7..0.6)),
        prior_noise: random.random_range(-11.0..-4.0),
        cap: random.random_range(1.0..4.0),
        ..ModelOptions::default()
    };
    HybridOptions { initial: random.random_range(3..=8), model }
}

fn describe(settings: &HybridOptions) -> String {
    let model = &settings.model;
    format!(
        "initial {}, elite {}, offspring {}, fresh {}, prior_length {:.2}, prior_noise {:.1}, cap {:.1}",
        settings.initial, model.elite, model.offspring, model.fresh, model.prior_length, model.prior_noise, model.cap
    )
}

fn mean_ratio(
    spaces: &[&RecordedSpace],
    budgets: &[usize],
    bench: Bench,
    settings: &HybridOptions,
) -> Result<f64, SimulationError> {
    let mut sum = 0.0;
    for recorded in spaces {
        let make = |seed: u64| -> Box<dyn search::Strategy> {
            Box::new(Hybrid::new("hybrid", recorded.space.clone(), seed, settings.clone()))
        };
        let traces = bench.run(recorded, &make)?;
        sum += budgets.iter().map(|budget| summarise(recorded, &traces, *budget).mean_ratio.ln()).sum::<f64>();
    }
    Ok((sum / (spaces.len() * budgets.len()).max(1) as f64).exp())
}
