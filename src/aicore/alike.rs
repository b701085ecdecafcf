//! Blocks that do the same: their streams are equal but for addresses in global memory, and these lie alike to packets
//! and alignment. Such blocks take the same time for everything but what the memory system does to them, so that one
//! play stands for all of them until copies of theirs end at different times.

use super::core_play::Departure;
use super::kernel_type::CoreName;
use super::machine::Parameters;
use super::trace::{CoreStream, HEAD_BYTES, Launch, OPERAND_BYTES, OpKind, Space};

/// Which blocks one play stands for.
pub(crate) struct Alike {
    kinds: Vec<u32>,
    used: bool,
    /// Blocks of each play.
    members: Vec<usize>,
    /// Plays that began since copies ended last: kind of block, when, and their first copies once they have run.
    fresh: Vec<Fresh>,
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
        Self { kinds, used, members: Vec::new(), fresh: Vec::new() }
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

    /// Blocks whose copies ended, by play and by the pipes of these copies.
    pub(crate) fn part(&mut self, ended: &[(u32, u8)], play_of: &[usize]) -> Vec<Part> {
        self.fresh.clear();
        let mut blocks: Vec<(u32, Pipes)> = Vec::with_capacity(ended.len());
        for (block, pipe) in ended {
            // Mostly one copy of a block ends at a time.
            match blocks.iter_mut().rev().find(|known| known.0 == *block) {
                Some((_, pipes)) => pipes.push(*pipe),
                None => blocks.push((*block, Pipes::of(*pipe))),
            }
        }
        let mut parts: Vec<Part> = Vec::new();
        for (block, pipes) in blocks {
            let play = play_of[block as usize];
            match parts.iter_mut().rev().find(|part| part.play == play && part.pipes == pipes) {
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

/// Kinds of blocks that a block is compared with.
const KINDS: usize = 8;

/// A number for each block, equal for blocks that do the same. Launches whose cores talk to each other have no such blocks.
pub(crate) fn kinds(launch: &Launch<'_>, names: &[CoreName], parameters: &Parameters) -> Vec<u32> {
    let streams: Vec<&CoreStream<'_>> = launch.cores.values().collect();
    let mut kinds: Vec<u32> = (0..streams.len() as u32).collect();
    if streams.iter().any(|stream| stream.talks) {
        return kinds;
    }
    let steps = [parameters.dma_packet_bytes, parameters.dma_alignment_bytes].map(|step| (step as u64).max(1));
    let mut first_of_kind: Vec<usize> = Vec::new();
    for (block, stream) in streams.iter().enumerate() {
        let same =
            |other: &&usize| names[**other].unit == names[block].unit && alike(launch, streams[**other], stream, steps);
        match first_of_kind.iter().find(same) {
            Some(first) => kinds[block] = *first as u32,
            None if first_of_kind.len() < KINDS => first_of_kind.push(block),
            None => {}
        }
    }
    kinds
}

fn alike(launch: &Launch<'_>, left: &CoreStream<'_>, right: &CoreStream<'_>, steps: [u64; 2]) -> bool {
    let (left, right) = (left.chunks(), right.chunks());
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| left.len() == right.len())
        && left.iter().zip(right).all(|(left, right)| alike_bytes(launch, left, right, steps))
}

fn alike_bytes(launch: &Launch<'_>, left: &[u8], right: &[u8], steps: [u64; 2]) -> bool {
    let mut at = 0;
    while let (Some(a), Some(b)) = (left.get(at..at + HEAD_BYTES), right.get(at..at + HEAD_BYTES)) {
        if a != b {
            return false;
        }
        let opcode = usize::from(u16::from_le_bytes([a[0], a[1]]));
        if launch.message_opcodes.get(opcode).copied().unwrap_or(false) {
            let text = u32::from_le_bytes([a[20], a[21], a[22], a[23]]) as usize;
            // What a text says takes no time.
            at += HEAD_BYTES + text.next_multiple_of(8);
            continue;
        }
        let end = at + HEAD_BYTES + usize::from(a[4]) * OPERAND_BYTES;
        let (Some(a), Some(b)) = (left.get(at + HEAD_BYTES..end), right.get(at + HEAD_BYTES..end)) else {
            return false;
        };
        if a != b {
            let scalar = launch.opcodes.get(opcode).is_some_and(|opcode| opcode.kind == OpKind::Scalar);
            let pairs = a.chunks_exact(OPERAND_BYTES).zip(b.chunks_exact(OPERAND_BYTES));
            if !pairs.into_iter().all(|(a, b)| a == b || alike_operands(a, b, scalar, steps)) {
                return false;
            }
        }
        at = end;
    }
    true
}

/// Whether operands differ at most in an address of global memory of which the time does not depend.
fn alike_operands(left: &[u8], right: &[u8], scalar: bool, steps: [u64; 2]) -> bool {
    let address = |operand: &[u8]| operand.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (a, b) = (address(left), address(right));
    left[8..] == right[8..]
        && Space::of(left[36]) == Space::Gm
        && (scalar || steps.iter().all(|step| a % step == b % step))
}
