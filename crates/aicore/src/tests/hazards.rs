//! Each kind of hazard, and its repaired twin.

use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region};
use super::super::{Hazard, HazardKind, Options, Severity};
use super::{report, report_with};
use pipe::{MTE2, MTE3, S, V};

fn hazards(emit: impl Fn(&mut CoreBuilder)) -> Vec<Hazard> {
    hazards_with(&Options::default(), emit)
}

fn hazards_with(options: &Options, emit: impl Fn(&mut CoreBuilder)) -> Vec<Hazard> {
    let mut trace = TraceBuilder::default();
    emit(trace.core(0));
    trace.core(0).end();
    report_with(&trace, options).hazards
}

fn kinds(hazards: &[Hazard]) -> Vec<(HazardKind, Severity)> {
    hazards.iter().map(|hazard| (hazard.kind, hazard.severity)).collect()
}

/// Load, add, store; each ordering can be left out.
fn program(core: &mut CoreBuilder, load_to_add: bool, add_to_store: bool, add_to_load: bool) {
    core.at(1).load(0, region(0), 1024);
    if load_to_add {
        core.order(MTE2, V, 0);
    }
    core.at(2).add(4096, 0, 0, 512);
    if add_to_load {
        core.order(V, MTE2, 0);
    }
    if add_to_store {
        core.order(V, MTE3, 0);
    }
    core.at(3).store(region(1), 4096, 1024);
    core.at(4).load(0, region(0) + 1024, 1024);
}

#[test]
fn every_missing_flag_is_a_race_with_both_sites_and_the_remedy() {
    assert_eq!(hazards(|core| program(core, true, true, true)), []);
    let table = [
        ((false, true, true), (2, 1), "flag MTE2_V"),
        ((true, false, true), (3, 2), "flag V_MTE3"),
        ((true, true, false), (4, 2), "flag V_MTE2"),
    ];
    for ((load, store, reload), sites, remedy) in table {
        let found = hazards(|core| program(core, load, store, reload));
        assert_eq!(kinds(&found), [(HazardKind::Race, Severity::Error)], "{remedy}: {found:#?}");
        assert_eq!((found[0].site, found[0].other_site), sites, "{remedy}");
        assert!(found[0].message.contains(remedy), "{}", found[0].message);
    }
}

#[test]
fn a_barrier_for_all_pipes_orders_everything() {
    let found = hazards(|core| {
        core.load(0, region(0), 1024).barrier_all().add(4096, 0, 0, 512).barrier_all();
        core.store(region(1), 4096, 1024).barrier_all().load(4096, region(0), 1024);
    });
    assert_eq!(found, []);
}

#[test]
fn order_is_transitive_through_a_third_pipe() {
    let found = hazards(|core| {
        core.load(0, region(0), 1024).order(MTE2, V, 0).add(4096, 0, 0, 512).order(V, MTE3, 0);
        core.store(region(1), 0, 1024).store(region(1) + 1024, 4096, 1024);
    });
    assert_eq!(found, []);
}

#[test]
fn neighbouring_bytes_do_not_conflict() {
    let found = hazards(|core| {
        core.load(0, region(0), 30).load(30, region(0), 34).order(MTE2, V, 0).load(64, region(0), 32);
        core.record("vabs", V, 1, 1, 1, [32, 0, 0], &[Part::ub_write(1024, 64), Part::ub_read(0, 64)]);
    });
    assert_eq!(found, []);
}

#[test]
fn copies_into_the_same_bytes_need_a_barrier() {
    let twice = |barrier: bool| {
        hazards(|core| {
            core.at(1).load(0, region(0), 1024);
            if barrier {
                core.barrier(MTE2);
            }
            core.at(2).load(512, region(0), 1024);
        })
    };
    assert_eq!(twice(true), []);
    let found = twice(false);
    assert_eq!(kinds(&found), [(HazardKind::Race, Severity::Error)]);
    assert!(found[0].message.contains("PipeBarrier<PIPE_MTE2>"), "{}", found[0].message);
}

