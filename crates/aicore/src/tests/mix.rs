//! Cube cores, and groups of cube and vector cores: hazards, order between cores, times.

use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region, space};
use super::super::{Hazard, HazardKind, LaunchReport, Severity};
use super::report;
use pipe::{FIX, M, MTE1, MTE2, MTE3, V};
use space::{L0A, L0B, L0C};

/// Cube unit and fixpipe order themselves.
const UNIT_FLAG: u16 = 3;

fn errors(report: &LaunchReport) -> Vec<&Hazard> {
    report.hazards.iter().filter(|hazard| hazard.severity == Severity::Error).collect()
}

/// One tile of a matrix product: 64 x 64 halves. One of the orders between pipes can be left out.
fn tile(core: &mut CoreBuilder, left_out: Option<(u8, u8)>, unit_flag: u16) {
    let order = |core: &mut CoreBuilder, from: u8, to: u8| {
        if left_out != Some((from, to)) {
            core.order(from, to, 0);
        }
    };
    for round in 0..2 {
        core.at(1).load_l1(0, region(0) + round * 16384, 8192).load_l1(8192, region(1), 8192);
        order(core, MTE2, MTE1);
        core.at(2).load_l0(L0A, 0, 0, 8192).load_l0(L0B, 0, 8192, 8192);
        order(core, MTE1, MTE2);
        order(core, MTE1, M);
        core.at(3).product(64, 64, 64, unit_flag);
        order(core, M, MTE1);
        order(core, M, FIX);
        core.at(4).fixpipe(region(2) + round * 8192, 4096, unit_flag);
        order(core, FIX, M);
    }
    core.end();
}

fn cube(left_out: Option<(u8, u8)>, unit_flag: u16) -> LaunchReport {
    let mut trace = TraceBuilder::default();
    tile(trace.on("aic").core(0), left_out, unit_flag);
    report(&trace)
}

#[test]
fn every_missing_flag_between_cube_pipes_is_a_race() {
    assert_eq!(errors(&cube(None, 0)), Vec::<&Hazard>::new());
    let table = [
        ((MTE2, MTE1), (2, 1), "L1", "MTE2_MTE1"),
        ((MTE1, MTE2), (1, 2), "L1", "MTE1_MTE2"),
        ((MTE1, M), (3, 2), "L0A", "MTE1_M"),
        ((M, MTE1), (2, 3), "L0A", "M_MTE1"),
        ((M, FIX), (4, 3), "L0C", "M_FIX"),
        ((FIX, M), (3, 4), "L0C", "FIX_M"),
    ];
    for (left_out, sites, memory, flag) in table {
        let report = cube(Some(left_out), 0);
        let found = errors(&report);
        assert!(!found.is_empty(), "{flag}");
        assert!(
            found.iter().any(|hazard| (hazard.site, hazard.other_site) == sites
                && hazard.message.contains(memory)
                && hazard.message.contains(flag)),
            "{flag}: {found:#?}"
        );
    }
}

#[test]
fn the_unit_flag_orders_cube_unit_and_fixpipe_and_nothing_else() {
    for between in [(M, FIX), (FIX, M)] {
        assert_eq!(errors(&cube(Some(between), UNIT_FLAG)), Vec::<&Hazard>::new());
    }
    assert_ne!(errors(&cube(Some((MTE1, M)), UNIT_FLAG)), Vec::<&Hazard>::new());
}

#[test]
fn equal_offsets_of_different_memories_are_different_bytes() {
    let mut trace = TraceBuilder::default();
    let core = trace.on("aic").core(0);
    core.load_l1(0, region(0), 512);
    core.record(
        "load_gm_to_ca",
        MTE2,
        1,
        0,
        0,
        [0, 512, 512],
        &[Part::write(L0A, 0, 512), Part::gm_read(region(0), 512)],
    );
    core.end();
    assert_eq!(errors(&report(&trace)), Vec::<&Hazard>::new());
}

