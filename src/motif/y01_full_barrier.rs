//! Y01: a full barrier that orders nothing that queues and compiler do not order already.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::code::{edit, insert_after, scope};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::regions::{Region, Side, Walk, is_full_barrier};
use crate::source::facts::api::{Access, is_copy};
use crate::source::facts::{Callers, Kernel, Origin, TensorFacts, TensorUse, base_name};
use crate::source::parse::{Call, Function, SyntaxFile};

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
        "every queue of the class, its base classes included, is used in order (alloc, fill, EnQue, DeQue, use, free), tensors followed \
         through functions of the class; a TBuf that copies touch, or a global tensor both read and written, is not touched on both sides of the barrier, \
         nor is there a cross-core protocol, up to the next full barriers on all paths; destinations of copies do not overlap (condition)"
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
        let mut judged = Judged::new();
        for file in context.forest.iter() {
            for call in file.calls_named("PipeBarrier").filter(|call| is_full_barrier(call)) {
                let edits = removal(context, file, call, &mut judged);
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

/// Kernels with their base classes and what is not ordered in them, judged once.
type Judged = BTreeMap<String, Result<(Kernel, Unordered), String>>;

fn judge(context: &Context, kernel: &Kernel) -> Result<(Kernel, Unordered), String> {
    let unknown = |base| format!("{}: the base class {base} is not among the sources", kernel.name);
    let whole = context.facts.with_bases(kernel).map_err(unknown)?;
    let unordered = unordered(context, &whole, "", &[])?;
    Ok((whole, unordered))
}

fn removal(
    context: &Context,
    file: &SyntaxFile,
    call: &Call,
    judged: &mut Judged,
) -> Result<Vec<crate::source::Edit>, String> {
    let statement = call.statement.as_ref().ok_or("the barrier is not a statement of its own")?;
    super::code::block_of(file, statement).ok_or("the barrier is the only statement of an if or a loop")?;
    let kernel = context.facts.kernel_at(file, call.span.start).ok_or("the barrier is not in a kernel function")?;
    for affected in std::iter::once(kernel).chain(context.facts.derived(&kernel.name)) {
        let known = judged.entry(affected.name.clone()).or_insert_with(|| judge(context, affected));
        let (whole, unordered) = known.as_ref().map_err(Clone::clone)?;
        if unordered.fences.contains(&(file.name().to_owned(), call.span.start)) {
            return Err("the barrier stands between filling a tensor and copying into it by another pipe".to_owned());
        }
        if !unordered.is_empty() {
            orders_nothing(context, whole, unordered, file, statement)?;
        }
    }
    Ok(vec![edit(file, file.removal_span(statement), "")])
}

/// What queues and compiler do not order in a kernel.
#[derive(Default)]
struct Unordered {
    /// `TBuf`s that a copy touches.
    buffers: BTreeSet<String>,
    /// Global tensors that are both read and written, or accessed past the copies.
    globals: BTreeMap<String, &'static str>,
    /// A call that is part of a protocol, with its line.
    protocol: Option<String>,
    /// Barriers that alone stand between filling a tensor and copying into it: file and first byte.
    fences: BTreeSet<(String, usize)>,
}

impl Unordered {
    fn is_empty(&self) -> bool {
        self.buffers.is_empty() && self.globals.is_empty() && self.protocol.is_none()
    }

    /// One of the reasons, in words.
    fn what(&self) -> String {
        let buffer = self.buffers.first();
        let buffer = buffer.map(|name| format!("{name} is a TBuf that a copy touches: only the barrier orders it"));
        let global = self.globals.first_key_value().map(|(name, why)| format!("{name} {why}"));
        self.protocol.clone().or(buffer).or(global).unwrap_or_default()
    }
}

fn is_protocol(call: &Call) -> bool {
    PROTOCOL.contains(&call.name.as_str()) || call.name.starts_with("pipe_barrier") || call.name.starts_with("set_flag")
}

/// Proves that queues are used in order; gives what they do not order.
fn unordered(context: &Context, kernel: &Kernel, place: &str, gone: &[Range<usize>]) -> Result<Unordered, String> {
    let forest = &context.forest;
    if kernel.queues.is_empty() {
        return Err("no queue here orders the pipes: tensors are placed by hand".to_owned());
    }
    if let Some(member) = kernel.tensor_members.first() {
        return Err(format!("the local tensor {member} is a member, its lifetime is not analysed"));
    }
    let callers = Callers::new(kernel, forest);
    let mut found = Unordered::default();
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for (file, _, call) in kernel.calls(forest) {
        let Some(function) = file.enclosing_function(call.span.start) else { continue };
        let line = file.line(call.span.start);
        if is_protocol(call) {
            let place =
                format!("{}:{line}: {} is part of a protocol with other cores or units", file.name(), call.name);
            found.protocol.get_or_insert(place);
        }
        let members = |text: &str| callers.members(function, base_name(text)).into_iter();
        for global in call.object.as_deref().into_iter().flat_map(members) {
            if kernel.globals.contains_key(&global) && matches!(call.name.as_str(), "SetValue" | "GetPhyAddr") {
                found.globals.insert(global, "is accessed past the copies");
            }
        }
        if is_copy(&call.name) && call.object.is_none() {
            let operand = |index: usize| file.argument(call, index).unwrap_or_default();
            written.extend(members(operand(0)));
            read.extend(members(operand(1)));
            let local = |index: usize| {
                let name = base_name(operand(index));
                TensorFacts::of(file, function).tensors.contains_key(name)
                    || members(name).all(|member| kernel.globals.contains_key(&member))
            };
            if !local(0) || !local(1) {
                return Err(format!("{}:{line}: a copy with an operand of unknown origin", file.name()));
            }
        }
    }
    for both in kernel.globals.keys().filter(|global| read.contains(*global) && written.contains(*global)) {
        found
            .globals
            .insert(both.clone(), "is both read and written: copies through global memory are not ordered by queues");
    }
    for (file, index) in &kernel.functions {
        let Some(file) = forest.get(file) else { continue };
        let Some(function) = file.functions().get(*index) else { continue };
        let gone = if file.name() == place { gone } else { &[] };
        queue_discipline(kernel, callers, file, function, gone, &mut found)?;
    }
    found.buffers.retain(|buffer| !staged(kernel, context, buffer));
    Ok(found)
}

/// Proves that nothing unordered is touched both before and after a barrier, up to the next barriers on all paths.
fn orders_nothing(
    context: &Context,
    kernel: &Kernel,
    unordered: &Unordered,
    file: &SyntaxFile,
    statement: &Range<usize>,
) -> Result<(), String> {
    let forest = &context.forest;
    let region = |side| {
        Walk::region(kernel, forest, file, statement, side).map_err(|reason| format!("{}; {reason}", unordered.what()))
    };
    let (before, after) = (region(Side::Before)?, region(Side::After)?);
    if let Some((file, call)) = before.calls().chain(after.calls()).find(|(_, call)| is_protocol(call)) {
        let (name, line) = (&call.name, file.line(call.span.start));
        return Err(format!("{}:{line}: {name} is part of a protocol with other cores or units", file.name()));
    }
    let first = touched(context, kernel, unordered, &before);
    let second = touched(context, kernel, unordered, &after);
    let Some(both) = first.intersection(&second).next() else { return Ok(()) };
    Err(match unordered.globals.get(both) {
        Some(why) => format!("{both} {why}"),
        None => format!("{both} is a TBuf that a copy touches: only the barrier orders it"),
    })
}

/// Unordered buffers and global tensors that a region touches.
fn touched(context: &Context, kernel: &Kernel, unordered: &Unordered, region: &Region<'_>) -> BTreeSet<String> {
    let callers = Callers::new(kernel, &context.forest);
    let mut found = BTreeSet::new();
    for (file, span) in &region.spans {
        let Some(function) = file.enclosing_function(span.start) else { continue };
        let facts = TensorFacts::of(file, function);
        for word in super::code::words(file.slice(span)) {
            for name in callers.members(function, word) {
                if unordered.buffers.contains(&name) || unordered.globals.contains_key(&name) {
                    found.insert(name);
                }
            }
            for origin in facts
                .tensors
                .get(word)
                .and_then(|_| callers.origins(file, function, &facts, word).ok())
                .unwrap_or_default()
            {
                if let Origin::Buffer(name) = origin
                    && unordered.buffers.contains(&name)
                {
                    found.insert(name);
                }
            }
        }
    }
    found
}

/// Proves, as far as the source shows it, that queues, compiler and the other barriers order everything in this kernel when some
/// calls are gone.
pub(super) fn ordered_without(
    context: &Context,
    kernel: &Kernel,
    place: &SyntaxFile,
    gone: &[Range<usize>],
) -> Result<(), String> {
    for affected in std::iter::once(kernel).chain(context.facts.derived(&kernel.name)) {
        let unknown = |base| format!("{}: the base class {base} is not among the sources", affected.name);
        let whole = context.facts.with_bases(affected).map_err(unknown)?;
        let unordered = unordered(context, &whole, place.name(), gone)?;
        if !unordered.is_empty() {
            return Err(unordered.what());
        }
    }
    Ok(())
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

/// Full barriers between a vector instruction on a tensor that was just allocated and the copies into it: such a fill needs one
/// of them, and none of the others.
fn fences(file: &SyntaxFile, facts: &TensorFacts, fill: &TensorUse, gone: &[Range<usize>]) -> Vec<usize> {
    let statement = |used: &TensorUse| file.calls().get(used.call?)?.statement.clone();
    let Some(own) = statement(fill) else { return Vec::new() };
    let next = facts.uses_of(&fill.tensor).find(|used| {
        used.span.start > fill.span.start
            && used.call.and_then(|index| file.calls().get(index)).is_some_and(|call| is_copy(&call.name))
    });
    let Some(next) = next else { return Vec::new() };
    let barriers = file.calls_in(own.end..next.span.start).filter(|call| {
        let same_block = |barrier: &Range<usize>| {
            super::code::block_of(file, barrier).is_some_and(|block| Some(block) == super::code::block_of(file, &own))
        };
        is_full_barrier(call) && !gone.contains(&call.span) && call.statement.as_ref().is_some_and(same_block)
    });
    barriers.map(|call| call.span.start).collect()
}

/// Each tensor of a queue is touched by copies on one side of EnQue and by the vector unit on the other, never by both.
fn queue_discipline(
    kernel: &Kernel,
    callers: Callers<'_>,
    file: &SyntaxFile,
    function: &Function,
    gone: &[Range<usize>],
    found: &mut Unordered,
) -> Result<(), String> {
    let facts = TensorFacts::of(file, function);
    for (name, tensor) in &facts.tensors {
        let copied = |used: &TensorUse| {
            used.call.and_then(|index| file.calls().get(index)).is_some_and(|call| is_copy(&call.name))
        };
        let touched = facts.uses_of(name).any(copied);
        let origins = match callers.origins(file, function, &facts, name) {
            Ok(origins) => origins,
            Err(_) if touched => {
                return Err(format!(
                    "{name} is copied, and where it comes from is not known ({}:{})",
                    file.name(),
                    file.line(tensor.declaration.start)
                ));
            }
            Err(_) => continue,
        };
        for origin in origins {
            let (queue, allocated) = match &origin {
                Origin::Alloc(queue) => (queue, true),
                Origin::DeQue(queue) => (queue, false),
                Origin::Buffer(buffer) => {
                    let released = facts.uses_of(name).any(|used| used.access == Access::Release);
                    if touched || released {
                        found.buffers.insert(buffer.clone());
                    }
                    if released {
                        return Err(format!("{buffer} is a TBuf that a copy touches, and {name} goes through a queue"));
                    }
                    continue;
                }
                Origin::Parameter | Origin::Unknown => continue,
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
            let side = Expected { queue, by_copy, allocated };
            one_pipe(kernel, callers, file, function, &facts, name, &side, gone, found)?;
        }
    }
    Ok(())
}

/// By which pipe a queue's tensor may be touched.
struct Expected<'a> {
    queue: &'a str,
    by_copy: bool,
    allocated: bool,
}

/// A tensor is touched by copies only, or by the vector unit only.
#[allow(clippy::too_many_arguments)]
fn one_pipe(
    kernel: &Kernel,
    callers: Callers<'_>,
    file: &SyntaxFile,
    function: &Function,
    facts: &TensorFacts,
    name: &str,
    expected: &Expected<'_>,
    gone: &[Range<usize>],
    found: &mut Unordered,
) -> Result<(), String> {
    for used in facts.uses_of(name) {
        let line = file.line(used.span.start);
        let call = used.call.and_then(|index| file.calls().get(index));
        if call.is_some_and(|call| gone.contains(&call.span)) {
            continue;
        }
        match (used.access, call) {
            // What a function of the kernel does with its parameter is seen there.
            (Access::Escape, Some(call)) if followed(callers, call, used.argument) => {}
            (Access::Escape, _) | (_, None) => {
                return Err(format!("line {line}: {name} goes to code that is not analysed"));
            }
            (Access::None | Access::Release, _) => {}
            (_, Some(call)) => {
                let global = |index: usize| {
                    let name = file.argument(call, index).map(base_name).unwrap_or_default();
                    callers.members(function, name).iter().any(|member| kernel.globals.contains_key(member))
                };
                let dma = is_copy(&call.name) && (global(0) || global(1));
                if dma == expected.by_copy {
                    continue;
                }
                let fences =
                    if expected.allocated && expected.by_copy { fences(file, facts, used, gone) } else { Vec::new() };
                match fences[..] {
                    [] => {
                        return Err(format!(
                            "line {line}: {name} is used by another pipe than the one that {} orders it for",
                            expected.queue
                        ));
                    }
                    [only] => {
                        found.fences.insert((file.name().to_owned(), only));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// Whether an argument becomes a local tensor of a function of the kernel.
fn followed(callers: Callers<'_>, call: &Call, argument: Option<usize>) -> bool {
    let callees = callers.callees(call);
    let tensor = |function: &Function| {
        let parameter = argument.and_then(|index| function.parameters.get(index));
        parameter.is_some_and(|parameter| parameter.type_text.contains("LocalTensor<"))
    };
    !callees.is_empty() && callees.iter().all(|(_, function)| tensor(function))
}
