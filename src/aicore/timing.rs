//! The play of a launch: all blocks on their cores, the memory system between them, and what came of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::core_play::{CorePlay, Held, Shared};
use super::machine::Machine;
use super::memory::{CopyShape, Memory, MemoryTotals, Ordered};
use super::pipe::{slot_destination, slot_id, slot_source};
use super::trace::{Launch, pipe_name};

/// A block that never came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) core: u32,
    pub(crate) site: u64,
    pub(crate) message: String,
}

/// Raw result of a play.
pub(crate) struct Played<'a> {
    pub(crate) blocks: Vec<(u32, CorePlay<'a>)>,
    pub(crate) memory: MemoryTotals,
    pub(crate) stuck: Vec<Stuck>,
    /// Physical cores used.
    pub(crate) cores: usize,
    /// End of each physical core in cycles.
    pub(crate) core_ends: Vec<f64>,
}

struct Play<'a, 'm> {
    shared: Shared<'m>,
    blocks: Vec<(u32, CorePlay<'a>)>,
    memory: Memory,
    departures: BinaryHeap<Reverse<(Ordered, u32, u8)>>,
    waiting_for_sync: BTreeSet<usize>,
    waiting_for_cross: BTreeSet<usize>,
    /// Times at which each cross flag was set, by id, mode and group.
    cross: BTreeMap<(u32, u32, usize), Vec<(usize, f64)>>,
    cross_done: BTreeMap<(usize, u32, u32), usize>,
    next_block: usize,
    core_ends: Vec<f64>,
    finished: usize,
    prologue: f64,
}

/// Play one launch.
pub(crate) fn play<'a>(launch: &'a Launch<'_>, machine: &Machine) -> Played<'a> {
    let parameters = &machine.parameters;
    let limit = (parameters.aiv_cores as usize).max(1);
    let cores = launch.cores.len().min(limit);
    let blocks: Vec<(u32, CorePlay<'a>)> = launch
        .cores
        .iter()
        .map(|(core, stream)| (*core, CorePlay::new(stream.cursor().with_messages(&launch.message_opcodes))))
        .collect();
    let mut play = Play {
        shared: Shared::new(machine, &launch.opcodes, cores),
        memory: Memory::new(parameters, cores),
        departures: BinaryHeap::new(),
        waiting_for_sync: BTreeSet::new(),
        waiting_for_cross: BTreeSet::new(),
        cross: BTreeMap::new(),
        cross_done: BTreeMap::new(),
        next_block: cores,
        core_ends: Vec::new(),
        finished: 0,
        prologue: parameters.prologue_us * parameters.clock_mhz,
        blocks,
    };
    for block in 0..cores {
        let start = play.prologue;
        play.blocks[block].1.begin(start);
        play.run_block(block);
    }
    play.run();
    let stuck = play.stuck();
    let Play { blocks, memory, core_ends, .. } = play;
    Played { blocks, memory: memory.totals, stuck, cores, core_ends }
}

impl Play<'_, '_> {
    fn run(&mut self) {
        let mut ended = Vec::new();
        loop {
            let next_start = self.departures.peek().map(|Reverse((time, _, _))| time.0);
            let next_end = self.memory.next_end();
            let Some(time) = [next_start, next_end].into_iter().flatten().min_by(f64::total_cmp) else { return };
            ended.clear();
            self.memory.advance(time, &mut ended);
            while let Some(Reverse((start, block, pipe))) = self.departures.peek().copied() {
                if start.0 > time {
                    break;
                }
                self.departures.pop();
                let Some(copy) = self.blocks[block as usize].1.active_copy(usize::from(pipe)) else { continue };
                let shape = CopyShape::of(self.shared.parameters, &copy.gm);
                self.memory.start(&copy.gm, &shape, copy.write, copy.bypass, (block, pipe));
            }
            for (block, pipe) in &ended {
                self.blocks[*block as usize].1.complete_copy(usize::from(*pipe), time);
                self.run_block(*block as usize);
            }
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
            match block.held {
                Held::Cores => drop(self.waiting_for_sync.insert(index)),
                Held::CrossFlag { .. } => drop(self.waiting_for_cross.insert(index)),
                _ => {}
            }
            if block.done && !was_done {
                let end = block.finished_at();
                self.finished += 1;
                if self.next_block < self.blocks.len() {
                    // The core takes the next queued block.
                    let next = self.next_block;
                    self.next_block += 1;
                    self.blocks[next].1.begin(end + self.prologue);
                    work.push(next);
                } else {
                    self.core_ends.push(end);
                }
            }
            for (id, mode, time) in sets {
                let group = group_of(mode, index);
                self.cross.entry((id, mode, group)).or_default().push((index, time));
            }
            self.release_sync(&mut work);
            self.release_cross(&mut work);
        }
    }

    fn release_sync(&mut self, work: &mut Vec<usize>) {
        if self.waiting_for_sync.is_empty() || self.waiting_for_sync.len() < self.blocks.len() {
            return;
        }
        let latest = self.blocks.iter().map(|(_, block)| block.scalar_now).fold(0.0, f64::max);
        let release = latest + self.shared.parameters.sync_all_cycles;
        for index in std::mem::take(&mut self.waiting_for_sync) {
            self.blocks[index].1.release = Some(release);
            work.push(index);
        }
    }

    fn release_cross(&mut self, work: &mut Vec<usize>) {
        for index in self.waiting_for_cross.clone() {
            let Held::CrossFlag { id, mode } = self.blocks[index].1.held else { continue };
            let group = group_of(mode, index);
            let members = group_size(mode, group, self.blocks.len());
            let done = self.cross_done.get(&(index, id, mode)).copied().unwrap_or(0);
            let Some(sets) = self.cross.get(&(id, mode, group)) else { continue };
            // The wait holds until every member has set the flag once more than this core has waited for it.
            let mut times = Vec::new();
            for member in members {
                if let Some((_, time)) = sets.iter().filter(|(from, _)| *from == member).nth(done) {
                    times.push(*time);
                } else {
                    times.clear();
                    break;
                }
            }
            if let Some(release) = times.into_iter().reduce(f64::max) {
                self.waiting_for_cross.remove(&index);
                self.cross_done.insert((index, id, mode), done + 1);
                self.blocks[index].1.release = Some(release);
                work.push(index);
            }
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
                    Held::Cores => "SyncAll that not every block reaches".to_owned(),
                    Held::CrossFlag { id, .. } => format!("cross-core flag {id} that not every core of the group sets"),
                    _ => continue,
                };
                add(block.blocked_site(), format!("block waits for {what}"));
            }
        }
        stuck
    }
}

fn group_of(mode: u32, block: usize) -> usize {
    if mode == 0 { 0 } else { block / 2 }
}

fn group_size(mode: u32, group: usize, blocks: usize) -> std::ops::Range<usize> {
    if mode == 0 { 0..blocks } else { group * 2..(group * 2 + 2).min(blocks) }
}
