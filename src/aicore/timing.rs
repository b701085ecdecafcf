//! The play of a launch: all blocks on their cores, the memory system between them, and what came of it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::core_play::{CorePlay, Held};
use super::cross::{Awaited, CrossFlags};
use super::decode::Shared;
use super::kernel_type::{KernelType, Unit};
use super::l2::L2;
use super::machine::Machine;
use super::memory::{CopyShape, Memory, MemoryTotals, Ordered};
use super::path::{Moment, Step};
use super::pipe::{Copy, slot_destination, slot_id, slot_source};
use super::profile::PathPart;
use super::trace::{Launch, S, pipe_name};

/// A block that never came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) core: u32,
    pub(crate) site: u64,
    pub(crate) message: String,
}

/// Raw result of a play.
pub(crate) struct Played<'a, T: Moment = f64> {
    pub(crate) blocks: Vec<(u32, CorePlay<'a, T>)>,
    pub(crate) memory: MemoryTotals,
    pub(crate) stuck: Vec<Stuck>,
    /// Physical cores used: vector cores, cube cores.
    pub(crate) cores: [usize; 2],
    /// End of each physical core in cycles.
    pub(crate) core_ends: Vec<f64>,
    /// What the launch left in the cache.
    pub(crate) l2: L2,
    /// The block whose end let each block begin, where more blocks than cores take turns.
    pub(crate) before: Vec<Option<usize>>,
    /// Cores waited for each other or told each other something.
    pub(crate) talking: bool,
}

struct Play<'a, 'm, T: Moment> {
    shared: Shared<'m>,
    blocks: Vec<(u32, CorePlay<'a, T>)>,
    memory: Memory,
    departures: BinaryHeap<Reverse<(Ordered, u32, u8)>>,
    /// Blocks that stand at a barrier or a flag of other cores.
    waiting: BTreeSet<usize>,
    /// Blocks whose arrival at the barrier they stand at is known to `cross`.
    arrived: BTreeSet<usize>,
    cross: CrossFlags<T>,
    /// Blocks of each group, and the group of each block.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    next_group: usize,
    core_ends: Vec<f64>,
    before: Vec<Option<usize>>,
    talking: bool,
    prologue: f64,
}

/// Play one launch from a state of the cache. Moments of blocks that `followed` names by index keep their history.
pub(crate) fn play<'a, T: Moment>(
    launch: &'a Launch<'_>,
    machine: &Machine,
    l2: L2,
    followed: impl Fn(usize) -> bool,
) -> Played<'a, T> {
    let parameters = &machine.parameters;
    let kind = launch.kernel_type();
    let names: Vec<_> = launch.cores.keys().map(|core| launch.core_name(*core)).collect();
    let blocks: Vec<(u32, CorePlay<'a, T>)> = launch
        .cores
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(index, ((core, stream), name))| {
            let cursor = stream.cursor().with_messages(&launch.message_opcodes);
            (*core, CorePlay::new(cursor, name.unit, T::log(index, followed(index))))
        })
        .collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if index == 0 || names[index - 1].group != name.group {
            groups.push(Vec::new());
        }
        group_of.push(groups.len() - 1);
        if let Some(last) = groups.last_mut() {
            last.push(index);
        }
    }
    let running = groups.len().min(group_limit(kind, machine));
    let count = |unit: Unit| groups[..running].iter().flatten().filter(|block| names[**block].unit == unit).count();
    let cores = [count(Unit::Vector), count(Unit::Cube)];
    let mut play = Play {
        shared: Shared::new(machine, &launch.opcodes, cores),
        memory: Memory::new(parameters, cores, l2),
        departures: BinaryHeap::new(),
        waiting: BTreeSet::new(),
        arrived: BTreeSet::new(),
        cross: CrossFlags::new(names),
        groups,
        group_of,
        next_group: running,
        core_ends: Vec::new(),
        before: vec![None; blocks.len()],
        talking: false,
        prologue: parameters.prologue_us * parameters.clock_mhz,
        blocks,
    };
    for group in 0..running {
        play.begin(group, T::default());
        for block in play.groups[group].clone() {
            play.run_block(block);
        }
    }
    play.run();
    let stuck = play.stuck();
    let Play { blocks, memory, core_ends, before, talking, .. } = play;
    Played { blocks, memory: memory.totals, stuck, cores, core_ends, l2: memory.l2, before, talking }
}

impl<T: Moment> Play<'_, '_, T> {
    fn run(&mut self) {
        let mut ended = Vec::new();
        let mut departing: Vec<(Copy, u32, u8)> = Vec::new();
        loop {
            let next_start = self.departures.peek().map(|Reverse((time, _, _))| time.0);
            let next_end = self.memory.next_end();
            let Some(time) = [next_start, next_end].into_iter().flatten().min_by(f64::total_cmp) else { return };
            ended.clear();
            self.memory.advance(time, &mut ended);
            departing.clear();
            while let Some(Reverse((start, block, pipe))) = self.departures.peek().copied() {
                if start.0 > time {
                    break;
                }
                self.departures.pop();
                let Some(copy) = self.blocks[block as usize].1.active_copy(usize::from(pipe)) else { continue };
                departing.push((copy, block, pipe));
            }
            for (copy, block, pipe) in &departing {
                let shape = CopyShape::of(self.shared.parameters, &copy.gm);
                let unit = self.blocks[*block as usize].1.unit;
                let same = |(other, core, _): &(Copy, u32, u8)| core != block && other.gm.addr == copy.gm.addr;
                let crowd = !copy.write && departing.len() > 1 && departing.iter().any(same);
                let alone = self.memory.start(copy, &shape, unit, (*block, *pipe), crowd);
                self.blocks[*block as usize].1.copy_moves(usize::from(*pipe), alone);
            }
            for (block, pipe) in &ended {
                self.blocks[*block as usize].1.complete_copy(usize::from(*pipe), time);
                self.run_block(*block as usize);
            }
        }
    }

