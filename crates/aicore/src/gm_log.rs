//! All accesses of a launch to global memory. Loops make series of them, which are kept as such.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use super::alike::Shifts;
use super::key_hasher::ByKey;
use super::operand::Operand;
use super::ordering::{Clock, join};
use super::record::Combine;

/// Consecutive accesses of one core to global memory, merged.
#[derive(Clone, Debug)]
pub(crate) struct GmAccess {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Number in the trace.
    pub(crate) core: u32,
    pub(crate) pipe: u8,
    /// Its last instruction on that pipe.
    pub(crate) last: u32,
    /// What the core knew of other cores.
    pub(crate) known: Rc<Known>,
    /// Grows with every flag and barrier between cores that the core sets or passes.
    pub(crate) epoch: u32,
    pub(crate) write: bool,
    pub(crate) combine: Combine,
    /// By the scalar unit, past its data cache.
    pub(crate) uncached: bool,
    pub(crate) site: u64,
}

/// What one core knows to be complete on others: per core, the last instruction on each pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known(BTreeMap<u32, Clock>);

impl Known {
    /// With what `core` itself has completed.
    pub(crate) fn with(&self, core: u32, clock: Clock) -> Self {
        let mut known = self.clone();
        join(known.0.entry(core).or_default(), &clock);
        known
    }

    pub(crate) fn joined(mut self, other: &Self) -> Self {
        for (core, clock) in &other.0 {
            join(self.0.entry(*core).or_default(), clock);
        }
        self
    }

    pub(crate) fn of(&self, core: u32) -> Option<&Clock> {
        self.0.get(&core)
    }
}

/// Accesses of equal length that lie equally far apart, the same number of instructions apart.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) first: GmAccess,
    count: u32,
    step: i64,
    last_step: u32,
}

/// One access of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Its last instruction on its pipe.
    pub(crate) last: u32,
    /// Which series.
    pub(crate) series: usize,
}

impl Series {
    fn of(first: GmAccess) -> Self {
        Self { first, count: 1, step: 0, last_step: 0 }
    }

    fn row(&self, number: u32, series: usize) -> Row {
        let distance = self.step.wrapping_mul(i64::from(number));
        let at = |byte: u64| byte.wrapping_add_signed(distance);
        let last = self.first.last.wrapping_add(self.last_step.wrapping_mul(number));
        Row { from: at(self.first.from), to: at(self.first.to), last, series }
    }

    /// In the order of addresses.
    fn ascending(&self, number: u32, series: usize) -> Row {
        self.row(if self.step < 0 { self.count - 1 - number } else { number }, series)
    }

    /// Smallest interval that holds all.
    pub(crate) fn extent(&self) -> (u64, u64) {
        (self.ascending(0, 0).from, self.ascending(self.count - 1, 0).to)
    }

    /// Whether an access begins in the last of these or at its end, so that they are one.
    fn joins(&self, access: &GmAccess) -> bool {
        let last = self.row(self.count - 1, 0);
        self.first.epoch == access.epoch && (last.from..=last.to).contains(&access.from)
    }

    /// Makes an access the next of these if it is.
    fn take(&mut self, access: &GmAccess) -> bool {
        let first = &self.first;
        if first.epoch != access.epoch || access.to - access.from != first.to - first.from || self.count == u32::MAX {
            return false;
        }
        if self.count == 1 {
            self.step = access.from.wrapping_sub(first.from).cast_signed();
            self.last_step = access.last.wrapping_sub(first.last);
        } else {
            let next = self.row(self.count, 0);
            if (next.from, next.last) != (access.from, access.last) {
                return false;
            }
        }
        self.count += 1;
        true
    }
}

/// Region, core, pipe, direction, combination, way around the cache and site: accesses that may be one, or one series.
type Key = (u64, u32, u8, bool, Combine, bool, u64);

/// All accesses of a launch by region.
#[derive(Default)]
pub(crate) struct GmLog {
    pub(super) regions: BTreeMap<u64, Vec<Series>>,
    /// Last series of each key.
    open: HashMap<Key, usize, ByKey>,
}

/// A part of the log: a range of each region's series.
pub(crate) struct LogMark(BTreeMap<u64, Range<usize>>);

impl GmLog {
    /// What an instruction did to an operand; `access` is its first piece.
    pub(crate) fn push(&mut self, operand: &Operand, access: GmAccess) {
        // One region is what all pieces of nearly every operand lie in.
        let region = access.from >> 40;
        let (low, high) = operand.extent();
        let whole = low >> 40 == region && high.saturating_sub(1) >> 40 == region;
        if whole && operand.len > 0 && operand.count1 <= 1 && operand.count0 > 1 && operand.stride0 > operand.len.into()
        {
            let to = access.from + u64::from(operand.len);
            self.add_rows(GmAccess { to, ..access }, operand.count0, operand.stride0);
            return;
        }
        for (from, len) in operand.pieces() {
            self.add(GmAccess { from, to: from.saturating_add(len), ..access.clone() });
        }
    }

