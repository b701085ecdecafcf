//! One core of the play.
//!
//! The core is a network of in-order queues. Every instruction is resolved once, as soon as all that it waits for is
//! known: most instructions resolve right when the scalar unit issues them, only copies through global memory and what
//! depends on them wait for the memory system. Times are therefore exact without an event per instruction.

use std::collections::VecDeque;

use super::cube::{cube_time, tail_cycles};
use super::kernel_type::Unit;
use super::machine::{Machine, Parameters};
use super::memory::CopyShape;
use super::pipe::{
    Active, Busy, Copy, Pipe, Queued, Reason, Stalls, Touch, Work, flag_slot, flag_slots, slot_destination, slot_source,
};
use super::trace::{
    Cursor, FIX, FLAG_ATOMIC, FLAG_L2_BYPASS, M, MTE1, MTE2, MTE3, NO_PIPE, OpKind, Opcode, Operand, PIPE_COUNT,
    Record, S, Space, V,
};
use super::vector::{VectorCost, vector_time};

/// Timeline intervals kept per core.
const TIMELINE_LIMIT: usize = 2000;

/// What all cores of a launch share.
pub(crate) struct Shared<'m> {
    pub(crate) parameters: &'m Parameters,
    pub(crate) opcodes: &'m [Opcode],
    pub(crate) costs: Vec<VectorCost>,
    /// Bytes per cycle that one core reads from HBM, by kind of core.
    pub(crate) read_limit: [f64; 2],
    pub(crate) depth: u64,
}

impl<'m> Shared<'m> {
    pub(crate) fn new(machine: &'m Machine, opcodes: &'m [Opcode], cores: [usize; 2]) -> Self {
        Self {
            parameters: &machine.parameters,
            opcodes,
            costs: opcodes.iter().map(|opcode| machine.table.cost(&opcode.name)).collect(),
            read_limit: super::memory::core_read_limits(&machine.parameters, cores),
            depth: (machine.parameters.queue_depth as u64).max(1),
        }
    }
}

/// A copy ready to enter the memory system at a time.
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

#[derive(Clone, Copy)]
enum Pending {
    Push(usize, Queued),
    ScalarWork { cycles: f64, touch: Touch, opcode: u16, site: u64 },
    WaitFlag { slot: u16, site: u64 },
    SetFlag { slot: u16 },
    BarrierAll { site: u64 },
    SyncAll { everybody: bool, site: u64 },
    SetCross { id: u32, mode: u32 },
    WaitCross { id: u32, site: u64 },
    End,
}

impl Pending {
    fn site(&self) -> u64 {
        match self {
            Self::Push(_, queued) => queued.site,
            Self::ScalarWork { site, .. }
            | Self::WaitFlag { site, .. }
            | Self::BarrierAll { site }
            | Self::SyncAll { site, .. }
            | Self::WaitCross { site, .. } => *site,
            Self::SetFlag { .. } | Self::SetCross { .. } | Self::End => 0,
        }
    }
}

/// Totals of one block for the profile.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockTotals {
    pub(crate) conflict: f64,
    pub(crate) vector_throughput: f64,
    /// Cycles of matrix products and of L1 to L0 copies without start-up.
    pub(crate) cube_throughput: f64,
    pub(crate) mte1_throughput: f64,
    pub(crate) copies: u64,
    pub(crate) copy_bytes: u64,
    pub(crate) bursts: u64,
    pub(crate) read_effective: f64,
    pub(crate) write_effective: f64,
    /// Of those written, what the fixpipe wrote.
    pub(crate) fixpipe_effective: f64,
    pub(crate) cube_instructions: u64,
    pub(crate) records: u64,
    pub(crate) vector_instructions: u64,
}

/// State of one block on its core.
pub(crate) struct CorePlay<'a> {
    cursor: Cursor<'a>,
    pub(crate) unit: Unit,
    pending: Option<Pending>,
    pub(crate) held: Held,
    pub(crate) scalar_now: f64,
    pub(crate) scalar_busy: f64,
    pub(crate) pipes: [Pipe; PIPE_COUNT],
    tokens: Vec<VecDeque<f64>>,
    ready: u8,
    recent: [(Touch, f64); 4],
    recent_at: usize,
    conflict_debt: f64,
    pub(crate) stalls: Stalls,
    pub(crate) timeline: Vec<Busy>,
    pub(crate) totals: BlockTotals,
    pub(crate) departures: Vec<Departure>,
    pub(crate) cross_sets: Vec<(u32, u32, f64)>,
    pub(crate) release: Option<f64>,
    pub(crate) done: bool,
    pub(crate) start: f64,
    operands: Vec<Operand>,
}

