//! The published ladder of an element-wise add, z = x + y on 8192 x 8192 halves, seven variants.

use std::time::Instant;

use super::super::testing::{CoreBuilder, Part, TraceBuilder, pipe, region};
use super::super::{Machine, Options, analyse};

const ROWS: u64 = 8192;
const COLUMNS: u64 = 8192;
const SLOT: u64 = 32768;

#[derive(Clone, Copy, Default)]
struct Variant {
    name: &'static str,
    published_us: f64,
    cores: u64,
    tile: u64,
    buffers: u64,
    scalar: bool,
    bypass: bool,
    spread: bool,
}

const LADDER: [Variant; 7] = [
    Variant {
        name: "c0 scalar loop",
        published_us: 1_239_689.1,
        cores: 1,
        tile: 4096,
        buffers: 1,
        scalar: true,
        bypass: false,
        spread: false,
    },
    Variant {
        name: "c1 vector add",
        published_us: 6909.6,
        cores: 1,
        tile: 4096,
        buffers: 1,
        scalar: false,
        bypass: false,
        spread: false,
    },
    Variant {
        name: "c2 all cores",
        published_us: 306.58,
        cores: 48,
        tile: 4096,
        buffers: 1,
        scalar: false,
        bypass: false,
        spread: false,
    },
    Variant {
        name: "c3 larger copies",
        published_us: 268.5,
        cores: 48,
        tile: 16384,
        buffers: 1,
        scalar: false,
        bypass: false,
        spread: false,
    },
    Variant {
        name: "c4 double buffer",
        published_us: 264.02,
        cores: 48,
        tile: 16384,
        buffers: 2,
        scalar: false,
        bypass: false,
        spread: false,
    },
    Variant {
        name: "c5 inputs past L2",
        published_us: 187.68,
        cores: 48,
        tile: 16384,
        buffers: 2,
        scalar: false,
        bypass: true,
        spread: false,
    },
    Variant {
        name: "c6 no bank conflict",
        published_us: 184.52,
        cores: 48,
        tile: 16256,
        buffers: 2,
        scalar: false,
        bypass: true,
        spread: true,
    },
];

fn addresses(variant: &Variant, parity: u64) -> (u64, u64, u64) {
    if variant.spread {
        let x = parity * 2 * SLOT;
        (x, x + variant.tile * 2, 4 * SLOT + parity * variant.tile * 2)
    } else {
        let x = parity * 3 * SLOT;
        (x, x + SLOT, x + 2 * SLOT)
    }
}

fn emit(core: &mut CoreBuilder, variant: &Variant, first: u64, elements: u64) {
    let tiles = elements.div_ceil(variant.tile);
    let double = variant.buffers == 2;
    let flags = |core: &mut CoreBuilder, set: bool| {
        for id in 0..2 {
            for (source, destination) in [(pipe::V, pipe::MTE2), (pipe::MTE3, pipe::V)] {
                if set {
                    core.set(source, destination, id)
                } else {
                    core.wait(source, destination, id)
                };
            }
        }
    };
    core.at(1);
    if double {
        flags(core, true);
    }
    for tile in 0..tiles {
        let count = (elements - tile * variant.tile).min(variant.tile) as u32;
        let id = if double { (tile & 1) as u32 } else { 0 };
        let (x, y, z) = addresses(variant, u64::from(id));
        let gm = (first + tile * variant.tile) * 2;
        if double || tile > 0 {
            core.at(2).wait(pipe::V, pipe::MTE2, id);
        }
        core.bypass(variant.bypass);
        core.at(3).load(x, region(0) + gm, count * 2).at(4).load(y, region(1) + gm, count * 2);
        core.at(5).order(pipe::MTE2, pipe::V, id);
        if double || tile > 0 {
            core.at(6).wait(pipe::MTE3, pipe::V, id);
        }
        if variant.scalar {
            let parts = [Part::ub_read(x, count * 2), Part::ub_read(y, count * 2), Part::ub_write(z, count * 2)];
            core.at(7).scalar(3 * count, 0, &parts);
        } else {
            core.at(7).add(z, x, y, count);
        }
        if double || tile + 1 < tiles {
            core.at(8).set(pipe::V, pipe::MTE2, id);
        }
        core.at(9).order(pipe::V, pipe::MTE3, id);
        core.at(10).store(region(2) + gm, z, count * 2);
        if double || tile + 1 < tiles {
            core.at(11).set(pipe::MTE3, pipe::V, id);
        }
    }
    if double {
        flags(core, false);
    }
    core.barrier_all().end();
}

fn trace(variant: &Variant) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    let bytes = ROWS * COLUMNS * 2;
    trace.with_region(0, bytes, 0).with_region(1, bytes, 0).with_region(2, bytes, 1);
    let (base, more) = (ROWS / variant.cores, ROWS % variant.cores);
    let mut row = 0;
    for core in 0..variant.cores {
        let rows = base + u64::from(core < more);
        emit(trace.core(core as u32), variant, row * COLUMNS, rows * COLUMNS);
        row += rows;
    }
    trace.build()
}

#[test]
fn ladder_comes_out_in_the_published_order() {
    let machine = Machine::named("ascend910b1").unwrap();
    let mut modelled = Vec::new();
    println!("{:22} {:>12} {:>12} {:>7}   pipes s/v/mte2/mte3 us", "variant", "published us", "modelled us", "ratio");
    for variant in &LADDER {
        let bytes = trace(variant);
        let started = Instant::now();
        let timing = analyse(&bytes, &machine, &Options { hazards: false, ..Options::default() }).unwrap().remove(0);
        let timing_s = started.elapsed().as_secs_f64();
        let report = analyse(&bytes, &machine, &Options::default()).unwrap().remove(0);
        let profile = &report.profile;
        assert_eq!(timing.profile, *profile, "the model is deterministic");
        assert_eq!(report.hazards, [], "{}", variant.name);
        let ratio = profile.task_us / variant.published_us;
        println!(
            "{:22} {:12.1} {:12.1} {ratio:7.3}   {:.1} / {:.1} / {:.1} / {:.1}  {:?} bound {:.1}, {:.1} M records/s timing, {} records, with hazards {:.2} s",
            variant.name,
            variant.published_us,
            profile.task_us,
            profile.pipes.scalar_us,
            profile.pipes.vec_us,
            profile.pipes.mte2_us,
            profile.pipes.mte3_us,
            profile.limiter,
            profile.bound_us,
            report.records as f64 / timing_s / 1e6,
            report.records,
            started.elapsed().as_secs_f64() - timing_s,
        );
        assert!(profile.bound_us <= profile.task_us);
        modelled.push((profile.task_us, ratio));
    }
    for (index, pair) in modelled.windows(2).enumerate() {
        assert!(pair[0].0 > pair[1].0, "{} must be slower than {}", LADDER[index].name, LADDER[index + 1].name);
    }
    assert!(modelled.iter().all(|(_, ratio)| (0.8..1.2).contains(ratio)), "every variant within 20 %");
}
