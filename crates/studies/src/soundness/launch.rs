//! A launch of a kernel on made-up data.

use std::fmt::Write as _;

/// Type of the elements that a kernel works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// 32-bit floating point.
    Float,
    /// 16-bit floating point.
    Half,
    /// 32-bit integers.
    Int32,
    /// 16-bit integers.
    Int16,
}

impl Element {
    /// As C++ spells it.
    pub fn name(self) -> &'static str {
        match self {
            Element::Float => "float",
            Element::Half => "half",
            Element::Int32 => "int32_t",
            Element::Int16 => "int16_t",
        }
    }

    /// Bytes of one.
    pub fn bytes(self) -> u64 {
        match self {
            Element::Float | Element::Int32 => 4,
            Element::Half | Element::Int16 => 2,
        }
    }

    fn letter(self) -> char {
        match self {
            Element::Float => 'f',
            Element::Half => 'h',
            Element::Int32 => 'i',
            Element::Int16 => 's',
        }
    }
}

/// Values of the tiling data of every generated kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fields {
    /// Elements of each core.
    pub length: u64,
    /// Elements of a tile.
    pub tile: u32,
    /// Whole tiles of a core.
    pub tiles: u32,
    /// Elements behind the whole tiles.
    pub tail: u32,
    /// Chooses branches.
    pub mode: u32,
    /// Elements that some instructions stop at, at least 1.
    pub valid: u32,
    /// Rounds of inner loops.
    pub rounds: u32,
    /// Divides counters, at least 1.
    pub divisor: u32,
    /// A factor.
    pub scale: f32,
    /// A summand.
    pub bias: f32,
}

/// One launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Cores.
    pub blocks: u32,
    /// Tiling data.
    pub fields: Fields,
    /// Decides the data.
    pub seed: u32,
    /// Whether infinities, NaN and the ends of ranges are among the data.
    pub hostile: bool,
    /// Byte of memory that nobody wrote.
    pub poison: u8,
    /// Whether the result lies where the first input does.
    pub in_place: bool,
}

/// Elements of the second input behind those of the first, and of the indices: kernels may ask for whole tiles of them.
const SPARE_ELEMENTS: u64 = 1024;

impl Launch {
    /// The line of a job; `number` names the launch in the trace.
    pub(super) fn line(&self, number: usize, variant: usize, element: Element) -> String {
        let Self { blocks, fields, seed, hostile, poison, in_place } = self;
        let data_bytes = u64::from(*blocks) * fields.length * element.bytes();
        let spare_bytes = data_bytes + SPARE_ELEMENTS * element.bytes();
        let index_bytes = 4 * SPARE_ELEMENTS;
        let index_bound = fields.tile.max(1);
        let mut line = format!(
            "{number} {variant} {blocks} {seed} {} {poison} {} {} {data_bytes} {spare_bytes} {index_bytes} {data_bytes} {spare_bytes} {index_bound}",
            u8::from(*hostile),
            u8::from(*in_place),
            element.letter(),
        );
        let Fields { length, tile, tiles, tail, mode, valid, rounds, divisor, scale, bias } = fields;
        let _ = write!(line, " {length} {tile} {tiles} {tail} {mode} {valid} {rounds} {divisor} {scale} {bias}");
        line
    }

    /// What distinguishes it, for people.
    pub fn describe(&self) -> String {
        let Fields { length, tile, mode, valid, rounds, divisor, scale, bias, .. } = self.fields;
        format!(
            "{} core(s), length {length}, tile {tile}, mode {mode}, valid {valid}, rounds {rounds}, divisor {divisor}, scale {scale}, bias {bias}, seed {}{}{}",
            self.blocks,
            self.seed,
            if self.hostile { ", hostile data" } else { "" },
            if self.in_place { ", in place" } else { "" },
        )
    }
}