impl<'a> CorePlay<'a> {
    pub(crate) fn new(cursor: Cursor<'a>, unit: Unit) -> Self {
        Self {
            cursor,
            unit,
            pending: None,
            held: Held::No,
            scalar_now: 0.0,
            scalar_busy: 0.0,
            pipes: std::array::from_fn(|_| Pipe::new()),
            tokens: vec![VecDeque::new(); flag_slots()],
            ready: 0,
            recent: [(Touch::default(), 0.0); 4],
            recent_at: 0,
            conflict_debt: 0.0,
            stalls: Stalls::default(),
            timeline: Vec::new(),
            totals: BlockTotals::default(),
            departures: Vec::new(),
            cross_sets: Vec::new(),
            release: None,
            done: false,
            start: 0.0,
            operands: Vec::new(),
        }
    }

    /// Let the block begin at `time`.
    pub(crate) fn begin(&mut self, time: f64) {
        self.start = time;
        self.scalar_now = time;
        for pipe in &mut self.pipes {
            pipe.free_at = time;
            pipe.drained_at = time;
        }
    }

    /// When everything is complete, as far as known.
    pub(crate) fn finished_at(&self) -> f64 {
        self.pipes.iter().fold(self.scalar_now, |latest, pipe| latest.max(pipe.drained_at))
    }

