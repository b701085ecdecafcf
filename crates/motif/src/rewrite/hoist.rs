//! Statements moved before a loop and back to the start of its body.

use std::ops::Range;

use crate::analysis::code::block_of;
use crate::rewrite::edits::edit;
use source::Edit;
use source::parse::{Loop, SyntaxFile};

/// Start of the loop's first line, where lines can be put before it.
pub(crate) fn before_loop(file: &SyntaxFile, repetition: &Loop) -> Result<usize, String> {
    block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
    let start = repetition.span.start;
    let line = file.text()[..start].rfind('\n').map_or(0, |end| end + 1);
    if file.text()[line..start].trim().is_empty() { Ok(line) } else { Err("the loop shares its line".to_owned()) }
}

/// Moves a statement of the body before the loop.
pub(crate) fn hoisted(file: &SyntaxFile, repetition: &Loop, statement: &Range<usize>) -> Result<Vec<Edit>, String> {
    let whole = file.whole_lines(statement).ok_or("the statement shares its line")?;
    let before = before_loop(file, repetition)?;
    let line = format!("{}{}\n", file.indentation(repetition.span.start), file.slice(statement));
    Ok(vec![edit(file, before..before, line), edit(file, whole, "")])
}

/// Moves a statement before the loop to the start of its body.
pub(crate) fn sunk(file: &SyntaxFile, repetition: &Loop, statement: &Range<usize>) -> Result<Vec<Edit>, String> {
    let body = file.slice(&repetition.body);
    let rest = body.strip_prefix("{\n").ok_or("the loop's body does not start on a line of its own")?;
    let whole = file.whole_lines(statement).ok_or("the statement shares its line")?;
    let inside = repetition.body.start + 2;
    let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    let line = format!("{indentation}{}\n", file.slice(statement));
    Ok(vec![edit(file, whole, ""), edit(file, inside..inside, line)])
}
