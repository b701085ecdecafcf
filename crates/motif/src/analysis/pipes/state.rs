//! What is known of earlier accesses at one point of a run.

use std::collections::BTreeMap;

use super::operands::Memory;
use super::{ALL, COPY_IN, COPY_OUT, Pipes, SCALAR, VECTOR};

/// An access that a later one may have to wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Access {
    pub(super) memory: Memory,
    pub(super) pipe: Pipes,
    pub(super) writes: bool,
    /// Number of the place.
    pub(super) place: usize,
}

/// Who comes after an access, whatever happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Behind {
    pipes: Pipes,
    /// What its queue gives to those who take the tensor from it, and to those who take the buffer anew.
    handed: Pipes,
    freed: Pipes,
}

/// Where the one tensor of a queue under judgement is, as bits: it may be in one of several.
pub(super) type Phase = u8;
/// Its buffer is free.
pub(super) const FREE: Phase = 1;
/// Taken, and nothing is in it.
pub(super) const EMPTY: Phase = 2;
/// Taken, and filled.
pub(super) const FILLED: Phase = 4;
/// Handed over, and not yet taken from the queue.
pub(super) const QUEUED: Phase = 8;
/// Taken from the queue.
pub(super) const HELD: Phase = 16;

/// One point of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    accesses: BTreeMap<Access, Behind>,
    pub(super) phases: BTreeMap<String, Phase>,
}

impl State {
    /// What holds whichever of the two came before.
    pub(super) fn join(&mut self, other: &Self) {
        for (access, behind) in &other.accesses {
            self.accesses
                .entry(access.clone())
                .and_modify(|own| {
                    own.pipes &= behind.pipes;
                    own.handed &= behind.handed;
                    own.freed &= behind.freed;
                })
                .or_insert(*behind);
        }
        for (queue, phase) in &other.phases {
            *self.phases.entry(queue.clone()).or_default() |= phase;
        }
    }

    /// Earlier accesses that this one is not ordered behind although one of the two writes.
    pub(super) fn open<'s>(
        &'s self,
        access: &'s Access,
        may_be: impl Fn(&Memory) -> bool + 's,
    ) -> impl Iterator<Item = &'s Access> {
        self.accesses.iter().filter_map(move |(earlier, behind)| {
            // The compiler orders what the scalar and the vector unit do.
            let work = |pipe: Pipes| pipe & (SCALAR | VECTOR) != 0;
            let together = earlier.pipe == access.pipe || (work(earlier.pipe) && work(access.pipe));
            let conflict = (earlier.writes || access.writes) && !together && may_be(&earlier.memory);
            (conflict && behind.pipes & access.pipe == 0).then_some(earlier)
        })
    }

    pub(super) fn add(&mut self, access: Access) {
        // The scalar unit has a value before it goes on.
        let pipes = match access.pipe {
            SCALAR if !access.writes => ALL,
            SCALAR => SCALAR | VECTOR,
            pipe => pipe,
        };
        self.accesses.insert(access, Behind { pipes, handed: 0, freed: 0 });
    }

    /// A flag, set and awaited: everything that the first pipe has behind it is over before the second goes on.
    pub(super) fn order(&mut self, from: Pipes, to: Pipes) {
        // While the scalar unit waits nothing else is handed out.
        let to = if to == SCALAR { ALL } else { to };
        for behind in self.accesses.values_mut().filter(|behind| behind.pipes & from != 0) {
            behind.pipes |= to;
        }
    }

    /// A full barrier.
    pub(super) fn order_all(&mut self) {
        self.accesses.values_mut().for_each(|behind| behind.pipes = ALL);
    }

    /// A call on a queue that orders these pipes.
    pub(super) fn queue(&mut self, queue: &str, call: &str, (first, second): (Pipes, Pipes)) {
        let of_queue = |access: &Access| matches!(&access.memory, Memory::Local(name) if name == queue);
        for (_, behind) in self.accesses.iter_mut().filter(|(access, _)| of_queue(access)) {
            match call {
                "EnQue" if behind.pipes & first != 0 => behind.handed |= second,
                "DeQue" => behind.pipes |= std::mem::take(&mut behind.handed),
                "FreeTensor" if behind.pipes & second != 0 => behind.freed |= first,
                "AllocTensor" => behind.pipes |= std::mem::take(&mut behind.freed),
                _ => {}
            }
        }
    }

    /// Global tensors that copies wrote and that copies in may not read yet.
    pub(super) fn written(&self) -> impl Iterator<Item = &Access> {
        let open = |(access, behind): &(&Access, &Behind)| {
            access.pipe == COPY_OUT && access.writes && behind.pipes & COPY_IN == 0
        };
        self.accesses.iter().filter(open).map(|(access, _)| access)
    }
}