    /// Site that the scalar unit or, if it is through, the first blocked pipe stands at.
    pub(crate) fn blocked_site(&self) -> u64 {
        let by_pipe =
            self.pipes.iter().filter_map(|pipe| pipe.queue.front()).map(|queued| queued.site).find(|s| *s != 0);
        let scalar = self.pending.as_ref().map_or(0, Pending::site);
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

    /// A copy through global memory is complete.
    pub(crate) fn complete_copy(&mut self, pipe_index: usize, time: f64) {
        let pipe = &mut self.pipes[pipe_index];
        let Some(active) = pipe.active.take() else { return };
        pipe.busy += time - active.start;
        pipe.free_at = time;
        pipe.drained_at = pipe.drained_at.max(time);
        if let Some(entry) = pipe.flying.iter_mut().rev().find(|entry| entry.2 == f64::INFINITY) {
            entry.2 = time;
        }
        self.note_busy(pipe_index, active.opcode, active.start, time, active.site);
        self.ready |= 1 << pipe_index;
    }

    pub(crate) fn active_copy(&self, pipe: usize) -> Option<Copy> {
        self.pipes[pipe].active.map(|active| active.copy)
    }

    fn note_busy(&mut self, pipe: usize, opcode: u16, start: f64, end: f64, site: u64) {
        if self.timeline.len() < TIMELINE_LIMIT {
            self.timeline.push(Busy { pipe: pipe as u8, opcode, start, end, site });
        }
    }

    /// Resolve what can be resolved at the head of a pipe's queue.
    fn drain(&mut self, index: usize, shared: &Shared<'_>) {
        while let Some(queued) = self.pipes[index].queue.front().copied() {
            if self.pipes[index].active.is_some() || !self.resolve(index, &queued, shared) {
                return;
            }
            self.pipes[index].queue.pop_front();
        }
    }

    /// Resolve one instruction on its pipe; false if it has to wait for something unknown.
    fn resolve(&mut self, index: usize, queued: &Queued, shared: &Shared<'_>) -> bool {
        let parameters = shared.parameters;
        let pipe = &mut self.pipes[index];
        let idle_from = pipe.free_at;
        let start = queued.issue.max(idle_from);
        match queued.work {
            Work::WaitFlag { slot } => {
                let Some(set_at) = self.tokens[usize::from(slot)].pop_front() else { return false };
                let reason = Reason::Flag(slot_source(slot) as u8);
                self.stalls.add(index, reason, set_at - start, queued.site);
                pipe.note_start(start, shared.depth);
                pipe.free_at = start.max(set_at) + parameters.flag_cycles;
                pipe.separated = true;
            }
            Work::SetFlag { slot } => {
                pipe.note_start(start, shared.depth);
                pipe.free_at = start + parameters.flag_cycles;
                pipe.separated = true;
                self.tokens[usize::from(slot)].push_back(pipe.drained_at.max(pipe.free_at));
                self.ready |= 1 << slot_destination(slot);
            }
            Work::Barrier => {
                pipe.note_start(start, shared.depth);
                self.stalls.add(index, Reason::Barrier, pipe.drained_at - start, queued.site);
                pipe.free_at = start.max(pipe.drained_at) + parameters.barrier_cycles;
                pipe.separated = true;
            }
            Work::Register => {
                pipe.note_start(start, shared.depth);
                pipe.free_at = start + parameters.vector_mask_cycles;
            }
            Work::SetCross { id, mode } => {
                pipe.note_start(start, shared.depth);
                pipe.free_at = start + parameters.flag_cycles;
                self.cross_sets.push((id, mode, pipe.drained_at.max(pipe.free_at)));
            }
            Work::Compute { busy, conflict } => {
                // Products add up in L0C without waiting for each other, and what comes from L1 is behind a flag: only the
                // vector unit waits for its own results.
                let dependent = |(touch, end): &(Touch, f64)| if queued.touch.depends_on(touch) { *end } else { 0.0 };
                let recent = if index == V { self.recent.as_slice() } else { &[] };
                let ready = recent.iter().map(dependent).fold(start, f64::max);
                self.stalls.add(index, Reason::Issue, queued.issue - idle_from, queued.site);
                self.stalls.add(index, Reason::Dependent, ready - start, queued.site);
                let end = ready + busy;
                let complete = end + tail_cycles(parameters, index);
                pipe.note_start(ready, shared.depth);
                pipe.busy += busy;
                pipe.free_at = end;
                pipe.drained_at = pipe.drained_at.max(complete);
                pipe.note_flying(queued.touch, complete, self.scalar_now);
                if index == V {
                    self.recent[self.recent_at] = (queued.touch, end + parameters.vector_dependent_cycles);
                    self.recent_at = (self.recent_at + 1) % self.recent.len();
                }
                if conflict > 0.0 && self.pipes[MTE2].active.is_some() {
                    self.conflict_debt += conflict;
                }
                self.note_busy(index, queued.opcode, ready, end, queued.site);
            }
            Work::Copy(copy) => {
                let (startup, rate) = match (copy.write, index) {
                    (true, FIX) => (parameters.fixpipe_startup_cycles, parameters.fixpipe_write),
                    (true, _) => (parameters.mte3_startup_cycles, parameters.core_write),
                    (false, _) => (parameters.mte2_startup_cycles, shared.read_limit[self.unit as usize]),
                };
                let shape = CopyShape::of(parameters, &copy.gm);
                let gap = (parameters.dma_accept_cycles
                    + parameters.dma_accept_cycles_per_byte * pipe.last_copy_bytes.min(shape.bytes as f64))
                .min(startup);
                let first_byte =
                    if pipe.separated { start + startup } else { (queued.issue + startup).max(idle_from + gap) };
                let debt = if copy.write { 0.0 } else { std::mem::take(&mut self.conflict_debt) };
                self.stalls.add(index, Reason::Issue, queued.issue - idle_from, queued.site);
                pipe.note_start(start, shared.depth);
                pipe.separated = false;
                pipe.last_copy_bytes = shape.bytes as f64;
                pipe.active = Some(Active { copy, start, opcode: queued.opcode, site: queued.site });
                pipe.note_flying(queued.touch, f64::INFINITY, self.scalar_now);
                self.totals.copies += 1;
                self.totals.copy_bytes += shape.bytes;
                self.totals.bursts += shape.bursts;
                *(match (copy.write, index) {
                    (true, FIX) => &mut self.totals.fixpipe_effective,
                    (true, _) => &mut self.totals.write_effective,
                    (false, _) => &mut self.totals.read_effective,
                }) += shape.effective_bytes;
                let time = first_byte + debt + shape.burst_delay_cycles(parameters, rate);
                self.departures.push(Departure { time, pipe: index as u8 });
            }
        }
        true
    }

    /// Let the scalar unit take its next step; false if it is held up or through.
    fn step(&mut self, shared: &Shared<'_>) -> bool {
        let pending = match self.pending.take() {
            Some(pending) => pending,
            None => match self.cursor.next() {
                Some(record) => match self.decode(&record, shared) {
                    Some(pending) => pending,
                    None => return true,
                },
                None => Pending::End,
            },
        };
        self.held = self.perform(&pending, shared);
        if self.held != Held::No {
            self.pending = Some(pending);
            return false;
        }
        !self.done
    }

    fn decode(&mut self, record: &Record<'a>, shared: &Shared<'_>) -> Option<Pending> {
        let parameters = shared.parameters;
        let opcode = usize::from(record.opcode);
        let [aux0, aux1, aux2] = record.aux;
        let site = record.site;
        self.totals.records += 1;
        let queued = |work: Work, touch: Touch| Queued { issue: 0.0, work, touch, opcode: record.opcode, site };
        let pipe = usize::from(record.pipe);
        match shared.opcodes[opcode].kind {
            OpKind::Scalar => {
                let mut touch = Touch::default();
                let mut lines = 0;
                for operand in record.operands() {
                    if operand.space != Space::Gm {
                        touch.push(operand.space, operand.extent(), operand.writes);
                    } else {
                        let (from, to) = operand.extent();
                        lines += (to - from).div_ceil((parameters.scalar_line_bytes as u64).max(1));
                    }
                }
                let cycles = f64::from(aux0) * parameters.scalar_ub_access_cycles
                    + f64::from(aux1) * parameters.scalar_op_cycles
                    + f64::from(aux2) * parameters.scalar_gm_access_cycles
                    + (lines.min(u64::from(aux2)) as f64) * parameters.scalar_gm_miss_cycles;
                Some(Pending::ScalarWork { cycles, touch, opcode: record.opcode, site })
            }
            OpKind::SetFlag => {
                let slot = flag_slot(aux1, aux2, aux0);
                match slot_source(slot) {
                    S => Some(Pending::SetFlag { slot }),
                    source => Some(Pending::Push(source, queued(Work::SetFlag { slot }, Touch::default()))),
                }
            }
            OpKind::WaitFlag => {
                let slot = flag_slot(aux1, aux2, aux0);
                match slot_destination(slot) {
                    S => Some(Pending::WaitFlag { slot, site }),
                    destination => Some(Pending::Push(destination, queued(Work::WaitFlag { slot }, Touch::default()))),
                }
            }
            OpKind::Barrier if record.pipe == NO_PIPE => Some(Pending::BarrierAll { site }),
            OpKind::Barrier if pipe == S => None,
            OpKind::Barrier => Some(Pending::Push(pipe, queued(Work::Barrier, Touch::default()))),
            OpKind::Register => {
                let target = if record.pipe == NO_PIPE || pipe == S { V } else { pipe };
                Some(Pending::Push(target, queued(Work::Register, Touch::default())))
            }
            OpKind::SyncAll => Some(Pending::SyncAll { everybody: aux1 != 0, site }),
            OpKind::SetCross if record.pipe == NO_PIPE || pipe == S => Some(Pending::SetCross { id: aux0, mode: aux1 }),
            OpKind::SetCross => {
                Some(Pending::Push(pipe, queued(Work::SetCross { id: aux0, mode: aux1 }, Touch::default())))
            }
            OpKind::WaitCross => Some(Pending::WaitCross { id: aux0, site }),
            OpKind::Fault | OpKind::Note | OpKind::Buffer => None,
            OpKind::EndOfBlock => Some(Pending::End),
            OpKind::Copy | OpKind::Compute => {
                let mut touch = Touch::default();
                let mut gm = None;
                self.operands.clear();
                for operand in record.operands() {
                    match operand.space {
                        Space::Gm => gm = Some(operand),
                        space => touch.push(space, operand.extent(), operand.writes),
                    }
                    self.operands.push(operand);
                }
                let copies = shared.opcodes[opcode].kind == OpKind::Copy;
                let cube = cube_time(parameters, &shared.opcodes[opcode].name, record, &self.operands);
                let bypass = record.flags & FLAG_L2_BYPASS != 0;
                let work = match gm {
                    Some(gm) if pipe == MTE2 || pipe == MTE3 || pipe == FIX => {
                        let write = gm.writes || record.flags & FLAG_ATOMIC != 0;
                        Work::Copy(Copy { gm, write, bypass })
                    }
                    _ if let Some(time) = cube => {
                        match pipe {
                            M => {
                                self.totals.cube_instructions += 1;
                                self.totals.cube_throughput += time.throughput;
                            }
                            MTE1 => self.totals.mte1_throughput += time.throughput,
                            _ => {}
                        }
                        Work::Compute { busy: time.busy, conflict: 0.0 }
                    }
                    _ if copies => {
                        let bytes = f64::from(aux1);
                        self.totals.vector_throughput += bytes / parameters.core_ub_to_ub;
                        let fixed = shared.costs[opcode].fixed;
                        Work::Compute { busy: fixed + bytes / parameters.core_ub_to_ub, conflict: 0.0 }
                    }
                    _ => {
                        let time = vector_time(&shared.costs[opcode], record, &self.operands);
                        self.totals.conflict += time.conflict;
                        self.totals.vector_throughput += time.throughput;
                        self.totals.vector_instructions += 1;
                        Work::Compute { busy: time.busy, conflict: time.conflict }
                    }
                };
                let target = if record.pipe == NO_PIPE || pipe == S { V } else { pipe };
                Some(Pending::Push(target, queued(work, touch)))
            }
        }
    }

    fn perform(&mut self, pending: &Pending, shared: &Shared<'_>) -> Held {
        let parameters = shared.parameters;
        match *pending {
            Pending::Push(index, mut queued) => {
                let Some(room) = self.pipes[index].room_at(shared.depth) else {
                    return Held::QueueFull(index as u8);
                };
                let wait = room - self.scalar_now;
                self.stalls.add(S, Reason::QueueFull(index as u8), wait, queued.site);
                let cycles = match queued.work {
                    Work::Compute { .. } | Work::Copy(_) => parameters.scalar_issue_cycles,
                    _ => parameters.scalar_issue_sync_cycles,
                };
                self.scalar_now = self.scalar_now.max(room) + cycles;
                self.scalar_busy += cycles;
                queued.issue = self.scalar_now;
                let pipe = &mut self.pipes[index];
                pipe.issued += 1;
                if !pipe.idle() || !self.resolve(index, &queued, shared) {
                    self.pipes[index].queue.push_back(queued);
                }
            }
            Pending::ScalarWork { cycles, touch, opcode, site } => {
                let mut latest = self.scalar_now;
                let mut culprit = S;
                for (index, pipe) in self.pipes.iter().enumerate().skip(1) {
                    if pipe.queue.iter().any(|queued| queued.touch.conflicts(&touch)) {
                        return Held::Bytes(index as u8);
                    }
                    for (_, other, end) in &pipe.flying {
                        if *end > latest && other.conflicts(&touch) {
                            if *end == f64::INFINITY {
                                return Held::Bytes(index as u8);
                            }
                            latest = *end;
                            culprit = index;
                        }
                    }
                }
                self.stalls.add(S, Reason::ScalarSync(culprit as u8), latest - self.scalar_now, site);
                self.scalar_now = latest + cycles;
                self.scalar_busy += cycles;
                if cycles > 0.0 {
                    self.note_busy(S, opcode, latest, self.scalar_now, site);
                }
            }
            Pending::SetFlag { slot } => {
                self.charge_sync(parameters);
                self.tokens[usize::from(slot)].push_back(self.scalar_now);
                self.ready |= 1 << slot_destination(slot);
            }
            Pending::WaitFlag { slot, site } => {
                let Some(set_at) = self.tokens[usize::from(slot)].pop_front() else { return Held::Flag(slot) };
                self.stalls.add(S, Reason::Flag(slot_source(slot) as u8), set_at - self.scalar_now, site);
                self.scalar_now = self.scalar_now.max(set_at);
                self.charge_sync(parameters);
            }
            Pending::BarrierAll { site } => {
                let Some(drained) = self.all_drained() else { return Held::Drain };
                self.stalls.add(S, Reason::BarrierAll, drained - self.scalar_now, site);
                self.scalar_now = self.scalar_now.max(drained) + parameters.barrier_cycles;
                self.charge_sync(parameters);
                for pipe in &mut self.pipes {
                    pipe.separated = true;
                }
            }
            Pending::SyncAll { everybody, site } => {
                let Some(release) = self.release.take() else {
                    if let Some(drained) = self.all_drained() {
                        self.scalar_now = self.scalar_now.max(drained);
                        return Held::Cores { everybody };
                    }
                    return Held::Drain;
                };
                self.stalls.add(S, Reason::Cores, release - self.scalar_now, site);
                self.scalar_now = self.scalar_now.max(release);
                self.charge_sync(parameters);
                for pipe in &mut self.pipes {
                    pipe.separated = true;
                }
            }
            Pending::SetCross { id, mode } => {
                self.charge_sync(parameters);
                self.cross_sets.push((id, mode, self.scalar_now));
            }
            Pending::WaitCross { id, site } => {
                let Some(release) = self.release.take() else { return Held::CrossFlag { id } };
                self.stalls.add(S, Reason::Cores, release - self.scalar_now, site);
                self.scalar_now = self.scalar_now.max(release);
                self.charge_sync(parameters);
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

    fn charge_sync(&mut self, parameters: &Parameters) {
        self.scalar_now += parameters.scalar_issue_sync_cycles;
        self.scalar_busy += parameters.scalar_issue_sync_cycles;
    }

    fn all_drained(&self) -> Option<f64> {
        let idle = self.pipes.iter().all(Pipe::idle);
        idle.then(|| self.pipes.iter().map(|pipe| pipe.drained_at.max(pipe.free_at)).fold(0.0, f64::max))
    }
}
