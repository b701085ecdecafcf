//! The critical path adds up, and it is critical: what lies on it decides the time, what does not has slack.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::testing::{CoreBuilder, TraceBuilder, pipe, region};
use super::super::{Machine, Options, PathPart, Profile, analyse};

fn profile(trace: &TraceBuilder) -> Profile {
    let machine = Machine::named("ascend910b1").unwrap();
    let options = Options { hazards: false, critical_path: true, ..Options::default() };
    analyse(&trace.build(), &machine, &options).unwrap().remove(0).profile
}

fn total_us(profile: &Profile) -> f64 {
    profile.critical_path.iter().map(|step| step.time_us).sum()
}

fn assert_adds_up(profile: &Profile) {
    let (sum, whole) = (total_us(profile), profile.longest_core_us);
    assert!((sum - whole).abs() < 1e-9 * whole.max(1.0), "steps of {sum} us for a core of {whole} us");
    assert!(profile.critical_path.iter().all(|step| step.time_us >= 0.0), "{:?}", profile.critical_path);
}

fn on_one_core(emit: impl Fn(&mut CoreBuilder)) -> Profile {
    let mut trace = TraceBuilder::default();
    emit(trace.core(0));
    trace.core(0).end();
    profile(&trace)
}

/// One thing of a program; vector and scalar work can be made longer or shorter.
#[derive(Clone, Copy, Debug)]
enum Item {
    Vector { repeats: u16 },
    Scalar { operations: u32 },
    Load { bytes: u32 },
    Store { bytes: u32 },
    Order { from: u8, to: u8, id: u32 },
    Barrier { pipe: u8 },
    BarrierAll,
}

impl Item {
    fn random(random: &mut ChaCha8Rng) -> Self {
        const PIPES: [u8; 4] = [pipe::S, pipe::V, pipe::MTE2, pipe::MTE3];
        match random.random_range(0..16) {
            0..6 => Self::Vector { repeats: random.random_range(2..200) },
            6..8 => Self::Scalar { operations: random.random_range(2..300) },
            8..10 => Self::Load { bytes: 32 * random.random_range(1..300_u32) },
            10..12 => Self::Store { bytes: 32 * random.random_range(1..300_u32) },
            12..15 => {
                let from = random.random_range(0..4_usize);
                let to = (from + random.random_range(1..4_usize)) % 4;
                Self::Order { from: PIPES[from], to: PIPES[to], id: random.random_range(0..8) }
            }
            _ if random.random_range(0..4) == 0 => Self::BarrierAll,
            _ => Self::Barrier { pipe: PIPES[random.random_range(1..4_usize)] },
        }
    }

    fn changed(self, by: i32) -> Self {
        match self {
            Self::Vector { repeats } => Self::Vector { repeats: repeats.saturating_add_signed(by as i16) },
            Self::Scalar { operations } => Self::Scalar { operations: operations.saturating_add_signed(by) },
            other => other,
        }
    }

    fn emit(self, core: &mut CoreBuilder, number: u64) {
        core.at(number + 1);
        // Every copy has addresses of its own, so that the cache does not depend on the order of copies.
        let gm = region(number);
        match self {
            Self::Vector { repeats } => core.record("vadd", pipe::V, 2, 0, repeats, [0; 3], &[]),
            Self::Scalar { operations } => core.scalar(0, operations, &[]),
            Self::Load { bytes } => core.load(0x8000, gm, bytes),
            Self::Store { bytes } => core.store(gm, 0x10000, bytes),
            Self::Order { from, to, id } => core.order(from, to, id),
            Self::Barrier { pipe } => core.barrier(pipe),
            Self::BarrierAll => core.barrier_all(),
        };
    }
}

fn played(items: &[Item]) -> Profile {
    on_one_core(|core| {
        for (number, item) in items.iter().enumerate() {
            item.emit(core, number as u64);
        }
    })
}

#[test]
fn the_steps_of_random_programs_add_up_to_the_longest_core() {
    for seed in 0..60 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut trace = TraceBuilder::default();
        let cores = random.random_range(1..70_u32);
        let talking = seed % 5 == 0 && cores <= 40;
        for core in 0..cores {
            for number in 0..random.random_range(1..40) {
                Item::random(&mut random).emit(trace.core(core), (u64::from(core) << 8) + number);
            }
            if talking {
                trace.core(core).sync_all();
                Item::random(&mut random).emit(trace.core(core), u64::from(core) << 8);
            }
            trace.core(core).end();
        }
        let profile = profile(&trace);
        assert_adds_up(&profile);
        let unfollowed = profile.critical_path.iter().any(|step| step.part == PathPart::Unfollowed);
        assert!(!unfollowed, "seed {seed}: {:?}", profile.critical_path);
        if talking {
            assert!(profile.critical_path.iter().any(|step| step.part == PathPart::Cores));
        }
    }
}

