//! State of one core during the play: its pipes, queues, flags and accounts.

use std::collections::VecDeque;

use super::copy::{Copy, CopyShape};
use super::operand::Space;
use super::path::Moment;
use super::record::{PIPE_COUNT, pipe_name};

/// Why a pipe waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// Flag from a pipe.
    Flag(u8),
    /// Barrier on the pipe itself.
    Barrier,
    /// PIPE_ALL.
    BarrierAll,
    /// Result of the instruction before.
    Dependent,
    /// The scalar unit had not issued the instruction yet.
    Issue,
    /// Another core.
    Cores,
    /// Queue of a pipe was full.
    QueueFull(u8),
    /// The scalar unit touches bytes that a pipe still works on.
    ScalarSync(u8),
}

/// Lost time by reason, with the site of the longest single wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stalls(pub(crate) Vec<(u8, Reason, f64, f64, u64)>);

impl Stalls {
    pub(crate) fn add(&mut self, pipe: usize, reason: Reason, cycles: f64, site: u64) {
        if cycles <= 0.0 {
            return;
        }
        let pipe = pipe as u8;
        match self.0.iter_mut().find(|entry| entry.0 == pipe && entry.1 == reason) {
            Some(entry) => {
                entry.2 += cycles;
                if cycles > entry.3 {
                    (entry.3, entry.4) = (cycles, site);
                }
            }
            None => self.0.push((pipe, reason, cycles, cycles, site)),
        }
    }
}

/// A busy interval in cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    pub(crate) pipe: u8,
    pub(crate) opcode: u16,
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) site: u64,
}

/// Bytes that an instruction touches in on-chip memories, as intervals.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touch {
    parts: [(u32, u32); 5],
    /// One bit for each part that is written.
    writes: u8,
    count: u8,
}

impl Touch {
    pub(crate) fn clear(&mut self) {
        (self.writes, self.count) = (0, 0);
    }

    pub(crate) fn push(&mut self, space: Space, extent: (u64, u64), write: bool) {
        // One line of addresses for all memories, which keeps comparisons cheap. None is larger than this.
        const LAST: u64 = (1 << 29) - 1;
        let base = (space as u32) << 29;
        let mut extent = (base + extent.0.min(LAST) as u32, base + extent.1.min(LAST) as u32);
        let slot = usize::from(self.count).min(self.parts.len() - 1);
        if usize::from(self.count) == self.parts.len() {
            // More operands than slots: widen the last one, which can only make a wait longer.
            let last = self.parts[slot];
            extent = (last.0.min(extent.0), last.1.max(extent.1));
        } else {
            self.count += 1;
        }
        self.parts[slot] = extent;
        self.writes |= u8::from(write) << slot;
    }

    /// From, to and whether it is written.
    fn parts(&self) -> impl Iterator<Item = (u32, u32, bool)> {
        let writes = self.writes;
        let parts = self.parts[..usize::from(self.count)].iter().enumerate();
        parts.map(move |(slot, part)| (part.0, part.1, writes >> slot & 1 != 0))
    }

    /// Whether one writes what the other touches.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        (self.writes | other.writes) != 0
            && self.parts().any(|a| other.parts().any(|b| (a.2 || b.2) && a.0 < b.1 && b.0 < a.1))
    }

    /// Whether this one reads what the other writes.
    pub(crate) fn depends_on(&self, other: &Self) -> bool {
        other.writes != 0 && self.parts().any(|a| !a.2 && other.parts().any(|b| b.2 && a.0 < b.1 && b.0 < a.1))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    SetFlag { slot: u16 },
    WaitFlag { slot: u16 },
    Barrier,
    Register,
    Compute { busy: f64, stall: f64 },
    Copy(Copy),
    SetCross { id: u32, mode: u32 },
}

/// An instruction in a pipe's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued<T> {
    pub(crate) issue: T,
    pub(crate) work: Work,
    pub(crate) touch: Touch,
    pub(crate) opcode: u16,
    pub(crate) site: u64,
}

