//! The add ladder at full size: modelled beside published.

use crate::support::{Project, require_tools};

/// Task durations in microseconds that the public example reports on the 910B1 for `[8192, 8192]` halves.
const PUBLISHED_US: [f64; 7] = [1_239_689.1, 6909.6, 306.58, 268.5, 264.02, 187.68, 184.52];
/// How far a modelled duration may be from the published one, as a ratio.
const RATIO: std::ops::RangeInclusive<f64> = 0.75..=1.35;

#[test]
fn modelled_durations_follow_the_published_ladder() {
    require_tools!();
    let project = Project::fixture("add_ladder");
    let ended = project.run(&["profile", "--machine", "ascend910b1"]).expect(0);
    let launches = ended.named("profile");
    assert_eq!(launches.len(), PUBLISHED_US.len());
    let mut modelled_us = Vec::new();
    for (launch, published_us) in launches.iter().zip(PUBLISHED_US) {
        assert_eq!(launch["correct"], true, "{launch}");
        assert!(launch["hazards"].as_array().expect("a list").is_empty(), "{launch}");
        assert_eq!((&launch["origin"], &launch["machine"]), (&"modelled".into(), &"Ascend910B1".into()));
        let task_us = launch["task_us"].as_f64().expect("a number");
        let ratio = task_us / published_us;
        println!(
            "variant {}: modelled {task_us:10.2} us, published {published_us:10.2} us, ratio {ratio:.3}",
            launch["launch"]
        );
        modelled_us.push(task_us);
    }
    assert!(modelled_us.is_sorted_by(|slower, faster| slower > faster), "not in the published order: {modelled_us:?}");
    for (variant, (task_us, published_us)) in modelled_us.iter().zip(PUBLISHED_US).enumerate() {
        assert!(RATIO.contains(&(task_us / published_us)), "variant {variant}: {task_us} us for {published_us} us");
    }
}