    fn add(&mut self, access: GmAccess) {
        if access.from == access.to {
            return;
        }
        let key = key(&access);
        let list = self.regions.entry(key.0).or_default();
        if let Some(series) = self.open.get(&key).and_then(|index| list.get_mut(*index)) {
            if series.joins(&access) {
                let last = series.row(series.count - 1, 0);
                let grown = GmAccess { from: last.from, to: last.to.max(access.to), ..access };
                if series.count == 1 {
                    (series.first.to, series.first.last) = (grown.to, grown.last);
                    return;
                }
                // It is longer than the others of its series from now on.
                series.count -= 1;
                self.open.insert(key, list.len());
                list.push(Series::of(grown));
                return;
            }
            if series.take(&access) {
                return;
            }
        }
        self.open.insert(key, list.len());
        list.push(Series::of(access));
    }

    /// Rows with gaps between them.
    fn add_rows(&mut self, mut row: GmAccess, mut count: u32, pitch: i64) {
        let key = key(&row);
        loop {
            let list = self.regions.entry(key.0).or_default();
            let open = self.open.get(&key).and_then(|index| list.get(*index));
            if !open.is_some_and(|series| series.joins(&row)) {
                self.open.insert(key, list.len());
                list.push(Series { first: row, count, step: pitch, last_step: 0 });
                return;
            }
            self.add(row.clone());
            count -= 1;
            if count == 0 {
                return;
            }
            (row.from, row.to) = (row.from.wrapping_add_signed(pitch), row.to.wrapping_add_signed(pitch));
        }
    }

    /// How much there is of each region.
    pub(crate) fn mark(&self) -> LogMark {
        LogMark(self.regions.iter().map(|(region, list)| (*region, 0..list.len())).collect())
    }

    /// What came since `before`, all of it from one core.
    pub(crate) fn added(&self, LogMark(before): &LogMark) -> LogMark {
        let from = |region: &u64| before.get(region).map_or(0, |range| range.end);
        LogMark(self.regions.iter().map(|(region, list)| (*region, from(region)..list.len())).collect())
    }

    /// Another core that talks to nobody does the same, at other addresses.
    pub(crate) fn repeat(&mut self, LogMark(part): &LogMark, core: u32, shifts: &Shifts) {
        for (region, range) in part {
            let shift = shifts.of(*region);
            let Some(list) = self.regions.get_mut(region) else { continue };
            list.reserve(range.len());
            for at in range.clone() {
                let series = &list[at];
                let access = &series.first;
                let (from, to) = (access.from.wrapping_add(shift), access.to.wrapping_add(shift));
                let first = GmAccess { from, to, core, known: Rc::clone(&access.known), ..*access };
                list.push(Series { first, ..*series });
            }
        }
    }
}

fn key(access: &GmAccess) -> Key {
    (access.from >> 40, access.core, access.pipe, access.write, access.combine, access.uncached, access.site)
}

/// All accesses of a list, series by series.
pub(crate) fn rows(list: &[Series]) -> impl Iterator<Item = Row> + '_ {
    list.iter().enumerate().flat_map(|(index, series)| (0..series.count).map(move |number| series.row(number, index)))
}

/// Some of the accesses of a list by address. Only one of each series is ever looked at.
pub(crate) fn sorted(list: &[Series], what: impl Fn(&GmAccess) -> bool) -> Sorted<'_> {
    let wanted = (0..list.len()).filter(|index| what(&list[*index].first));
    let mut later: Vec<Position> = wanted.map(|index| position(list, index, 0)).collect();
    later.sort_unstable_by(|a, b| b.cmp(a));
    Sorted { list, later, begun: BinaryHeap::new() }
}

/// Begin, end, core, direction and site; then series and number in it.
type Position = (u64, u64, u32, bool, u64, u32, u32);

fn position(list: &[Series], index: usize, number: u32) -> Position {
    let series = &list[index];
    let Row { from, to, .. } = series.ascending(number, index);
    (from, to, series.first.core, series.first.write, series.first.site, index as u32, number)
}

pub(crate) struct Sorted<'l> {
    list: &'l [Series],
    /// Series that have not begun, the next one last.
    later: Vec<Position>,
    begun: BinaryHeap<Reverse<Position>>,
}

