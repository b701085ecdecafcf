//! The play of a launch: all blocks on their cores, the memory system between them, and what came of it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::agenda::Agenda;
use super::alike::{Alike, AloneCycles, Likeness, Part, Shifts};
use super::copy::{Copy, CopyShape};
use super::core_play::{CorePlay, Held};
use super::cross::{Awaited, CrossFlags};
use super::decode::Shared;
use super::kernel_type::{CoreName, KernelType, Unit};
use super::l2::L2;
use super::machine::{Machine, Parameters};
use super::memory::{Memory, MemoryTotals, Ordered};
use super::path::{Moment, TimeSpent};
use super::pipe::{slot_destination, slot_id, slot_source};
use super::profile::PathPart;
use super::record::{PIPE_COUNT, S, pipe_name};
use super::stream::{CoreStream, OperandReader};
use super::trace::Launch;

/// A block that never came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) core: u32,
    pub(crate) site: u64,
    pub(crate) message: String,
}

/// Raw result of a play.
pub(crate) struct Played<'a, T: Moment = f64> {
    plays: Vec<CorePlay<'a, T>>,
    /// The play of each block; [`NO_PLAY`] for blocks that never began.
    play_of: Vec<usize>,
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

const NO_PLAY: usize = usize::MAX;

impl<'a, T: Moment> Played<'a, T> {
    /// Number of blocks.
    pub(crate) fn count(&self) -> usize {
        self.play_of.len()
    }

    /// A block by its index, if it began.
    pub(crate) fn block(&self, index: usize) -> Option<&CorePlay<'a, T>> {
        self.plays.get(*self.play_of.get(index)?)
    }

    /// Blocks that began, in order. Several may be one play.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &CorePlay<'a, T>> {
        self.play_of.iter().filter_map(|play| self.plays.get(*play))
    }

    /// When each block ended, 0 for those that never began.
    pub(crate) fn ends(&self) -> Vec<f64> {
        (0..self.count()).map(|index| self.block(index).map_or(0.0, |block| block.finished_at().at())).collect()
    }
}

/// How to play.
pub(crate) struct Manner<'f> {
    /// Blocks by index whose moments keep their history.
    pub(crate) followed: &'f dyn Fn(usize) -> bool,
    /// Blocks that take the same time, each kind of which is played once.
    pub(crate) likeness: &'f Likeness,
    /// Compute once what instructions cost that came before.
    pub(crate) shortcuts: bool,
    /// The kernel ran before on these cores, so that its code is still there.
    pub(crate) warm: bool,
}

/// Where a block has the addresses of its copies from.
#[derive(Clone)]
enum Addresses<'a> {
    /// From the play: it follows the block's own stream.
    Own,
    /// They lie so far behind those of the play.
    Behind(Shifts),
    /// From its own stream, at the place where the play stands in another.
    Stream(OperandReader<'a>),
}

struct Play<'a, 'm, T: Moment> {
    shared: Shared<'m>,
    launch: &'a Launch<'a>,
    streams: Vec<&'a CoreStream<'a>>,
    names: Vec<CoreName>,
    plays: Vec<CorePlay<'a, T>>,
    play_of: Vec<usize>,
    /// The block whose stream each play follows.
    leaders: Vec<usize>,
    /// Whether each block has ended.
    ended: Vec<bool>,
    /// What each block's copies in flight would take alone.
    alone: Vec<AloneCycles>,
    alike: Alike,
    likeness: &'m Likeness,
    /// Where the addresses of each block's copies come from.
    addresses: Vec<Addresses<'a>>,
    followed: Vec<bool>,
    memory: Memory,
    departures: Agenda<(Ordered, u32, u8)>,
    /// Blocks that stand at a barrier or a flag of other cores.
    waiting: BTreeSet<usize>,
    /// Blocks whose arrival at the barrier they stand at is known to `cross`.
    arrived: BTreeSet<usize>,
    cross: CrossFlags<T>,
    /// Blocks of each group, and the group of each block.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    next_group: usize,
    /// Groups that are through, by the time when their cores are free.
    freed: BinaryHeap<Reverse<(Ordered, usize)>>,
    core_ends: Vec<f64>,
    before: Vec<Option<usize>>,
    talking: bool,
    /// Cycles of the scalar unit before the first instruction of a block, and of the first block on a core.
    prologue: f64,
    first_prologue: f64,
}

