//! What a vector instruction costs: a fixed part, repeats, and bank conflicts of the unified buffer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::constant::Constant;
use super::operand::{Operand, Space};
use super::record::{FLAG_COUNT_MODE, Record};

/// Bytes that one repeat works on.
const REPEAT_BYTES: u64 = 256;
const BLOCK_BYTES: u64 = 32;

/// Opcodes of equal cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VectorClass {
    /// Names; a trailing `*` matches any ending.
    pub opcodes: Vec<String>,
    /// Busy cycles beyond the repeats.
    pub fixed: Constant,
    /// Cycles of one repeat without bank conflicts.
    pub per_repeat: Constant,
    /// The same for 16-bit data where it differs.
    pub per_repeat_16bit: Option<Constant>,
}

impl VectorClass {
    pub(crate) fn problem(&self) -> Option<String> {
        let constants = [Some(&self.fixed), Some(&self.per_repeat), self.per_repeat_16bit.as_ref()];
        let units = ["cycles", "cycles/repeat", "cycles/repeat"];
        for (constant, unit) in constants.into_iter().zip(units).filter_map(|(constant, unit)| Some((constant?, unit)))
        {
            if constant.unit != unit {
                return Some(format!("unit must be {unit}, the file says {}", constant.unit));
            }
            if !constant.value.is_finite() || constant.value <= 0.0 {
                return Some(format!("{} is out of range: it must be above zero", constant.value));
            }
        }
        self.opcodes.is_empty().then(|| "`opcodes` is empty".to_owned())
    }

    pub(crate) fn fingerprint(&self) -> String {
        let narrow = self.per_repeat_16bit.as_ref().map(|constant| constant.value);
        format!("{:?} {:?} {:?} {narrow:?}", self.opcodes, self.fixed.value, self.per_repeat.value)
    }
}

/// Cost of one opcode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VectorCost {
    pub(crate) fixed: f64,
    per_repeat: f64,
    per_repeat_16bit: f64,
    /// Bytes of the widest element where the name says so, else 0.
    element_bytes: u64,
}

/// Costs by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct VectorTable {
    exact: BTreeMap<String, (f64, f64, f64)>,
    /// Longest prefix first.
    prefixes: Vec<(String, (f64, f64, f64))>,
}

impl VectorTable {
    pub(crate) fn new(classes: &BTreeMap<String, VectorClass>) -> Self {
        let mut table = Self::default();
        for class in classes.values() {
            let wide = class.per_repeat.value;
            let narrow = class.per_repeat_16bit.as_ref().map_or(wide, |constant| constant.value);
            let cost = (class.fixed.value, wide, narrow);
            for opcode in &class.opcodes {
                match opcode.strip_suffix('*') {
                    Some(prefix) => table.prefixes.push((prefix.to_owned(), cost)),
                    None => drop(table.exact.insert(opcode.clone(), cost)),
                }
            }
        }
        table.prefixes.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        table
    }

    pub(crate) fn cost(&self, opcode: &str) -> VectorCost {
        let by_prefix = || self.prefixes.iter().find(|(prefix, _)| opcode.starts_with(prefix)).map(|(_, cost)| *cost);
        let (fixed, per_repeat, per_repeat_16bit) =
            self.exact.get(opcode).copied().or_else(by_prefix).unwrap_or((24.0, 1.0, 1.0));
        VectorCost { fixed, per_repeat, per_repeat_16bit, element_bytes: widest_element(opcode) }
    }
}

/// Conversions name both types; a repeat holds as many elements as the wider one allows.
fn widest_element(opcode: &str) -> u64 {
    let Some(types) = opcode.strip_prefix("vconv_") else { return 0 };
    if types.contains("64") {
        8
    } else if types.contains("32") {
        4
    } else {
        2
    }
}

fn dtype_bytes(dtype: u8) -> u64 {
    match dtype {
        4 | 5 | 12 => 1,
        2 | 8 | 9 => 4,
        10 | 11 => 8,
        _ => 2,
    }
}

/// Parts of one instruction's busy time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VectorTime {
    /// Busy cycles in total.
    pub(crate) busy: f64,
    /// Cycles that bank conflicts added.
    pub(crate) conflict: f64,
    /// Cycles for which these hold up a copy into the unified buffer.
    pub(crate) stall: f64,
    /// Cycles at full throughput, without fixed part and conflicts.
    pub(crate) throughput: f64,
}