#[test]
fn accumulators_that_nothing_has_written_are_named() {
    let mut trace = TraceBuilder::default();
    let core = trace.on("aic").core(0);
    core.load_l1(0, region(0), 512).order(MTE2, MTE1, 0).load_l0(L0A, 0, 0, 512).load_l0(L0B, 0, 0, 512);
    core.order(MTE1, M, 0);
    let parts = [Part::update(L0C, 0, 1024), Part::read(L0A, 0, 512), Part::read(L0B, 0, 512)];
    core.at(9).record("mad", M, 1, 0, 0, [16, 16, 16], &parts);
    // The first one adds to what nothing has written, the second one to the result of the first.
    core.record("mad", M, 1, 0, 0, [16, 16, 16], &parts).end();
    let report = report(&trace);
    let unwritten = report.hazards.iter().filter(|hazard| hazard.kind == HazardKind::UninitialisedRead);
    let found: Vec<_> =
        unwritten.map(|hazard| (hazard.site, hazard.count, hazard.message.contains("of L0C"))).collect();
    assert_eq!(found, [(9, 1, true)], "{:#?}", report.hazards);
}

/// The cube core writes a tile to the workspace for each of its vector cores; they read it after a flag.
fn hand_over(wait: bool, set_on: u8) -> LaunchReport {
    let mut trace = TraceBuilder::default();
    trace.on("mix_1_2").with_region(2, 1 << 20, 2);
    for group in 0..2 {
        let place = region(2) + u64::from(group) * 16384;
        let cube = trace.core(group * 3);
        cube.record("set_l0c", M, 2, 0, 0, [0; 3], &[Part::write(L0C, 0, 16384)]).order(M, FIX, 0);
        cube.at(1).fixpipe(place, 4096, 0).set_cross(set_on, 3, 2);
        cube.end();
        for vector in 0..2 {
            let core = trace.core(group * 3 + 1 + vector);
            if wait {
                core.wait_cross(3);
            }
            core.at(2).load(0, place + u64::from(vector) * 4096, 4096).end();
        }
    }
    report(&trace)
}

#[test]
fn data_between_cores_needs_a_flag_on_the_pipe_that_writes_it() {
    assert_eq!(errors(&hand_over(true, FIX)), Vec::<&Hazard>::new());
    for (wait, set_on) in [(false, FIX), (true, M)] {
        let report = hand_over(wait, set_on);
        let found = errors(&report);
        assert!(found.iter().any(|hazard| hazard.kind == HazardKind::CrossCoreRace), "{wait} {set_on}: {found:#?}");
        assert!(
            found.iter().all(|hazard| hazard.message.contains("AIC") && hazard.message.contains("AIV")),
            "{found:#?}"
        );
    }
}

#[test]
fn a_flag_of_one_group_orders_nothing_in_another() {
    let mut trace = TraceBuilder::default();
    trace.on("mix_1_1").with_region(2, 1 << 20, 2);
    for group in 0..2 {
        let cube = trace.core(group * 3);
        cube.record("set_l0c", M, 2, 0, 0, [0; 3], &[Part::write(L0C, 0, 16384)]).order(M, FIX, 0);
        cube.at(1).fixpipe(region(2) + u64::from(group) * 16384, 4096, 0).set_cross(FIX, 3, 2).end();
        // Each vector core reads what the other group's cube core wrote.
        trace.core(group * 3 + 1).wait_cross(3).at(2).load(0, region(2) + u64::from(1 - group) * 16384, 4096).end();
    }
    assert!(errors(&report(&trace)).iter().any(|hazard| hazard.kind == HazardKind::CrossCoreRace));
    let mut everybody = TraceBuilder::default();
    everybody.on("mix_1_1").with_region(2, 1 << 20, 2);
    for group in 0..2 {
        let cube = everybody.core(group * 3);
        cube.record("set_l0c", M, 2, 0, 0, [0; 3], &[Part::write(L0C, 0, 16384)]).order(M, FIX, 0);
        cube.fixpipe(region(2) + u64::from(group) * 16384, 4096, 0).sync_everybody().end();
        let vector = everybody.core(group * 3 + 1);
        vector.sync_everybody().load(0, region(2) + u64::from(1 - group) * 16384, 4096).end();
    }
    assert_eq!(errors(&report(&everybody)), Vec::<&Hazard>::new());
}

