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
    ///
    /// A piece that starts between packets' parts is asked for in whole packets, as far as that is no more than the factor that
    /// pieces of one packet were measured to pay for two.
    pub(crate) fn of(parameters: &Parameters, operand: &Operand, bypass: bool) -> Self {
        let mut shape = Self::default();
        let alignment = (parameters.dma_alignment_bytes as u64).max(1);
        let packet = (parameters.dma_packet_bytes as u64).max(1);
        for (address, len) in operand.pieces() {
            let packets = (address % packet + len).div_ceil(packet);
            let mut moved = len.next_multiple_of(32) as f64;
            if address % alignment != 0 {
                moved = (moved * parameters.dma_misaligned_factor).min((packets * packet) as f64);
            }
            if bypass {
                moved += parameters.bypass_row_bytes;
            }
            shape.effective_bytes += moved + packets as f64 * parameters.dma_packet_overhead_bytes;
            shape.bytes += len;
            shape.bursts += 1;
        }
        shape
    }

    /// Cycles by which the bursts of one core are slower than its rate would have it.
    pub(crate) fn burst_delay_cycles(&self, parameters: &Parameters, rate: f64, bypass: bool) -> f64 {
        let burst = if bypass { parameters.dma_bypass_burst_cycles } else { parameters.dma_burst_cycles };
        (self.bursts as f64 * burst - self.effective_bytes / rate).max(0.0)
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
        let aligned = CopyShape::of(&parameters, &gm(0, 4096), false);
        let misaligned = CopyShape::of(&parameters, &gm(32, 4096), false);
        assert!(misaligned.effective_bytes > 1.1 * aligned.effective_bytes);
        // One packet asked for in two parts costs two.
        let short = |address| CopyShape::of(&parameters, &gm(address, 512), false).effective_bytes;
        assert!(short(32) > 1.9 * short(0) && short(32) < 2.1 * short(0));
        let past = CopyShape::of(&parameters, &gm(0, 4096), true);
        assert_eq!(past.effective_bytes, aligned.effective_bytes + parameters.bypass_row_bytes);
        let rows = Operand { len: 64, count0: 64, stride0: 256, ..gm(0, 64) };
        let shape = CopyShape::of(&parameters, &rows, false);
        assert_eq!((shape.bytes, shape.bursts), (4096, 64));
        assert!(shape.effective_bytes > aligned.effective_bytes);
    }
}
