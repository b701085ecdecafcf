//! Blocks that stand for all: which are chosen, what they write, and what speaks against it.

use super::super::sample::{BlockSample, NoSample, WrittenRange};
use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region};
use super::super::{Machine, Options, analyse};

const TILE: u64 = 4096;

fn sample(trace: &TraceBuilder) -> Result<BlockSample, NoSample> {
    let machine = Machine::named("ascend910b1").unwrap();
    let options = Options { sample: true, ..Options::default() };
    let report = analyse(&trace.build(), &machine, &options).unwrap().remove(0);
    report.sample.expect("it was asked for")
}

/// A block that adds two tiles of its own and stores them at `to` bytes of the output.
fn block(core: &mut CoreBuilder, tile: u64, to: u64) -> &mut CoreBuilder {
    core.load(0, region(0) + tile * TILE, TILE as u32)
        .order(pipe::MTE2, pipe::V, 0)
        .add(8192, 0, 0, TILE as u32 / 2)
        .order(pipe::V, pipe::MTE3, 0)
        .store(region(1) + to, 8192, TILE as u32)
}

/// Blocks with digests, each with a tile of its own.
fn launch(digests: &[u32]) -> TraceBuilder {
    launch_with(digests, |_, _| {})
}

/// The same with more at the end of each block.
fn launch_with(digests: &[u32], more: impl Fn(&mut CoreBuilder, u64)) -> TraceBuilder {
    let mut trace = TraceBuilder::default();
    let bytes = digests.len() as u64 * TILE;
    trace.with_region(0, bytes, 0).with_region(1, bytes, 1);
    for (index, digest) in digests.iter().enumerate() {
        let core = block(trace.core(index as u32), index as u64, index as u64 * TILE);
        more(core, index as u64);
        core.end_with(*digest);
    }
    trace
}

fn range(from: u64, bytes: u64) -> WrittenRange {
    WrittenRange { output: 1, from, bytes }
}

#[test]
fn the_first_and_the_last_block_stand_for_alike_ones() {
    let found = sample(&launch(&[7; 9])).unwrap();
    assert_eq!((found.blocks, found.of), (vec![0, 8], 9));
    assert_eq!(found.written, [range(0, TILE), range(8 * TILE, TILE)]);
}

#[test]
fn blocks_that_compute_with_other_values_are_of_another_kind() {
    let found = sample(&launch(&[7, 8, 7, 8, 7, 8, 7, 8, 7, 8])).unwrap();
    assert_eq!(found.blocks, [0, 1, 8, 9]);
    assert_eq!(found.written, [range(0, 2 * TILE), range(8 * TILE, 2 * TILE)], "ranges that touch are one");
    assert_eq!(sample(&launch(&[1, 2, 3, 4, 5, 6])), Err(NoSample::Unlike { chosen: 6, of: 6 }));
    assert_eq!(sample(&launch(&[7, 7, 7])), Err(NoSample::Unlike { chosen: 2, of: 3 }));
}

#[test]
fn values_change_neither_timing_nor_hazards() {
    let machine = Machine::named("ascend910b1").unwrap();
    let judged = |digests: &[u32]| {
        // Something to say about every block.
        let trace = launch_with(digests, |core, index| {
            core.load(0, region(0) + index * TILE, 64).add(16384, 0, 0, 32);
        });
        let report = analyse(&trace.build(), &machine, &Options::default()).unwrap().remove(0);
        assert!(report.sample.is_none(), "nobody asked");
        (report.profile, report.hazards)
    };
    let (same, other) = (judged(&[7; 6]), judged(&[1, 2, 3, 4, 5, 6]));
    assert!(!same.1.is_empty());
    assert_eq!(same, other);
}