    fn begin(&mut self, group: usize, free: T) {
        for block in &self.groups[group] {
            self.blocks[*block].1.begin(free, self.prologue);
        }
    }

    fn run_block(&mut self, index: usize) {
        let mut work = vec![index];
        while let Some(index) = work.pop() {
            let (_, block) = &mut self.blocks[index];
            let was_done = block.done;
            block.run(&self.shared);
            for departure in block.departures.drain(..) {
                self.departures.push(Reverse((Ordered(departure.time), index as u32, departure.pipe)));
            }
            let sets = std::mem::take(&mut block.cross_sets);
            let held = block.held;
            let now = block.scalar_now;
            if block.done && !was_done {
                self.end_block(index, &mut work);
            }
            let mut woken = Vec::new();
            self.talking |= !sets.is_empty() || matches!(held, Held::Cores { .. } | Held::CrossFlag { .. });
            for (id, mode, time) in sets {
                woken.extend(self.cross.set(index, id, mode, time, T::later));
            }
            match held {
                Held::Cores { everybody } => {
                    self.waiting.insert(index);
                    if self.arrived.insert(index) {
                        woken.extend(self.cross.arrive(index, everybody, now, T::later));
                    }
                }
                Held::CrossFlag { .. } => {
                    self.waiting.insert(index);
                    woken.push(index);
                }
                _ => {}
            }
            for block in woken {
                self.release(block, &mut work);
            }
        }
    }

    /// The cores of a group that is through take the next queued group.
    fn end_block(&mut self, index: usize, work: &mut Vec<usize>) {
        let group = &self.groups[self.group_of[index]];
        if self.next_group >= self.groups.len() {
            self.core_ends.push(self.blocks[index].1.finished_at().at());
        } else if group.iter().all(|block| self.blocks[*block].1.done) {
            let (mut end, mut last) = (T::default(), index);
            for block in group {
                let finished = self.blocks[*block].1.finished_at();
                if finished.at() > end.at() {
                    (end, last) = (finished, *block);
                }
            }
            let next = self.next_group;
            self.next_group += 1;
            for block in &self.groups[next] {
                self.before[*block] = Some(last);
            }
            self.begin(next, end);
            work.extend(&self.groups[next]);
        }
    }

    /// Lets a waiting block go on if what it waits for has been delivered.
    fn release(&mut self, index: usize, work: &mut Vec<usize>) {
        if !self.waiting.contains(&index) {
            return;
        }
        let parameters = self.shared.parameters;
        let (awaited, delay) = match self.blocks[index].1.held {
            Held::Cores { everybody: true } => (Awaited::Everybody, parameters.sync_all_cycles),
            Held::Cores { everybody: false } => (Awaited::OwnKind, parameters.sync_all_cycles),
            Held::CrossFlag { id } => (Awaited::Flag(id), parameters.cross_flag_cycles),
            _ => return,
        };
        if let Some(time) = self.cross.take(index, awaited) {
            self.waiting.remove(&index);
            self.arrived.remove(&index);
            let block = &mut self.blocks[index].1;
            let step = Step::new(PathPart::Cores, S, (u16::MAX, block.blocked_site()));
            block.release = Some(time.after(delay, step, &mut block.log));
            work.push(index);
        }
    }

    fn stuck(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for (core, block) in self.blocks.iter().filter(|(_, block)| !block.done) {
            let mut add = |site: u64, message: String| stuck.push(Stuck { core: *core, site, message });
            let unmet = block.unmet_waits();
            for (slot, site) in &unmet {
                let (source, destination) = (pipe_name(slot_source(*slot)), pipe_name(slot_destination(*slot)));
                let id = slot_id(*slot);
                add(
                    *site,
                    format!(
                        "{destination} waits for flag {}_{} id {id} that {source} never sets",
                        source.to_uppercase(),
                        destination.to_uppercase()
                    ),
                );
            }
            if unmet.is_empty() {
                let what = match block.held {
                    Held::Cores { .. } => "SyncAll that not every block reaches".to_owned(),
                    Held::CrossFlag { id } => format!("cross-core flag {id} that not every core of the group sets"),
                    _ => continue,
                };
                add(block.blocked_site(), format!("block waits for {what}"));
            }
        }
        stuck
    }
}

/// Groups that run at the same time.
fn group_limit(kind: KernelType, machine: &Machine) -> usize {
    let parameters = &machine.parameters;
    let vectors = parameters.aiv_cores as usize;
    let cubes = parameters.aic_cores as usize;
    match kind {
        KernelType::Aiv => vectors,
        _ if kind.vectors() == 0 => cubes,
        _ => cubes.min(vectors / kind.vectors()),
    }
    .max(1)
}
