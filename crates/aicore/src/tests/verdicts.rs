//! Judging alike cores once, and operands by classes of bytes, changes no verdict: kinds, sites, counts and messages are
//! those of the way that looks at every row of every core.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region, space};
use super::super::{Hazard, HazardKind, Machine, Options, analyse};

fn hazards(trace: &[u8], shortcuts: bool) -> Vec<Hazard> {
    let machine = Machine::named("ascend910b1").unwrap();
    let options = Options { shortcuts, ..Options::default() };
    analyse(trace, &machine, &options).unwrap().remove(0).hazards
}

/// Bytes that lie close together, so that operands meet: one piece, rows, rows of rows, pieces over one another.
fn bytes(random: &mut ChaCha8Rng, make: impl Fn(u64, u32) -> Part) -> Part {
    let at = 32 * random.random_range(0..48_u64) + random.random_range(0..8_u64) / 7;
    let len = [4, 32, 32, 64, 96, 512][random.random_range(0..6_usize)];
    let part = make(at, len);
    match random.random_range(0..8) {
        0..3 => part,
        3 => part.rows(8, 64),
        4 => part.rows(random.random_range(1..12), 32 * random.random_range(0..5)),
        5 => part.rows(4, 128).outer(3, 32),
        6 => part.rows(4, i64::from(len)).outer(2, 1024),
        _ => part.rows(random.random_range(2..5), -32),
    }
}

fn emit(random: &mut ChaCha8Rng, core: &mut CoreBuilder, base: &dyn Fn(u64) -> u64) {
    const PIPES: [u8; 4] = [pipe::S, pipe::V, pipe::MTE2, pipe::MTE3];
    let flags = if random.random_range(0..6) == 0 { 2 } else { 0 };
    let gm = |random: &mut ChaCha8Rng, make: fn(u64, u32) -> Part| {
        let tensor = random.random_range(0..3_u64);
        let at = region(tensor) + (1 << 20) + base(tensor) + 64 * random.random_range(0..16_u64);
        let part = make(at, 64);
        if random.random_range(0..3) == 0 { part.rows(4, 256) } else { part }
    };
    match random.random_range(0..17) {
        0..3 => {
            let parts = [bytes(random, Part::ub_write), gm(random, Part::gm_read)];
            core.record("copy_gm_to_ubuf", pipe::MTE2, 1, flags, 0, [0, 64, 64], &parts)
        }
        3..5 => {
            let parts = [gm(random, Part::gm_write), bytes(random, Part::ub_read)];
            core.record("copy_ubuf_to_gm", pipe::MTE3, 1, flags, 0, [0, 64, 64], &parts)
        }
        5..9 => {
            let parts = [bytes(random, Part::ub_write), bytes(random, Part::ub_read), bytes(random, Part::ub_read)];
            core.record("vadd", pipe::V, 1, 0, 4, [0; 3], &parts)
        }
        9 => {
            let parts = [bytes(random, Part::ub_read), bytes(random, Part::ub_write), gm(random, Part::gm_read)];
            core.scalar(1, 1, &parts[..random.random_range(1..4_usize)])
        }
        10 => {
            let unit = 2 * random.random_range(0..2_u16);
            let parts = [bytes(random, |at, len| Part::update(space::L0C, at, len))];
            core.record("mad", pipe::M, 1, 0, unit, [16; 3], &parts)
        }
        11 => {
            let unit = 2 * random.random_range(0..2_u16);
            let parts = [gm(random, Part::gm_write), bytes(random, |at, len| Part::read(space::L0C, at, len))];
            core.record("copy_matrix_cc_to_gm", pipe::FIX, 1, flags, unit, [0, 64, 64], &parts)
        }
        12..14 => {
            let from = random.random_range(0..4_usize);
            let to = (from + random.random_range(1..4_usize)) % 4;
            core.order(PIPES[from], PIPES[to], random.random_range(0..3))
        }
        14 => core.barrier(PIPES[random.random_range(1..4_usize)]),
        15 => core.barrier_all(),
        _ => match random.random_range(0..6) {
            0 => core.wait(pipe::V, pipe::MTE2, 7),
            1 => core.note("polls global memory"),
            2 => core.fault(1, "behind the tensor"),
            3 => core.record("buffer", pipe::S, 0, 0, 0, [random.random_range(0..3), 256, 512], &[]),
            _ => core.set(pipe::V, pipe::MTE2, random.random_range(4..9)),
        },
    };
}

#[test]
fn shortcuts_change_no_verdict() {
    let (mut found, mut clean) = (std::collections::BTreeMap::<HazardKind, u32>::new(), 0);
    for seed in 0..400_u64 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let blocks = random.random_range(1..7_u32);
        let length = random.random_range(3..60);
        let kernels = random.random_range(1..3_u64);
        let step = [0, 64, 100, 4096][random.random_range(0..4_usize)];
        let mut trace = TraceBuilder::default();
        trace.with_region(0, 1 << 24, 0).with_region(1, 1 << 24, 1).with_region(2, 1 << 24, 2);
        for block in 0..blocks {
            // Tensors that the blocks go through at different steps, and one at steps that are not equal.
            let block_number = u64::from(block);
            let base = |tensor: u64| match tensor {
                2 if seed % 3 == 0 => block_number * block_number * 64,
                tensor => block_number * step * tensor,
            };
            let mut same = ChaCha8Rng::seed_from_u64(seed + 1000 + block_number % kernels);
            let core = trace.core(block);
            if seed % 5 != 0 {
                core.at(900).scalar(1, 0, &[Part::ub_write(0, 4096), Part::write(space::L0C, 0, 4096)]).barrier_all();
            }
            for line in 0..length {
                emit(&mut same, core.at(line + 1), &base);
                if seed % 4 == 0 {
                    core.barrier_all();
                }
            }
            if seed % 9 == 0 {
                core.at(901).sync_all();
            }
            core.at(902).end();
        }
        let bytes = trace.build();
        let (with, without) = (hazards(&bytes, true), hazards(&bytes, false));
        assert_eq!(with, without, "seed {seed}, {blocks} blocks {step} bytes apart");
        clean += u32::from(with.is_empty());
        for hazard in with {
            *found.entry(hazard.kind).or_default() += 1;
        }
    }
    // The comparison means something: all kinds that programs like these can have are there, more than once.
    use HazardKind::{CrossCoreRace, Deadlock, FlagMisuse, QueueMisuse, Race, UninitialisedRead, UnwrittenOutput};
    for kind in [Race, CrossCoreRace, Deadlock, FlagMisuse, QueueMisuse, UninitialisedRead, UnwrittenOutput] {
        assert!(found.get(&kind).is_some_and(|count| *count > 10), "{kind:?}: {found:?}, {clean} clean");
    }
}

#[test]
fn every_alike_core_counts() {
    let count = |cores: u32| {
        let mut trace = TraceBuilder::default();
        for core in 0..cores {
            let base = u64::from(core) * 8192;
            let core = trace.core(core);
            core.at(1).load(0, region(0) + base, 8192);
            core.at(2).record("vabs", pipe::V, 1, 0, 8, [0; 3], &[Part::ub_write(8192, 32), Part::ub_read(0, 32)]);
            core.at(3).end();
        }
        let bytes = trace.build();
        let found = hazards(&bytes, true);
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0].count
    };
    assert_eq!((count(1), count(8)), (1, 8));
}