#[test]
fn a_block_like_no_other_runs_as_well() {
    let mut trace = launch_with(&[7; 9], |core, index| {
        if index == 4 {
            core.order(pipe::MTE3, pipe::V, 1).order(pipe::V, pipe::MTE3, 1).store(region(2), 8192, TILE as u32);
        }
    });
    trace.with_region(2, TILE, 1);
    let found = sample(&trace).unwrap();
    assert_eq!(found.blocks, [0, 4, 8]);
    assert_eq!(
        found.written[1..],
        [range(4 * TILE, TILE), range(8 * TILE, TILE), WrittenRange { output: 2, from: 0, bytes: TILE }]
    );
}

#[test]
fn strided_writes_are_ranges_each() {
    let mut trace = TraceBuilder::default();
    trace.with_region(1, 6 * 64 * 4, 1);
    for index in 0..6 {
        let parts = [Part::gm_write(region(1) + u64::from(index) * 64, 64).rows(4, 6 * 64), Part::ub_read(0, 256)];
        let core = trace.core(index);
        core.record("vector_dup", pipe::V, 2, 0, 4, [64, 0, 0], &[Part::ub_write(0, 256)]).order(
            pipe::V,
            pipe::MTE3,
            0,
        );
        core.record("copy_ubuf_to_gm", pipe::MTE3, 1, 0, 4, [0, 256, 64], &parts).end_with(3);
    }
    let found = sample(&trace).unwrap();
    // The last block of a row lies next to the first one of the next.
    let expected = [range(0, 64), range(320, 128), range(704, 128), range(1088, 128), range(1472, 64)];
    assert_eq!((found.blocks, found.written), (vec![0, 5], expected.to_vec()));
}

#[test]
fn what_speaks_against_it() {
    let waits = launch_with(&[7; 9], |core, _| {
        core.sync_all();
    });
    assert_eq!(sample(&waits), Err(NoSample::CoresTalk));

    let mut cube = launch(&[7; 9]);
    assert_eq!(sample(cube.on("aic")), Err(NoSample::CubeCores));

    let mut died = launch(&[7; 9]);
    assert_eq!(sample(died.aborted(true)), Err(NoSample::Unfinished));

    // Every block writes where the first one does.
    let mut race = TraceBuilder::default();
    race.with_region(0, 9 * TILE, 0).with_region(1, TILE, 1);
    for core in 0..9 {
        block(race.core(core), core.into(), 0).end_with(7);
    }
    assert_eq!(sample(&race), Err(NoSample::Hazards));

    // Every block reads what the one before it has written.
    let mut chain = TraceBuilder::default();
    chain.with_region(0, 9 * TILE, 0).with_region(1, 10 * TILE, 5);
    for core in 0..9 {
        let own = u64::from(core);
        block(chain.core(core), own, (own + 1) * TILE).load(16384, region(1) + own * TILE, TILE as u32).end_with(7);
    }
    assert_eq!(sample(&chain), Err(NoSample::Hazards));

    let mut adds = launch_with(&[7; 9], |core, index| {
        let parts = [Part::gm_update(region(2) + index * 64, 64), Part::ub_read(8192, 64)];
        core.record("copy_ubuf_to_gm", pipe::MTE3, 2, 2, 1, [0, 64, 64], &parts);
    });
    adds.with_region(2, 9 * 64, 5);
    assert_eq!(sample(&adds), Err(NoSample::Atomics));

    let mut scattered = TraceBuilder::default();
    scattered.with_region(1, 9 * (1 << 22), 5);
    for core in 0..9 {
        let own = scattered.core(core);
        own.record("vector_dup", pipe::V, 2, 0, 4, [64, 0, 0], &[Part::ub_write(0, 32)]).order(pipe::V, pipe::MTE3, 0);
        for row in 0..20 {
            let first = region(1) + u64::from(core) * (1 << 22) + row * 4095 * 40;
            let parts = [Part::gm_write(first, 32).rows(4095, 40), Part::ub_read(0, 32)];
            own.record("copy_ubuf_to_gm", pipe::MTE3, 1, 0, 4095, [0, 32, 32], &parts);
        }
        own.end_with(7);
    }
    assert_eq!(sample(&scattered), Err(NoSample::Scattered));
}
