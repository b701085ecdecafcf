//! Whether what a tensor holds is read again after a statement, in this round, in the next or in a later call.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use super::Flow;
use super::graph::{ENTRY, EXIT};
use super::memory::may_share;
use crate::analysis::code::{Surroundings, block_of, squash, vector_call};
use crate::analysis::loops::loops_around;
use source::facts::api::{Access, overwrites_first};
use source::facts::{Origin, TensorFacts, TensorUse, base_name};
use source::parse::{Call, SyntaxFile};

/// Proves that nobody reads `tensor` after the statement before it is overwritten.
pub(crate) fn dead_after(
    around: &Surroundings<'_>,
    tensor: &str,
    statement: &Range<usize>,
    count: &str,
) -> Result<(), String> {
    let flow = Flow::of(around)?;
    let file = around.file;
    let overwrites = |used: &TensorUse| {
        let call = used.call.and_then(|index| file.calls().get(index));
        call.and_then(|call| vector_call(file, call, around.tensors)).is_some_and(|call| {
            overwrites_first(call.name)
                && call.destination == tensor
                && !call.sources.contains(&tensor)
                && squash(call.count) == squash(count)
        })
    };
    let reaches_end = flow.unread(tensor, &[flow.step(statement)?], true, &|used| {
        if !overwrites(used) {
            return Ok(false);
        }
        flow.same_value(count, statement, &used.span)
            .map_err(|reason| format!("{tensor} may not be overwritten in its whole length: {reason}"))?;
        Ok(true)
    })?;
    if reaches_end { not_kept_by(&flow, tensor, &overwrites) } else { Ok(()) }
}

/// Proves that no later call of the function finds what a tensor holds at its end; `overwrites` tells the uses that leave
/// nothing of what was there before.
pub(crate) fn not_kept(
    around: &Surroundings<'_>,
    tensor: &str,
    overwrites: &dyn Fn(&TensorUse) -> bool,
) -> Result<(), String> {
    not_kept_by(&Flow::of(around)?, tensor, overwrites)
}

fn not_kept_by(flow: &Flow<'_>, tensor: &str, overwrites: &dyn Fn(&TensorUse) -> bool) -> Result<(), String> {
    let Surroundings { context, file, kernel, tensors, .. } = *flow.around;
    let Some(variable) = tensors.tensors.get(tensor) else { return Err(format!("{tensor} is not a local tensor")) };
    match &variable.origin {
        Origin::Alloc(_) | Origin::DeQue(_) => Ok(()),
        Origin::Buffer(buffer) => {
            flow.unread(tensor, &[ENTRY], false, &|used| Ok(overwrites(used))).map_err(|_| {
                format!("{tensor} may be read before it is written, so its content may come from an earlier call")
            })?;
            let here = |other: &SyntaxFile, call: &Call| {
                other.name() == file.name() && variable.declaration.contains(&call.span.start)
            };
            let gets = kernel
                .calls(&context.forest)
                .filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(buffer));
            let others: Vec<(&SyntaxFile, &Call)> =
                gets.filter(|(file, _, call)| !here(file, call)).map(|(file, _, call)| (file, call)).collect();
            if others.iter().all(|(file, call)| filled_first(file, call)) {
                return Ok(());
            }
            Err(format!("{buffer} is handed out at more than one place"))
        }
        Origin::Parameter | Origin::Unknown => {
            Err(format!("where {tensor} comes from is not known, so its content may be read elsewhere"))
        }
    }
}

