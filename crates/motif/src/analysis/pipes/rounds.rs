//! Whether every round writes the same parts of a tensor: one that keeps something of an earlier round needs the same buffer again.

use std::ops::Range;

use super::operands::{Frame, Memory};
use super::order::Logged;
use crate::analysis::code::squash;
use source::parse::{Call, SyntaxFile};

/// Proves that no condition in a round decides whether the queue's tensor is written, but for what is changed in place.
pub(crate) fn written_alike(log: &[Logged<'_>], queue: &str, taken: &[(&SyntaxFile, &Call)]) -> Result<(), String> {
    let of_queue = |logged: &&Logged<'_>| logged.touch.memory == Memory::Local(queue.to_owned());
    let writes: Vec<&Logged<'_>> =
        log.iter().filter(of_queue).filter(|logged| logged.touch.writes && !in_place(logged)).collect();
    let all: Vec<&Frame<'_>> = writes.iter().flat_map(|logged| &logged.chain).collect();
    for logged in &writes {
        for (file, call) in &logged.chain {
            same_on_all_paths(file, call, &all, taken)?;
        }
    }
    Ok(())
}

/// Whether a call changes a part of a tensor into something made of that part: it starts nothing that was not there.
fn in_place(logged: &Logged<'_>) -> bool {
    let Some((file, call)) = logged.chain.last() else { return false };
    let text = |index: usize| file.argument(call, index).map(squash);
    call.object.is_none() && text(0).is_some() && (1..call.arguments.len()).any(|index| text(index) == text(0))
}

/// Climbs from a call to where the tensor is taken, or to the end of the function.
fn same_on_all_paths(
    file: &SyntaxFile,
    call: &Call,
    writes: &[&Frame<'_>],
    taken: &[(&SyntaxFile, &Call)],
) -> Result<(), String> {
    let line = file.line(call.span.start);
    let starts_turn = |span: &Range<usize>| {
        taken.iter().any(|(of, alloc)| of.name() == file.name() && span.contains(&alloc.span.start))
    };
    let some_write = |span: &Range<usize>| {
        writes.iter().any(|(of, write)| of.name() == file.name() && span.contains(&write.span.start))
    };
    let Some(mut node) = file.node_at(&call.span) else { return Ok(()) };
    while let Some(parent) = node.parent() {
        if parent.kind() == "function_definition" || starts_turn(&parent.byte_range()) {
            return Ok(());
        }
        match parent.kind() {
            "if_statement" if !file.slice(&parent.byte_range()).trim_start().starts_with("if constexpr") => {
                let field = |name: &str| parent.child_by_field_name(name).map(|node| node.byte_range());
                let arms = [field("consequence"), field("alternative")];
                let inside = arms.iter().flatten().any(|arm| arm.contains(&call.span.start));
                if inside && !arms.iter().all(|arm| arm.as_ref().is_some_and(&some_write)) {
                    return Err(format!("line {line}: only some rounds write this part"));
                }
            }
            "conditional_expression" | "switch_statement" => {
                return Err(format!("line {line}: only some rounds write this part"));
            }
            _ => {}
        }
        node = parent;
    }
    Ok(())
}
