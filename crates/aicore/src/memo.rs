//! Costs of instructions that came before with the same operands: loops work on the same few buffers again and again.

use super::cost::Cost;
use super::operand::OPERAND_BYTES;
use super::pipe::Touch;
use super::record::Record;

/// Instructions remembered at a time; a new one takes the place of another with the same hash.
const SLOTS: usize = 1 << 10;
/// Odd and without a pattern: the golden ratio in 64 bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Everything of a record that its cost depends on, but for its operands.
type Head = (u16, u8, u8, u8, u16, [u32; 3]);

struct Slot {
    head: Head,
    operands: Vec<u8>,
    cost: Cost,
    touch: Touch,
}

/// Costs by instruction and operands.
#[derive(Default)]
pub(crate) struct Memo {
    slots: Vec<Option<Slot>>,
}

fn head(record: &Record<'_>) -> Head {
    (record.opcode, record.pipe, record.dtype, record.flags, record.repeat, record.aux)
}

fn slot(record: &Record<'_>) -> usize {
    let mut hash = u64::from(record.opcode) << 32 ^ u64::from(record.repeat) << 16 ^ u64::from(record.aux[0]);
    for operand in record.operand_bytes().chunks_exact(OPERAND_BYTES) {
        // Address, and length with the inner count: what mostly differs.
        for at in [0, 24] {
            let word = operand[at..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            hash = (hash.rotate_left(5) ^ word).wrapping_mul(SPREAD);
        }
    }
    (hash.wrapping_mul(SPREAD) >> 48) as usize % SLOTS
}

impl Memo {
    /// Cost and bytes of an instruction, if the same came before.
    pub(crate) fn find(&self, record: &Record<'_>) -> Option<(&Cost, &Touch)> {
        let known = self.slots.get(slot(record))?.as_ref()?;
        (known.head == head(record) && known.operands == record.operand_bytes()).then_some((&known.cost, &known.touch))
    }

    /// Remembers an instruction.
    pub(crate) fn keep(&mut self, record: &Record<'_>, cost: Cost, touch: Touch) {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        let known = &mut self.slots[slot(record)];
        let mut operands = known.take().map(|known| known.operands).unwrap_or_default();
        operands.clear();
        operands.extend_from_slice(record.operand_bytes());
        *known = Some(Slot { head: head(record), operands, cost, touch });
    }
}