#[test]
fn the_compiler_orders_scalar_accesses_and_vector_instructions() {
    let found = hazards(|core| {
        core.load(0, region(0), 1024).scalar(1, 0, &[Part::ub_read(8, 2), Part::ub_write(4096, 1024)]);
        // The scalar access waited for the copy, so what is issued later comes after it too.
        core.add(8192, 0, 4096, 512).add(12288, 8192, 8192, 512).scalar(1, 0, &[Part::ub_read(12288, 2)]);
        core.store(region(1), 12288, 1024);
    });
    assert_eq!(found, []);
}

#[test]
fn reading_back_global_memory_needs_an_order() {
    let round = |ordered: bool| {
        hazards(|core| {
            core.at(1).scalar(1, 0, &[Part::ub_write(0, 1024)]).store(region(2), 0, 1024);
            if ordered {
                core.order(MTE3, MTE2, 0);
            }
            core.at(2).load(4096, region(2) + 512, 512);
        })
    };
    assert_eq!(round(true), []);
    let found = round(false);
    assert_eq!(kinds(&found), [(HazardKind::Race, Severity::Error)]);
    assert!(found[0].message.contains("global memory") && found[0].message.contains("flag MTE3_MTE2"));
}

#[test]
fn waits_that_never_come_are_deadlocks() {
    let by_pipe = hazards(|core| {
        core.at(7).wait(MTE2, V, 3).add(0, 64, 64, 16);
    });
    assert!(kinds(&by_pipe).contains(&(HazardKind::Deadlock, Severity::Error)));
    let deadlock = by_pipe.iter().find(|hazard| hazard.kind == HazardKind::Deadlock).unwrap();
    assert_eq!(deadlock.site, 7);
    assert!(deadlock.message.contains("MTE2_V id 3"), "{}", deadlock.message);
    let by_scalar = hazards(|core| {
        core.at(8).wait(V, S, 0);
    });
    assert_eq!(kinds(&by_scalar), [(HazardKind::Deadlock, Severity::Error)]);
    let mut trace = TraceBuilder::default();
    trace.core(0).at(9).sync_all().end();
    trace.core(1).end();
    assert_eq!(kinds(&report(&trace).hazards), [(HazardKind::Deadlock, Severity::Error)]);
}

#[test]
fn flags_set_twice_or_left_set() {
    let twice = hazards(|core| {
        core.at(1).set(MTE2, V, 0).at(2).set(MTE2, V, 0).wait(MTE2, V, 0).wait(MTE2, V, 0);
    });
    assert_eq!(kinds(&twice), [(HazardKind::FlagMisuse, Severity::Error)]);
    let left = hazards(|core| {
        core.set(MTE2, V, 0);
    });
    assert_eq!(kinds(&left), [(HazardKind::FlagMisuse, Severity::Warning)]);
}

#[test]
fn reads_of_unwritten_bytes() {
    let by_copy = hazards(|core| {
        core.scalar(1, 0, &[Part::ub_write(0, 20)]).store(region(1), 0, 32);
    });
    assert_eq!(kinds(&by_copy), [(HazardKind::UninitialisedRead, Severity::Error)]);
    assert!(by_copy[0].message.contains("12 bytes") && by_copy[0].message.contains("0x14"), "{}", by_copy[0].message);
    let by_vector = hazards(|core| {
        core.add(0, 4096, 4096, 16);
    });
    assert_eq!(kinds(&by_vector), [(HazardKind::UninitialisedRead, Severity::Warning)]);
    let by_scalar = hazards(|core| {
        core.scalar(1, 0, &[Part::ub_read(0, 2)]);
    });
    assert_eq!(kinds(&by_scalar), [(HazardKind::UninitialisedRead, Severity::Error)]);
}

