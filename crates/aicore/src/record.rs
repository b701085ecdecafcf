//! Records of a trace: an instruction, the pipe that executes it, and where its operands lie.

use std::borrow::Cow;

use super::operand::{OPERAND_BYTES, Operand};
use super::words::{u16_at, u32_at, u64_at};

pub(crate) const HEAD_BYTES: usize = 32;
/// Where a head has the digest of its core's values; what lies before it says what the record is.
pub(crate) const VALUES_AT: usize = 28;

/// Pipes by number as recorded.
pub(crate) const PIPE_COUNT: usize = 7;
pub(crate) const S: usize = 0;
pub(crate) const V: usize = 1;
pub(crate) const MTE2: usize = 2;
pub(crate) const MTE3: usize = 3;
pub(crate) const MTE1: usize = 4;
pub(crate) const M: usize = 5;
pub(crate) const FIX: usize = 6;
pub(crate) const NO_PIPE: u8 = 255;

/// Name of a pipe as reports write it.
pub(crate) fn pipe_name(pipe: usize) -> &'static str {
    ["s", "v", "mte2", "mte3", "mte1", "m", "fix"].get(pipe).copied().unwrap_or("none")
}

/// A position in a core's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamPosition {
    pub(super) piece: u32,
    pub(super) offset: usize,
}

impl StreamPosition {
    /// Of the operand `index` of a record whose operands begin here.
    pub(crate) fn of_operand(self, index: usize) -> Self {
        Self { offset: self.offset + index * OPERAND_BYTES, ..self }
    }
}

/// One record, decoded but for its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) opcode: u16,
    pub(crate) pipe: u8,
    pub(crate) dtype: u8,
    pub(crate) flags: u8,
    pub(crate) repeat: u16,
    pub(crate) site: u64,
    pub(crate) aux: [u32; 3],
    /// Where its operands begin.
    pub(crate) place: StreamPosition,
    pub(super) tail: &'a [u8],
}

/// A record that is kept when the stream goes on.
#[derive(Clone, Debug)]
pub(crate) struct OwnRecord {
    head: Record<'static>,
    tail: Vec<u8>,
}

impl OwnRecord {
    pub(crate) fn of(record: &Record<'_>) -> Self {
        Self { head: Record { tail: &[], ..*record }, tail: record.tail.to_vec() }
    }

    pub(crate) fn record(&self) -> Record<'_> {
        Record { tail: &self.tail, ..self.head }
    }
}

pub(crate) const FLAG_COUNT_MODE: u8 = 1;
pub(crate) const FLAG_ATOMIC: u8 = 2;
pub(crate) const FLAG_L2_BYPASS: u8 = 4;
/// Beside [`FLAG_ATOMIC`]: a maximum, or a minimum, and no sum.
const FLAG_ATOMIC_MAX: u8 = 32;
const FLAG_ATOMIC_MIN: u8 = 64;
/// Scalar accesses that the compiler announced, among them reads whose values nobody uses.
pub(crate) const FLAG_PLAIN: u8 = 16;

/// What becomes of what is there where an instruction writes to global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Combine {
    /// It is gone.
    #[default]
    Replaced,
    /// The new values are added to it.
    Added,
    /// The larger ones stay.
    Maximum,
    /// The smaller ones stay.
    Minimum,
}

impl Combine {
    /// What the flags of a record say.
    pub(crate) fn of(flags: u8) -> Self {
        match flags {
            _ if flags & FLAG_ATOMIC == 0 => Self::Replaced,
            _ if flags & FLAG_ATOMIC_MAX != 0 => Self::Maximum,
            _ if flags & FLAG_ATOMIC_MIN != 0 => Self::Minimum,
            _ => Self::Added,
        }
    }

    /// Whether it is done in one step that nobody comes between.
    pub(crate) fn is_atomic(self) -> bool {
        self != Self::Replaced
    }

    /// Whether it makes no difference which of two comes first.
    pub(crate) fn commutes_with(self, other: Self) -> bool {
        self.is_atomic() && self == other
    }
}

impl<'a> Record<'a> {
    /// Whether cube unit and fixpipe keep their order on L0C by themselves.
    pub(crate) fn has_unit_flag(&self) -> bool {
        matches!(usize::from(self.pipe), M | FIX) && self.repeat & 2 != 0
    }

    /// Its operands as recorded.
    pub(crate) fn operand_bytes(&self) -> &'a [u8] {
        self.tail
    }

    pub(crate) fn operands(&self) -> impl Iterator<Item = Operand> + use<'a> {
        self.tail.chunks_exact(OPERAND_BYTES).map(Operand::decode)
    }

    /// Text of a fault or note.
    pub(crate) fn message(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(&self.tail[..self.tail.len().min(self.aux[1] as usize)])
    }
}

/// Decodes the head of a record; how many bytes the record has comes with it.
#[inline(always)]
pub(super) fn decode_head<'a>(bytes: &'a [u8], message_opcodes: &[bool]) -> (Record<'a>, usize) {
    let record = Record {
        opcode: u16_at(bytes, 0),
        pipe: bytes[2],
        dtype: bytes[3],
        flags: bytes[5],
        repeat: u16_at(bytes, 6),
        site: u64_at(bytes, 8),
        aux: [u32_at(bytes, 16), u32_at(bytes, 20), u32_at(bytes, 24)],
        place: StreamPosition::default(),
        tail: &[],
    };
    (record, record_bytes(bytes, message_opcodes))
}

/// Bytes of the record with this head.
#[inline(always)]
pub(super) fn record_bytes(head: &[u8], message_opcodes: &[bool]) -> usize {
    let tail = if message_opcodes.get(usize::from(u16_at(head, 0))).copied().unwrap_or(false) {
        (u32_at(head, 20) as usize).next_multiple_of(8)
    } else {
        usize::from(head[4]) * OPERAND_BYTES
    };
    HEAD_BYTES + tail
}
