//! Records made into steps of the play: which pipe, how many cycles, which bytes.

use std::cell::RefCell;

use super::buffers::{BUFFER_CUT, PIPE_IN_OBJECT};
use super::copy::Copy;
use super::cost::{Account, Cost};
use super::machine::{Machine, Parameters};
use super::memo::Memo;
use super::operand::{Operand, Space};
use super::path::Moment;
use super::pipe::{Queued, Touch, Work, flag_slot, slot_destination, slot_source};
use super::record::{FIX, FLAG_ATOMIC, FLAG_L2_BYPASS, MTE2, MTE3, NO_PIPE, Record, S, V};
use super::trace::{OpKind, Opcode};
use super::vector::VectorCost;

/// What all cores of a launch share.
pub(crate) struct Shared<'m> {
    pub(crate) parameters: &'m Parameters,
    pub(crate) opcodes: &'m [Opcode],
    pub(crate) costs: Vec<VectorCost>,
    /// Bytes per cycle that one core reads from HBM, by kind of core.
    pub(crate) read_limit: [f64; 2],
    pub(crate) depth: u64,
    /// Costs of instructions seen before.
    pub(crate) memo: Option<RefCell<Memo>>,
}

impl<'m> Shared<'m> {
    pub(crate) fn new(machine: &'m Machine, opcodes: &'m [Opcode], cores: [usize; 2], shortcuts: bool) -> Self {
        Self {
            parameters: &machine.parameters,
            opcodes,
            costs: opcodes.iter().map(|opcode| machine.table.cost(&opcode.name)).collect(),
            read_limit: super::memory::core_read_limits(&machine.parameters, cores),
            depth: (machine.parameters.queue_depth as u64).max(1),
            memo: shortcuts.then(RefCell::default),
        }
    }
}

/// A step of the scalar unit.
#[derive(Clone, Copy)]
pub(crate) enum Pending {
    /// The next instruction goes to this pipe.
    Push(usize),
    /// Scalar work on what the next instruction touches.
    ScalarWork {
        cycles: f64,
    },
    WaitFlag {
        slot: u16,
        site: u64,
    },
    SetFlag {
        slot: u16,
    },
    BarrierAll {
        site: u64,
    },
    SyncAll {
        everybody: bool,
        site: u64,
    },
    SetCross {
        id: u32,
        mode: u32,
    },
    WaitCross {
        id: u32,
        site: u64,
    },
    End,
}

impl Pending {
    /// Site of the record, `next` being the instruction made of it.
    pub(crate) fn site(&self, next: u64) -> u64 {
        match self {
            Self::Push(_) | Self::ScalarWork { .. } => next,
            Self::WaitFlag { site, .. }
            | Self::BarrierAll { site }
            | Self::SyncAll { site, .. }
            | Self::WaitCross { site, .. } => *site,
            Self::SetFlag { .. } | Self::SetCross { .. } | Self::End => 0,
        }
    }
}

/// Totals of one block for the profile.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockTotals {
    pub(crate) conflict: f64,
    pub(crate) vector_throughput: f64,
    /// Cycles of matrix products and of L1 to L0 copies without start-up.
    pub(crate) cube_throughput: f64,
    pub(crate) mte1_throughput: f64,
    pub(crate) copies: u64,
    pub(crate) copy_bytes: u64,
    pub(crate) bursts: u64,
    pub(crate) read_effective: f64,
    pub(crate) write_effective: f64,
    /// Of those written, what the fixpipe wrote.
    pub(crate) fixpipe_effective: f64,
    pub(crate) cube_instructions: u64,
    pub(crate) records: u64,
    pub(crate) vector_instructions: u64,
    /// A TPipe has cut buffers.
    pub(crate) has_pipe: bool,
    /// The TPipe is a member of the operator's object.
    pub(crate) pipe_in_object: bool,
    /// Buffers of the unified buffer as they were cut: site, bytes, and the end of the last one.
    pub(crate) cuts: Vec<(u64, u64)>,
    pub(crate) cut_end: u64,
}

impl BlockTotals {
    /// How much longer the kernel's own scalar code takes for what keeps the compiler from folding it.
    pub(crate) fn scalar_ratio(&self, parameters: &Parameters) -> f64 {
        if self.pipe_in_object { parameters.pipe_in_object_ratio } else { 1.0 }
    }

    fn add(&mut self, cost: &Cost) {
        match cost.account {
            Account::Vector => {
                self.conflict += cost.conflict;
                self.vector_throughput += cost.throughput;
                self.vector_instructions += 1;
            }
            Account::Move => self.vector_throughput += cost.throughput,
            Account::Product => {
                self.cube_instructions += 1;
                self.cube_throughput += cost.throughput;
            }
            Account::Load => self.mte1_throughput += cost.throughput,
            Account::None => {}
        }
    }
}

