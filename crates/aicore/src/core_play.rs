//! One core of the play.
//!
//! The core is a network of in-order queues. Every instruction is resolved once, as soon as all that it waits for is
//! known: most instructions resolve right when the scalar unit issues them, only copies through global memory and what
//! depends on them wait for the memory system. Times are therefore exact without an event per instruction.

use std::collections::VecDeque;

use super::copy::{Copy, CopyShape};
use super::cube::tail_cycles;
use super::decode::{BlockTotals, Pending, Shared, decode};
use super::kernel_type::Unit;
use super::machine::Parameters;
use super::operand::Operand;
use super::path::{Moment, TimeSpent};
use super::pipe::{Active, Busy, Pipe, Queued, Reason, Stalls, Touch, Work, flag_slots, slot_destination, slot_source};
use super::profile::PathPart;
use super::record::{FIX, MTE2, PIPE_COUNT, S, V};
use super::stream::Cursor;

/// Timeline intervals kept per core.
const TIMELINE_LIMIT: usize = 2000;
/// A step of the path that no record stands for.
const NO_RECORD: (u16, u64) = (u16::MAX, 0);

/// A copy ready to enter the memory system at a time.
#[derive(Clone, Copy)]
pub(crate) struct Departure {
    pub(crate) time: f64,
    pub(crate) pipe: u8,
}

/// What the scalar unit is held up by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Held {
    No,
    Flag(u16),
    QueueFull(u8),
    Drain,
    Bytes(u8),
    /// SyncAll of its own kind of cores, or of everybody.
    Cores {
        everybody: bool,
    },
    CrossFlag {
        id: u32,
    },
}

/// State of one block on its core.
#[derive(Clone)]
pub(crate) struct CorePlay<'a, T: Moment> {
    cursor: Cursor<'a>,
    pub(crate) unit: Unit,
    pending: Option<Pending>,
    /// The instruction that the scalar unit issues next. It is large and so stays where it is.
    next: Option<Box<Queued<T>>>,
    pub(crate) held: Held,
    pub(crate) scalar_now: T,
    pub(crate) scalar_busy: f64,
    /// Of the scalar unit before the first instruction, not part of `scalar_busy`.
    pub(crate) start_cycles: f64,
    pub(crate) pipes: [Pipe<T>; PIPE_COUNT],
    tokens: Vec<VecDeque<T>>,
    ready: u8,
    recent: [(Touch, T); 4],
    recent_at: usize,
    conflict_debt: f64,
    pub(crate) stalls: Stalls,
    pub(crate) timeline: Vec<Busy>,
    pub(crate) totals: BlockTotals,
    pub(crate) departures: Vec<Departure>,
    pub(crate) cross_sets: Vec<(u32, u32, T)>,
    pub(crate) release: Option<T>,
    pub(crate) done: bool,
    operands: Vec<Operand>,
    pub(crate) log: T::Log,
}

impl<'a, T: Moment> CorePlay<'a, T> {
    pub(crate) fn new(cursor: Cursor<'a>, unit: Unit, log: T::Log) -> Self {
        Self {
            cursor,
            unit,
            pending: None,
            next: Some(Box::default()),
            held: Held::No,
            scalar_now: T::default(),
            scalar_busy: 0.0,
            start_cycles: 0.0,
            pipes: std::array::from_fn(|_| Pipe::new()),
            tokens: vec![VecDeque::new(); flag_slots()],
            ready: 0,
            recent: [(Touch::default(), T::default()); 4],
            recent_at: 0,
            conflict_debt: 0.0,
            stalls: Stalls::default(),
            timeline: Vec::new(),
            totals: BlockTotals::default(),
            departures: Vec::new(),
            cross_sets: Vec::new(),
            release: None,
            done: false,
            operands: Vec::new(),
            log,
        }
    }

    /// Let the block begin, after its core is free and the scalar unit has been busy with its start for so many cycles.
    pub(crate) fn begin(&mut self, free: T, start: f64) {
        self.start_cycles = start;
        let time = free.after(start, TimeSpent::new(PathPart::Start, S, NO_RECORD), &mut self.log);
        self.scalar_now = time;
        for pipe in &mut self.pipes {
            pipe.free_at = time;
            pipe.drained_at = time;
        }
    }

