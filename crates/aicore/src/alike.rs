//! Blocks that do the same: their streams are equal but for addresses in global memory, and these lie alike to packets
//! and alignment. Such blocks take the same time for everything but what the memory system does to them, so that one
//! play stands for all of them until copies of theirs end at different times. Of blocks whose addresses in a region lie
//! equally far apart the same can be said, whatever the distance, so that one is judged for all of them.

use super::core_play::Departure;
use super::kernel_type::CoreName;
use super::machine::Parameters;
use super::operand::{OPERAND_BYTES, Operand, Space};
use super::record::{HEAD_BYTES, PIPE_COUNT, VALUES_AT};
use super::stream::CoreStream;
use super::trace::{Launch, OpKind};

/// Which blocks one play stands for.
pub(crate) struct Alike {
    kinds: Vec<u32>,
    used: bool,
    /// Blocks of each play.
    members: Vec<usize>,
    /// Plays that began since copies ended last: kind of block, when, and their first copies once they have run.
    fresh: Vec<Fresh>,
    /// Where each block stands in the list of those whose copies end now, and which of these lists that was.
    place: Vec<(u64, u32)>,
    round: u64,
}

struct Fresh {
    kind: u32,
    free: f64,
    play: usize,
    copies: Option<Vec<Departure>>,
}

/// Blocks of one play whose copies on the same pipes ended at the same time.
pub(crate) struct Part {
    pub(crate) play: usize,
    pub(crate) blocks: Vec<u32>,
    pub(crate) pipes: Pipes,
}

/// Cycles that the copies of a block in flight would take alone, by pipe.
pub(crate) type AloneCycles = [f64; PIPE_COUNT];

/// A few pipes in order, four bits each: the number of the pipe plus one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pipes(u64);

impl Pipes {
    fn of(pipe: u8) -> Self {
        Self(u64::from(pipe) + 1)
    }

    /// A core has three pipes that copy, and each completes at most one copy at a time.
    fn push(&mut self, pipe: u8) {
        let used = (u64::BITS - self.0.leading_zeros()).div_ceil(4) * 4;
        self.0 |= (u64::from(pipe) + 1) << used;
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..16).map(move |at| self.0 >> (4 * at) & 15).take_while(|pipe| *pipe > 0).map(|pipe| pipe as usize - 1)
    }
}

impl Alike {
    /// For blocks of these kinds.
    pub(crate) fn new(kinds: Vec<u32>) -> Self {
        let mut sorted = kinds.clone();
        sorted.sort_unstable();
        let used = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        let place = vec![(0, 0); kinds.len()];
        Self { kinds, used, members: Vec::new(), fresh: Vec::new(), place, round: 0 }
    }

    /// Whether any two blocks are alike.
    pub(crate) fn is_used(&self) -> bool {
        self.used
    }

    /// Blocks that a play stands for.
    pub(crate) fn members(&self, play: usize) -> usize {
        self.members.get(play).copied().unwrap_or(1)
    }

    /// The play that a block which begins on a core free since `free` can be part of.
    pub(crate) fn join(&mut self, block: usize, free: f64) -> Option<usize> {
        let kind = self.kinds[block];
        let same = |fresh: &&Fresh| fresh.kind == kind && fresh.free.to_bits() == free.to_bits();
        let play = self.fresh.iter().find(same)?.play;
        self.members[play] += 1;
        Some(play)
    }

    /// A block begins as a play of its own.
    pub(crate) fn begin(&mut self, block: usize, play: usize, free: f64) {
        if self.used {
            self.members.resize(play + 1, 1);
            self.fresh.push(Fresh { kind: self.kinds[block], free, play, copies: None });
        }
    }

    /// Copies that a play which just began had made when it had run; taken from `departures` the first time.
    pub(crate) fn first_copies(&mut self, play: usize, departures: &mut Vec<Departure>) -> Vec<Departure> {
        let Some(fresh) = self.fresh.iter_mut().find(|fresh| fresh.play == play) else { return Vec::new() };
        fresh.copies.get_or_insert_with(|| std::mem::take(departures)).clone()
    }