/// Play one launch from a state of the cache.
pub(crate) fn play<'a, T: Moment>(
    launch: &'a Launch<'a>,
    machine: &Machine,
    l2: L2,
    manner: &Manner<'_>,
) -> Played<'a, T> {
    let parameters = &machine.parameters;
    let kind = launch.kernel_type();
    let names: Vec<_> = launch.cores.keys().map(|core| launch.core_name(*core)).collect();
    let mut kinds = manner.likeness.kinds.clone();
    // A history belongs to one block.
    for block in (0..names.len()).filter(|block| (manner.followed)(*block)) {
        kinds[block] = (names.len() + block) as u32;
    }
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
        shared: Shared::new(machine, &launch.opcodes, cores, manner.shortcuts),
        launch,
        streams: launch.cores.values().collect(),
        plays: Vec::new(),
        play_of: vec![NO_PLAY; names.len()],
        leaders: Vec::new(),
        ended: vec![false; names.len()],
        alone: vec![[0.0; PIPE_COUNT]; names.len()],
        alike: Alike::new(kinds),
        likeness: manner.likeness,
        addresses: vec![Addresses::Own; names.len()],
        followed: (0..names.len()).map(manner.followed).collect(),
        before: vec![None; names.len()],
        memory: Memory::new(parameters, cores, l2),
        departures: Agenda::default(),
        waiting: BTreeSet::new(),
        arrived: BTreeSet::new(),
        cross: CrossFlags::new(names.clone()),
        names,
        groups,
        group_of,
        next_group: running,
        freed: BinaryHeap::new(),
        core_ends: Vec::new(),
        talking: false,
        prologue: parameters.prologue_us * parameters.clock_mhz,
        first_prologue: first_prologue_us(parameters, manner.warm) * parameters.clock_mhz,
    };
    for group in 0..running {
        play.begin(group, T::default());
        for block in play.groups[group].clone() {
            play.run_block(block);
        }
    }
    play.run();
    let stuck = play.stuck();
    let Play { plays, play_of, memory, core_ends, before, talking, .. } = play;
    Played { plays, play_of, memory: memory.totals, stuck, cores, core_ends, l2: memory.l2, before, talking }
}

impl<T: Moment> Play<'_, '_, T> {
    fn run(&mut self) {
        let mut ended = Vec::new();
        let mut departing: Vec<(Copy, CopyShape, u32, u8)> = Vec::new();
        let mut readers: Vec<(u64, u32)> = Vec::new();
        loop {
            let next_start = self.departures.first().map(|(time, _, _)| time.0);
            let next_end = self.memory.next_end();
            let next_free = self.freed.peek().map(|Reverse((time, _))| time.0);
            let events = [next_start, next_end, next_free];
            let Some(time) = events.into_iter().flatten().min_by(f64::total_cmp) else { return };
            // Whoever is free first takes the next blocks, whoever was found to be through first.
            if [next_start, next_end].into_iter().flatten().all(|other| other > time) {
                if let Some(Reverse((_, group))) = self.freed.pop() {
                    self.take_next(group);
                }
                continue;
            }
            ended.clear();
            self.memory.advance(time, &mut ended);
            departing.clear();
            while let Some((start, block, pipe)) = self.departures.first().copied() {
                if start.0 > time {
                    break;
                }
                self.departures.take_first();
                let play = self.play_of[block as usize];
                let Some((mut copy, shape)) = self.plays[play].active_copy(usize::from(pipe)) else { continue };
                match &mut self.addresses[block as usize] {
                    Addresses::Own => {}
                    Addresses::Behind(shifts) => copy.gm.addr = shifts.behind(copy.gm.addr),
                    Addresses::Stream(reader) => {
                        if let Some(own) = reader.operand(copy.place) {
                            copy.gm = own;
                        }
                    }
                }
                departing.push((copy, shape, block, pipe));
            }
            readers.clear();
            // Blocks with tensor parts of their own mostly come in the order of these.
            if !departing.is_sorted_by(|(a, ..), (b, ..)| a.gm.addr < b.gm.addr) {
                readers.extend(departing.iter().map(|(copy, _, block, _)| (copy.gm.addr, *block)));
                readers.sort_unstable();
            }
            for (copy, shape, block, pipe) in &departing {
                let unit = self.plays[self.play_of[*block as usize]].unit;
                let crowd = !copy.write && {
                    let from = readers.partition_point(|(address, _)| *address < copy.gm.addr);
                    let same = readers[from..].iter().take_while(|(address, _)| *address == copy.gm.addr);
                    same.into_iter().any(|(_, other)| other != block)
                };
                let alone = self.memory.start(copy, shape, unit, (*block, *pipe), crowd);
                self.alone[*block as usize][usize::from(*pipe)] = alone;
            }
            if self.alike.is_used() {
                self.complete_alike(&ended, time);
            } else {
                for (block, pipe) in &ended {
                    let (block, pipe) = (*block as usize, usize::from(*pipe));
                    self.plays[self.play_of[block]].complete_copy(pipe, time, self.alone[block][pipe]);
                    self.run_block(block);
                }
            }
        }
    }