/// Busy time of a vector instruction.
pub(crate) fn vector_time(cost: &VectorCost, record: &Record<'_>, operands: &[Operand]) -> VectorTime {
    let bytes = if cost.element_bytes > 0 { cost.element_bytes } else { dtype_bytes(record.dtype) };
    let repeats = if record.flags & FLAG_COUNT_MODE != 0 {
        (u64::from(record.aux[0]) * bytes).div_ceil(REPEAT_BYTES).max(1)
    } else {
        u64::from(record.repeat).max(1)
    };
    let ideal = if bytes == 2 { cost.per_repeat_16bit } else { cost.per_repeat };
    let banks = bank_use(operands, repeats);
    let per_repeat = ideal.max(banks.cycles_per_repeat);
    let count = repeats as f64;
    let conflict = count * (per_repeat - ideal);
    VectorTime {
        busy: cost.fixed + count * per_repeat,
        conflict,
        stall: conflict * (COPY_BLOCKS * banks.groups_at_once / GROUPS).min(1.0),
        throughput: count * ideal,
    }
}

/// Groups of banks in the unified buffer.
const GROUPS: f64 = 16.0;
/// Blocks that a copy into the unified buffer writes in a cycle, at 39 to 55 bytes a cycle: it waits where one of their groups is in
/// use. Published pairs: conflicts in half of the groups hold a copy up for about as long as they last (asc-devkit
/// add_high_performance c5 and c6, 5.9 us of conflicts and 6.7 us of core time), those in one group for a sixth of it
/// (bank_conflict_nd2nz s1 and s2, 40.7 us and 6.6 us).
const COPY_BLOCKS: f64 = 2.0;

/// How an instruction's repeats use the banks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BankUse {
    /// Cycles that the banks need for one repeat, on average over the pattern's period.
    cycles_per_repeat: f64,
    /// Groups that are in use in one of these cycles, on average: those of the blocks that wait for one another.
    groups_at_once: f64,
}

/// Cycles that the banks of the unified buffer need for one repeat, on average over the pattern's period, and what they occupy.
///
/// 48 banks in 16 groups of 3; address bits 8:5 give the group, 17:16 the bank in it. One cycle serves one block per
/// group and direction; a read and a write meet only in the same bank, and the write of a repeat happens while the
/// next one is read.
fn bank_use(operands: &[Operand], repeats: u64) -> BankUse {
    let in_ub = operands.iter().filter(|operand| operand.space == Space::Ub && operand.len > 0);
    let walks: Vec<(BlockWalk, bool)> =
        in_ub.map(|operand| (BlockWalk::new(operand, repeats), operand.writes)).take(5).collect();
    if walks.len() < 2 && walks.iter().all(|(walk, _)| walk.dense) {
        return BankUse { cycles_per_repeat: 1.0, groups_at_once: 0.0 };
    }
    // Dense operands move on by eight groups a repeat: two repeats are the whole period, any other pattern repeats
    // after sixteen.
    let period = if walks.iter().all(|(walk, _)| walk.dense) { 2 } else { 16 }.min(repeats.max(1));
    let (mut cycles, mut blocks) = (0, 0);
    for repeat in 0..period {
        let mut reads = [0_u32; 16];
        let mut writes = [0_u32; 16];
        let mut read_banks = 0_u64;
        let mut write_banks = 0_u64;
        for (walk, is_write) in &walks {
            let at = if *is_write { repeat } else { repeat + u64::from(repeats > 1) };
            let mut last = u64::MAX;
            for address in walk.blocks(repeat) {
                let block = address / BLOCK_BYTES;
                // A block read over and over (stride 0) is fetched once.
                if block != last {
                    let counts = if *is_write { &mut writes } else { &mut reads };
                    counts[(block & 15) as usize] += 1;
                    last = block;
                }
            }
            for address in walk.blocks(at) {
                let bank = 1_u64 << bank_number(address);
                if *is_write { write_banks |= bank } else { read_banks |= bank }
            }
        }
        let most = |counts: &[u32; 16]| counts.iter().copied().max().unwrap_or(0);
        let all = |counts: &[u32; 16]| counts.iter().sum::<u32>();
        let (reading, writing) = (most(&reads), most(&writes));
        let meeting = if read_banks & write_banks != 0 { 2 } else { 1 };
        cycles += reading.max(writing).max(meeting);
        blocks += match reading.max(writing) {
            longest if longest < meeting => all(&reads) + all(&writes),
            longest if longest == reading => all(&reads),
            _ => all(&writes),
        };
    }
    BankUse {
        cycles_per_repeat: f64::from(cycles) / period as f64,
        groups_at_once: f64::from(blocks) / f64::from(cycles.max(1)),
    }
}

