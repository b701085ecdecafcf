//! Happens-before between the pipes of one core, by vector clocks.
//!
//! A clock says, for a pipe, up to which instruction of every pipe it knows completion. Edges come from flags,
//! barriers, the scalar unit's in-order issue, the own order of some pipes, and from what the compiler adds unless it is told not to
//! (`--cce-auto-sync=off`): an order of vector instructions among themselves, and between scalar accesses and whatever a pipe
//! still does to the same bytes.

use std::collections::VecDeque;

use super::pipe::{flag_slots, slot_destination, slot_source};
use super::record::{FIX, M, MTE1, MTE2, MTE3, PIPE_COUNT, S, V};

pub(crate) type Clock = [u32; PIPE_COUNT];

/// One instruction on a pipe; indices count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Instant {
    pub(crate) pipe: u8,
    pub(crate) index: u32,
}

/// Clocks of one core.
pub(crate) struct Ordering {
    /// The compiler orders vector instructions, and scalar accesses with all pipes.
    auto_sync: bool,
    known: [Clock; PIPE_COUNT],
    count: Clock,
    /// What each pipe knew from which of its instructions on; only changes are kept.
    history: [Vec<(u32, Clock)>; PIPE_COUNT],
    tokens: Vec<VecDeque<Clock>>,
}

pub(crate) fn join(into: &mut Clock, from: &Clock) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

impl Ordering {
    pub(crate) fn new(auto_sync: bool) -> Self {
        Self {
            auto_sync,
            known: [[0; PIPE_COUNT]; PIPE_COUNT],
            count: [0; PIPE_COUNT],
            history: std::array::from_fn(|_| Vec::new()),
            tokens: vec![VecDeque::new(); flag_slots()],
        }
    }

    /// What the scalar unit knows: everything that it issues from now on comes after that.
    pub(crate) fn scalar(&self) -> Clock {
        self.known[S]
    }

    /// The next instruction of a pipe, issued when the scalar unit knew `scalar`.
    pub(crate) fn issue(&mut self, pipe: usize, scalar: &Clock) -> Instant {
        join(&mut self.known[pipe], scalar);
        self.count[pipe] += 1;
        let index = self.count[pipe];
        let clock = self.known[pipe];
        if self.history[pipe].last().is_none_or(|(_, last)| *last != clock) {
            self.history[pipe].push((index, clock));
        }
        Instant { pipe: pipe as u8, index }
    }

    /// Whether instructions of a pipe follow each other without help of the kernel's.
    pub(crate) fn keeps_own_order(&self, pipe: usize) -> bool {
        matches!(pipe, S | MTE1 | M | FIX) || (pipe == V && self.auto_sync)
    }

    /// Whether the scalar unit waits by itself for what it needs.
    pub(crate) fn scalar_waits(&self) -> bool {
        self.auto_sync
    }

    /// Whether `earlier` is complete before the instruction that `pipe` issued last.
    pub(crate) fn ordered(&self, earlier: Instant, pipe: usize) -> bool {
        let from = usize::from(earlier.pipe);
        // Scalar accesses are complete when the scalar unit goes on, if the compiler has it wait; what comes after is issued later.
        (from == S && self.auto_sync)
            || (from == pipe && self.keeps_own_order(pipe))
            // The repeats of one vector instruction follow each other.
            || (from == pipe && pipe == V && earlier.index == self.count[V])
            || self.known[pipe][from] >= earlier.index
    }

    /// The compiler makes the scalar unit wait for `earlier`.
    pub(crate) fn scalar_waits_for(&mut self, earlier: Instant) {
        let from = usize::from(earlier.pipe);
        if self.ordered(earlier, S) {
            return;
        }
        let history = &self.history[from];
        let at = history.partition_point(|(index, _)| *index <= earlier.index);
        if let Some((_, clock)) = at.checked_sub(1).and_then(|last| history.get(last)).copied() {
            join(&mut self.known[S], &clock);
        }
        self.known[S][from] = self.known[S][from].max(earlier.index);
    }

    /// `set_flag`, issued when the scalar unit knew `scalar`; false if the flag was set already and nobody waited in between.
    pub(crate) fn set_flag(&mut self, slot: u16, scalar: &Clock) -> bool {
        let source = slot_source(slot);
        join(&mut self.known[source], scalar);
        let mut token = self.known[source];
        token[source] = self.count[source];
        self.drain_own(source);
        let tokens = &mut self.tokens[usize::from(slot)];
        tokens.push_back(token);
        tokens.len() == 1
    }

    /// `wait_flag`; false if the flag is not set, and the pipe stays where it is.
    pub(crate) fn wait_flag(&mut self, slot: u16) -> bool {
        let destination = slot_destination(slot);
        let Some(token) = self.tokens[usize::from(slot)].pop_front() else { return false };
        join(&mut self.known[destination], &token);
        self.drain_own(destination);
        true
    }

    /// Flags still set.
    pub(crate) fn left_set(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.tokens.len()).filter(|slot| !self.tokens[*slot].is_empty()).map(|slot| slot as u16)
    }

    /// `pipe_barrier` on one pipe.
    pub(crate) fn barrier(&mut self, pipe: usize) {
        self.known[pipe][pipe] = self.count[pipe];
    }

    /// `pipe_barrier(PIPE_ALL)`.
    pub(crate) fn barrier_all(&mut self) {
        for pipe in 0..PIPE_COUNT {
            let clock = self.known[pipe];
            join(&mut self.known[S], &clock);
        }
        let count = self.count;
        join(&mut self.known[S], &count);
    }

    /// What is complete when a flag for other cores takes effect on a pipe.
    pub(crate) fn released_by(&self, pipe: usize) -> Clock {
        let mut clock = self.known[pipe];
        join(&mut clock, &self.known[S]);
        clock[pipe] = self.count[pipe];
        clock[S] = self.count[S];
        clock
    }

    /// The scalar unit has learnt from another core what is complete on this one.
    pub(crate) fn learn(&mut self, clock: &Clock) {
        join(&mut self.known[S], clock);
    }

    /// A flag on a copy pipe takes effect when the copies before it are through, and holds the next one back.
    fn drain_own(&mut self, pipe: usize) {
        if pipe == MTE2 || pipe == MTE3 {
            self.barrier(pipe);
        }
    }
}