    /// Blocks whose copies ended, by play, by the pipes of these copies, and by the cycles that these would have taken alone.
    pub(crate) fn part(&mut self, ended: &[(u32, u8)], play_of: &[usize], alone: &[AloneCycles]) -> Vec<Part> {
        self.fresh.clear();
        self.round += 1;
        let mut blocks: Vec<(u32, Pipes)> = Vec::with_capacity(ended.len());
        for (block, pipe) in ended {
            let (round, at) = &mut self.place[*block as usize];
            if *round == self.round {
                blocks[*at as usize].1.push(*pipe);
            } else {
                (*round, *at) = (self.round, blocks.len() as u32);
                blocks.push((*block, Pipes::of(*pipe)));
            }
        }
        let mut parts: Vec<Part> = Vec::new();
        for (block, pipes) in blocks {
            let play = play_of[block as usize];
            let same = |part: &Part, pipe: usize| {
                alone[part.blocks[0] as usize][pipe].to_bits() == alone[block as usize][pipe].to_bits()
            };
            let alike = |part: &&mut Part| {
                part.play == play && part.pipes == pipes && pipes.iter().all(|pipe| same(part, pipe))
            };
            match parts.iter_mut().rev().find(alike) {
                Some(part) => part.blocks.push(block),
                None => parts.push(Part { play, blocks: vec![block], pipes }),
            }
        }
        parts
    }

    /// `count` blocks of a play go on as a new one.
    pub(crate) fn divide(&mut self, play: usize, count: usize) {
        self.members[play] -= count;
        self.members.push(count);
    }
}

/// Blocks that a block is compared with.
const KINDS: usize = 8;

/// How far one block's addresses lie behind another's, by region of global memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shifts(Vec<(u64, u64)>);

impl Shifts {
    /// Of a region, by the upper bits of its addresses. Wraps around for what lies before.
    pub(crate) fn of(&self, region: u64) -> u64 {
        self.0.iter().find(|(known, _)| *known == region).map_or(0, |(_, shift)| *shift)
    }

    /// The address that lies so far behind.
    pub(crate) fn behind(&self, address: u64) -> u64 {
        address.wrapping_add(self.of(address >> REGION_BITS))
    }

    /// Whether addresses of a region lie as far apart as those before.
    fn fit(&mut self, region: u64, shift: u64) -> bool {
        match self.0.iter().find(|(known, _)| *known == region) {
            Some((_, known)) => *known == shift,
            None => {
                self.0.push((region, shift));
                true
            }
        }
    }
}

/// Distances in bytes of which addresses of blocks that take the same time are multiples apart: all of a machine that likeness depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Steps([u64; 2]);

impl Steps {
    pub(crate) fn of(parameters: &Parameters) -> Self {
        Self([parameters.dma_packet_bytes, parameters.dma_alignment_bytes].map(|step| (step as u64).max(1)))
    }
}

/// Which blocks of a launch are alike.
#[derive(Clone, Debug)]
pub(crate) struct Likeness {
    /// A number for each block, equal for blocks that take the same time.
    pub(crate) kinds: Vec<u32>,
    /// For each block an earlier one of which every verdict holds here too, at addresses so far behind.
    pub(crate) twins: Vec<Option<(usize, Shifts)>>,
}

impl Likeness {
    /// Every block by itself.
    pub(crate) fn none(blocks: usize) -> Self {
        Self { kinds: (0..blocks as u32).collect(), twins: vec![None; blocks] }
    }

    /// How far behind the addresses of `from` those of `to` lie, if both are known to keep one distance in each region.
    pub(crate) fn distance(&self, from: usize, to: usize) -> Option<Shifts> {
        let first = |block: usize| self.twins[block].as_ref().map_or(block, |(first, _)| *first);
        if first(from) != first(to) {
            return None;
        }
        let shift = |block: usize, region: u64| self.twins[block].as_ref().map_or(0, |(_, shifts)| shifts.of(region));
        let (_, known) = self.twins[to].as_ref().or(self.twins[from].as_ref())?;
        let regions = known.0.iter().map(|(region, _)| *region);
        Some(Shifts(regions.map(|region| (region, shift(to, region).wrapping_sub(shift(from, region)))).collect()))
    }

    /// Launches whose cores talk to each other have no alike blocks.
    pub(crate) fn of(launch: &Launch<'_>, parameters: &Parameters) -> Self {
        let streams: Vec<&CoreStream<'_>> = launch.cores.values().collect();
        let mut likeness = Self::none(streams.len());
        if streams.iter().any(|stream| stream.talks) {
            return likeness;
        }
        let names: Vec<CoreName> = launch.cores.keys().map(|core| launch.core_name(*core)).collect();
        let steps = Steps::of(parameters);
        let mut firsts: Vec<usize> = Vec::new();
        for (block, stream) in streams.iter().enumerate() {
            let (mut kind, mut twin) = (None, None);
            for first in firsts.iter().copied().filter(|first| names[*first].unit == names[block].unit) {
                let wanted = Wanted { time: true, verdicts: twin.is_none() && likeness.twins[first].is_none() };
                let (same, shifts) = compare(launch, streams[first], stream, steps, wanted);
                kind = same.time.then_some(likeness.kinds[first]);
                twin = twin.or(same.verdicts.then_some((first, shifts)));
                if kind.is_some() {
                    break;
                }
            }
            if (kind.is_none() || twin.is_none()) && firsts.len() < KINDS {
                firsts.push(block);
            }
            likeness.kinds[block] = kind.unwrap_or(block as u32);
            likeness.twins[block] = twin;
        }
        likeness
    }
}