impl Flow<'_> {
    /// Walks on from some steps until `tensor` is overwritten on every way, and says whether a way leads to the end of the function
    /// before. `Err` where something reads the tensor on the way, or with `shared` touches memory that it may be in.
    fn unread(
        &self,
        tensor: &str,
        from: &[usize],
        shared: bool,
        overwrites: &dyn Fn(&TensorUse) -> Result<bool, String>,
    ) -> Result<bool, String> {
        let Surroundings { file, tensors, function, .. } = *self.around;
        let Some(variable) = tensors.tensors.get(tensor) else {
            return Err(format!("{tensor} is not a local tensor"));
        };
        let start = from.first().map_or(0, |step| self.graph.step(*step).span.end);
        // `data->x` is no tensor `x`.
        let is_field = |used: &TensorUse| file.slice(&(0..used.span.start)).ends_with("->");
        let mut overwritten: Option<usize> = None;
        // What the statement itself reads in its next round is gone with it.
        let mut seen: BTreeSet<usize> = from.iter().copied().collect();
        let mut open: VecDeque<usize> = from.iter().flat_map(|step| self.graph.step(*step).next.clone()).collect();
        while let Some(index) = open.pop_front() {
            if !seen.insert(index) {
                continue;
            }
            let step = self.graph.step(index);
            // What is kept when the function has ended is used at its last brace.
            let span = if index == EXIT { function.body.end - 1..function.body.end } else { step.span.clone() };
            let uses: Vec<&TensorUse> = tensors
                .uses
                .iter()
                .filter(|used| span.contains(&used.span.start) && used.access != Access::None)
                .collect();
            let line = |used: &TensorUse| file.line(used.span.start);
            let own: Vec<&&TensorUse> =
                uses.iter().filter(|used| used.tensor == tensor && relevant(file, used) && !is_field(used)).collect();
            let whole = match own[..] {
                [used] => overwrites(used)?,
                _ => false,
            };
            if let Some(used) = own.first().filter(|_| !whole) {
                return Err(if used.span.start >= start {
                    format!("{tensor} is used again at line {}", line(used))
                } else {
                    format!("the next round of the loop reads {tensor}")
                });
            }
            let mut others = uses.iter().filter(|used| shared && used.tensor != tensor);
            if let Some(used) = others.find(|used| may_share(self.around, tensor, &used.tensor)) {
                let name = &used.tensor;
                return Err(format!("{name} may share memory with {tensor} and is used at line {}", line(used)));
            }
            if let Some(used) = own.first() {
                overwritten = overwritten.or(Some(line(used)).filter(|_| used.span.start >= start));
                continue;
            }
            // A tensor of a queue is another one when it is declared again.
            let fresh = matches!(variable.origin, Origin::Alloc(_) | Origin::DeQue(_));
            if !(fresh && step.span.contains(&variable.declaration.start)) {
                open.extend(&step.next);
            }
        }
        match overwritten.filter(|_| shared && seen.contains(&EXIT)) {
            Some(line) => Err(format!("a way out may leave {tensor} as it is before line {line}")),
            None => Ok(seen.contains(&EXIT)),
        }
    }
}

/// Whether a function that takes a buffer fills it before it reads from it, and reads no more than it filled.
fn filled_first(file: &SyntaxFile, taken: &Call) -> bool {
    let Some(function) = file.enclosing_function(taken.span.start) else { return false };
    let tensors = TensorFacts::of(file, function);
    let declared = |tensor: &source::facts::Tensor| tensor.declaration.contains(&taken.span.start);
    let Some((name, _)) = tensors.tensors.iter().find(|(_, tensor)| declared(tensor)) else { return false };
    let call_of = |used: &TensorUse| used.call.and_then(|index| file.calls().get(index));
    let uses: Vec<&TensorUse> = tensors.uses_of(name).filter(|used| used.access != Access::None).collect();
    let Some(first) = uses.first().and_then(|used| call_of(used)) else { return uses.is_empty() };
    let reduces = |call: &Call| matches!(call.name.as_str(), "ReduceSum" | "ReduceMax" | "ReduceMin");
    let is_scratch = |used: &TensorUse| used.argument == Some(2) && call_of(used).is_some_and(reduces);
    if uses.iter().all(|used| is_scratch(used)) {
        return true;
    }
    if !loops_around(file, function, taken.span.start).is_empty() || uses[0].argument != Some(0) || !uses[0].whole {
        return false;
    }
    let count = |call: &Call| call.arguments.last().map(|argument| squash(file.slice(argument)));
    let block = first.statement.as_ref().and_then(|statement| block_of(file, statement));
    if block.as_ref() != Some(&function.body) {
        return false;
    }
    let element = |used: &TensorUse| {
        call_of(used).is_some_and(|call| call.name == "GetValue" && file.argument(call, 0).map(str::trim) == Some("0"))
    };
    if reduces(first) && uses[0].access == Access::Write {
        return uses[1..].iter().all(|used| element(used));
    }
    let Some(fill) = vector_call(file, first, &tensors) else { return false };
    overwrites_first(fill.name)
        && !fill.sources.contains(&name.as_str())
        && uses[1..].iter().all(|used| {
            let same =
                call_of(used).filter(|call| call.object.is_none()).is_some_and(|call| count(call) == count(first));
            element(used) || (used.whole && same && !is_scratch(used))
        })
}

/// Whether a use touches what the tensor holds. A reduction's scratch tensor is not read: neither does the reduction need
/// its content nor does it leave any.
fn relevant(file: &SyntaxFile, used: &TensorUse) -> bool {
    let call = used.call.and_then(|index| file.calls().get(index));
    let scratch = used.argument == Some(2)
        && call.is_some_and(|call| matches!(call.name.as_str(), "ReduceSum" | "ReduceMax" | "ReduceMin"));
    used.access != Access::None && !is_free(file, used) && !scratch
}

fn is_free(file: &SyntaxFile, used: &TensorUse) -> bool {
    used.access == Access::Release
        && used.call.and_then(|index| file.calls().get(index)).is_some_and(|call| call.name == "FreeTensor")
}