    /// When everything is complete, as far as known.
    pub(crate) fn finished_at(&self) -> T {
        self.pipes.iter().fold(self.scalar_now, |latest, pipe| latest.later(pipe.drained_at))
    }

    /// Site that the scalar unit or, if it is through, the first blocked pipe stands at.
    pub(crate) fn blocked_site(&self) -> u64 {
        let by_pipe =
            self.pipes.iter().filter_map(|pipe| pipe.queue.front()).map(|queued| queued.site).find(|s| *s != 0);
        let next = self.next.as_ref().map_or(0, |next| next.site);
        let scalar = self.pending.as_ref().map_or(0, |pending| pending.site(next));
        if scalar != 0 { scalar } else { by_pipe.unwrap_or(0) }
    }

    /// Flags that a pipe or the scalar unit waits for and nobody has set: slots with the waiting site.
    pub(crate) fn unmet_waits(&self) -> Vec<(u16, u64)> {
        let mut unmet: Vec<_> = self
            .pipes
            .iter()
            .filter_map(|pipe| pipe.queue.front())
            .filter_map(|queued| match queued.work {
                Work::WaitFlag { slot } if self.tokens[usize::from(slot)].is_empty() => Some((slot, queued.site)),
                _ => None,
            })
            .collect();
        if let Some(Pending::WaitFlag { slot, site }) = self.pending {
            unmet.push((slot, site));
        }
        unmet
    }

    /// Run until nothing more can be resolved.
    pub(crate) fn run(&mut self, shared: &Shared<'_>) {
        loop {
            while self.ready != 0 {
                let pipe = self.ready.trailing_zeros() as usize;
                self.ready &= !(1 << pipe);
                self.drain(pipe, shared);
            }
            if (self.done || !self.step(shared)) && self.ready == 0 {
                return;
            }
        }
    }

    /// A copy through global memory is complete, whose bytes would have taken `alone` cycles if nobody else's had moved.
    pub(crate) fn complete_copy(&mut self, pipe_index: usize, time: f64, alone: f64) {
        let pipe = &mut self.pipes[pipe_index];
        let Some(active) = pipe.active.take() else { return };
        let what = (active.opcode, active.site);
        let alone = active.first_byte.at() + alone;
        let bytes = TimeSpent::new(PathPart::Bytes, pipe_index, what);
        let mut end = active.first_byte.until(alone.min(time), bytes, &mut self.log);
        pipe.served_at = end;
        if alone < time {
            end = end.until(time, TimeSpent::new(PathPart::SharedMemory, pipe_index, what), &mut self.log);
        }
        pipe.busy += time - active.start;
        pipe.free_at = end;
        pipe.drained_at = pipe.drained_at.later(end);
        if let Some(entry) = pipe.flying.iter_mut().rev().find(|entry| entry.1.at() == f64::INFINITY) {
            entry.1 = end;
        }
        self.note_busy(pipe_index, active.opcode, active.start, time, active.site);
        self.ready |= 1 << pipe_index;
    }

    pub(crate) fn active_copy(&self, pipe: usize) -> Option<(Copy, CopyShape)> {
        self.pipes[pipe].active.map(|active| (active.copy, active.shape))
    }

    fn note_busy(&mut self, pipe: usize, opcode: u16, start: f64, end: f64, site: u64) {
        if self.timeline.len() < TIMELINE_LIMIT {
            self.timeline.push(Busy { pipe: pipe as u8, opcode, start, end, site });
        }
    }

    /// Resolve what can be resolved at the head of a pipe's queue.
    fn drain(&mut self, index: usize, shared: &Shared<'_>) {
        let mut queue = std::mem::take(&mut self.pipes[index].queue);
        while let Some(queued) = queue.front() {
            if self.pipes[index].active.is_some() || !self.resolve(index, queued, shared) {
                break;
            }
            queue.pop_front();
        }
        self.pipes[index].queue = queue;
    }