/// What a record makes the scalar unit do; `None` for what takes no time. An instruction of a pipe is written to `next`, in
/// place because it is large.
pub(crate) fn decode<T: Moment>(
    record: &Record<'_>,
    shared: &Shared<'_>,
    totals: &mut BlockTotals,
    operands: &mut Vec<Operand>,
    next: &mut Queued<T>,
) -> Option<Pending> {
    let parameters = shared.parameters;
    let opcode = usize::from(record.opcode);
    let [aux0, aux1, aux2] = record.aux;
    let site = record.site;
    totals.records += 1;
    (next.opcode, next.site) = (record.opcode, site);
    let mut push = |pipe: usize, work: Work| {
        next.work = work;
        next.touch.clear();
        Some(Pending::Push(pipe))
    };
    let pipe = usize::from(record.pipe);
    match shared.opcodes[opcode].kind {
        OpKind::Scalar => Some(Pending::ScalarWork { cycles: scalar_cycles(record, shared, totals, &mut next.touch) }),
        OpKind::SetFlag => {
            let slot = flag_slot(aux1, aux2, aux0);
            match slot_source(slot) {
                S => Some(Pending::SetFlag { slot }),
                source => push(source, Work::SetFlag { slot }),
            }
        }
        OpKind::WaitFlag => {
            let slot = flag_slot(aux1, aux2, aux0);
            match slot_destination(slot) {
                S => Some(Pending::WaitFlag { slot, site }),
                destination => push(destination, Work::WaitFlag { slot }),
            }
        }
        OpKind::Barrier if record.pipe == NO_PIPE => Some(Pending::BarrierAll { site }),
        OpKind::Barrier if pipe == S => None,
        OpKind::Barrier => push(pipe, Work::Barrier),
        OpKind::Register => {
            let target = if record.pipe == NO_PIPE || pipe == S { V } else { pipe };
            push(target, Work::Register)
        }
        OpKind::SyncAll => Some(Pending::SyncAll { everybody: aux1 != 0, site }),
        OpKind::SetCross if record.pipe == NO_PIPE || pipe == S => Some(Pending::SetCross { id: aux0, mode: aux1 }),
        OpKind::SetCross => push(pipe, Work::SetCross { id: aux0, mode: aux1 }),
        OpKind::WaitCross => Some(Pending::WaitCross { id: aux0, site }),
        OpKind::Buffer if aux0 == BUFFER_CUT => {
            if Space::of(u8::try_from(record.repeat).unwrap_or_default()) == Space::Ub {
                totals.cuts.push((site, aux2.into()));
                totals.cut_end = totals.cut_end.max(u64::from(aux1) + u64::from(aux2));
            }
            // The first buffer that a block cuts says that it has a TPipe.
            if std::mem::replace(&mut totals.has_pipe, true) {
                return None;
            }
            next.touch.clear();
            Some(Pending::ScalarWork { cycles: parameters.pipe_setup_cycles * totals.scalar_ratio(parameters) })
        }
        OpKind::Buffer if aux0 == PIPE_IN_OBJECT => {
            totals.pipe_in_object = true;
            None
        }
        OpKind::Fault | OpKind::Note | OpKind::Buffer => None,
        OpKind::EndOfBlock => Some(Pending::End),
        // The scalar unit waits for memory as with an access.
        OpKind::CleanCache => Some(Pending::ScalarWork { cycles: parameters.scalar_gm_access_cycles }),
        OpKind::Copy | OpKind::Compute => {
            let target = if record.pipe == NO_PIPE || pipe == S { V } else { pipe };
            instruct(record, shared, totals, operands, next);
            Some(Pending::Push(target))
        }
    }
}

/// Cycles of the scalar unit's own work; what it touches of the memories of the core goes to `touch`.
fn scalar_cycles(record: &Record<'_>, shared: &Shared<'_>, totals: &BlockTotals, touch: &mut Touch) -> f64 {
    let parameters = shared.parameters;
    let [unified, operations, global] = record.aux;
    touch.clear();
    let mut lines = 0;
    for operand in record.operands().filter(|operand| !operand.preloaded) {
        if operand.space != Space::Gm {
            touch.push(operand.space, operand.extent(), operand.writes);
        } else {
            let (from, to) = operand.extent();
            lines += (to - from).div_ceil((parameters.scalar_line_bytes as u64).max(1));
        }
    }
    // The published loop that tells what an access costs computes something for each.
    let floats = u32::from(record.repeat).saturating_sub(unified.saturating_add(global));
    f64::from(unified) * parameters.scalar_ub_access_cycles
        + f64::from(floats) * parameters.scalar_float_cycles
        + f64::from(operations) * parameters.scalar_op_cycles * totals.scalar_ratio(parameters)
        + f64::from(global) * parameters.scalar_gm_access_cycles
        + (lines.min(u64::from(global)) as f64) * parameters.scalar_gm_miss_cycles
}

/// The work of a pipe's instruction and what it touches.
fn instruct<T: Moment>(
    record: &Record<'_>,
    shared: &Shared<'_>,
    totals: &mut BlockTotals,
    operands: &mut Vec<Operand>,
    next: &mut Queued<T>,
) {
    let known = shared.memo.as_ref().map(|memo| memo.borrow());
    if let Some((cost, touch)) = known.as_ref().and_then(|memo| memo.find(record)) {
        totals.add(cost);
        next.work = cost.work();
        next.touch = *touch;
        return;
    }
    drop(known);
    let touch = &mut next.touch;
    touch.clear();
    let mut gm = None;
    operands.clear();
    for operand in record.operands() {
        match operand.space {
            Space::Gm => gm = Some((operand, record.place.of_operand(operands.len()))),
            space => touch.push(space, operand.extent(), operand.writes),
        }
        operands.push(operand);
    }
    if let (Some((gm, place)), MTE2 | MTE3 | FIX) = (gm, usize::from(record.pipe)) {
        let write = gm.writes || record.flags & FLAG_ATOMIC != 0;
        let copy = Copy { gm, place, write, bypass: record.flags & FLAG_L2_BYPASS != 0 };
        next.work = Work::Copy(copy);
        return;
    }
    let opcode = usize::from(record.opcode);
    let cost = Cost::of(record, &shared.opcodes[opcode], &shared.costs[opcode], shared.parameters, operands);
    if let Some(memo) = &shared.memo {
        memo.borrow_mut().keep(record, cost, *touch);
    }
    totals.add(&cost);
    next.work = cost.work();
}