#[test]
fn what_is_on_the_path_decides_the_time_and_what_is_not_has_slack() {
    let (mut shorter, mut tied, mut slack) = (0, 0, 0);
    for seed in 0..40 {
        let mut random = ChaCha8Rng::seed_from_u64(1000 + seed);
        let items: Vec<Item> = (0..random.random_range(5..60)).map(|_| Item::random(&mut random)).collect();
        let before = played(&items);
        assert_adds_up(&before);
        let work = |step: &&super::super::PathStep| matches!(step.part, PathPart::Instruction | PathPart::Scalar);
        let passed: BTreeMap<u64, f64> =
            before.critical_path.iter().filter(work).map(|step| (step.site, step.time_us)).collect();
        let time_with = |number: usize, by: i32| {
            let mut changed = items.clone();
            changed[number] = items[number].changed(by);
            (played(&changed).longest_core_us - before.longest_core_us) * 1850.0
        };
        let adjustable = |item: &(usize, &Item)| matches!(item.1, Item::Vector { .. } | Item::Scalar { .. });
        for (number, item) in items.iter().enumerate().filter(adjustable) {
            let less = time_with(number, -1);
            if passed.contains_key(&(number as u64 + 1)) {
                let more = time_with(number, 1);
                assert!((more - 1.0).abs() < 1e-6, "seed {seed}: {item:?} on the path, a cycle more gives {more}");
                assert!(less > -1.0 - 1e-6 && less < 1e-6, "seed {seed}: a cycle less gives {less}");
                // Another path may be just as long.
                *(if less < -1e-6 { &mut shorter } else { &mut tied }) += 1;
            } else {
                assert!(less.abs() < 1e-6, "seed {seed}: {item:?} has slack, a cycle less gives {less}");
                slack += 1;
            }
        }
    }
    assert!(shorter > 100 && slack > 100 && tied * 10 < shorter, "{shorter} shorter, {tied} tied, {slack} with slack");
}

#[test]
fn without_a_wish_there_is_no_path() {
    let mut trace = TraceBuilder::default();
    trace.core(0).load(0, region(0), 4096).end();
    assert!(super::report(&trace).profile.critical_path.is_empty());
}

#[test]
fn a_pipeline_that_waits_for_copies_is_told_so_by_line_and_flag() {
    let profile = on_one_core(|core| {
        for tile in 0..20_u64 {
            let (slot, id) = ((tile % 2) * 65536, (tile % 2) as u32);
            if tile >= 2 {
                core.at(1).wait(pipe::V, pipe::MTE2, id);
            }
            core.at(41).load(slot, region(0) + tile * 32768, 32768).at(50).order(pipe::MTE2, pipe::V, id);
            core.at(57).add(slot + 32768, slot, slot, 4096).at(1).set(pipe::V, pipe::MTE2, id);
        }
    });
    let share = |part: PathPart, site: u64| {
        let steps = profile.critical_path.iter().filter(|step| step.part == part && step.site == site);
        steps.map(|step| step.time_us).sum::<f64>() / profile.longest_core_us
    };
    assert!(share(PathPart::Bytes, 41) > 0.6, "{:#?}", profile.critical_path);
    assert!(share(PathPart::Instruction, 57) < 0.1);
    let first = &profile.critical_path[0];
    assert_eq!((first.pipe.as_str(), first.opcode.as_str(), first.count), ("mte2", "copy_gm_to_ubuf", 20));
    assert_eq!(first.via, "flag mte2->v");
}

#[test]
fn full_queues_and_barriers_are_edges_of_the_path() {
    let queue = on_one_core(|core| {
        for _ in 0..100 {
            core.at(7).record("vadd", pipe::V, 2, 0, 100, [0; 3], &[]);
        }
        core.at(9).scalar(0, 100_000, &[]);
    });
    let vector = queue.critical_path.iter().find(|step| step.pipe == "v").unwrap();
    assert_eq!((vector.via.as_str(), vector.site), ("queue of v full", 7));
    let barrier = on_one_core(|core| {
        core.at(3).load(0, region(0), 65536).at(4).barrier_all().at(5).scalar(0, 100, &[]);
    });
    let copy = barrier.critical_path.iter().find(|step| step.part == PathPart::Bytes).unwrap();
    assert_eq!((copy.via.as_str(), copy.site), ("barrier all", 3));
}

#[test]
fn bytes_beyond_the_rate_of_a_core_alone_are_told_apart() {
    let share_of_others = |cores: u32| {
        let mut trace = TraceBuilder::default();
        for core in 0..cores {
            trace.core(core).load(0, region(0) + u64::from(core) * 131_072, 131_072).end();
        }
        let profile = profile(&trace);
        let shared = profile.critical_path.iter().filter(|step| step.part == PathPart::SharedMemory);
        shared.map(|step| step.time_us).sum::<f64>() / profile.longest_core_us
    };
    assert!(share_of_others(1) < 1e-9, "{}", share_of_others(1));
    assert!(share_of_others(48) > 0.3, "{}", share_of_others(48));
}

#[test]
fn a_core_that_takes_a_second_block_has_one_path_through_both() {
    let mut trace = TraceBuilder::default();
    for core in 0..96 {
        trace.core(core).at(if core < 48 { 1 } else { 2 }).scalar(0, 1000, &[]).end();
    }
    let profile = profile(&trace);
    assert_adds_up(&profile);
    let scalar: Vec<u64> =
        profile.critical_path.iter().filter(|step| step.part == PathPart::Scalar).map(|step| step.site).collect();
    assert_eq!(scalar.len(), 2, "{:?}", profile.critical_path);
}

#[test]
fn sites_of_all_cores_are_listed_where_the_path_is_followed() {
    let mut trace = TraceBuilder::default();
    for core in 0..2 {
        for site in [7, 3, 7] {
            trace.core(core).at(site + u64::from(core)).barrier(pipe::V);
        }
        trace.core(core).end();
    }
    let machine = Machine::named("ascend910b1").unwrap();
    let sites = |critical_path| {
        let options = Options { critical_path, ..Options::default() };
        analyse(&trace.build(), &machine, &options).unwrap().remove(0).sites
    };
    assert_eq!(sites(true), [(3, 1), (4, 1), (7, 2), (8, 2)]);
    assert!(sites(false).is_empty());
}
