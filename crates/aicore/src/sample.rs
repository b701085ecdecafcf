//! Which blocks of a launch stand for all of it: of blocks that do the same to their own data, the first and the last one.
//!
//! Two blocks do the same if their records are equal but for addresses in global memory, these keep one distance in each region
//! ([`Likeness`]), and so is everything else that they compute with, which the digests at their ends say. They do not depend on
//! one another if no two of them touch the same bytes without an order, which is judged before, and no core waits for another.

use std::collections::BTreeMap;
use std::fmt;

use super::alike::Likeness;
use super::kernel_type::KernelType;
use super::operand::Space;
use super::profile::Hazard;
use super::record::FLAG_ATOMIC;
use super::region::Role;
use super::trace::{Launch, LaunchStatus};

/// Blocks that stand for all blocks of a launch, and what they write of its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSample {
    /// The blocks, in increasing order.
    pub blocks: Vec<u32>,
    /// Blocks of the launch.
    pub of: u32,
    /// What they write of the outputs, by output and offset; ranges neither touch nor overlap.
    pub written: Vec<WrittenRange>,
}

/// Bytes of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrittenRange {
    /// Index of the output.
    pub output: u32,
    /// Offset of the first byte.
    pub from: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Why all blocks of a launch have to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSample {
    /// Cube cores take part: no digest says what is in their registers.
    CubeCores,
    /// The launch did not come to its end.
    Unfinished,
    /// Cores set flags for others or wait for them.
    CoresTalk,
    /// Blocks may depend on one another, or something else is not as it should be.
    Hazards,
    /// Blocks add to global memory, where others may do so too.
    Atomics,
    /// Blocks are too few, or too many of them are like no other.
    Unlike {
        /// Blocks that would have to run.
        chosen: u32,
        /// Blocks of the launch.
        of: u32,
    },
    /// What the chosen blocks write is in too many places.
    Scattered,
}

impl fmt::Display for NoSample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CubeCores => formatter.write_str("cube cores take part"),
            Self::Unfinished => formatter.write_str("the launch does not come to its end"),
            Self::CoresTalk => formatter.write_str("cores wait for one another"),
            Self::Hazards => formatter.write_str("it has hazards"),
            Self::Atomics => formatter.write_str("blocks add to global memory"),
            Self::Unlike { chosen, of } => write!(formatter, "{chosen} of {of} blocks would have to run"),
            Self::Scattered => formatter.write_str("what a block writes is in too many places"),
        }
    }
}

/// Ranges up to which comparing them pays.
const MOST_RANGES: usize = 1 << 16;

impl BlockSample {
    /// Of a launch that has been judged.
    pub(crate) fn of(launch: &Launch<'_>, likeness: &Likeness, hazards: &[Hazard]) -> Result<Self, NoSample> {
        if launch.kernel_type() != KernelType::Aiv {
            return Err(NoSample::CubeCores);
        }
        if launch.status != LaunchStatus::Ok {
            return Err(NoSample::Unfinished);
        }
        if launch.cores.values().any(|stream| stream.talks) {
            return Err(NoSample::CoresTalk);
        }
        if !hazards.is_empty() {
            return Err(NoSample::Hazards);
        }
        let chosen = chosen(launch, likeness);
        let of = launch.cores.len() as u32;
        if 2 * chosen.len() as u32 > of {
            return Err(NoSample::Unlike { chosen: chosen.len() as u32, of });
        }
        let written = written(launch, &chosen)?;
        Ok(Self { blocks: chosen, of, written })
    }
}

/// The first and the last block of each kind.
fn chosen(launch: &Launch<'_>, likeness: &Likeness) -> Vec<u32> {
    let mut ends: BTreeMap<(usize, u32), [u32; 2]> = BTreeMap::new();
    for (index, (core, stream)) in launch.cores.iter().enumerate() {
        let first = likeness.twins[index].as_ref().map_or(index, |(first, _)| *first);
        ends.entry((first, stream.values)).or_insert([*core; 2])[1] = *core;
    }
    let mut chosen: Vec<u32> = ends.into_values().flatten().collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

fn written(launch: &Launch<'_>, chosen: &[u32]) -> Result<Vec<WrittenRange>, NoSample> {
    let is_output = |role: Role| matches!(role, Role::Output | Role::Updated);
    let mut ranges: Vec<WrittenRange> = Vec::new();
    for core in chosen {
        let Some(stream) = launch.cores.get(core) else { continue };
        let mut cursor = stream.cursor(&launch.message_opcodes);
        while let Some(record) = cursor.next() {
            if launch.message_opcodes[usize::from(record.opcode)] {
                continue;
            }
            for operand in record.operands().filter(|operand| operand.space == Space::Gm && operand.writes) {
                if record.flags & FLAG_ATOMIC != 0 {
                    return Err(NoSample::Atomics);
                }
                for (address, bytes) in operand.pieces() {
                    let holds = |base: u64, size: u64| address >= base && address < base + size;
                    let region = launch.regions.iter().find(|region| holds(region.base, region.size_bytes));
                    let Some(region) = region.filter(|region| is_output(region.role)) else { continue };
                    let from = address - region.base;
                    let bytes = bytes.min(region.size_bytes - from);
                    match ranges.last_mut() {
                        Some(last) if last.output == region.index && last.from + last.bytes == from => {
                            last.bytes += bytes;
                        }
                        _ => ranges.push(WrittenRange { output: region.index, from, bytes }),
                    }
                }
                if ranges.len() > 2 * MOST_RANGES {
                    ranges = merged(ranges);
                    if ranges.len() > MOST_RANGES {
                        return Err(NoSample::Scattered);
                    }
                }
            }
        }
    }
    let ranges = merged(ranges);
    if ranges.len() > MOST_RANGES { Err(NoSample::Scattered) } else { Ok(ranges) }
}

fn merged(mut ranges: Vec<WrittenRange>) -> Vec<WrittenRange> {
    ranges.sort_unstable();
    let mut merged: Vec<WrittenRange> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.output == range.output && last.from + last.bytes >= range.from => {
                last.bytes = last.bytes.max(range.from + range.bytes - last.from);
            }
            _ => merged.push(range),
        }
    }
    merged
}