#[test]
fn outputs_must_be_written_to_the_last_byte() {
    let run = |bytes: u32, aborted: bool| {
        let mut trace = TraceBuilder::default();
        trace.with_region(1, 1024, 1).aborted(aborted);
        trace.core(0).scalar(1, 0, &[Part::ub_write(0, 1024)]).at(7).store(region(1), 0, bytes).end();
        report(&trace).hazards
    };
    assert_eq!(run(1024, false), []);
    let found = run(1000, false);
    assert_eq!(kinds(&found), [(HazardKind::UnwrittenOutput, Severity::Error)]);
    assert!(found[0].message.contains("24 of 1024") && found[0].message.contains("byte 1000"), "{}", found[0].message);
    assert_eq!(found[0].site, 7, "the write that stopped short");
    assert_eq!(run(1000, true), []);
}

#[test]
fn cores_that_share_bytes_need_a_barrier_of_all_cores() {
    let run = |sync: bool, offset: u64| {
        let mut trace = TraceBuilder::default();
        trace.core(0).at(1).scalar(1, 0, &[Part::ub_write(0, 64)]).store(region(2), 0, 64);
        trace.core(1).at(2);
        if sync {
            trace.core(0).sync_all();
            trace.core(1).sync_all();
        }
        trace.core(1).load(0, region(2) + offset, 64).end();
        trace.core(0).end();
        report(&trace).hazards
    };
    assert_eq!(run(true, 0), []);
    assert_eq!(run(false, 64), []);
    let found = run(false, 32);
    assert_eq!(kinds(&found), [(HazardKind::CrossCoreRace, Severity::Error)]);
    assert_eq!((found[0].site, found[0].other_site), (1, 2));
}

#[test]
fn cores_may_clear_the_same_workspace_as_long_as_nobody_reads_it() {
    const OUTPUT: u32 = 1;
    const WORKSPACE: u32 = 2;
    let run = |role: u32, read: Option<u64>| {
        let mut trace = TraceBuilder::default();
        trace.with_region(2, 4096, role);
        for core in [0, 1] {
            trace.core(core).at(1).scalar(1, 0, &[Part::ub_write(0, 4096)]).store(region(2), 0, 4096);
        }
        if let Some(offset) = read {
            trace.core(0).at(2).sync_all().load(0, region(2) + offset, 64);
            trace.core(1).sync_all();
        }
        trace.core(0).end();
        trace.core(1).end();
        report(&trace).hazards
    };
    assert_eq!(run(WORKSPACE, None), []);
    assert_eq!(kinds(&run(OUTPUT, None)), [(HazardKind::CrossCoreRace, Severity::Error)]);
    let found = run(WORKSPACE, Some(1024));
    assert!(found.iter().any(|hazard| hazard.kind == HazardKind::CrossCoreRace), "{found:#?}");
}

#[test]
fn atomic_adds_of_several_cores_are_fine() {
    let run = |second_atomic: u8| {
        let mut trace = TraceBuilder::default();
        for (core, flags) in [(0, 2), (1, second_atomic)] {
            let parts = [Part::gm_write(region(2), 64), Part::ub_read(0, 64)];
            trace.core(core).scalar(1, 0, &[Part::ub_write(0, 64)]);
            trace.core(core).record("copy_ubuf_to_gm", MTE3, 1, flags, 0, [0, 64, 64], &parts).end();
        }
        kinds(&report(&trace).hazards)
    };
    assert_eq!(run(2), []);
    assert_eq!(run(0), [(HazardKind::CrossCoreRace, Severity::Error)]);
    assert_eq!(run(2 | 32), [(HazardKind::CrossCoreRace, Severity::Error)], "a sum and a maximum");
    assert_eq!(run(2 | 64), [(HazardKind::CrossCoreRace, Severity::Error)], "a sum and a minimum");
}

