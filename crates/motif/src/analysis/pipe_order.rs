//! Which accesses of a kernel queues and compiler order, and which only barriers and flags do.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::code::block_of;
use crate::context::Context;
use source::facts::api::{Access, is_copy};
use source::facts::{Kernel, Origin, TensorFacts, TensorUse, base_name};
use source::parse::{Call, SyntaxFile};

/// Calls that talk to other cores or other units: barriers near them may be part of a protocol.
pub(crate) const PROTOCOL: &[&str] = &[
    "SyncAll",
    "CrossCoreSetFlag",
    "CrossCoreWaitFlag",
    "NotifyEvent",
    "WaitEvent",
    "IBSet",
    "IBWait",
    "Mmad",
    "Iterate",
    "IterateAll",
    "GetTensorC",
    "DataCacheCleanAndInvalid",
    "InitDetermineComputeWorkspace",
    "WaitPreBlock",
    "NotifyNextBlock",
    "LoadData",
    "Fixpipe",
    "SetNextTaskStart",
    "WaitPreTaskEnd",
];

/// Two accesses of a tensor by different pipes, in one block, that no queue orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PipeEdge {
    pub(crate) tensor: String,
    pub(crate) file: String,
    /// Pipes as in the names of events: `V`, `MTE2`, `MTE3`.
    pub(crate) pipes: (&'static str, &'static str),
    /// From the end of the first access to the start of the second.
    pub(crate) between: Range<usize>,
}

impl PipeEdge {
    /// Full barriers, and flags for these pipes, that stand between the accesses in their block.
    fn ordering<'a>(&self, file: &'a SyntaxFile, gone: &[Range<usize>]) -> Vec<&'a Call> {
        let event = format!("{}_{}", self.pipes.0, self.pipes.1);
        let block = file.calls_in(self.between.start..self.between.end);
        block
            .filter(|call| !gone.contains(&call.span))
            .filter(|call| {
                let argument = call.template_arguments.as_deref().unwrap_or_default();
                (call.name == "PipeBarrier" && argument == "PIPE_ALL")
                    || (call.name == "WaitFlag" && argument.ends_with(&event))
            })
            .filter(|call| {
                // Not one under a condition.
                let outer = call.statement.as_ref().and_then(|statement| block_of(file, statement));
                outer.is_some_and(|outer| outer.start <= self.between.start && self.between.end <= outer.end)
            })
            .collect()
    }

    /// Whether nothing but this call orders the accesses.
    pub(crate) fn rests_on(&self, file: &SyntaxFile, call: &Call) -> bool {
        self.file == file.name() && self.ordering(file, &[]) == [call]
    }

    /// The edge in words.
    pub(crate) fn explain(&self, file: &SyntaxFile) -> String {
        format!(
            "{} at line {} before {} at line {}, both on {}",
            self.pipes.0,
            file.line(self.between.start),
            self.pipes.1,
            file.line(self.between.end),
            self.tensor
        )
    }
}

/// Proves, as far as the source shows it, that queues, compiler and the other barriers order everything in this kernel when
/// some calls of a file are gone.
pub(crate) fn ordered_without(
    context: &Context,
    kernel: &Kernel,
    place: &SyntaxFile,
    gone: &[Range<usize>],
) -> Result<(), String> {
    edges(context, kernel, place, gone).map(|_| ())
}

/// As [`ordered_without`]; answers with the accesses that barriers or flags order where queues do not.
pub(crate) fn edges(
    context: &Context,
    kernel: &Kernel,
    place: &SyntaxFile,
    gone: &[Range<usize>],
) -> Result<Vec<PipeEdge>, String> {
    let forest = &context.forest;
    if kernel.queues.is_empty() {
        return Err("no queue here orders the pipes: tensors are placed by hand".to_owned());
    }
    if kernel.has_base() {
        return Err(format!("{} has a base class whose buffers are not analysed", kernel.name));
    }
    if let Some(member) = kernel.tensor_members.first() {
        return Err(format!("the local tensor {member} is a member, its lifetime is not analysed"));
    }
    let origins = kernel.copied_buffers(forest);
    if let Some(buffer) = origins.buffers.iter().find(|buffer| !staged(kernel, context, buffer)) {
        return Err(format!("{buffer} is a TBuf that a copy touches: only the barrier orders it"));
    }
    if let Some(place) = origins.unknown.first() {
        return Err(format!("{place}: a copy with an operand of unknown origin"));
    }
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for (file, _, call) in kernel.calls(forest) {
        if PROTOCOL.contains(&call.name.as_str())
            || call.name.starts_with("pipe_barrier")
            || call.name.starts_with("set_flag")
        {
            return Err(format!(
                "{}:{}: {} is part of a protocol with other cores or units",
                file.name(),
                file.line(call.span.start),
                call.name
            ));
        }
        let object = call.object.as_deref().map(base_name).unwrap_or_default();
        if kernel.globals.contains_key(object) && matches!(call.name.as_str(), "SetValue" | "GetPhyAddr") {
            return Err(format!("{object} is accessed past the copies ({})", call.name));
        }
        if is_copy(&call.name) && call.object.is_none() {
            let operand = |index: usize| file.argument(call, index).map(base_name).unwrap_or_default().to_owned();
            written.insert(operand(0));
            read.insert(operand(1));
        }
    }
    if let Some(both) = kernel.globals.keys().find(|global| read.contains(*global) && written.contains(*global)) {
        return Err(format!("{both} is both read and written: copies through global memory are not ordered by queues"));
    }
    let mut edges = Vec::new();
    for (file, facts) in kernel.tensors(forest) {
        let gone = if file.name() == place.name() { gone } else { &[] };
        let mut found = Vec::new();
        queue_discipline(kernel, file, &facts, gone, &mut found)?;
        if let Some(open) = found.iter().find(|edge| edge.ordering(file, gone).is_empty()) {
            return Err(format!("nothing else orders {}", open.explain(file)));
        }
        edges.extend(found);
    }
    Ok(edges)
}

