//! What launches find in caches.

use super::super::testing::TraceBuilder;
use super::super::{Machine, Options, Recording, Warmth, analyse};

/// Launches that all read the same megabyte.
fn trace(launches: usize) -> Vec<u8> {
    let mut builder = TraceBuilder::default();
    let core = builder.core(0);
    for part in 0..32_u64 {
        core.load(0, part << 15, 1 << 15);
    }
    core.end();
    let one = builder.build();
    let magic = b"ASCTRC02".len();
    [&one[..magic], &one[magic..].repeat(launches)].concat()
}

#[test]
fn a_launch_finds_what_its_measurement_leaves_it() {
    let machine = Machine::named("ascend910b2").unwrap();
    let us = |launches: usize, number: usize, warmth: Warmth| {
        let bytes = trace(launches);
        let found = Recording::of(&bytes).unwrap().profiles(&machine, &[number], warmth);
        let options = Options { warmth, ..Options::default() };
        let reports = analyse(&trace(launches), &machine, &options).unwrap();
        // Both doors say the same.
        assert_eq!(found[&number].task_us.to_bits(), reports[number].profile.task_us.to_bits(), "{warmth:?}");
        found[&number].task_us
    };
    let cold = us(1, 0, Warmth::Cold);
    let (flushed, repeated) = (us(1, 0, Warmth::Flushed), us(1, 0, Warmth::Repeated));
    // Its code is there, and then its data as well.
    let start = machine.constants["cold_start_us"].value;
    assert!((cold - flushed - start).abs() < 1e-9, "{cold} {flushed} {start}");
    assert!(repeated < 0.9 * flushed, "{repeated} {flushed}");
    assert_eq!(us(1, 0, Warmth::Kept).to_bits(), cold.to_bits());
    assert_eq!(us(2, 1, Warmth::Kept).to_bits(), repeated.to_bits());
    assert_eq!(us(2, 1, Warmth::Cold).to_bits(), cold.to_bits());
}