#[test]
fn faults_become_hazards_and_repetitions_are_counted() {
    let table = [
        (1, HazardKind::OutOfBoundsGm),
        (2, HazardKind::OutOfBoundsUb),
        (3, HazardKind::Misaligned),
        (4, HazardKind::UbOverflow),
        (5, HazardKind::QueueMisuse),
        (6, HazardKind::RepeatOverflow),
        (7, HazardKind::Deadlock),
        (8, HazardKind::Unsupported),
        (9, HazardKind::OperandOverlap),
        (10, HazardKind::FlagMisuse),
        (11, HazardKind::BadArgument),
        (12, HazardKind::Unsupported),
        (13, HazardKind::FlagMisuse),
        (19, HazardKind::DivisionByZero),
    ];
    for (code, kind) in table {
        let found = hazards(|core| {
            core.at(5).fault(code, "what happened").fault(code, "again");
        });
        assert_eq!(kinds(&found), [(kind, Severity::Error)]);
        assert_eq!((found[0].count, found[0].site, found[0].message.as_str()), (2, 5, "what happened"));
    }
    let padding = hazards(|core| {
        core.at(5).fault(15, "reads what the allocation has behind the tensor");
    });
    assert_eq!(kinds(&padding), [(HazardKind::OutOfBoundsGm, Severity::Warning)]);
    let written = hazards(|core| {
        core.at(5).fault(17, "writes what the last block has behind the tensor");
    });
    assert_eq!(kinds(&written), [(HazardKind::WriteInPadding, Severity::Warning)]);
    let kept = hazards(|core| {
        core.at(5).fault(16, "a tensor that nobody freed at the end");
    });
    assert_eq!(kinds(&kept), [(HazardKind::QueueMisuse, Severity::Warning)]);
}

#[test]
fn a_wait_may_stand_before_its_set_in_the_program() {
    let found = hazards(|core| {
        // The vector unit holds its instruction until the copy has arrived, wherever the set stands.
        core.at(1).wait(MTE2, V, 0).at(2).add(4096, 0, 0, 512).at(3).load(0, region(0), 1024).set(MTE2, V, 0);
    });
    assert_eq!(found, []);
    let early = hazards(|core| {
        core.at(1).wait(MTE2, V, 0).set(MTE2, V, 0).at(2).add(4096, 0, 0, 512).at(3).load(0, region(0), 1024);
    });
    assert!(early.iter().any(|hazard| hazard.kind == HazardKind::Race && hazard.site == 3), "{early:#?}");
}

