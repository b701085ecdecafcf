//! Y01: a full barrier that orders nothing that queues and compiler do not order already.

use std::collections::BTreeSet;
use std::ops::Range;

use super::code::{edit, insert_after, scope};
use super::context::{Candidate, Context, Counter, Family, Motif};
use crate::source::facts::api::{Access, is_copy};
use crate::source::facts::{Kernel, Origin, TensorFacts, TensorUse, base_name};
use crate::source::parse::{Call, SyntaxFile};

/// Calls that talk to other cores or other units: barriers near them may be part of a protocol.
const PROTOCOL: &[&str] = &[
    "SyncAll",
    "CrossCoreSetFlag",
    "CrossCoreWaitFlag",
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

/// The motif.
pub struct FullBarrier;

impl Motif for FullBarrier {
    fn id(&self) -> &'static str {
        "Y01"
    }
    fn title(&self) -> &'static str {
        "remove a needless PipeBarrier<PIPE_ALL>"
    }
    fn family(&self) -> Family {
        Family::Synchronisation
    }
    fn precondition(&self) -> &'static str {
        "every DMA operand of the class comes from a queue that is used in order (alloc, fill, EnQue, DeQue, use, free), no global \
         tensor is both read and written, no cross-core protocol; destinations of copies do not overlap (condition)"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn left_to_verifier(&self) -> &'static str {
        "destinations of copies do not overlap (hazard check)"
    }
    fn undoing(&self) -> &'static str {
        "barrier after each step of a loop"
    }
    fn tunables(&self) -> &'static str {
        "opens D01: nothing overlaps while the barrier stands"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::StallUs]
    }
    fn prior_gain(&self) -> f64 {
        1.15
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in context.forest.iter() {
            for call in
                file.calls_named("PipeBarrier").filter(|call| call.template_arguments.as_deref() == Some("PIPE_ALL"))
            {
                let edits = removal(context, file, call);
                let candidate = Candidate::new(file, &call.span, "drop the full barrier", edits);
                found.push(
                    candidate.on_condition("the hazard check finds no race: destinations of copies do not overlap"),
                );
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values().filter(|kernel| !kernel.queues.is_empty()) {
            let own: BTreeSet<&str> = kernel
                .functions
                .iter()
                .filter_map(|(file, index)| Some(context.forest.get(file)?.functions().get(*index)?.name.as_str()))
                .collect();
            for (file, _, call) in kernel.calls(&context.forest) {
                let step =
                    own.contains(call.name.as_str()) && call.object.as_deref().is_none_or(|object| object == "this");
                let Some(statement) =
                    call.statement.as_ref().filter(|_| step && file.enclosing_loop(call.span.start).is_some())
                else {
                    continue;
                };
                let line = format!("{}PipeBarrier<PIPE_ALL>();", scope(file));
                let edits = insert_after(file, statement, &[line])
                    .map(|edit| vec![edit])
                    .ok_or_else(|| "the statement shares its line".to_owned());
                found.push(Candidate::new(file, &call.span, "full barrier after this step", edits));
            }
        }
        found
    }
}

fn removal(context: &Context, file: &SyntaxFile, call: &Call) -> Result<Vec<crate::source::Edit>, String> {
    let statement = call.statement.as_ref().ok_or("the barrier is not a statement of its own")?;
    super::code::block_of(file, statement).ok_or("the barrier is the only statement of an if or a loop")?;
    let kernel = context.facts.kernel_at(file, call.span.start).ok_or("the barrier is not in a kernel function")?;
    ordered_without(context, kernel, file, std::slice::from_ref(&call.span))?;
    Ok(vec![edit(file, file.removal_span(statement), "")])
}

/// Proves, as far as the source shows it, that queues, compiler and the other barriers order everything in this kernel when some
/// calls are gone.
pub(super) fn ordered_without(
    context: &Context,
    kernel: &Kernel,
    place: &SyntaxFile,
    gone: &[Range<usize>],
) -> Result<(), String> {
    let forest = &context.forest;
    if kernel.queues.is_empty() {
        return Err("no queue here orders the pipes: tensors are placed by hand".to_owned());
    }
    if kernel.has_base {
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
    kernel.tensors(forest).try_for_each(|(file, facts)| {
        let gone = if file.name() == place.name() { gone } else { &[] };
        queue_discipline(kernel, file, &facts, gone)
    })
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
                            && flag.statement.as_ref().is_some_and(|flag| {
                                super::code::block_of(file, flag) == super::code::block_of(file, copy)
                            })
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

/// Whether another full barrier stands between a vector instruction on a tensor that was just allocated and the copies into it:
/// such a fill needs that one, and none of the others.
fn fenced(file: &SyntaxFile, facts: &TensorFacts, fill: &TensorUse, gone: &[Range<usize>]) -> bool {
    let statement = |used: &TensorUse| file.calls().get(used.call?)?.statement.clone();
    let Some(own) = statement(fill) else { return false };
    let next = facts.uses_of(&fill.tensor).find(|used| {
        used.span.start > fill.span.start
            && used.call.and_then(|index| file.calls().get(index)).is_some_and(|call| is_copy(&call.name))
    });
    let Some(next) = next else { return false };
    file.calls_in(own.end..next.span.start).any(|call| {
        call.name == "PipeBarrier"
            && call.template_arguments.as_deref() == Some("PIPE_ALL")
            && !gone.contains(&call.span)
            && call.statement.as_ref().is_some_and(|barrier| {
                super::code::block_of(file, barrier)
                    .is_some_and(|block| Some(block) == super::code::block_of(file, &own))
            })
    })
}

/// Each tensor of a queue is touched by copies on one side of EnQue and by the vector unit on the other, never by both.
fn queue_discipline(
    kernel: &Kernel,
    file: &SyntaxFile,
    facts: &TensorFacts,
    gone: &[Range<usize>],
) -> Result<(), String> {
    for (name, tensor) in &facts.tensors {
        let (queue, allocated) = match &tensor.origin {
            Origin::Alloc(queue) => (queue, true),
            Origin::DeQue(queue) => (queue, false),
            Origin::Buffer(_) => continue,
            Origin::Parameter | Origin::Unknown => {
                if facts.uses_of(name).any(|used| {
                    used.call.and_then(|index| file.calls().get(index)).is_some_and(|call| is_copy(&call.name))
                }) {
                    return Err(format!("{name} is copied, and where it comes from is not known"));
                }
                continue;
            }
        };
        let Some(known) = kernel.queues.get(queue) else {
            return Err(format!("{queue} is not a queue member of {}", kernel.name));
        };
        let (fills_by_copy, drains_by_copy) = match known.position.as_str() {
            "VECIN" => (true, false),
            "VECOUT" => (false, true),
            "VECIN,VECOUT" => (true, true),
            "VECCALC" => (false, false),
            other => return Err(format!("{queue} has the position {other}")),
        };
        let by_copy = if allocated { fills_by_copy } else { drains_by_copy };
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
                    if dma != by_copy && !(allocated && by_copy && fenced(file, facts, used, gone)) {
                        return Err(format!(
                            "line {line}: {name} is used by another pipe than the one that {queue} orders it for"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}
