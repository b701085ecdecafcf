//! What the trials say together.

use events::ablation::{AblationReport, Reached, THRESHOLDS, Trial, Variant, VariantSummary};

/// Sums up. Trials are sorted, so that their order of arrival does not matter.
pub fn summarise(machine: &str, machine_version: &str, budget: u64, mut trials: Vec<Trial>) -> AblationReport {
    trials.sort_by(|left, right| {
        (&left.project, left.variant, left.seed).cmp(&(&right.project, right.variant, right.seed))
    });
    let variants = Variant::ALL.into_iter().filter_map(|variant| of_variant(variant, &trials)).collect();
    AblationReport {
        machine: machine.to_owned(),
        machine_version: machine_version.to_owned(),
        budget,
        variants,
        trials,
    }
}

fn of_variant(variant: Variant, all: &[Trial]) -> Option<VariantSummary> {
    let trials: Vec<&Trial> = all.iter().filter(|trial| trial.variant == variant).collect();
    if trials.is_empty() {
        return None;
    }
    let count = trials.len() as f64;
    let reached = THRESHOLDS.map(|speedup| {
        let steps: Vec<_> = trials.iter().filter_map(|trial| trial.reached(speedup)).collect();
        Reached {
            speedup,
            share: trials.iter().filter(|trial| trial.speedup() >= speedup).count() as f64 / count,
            evaluations: median(steps.iter().map(|step| step.evaluations as f64)),
            wall_s: median(steps.iter().map(|step| step.wall_s)),
        }
    });
    let pairs: Vec<Option<f64>> = if variant == Variant::Full {
        Vec::new()
    } else {
        trials.iter().filter_map(|trial| needs(trial, all)).collect()
    };
    Some(VariantSummary {
        variant,
        trials: trials.len(),
        failed: trials.iter().filter(|trial| trial.result.is_err()).count(),
        geometric_mean: (trials.iter().map(|trial| trial.speedup().ln()).sum::<f64>() / count).exp(),
        evaluations: median(trials.iter().filter_map(|trial| Some(trial.result.as_ref().ok()?.evaluations as f64)))
            .unwrap_or(0.0),
        reached: reached.to_vec(),
        full_needs: median(pairs.iter().flatten().copied()),
        full_gets_there: (!pairs.is_empty())
            .then(|| pairs.iter().filter(|pair| pair.is_some()).count() as f64 / pairs.len() as f64),
    })
}

/// Evaluations of the whole tuner for this trial's result over this trial's own; `Some(None)` if it does not get there,
/// `None` where there is nothing to compare: a trial that gained nothing needs no evaluations.
fn needs(trial: &Trial, all: &[Trial]) -> Option<Option<f64>> {
    /// As good as the same.
    const SAME: f64 = 0.999;
    let own = trial.reached(trial.speedup() * SAME).filter(|_| trial.speedup() >= THRESHOLDS[0])?;
    let full = all
        .iter()
        .find(|other| other.variant == Variant::Full && other.project == trial.project && other.seed == trial.seed)?;
    let there = full.reached(trial.speedup() * SAME);
    Some(there.map(|step| step.evaluations as f64 / own.evaluations.max(1) as f64))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}
