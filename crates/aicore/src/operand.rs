//! Operands of records: which bytes of which memory.

use super::words::{u32_at, u64_at};

pub(crate) const OPERAND_BYTES: usize = 40;

/// Memory of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Unified buffer of a vector core.
    Ub,
    /// Global memory.
    Gm,
    /// L1 buffer of a cube core.
    L1,
    /// Left operand of the cube unit.
    L0a,
    /// Right operand of the cube unit.
    L0b,
    /// Accumulators of the cube unit.
    L0c,
    /// Bias table.
    Bt,
    /// Fixpipe buffer.
    Fb,
}

impl Space {
    /// Number of memories.
    pub const COUNT: usize = 8;

    pub(crate) fn of(number: u8) -> Self {
        const ALL: [Space; Space::COUNT] =
            [Space::Ub, Space::Gm, Space::L1, Space::L0a, Space::L0b, Space::L0c, Space::Bt, Space::Fb];
        ALL.get(usize::from(number)).copied().unwrap_or(Space::Fb)
    }

    /// As messages name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ub => "the unified buffer",
            Self::Gm => "global memory",
            Self::L1 => "L1",
            Self::L0a => "L0A",
            Self::L0b => "L0B",
            Self::L0c => "L0C",
            Self::Bt => "the bias table",
            Self::Fb => "the fixpipe buffer",
        }
    }
}

/// One operand: `count1` x `count0` pieces of `len` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Byte offset in an on-chip memory, or virtual address in global memory.
    pub addr: u64,
    /// Distance of inner pieces in bytes.
    pub stride0: i64,
    /// Distance of outer pieces in bytes.
    pub stride1: i64,
    /// Bytes of a piece.
    pub len: u32,
    /// Inner pieces.
    pub count0: u32,
    /// Outer pieces.
    pub count1: u32,
    /// Memory.
    pub space: Space,
    /// Read.
    pub reads: bool,
    /// Written.
    pub writes: bool,
    /// By the scalar unit, past its data cache.
    pub uncached: bool,
    /// Fetched into the data cache of the scalar unit, and neither read nor written.
    pub preloaded: bool,
}

#[cfg(test)]
impl Operand {
    /// So many pieces that are read, in equal distances.
    pub(crate) fn rows(space: Space, addr: u64, len: u32, count0: u32, stride0: i64) -> Self {
        let (reads, writes, uncached, preloaded) = (true, false, false, false);
        Self { addr, stride0, stride1: 0, len, count0, count1: 1, space, reads, writes, uncached, preloaded }
    }
}

impl Operand {
    pub(super) fn decode(bytes: &[u8]) -> Self {
        let access = bytes[37];
        Self {
            addr: u64_at(bytes, 0),
            stride0: u64_at(bytes, 8).cast_signed(),
            stride1: u64_at(bytes, 16).cast_signed(),
            len: u32_at(bytes, 24),
            count0: u32_at(bytes, 28),
            count1: u32_at(bytes, 32),
            space: Space::of(bytes[36]),
            reads: access & 1 != 0,
            writes: access & 2 != 0,
            uncached: access & 4 != 0,
            preloaded: access & 8 != 0,
        }
    }

    /// Start addresses and lengths of the pieces, adjacent ones merged.
    pub fn pieces(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let operand = *self;
        let merged = operand.stride0 == i64::from(operand.len) || operand.count0 <= 1;
        let (inner, len) = if merged {
            (1, u64::from(operand.len) * u64::from(operand.count0))
        } else {
            (operand.count0, u64::from(operand.len))
        };
        let (outer, len) = if inner <= 1 && (operand.count1 <= 1 || operand.stride1 == len.cast_signed()) {
            (operand.count1.min(1), len * u64::from(operand.count1))
        } else {
            (operand.count1, len)
        };
        (0..outer)
            .flat_map(move |i| {
                (0..inner).map(move |j| {
                    let offset = i64::from(i)
                        .wrapping_mul(operand.stride1)
                        .wrapping_add(i64::from(j).wrapping_mul(operand.stride0));
                    (operand.addr.wrapping_add_signed(offset), len)
                })
            })
            .filter(|(_, len)| *len > 0)
    }

    /// Smallest interval that holds every piece: start and end.
    pub fn extent(&self) -> (u64, u64) {
        let reach = |count: u32, stride: i64| i64::from(count.max(1) - 1).saturating_mul(stride);
        let (a, b) = (reach(self.count0, self.stride0), reach(self.count1, self.stride1));
        let low = a.min(0).saturating_add(b.min(0));
        let high = a.max(0).saturating_add(b.max(0)).saturating_add(i64::from(self.len));
        (self.addr.saturating_add_signed(low), self.addr.saturating_add_signed(high))
    }
}
