//! The L2 cache: write-back, least recently used, in chunks of 16 KiB with valid and dirty bits for each line of 128 B.

use std::collections::HashMap;

use super::key_hasher::ByKey;
use super::machine::Machine;

/// What the cache gives up at a time.
const CHUNK_BITS: u32 = 14;
/// What it fetches at a time: published counts of hits and misses (asc-devkit data_copy s5 and s6) are one for each 128 bytes.
const LINE_BITS: u32 = 7;
const LINE_BYTES: u64 = 1 << LINE_BITS;
const LAST_LINE: u64 = (1 << (CHUNK_BITS - LINE_BITS)) - 1;
const NONE: u32 = u32::MAX;

/// What one access meant for HBM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Bytes found in the cache.
    pub(crate) hit: u64,
    /// Bytes not found, or written past the cache.
    pub(crate) miss: u64,
    /// Bytes that HBM delivers or takes for those: whole lines, past the cache what was asked for.
    pub(crate) moved: u64,
    /// Dirty bytes written back to make room.
    pub(crate) written_back: u64,
}

#[derive(Clone)]
struct Chunk {
    id: u64,
    valid: u128,
    dirty: u128,
    newer: u32,
    older: u32,
}

/// Cache state. It starts empty: inputs come from HBM, as in a profiler's first run; or as the launch before left it.
#[derive(Clone)]
pub(crate) struct L2 {
    capacity_lines: u64,
    used_lines: u64,
    chunks: Vec<Chunk>,
    by_id: HashMap<u64, u32, ByKey>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
    /// The slot that was looked up last: rows next to each other lie in one chunk.
    latest: u32,
}

impl L2 {
    /// Empty, as large as the machine's.
    pub(crate) fn of(machine: &Machine) -> Self {
        Self::new(machine.parameters.l2_bytes as u64)
    }

    pub(crate) fn new(capacity_bytes: u64) -> Self {
        Self {
            capacity_lines: capacity_bytes >> LINE_BITS,
            used_lines: 0,
            chunks: Vec::new(),
            by_id: HashMap::default(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
            latest: NONE,
        }
    }

    /// One contiguous access. `bypass` leaves nothing behind, but data that is there is still used.
    pub(crate) fn access(&mut self, address: u64, len: u64, write: bool, bypass: bool, traffic: &mut Traffic) {
        let end = address.saturating_add(len);
        let mut at = address;
        while at < end {
            let id = at >> CHUNK_BITS;
            let last_of_chunk = (id << CHUNK_BITS) | ((1 << CHUNK_BITS) - 1);
            let stop = last_of_chunk.min(end - 1) + 1;
            self.access_chunk(id, (at, stop), write, bypass, traffic);
            at = stop;
        }
    }

    fn access_chunk(&mut self, id: u64, (from, to): (u64, u64), write: bool, bypass: bool, traffic: &mut Traffic) {
        let first = ((from >> LINE_BITS) & LAST_LINE) as u32;
        let last = (((to - 1) >> LINE_BITS) & LAST_LINE) as u32;
        let lines = last - first + 1;
        let mask = (u128::MAX >> (LAST_LINE as u32 + 1 - lines)) << first;
        let bytes = to - from;
        let slot = self.slot(id);
        let found = slot.map_or(0, |slot| self.chunks[slot as usize].valid) & mask;
        // All or nothing is there mostly, and counting bits takes long on processors that are not told to have an instruction for it.
        let present = match found {
            0 => 0,
            all if all == mask => lines,
            some => some.count_ones(),
        };
        let hit = covered(found, present, from, to);
        if bypass {
            if let (Some(slot), true) = (slot, write) {
                // The cached copy is dropped, the new data goes to HBM.
                let chunk = &mut self.chunks[slot as usize];
                chunk.valid &= !mask;
                chunk.dirty &= !mask;
                self.used_lines -= u64::from(present);
            }
            let hit = if write { 0 } else { hit };
            traffic.hit += hit;
            traffic.miss += bytes - hit;
            traffic.moved += bytes - hit;
            return;
        }
        let slot = slot.unwrap_or_else(|| self.insert(id));
        self.touch(slot);
        let chunk = &mut self.chunks[slot as usize];
        self.used_lines += u64::from(lines - present);
        chunk.valid |= mask;
        if write {
            chunk.dirty |= mask;
            traffic.hit += bytes;
        } else {
            traffic.hit += hit;
            traffic.miss += bytes - hit;
            traffic.moved += u64::from(lines - present) * LINE_BYTES;
        }
        while self.used_lines > self.capacity_lines && self.oldest != slot {
            traffic.written_back += self.evict_oldest();
        }
    }

    /// Where a chunk is held, if it is.
    fn slot(&mut self, id: u64) -> Option<u32> {
        if let Some(chunk) = self.chunks.get(self.latest as usize)
            && chunk.id == id
        {
            return Some(self.latest);
        }
        let slot = self.by_id.get(&id).copied();
        self.latest = slot.unwrap_or(NONE);
        slot
    }

    fn insert(&mut self, id: u64) -> u32 {
        let chunk = Chunk { id, valid: 0, dirty: 0, newer: NONE, older: NONE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.chunks[slot as usize] = chunk;
                slot
            }
            None => {
                self.chunks.push(chunk);
                (self.chunks.len() - 1) as u32
            }
        };
        self.by_id.insert(id, slot);
        self.link_newest(slot);
        slot
    }