impl<T: Moment> Default for Queued<T> {
    fn default() -> Self {
        Self { issue: T::default(), work: Work::Barrier, touch: Touch::default(), opcode: 0, site: 0 }
    }
}

/// A copy in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active<T> {
    pub(crate) copy: Copy,
    pub(crate) shape: CopyShape,
    pub(crate) start: f64,
    /// When its bytes begin to move.
    pub(crate) first_byte: T,
    pub(crate) opcode: u16,
    pub(crate) site: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Pipe<T> {
    pub(crate) queue: VecDeque<Queued<T>>,
    /// Start times of the latest instructions, for the queue's depth.
    pub(crate) starts: VecDeque<T>,
    pub(crate) issued: u64,
    pub(crate) started: u64,
    /// When the next instruction could start.
    pub(crate) free_at: T,
    /// When the last copy would have ended if nobody else had moved bytes meanwhile.
    pub(crate) served_at: T,
    /// When everything so far is complete, tails included.
    pub(crate) drained_at: T,
    /// When the flags and barriers in front of the next copy let it begin.
    pub(crate) gate: T,
    /// Bytes of the last copy, for the distance to the next.
    pub(crate) last_copy_bytes: f64,
    pub(crate) active: Option<Active<T>>,
    pub(crate) busy: f64,
    /// Started instructions that may not be complete yet: bytes and completion (infinite while unknown).
    pub(crate) flying: VecDeque<(Touch, T)>,
}

impl<T: Moment> Pipe<T> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn idle(&self) -> bool {
        self.queue.is_empty() && self.active.is_none()
    }

    /// When the queue has room for one more: a time, or nothing while that is not known yet.
    pub(crate) fn room_at(&self, depth: u64) -> Option<T> {
        if self.issued < depth {
            return Some(T::default());
        }
        let needed = self.issued - depth;
        if needed >= self.started {
            return None;
        }
        let from_back = (self.started - needed) as usize;
        self.starts
            .len()
            .checked_sub(from_back)
            .and_then(|index| self.starts.get(index).copied())
            .or(Some(T::default()))
    }

    pub(crate) fn note_start(&mut self, time: T, depth: u64) {
        self.started += 1;
        self.starts.push_back(time);
        if self.starts.len() as u64 > depth {
            self.starts.pop_front();
        }
    }

    pub(crate) fn note_flying(&mut self, touch: Touch, until: T, scalar_now: T) {
        while self.flying.front().is_some_and(|(_, end)| end.at() <= scalar_now.at()) {
            self.flying.pop_front();
        }
        // Completion is in order, so what is far back in a long list ended long ago.
        if self.flying.len() >= 256 {
            self.flying.pop_front();
        }
        self.flying.push_back((touch, until));
    }
}

/// Number of flag slots: source pipe, destination pipe, event id.
const EVENT_IDS: usize = 16;

/// Slot of a flag; ids beyond what hardware has share the last slot (the simulator faults on them).
pub(crate) fn flag_slot(source: u32, destination: u32, id: u32) -> u16 {
    let pipe = |pipe: u32| (pipe as usize).min(PIPE_COUNT - 1);
    ((pipe(source) * PIPE_COUNT + pipe(destination)) * EVENT_IDS + (id as usize).min(EVENT_IDS - 1)) as u16
}

pub(crate) fn flag_slots() -> usize {
    PIPE_COUNT * PIPE_COUNT * EVENT_IDS
}

pub(crate) fn slot_destination(slot: u16) -> usize {
    usize::from(slot) / EVENT_IDS % PIPE_COUNT
}

pub(crate) fn slot_source(slot: u16) -> usize {
    usize::from(slot) / EVENT_IDS / PIPE_COUNT
}

pub(crate) fn slot_id(slot: u16) -> usize {
    usize::from(slot) % EVENT_IDS
}

/// A flag as messages name it.
pub(crate) fn flag_name(slot: u16) -> String {
    let upper = |pipe: usize| pipe_name(pipe).to_uppercase();
    format!("{}_{} id {}", upper(slot_source(slot)), upper(slot_destination(slot)), slot_id(slot))
}
