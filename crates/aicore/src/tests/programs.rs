//! Timing of small programs.

use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region};
use super::super::{Limiter, Profile};
use super::report;

fn profile(cores: u32, emit: impl Fn(&mut CoreBuilder, u64)) -> Profile {
    let mut trace = TraceBuilder::default();
    for core in 0..cores {
        emit(trace.core(core), u64::from(core) << 24);
        trace.core(core).end();
    }
    report(&trace).profile
}

/// Start of a core: a block, and code that is not there yet.
const START_US: f64 = 0.5 + 1.0;

/// Cycles of the core beyond its start.
fn cycles(profile: &Profile) -> f64 {
    (profile.longest_core_us - START_US) * 1850.0
}

fn pipeline(core: &mut CoreBuilder, base: u64, tiles: u64, buffers: u64, barrier: bool) {
    for tile in 0..tiles {
        let slot = (tile % buffers) * 65536;
        let id = (tile % buffers) as u32;
        if tile >= buffers {
            core.wait(pipe::V, pipe::MTE2, id);
        }
        core.load(slot, region(0) + base + tile * 16384, 16384).order(pipe::MTE2, pipe::V, id);
        for _ in 0..3 {
            core.add(slot + 16384, slot, slot, 8192);
        }
        if barrier {
            core.barrier_all();
        }
        core.set(pipe::V, pipe::MTE2, id);
    }
}

#[test]
fn a_lone_copy_pays_start_up_and_rate() {
    let profile = profile(1, |core, _| {
        core.load(0, region(0), 8192);
    });
    // Issue 3, start-up 195, 16 packets of 512 + 25 bytes at 55 bytes a cycle.
    let expected = 3.0 + 195.0 + 16.0 * 537.0 / 55.0;
    assert!((cycles(&profile) - expected).abs() < 0.1, "{}", cycles(&profile));
}

#[test]
fn a_lone_add_pays_fixed_part_repeats_and_tail() {
    let conflicts = |src1: u64| {
        profile(1, |core, _| {
            core.record(
                "vadd",
                1,
                2,
                0,
                64,
                [64, 0, 0],
                &[Part::ub_write(0x20000, 16384), Part::ub_read(0, 16384), Part::ub_read(src1, 16384)],
            );
        })
    };
    assert!((cycles(&conflicts(0x10100)) - (3.0 + 22.0 + 64.0 + 14.0)).abs() < 0.01);
    assert!((cycles(&conflicts(0x10000)) - (3.0 + 22.0 + 128.0 + 14.0)).abs() < 0.01);
    assert_eq!(conflicts(0x10000).counters["bank_conflict_cycles"], 64.0);
}

#[test]
fn double_buffering_overlaps_copy_and_compute() {
    let single = profile(1, |core, base| pipeline(core, base, 40, 1, false));
    let double = profile(1, |core, base| pipeline(core, base, 40, 2, false));
    assert!(
        double.longest_core_us < 0.75 * single.longest_core_us,
        "{} {}",
        double.longest_core_us,
        single.longest_core_us
    );
    assert!(single.stalls.iter().any(|stall| stall.pipe == "mte2" && stall.reason == "flag v->mte2"));
}

#[test]
fn removing_a_barrier_for_all_pipes_helps() {
    let with = profile(1, |core, base| pipeline(core, base, 40, 2, true));
    let without = profile(1, |core, base| pipeline(core, base, 40, 2, false));
    assert!(without.longest_core_us < with.longest_core_us);
    assert!(with.stalls.iter().any(|stall| stall.pipe == "s" && stall.reason == "barrier all"));
}

#[test]
fn small_copies_are_slower_than_large_ones_at_every_step() {
    let time = |size: u32| {
        let profile = profile(1, |core, base| {
            for index in 0..(1 << 18) / u64::from(size) {
                core.load((index * u64::from(size)) % 131_072, region(0) + base + index * u64::from(size), size);
            }
        });
        profile.longest_core_us
    };
    let times: Vec<f64> = [128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].map(time).to_vec();
    assert!(times.windows(2).all(|pair| pair[0] > pair[1]), "{times:?}");
    // 128-byte copies that nothing separates follow each other every 20 cycles or so.
    let each = (times[0] - START_US) * 1850.0 / 2048.0;
    assert!((15.0..26.0).contains(&each), "{each}");
}

