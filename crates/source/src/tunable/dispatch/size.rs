//! How large the first input is, as a tiling function knows it.

use std::ops::Range;

use super::super::lexer::{Kind, Tokens};
use super::super::portion::context_of;
use super::super::share::declares;

/// The number of elements of the first input at a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// A variable that has it.
    Variable(String),
    /// What asks the context for it.
    Asked(String),
}

const SHAPE: &str = "GetInputShape";
const TENSOR: &str = "GetInputTensor";

/// The number of elements of the first input in front of the statement at `statement`, in the function with this body.
pub(super) fn known_size(tokens: &Tokens<'_>, body: &Range<usize>, statement: usize) -> Option<Size> {
    let at_top = |at: &usize| tokens.enclosing(*at) == Some(body.start);
    let variable = (body.start + 1..statement).filter(at_top).find(|&at| {
        let value = declared_value(tokens, at);
        value.is_some_and(|value| is_size(tokens, body, value)) && !changes(tokens, body, at)
    });
    if let Some(at) = variable {
        return Some(Size::Variable(tokens.get(at).to_owned()));
    }
    // Of an input that may be absent nobody asks without looking.
    let asked = (body.clone()).find(|&at| {
        let unconditional = at_top(&at) && tokens.get(tokens.statement_start(at)) != "if";
        unconditional && asks_first(tokens, at)
    })?;
    let context = context_of(tokens, body)?;
    let shape = format!("{context}{SHAPE}(0)->GetStorageShape().GetShapeSize()");
    Some(Size::Asked(if tokens.get(asked) == TENSOR { format!("{context}{TENSOR}(0)->GetShapeSize()") } else { shape }))
}

/// What a variable is declared with, the name of which stands at `at`.
fn declared_value(tokens: &Tokens<'_>, at: usize) -> Option<Range<usize>> {
    if tokens.kind(at) != Some(Kind::Identifier) || tokens.get(at + 1) != "=" || !declares(tokens, at) {
        return None;
    }
    let pointer = tokens.get(at.wrapping_sub(1)) == "*";
    let end = tokens.expression_end(at + 2, false);
    (!pointer).then_some(at + 2..end)
}

fn asks_first(tokens: &Tokens<'_>, at: usize) -> bool {
    matches!(tokens.get(at), SHAPE | TENSOR)
        && tokens.get(at + 1) == "("
        && matches!(tokens.get(at + 2), "0" | "0U")
        && tokens.get(at + 3) == ")"
}

/// Whether an expression is the number of elements of the first input and nothing else.
fn is_size(tokens: &Tokens<'_>, body: &Range<usize>, value: Range<usize>) -> bool {
    let path = without_cast(tokens, value);
    let ends = path.end.checked_sub(3).map(|at| tokens.compact(at..path.end));
    ends.as_deref() == Some("GetShapeSize()") && is_of_first(tokens, body, path)
}

/// Whether a path begins at the first input: by asking the context, or with a variable that was got so.
fn is_of_first(tokens: &Tokens<'_>, body: &Range<usize>, path: Range<usize>) -> bool {
    let marks = ["(", ")", ".", "->", "0", "0U", "*", "&"];
    let plain = path.clone().all(|at| tokens.kind(at) == Some(Kind::Identifier) || marks.contains(&tokens.get(at)));
    if !plain || path.is_empty() {
        return false;
    }
    if path.clone().any(|at| asks_first(tokens, at)) {
        return true;
    }
    let root = path.clone().find(|at| tokens.kind(*at) == Some(Kind::Identifier));
    let Some(root) = root.map(|at| tokens.get(at)) else { return false };
    let declared = (body.start + 1..path.start).find(|&at| {
        tokens.get(at) == root
            && tokens.get(at + 1) == "="
            && (declares(tokens, at) || matches!(tokens.get(at.wrapping_sub(1)), "*" | "&"))
    });
    declared.is_some_and(|at| {
        let value = at + 2..tokens.expression_end(at + 2, false);
        let asked = value.clone().any(|at| asks_first(tokens, at));
        asked
            && value.clone().all(|at| !matches!(tokens.get(at), "?" | "+" | "-" | "/" | "%"))
            && !changes(tokens, body, at)
    })
}

/// An expression without the casts around it.
fn without_cast(tokens: &Tokens<'_>, value: Range<usize>) -> Range<usize> {
    let last = value.end.saturating_sub(1);
    let whole = |open: usize| tokens.get(open) == "(" && tokens.closing(open) == Some(last);
    if tokens.get(value.start) == "static_cast"
        && let Some(close) = tokens.closing_angle(value.start + 1)
        && whole(close + 1)
    {
        return without_cast(tokens, close + 2..last);
    }
    if whole(value.start) {
        return without_cast(tokens, value.start + 1..last);
    }
    let integer = |at: usize| matches!(tokens.get(at), "int64_t" | "uint64_t" | "uint32_t" | "int32_t" | "size_t");
    if integer(value.start) && whole(value.start + 1) {
        return without_cast(tokens, value.start + 2..last);
    }
    if tokens.get(value.start) == "(" && integer(value.start + 1) && tokens.get(value.start + 2) == ")" {
        return without_cast(tokens, value.start + 3..value.end);
    }
    value
}

/// Whether a variable that is declared at `declared` gets another value somewhere in the function.
fn changes(tokens: &Tokens<'_>, body: &Range<usize>, declared: usize) -> bool {
    let name = tokens.get(declared);
    (declared + 1..body.end).filter(|at| tokens.get(*at) == name).any(|at| {
        let (before, after) = (tokens.get(at - 1), tokens.get(at + 1));
        let assigned =
            after == "=" || after.len() > 1 && after.ends_with('=') && !matches!(after, "==" | "!=" | "<=" | ">=");
        // A member of that name is another one; an address may be written to.
        let member = matches!(before, "." | "->");
        let address = before == "&" && matches!(tokens.get(at.wrapping_sub(2)), "(" | "," | "=");
        let stepped = matches!(after, "++" | "--") || matches!(before, "++" | "--");
        !member && (assigned && !declares(tokens, at) || stepped || address)
    })
}
