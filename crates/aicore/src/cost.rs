//! What an instruction costs that stays inside its core.

use super::cube::cube_time;
use super::machine::Parameters;
use super::operand::Operand;
use super::pipe::Work;
use super::record::{M, MTE1, Record};
use super::trace::{OpKind, Opcode};
use super::vector::{VectorCost, VectorTime, vector_time};

/// Which totals an instruction counts for.
#[derive(Clone, Copy)]
pub(crate) enum Account {
    Vector,
    /// Inside the unified buffer.
    Move,
    Product,
    /// From L1 into L0.
    Load,
    None,
}

/// What an instruction costs that stays inside its core.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) busy: f64,
    pub(crate) conflict: f64,
    /// Cycles for which a copy into the unified buffer waits for the banks.
    pub(crate) stall: f64,
    pub(crate) throughput: f64,
    pub(crate) account: Account,
}

impl Cost {
    /// `known` is what the machine's description says of the opcode.
    pub(crate) fn of(
        record: &Record<'_>,
        Opcode { name, kind }: &Opcode,
        known: &VectorCost,
        parameters: &Parameters,
        operands: &[Operand],
    ) -> Self {
        if let Some(time) = cube_time(parameters, name, record, operands) {
            let account = match usize::from(record.pipe) {
                M => Account::Product,
                MTE1 => Account::Load,
                _ => Account::None,
            };
            return Self { busy: time.busy, conflict: 0.0, stall: 0.0, throughput: time.throughput, account };
        }
        if *kind == OpKind::Copy {
            let throughput = f64::from(record.aux[1]) / parameters.core_ub_to_ub;
            let busy = known.fixed + throughput;
            return Self { busy, conflict: 0.0, stall: 0.0, throughput, account: Account::Move };
        }
        let VectorTime { busy, conflict, stall, throughput } = vector_time(known, record, operands);
        Self { busy, conflict, stall, throughput, account: Account::Vector }
    }

    #[inline]
    pub(crate) fn work(&self) -> Work {
        Work::Compute { busy: self.busy, stall: self.stall }
    }
}