    /// Resolve one instruction on its pipe; false if it has to wait for something unknown.
    fn resolve(&mut self, index: usize, queued: &Queued<T>, shared: &Shared<'_>) -> bool {
        let parameters = shared.parameters;
        let pipe = &mut self.pipes[index];
        let idle_from = pipe.free_at;
        let start = idle_from.later(queued.issue);
        let step = |part: PathPart| TimeSpent::new(part, index, (queued.opcode, queued.site));
        let log = &mut self.log;
        match queued.work {
            Work::WaitFlag { slot } => {
                let Some(set_at) = self.tokens[usize::from(slot)].pop_front() else { return false };
                let reason = Reason::Flag(slot_source(slot) as u8);
                self.stalls.add(index, reason, set_at.at() - start.at(), queued.site);
                pipe.note_start(start, shared.depth);
                pipe.free_at = start.later(set_at).after(parameters.flag_cycles, step(PathPart::Flag), log);
                pipe.gate = pipe.gate.later(set_at);
            }
            Work::SetFlag { slot } => {
                pipe.note_start(start, shared.depth);
                pipe.free_at = start.after(parameters.flag_cycles, step(PathPart::Flag), log);
                self.tokens[usize::from(slot)].push_back(pipe.drained_at.later(pipe.free_at));
                self.ready |= 1 << slot_destination(slot);
            }
            Work::Barrier => {
                pipe.note_start(start, shared.depth);
                self.stalls.add(index, Reason::Barrier, pipe.drained_at.at() - start.at(), queued.site);
                pipe.free_at =
                    start.later(pipe.drained_at).after(parameters.barrier_cycles, step(PathPart::Barrier), log);
                pipe.gate = pipe.free_at;
            }
            Work::Register => {
                pipe.note_start(start, shared.depth);
                pipe.free_at = start.after(parameters.vector_mask_cycles, step(PathPart::Register), log);
            }
            Work::SetCross { id, mode } => {
                pipe.note_start(start, shared.depth);
                pipe.free_at = start.after(parameters.flag_cycles, step(PathPart::Flag), log);
                self.cross_sets.push((id, mode, pipe.drained_at.later(pipe.free_at)));
            }
            Work::Compute { busy, stall } => self.resolve_compute(index, queued, [busy, stall], shared),
            Work::Copy(copy) => self.resolve_copy(index, queued, copy, shared),
        }
        true
    }

    /// An instruction that calculates, with the cycles that it is busy and those that it takes from copies in.
    fn resolve_compute(&mut self, index: usize, queued: &Queued<T>, [busy, stall]: [f64; 2], shared: &Shared<'_>) {
        let parameters = shared.parameters;
        let pipe = &mut self.pipes[index];
        let idle_from = pipe.free_at;
        let start = idle_from.later(queued.issue);
        let step = |part: PathPart| TimeSpent::new(part, index, (queued.opcode, queued.site));
        let log = &mut self.log;
        // Products add up in L0C without waiting for each other, and what comes from L1 is behind a flag: only the
        // vector unit waits for its own results.
        let recent = if index == V { self.recent.as_slice() } else { &[] };
        let before = recent.iter().filter(|(touch, _)| queued.touch.depends_on(touch));
        let ready = before.fold(start, |ready, (_, end)| ready.later(*end));
        self.stalls.add(index, Reason::Issue, queued.issue.at() - idle_from.at(), queued.site);
        self.stalls.add(index, Reason::Dependent, ready.at() - start.at(), queued.site);
        let end = ready.after(busy, step(PathPart::Instruction), log);
        let complete = end.after(tail_cycles(parameters, index), step(PathPart::Tail), log);
        pipe.note_start(ready, shared.depth);
        pipe.busy += busy;
        pipe.free_at = end;
        pipe.drained_at = pipe.drained_at.later(complete);
        pipe.note_flying(queued.touch, complete, self.scalar_now);
        if index == V {
            let readable = end.after(parameters.vector_dependent_cycles, step(PathPart::Tail), log);
            self.recent[self.recent_at] = (queued.touch, readable);
            self.recent_at = (self.recent_at + 1) % self.recent.len();
        }
        if stall > 0.0 && self.pipes[MTE2].active.is_some() {
            self.conflict_debt += stall;
        }
        self.note_busy(index, queued.opcode, ready.at(), end.at(), queued.site);
    }