    /// Lets the plays whose copies ended at `time` go on. A play goes on as one for all blocks whose copies ended alike, and
    /// divides where they did not.
    fn complete_alike(&mut self, ended: &[(u32, u8)], time: f64) {
        for Part { play, blocks, pipes } in self.alike.part(ended, &self.play_of, &self.alone) {
            let play = if self.alike.members(play) == blocks.len() {
                play
            } else {
                self.plays.push(self.plays[play].clone());
                self.leaders.push(self.leaders[play]);
                for block in &blocks {
                    self.play_of[*block as usize] = self.plays.len() - 1;
                }
                self.alike.divide(play, blocks.len());
                self.plays.len() - 1
            };
            let core = &mut self.plays[play];
            for pipe in pipes.iter() {
                core.complete_copy(pipe, time, self.alone[blocks[0] as usize][pipe]);
                core.run(&self.shared);
            }
            for departure in core.departures.drain(..) {
                for block in &blocks {
                    self.departures.add((Ordered(departure.time), *block, departure.pipe));
                }
            }
        }
        // Cores that are through take the next blocks in the order in which their last copies ended.
        for (position, (block, _)) in ended.iter().enumerate() {
            let index = *block as usize;
            if self.plays[self.play_of[index]].done && !ended[position + 1..].iter().any(|(other, _)| other == block) {
                self.run_block(index);
            }
        }
    }

    fn begin(&mut self, group: usize, free: T) {
        for block in self.groups[group].clone() {
            if let Some(play) = self.alike.join(block, free.at()) {
                self.play_of[block] = play;
                let distance = self.likeness.distance(self.leaders[play], block);
                self.addresses[block] = match distance {
                    Some(shifts) => Addresses::Behind(shifts),
                    None => Addresses::Stream(OperandReader::new(self.streams[block])),
                };
                continue;
            }
            let cursor = self.streams[block].cursor(&self.launch.message_opcodes);
            let mut play = CorePlay::new(cursor, self.names[block].unit, T::log(block, self.followed[block]));
            let first = free.at() <= 0.0;
            play.begin(free, if first { self.first_prologue } else { self.prologue });
            self.play_of[block] = self.plays.len();
            self.plays.push(play);
            self.leaders.push(block);
            self.alike.begin(block, self.play_of[block], free.at());
        }
    }

    fn run_block(&mut self, index: usize) {
        let mut work = vec![index];
        while let Some(index) = work.pop() {
            let play = self.play_of[index];
            let block = &mut self.plays[play];
            block.run(&self.shared);
            // A block that began together with one like it finds that everything has been done; only its copies have not.
            let known = self.alike.first_copies(play, &mut block.departures);
            for departure in known.iter().copied().chain(block.departures.drain(..)) {
                self.departures.add((Ordered(departure.time), index as u32, departure.pipe));
            }
            let sets = std::mem::take(&mut block.cross_sets);
            let held = block.held;
            let now = block.scalar_now;
            if block.done && !std::mem::replace(&mut self.ended[index], true) {
                self.end_block(index);
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

    /// Notes when the cores of a group are free, once all of them are through.
    fn end_block(&mut self, index: usize) {
        let number = self.group_of[index];
        let group = &self.groups[number];
        if group.iter().all(|block| self.plays[self.play_of[*block]].done) {
            let ends = group.iter().map(|block| self.plays[self.play_of[*block]].finished_at().at());
            self.freed.push(Reverse((Ordered(ends.fold(0.0, f64::max)), number)));
        }
    }

    /// The cores of a group that is through take the next queued group.
    fn take_next(&mut self, number: usize) {
        let finished = |block: &usize| self.plays[self.play_of[*block]].finished_at();
        let group = &self.groups[number];
        if self.next_group >= self.groups.len() {
            self.core_ends.extend(group.iter().map(|block| finished(block).at()));
            return;
        }
        let (mut end, mut last) = (T::default(), group[0]);
        for block in group {
            if finished(block).at() > end.at() {
                (end, last) = (finished(block), *block);
            }
        }
        let next = self.next_group;
        self.next_group += 1;
        for block in &self.groups[next] {
            self.before[*block] = Some(last);
        }
        self.begin(next, end);
        for block in self.groups[next].clone() {
            self.run_block(block);
        }
    }

    /// Lets a waiting block go on if what it waits for has been delivered.
    fn release(&mut self, index: usize, work: &mut Vec<usize>) {
        if !self.waiting.contains(&index) {
            return;
        }
        let parameters = self.shared.parameters;
        let (awaited, delay) = match self.plays[self.play_of[index]].held {
            Held::Cores { everybody: true } => (Awaited::Everybody, parameters.sync_all_cycles),
            Held::Cores { everybody: false } => (Awaited::OwnKind, parameters.sync_all_cycles),
            Held::CrossFlag { id } => (Awaited::Flag(id), parameters.cross_flag_cycles),
            _ => return,
        };
        if let Some(time) = self.cross.take(index, awaited) {
            self.waiting.remove(&index);
            self.arrived.remove(&index);
            let block = &mut self.plays[self.play_of[index]];
            let step = TimeSpent::new(PathPart::Cores, S, (u16::MAX, block.blocked_site()));
            block.release = Some(time.after(delay, step, &mut block.log));
            work.push(index);
        }
    }

    fn stuck(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for (index, core) in self.launch.cores.keys().enumerate() {
            let Some(block) = self.plays.get(self.play_of[index]).filter(|block| !block.done) else { continue };
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

/// Start of the first block on a core: code and tiling data come from global memory unless an earlier launch left them.
pub(crate) fn first_prologue_us(parameters: &Parameters, warm: bool) -> f64 {
    parameters.prologue_us + if warm { 0.0 } else { parameters.cold_start_us }
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