/// What two blocks may have in common.
#[derive(Clone, Copy)]
struct Wanted {
    /// They take the same time: addresses lie alike to packets and alignment.
    time: bool,
    /// The same can be said of them: addresses of a region lie equally far apart.
    verdicts: bool,
}

fn compare(
    launch: &Launch<'_>,
    left: &CoreStream<'_>,
    right: &CoreStream<'_>,
    steps: Steps,
    wanted: Wanted,
) -> (Wanted, Shifts) {
    let mut comparison = Comparison { launch, steps, same: wanted, shifts: Shifts::default() };
    let mut equal = left.sizes().eq(right.sizes());
    let (mut left, mut right) = (left.windows(&launch.message_opcodes), right.windows(&launch.message_opcodes));
    while equal {
        equal = match (left.next(), right.next()) {
            (None, None) => break,
            (Some(left), Some(right)) => left.len() == right.len() && comparison.bytes(left, right),
            _ => false,
        };
    }
    let Comparison { same, shifts, .. } = comparison;
    (if equal { same } else { Wanted { time: false, verdicts: false } }, shifts)
}

struct Comparison<'a> {
    launch: &'a Launch<'a>,
    steps: Steps,
    same: Wanted,
    shifts: Shifts,
}

impl Comparison<'_> {
    fn bytes(&mut self, left: &[u8], right: &[u8]) -> bool {
        let mut at = 0;
        let head = |bytes: &[u8], at: usize| bytes.get(at..)?.first_chunk::<HEAD_BYTES>().copied();
        while let (Some(a), Some(b)) = (head(left, at), head(right, at)) {
            // What blocks compute with takes no time and is no hazard: the digests of values may differ.
            if a.first_chunk::<VALUES_AT>() != b.first_chunk::<VALUES_AT>() {
                return false;
            }
            let opcode = usize::from(u16::from_le_bytes([a[0], a[1]]));
            let kind = self.launch.opcodes.get(opcode).map(|opcode| opcode.kind);
            at += HEAD_BYTES;
            if self.launch.message_opcodes.get(opcode).copied().unwrap_or(false) {
                let text = u32::from_le_bytes([a[20], a[21], a[22], a[23]]) as usize;
                let end = at + text.next_multiple_of(8);
                // What a text says takes no time, and of a fault only the first text is told; a note means something.
                self.same.verdicts &= kind != Some(OpKind::Note) || left.get(at..end) == right.get(at..end);
                at = end;
                continue;
            }
            let end = at + usize::from(a[4]) * OPERAND_BYTES;
            let (Some(a), Some(b)) = (left.get(at..end), right.get(at..end)) else {
                return false;
            };
            let mut pairs = a.chunks_exact(OPERAND_BYTES).zip(b.chunks_exact(OPERAND_BYTES));
            if !pairs.all(|(a, b)| self.operands(a, b, kind == Some(OpKind::Scalar))) {
                return false;
            }
            at = end;
        }
        true
    }

    /// Whether operands differ at most in an address of global memory.
    #[inline]
    fn operands(&mut self, left: &[u8], right: &[u8], scalar: bool) -> bool {
        if Space::of(left[36]) != Space::Gm {
            return left == right;
        }
        let rest = |operand: &[u8]| operand[8..].first_chunk::<{ OPERAND_BYTES - 8 }>().copied();
        if rest(left) != rest(right) {
            return false;
        }
        let address = |operand: &[u8]| operand.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (a, b) = (address(left), address(right));
        if a != b {
            self.same.time &= scalar || self.steps.0.iter().all(|step| a.abs_diff(b) % step == 0);
        }
        if self.same.verdicts {
            let region = a >> REGION_BITS;
            let (low, high) = Operand::decode(left).extent();
            let last = high.saturating_sub(1);
            let inside = |address: u64| address >> REGION_BITS == region;
            let shift = b.wrapping_sub(a);
            let both = |address: u64| inside(address) && inside(address.wrapping_add(shift));
            self.same.verdicts = self.shifts.fit(region, shift) && both(low) && both(last);
        }
        self.same.time || self.same.verdicts
    }
}

/// Upper bits of an address say the region.
const REGION_BITS: u32 = 40;
