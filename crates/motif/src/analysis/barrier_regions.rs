//! Whether a full barrier orders anything that other barriers, queues and compiler leave to it: classes with their bases, tensors
//! followed through functions, and the code between the barrier and the next ones on all paths.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::pipe_order::PROTOCOL;
use crate::analysis::regions::{Region, Side, Walk};
use crate::context::Context;
use source::facts::api::{Access, is_copy};
use source::facts::{Callers, Kernel, Origin, TensorFacts, TensorUse, base_name};
use source::parse::{Call, Function, SyntaxFile};

/// Proves that a full barrier is needless in the kernel and in every class that inherits it.
pub(crate) fn needless(
    context: &Context,
    kernel: &Kernel,
    file: &SyntaxFile,
    statement: &Range<usize>,
    judged: &mut Judged,
) -> Result<(), String> {
    for affected in std::iter::once(kernel).chain(context.facts.derived(&kernel.name)) {
        let known = judged.entry(affected.name.clone()).or_insert_with(|| judge(context, affected));
        let (whole, unordered) = known.as_ref().map_err(Clone::clone)?;
        if !unordered.is_empty() {
            orders_nothing(context, whole, unordered, file, statement)?;
        }
    }
    Ok(())
}

/// Kernels with their base classes and what is not ordered in them, judged once.
pub(crate) type Judged = BTreeMap<String, Result<(Kernel, Unordered), String>>;

fn judge(context: &Context, kernel: &Kernel) -> Result<(Kernel, Unordered), String> {
    let unknown = |base| format!("{}: the base class {base} is not among the sources", kernel.name);
    let whole = context.facts.with_bases(kernel).map_err(unknown)?;
    let unordered = unordered(context, &whole)?;
    Ok((whole, unordered))
}

/// What queues and compiler do not order in a kernel.
#[derive(Default)]
pub(crate) struct Unordered {
    /// `TBuf`s that a copy touches.
    buffers: BTreeSet<String>,
    /// Global tensors that are both read and written, or accessed past the copies.
    globals: BTreeMap<String, &'static str>,
    /// A call that is part of a protocol, with its line.
    protocol: Option<String>,
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
fn unordered(context: &Context, kernel: &Kernel) -> Result<Unordered, String> {
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
        if is_copy(&call.name) && call.object.is_none() && !kernel.copies_within(file, call) {
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
        queue_discipline(kernel, callers, file, function, &mut found)?;
    }
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
        for word in crate::analysis::code::words(file.slice(span)) {
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

/// Each tensor of a queue is touched by copies on one side of EnQue and by the vector unit on the other, never by both.
fn queue_discipline(
    kernel: &Kernel,
    callers: Callers<'_>,
    file: &SyntaxFile,
    function: &Function,
    found: &mut Unordered,
) -> Result<(), String> {
    let facts = TensorFacts::of(file, function);
    for (name, tensor) in &facts.tensors {
        let copied = |used: &TensorUse| {
            let call = used.call.and_then(|index| file.calls().get(index));
            call.is_some_and(|call| is_copy(&call.name) && !kernel.copies_within(file, call))
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
            let by_copy = kernel.is_copied(queue, allocated)?;
            one_pipe(kernel, callers, (file, function), &facts, name, queue, by_copy)?;
        }
    }
    Ok(())
}

/// A tensor is touched by copies only, or by the vector unit only.
fn one_pipe(
    kernel: &Kernel,
    callers: Callers<'_>,
    (file, function): (&SyntaxFile, &Function),
    facts: &TensorFacts,
    name: &str,
    queue: &str,
    by_copy: bool,
) -> Result<(), String> {
    for used in facts.uses_of(name) {
        let line = file.line(used.span.start);
        let call = used.call.and_then(|index| file.calls().get(index));
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
                if (is_copy(&call.name) && (global(0) || global(1))) != by_copy {
                    return Err(format!(
                        "line {line}: {name} is used by another pipe than the one that {queue} orders it for"
                    ));
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
