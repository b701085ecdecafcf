//! From a play to a [`Profile`]: times per pipe, stalls, timeline, counters and the bound.

use std::collections::BTreeMap;

use super::alike::Likeness;
use super::core_play::CorePlay;
use super::decode::BlockTotals;
use super::kernel_type::Unit;
use super::l2::L2;
use super::machine::Machine;
use super::memory::{bytes_per_cycle, core_read_limits};
use super::path::{self, Traced};
use super::pipe::{Busy, Reason};
use super::profile::{CutBuffers, Interval, Limiter, PathStep, PipeTimes, Profile, Stall, UnitTimes};
use super::record::{FIX, M, MTE1, MTE2, MTE3, PIPE_COUNT, S, V, pipe_name};
use super::timing::{Manner, Played, play};
use super::trace::Launch;

/// Share of the task below which no pipe explains the time.
const LATENCY_SHARE: f64 = 0.5;

/// Summarise a play.
pub(crate) fn profile(launch: &Launch<'_>, machine: &Machine, played: &Played<'_>) -> Profile {
    let parameters = &machine.parameters;
    let us = |cycles: f64| machine.cycles_to_us(cycles);
    let cores = physical_cores(played) as f64;
    let unit_means = [Unit::Vector, Unit::Cube].map(|unit| mean_times(machine, played, unit));
    // Averages over idle pipes of the other kind of core would say nothing.
    let mean: [f64; PIPE_COUNT] = std::array::from_fn(|pipe| unit_means[0][pipe].max(unit_means[1][pipe]));
    // A stuck block has no end; its last known time still gives a lower bound.
    let ends = if played.core_ends.is_empty() { played.ends() } else { played.core_ends.clone() };
    let longest = us(ends.iter().copied().fold(0.0, f64::max));
    let shortest = us(ends.iter().copied().fold(f64::INFINITY, f64::min));
    let shortest = if shortest.is_finite() { shortest } else { 0.0 };
    let mix_us = if launch.kernel_type().is_mixed() { parameters.mix_launch_us } else { 0.0 };
    let launch_us = parameters.launch_us + mix_us + parameters.launch_per_core_us * (cores - 1.0);
    let task_us = launch_us + longest;
    let start = played.blocks().map(|block| block.start_cycles).fold(0.0, f64::max);
    let fixed_us = launch_us + us(start);
    let (bound, limiter) = bound(machine, played, fixed_us, task_us);
    let fullest = played.blocks().map(|block| &block.totals).max_by_key(|totals| totals.cut_end);
    Profile {
        kernel: launch.info.get("kernel").cloned().unwrap_or_default(),
        task_us,
        bound_us: bound,
        fixed_us,
        limiter,
        pipes: pipe_times(&mean),
        units: ["aiv", "aic"]
            .into_iter()
            .zip(played.cores)
            .zip(&unit_means)
            .filter(|((_, cores), _)| *cores > 0)
            .map(|((unit, cores), mean)| UnitTimes {
                unit: unit.to_owned(),
                cores: cores as u32,
                pipes: pipe_times(mean),
            })
            .collect(),
        cores: physical_cores(played) as u32,
        longest_core_us: longest,
        shortest_core_us: shortest,
        gm_read_bytes: played.memory.read,
        gm_write_bytes: played.memory.written,
        stalls: stalls(machine, played, cores),
        timeline: timeline(launch, machine, played),
        critical_path: Vec::new(),
        buffers: fullest.map(|totals| buffers(&totals.cuts)).unwrap_or_default(),
        buffers_end_bytes: fullest.map_or(0, |totals| totals.cut_end),
        counters: counters(machine, played, &mean, longest, &ends),
    }
}

/// Buffers by the place where they were cut, in the order of the cuts.
fn buffers(cuts: &[(u64, u64)]) -> Vec<CutBuffers> {
    let mut found: Vec<CutBuffers> = Vec::new();
    for (site, bytes) in cuts {
        match found.iter_mut().find(|known| known.site == *site) {
            Some(known) => known.bytes += bytes,
            None => found.push(CutBuffers { site: *site, bytes: *bytes }),
        }
    }
    found
}

/// Cores of both kinds that ran.
fn physical_cores(played: &Played<'_>) -> usize {
    played.cores.iter().sum::<usize>().max(1)
}

/// Busy time per pipe in microseconds, mean over the cores of a kind.
fn mean_times(machine: &Machine, played: &Played<'_>, unit: Unit) -> [f64; PIPE_COUNT] {
    let mut busy = [0.0; PIPE_COUNT];
    for block in played.blocks().filter(|block| block.unit == unit) {
        busy[S] += block.start_cycles + block.scalar_busy;
        for (total, pipe) in busy.iter_mut().zip(&block.pipes).skip(1) {
            *total += pipe.busy;
        }
    }
    let cores = played.cores[unit as usize].max(1) as f64;
    busy.map(|cycles| machine.cycles_to_us(cycles / cores))
}