    /// A copy, from where on its first byte is under way.
    fn resolve_copy(&mut self, index: usize, queued: &Queued<T>, copy: Copy, shared: &Shared<'_>) {
        let parameters = shared.parameters;
        let pipe = &mut self.pipes[index];
        let idle_from = pipe.free_at;
        let start = idle_from.later(queued.issue);
        let step = |part: PathPart| TimeSpent::new(part, index, (queued.opcode, queued.site));
        let log = &mut self.log;
        let (startup, rate) = match (copy.write, index) {
            (true, FIX) => (parameters.fixpipe_startup_cycles, parameters.fixpipe_write),
            (true, _) => (parameters.mte3_startup_cycles, parameters.core_write),
            (false, _) => (parameters.mte2_startup_cycles, shared.read_limit[self.unit as usize]),
        };
        let shape = CopyShape::of(parameters, &copy.gm, copy.bypass);
        let gap = (parameters.dma_accept_cycles
            + parameters.dma_accept_cycles_per_byte * pipe.last_copy_bytes.min(shape.bytes as f64))
        .min(startup);
        // A flag that was there in time and memory that others use keep no requests from being under way.
        let issued = queued.issue.later(pipe.gate).after(startup, step(PathPart::StartUp), log);
        let first_byte = issued.later(idle_from).later(pipe.served_at.after(gap, step(PathPart::Spacing), log));
        let debt = if copy.write { 0.0 } else { std::mem::take(&mut self.conflict_debt) };
        let late = first_byte.at() + debt + shape.burst_delay_cycles(parameters, rate, copy.bypass);
        let first_byte =
            if late > first_byte.at() { first_byte.until(late, step(PathPart::Rows), log) } else { first_byte };
        self.stalls.add(index, Reason::Issue, queued.issue.at() - idle_from.at(), queued.site);
        pipe.note_start(start, shared.depth);
        pipe.last_copy_bytes = shape.bytes as f64;
        pipe.active =
            Some(Active { copy, shape, start: start.at(), first_byte, opcode: queued.opcode, site: queued.site });
        pipe.note_flying(queued.touch, T::unknown(), self.scalar_now);
        self.totals.copies += 1;
        self.totals.copy_bytes += shape.bytes;
        self.totals.bursts += shape.bursts;
        *(match (copy.write, index) {
            (true, FIX) => &mut self.totals.fixpipe_effective,
            (true, _) => &mut self.totals.write_effective,
            (false, _) => &mut self.totals.read_effective,
        }) += shape.effective_bytes;
        self.departures.push(Departure { time: first_byte.at(), pipe: index as u8 });
    }

    /// Let the scalar unit take its next step; false if it is held up or through.
    fn step(&mut self, shared: &Shared<'_>) -> bool {
        let mut next = self.next.take().unwrap_or_default();
        let pending = self.pending.take().or_else(|| match self.cursor.next() {
            Some(record) => decode(&record, shared, &mut self.totals, &mut self.operands, &mut next),
            None => Some(Pending::End),
        });
        let held = pending.as_ref().map(|pending| self.perform(pending, &mut next, shared));
        self.next = Some(next);
        let (Some(pending), Some(held)) = (pending, held) else { return true };
        self.held = held;
        if self.held != Held::No {
            self.pending = Some(pending);
            return false;
        }
        !self.done
    }

    fn perform(&mut self, pending: &Pending, next: &mut Queued<T>, shared: &Shared<'_>) -> Held {
        let parameters = shared.parameters;
        match *pending {
            Pending::Push(index) => return self.push(index, next, shared),
            Pending::ScalarWork { cycles } => return self.work(cycles, next),
            Pending::SetFlag { slot } => {
                self.charge_sync(parameters, PathPart::Flag, 0);
                self.tokens[usize::from(slot)].push_back(self.scalar_now);
                self.ready |= 1 << slot_destination(slot);
            }
            Pending::WaitFlag { slot, site } => {
                let Some(set_at) = self.tokens[usize::from(slot)].pop_front() else { return Held::Flag(slot) };
                self.stalls.add(S, Reason::Flag(slot_source(slot) as u8), set_at.at() - self.scalar_now.at(), site);
                self.scalar_now = self.scalar_now.later(set_at);
                self.charge_sync(parameters, PathPart::Flag, site);
            }
            Pending::BarrierAll { site } => {
                let Some(drained) = self.all_drained() else { return Held::Drain };
                self.stalls.add(S, Reason::BarrierAll, drained.at() - self.scalar_now.at(), site);
                let step = TimeSpent::new(PathPart::BarrierAll, S, (u16::MAX, site));
                self.scalar_now = self.scalar_now.later(drained).after(parameters.barrier_cycles, step, &mut self.log);
                self.charge_sync(parameters, PathPart::BarrierAll, site);
            }
            Pending::SyncAll { everybody, site } => {
                let Some(release) = self.release.take() else {
                    if let Some(drained) = self.all_drained() {
                        self.scalar_now = self.scalar_now.later(drained);
                        return Held::Cores { everybody };
                    }
                    return Held::Drain;
                };
                self.stalls.add(S, Reason::Cores, release.at() - self.scalar_now.at(), site);
                self.scalar_now = self.scalar_now.later(release);
                self.charge_sync(parameters, PathPart::Cores, site);
            }
            Pending::SetCross { id, mode } => {
                self.charge_sync(parameters, PathPart::Flag, 0);
                self.cross_sets.push((id, mode, self.scalar_now));
            }
            Pending::WaitCross { id, site } => {
                let Some(release) = self.release.take() else { return Held::CrossFlag { id } };
                self.stalls.add(S, Reason::Cores, release.at() - self.scalar_now.at(), site);
                self.scalar_now = self.scalar_now.later(release);
                self.charge_sync(parameters, PathPart::Cores, site);
            }
            Pending::End => {
                if self.all_drained().is_none() {
                    return Held::Drain;
                }
                self.done = true;
            }
        }
        Held::No
    }