#[test]
fn order_goes_on_through_a_third_core() {
    // AIV0 writes, tells AIV1 by a flag among the vector cores, which tells the cube core together with it.
    let build = |mode_one: bool| {
        let mut trace = TraceBuilder::default();
        trace.on("mix_1_2").with_region(2, 1 << 20, 2);
        let first = trace.core(1);
        first
            .scalar(1, 0, &[Part::ub_write(0, 1024)])
            .store(region(2), 0, 1024)
            .set_cross(MTE3, 1, 1)
            .wait_cross(1)
            .end();
        let second = trace.core(2);
        second.set_cross(MTE3, 1, 1);
        if mode_one {
            second.wait_cross(1);
        }
        second.load(0, region(2), 1024).end();
        trace.core(0).end();
        report(&trace)
    };
    assert_eq!(errors(&build(true)), Vec::<&Hazard>::new());
    let without = build(false);
    assert!(errors(&without).iter().any(|hazard| hazard.kind == HazardKind::CrossCoreRace));
    let left = without.hazards.iter().find(|hazard| hazard.kind == HazardKind::FlagMisuse);
    assert!(left.is_some_and(|hazard| hazard.message.contains("cross-core flag 1") && hazard.message.contains("AIV1")));
}

#[test]
fn what_polling_cores_tell_each_other_is_only_a_warning() {
    let mut trace = TraceBuilder::default();
    trace.with_region(2, 4096, 2);
    trace.core(0).scalar(1, 0, &[Part::ub_write(0, 1024)]).store(region(2), 0, 1024).end();
    trace.core(1).note("polls global memory").load(0, region(2), 1024).end();
    let report = report(&trace);
    let race = report.hazards.iter().find(|hazard| hazard.kind == HazardKind::CrossCoreRace).unwrap();
    assert_eq!(race.severity, Severity::Warning);
}

#[test]
fn what_a_polling_core_is_told_may_order_its_own_pipes() {
    let races = |note: &str| {
        let mut trace = TraceBuilder::default();
        trace.with_region(2, 4096, 2);
        let core = trace.core(0).scalar(1, 0, &[Part::ub_write(0, 1024)]).store(region(2), 0, 1024);
        core.note(note).load(4096, region(2), 1024).end();
        let races = report(&trace).hazards.into_iter().filter(|hazard| hazard.kind == HazardKind::Race);
        races.map(|hazard| hazard.severity).collect::<Vec<_>>()
    };
    assert_eq!(races("prints something"), [Severity::Error]);
    assert_eq!(races("polls global memory"), [Severity::Warning]);
}

#[test]
fn a_flag_that_nobody_sets_hangs() {
    let mut trace = TraceBuilder::default();
    trace.on("mix_1_2");
    trace.core(0).at(5).wait_cross(2).end();
    trace.core(1).set_cross(MTE3, 2, 2).end();
    trace.core(2).end();
    let report = report(&trace);
    let deadlock = report.hazards.iter().find(|hazard| hazard.kind == HazardKind::Deadlock).unwrap();
    assert!(deadlock.site == 5 && deadlock.message.contains("flag 2"), "{deadlock:#?}");
}

/// Cycles of the only core of a launch, less those of an empty one.
fn cycles(emit: impl Fn(&mut CoreBuilder)) -> f64 {
    let length = |emit: &dyn Fn(&mut CoreBuilder)| {
        let mut trace = TraceBuilder::default();
        emit(trace.on("aic").core(0));
        trace.core(0).end();
        report(&trace).profile.longest_core_us * 1850.0
    };
    length(&emit) - length(&|_| {})
}