fn pipe_times(mean_us: &[f64; PIPE_COUNT]) -> PipeTimes {
    PipeTimes {
        scalar_us: mean_us[S],
        vec_us: mean_us[V],
        mte1_us: mean_us[MTE1],
        mte2_us: mean_us[MTE2],
        mte3_us: mean_us[MTE3],
        cube_us: mean_us[M],
        fixpipe_us: mean_us[FIX],
    }
}

/// Lower bound of the task with this division of work: the busiest core per pipe, and the shared memory.
fn bound(machine: &Machine, played: &Played<'_>, fixed_us: f64, task_us: f64) -> (f64, Limiter) {
    let parameters = &machine.parameters;
    let us = |cycles: f64| machine.cycles_to_us(cycles);
    let read_limit = if played.memory.read_hits * 2 > played.memory.read {
        [parameters.core_read_l2, parameters.cube_read_l2]
    } else {
        core_read_limits(parameters, played.cores)
    };
    let spread = (played.count() as f64 / physical_cores(played) as f64).max(1.0).ceil();
    let most = |cost: &dyn Fn(&CorePlay<'_, f64>) -> f64| spread * played.blocks().map(cost).fold(0.0, f64::max);
    let hbm = bytes_per_cycle(parameters, parameters.hbm_read_gbps);
    let port = played.memory.read as f64 / bytes_per_cycle(parameters, parameters.l2_read_gbps)
        + played.memory.written as f64 / bytes_per_cycle(parameters, parameters.l2_write_gbps);
    let candidates = [
        (Limiter::Mte2, most(&|block| block.totals.read_effective / read_limit[block.unit as usize])),
        (Limiter::Mte3, most(&|block| block.totals.write_effective / parameters.core_write)),
        (Limiter::Memory, (played.memory.hbm_read as f64 / hbm).max(port)),
        (Limiter::Vector, most(&|block| block.totals.vector_throughput)),
        (Limiter::Cube, most(&|block| block.totals.cube_throughput)),
        (Limiter::Mte1, most(&|block| block.totals.mte1_throughput)),
        (Limiter::Fixpipe, most(&|block| block.totals.fixpipe_effective / parameters.fixpipe_write)),
        (Limiter::Scalar, most(&|block| block.scalar_busy)),
    ];
    let (mut limiter, cycles) =
        candidates.into_iter().fold((Limiter::Latency, 0.0), |best, next| if next.1 > best.1 { next } else { best });
    let bound = (fixed_us + us(cycles)).min(task_us);
    if fixed_us > LATENCY_SHARE * task_us {
        limiter = Limiter::Launch;
    } else if bound < LATENCY_SHARE * task_us {
        limiter = Limiter::Latency;
    }
    (bound, limiter)
}

fn reason_text(pipe: u8, reason: Reason) -> String {
    let name = |pipe: u8| pipe_name(usize::from(pipe));
    match reason {
        Reason::Flag(source) => format!("flag {}->{}", name(source), name(pipe)),
        Reason::Barrier => format!("barrier {}", name(pipe)),
        Reason::BarrierAll => "barrier all".to_owned(),
        Reason::Dependent => "dependent instruction".to_owned(),
        Reason::Issue => "scalar issue".to_owned(),
        Reason::Cores => "other cores".to_owned(),
        Reason::QueueFull(target) => format!("queue of {} full", name(target)),
        Reason::ScalarSync(source) => format!("{}->s access order", name(source)),
    }
}

fn stalls(machine: &Machine, played: &Played<'_>, cores: f64) -> Vec<Stall> {
    let mut sums: BTreeMap<(u8, Reason), (f64, f64, u64)> = BTreeMap::new();
    for block in played.blocks() {
        for (pipe, reason, cycles, longest, site) in &block.stalls.0 {
            let entry = sums.entry((*pipe, *reason)).or_default();
            entry.0 += cycles;
            if *longest > entry.1 {
                (entry.1, entry.2) = (*longest, *site);
            }
        }
    }
    let mut stalls: Vec<Stall> = sums
        .into_iter()
        .map(|((pipe, reason), (cycles, _, site))| Stall {
            pipe: pipe_name(usize::from(pipe)).to_owned(),
            reason: reason_text(pipe, reason),
            time_us: machine.cycles_to_us(cycles / cores),
            site,
        })
        .collect();
    stalls
        .sort_by(|a, b| b.time_us.total_cmp(&a.time_us).then_with(|| (&a.pipe, &a.reason).cmp(&(&b.pipe, &b.reason))));
    stalls
}

/// Records up to which cores that wait for each other are all followed.
const FOLLOWED_RECORDS: u64 = 2_000_000;

/// Why the longest core takes as long as it does: the launch is played once more, with the history of its times.
///
/// Nothing comes out of a launch in which a block hangs: it has no end to go back from.
pub(crate) fn critical_path(
    launch: &Launch<'_>,
    machine: &Machine,
    l2: L2,
    warm: bool,
    likeness: &Likeness,
    first: &Played<'_>,
) -> Vec<PathStep> {
    if !first.stuck.is_empty() {
        return Vec::new();
    }
    let ends = first.ends().into_iter().enumerate();
    let Some((longest, _)) = ends.reduce(|best, block| if block.1 > best.1 { block } else { best }) else {
        return Vec::new();
    };
    let records: u64 = launch.cores.values().map(|stream| stream.records).sum();
    let mut followed = vec![first.talking && records <= FOLLOWED_RECORDS; first.count()];
    let mut block = Some(longest);
    while let Some(index) = block {
        followed[index] = true;
        block = first.before[index];
    }
    let manner = Manner { followed: &|index| followed[index], likeness, shortcuts: true, warm };
    let again = play::<Traced>(launch, machine, l2, &manner);
    let logs: Vec<Option<&path::Log>> =
        (0..again.count()).map(|index| again.block(index).map(|block| &block.log)).collect();
    let Some(end) = again.block(longest).map(CorePlay::finished_at) else { return Vec::new() };
    path::steps(end, &logs, &launch.opcodes, |cycles| machine.cycles_to_us(cycles))
}

fn timeline(launch: &Launch<'_>, machine: &Machine, played: &Played<'_>) -> Vec<Interval> {
    let longest =
        played.blocks().reduce(|best, block| if block.finished_at() > best.finished_at() { block } else { best });
    let Some(block) = longest else { return Vec::new() };
    let mut busy: Vec<Busy> = block.timeline.clone();
    busy.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.pipe.cmp(&b.pipe)));
    busy.iter()
        .map(|interval| Interval {
            pipe: pipe_name(usize::from(interval.pipe)).to_owned(),
            opcode: launch.opcodes.get(usize::from(interval.opcode)).map_or_else(String::new, |op| op.name.clone()),
            start_us: machine.cycles_to_us(interval.start),
            end_us: machine.cycles_to_us(interval.end),
            site: interval.site,
        })
        .collect()
}

