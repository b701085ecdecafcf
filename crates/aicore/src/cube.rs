//! What instructions inside a cube core cost: loads into L0, matrix products, results out of L0C.

use super::machine::Parameters;
use super::operand::{Operand, Space};
use super::record::{FIX, M, MTE1, MTE2, MTE3, Record};

/// Rows and columns of the left and right matrix that the cube unit takes at once.
const FRACTAL: u32 = 16;

/// Time of one instruction that does not touch global memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CubeTime {
    /// Cycles in which the pipe takes nothing else.
    pub(crate) busy: f64,
    /// The part that bytes or products need.
    pub(crate) throughput: f64,
}

/// Time on a cube core's own pipes; `None` for pipes that it does not have.
pub(crate) fn cube_time(
    parameters: &Parameters,
    name: &str,
    record: &Record<'_>,
    operands: &[Operand],
) -> Option<CubeTime> {
    let (fixed, throughput) = match usize::from(record.pipe) {
        M if name.starts_with("mad") => (parameters.cube_startup_cycles, product_cycles(parameters, name, record)),
        M => (parameters.cube_startup_cycles, 0.0),
        MTE1 => (parameters.mte1_issue_cycles, transfer_cycles(parameters, operands)),
        FIX => (parameters.fixpipe_startup_cycles, transfer_cycles(parameters, operands)),
        // L1 filled with a value: no memory outside the core takes part.
        MTE2 | MTE3
            if !operands.is_empty()
                && operands.iter().all(|operand| !matches!(operand.space, Space::Ub | Space::Gm)) =>
        {
            (parameters.mte1_issue_cycles, transfer_cycles(parameters, operands))
        }
        _ => return None,
    };
    Some(CubeTime { busy: fixed + throughput, throughput })
}

/// Cycles from the end of an instruction to its completion, exposed before flags and barriers.
pub(crate) fn tail_cycles(parameters: &Parameters, pipe: usize) -> f64 {
    match pipe {
        MTE1 => parameters.mte1_tail_cycles,
        M => parameters.cube_tail_cycles,
        FIX => 0.0,
        _ => parameters.vector_tail_cycles,
    }
}

fn product_cycles(parameters: &Parameters, name: &str, record: &Record<'_>) -> f64 {
    let [m, k, n] = record.aux;
    let depth = match record.dtype {
        // Four bits: twice as many again.
        _ if name == "mad_s4" => 2.0 * parameters.cube_k_8bit,
        4 | 5 | 12 => parameters.cube_k_8bit,
        2 | 8 | 9 => parameters.cube_k_32bit,
        _ => parameters.cube_k_16bit,
    };
    let steps = (f64::from(k) / depth).ceil();
    f64::from(m.div_ceil(FRACTAL)) * steps * f64::from(n.div_ceil(FRACTAL))
}

fn transfer_cycles(parameters: &Parameters, operands: &[Operand]) -> f64 {
    let Some(target) = operands.iter().find(|operand| operand.writes) else { return 0.0 };
    let rate = match target.space {
        Space::L0a => parameters.l1_to_l0a,
        Space::L0b => parameters.l1_to_l0b,
        Space::Bt | Space::Fb => parameters.l1_to_tables,
        _ => parameters.l0c_to_l1,
    };
    let bytes = u64::from(target.len) * u64::from(target.count0) * u64::from(target.count1);
    bytes as f64 / rate
}
