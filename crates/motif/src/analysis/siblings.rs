//! Statements of one block in order, and what may be moved past them.

use std::ops::Range;

use crate::analysis::code::block_of;
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::{Kernel, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, SyntaxFile};

/// Statements that stand directly in the block around a statement, comments left out.
pub(crate) fn siblings(file: &SyntaxFile, statement: &Range<usize>) -> Vec<Range<usize>> {
    let Some(block) = block_of(file, statement) else { return Vec::new() };
    let Some(mut node) = file.node_at(&block) else { return Vec::new() };
    while node.kind() != "compound_statement" {
        let Some(parent) = node.parent() else { return Vec::new() };
        node = parent;
    }
    let mut cursor = node.walk();
    let children = node.named_children(&mut cursor).filter(|child| child.kind() != "comment");
    children.map(|child| child.byte_range()).collect()
}

/// Proves that taking or giving back a buffer of `queue` may be moved over the text: straight-line work on other
/// tensors, no other use of the queue.
pub(crate) fn movable_over(
    file: &SyntaxFile,
    kernel: &Kernel,
    span: &Range<usize>,
    queue: &str,
    owned: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let text = file.slice(span);
    for token in pieces(text) {
        let word = &text[token.span.clone()];
        let leaves = matches!(word, "return" | "break" | "continue" | "goto");
        if token.kind == PieceKind::Directive || (token.kind == PieceKind::Word && leaves) {
            return Err(format!("{} stands in between", word.lines().next().unwrap_or_default()));
        }
    }
    for call in file.calls_in(span.clone()) {
        if call.object.as_deref().map(base_name) == Some(queue) {
            return Err(format!("{queue} is used at line {} in between", file.line(call.span.start)));
        }
        if !understood(call, kernel, owned) {
            return Err(format!("{} at line {} is not analysed", call.name, file.line(call.span.start)));
        }
    }
    Ok(())
}

/// Whether a call does nothing but work on the tensors that it names.
fn understood(call: &Call, kernel: &Kernel, owned: &dyn Fn(&str) -> bool) -> bool {
    let Some(object) = &call.object else {
        return argument_access(&call.name, 0) != Access::Escape
            || matches!(call.name.as_str(), "static_cast" | "half" | "float" | "GetBlockIdx" | "PipeBarrier");
    };
    let object = base_name(object);
    let queue = matches!(call.name.as_str(), "EnQue" | "DeQue" | "AllocTensor" | "FreeTensor");
    let tensor = matches!(call.name.as_str(), "GetValue" | "SetValue" | "GetSize");
    (queue && kernel.queues.contains_key(object))
        || (call.name == "Get" && kernel.buffers.contains_key(object))
        || (tensor && (owned(object) || kernel.globals.contains_key(object)))
}

/// Whether the text holds work that a wait could overlap with: a vector instruction, a copy, or an access of an element.
pub(crate) fn works(file: &SyntaxFile, span: &Range<usize>) -> bool {
    file.calls_in(span.clone()).any(|call| match call.object {
        None => is_copy(&call.name) || argument_access(&call.name, 0) != Access::Escape,
        Some(_) => matches!(call.name.as_str(), "GetValue" | "SetValue"),
    })
}