fn counters(
    machine: &Machine,
    played: &Played<'_>,
    mean_us: &[f64; PIPE_COUNT],
    longest_us: f64,
    ends: &[f64],
) -> BTreeMap<String, f64> {
    let cores = physical_cores(played) as f64;
    let sum = |value: &dyn Fn(&BlockTotals) -> f64| -> f64 { played.blocks().map(|block| value(&block.totals)).sum() };
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let mean_end_us = machine.cycles_to_us(ratio(ends.iter().sum(), ends.len() as f64));
    let mut counters = BTreeMap::new();
    let mut put = |name: &str, value: f64| {
        counters.insert(name.to_owned(), value);
    };
    let mut pipes = vec![("scalar", S), ("vec", V), ("mte2", MTE2), ("mte3", MTE3)];
    if played.cores[Unit::Cube as usize] > 0 {
        pipes.extend([("mte1", MTE1), ("cube", M), ("fixpipe", FIX)]);
        put("cube_instructions", sum(&|totals| totals.cube_instructions as f64));
    }
    for (name, pipe) in &pipes {
        put(&format!("{name}_ratio"), ratio(mean_us[*pipe], mean_end_us));
    }
    let mut waits = [0.0; PIPE_COUNT];
    for block in played.blocks() {
        for (pipe, reason, cycles, _, _) in &block.stalls.0 {
            if *reason != Reason::Issue {
                waits[usize::from(*pipe)] += cycles;
            }
        }
    }
    for (name, pipe) in pipes {
        put(&format!("{name}_wait_ratio"), ratio(machine.cycles_to_us(waits[pipe] / cores), mean_end_us));
    }
    let copies = sum(&|totals| totals.copies as f64);
    put("bank_conflict_cycles", sum(&|totals| totals.conflict) / cores);
    put("bank_conflict_ratio", ratio(machine.cycles_to_us(sum(&|totals| totals.conflict) / cores), mean_us[V]));
    put("dma_count", copies);
    put("dma_mean_bytes", ratio(sum(&|totals| totals.copy_bytes as f64), copies));
    put("dma_mean_burst_bytes", ratio(sum(&|totals| totals.copy_bytes as f64), sum(&|totals| totals.bursts as f64)));
    put("gm_read_bytes", played.memory.read as f64);
    put("gm_write_bytes", played.memory.written as f64);
    put("hbm_read_bytes", played.memory.hbm_read as f64);
    put("hbm_write_bytes", played.memory.hbm_written as f64);
    put("l2_hit_rate", ratio(played.memory.read_hits as f64, played.memory.read as f64));
    put("vector_instructions", sum(&|totals| totals.vector_instructions as f64));
    put("records", sum(&|totals| totals.records as f64));
    put("core_imbalance", ratio(longest_us, mean_end_us).max(1.0) - 1.0);
    counters
}
