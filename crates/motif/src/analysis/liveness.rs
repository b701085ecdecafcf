//! Whether what a tensor holds is read again after a statement, in this round, in the next or in a later call.

use std::ops::Range;

use crate::analysis::alias::may_share;
use crate::analysis::code::{Surroundings, block_of, leaves_early, same_block, squash, vector_call};
use crate::analysis::loops::loops_around;
use crate::analysis::steady::steady;
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
    let Surroundings { context, file, function, kernel, tensors } = *around;
    let Some(variable) = tensors.tensors.get(tensor) else { return Err(format!("{tensor} is not a local tensor")) };
    let overwrites = |used: &TensorUse| {
        let call =
            used.call.and_then(|index| file.calls().get(index)).and_then(|call| vector_call(file, call, tensors));
        call.is_some_and(|call| {
            let reads_itself = call.sources.contains(&tensor);
            overwrites_first(call.name)
                && call.destination == tensor
                && !reads_itself
                && squash(call.count) == squash(count)
        })
    };
    let relevant = |used: &&TensorUse| relevant(file, used);
    let statement_of =
        |used: &TensorUse| used.call.and_then(|index| file.calls().get(index)).and_then(|call| call.statement.clone());
    let shared = |span: &Range<usize>| {
        let others = tensors.uses.iter().filter(|used| used.access != Access::None && used.tensor != tensor);
        let mut others = others.filter(|used| span.contains(&used.span.start));
        others.find(|used| may_share(around, tensor, &used.tensor))
    };
    let is_shared = |used: &TensorUse| {
        format!("{} may share memory with {tensor} and is used at line {}", used.tensor, file.line(used.span.start))
    };
    if let Some(next) = tensors.uses_of(tensor).filter(relevant).find(|used| used.span.start >= statement.end) {
        let next_statement = statement_of(next).filter(|next| same_block(file, next, statement));
        let Some(next_statement) = next_statement.filter(|_| overwrites(next)) else {
            return Err(format!("{tensor} is used again at line {}", file.line(next.span.start)));
        };
        let between = statement.end..next_statement.start;
        if let Some(word) = leaves_early(file.slice(&between)) {
            return Err(format!("{word} may leave {tensor} as it is before line {}", file.line(next_statement.start)));
        }
        steady(context, file, kernel, count, &between)
            .map_err(|reason| format!("{tensor} may not be overwritten in its whole length: {reason}"))?;
        return shared(&(statement.end..next_statement.end)).map_or(Ok(()), |used| Err(is_shared(used)));
    }
    if let Some(used) = shared(&(statement.end..function.body.end)) {
        return Err(is_shared(used));
    }
    // The next round of a loop, or the next call of the function, starts with the first use.
    for repetition in loops_around(file, function, statement.start) {
        if repetition.body.contains(&variable.declaration.start) {
            break;
        }
        if let Some(used) = shared(&repetition.span) {
            return Err(is_shared(used));
        }
        let inside: Vec<&TensorUse> = tensors
            .uses_of(tensor)
            .filter(relevant)
            .filter(|used| repetition.span.contains(&used.span.start) && !statement.contains(&used.span.start))
            .collect();
        let Some(first) = inside.first() else { continue };
        if !overwrites(first) || !leads(file, first, &inside) {
            return Err(format!("the next round of the loop reads {tensor}"));
        }
        steady(context, file, kernel, count, &repetition.span)
            .map_err(|reason| format!("the next round may overwrite less of {tensor}: {reason}"))?;
    }
    not_kept(around, tensor, &overwrites)
}

/// Whether the first of some uses is a statement of a block that all of them stand in, so that it comes before the others on all
/// paths.
fn leads(file: &SyntaxFile, first: &TensorUse, uses: &[&TensorUse]) -> bool {
    let statement = first.call.and_then(|index| file.calls().get(index)).and_then(|call| call.statement.clone());
    let block = statement.and_then(|statement| block_of(file, &statement));
    block.is_some_and(|block| uses.iter().all(|used| block.contains(&used.span.start)))
}

/// Proves that no later call of the function finds what a tensor holds at its end; `overwrites` tells the uses that leave
/// nothing of what was there before.
pub(crate) fn not_kept(
    around: &Surroundings<'_>,
    tensor: &str,
    overwrites: &dyn Fn(&TensorUse) -> bool,
) -> Result<(), String> {
    let Surroundings { context, kernel, tensors, .. } = *around;
    let Some(variable) = tensors.tensors.get(tensor) else { return Err(format!("{tensor} is not a local tensor")) };
    let relevant = |used: &&TensorUse| relevant(around.file, used);
    match &variable.origin {
        Origin::Alloc(_) | Origin::DeQue(_) => Ok(()),
        Origin::Buffer(buffer) => {
            let uses: Vec<&TensorUse> = tensors.uses_of(tensor).filter(relevant).collect();
            if uses.first().is_some_and(|first| !overwrites(first) || !leads(around.file, first, &uses)) {
                return Err(format!(
                    "{tensor} may be read before it is written, so its content may come from an earlier call"
                ));
            }
            let here = |file: &SyntaxFile, call: &Call| {
                file.name() == around.file.name() && variable.declaration.contains(&call.span.start)
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