/// Whether a buffer is only ever copied into with the scalar unit waiting for it by a flag of its own, and only scalars read it:
/// the next copy waits for them by itself.
fn staged(kernel: &Kernel, context: &Context, buffer: &str) -> bool {
    kernel.tensors(&context.forest).all(|(file, facts)| {
        let of_buffer = |tensor: &&String| facts.tensors[*tensor].origin == Origin::Buffer(buffer.to_owned());
        facts.tensors.keys().filter(of_buffer).all(|tensor| {
            facts.uses_of(tensor).all(|used| {
                let Some(call) = used.call.and_then(|index| file.calls().get(index)) else { return false };
                let Some(copy) = call.statement.as_ref().filter(|_| is_copy(&call.name) && used.argument == Some(0))
                else {
                    return call.name == "GetValue";
                };
                let waits = |name: &str, from: usize| {
                    let flags = |flag: &&Call| {
                        flag.name == name
                            && flag.template_arguments.as_deref().is_some_and(|event| event.ends_with("MTE2_S"))
                            && flag.statement.as_ref().is_some_and(|flag| block_of(file, flag) == block_of(file, copy))
                    };
                    file.calls().iter().filter(flags).map(|flag| flag.span.start).find(|start| *start >= from)
                };
                let next = facts.uses_of(tensor).map(|used| used.span.start).find(|start| *start > copy.end);
                waits("SetFlag", copy.end)
                    .and_then(|set| waits("WaitFlag", set))
                    .is_some_and(|wait| next.is_none_or(|next| wait < next))
            })
        })
    })
}

/// Each tensor of a queue is touched by copies on one side of EnQue and by the vector unit on the other. Where the vector
/// unit touches it on the copies' side, straight-line code must order the two: these are the edges.
fn queue_discipline(
    kernel: &Kernel,
    file: &SyntaxFile,
    facts: &TensorFacts,
    gone: &[Range<usize>],
    edges: &mut Vec<PipeEdge>,
) -> Result<(), String> {
    for (name, tensor) in &facts.tensors {
        let (queue, allocated) = match &tensor.origin {
            Origin::Alloc(queue) => (queue, true),
            Origin::DeQue(queue) => (queue, false),
            Origin::Buffer(_) => continue,
            Origin::Parameter | Origin::Unknown => {
                if facts.uses_of(name).any(|used| {
                    let call = used.call.and_then(|index| file.calls().get(index));
                    call.is_some_and(|call| is_copy(&call.name) && !kernel.copies_within(file, call))
                }) {
                    return Err(format!("{name} is copied, and where it comes from is not known"));
                }
                continue;
            }
        };
        let by_copy = kernel.is_copied(queue, allocated)?;
        let copy_pipe = if allocated { "MTE2" } else { "MTE3" };
        let mut accesses: Vec<(&TensorUse, &'static str)> = Vec::new();
        for used in facts.uses_of(name) {
            let line = file.line(used.span.start);
            let call = used.call.and_then(|index| file.calls().get(index));
            if call.is_some_and(|call| gone.contains(&call.span)) {
                continue;
            }
            match (used.access, call) {
                (Access::Escape, _) | (_, None) => {
                    return Err(format!("line {line}: {name} goes to code that is not analysed"));
                }
                (Access::None | Access::Release, _) => {}
                (_, Some(call)) => {
                    let other_side = |index: usize| file.argument(call, index).map(base_name).unwrap_or_default();
                    let dma = is_copy(&call.name)
                        && (kernel.globals.contains_key(other_side(0)) || kernel.globals.contains_key(other_side(1)));
                    if dma && !by_copy {
                        return Err(format!(
                            "line {line}: {name} is used by another pipe than the one that {queue} orders it for"
                        ));
                    }
                    accesses.push((used, if dma { copy_pipe } else { "V" }));
                }
            }
        }
        mixed_accesses(file, name, by_copy, &accesses, edges)?;
    }
    Ok(())
}

/// Edges between neighbouring accesses by the vector unit and by copies on the copies' side of a queue.
///
/// The vector unit there comes after its own work on the previous tensor of the buffer, which frees it, and before its own
/// work on the next: outside of the accesses themselves the queue's order suffices.
fn mixed_accesses(
    file: &SyntaxFile,
    tensor: &str,
    by_copy: bool,
    accesses: &[(&TensorUse, &'static str)],
    edges: &mut Vec<PipeEdge>,
) -> Result<(), String> {
    if !by_copy || accesses.iter().all(|(_, pipe)| *pipe != "V") {
        return Ok(());
    }
    let statement = |used: &TensorUse| used.call.and_then(|index| file.calls().get(index)?.statement.clone());
    for pair in accesses.windows(2) {
        let ((first, from), (second, to)) = (pair[0], pair[1]);
        let (Some(first), Some(second)) = (statement(first), statement(second)) else {
            return Err(format!("{tensor} is used by several pipes, and not by statements of their own"));
        };
        if block_of(file, &first).is_none() || block_of(file, &first) != block_of(file, &second) {
            let line = file.line(second.start);
            return Err(format!("line {line}: {tensor} is used by several pipes, and not in one block"));
        }
        if from != to {
            edges.push(PipeEdge {
                tensor: tensor.to_owned(),
                file: file.name().to_owned(),
                pipes: (from, to),
                between: first.end..second.start,
            });
        }
    }
    Ok(())
}
