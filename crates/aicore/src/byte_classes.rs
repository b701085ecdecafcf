//! Bytes that have always been touched together, and one state for each such class.
//!
//! Instructions come back to the same few operands, so that after a short while every operand is a union of classes that
//! is already known: rows with gaps between them cost as much as one row. An operand that cuts a class divides it.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::key_hasher::ByKey;
use super::operand::Operand;

/// Classes visited per operand beyond which classes with the same state are united.
const CROWDED: u64 = 32;
/// Operands before that is looked at.
const PATIENCE: u64 = 2048;
/// Operands remembered at a time.
const OPERANDS: usize = 1 << 16;
const NONE: u32 = u32::MAX;
/// Odd and without a pattern: the golden ratio in 64 bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Which bytes: address, strides, length of a piece, counts.
type Shape = (u64, i64, i64, u32, u32, u32);

struct Class<T> {
    state: T,
    bytes: u64,
    /// Classes that were cut off this one, in order: whoever touched this one touches them too.
    cut_off: Vec<u32>,
}

/// An operand seen before.
struct Known {
    shape: Shape,
    /// Pieces share bytes.
    folded: bool,
    /// Its classes, each with the number of those cut off it that are in the list as well.
    classes: Vec<(u32, u32)>,
}

/// An operand of a [`ByteClasses`]; good until the next is looked up.
#[derive(Clone, Copy)]
pub(crate) struct Handle(u32);

/// States of bytes. Bytes that nobody touched have the default.
pub(crate) struct ByteClasses<T> {
    /// Disjoint intervals by their start: end and class.
    intervals: BTreeMap<u64, (u64, u32)>,
    classes: Vec<Class<T>>,
    known: Vec<Known>,
    /// Hash table of numbers in `known`.
    table: Vec<u32>,
    lookups: u64,
    visits: u64,
    patience: u64,
}

impl<T> Default for ByteClasses<T> {
    fn default() -> Self {
        Self {
            intervals: BTreeMap::new(),
            classes: Vec::new(),
            known: Vec::new(),
            table: Vec::new(),
            lookups: 0,
            visits: 0,
            patience: PATIENCE,
        }
    }
}

fn shape(operand: &Operand) -> Shape {
    (operand.addr, operand.stride0, operand.stride1, operand.len, operand.count0, operand.count1)
}

fn hash(shape: &Shape) -> usize {
    let words = [shape.0, u64::from(shape.3) << 32 | u64::from(shape.4), u64::from(shape.5) ^ shape.1.cast_unsigned()];
    let hash = words.iter().fold(0_u64, |hash, word| (hash.rotate_left(5) ^ word).wrapping_mul(SPREAD));
    (hash >> 32) as usize
}

impl<T: Clone + Default + Eq + Hash> ByteClasses<T> {
    /// The classes of an operand.
    pub(crate) fn find(&mut self, operand: &Operand) -> Handle {
        self.lookups += 1;
        if self.known.len() >= OPERANDS || (self.lookups >= self.patience && self.visits > CROWDED * self.lookups) {
            self.unite();
        }
        let shape = shape(operand);
        if let Some(slot) = self.slot(&shape).and_then(|slot| self.table.get(slot)).filter(|known| **known != NONE) {
            return Handle(*slot);
        }
        let known = self.divide(operand, shape);
        self.known.push(known);
        if self.known.len() * 2 > self.table.len() {
            self.grow();
        } else if let Some(slot) = self.slot(&shape) {
            self.table[slot] = (self.known.len() - 1) as u32;
        }
        Handle((self.known.len() - 1) as u32)
    }