fn bank_number(address: u64) -> u64 {
    ((address >> 5) & 15) + ((address >> 16) & 3) * 16
}

/// Addresses of an operand's blocks by repeat.
struct BlockWalk {
    start: u64,
    repeat_stride: i64,
    block_stride: i64,
    blocks: u64,
    dense: bool,
}

impl BlockWalk {
    fn new(operand: &Operand, repeats: u64) -> Self {
        let len = u64::from(operand.len);
        let (count0, count1) = (u64::from(operand.count0), u64::from(operand.count1));
        let block = BLOCK_BYTES.cast_signed();
        let (repeat_stride, block_stride, blocks) = if count0 <= 1 && count1 <= 1 {
            // Collapsed by the recorder: contiguous over all repeats.
            let per_repeat = len.div_ceil(repeats.max(1)).div_ceil(BLOCK_BYTES).clamp(1, 8);
            ((per_repeat * BLOCK_BYTES).cast_signed(), block, per_repeat)
        } else if count1 <= 1 && count0 == repeats {
            (operand.stride0, block, len.div_ceil(BLOCK_BYTES).clamp(1, 8))
        } else if count0 <= 1 {
            (operand.stride1, block, len.div_ceil(BLOCK_BYTES).clamp(1, 8))
        } else {
            (operand.stride1, operand.stride0, count0.clamp(1, 8))
        };
        let whole = REPEAT_BYTES.cast_signed();
        Self {
            start: operand.addr,
            repeat_stride,
            block_stride,
            blocks,
            dense: block_stride == block && (repeat_stride == whole || repeats == 1),
        }
    }

    fn blocks(&self, repeat: u64) -> impl Iterator<Item = u64> + use<> {
        let start = self.start.wrapping_add_signed(repeat.cast_signed().wrapping_mul(self.repeat_stride));
        let stride = self.block_stride;
        (0..self.blocks).map(move |index| start.wrapping_add_signed(index.cast_signed().wrapping_mul(stride)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(addr: u64, repeats: u32, writes: bool) -> Operand {
        Operand {
            addr,
            stride0: 0,
            stride1: 0,
            len: repeats * 256,
            count0: 1,
            count1: 1,
            space: Space::Ub,
            reads: !writes,
            writes,
            uncached: false,
            preloaded: false,
        }
    }

    #[test]
    fn published_bank_conflict_scenarios() {
        // Scenario, dst, src0, src1, published cycles per repeat (64 repeats, fixed part 24 taken off).
        let table = [
            ("no conflict", 0x20000, 0, 0x10100, 1.0),
            ("sources in one bank", 0x10000, 0, 0x4000, 2.0),
            ("sources in one group", 0x14100, 0, 0x10000, 2.0),
            ("dst and src0 start alike", 0x4000, 0, 0x10100, 1.0),
            ("dst one block off src0", 0x4020, 0, 0x10100, 2.0),
            ("in place", 0x10100, 0, 0x10100, 1.0),
        ];
        for (scenario, dst, src0, src1, expected) in table {
            let operands = [dense(dst, 64, true), dense(src0, 64, false), dense(src1, 64, false)];
            assert_eq!(bank_use(&operands, 64).cycles_per_repeat, expected, "{scenario}");
        }
    }

    #[test]
    fn eight_blocks_in_one_group_take_eight_cycles() {
        let column = Operand { stride0: 512, stride1: 32, len: 32, count0: 8, count1: 4, ..dense(0, 1, false) };
        let banks = bank_use(&[dense(0x10000, 4, true), column], 4);
        assert_eq!((banks.cycles_per_repeat, banks.groups_at_once), (8.0, 1.0));
    }

    #[test]
    fn a_block_read_eight_times_is_fetched_once() {
        let same = Operand { stride0: 0, stride1: 256, len: 32, count0: 8, count1: 64, ..dense(0, 1, false) };
        let operands = [dense(0x10100, 64, true), same, dense(0x10100, 64, false)];
        assert_eq!(bank_use(&operands, 64).cycles_per_repeat, 1.0);
    }
}
