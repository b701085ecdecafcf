//! A constant of the kernel that is the size of one buffer and what chunks are cut by: another value of it makes room or takes it.

use std::ops::Range;

use crate::analysis::code::{squash, words};
use crate::analysis::machine::BLOCK_BYTES;
use crate::context::Context;
use crate::context::unified_buffer::UNIFIED_BUFFER_BYTES;
use crate::rewrite::edits::edit;
use source::Edit;
use source::facts::{InitBuffer, parse_integer};
use source::lex::{PieceKind, pieces};
use source::parse::SyntaxFile;

/// The edit after which a buffer's size, a named constant, is half as large in whole blocks.
pub(crate) fn halve(context: &Context, init: &InitBuffer) -> Result<Edit, String> {
    change(context, init, |bytes| Some(bytes / 2 / BLOCK_BYTES * BLOCK_BYTES))
}

/// The edit that undoes [`halve`].
pub(crate) fn double(context: &Context, init: &InitBuffer) -> Result<Edit, String> {
    change(context, init, |bytes| Some(bytes * 2).filter(|bytes| *bytes <= UNIFIED_BUFFER_BYTES))
}

fn change(context: &Context, init: &InitBuffer, to: impl Fn(i64) -> Option<i64>) -> Result<Edit, String> {
    let name = init.size.trim();
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') || parse_integer(name).is_some() {
        return Err(format!("the size of {} is no constant", init.target));
    }
    let mut definitions = context.facts.definitions(name);
    let constant = definitions.next().filter(|_| definitions.next().is_none());
    let constant = constant.ok_or_else(|| format!("{name} is not defined at exactly one place"))?;
    let file = context.forest.get(&constant.value.file).ok_or("the constant's file is not parsed")?;
    let bytes = parse_integer(&constant.text).ok_or_else(|| format!("{name} is not defined as a number"))?;
    let bytes = to(bytes).filter(|bytes| *bytes > 0).ok_or_else(|| format!("{name} can't be changed so"))?;
    cuts_chunks(context, init, name, constant.value.start, file)?;
    Ok(edit(file, constant.value.span(), bytes.to_string()))
}

/// Proves that the constant is the size of this buffer, and otherwise only what a number of elements is computed from.
fn cuts_chunks(
    context: &Context,
    init: &InitBuffer,
    name: &str,
    definition: usize,
    defined: &SyntaxFile,
) -> Result<(), String> {
    let mut chunks = 0;
    for file in context.forest.iter().filter(|file| file.text().contains(name)) {
        for token in pieces(file.text()) {
            let text = &file.text()[token.span.clone()];
            let line = file.line(token.span.start);
            if token.kind == PieceKind::Directive && words(text.trim_start_matches('#')).contains(&name) {
                let own = file.name() == defined.name() && token.span.contains(&definition);
                if !own {
                    return Err(format!("{name} is used at {}:{line} too", file.name()));
                }
            }
            if token.kind != PieceKind::Word || text != name {
                continue;
            }
            let place = &init.statement;
            let of_init = file.name() == place.file && place.span().contains(&token.span.start);
            let of_definition = file.name() == defined.name() && line == defined.line(definition);
            if of_chunk(file, &token.span) {
                chunks += 1;
            } else if !of_init && !of_definition {
                return Err(format!("{name} is used at {}:{line} too", file.name()));
            }
        }
    }
    if chunks == 0 { Err(format!("no number of elements follows from {name}")) } else { Ok(()) }
}

/// Whether a mention is all of `elements = NAME / sizeof(T)`.
fn of_chunk(file: &SyntaxFile, mention: &Range<usize>) -> bool {
    let text = file.text();
    let start = text[..mention.start].rfind([';', '{', '}', '\n']).map_or(0, |at| at + 1);
    let end = text[mention.end..].find(';').map_or(text.len(), |at| mention.end + at);
    let (before, behind) = (squash(&text[start..mention.start]), squash(&text[mention.end..end]));
    let assigned =
        before.ends_with('=') && !before.trim_end_matches('=').ends_with(['=', '<', '>', '!', '+', '-', '*']);
    let size = behind.strip_prefix("/sizeof(").and_then(|rest| rest.strip_suffix(')'));
    assigned && size.is_some_and(|size| !size.contains(['(', ')', '+', '*', '/']))
}