impl Iterator for Sorted<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let after = |(.., index, number): Position| {
            let more = number + 1 < self.list[index as usize].count;
            more.then(|| Reverse(position(self.list, index as usize, number + 1)))
        };
        let begun = self.begun.peek().map(|begun| begun.0);
        let later = self.later.last().copied();
        let next = match later {
            Some(next) if begun.is_none_or(|begun| next < begun) => {
                self.later.pop();
                self.begun.extend(after(next));
                next
            }
            _ => {
                let next = begun?;
                if let Some(mut top) = self.begun.peek_mut() {
                    match after(next) {
                        Some(more) => *top = more,
                        None => drop(PeekMut::pop(top)),
                    }
                }
                next
            }
        };
        let (.., index, number) = next;
        Some(self.list[index as usize].ascending(number, index as usize))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::Space;

    fn access(from: u64, core: u32, last: u32, site: u64) -> GmAccess {
        let known = Rc::default();
        GmAccess {
            from,
            to: from,
            core,
            pipe: 2,
            last,
            known,
            epoch: last / 40,
            write: site.is_multiple_of(2),
            uncached: false,
            combine: Combine::Replaced,
            site,
        }
    }

    fn operand(addr: u64, len: u32, count0: u32, stride0: i64) -> Operand {
        let (stride1, count1, space) = (0, 1, Space::Gm);
        Operand {
            addr,
            stride0,
            stride1,
            len,
            count0,
            count1,
            space,
            reads: true,
            writes: false,
            uncached: false,
            preloaded: false,
        }
    }

    type Plain = (u64, u64, u32, bool, u64, u32);

    /// Access by access: what begins in or at the end of the last one with the same key is one with it.
    fn add_plain(list: &mut Vec<(Plain, u32)>, access: &GmAccess) {
        let known = list.iter_mut().rev().find(|((_, _, core, write, site, _), _)| {
            (*core, *write, *site) == (access.core, access.write, access.site)
        });
        if let Some(((from, to, .., last), epoch)) = known
            && *epoch == access.epoch
            && (*from..=*to).contains(&access.from)
        {
            *to = access.to.max(*to);
            *last = access.last;
            return;
        }
        let plain = (access.from, access.to, access.core, access.write, access.site, access.last);
        list.push((plain, access.epoch));
    }

    #[test]
    fn series_are_the_accesses_that_they_stand_for() {
        let mut shorter = 0;
        for seed in 0..300 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let (mut log, mut plain) = (GmLog::default(), Vec::new());
            for core in 0..3 {
                let (step, len) = (32 * random.random_range(0..20_u64), 32 * random.random_range(1..8_u32));
                for index in 0..random.random_range(1..60) {
                    let jump = if random.random_bool(0.1) { 32 * random.random_range(0..64) } else { 0 };
                    let at = (1 << 40) + 8192 + u64::from(core) * 2048 + u64::from(index) * step + jump;
                    let (rows, pitch) = match random.random_range(0..6) {
                        0 => (random.random_range(1..5), 32 * random.random_range(-4..12_i64)),
                        _ => (1, 0),
                    };
                    let first = access(at, core, index * 3, u64::from(index) % 2);
                    let operand = operand(at, len, rows, pitch);
                    for (from, len) in operand.pieces() {
                        add_plain(&mut plain, &GmAccess { from, to: from + len, ..first.clone() });
                    }
                    log.push(&operand, first);
                }
            }
            let list = &log.regions[&1];
            let plainly = |row: Row| {
                let GmAccess { core, write, site, .. } = list[row.series].first;
                (row.from, row.to, core, write, site, row.last)
            };
            let mut expected: Vec<Plain> = plain.into_iter().map(|(plain, _)| plain).collect();
            shorter += expected.len() - list.len();
            // Of equal ones either may come first.
            let key = |plain: &Plain| (plain.0, plain.1, plain.2, plain.3, plain.4);
            let in_order: Vec<Plain> = sorted(list, |_| true).map(plainly).collect();
            assert!(in_order.is_sorted_by_key(key), "seed {seed}");
            let mut found: Vec<Plain> = rows(list).map(plainly).collect();
            for rows in [&mut expected, &mut found] {
                rows.sort_unstable();
            }
            assert_eq!(found, expected, "seed {seed}");
            let mut in_order = in_order;
            in_order.sort_unstable();
            assert_eq!(in_order, expected, "seed {seed}");
        }
        assert!(shorter > 5000, "{shorter}");
    }

    #[test]
    fn a_loop_is_one_entry() {
        let mut log = GmLog::default();
        for tile in 0..1000_u32 {
            let at = (1 << 40) + u64::from(tile) * 8192;
            let access = |site| GmAccess { epoch: 0, ..access(at, 0, 2 * tile, site) };
            log.push(&operand(at, 1024, 1, 0), access(3));
            log.push(&operand(at, 64, 8, 512), access(5));
        }
        assert_eq!(log.regions[&1].iter().filter(|series| series.first.site == 3).count(), 1);
        assert_eq!(rows(&log.regions[&1]).count(), 9000);
    }
}
