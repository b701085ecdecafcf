//! Copies between global memory and a core.

use super::machine::Parameters;
use super::operand::Operand;
use super::record::StreamPosition;

/// A copy that needs the memory system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) gm: Operand,
    /// Where `gm` stands in the core's stream.
    pub(crate) place: StreamPosition,
    pub(crate) write: bool,
    pub(crate) bypass: bool,
}

/// How a copy's shape changes its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CopyShape {
    /// Bytes really moved.
    pub(crate) bytes: u64,
    /// Bytes that would take as long if all were full aligned packets without overhead.
    pub(crate) effective_bytes: f64,
    /// Contiguous pieces.
    pub(crate) bursts: u64,
}

impl CopyShape {
    /// Shape of the global-memory side of a copy.
    pub(crate) fn of(parameters: &Parameters, operand: &Operand) -> Self {
        let mut shape = Self::default();
        let alignment = (parameters.dma_alignment_bytes as u64).max(1);
        let packet = (parameters.dma_packet_bytes as u64).max(1);
        for (address, len) in operand.pieces() {
            let packets = (address % packet + len).div_ceil(packet);
            let cost = len.next_multiple_of(32) as f64 + packets as f64 * parameters.dma_packet_overhead_bytes;
            let misaligned = address % alignment != 0;
            shape.effective_bytes += if misaligned { cost * parameters.dma_misaligned_factor } else { cost };
            shape.bytes += len;
            shape.bursts += 1;
        }
        shape
    }

    /// Cycles by which the bursts of one core are slower than its rate would have it.
    pub(crate) fn burst_delay_cycles(&self, parameters: &Parameters, rate: f64) -> f64 {
        (self.bursts as f64 * parameters.dma_burst_cycles - self.effective_bytes / rate).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::Machine;
    use super::super::operand::Space;
    use super::*;

    fn gm(addr: u64, len: u32) -> Operand {
        Operand::rows(Space::Gm, addr, len, 1, 0)
    }

    #[test]
    fn misaligned_and_short_bursts_cost_more() {
        let parameters = Machine::named("ascend910b2").unwrap().parameters;
        let aligned = CopyShape::of(&parameters, &gm(0, 4096));
        let misaligned = CopyShape::of(&parameters, &gm(32, 4096));
        assert!(misaligned.effective_bytes > 1.25 * aligned.effective_bytes);
        let rows = Operand { len: 64, count0: 64, stride0: 256, ..gm(0, 64) };
        let shape = CopyShape::of(&parameters, &rows);
        assert_eq!((shape.bytes, shape.bursts), (4096, 64));
        assert!(shape.effective_bytes > aligned.effective_bytes);
    }
}
