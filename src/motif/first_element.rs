//! Whether anything but the first element of a tensor is read after a statement, before it is overwritten.

use std::ops::Range;

use super::code::{Surroundings, assigns, block_of, loops_around, not_kept, squash, vector_call, words};
use crate::source::facts::api::{Access, overwrites_first};
use crate::source::facts::{Origin, TensorUse};
use crate::source::parse::Call;

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
pub(super) fn rest_unread(
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
                let between = file.slice(&(valid.start..used.span.start));
                valid.contains(&used.span.start)
                    && length == count
                    && words(length).iter().all(|word| !assigns(between, word))
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
    let Surroundings { file, tensors, .. } = *around;
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
    let Some(vector) = vector_call(file, call, tensors) else { return Touch::Other };
    if vector.count == "1" && !none {
        return Touch::First;
    }
    let count = squash(vector.count);
    let reads_itself = vector.sources.contains(&used.tensor.as_str());
    if vector.destination != used.tensor || reads_itself || !overwrites_first(vector.name) {
        return Touch::Read(count);
    }
    match block_of(file, &vector.statement) {
        Some(block) => Touch::Overwrite(count, vector.statement.end..block.end),
        None => Touch::First,
    }
}

/// A reduction of a whole tensor in count form.
fn reduces(call: &Call) -> bool {
    matches!(call.name.as_str(), "ReduceSum" | "ReduceMax" | "ReduceMin") && matches!(call.arguments.len(), 4 | 5)
}