    fn touch(&mut self, slot: u32) {
        if self.newest != slot {
            self.unlink(slot);
            self.link_newest(slot);
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let before = self.newest;
        self.chunks[slot as usize].older = before;
        self.chunks[slot as usize].newer = NONE;
        if before == NONE {
            self.oldest = slot;
        } else {
            self.chunks[before as usize].newer = slot;
        }
        self.newest = slot;
    }

    fn unlink(&mut self, slot: u32) {
        let Chunk { newer, older, .. } = self.chunks[slot as usize];
        if newer == NONE {
            self.newest = older;
        } else {
            self.chunks[newer as usize].older = older;
        }
        if older == NONE {
            self.oldest = newer;
        } else {
            self.chunks[older as usize].newer = newer;
        }
    }

    fn evict_oldest(&mut self) -> u64 {
        let slot = self.oldest;
        self.unlink(slot);
        let chunk = &self.chunks[slot as usize];
        let dirty = u64::from(chunk.dirty.count_ones()) * LINE_BYTES;
        self.used_lines -= u64::from(chunk.valid.count_ones());
        self.by_id.remove(&chunk.id);
        self.free.push(slot);
        if self.latest == slot {
            self.latest = NONE;
        }
        dirty
    }
}

/// Bytes of an access inside one chunk that lie in the lines of a mask, `count` of them, of which the access touches every one.
fn covered(lines: u128, count: u32, from: u64, to: u64) -> u64 {
    if count == 0 {
        return 0;
    }
    let has = |byte: u64| lines >> ((byte >> LINE_BITS) & LAST_LINE) & 1 != 0;
    let before = if has(from) { from % LINE_BYTES } else { 0 };
    let behind = if has(to - 1) { LINE_BYTES - 1 - (to - 1) % LINE_BYTES } else { 0 };
    u64::from(count) * LINE_BYTES - before - behind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(l2: &mut L2, address: u64, len: u64, write: bool, bypass: bool) -> Traffic {
        let mut traffic = Traffic::default();
        l2.access(address, len, write, bypass, &mut traffic);
        traffic
    }

    #[test]
    fn reads_allocate_and_partial_chunks_are_not_hits() {
        let mut l2 = L2::new(1 << 20);
        assert_eq!(
            access(&mut l2, 0, 8192, false, false),
            Traffic { hit: 0, miss: 8192, moved: 8192, written_back: 0 }
        );
        assert_eq!(
            access(&mut l2, 8192, 8192, false, false),
            Traffic { hit: 0, miss: 8192, moved: 8192, written_back: 0 }
        );
        assert_eq!(
            access(&mut l2, 4096, 8192, false, false),
            Traffic { hit: 8192, miss: 0, moved: 0, written_back: 0 }
        );
    }

    #[test]
    fn eviction_writes_dirty_lines_back_and_bypass_leaves_no_trace() {
        let mut l2 = L2::new(64 << 10);
        assert_eq!(access(&mut l2, 0, 32 << 10, true, false).miss, 0);
        assert_eq!(access(&mut l2, 1 << 20, 64 << 10, false, true).written_back, 0);
        assert_eq!(access(&mut l2, 0, 32 << 10, false, false).hit, 32 << 10);
        assert_eq!(access(&mut l2, 1 << 20, 64 << 10, false, false).written_back, 32 << 10);
        assert_eq!(access(&mut l2, 0, 512, false, false).miss, 512);
    }

    #[test]
    fn bypassing_writes_invalidate() {
        let mut l2 = L2::new(64 << 10);
        access(&mut l2, 0, 1024, false, false);
        assert_eq!(access(&mut l2, 0, 512, true, true).miss, 512);
        assert_eq!(
            access(&mut l2, 0, 1024, false, false),
            Traffic { hit: 512, miss: 512, moved: 512, written_back: 0 }
        );
    }

    #[test]
    fn ragged_reads_fetch_whole_lines_once() {
        let mut l2 = L2::new(1 << 20);
        assert_eq!(
            access(&mut l2, 30, 2048, false, false),
            Traffic { hit: 0, miss: 2048, moved: 2176, written_back: 0 }
        );
        let next = access(&mut l2, 2078, 2048, false, false);
        assert_eq!(next, Traffic { hit: 98, miss: 1950, moved: 2048, written_back: 0 });
    }
}