    /// Where a shape is in the table, or belongs.
    fn slot(&self, shape: &Shape) -> Option<usize> {
        let mask = self.table.len().checked_sub(1)?;
        let mut slot = hash(shape) & mask;
        while self.table[slot] != NONE && self.known[self.table[slot] as usize].shape != *shape {
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }

    fn grow(&mut self) {
        self.table.clear();
        self.table.resize((self.known.len() * 4).next_power_of_two().max(64), NONE);
        for number in 0..self.known.len() {
            if let Some(slot) = self.slot(&self.known[number].shape) {
                self.table[slot] = number as u32;
            }
        }
    }

    /// Whether pieces of the operand share bytes.
    pub(crate) fn is_folded(&self, Handle(number): Handle) -> bool {
        self.known[number as usize].folded
    }

    /// Visits the state of every class of an operand.
    #[inline]
    pub(crate) fn visit(&mut self, Handle(number): Handle, mut visit: impl FnMut(&mut T)) {
        let list = &mut self.known[number as usize].classes;
        let mut at = 0;
        while let Some((class, seen)) = list.get(at).copied() {
            let class = &mut self.classes[class as usize];
            if class.cut_off.len() > seen as usize {
                list[at].1 = class.cut_off.len() as u32;
                list.extend(class.cut_off[seen as usize..].iter().map(|class| (*class, 0)));
            }
            visit(&mut class.state);
            at += 1;
        }
        self.visits += at as u64;
    }

    /// Visits what is known of `from..to` in the order of addresses. Bytes that no operand touched are left out.
    pub(crate) fn walk(&self, from: u64, to: u64, mut visit: impl FnMut(u64, u64, &T)) {
        let before = self.intervals.range(..from).next_back().filter(|(_, (end, _))| *end > from);
        for (start, (end, class)) in before.into_iter().chain(self.intervals.range(from..to.max(from))) {
            visit((*start).max(from), (*end).min(to), &self.classes[*class as usize].state);
        }
    }

    /// Makes the operand a union of classes.
    fn divide(&mut self, operand: &Operand, shape: Shape) -> Known {
        let mut pieces: Vec<(u64, u64)> =
            operand.pieces().map(|(at, len)| (at, at.saturating_add(len))).filter(|(from, to)| from < to).collect();
        pieces.sort_unstable();
        let folded = pieces.windows(2).any(|pair| pair[1].0 < pair[0].1);
        let mut fresh: Option<u32> = None;
        // Per class that has bytes in the operand: how many, and its intervals there.
        let mut inside: BTreeMap<u32, (u64, Vec<u64>)> = BTreeMap::new();
        let mut done = 0;
        for (from, to) in pieces {
            let from = from.max(done);
            if from >= to {
                continue;
            }
            done = to;
            self.cut(from);
            self.cut(to);
            let mut gaps = Vec::new();
            let mut at = from;
            for (start, (end, class)) in self.intervals.range(from..to) {
                if at < *start {
                    gaps.push((at, *start));
                }
                let (bytes, starts) = inside.entry(*class).or_default();
                *bytes += end - start;
                starts.push(*start);
                at = *end;
            }
            if at < to {
                gaps.push((at, to));
            }
            for (start, end) in gaps {
                let class = *fresh.get_or_insert_with(|| {
                    self.classes.push(Class { state: T::default(), bytes: 0, cut_off: Vec::new() });
                    (self.classes.len() - 1) as u32
                });
                self.classes[class as usize].bytes += end - start;
                self.intervals.insert(start, (end, class));
            }
        }
        let mut classes: Vec<(u32, u32)> = fresh.into_iter().map(|class| (class, 0)).collect();
        for (number, (bytes, starts)) in inside {
            let added = self.classes.len() as u32;
            let class = &mut self.classes[number as usize];
            if class.bytes == bytes {
                classes.push((number, class.cut_off.len() as u32));
                continue;
            }
            class.bytes -= bytes;
            class.cut_off.push(added);
            let state = class.state.clone();
            self.classes.push(Class { state, bytes, cut_off: Vec::new() });
            for start in starts {
                if let Some((_, class)) = self.intervals.get_mut(&start) {
                    *class = added;
                }
            }
            classes.push((added, 0));
        }
        Known { shape, folded, classes }
    }

    fn cut(&mut self, at: u64) {
        let Some((start, (end, class))) = self.intervals.range_mut(..at).next_back() else { return };
        if *start < at && at < *end {
            let tail = (*end, *class);
            *end = at;
            self.intervals.insert(at, tail);
        }
    }

    /// Makes classes with the same state one, and forgets the operands: those that are still in use come back.
    fn unite(&mut self) {
        let before = self.classes.len();
        let mut of_state: HashMap<T, u32, ByKey> = HashMap::default();
        let mut classes: Vec<Class<T>> = Vec::new();
        let mut intervals: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        let mut last: Option<(u64, u64, u32)> = None;
        for (start, (end, old)) in std::mem::take(&mut self.intervals) {
            let state = &self.classes[old as usize].state;
            let class = *of_state.entry(state.clone()).or_insert_with(|| {
                classes.push(Class { state: state.clone(), bytes: 0, cut_off: Vec::new() });
                (classes.len() - 1) as u32
            });
            classes[class as usize].bytes += end - start;
            last = match last {
                Some((from, to, same)) if to == start && same == class => Some((from, end, class)),
                other => {
                    intervals.extend(other.map(|(from, to, class)| (from, (to, class))));
                    Some((start, end, class))
                }
            };
        }
        intervals.extend(last.map(|(from, to, class)| (from, (to, class))));
        (self.classes, self.intervals) = (classes, intervals);
        self.known.clear();
        self.table.clear();
        // Where that did not help it is not tried again soon.
        self.patience = if self.classes.len() * 2 > before { self.patience * 2 } else { PATIENCE };
        (self.lookups, self.visits) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::Space;

    fn operand(addr: u64, len: u32, count: u32, stride: i64) -> Operand {
        Operand { writes: true, ..Operand::rows(Space::Ub, addr, len, count, stride) }
    }

    #[test]
    fn every_byte_has_what_was_done_to_it_last() {
        for seed in 0..40 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut classes: ByteClasses<u32> = ByteClasses { patience: 20, ..ByteClasses::default() };
            let mut bytes = vec![0_u32; 4096];
            for step in 1..300 {
                let len = random.random_range(1..40);
                let operand = match random.random_range(0..3) {
                    0 => operand(random.random_range(0..4000), len, 1, 0),
                    1 => operand(
                        random.random_range(0..64),
                        len,
                        random.random_range(1..30),
                        random.random_range(0..100),
                    ),
                    _ => operand(32 * random.random_range(0..32), 32, 8, 64),
                };
                let handle = classes.find(&operand);
                classes.visit(handle, |state| *state = *state / 2 + step);
                let mut touched: Vec<u64> = operand.pieces().flat_map(|(at, len)| at..at + len).collect();
                touched.sort_unstable();
                touched.dedup();
                assert_eq!(classes.is_folded(handle), touched.len() as u32 != operand.len * operand.count0);
                for byte in touched {
                    bytes[byte as usize] = bytes[byte as usize] / 2 + step;
                }
            }
            let mut seen = vec![0_u32; 4096];
            classes.walk(0, 4096, |from, to, state| seen[from as usize..to as usize].fill(*state));
            assert_eq!(seen, bytes, "seed {seed}");
        }
    }

    #[test]
    fn rows_seen_before_are_one_visit_each() {
        let mut classes: ByteClasses<u32> = ByteClasses::default();
        let mut visits = |operand: &Operand| {
            let handle = classes.find(operand);
            let mut visits = 0;
            classes.visit(handle, |_| visits += 1);
            visits
        };
        let (even, odd, all) = (operand(0, 32, 64, 64), operand(32, 32, 64, 64), operand(0, 4096, 1, 0));
        assert_eq!([visits(&all), visits(&even), visits(&odd)], [1, 1, 1]);
        assert_eq!([visits(&all), visits(&even), visits(&odd)], [2, 1, 1]);
        assert_eq!(visits(&operand(0, 32, 32, 64)), 1);
        assert_eq!([visits(&all), visits(&even), visits(&odd)], [3, 2, 1]);
    }
}
