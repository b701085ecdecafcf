//! Tables over made-up trials.

use super::*;
use events::ablation::{BestSoFar, Finished, Trial, Variant};

fn trial(project: &str, variant: Variant, seed: u64, steps: &[(u64, f64)]) -> Trial {
    let speedup = steps.last().map_or(1.0, |step| step.1);
    let result = Finished {
        baseline_us: 100.0,
        best_us: 100.0 / speedup,
        speedup,
        evaluations: 50,
        rejected: 3,
        wall_s: 9.0,
        steps: steps
            .iter()
            .map(|&(evaluations, speedup)| BestSoFar { evaluations, wall_s: evaluations as f64 / 10.0, speedup })
            .collect(),
        host_gain: 1.0,
        kernel_gain: speedup,
        motifs: vec!["D01".into()],
        ended: String::new(),
    };
    Trial {
        inputs: String::new(),
        operator: project.to_owned(),
        project: project.to_owned(),
        variant,
        seed,
        budget: 50,
        result: Ok(result),
    }
}

fn failed(project: &str, variant: Variant) -> Trial {
    Trial { result: Err("host/x.cpp:3: no".to_owned()), ..trial(project, variant, 1, &[]) }
}

#[test]
fn failures_count_as_nothing_gained_and_are_told() {
    let trials = vec![trial("a", Variant::Full, 1, &[(4, 4.0)]), failed("b", Variant::Full)];
    let report = summarise("M", "1", 50, trials);
    let full = &report.variants[0];
    assert_eq!((full.trials, full.failed, full.geometric_mean), (2, 1, 2.0));
    assert_eq!(full.reached.iter().map(|reached| reached.share).collect::<Vec<_>>(), [0.5; 5]);
    let page = render(&report, "command");
    assert!(page.contains("- `b`, full, seed 1: host/x.cpp:3: no"), "{page}");
    assert!(page.contains("| b |  | failed |"), "{page}");
}

#[test]
fn evaluations_until_the_same_result_are_compared_by_operator_and_seed() {
    let trials = vec![
        trial("a", Variant::NoBank, 1, &[(10, 1.5), (40, 2.0)]),
        trial("a", Variant::Full, 1, &[(10, 2.5)]),
        trial("b", Variant::NoBank, 1, &[(20, 3.0)]),
        trial("b", Variant::Full, 1, &[(20, 1.5)]),
        // Nothing was gained: nothing to need evaluations for.
        trial("c", Variant::NoBank, 1, &[]),
        trial("c", Variant::Full, 1, &[(9, 1.1)]),
    ];
    let report = summarise("M", "1", 50, trials);
    let without = report.variants.iter().find(|summary| summary.variant == Variant::NoBank).unwrap();
    assert_eq!((without.full_needs, without.full_gets_there), (Some(0.25), Some(0.5)));
    assert_eq!(report.variants[0].full_needs, None);
    let two = without.reached.last().unwrap();
    assert_eq!((two.share, two.evaluations, two.wall_s), (2.0 / 3.0, Some(30.0), Some(3.0)));
}