    /// Hands an instruction to its pipe.
    fn push(&mut self, index: usize, next: &mut Queued<T>, shared: &Shared<'_>) -> Held {
        let parameters = shared.parameters;
        let Some(room) = self.pipes[index].room_at(shared.depth) else {
            return Held::QueueFull(index as u8);
        };
        let wait = room.at() - self.scalar_now.at();
        self.stalls.add(S, Reason::QueueFull(index as u8), wait, next.site);
        let cycles = match next.work {
            Work::Compute { .. } | Work::Copy(_) => parameters.scalar_issue_cycles,
            _ => parameters.scalar_issue_sync_cycles,
        } * self.totals.scalar_ratio(parameters);
        let step = TimeSpent::new(PathPart::Issue, S, (next.opcode, next.site));
        self.scalar_now = self.scalar_now.later(room).after(cycles, step, &mut self.log);
        self.scalar_busy += cycles;
        next.issue = self.scalar_now;
        let pipe = &mut self.pipes[index];
        pipe.issued += 1;
        if !pipe.idle() || !self.resolve(index, next, shared) {
            self.pipes[index].queue.push_back(*next);
        }
        Held::No
    }

    /// The scalar unit's own work, behind whatever writes or reads the bytes that it touches.
    fn work(&mut self, cycles: f64, next: &Queued<T>) -> Held {
        let Queued { touch, opcode, site, .. } = next;
        let (opcode, site) = (*opcode, *site);
        let mut latest = self.scalar_now;
        let mut culprit = S;
        for (index, pipe) in self.pipes.iter().enumerate().skip(1) {
            if pipe.queue.iter().any(|queued| queued.touch.conflicts(touch)) {
                return Held::Bytes(index as u8);
            }
            for (other, end) in &pipe.flying {
                if end.at() > latest.at() && other.conflicts(touch) {
                    if end.at() == f64::INFINITY {
                        return Held::Bytes(index as u8);
                    }
                    latest = *end;
                    culprit = index;
                }
            }
        }
        self.stalls.add(S, Reason::ScalarSync(culprit as u8), latest.at() - self.scalar_now.at(), site);
        self.scalar_now = latest.after(cycles, TimeSpent::new(PathPart::Scalar, S, (opcode, site)), &mut self.log);
        self.scalar_busy += cycles;
        if cycles > 0.0 {
            self.note_busy(S, opcode, latest.at(), self.scalar_now.at(), site);
        }
        Held::No
    }

    fn charge_sync(&mut self, parameters: &Parameters, part: PathPart, site: u64) {
        let step = TimeSpent::new(part, S, (u16::MAX, site));
        let cycles = parameters.scalar_issue_sync_cycles * self.totals.scalar_ratio(parameters);
        self.scalar_now = self.scalar_now.after(cycles, step, &mut self.log);
        self.scalar_busy += cycles;
    }

    fn all_drained(&self) -> Option<T> {
        let idle = self.pipes.iter().all(Pipe::idle);
        let ends = self.pipes.iter().map(|pipe| pipe.drained_at.later(pipe.free_at));
        idle.then(|| ends.fold(T::default(), T::later))
    }
}
