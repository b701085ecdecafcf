//! Whether anything but the first element of a tensor is read after a statement, before it is overwritten.

use std::ops::Range;

use crate::analysis::code::{Surroundings, block_of, squash};
use crate::analysis::flow::effects::steady;
use crate::analysis::flow::liveness::not_kept;
use crate::analysis::loops::loops_around;
use source::facts::api::{Access, Shape, overwrites_first, vector_shape};
use source::facts::{Origin, TensorUse, base_name};
use source::parse::Call;

/// What a use of the tensor does with it.
enum Touch {
    /// Reads the first element, or nothing.
    First,
    /// Overwrites the first elements, as many as the text says, without reading any; from here to the end of the block.
    Overwrite(String, Range<usize>),
    /// Reads the first elements, as many as the text says.
    Read(String),
    /// May read any.
    Other,
}

/// Proves that the statement may leave anything in `tensor` but its first element: nobody reads others before they are
/// overwritten. With `none` the first one may not be read either.
pub(crate) fn rest_unread(
    around: &Surroundings<'_>,
    tensor: &str,
    statement: &Range<usize>,
    none: bool,
) -> Result<(), String> {
    let Surroundings { file, function, tensors, .. } = *around;
    let known = tensors.tensors.get(tensor).ok_or_else(|| format!("{tensor} is not a local tensor"))?;
    if let Some(used) = tensors.uses_of(tensor).find(|used| used.access == Access::Escape) {
        return Err(format!("line {}: {tensor} goes to code that is not analysed", file.line(used.span.start)));
    }
    let uses = |span: Range<usize>| -> Vec<&TensorUse> {
        tensors.uses_of(tensor).filter(|used| span.contains(&used.span.start)).collect()
    };
    overwritten_first(around, &uses(statement.end..function.body.end), none)?;
    // The next round of a loop, or the next call of the function, goes from its start.
    let loops = loops_around(file, function, statement.start);
    let kept = loops.iter().take_while(|repetition| !repetition.body.contains(&known.declaration.start));
    for repetition in kept {
        overwritten_first(around, &uses(repetition.span.clone()), none)?;
    }
    if matches!(known.origin, Origin::Buffer(_)) {
        overwritten_first(around, &uses(function.body.clone()), none)?;
    }
    let overwrites = |used: &TensorUse| matches!(touch(around, used, none), Touch::Overwrite(..));
    not_kept(around, tensor, &overwrites)
}

/// Whether every use, in text order, that reads more than the first element follows an overwrite of as much in a block around it.
fn overwritten_first(around: &Surroundings<'_>, uses: &[&TensorUse], none: bool) -> Result<(), String> {
    let file = around.file;
    let mut written: Vec<(String, Range<usize>)> = Vec::new();
    for used in uses {
        let fresh = |count: &str| {
            written.iter().any(|(length, valid)| {
                valid.contains(&used.span.start)
                    && length == count
                    && steady(around.context, file, around.kernel, length, &(valid.start..used.span.start)).is_ok()
            })
        };
        match touch(around, used, none) {
            Touch::First => {}
            Touch::Read(count) if fresh(&count) => {}
            Touch::Overwrite(count, valid) => written.push((count, valid)),
            Touch::Read(_) | Touch::Other => {
                let line = file.line(used.span.start);
                return Err(format!("line {line}: more of {} than its first element may be read", used.tensor));
            }
        }
    }
    Ok(())
}

fn touch(around: &Surroundings<'_>, used: &TensorUse, none: bool) -> Touch {
    let file = around.file;
    let Some(call) = used.call.and_then(|index| file.calls().get(index)) else { return Touch::Other };
    let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
    match used.access {
        Access::None => return Touch::First,
        Access::Release if call.name == "FreeTensor" => return Touch::First,
        Access::Read if call.name == "GetValue" && used.argument.is_none() => {
            return if argument(0) != "0" {
                Touch::Other
            } else if none {
                Touch::Read("1".to_owned())
            } else {
                Touch::First
            };
        }
        _ => {}
    }
    if reduces(call) {
        // What the reduction leaves in its result and its work tensor is not the source's content any more.
        return match used.argument {
            Some(1) if used.whole => Touch::Read(squash(argument(3))),
            Some(0 | 2) => Touch::First,
            _ => Touch::Other,
        };
    }
    // With further template arguments the mask counts and not the last argument.
    let typed = call.template_arguments.as_deref().is_none_or(|arguments| !arguments.contains(','));
    let Some(operands) = counted(call).filter(|_| typed && call.object.is_none()) else { return Touch::Other };
    let count = squash(argument(call.arguments.len() - 1));
    if count == "1" && !none {
        return Touch::First;
    }
    let named = |index: usize| base_name(argument(index)) == used.tensor;
    if (0..operands).any(|index| named(index) && argument(index) != used.tensor) {
        return Touch::Other;
    }
    if !named(0) || (1..operands).any(named) || !overwrites_first(&call.name) {
        return Touch::Read(count);
    }
    match call.statement.as_ref().and_then(|statement| Some((statement.end, block_of(file, statement)?.end))) {
        Some((start, end)) => Touch::Overwrite(count, start..end),
        None => Touch::First,
    }
}

/// Tensors among the first arguments of a vector call in count form.
fn counted(call: &Call) -> Option<usize> {
    let (operands, others) = match (call.name.as_str(), vector_shape(&call.name)) {
        ("Duplicate" | "CreateVecIndex", _) => (1, 2),
        ("Cast" | "Axpy", _) | (_, Some(Shape::Scalar)) => (2, 2),
        (_, Some(Shape::Binary)) => (3, 1),
        (_, Some(Shape::Unary)) => (2, 1),
        _ => return None,
    };
    (call.arguments.len() == operands + others).then_some(operands)
}

/// A reduction of a whole tensor in count form.
fn reduces(call: &Call) -> bool {
    matches!(call.name.as_str(), "ReduceSum" | "ReduceMax" | "ReduceMin") && matches!(call.arguments.len(), 4 | 5)
}