#[test]
fn scalar_access_waits_for_the_pipe_that_fills_its_bytes() {
    let far = profile(1, |core, _| {
        core.load(0, region(0), 8192).scalar(1, 0, &[Part::ub_read(65536, 2)]);
    });
    let near = profile(1, |core, _| {
        core.load(0, region(0), 8192).scalar(1, 0, &[Part::ub_read(128, 2)]);
    });
    assert!(cycles(&near) > cycles(&far) + 10.0);
    assert!(near.stalls.iter().any(|stall| stall.pipe == "s" && stall.reason == "mte2->s access order"));
}

#[test]
fn dependent_vector_instructions_wait_as_long_as_the_machine_says() {
    let chain = |src: u64| {
        profile(1, |core, _| {
            core.add(0x4000, 0, 0x100, 1024).add(0x8000, src, 0x100, 1024);
        })
    };
    // Measured chains of four functions lose nothing beyond their busy time.
    let lost = cycles(&chain(0x4000)) - cycles(&chain(0xC000));
    assert!(lost.abs() < 1e-6, "{lost}");
}

#[test]
fn many_cores_share_memory_and_launch_costs_grow() {
    let load = |core: &mut CoreBuilder, base: u64| {
        for index in 0..16 {
            core.load(0, region(0) + base + index * 32768, 32768).barrier(pipe::MTE2);
        }
    };
    let (one, all) = (profile(1, load), profile(48, load));
    assert!(all.longest_core_us > 2.0 * one.longest_core_us);
    let bandwidth = 48.0 * 16.0 * 32768.0 / (all.longest_core_us - START_US) / 1e6;
    assert!((1.3..1.65).contains(&bandwidth), "{bandwidth} TB/s");
    assert!(all.task_us - all.longest_core_us > one.task_us - one.longest_core_us);
    assert_eq!(all.limiter, Limiter::Memory);
}

#[test]
fn data_that_stays_in_l2_is_read_faster() {
    let twice = |bypass: bool| {
        profile(8, |core, base| {
            core.bypass(bypass);
            for index in 0..64 {
                core.load(0, region(0) + base + (index % 8) * 65536, 65536);
            }
        })
    };
    let (cached, uncached) = (twice(false), twice(true));
    assert!(cached.longest_core_us < 0.7 * uncached.longest_core_us);
    assert!(cached.counters["l2_hit_rate"] > 0.8 && uncached.counters["l2_hit_rate"] == 0.0);
}

#[test]
fn more_blocks_than_cores_take_turns() {
    let work = |core: &mut CoreBuilder, base: u64| {
        core.load(0, region(0) + base, 32768);
    };
    let (full, double) = (profile(48, work), profile(96, work));
    assert_eq!(double.cores, 48);
    assert!(cycles(&double) > 1.8 * cycles(&full));
    // The second block on a core finds the kernel's code there.
    let nothing = |blocks| profile(blocks, |_, _| {}).longest_core_us;
    assert_eq!((nothing(48), nothing(96)), (START_US, START_US + 0.5));
}

#[test]
fn starting_a_core_is_scalar_work_and_a_pipe_with_buffers_more_of_it() {
    let start = |buffers: u32| {
        profile(1, |core, _| {
            for buffer in 0..buffers {
                core.record("buffer", pipe::S, 0, 0, 0, [0, buffer * 1024, 1024], &[]);
            }
        })
    };
    assert!((start(0).pipes.scalar_us - START_US).abs() < 1e-9);
    for buffers in [1, 3] {
        assert!((cycles(&start(buffers)) - 900.0).abs() < 1e-6, "{}", cycles(&start(buffers)));
    }
}

#[test]
fn a_barrier_of_all_cores_waits_for_the_slowest() {
    let profile = profile(4, |core, base| {
        core.scalar(100 * (base >> 24) as u32, 0, &[]).sync_all();
    });
    assert!(cycles(&profile) > 1500.0 + 3399.0);
    assert!((profile.shortest_core_us - profile.longest_core_us).abs() < 1e-9);
}

#[test]
fn scalar_loops_are_named_as_the_limiter() {
    let profile = profile(1, |core, _| {
        core.scalar(30_000, 0, &[]);
    });
    assert_eq!(profile.limiter, Limiter::Scalar);
    assert!(profile.counters["scalar_ratio"] > 0.9);
}