#[test]
fn products_take_a_cycle_for_sixteen_cubed_halves() {
    let many = |m: u32, k: u32, n: u32| {
        let run = |times: u32| {
            cycles(|core| {
                for _ in 0..times {
                    core.product(m, k, n, 0);
                }
            })
        };
        (run(64) - run(32)) / 32.0
    };
    // Start-up of two cycles behind another product, issue of three.
    assert!((many(128, 64, 128) - (8.0 * 4.0 * 8.0 + 2.0)).abs() < 1.0, "{}", many(128, 64, 128));
    assert!((many(100, 20, 1) - (7.0 * 2.0 + 2.0)).abs() < 1.0, "{}", many(100, 20, 1));
}

#[test]
fn loads_into_l0a_are_twice_as_fast_as_into_l0b() {
    let load = |target: u8| {
        let run = |times: u32| {
            cycles(|core| {
                for _ in 0..times {
                    core.load_l0(target, 0, 0, 32768);
                }
            })
        };
        (run(40) - run(20)) / 20.0
    };
    assert!((load(L0A) - (128.0 + 2.0)).abs() < 1.0, "{}", load(L0A));
    assert!((load(L0B) - (256.0 + 2.0)).abs() < 1.0, "{}", load(L0B));
}

#[test]
fn both_kinds_of_cores_are_timed_together_and_told_apart() {
    let build = |ordered: bool| {
        let mut trace = TraceBuilder::default();
        trace.on("mix_1_2");
        let cube = trace.core(0);
        for _ in 0..100 {
            cube.product(128, 128, 128, 0);
        }
        cube.set_cross(M, 3, 2).end();
        for vector in 1..3 {
            let core = trace.core(vector);
            if ordered {
                core.wait_cross(3);
            }
            core.add(0, 4096, 8192, 2048).order(V, MTE3, 0).end();
        }
        report(&trace).profile
    };
    let (apart, ordered) = (build(false), build(true));
    let units: Vec<_> = ordered.units.iter().map(|unit| (unit.unit.as_str(), unit.cores)).collect();
    assert_eq!(units, [("aiv", 2), ("aic", 1)]);
    let (vector, cube) = (ordered.units[0].pipes, ordered.units[1].pipes);
    assert!(vector.vec_us > 0.0 && vector.cube_us == 0.0 && cube.vec_us == 0.0 && cube.cube_us > 20.0, "{ordered:#?}");
    assert_eq!(ordered.cores, 3);
    // The vector cores begin when the products are through: their work comes on top.
    assert!(ordered.longest_core_us > apart.longest_core_us + 0.9 * vector.vec_us);
    assert!(ordered.stalls.iter().any(|stall| stall.pipe == "s" && stall.reason == "other cores"));
}

#[test]
fn more_groups_than_cores_run_one_after_another() {
    let build = |groups: u32| {
        let mut trace = TraceBuilder::default();
        trace.on("mix_1_2");
        for group in 0..groups {
            for core in 0..3 {
                let core = trace.core(group * 3 + core);
                for _ in 0..500 {
                    core.product(64, 64, 64, 0);
                }
                core.end();
            }
        }
        report(&trace).profile
    };
    let (full, two_rounds) = (build(24), build(25));
    assert_eq!((full.cores, two_rounds.cores), (72, 72));
    assert!(
        two_rounds.longest_core_us > 1.9 * full.longest_core_us,
        "{} {}",
        two_rounds.longest_core_us,
        full.longest_core_us
    );
}

#[test]
fn l1_is_filled_faster_than_the_unified_buffer() {
    let time = |cube: bool| {
        let mut trace = TraceBuilder::default();
        let core = trace.on(if cube { "aic" } else { "aiv" }).core(0);
        for round in 0..8 {
            let from = region(0) + round * 65536;
            if cube {
                core.load_l1(0, from, 65536)
            } else {
                core.load(0, from, 65536)
            };
            core.barrier(MTE2);
        }
        core.end();
        report(&trace).profile.pipes.mte2_us
    };
    let ratio = time(false) / time(true);
    assert!((1.25..1.5).contains(&ratio), "{ratio}");
}