#[test]
fn a_circle_of_waits_is_told_whole_and_once() {
    let found = hazards(|core| {
        core.at(1).scalar(1, 0, &[Part::ub_write(0, 1024)]);
        core.at(2).wait(V, MTE3, 1).at(3).store(region(1), 0, 1024).at(4).set(MTE3, MTE2, 2);
        core.at(5).wait(MTE3, MTE2, 2).at(6).load(4096, region(0), 1024).at(7).set(MTE2, V, 3);
        core.at(8).wait(MTE2, V, 3).at(9).add(8192, 4096, 4096, 512).at(10).set(V, MTE3, 1);
        // What comes behind the circle hangs too, for no reason of its own.
        core.at(11).barrier_all().at(12).load(0, region(0), 1024);
    });
    assert_eq!(kinds(&found), [(HazardKind::Deadlock, Severity::Error)], "{found:#?}");
    assert_eq!((found[0].site, found[0].other_site), (2, 10));
    let message = &found[0].message;
    let parts = [
        "mte3 waits for flag V_MTE3 id 1",
        "v sets only after its own wait for flag MTE2_V id 3",
        "mte2 sets only after",
    ];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn the_scalar_unit_hangs_at_what_it_would_do_later() {
    let found = hazards(|core| {
        core.at(1).load(0, region(0), 1024).at(2).wait(MTE2, S, 0).at(3).set(MTE2, S, 0).at(4).load(0, region(0), 64);
    });
    assert_eq!(kinds(&found), [(HazardKind::Deadlock, Severity::Error)], "{found:#?}");
    assert_eq!((found[0].site, found[0].other_site), (2, 3));
    assert!(
        found[0].message.contains("s waits for flag MTE2_S id 0 whose set comes only behind"),
        "{}",
        found[0].message
    );
}

#[test]
fn sums_onto_memory_that_nobody_cleared_are_warnings() {
    let run = |cleared: bool| {
        let mut trace = TraceBuilder::default();
        trace.with_region(1, 64, 1);
        let core = trace.core(0).scalar(1, 0, &[Part::ub_write(0, 64)]);
        if cleared {
            core.store(region(1), 0, 64).barrier(MTE3);
        }
        let parts = [Part::gm_write(region(1), 64), Part::ub_read(0, 64)];
        core.at(7).record("copy_ubuf_to_gm", MTE3, 1, 2, 0, [0, 64, 64], &parts).end();
        report(&trace).hazards
    };
    assert_eq!(run(true), []);
    let found = run(false);
    assert_eq!(kinds(&found), [(HazardKind::UninitialisedRead, Severity::Warning)]);
    assert!(found[0].site == 7 && found[0].message.contains("adds to 64 bytes of output 1"), "{}", found[0].message);
}

/// What the compiler adds unless it is told not to: every one of these has an order with it, and needs one by hand without.
#[test]
fn without_automatic_synchronisation_only_what_the_kernel_says_is_an_order() {
    let vector = |core: &mut CoreBuilder, by_hand: bool| {
        core.at(1).add(4096, 0, 0, 64);
        if by_hand {
            core.barrier(V);
        }
        core.at(2).add(8192, 4096, 0, 64);
    };
    let read_back = |core: &mut CoreBuilder, by_hand: bool| {
        core.at(1).add(4096, 0, 0, 64);
        if by_hand {
            core.order(V, S, 0);
        }
        core.at(2).scalar(1, 0, &[Part::ub_read(4096, 4)]);
    };
    let written_first = |core: &mut CoreBuilder, by_hand: bool| {
        core.at(1).scalar(1, 0, &[Part::ub_write(0, 4)]);
        if by_hand {
            core.order(S, V, 0);
        }
        core.at(2).add(4096, 0, 0, 64);
    };
    type Program<'program> = (&'program dyn Fn(&mut CoreBuilder, bool), &'static str);
    let programs: [Program<'_>; 3] =
        [(&vector, "PipeBarrier<PIPE_V>"), (&read_back, "flag V_S"), (&written_first, "flag S_V")];
    for (program, remedy) in programs {
        let judged = |auto_sync, by_hand| {
            let found = [true, false].map(|shortcuts| {
                let options = Options { auto_sync, shortcuts, ..Options::default() };
                hazards_with(&options, |core| {
                    core.load(0, region(0), 2048).barrier_all();
                    program(core, by_hand);
                })
            });
            assert_eq!(found[0], found[1], "{remedy}");
            found[0].clone()
        };
        assert_eq!(judged(true, false), [], "{remedy}");
        assert_eq!(judged(false, true), [], "{remedy}");
        let found = judged(false, false);
        assert_eq!(kinds(&found), [(HazardKind::Race, Severity::Error)], "{remedy}: {found:#?}");
        assert_eq!((found[0].site, found[0].other_site), (2, 1), "{remedy}");
        assert!(found[0].message.contains(remedy), "{}", found[0].message);
    }
}

/// The repeats of one instruction follow each other, also where each writes what the one before wrote.
#[test]
fn one_vector_instruction_needs_no_barrier_inside() {
    let options = Options { auto_sync: false, ..Options::default() };
    let found = hazards_with(&options, |core| {
        core.record("vdup", V, 1, 1, 1, [32, 0, 0], &[Part::ub_write(1024, 64).rows(4, 32)]);
    });
    assert_eq!(found, []);
}

/// Each core's data cache holds whole lines, and writes them back whole.
#[test]
fn scalar_writes_of_two_cores_share_no_line() {
    let found = |distance: u64, synchronised: bool| {
        let mut trace = TraceBuilder::default();
        for core in 0..2 {
            let builder = trace.core(core);
            if synchronised && core == 1 {
                builder.sync_all();
            }
            builder.at(u64::from(core) + 1);
            builder.scalar(1, 0, &[Part::gm_write(region(1) + u64::from(core) * distance, 4)]);
            if synchronised && core == 0 {
                builder.sync_all();
            }
            builder.end();
        }
        let hazards = report(&trace).hazards;
        let lines = hazards.into_iter().filter(|hazard| hazard.message.contains("the same line"));
        lines.map(|hazard| (hazard.kind, hazard.severity, hazard.site, hazard.other_site)).collect::<Vec<_>>()
    };
    assert_eq!(found(4, false), [(HazardKind::CrossCoreRace, Severity::Error, 2, 1)]);
    assert_eq!(found(60, false).len(), 1);
    assert_eq!(found(64, false), []);
    assert_eq!(found(4, true), []);
}

/// What the scalar unit writes stays in its data cache, and what it has read once it finds there again.
#[test]
fn a_core_keeps_its_own_data_cache_up_to_date() {
    let out = region(1);
    let stale = |emit: &dyn Fn(&mut CoreBuilder)| {
        let found = hazards(|core| {
            core.record("vdup", V, 1, 1, 1, [64, 0, 0], &[Part::ub_write(0, 128)]).order(V, MTE3, 0);
            core.at(9).store(out, 0, 128).barrier_all();
            emit(core);
        });
        let found = found.into_iter().filter(|hazard| hazard.kind == HazardKind::StaleCacheLine);
        found.map(|hazard| (hazard.severity, hazard.site, hazard.other_site)).collect::<Vec<_>>()
    };
    let write = |core: &mut CoreBuilder, part: Part| {
        core.at(1).scalar(1, 0, &[part]);
    };
    let load = |core: &mut CoreBuilder| {
        core.barrier_all().at(2).load(1024, out, 32);
    };
    // Written, then copied in.
    let missing = [(Severity::Error, 2, 1)];
    assert_eq!(stale(&|core| (write(core, Part::gm_write(out, 4)), load(core)).1), missing);
    assert_eq!(stale(&|core| (write(core, Part::gm_write(out + 32, 4)), load(core)).1), []);
    assert_eq!(stale(&|core| (write(core, Part::gm_write(out, 4).uncached()), load(core)).1), []);
    for (address, expected) in [(Some(out + 60), &[][..]), (None, &[]), (Some(out + 64), &missing)] {
        let found = stale(&|core| {
            write(core, Part::gm_write(out, 4));
            core.clean(address);
            load(core);
        });
        assert_eq!(found, expected, "{address:?}");
    }
    // Bytes on both sides of those that are copied are other bytes.
    let around = stale(&|core| {
        write(core, Part::gm_write(out, 4));
        write(core, Part::gm_write(out + 60, 4));
        core.barrier_all().at(2).load(1024, out + 4, 32);
    });
    assert_eq!(around, []);
    // Written by the scalar unit, then by a pipe: the line may come back later.
    let overwritten = |cleaned: bool, at: u64| {
        stale(&|core| {
            write(core, Part::gm_write(out + at, 4));
            if cleaned {
                core.clean(Some(out));
            }
            core.barrier_all().at(2).store(out, 0, 32);
        })
    };
    assert_eq!(overwritten(false, 0), missing);
    // Whole lines are written back, though their other bytes may be the newest.
    assert_eq!(overwritten(false, 32), [(Severity::Warning, 2, 1)]);
    assert_eq!(overwritten(false, 64), []);
    assert_eq!(overwritten(true, 0), []);
    // What the scalar unit has written itself since is the newest there is.
    let rewritten = stale(&|core| {
        core.at(3).scalar(1, 0, &[Part::gm_read(out, 4)]).barrier_all();
        core.at(4).store(out, 0, 32).barrier_all();
        write(core, Part::gm_write(out, 4));
        core.mask().at(5).scalar(1, 0, &[Part::gm_read(out, 4)]);
    });
    assert_eq!(rewritten, []);
    // Read, overwritten by a pipe, read again.
    let reread = |cleaned: bool| {
        stale(&|core| {
            core.at(3).scalar(1, 0, &[Part::gm_read(out, 4)]).barrier_all();
            core.at(4).store(out, 0, 32).barrier_all();
            if cleaned {
                core.clean(Some(out));
            }
            core.at(5).scalar(1, 0, &[Part::gm_read(out, 4)]);
        })
    };
    assert_eq!(reread(false), [(Severity::Error, 5, 4)]);
    assert_eq!(reread(true), []);
}

/// A barrier between cores orders what they do, and tells their data caches nothing.
#[test]
fn a_barrier_does_not_make_data_caches_alike() {
    #[derive(Clone, Copy, Default)]
    struct Tried {
        writer_cleans: bool,
        cleans_too_late: bool,
        reader_preloads: bool,
        reader_read_before: bool,
        reader_cleans: bool,
        reader_copies: bool,
        reader_writes: bool,
    }
    let found = |tried: Tried| {
        let mut trace = TraceBuilder::default();
        let here = region(1);
        let writer = trace.core(0);
        writer.at(1).scalar(1, 0, &[Part::gm_write(here, 64)]);
        if tried.writer_cleans {
            writer.clean(Some(here));
        }
        writer.sync_all();
        if tried.cleans_too_late {
            writer.clean(None);
        }
        writer.end();
        let reader = trace.core(1);
        if tried.reader_preloads {
            reader.at(2).scalar(1, 0, &[Part::gm_preload(here)]);
        }
        if tried.reader_read_before {
            reader.at(2).scalar(1, 0, &[Part::gm_read(here + 64, 4), Part::gm_read(here, 4)]);
        }
        reader.sync_all();
        if tried.reader_cleans {
            reader.clean(Some(here));
        }
        if tried.reader_writes {
            reader.record("vdup", V, 1, 1, 1, [64, 0, 0], &[Part::ub_write(0, 64)]).order(V, MTE3, 0);
            reader.at(3).store(here, 0, 64);
        } else if tried.reader_copies {
            reader.at(3).load(0, here, 64);
        } else {
            reader.at(3).scalar(1, 0, &[Part::gm_read(here, 4)]);
        }
        reader.end();
        let hazards = report(&trace).hazards;
        let stale = hazards.into_iter().filter(|hazard| hazard.kind == HazardKind::StaleCacheLine);
        stale.map(|hazard| (hazard.site, hazard.other_site)).collect::<Vec<_>>()
    };
    let unsaved = [(3, 1)];
    let fine = Tried { writer_cleans: true, ..Tried::default() };
    assert_eq!(found(Tried::default()), unsaved);
    assert_eq!(found(Tried { cleans_too_late: true, ..Tried::default() }), unsaved);
    assert_eq!(found(Tried { reader_copies: true, ..Tried::default() }), unsaved);
    assert_eq!(found(Tried { reader_writes: true, ..Tried::default() }), unsaved);
    assert_eq!(found(fine), []);
    assert_eq!(found(Tried { reader_copies: true, ..fine }), []);
    assert_eq!(found(Tried { reader_writes: true, ..fine }), []);
    assert_eq!(found(Tried { reader_read_before: true, ..fine }), unsaved);
    assert_eq!(found(Tried { reader_preloads: true, ..fine }), unsaved);
    assert_eq!(found(Tried { reader_preloads: true, reader_cleans: true, ..fine }), []);
    assert_eq!(found(Tried { reader_preloads: true, reader_copies: true, ..fine }), []);
    assert_eq!(found(Tried { reader_read_before: true, reader_cleans: true, ..fine }), []);
    assert_eq!(found(Tried { reader_read_before: true, reader_copies: true, ..fine }), []);
}

/// Each buffer has a length of its own, whatever else of the memory is in use.
#[test]
fn a_write_ends_in_the_buffer_that_it_begins_in() {
    let found = |bytes: u32| {
        let found = hazards(|core| {
            core.at(7).buffer_cut(0, 256).at(8).buffer_cut(256, 256);
            core.at(1).load(128, region(0), bytes);
        });
        found
            .into_iter()
            .map(|hazard| (hazard.kind, hazard.severity, hazard.site, hazard.other_site))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(128), []);
    assert_eq!(found(160), [(HazardKind::OutOfBoundsUb, Severity::Error, 1, 7)]);
    // The last element of one buffer and the first of the next, by two loops: one record.
    let two_loops = hazards(|core| {
        core.at(7).buffer_cut(0, 256).at(8).buffer_cut(256, 256);
        core.at(1).scalar(96, 0, &[Part::ub_write(0, 384)]);
    });
    assert_eq!(two_loops, []);
}
