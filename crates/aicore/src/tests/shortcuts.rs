//! Playing alike blocks once and remembering costs changes nothing but the time that a play takes: every figure is the
//! same to the last bit.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region};
use super::super::{Machine, Options, Profile, analyse};

fn profile(trace: &[u8], shortcuts: bool) -> Profile {
    let machine = Machine::named("ascend910b1").unwrap();
    let options = Options { hazards: false, shortcuts, ..Options::default() };
    analyse(trace, &machine, &options).unwrap().remove(0).profile
}

#[derive(Clone, Copy)]
enum Item {
    Load { ub: u64, tile: u64, bytes: u32 },
    Store { ub: u64, tile: u64, bytes: u32 },
    Add { dst: u64, src: u64, count: u32 },
    Rows { ub: u64 },
    Scalar { ub: u64 },
    Table { at: u64 },
    Order { from: u8, to: u8, id: u32 },
    BarrierAll,
}

impl Item {
    fn random(random: &mut ChaCha8Rng) -> Self {
        const PIPES: [u8; 4] = [pipe::S, pipe::V, pipe::MTE2, pipe::MTE3];
        let ub = 8192 * random.random_range(0..8_u64);
        let (tile, bytes) = (random.random_range(0..6_u64), 32 * random.random_range(1..256_u32));
        match random.random_range(0..14) {
            0..3 => Self::Load { ub, tile, bytes },
            3..5 => Self::Store { ub, tile, bytes },
            5..8 => Self::Add { dst: ub, src: 8192 * random.random_range(0..8_u64), count: bytes / 2 },
            8 => Self::Rows { ub },
            9 => Self::Scalar { ub },
            10 => Self::Table { at: 64 * random.random_range(0..4_u64) },
            11..13 => {
                let from = random.random_range(0..4_usize);
                Self::Order {
                    from: PIPES[from],
                    to: PIPES[(from + random.random_range(1..4_usize)) % 4],
                    id: random.random_range(0..4),
                }
            }
            _ => Self::BarrierAll,
        }
    }

    /// The item of a block whose part of the tensors begins at `base`.
    fn emit(self, core: &mut CoreBuilder, base: u64) {
        match self {
            Self::Load { ub, tile, bytes } => core.load(ub, region(0) + base + tile * 8192, bytes),
            Self::Store { ub, tile, bytes } => core.store(region(1) + 2 * base + tile * 8192, ub, bytes),
            Self::Add { dst, src, count } => core.add(dst, src, 65536, count),
            Self::Rows { ub } => {
                let parts = [Part::ub_write(ub, 32).rows(32, 64), Part::ub_read(65536, 32).rows(32, 128)];
                core.record("vadd", pipe::V, 1, 0, 4, [0; 3], &parts)
            }
            Self::Scalar { ub } => core.scalar(1, 2, &[Part::ub_read(ub, 4)]),
            Self::Table { at } => core.scalar(0, 1, &[Part::gm_read(region(2) + base + at, 8)]),
            Self::Order { from, to, id } => core.order(from, to, id),
            Self::BarrierAll => core.barrier_all(),
        };
    }
}

#[test]
fn shortcuts_change_no_figure() {
    let mut alike = 0;
    for seed in 0..120 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // More blocks than cores in some, so that blocks take turns.
        let blocks = if seed % 4 == 0 { random.random_range(49..130_u32) } else { random.random_range(2..48_u32) };
        let programs: Vec<Vec<Item>> = (0..random.random_range(1..4))
            .map(|_| (0..random.random_range(3..50)).map(|_| Item::random(&mut random)).collect())
            .collect();
        // Parts that share bytes, that all read the same, that lie apart, or off the alignment: copies of alike blocks
        // then end at different times.
        let step = [0, 512, 4096, 65536, 96][random.random_range(0..5_usize)];
        let mut trace = TraceBuilder::default();
        for block in 0..blocks {
            let program = &programs[(block as usize * 7 / blocks as usize).min(programs.len() - 1)];
            for item in program {
                item.emit(trace.core(block), u64::from(block) * step);
            }
            if seed % 7 == 0 {
                trace.core(block).sync_all();
            }
            trace.core(block).end();
        }
        let bytes = trace.build();
        let (with, without) = (profile(&bytes, true), profile(&bytes, false));
        assert_eq!(with, without, "seed {seed}, {blocks} blocks {step} bytes apart");
        alike += u32::from(blocks > 1);
    }
    assert!(alike > 100);
}

#[test]
fn blocks_that_differ_in_one_length_are_told_apart() {
    let times = |odd: u32| {
        let mut trace = TraceBuilder::default();
        for block in 0..8_u32 {
            let count = if block == 5 { odd } else { 4096 };
            trace.core(block).load(0, region(0) + u64::from(block) * 8192, 8192).order(pipe::MTE2, pipe::V, 0);
            trace.core(block).add(16384, 0, 65536, count).end();
        }
        let profile = profile(&trace.build(), true);
        (profile.longest_core_us, profile.shortest_core_us)
    };
    let (even, odd) = (times(4096), times(2048));
    assert_eq!(even.0, even.1);
    assert!(odd.0 == even.0 && odd.1 < even.1, "{odd:?} against {even:?}");
}
