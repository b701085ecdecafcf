//! Queues and buffers of a class declared as something else.

use crate::context::Context;
use crate::rewrite::edits::edit;
use source::Edit;
use source::facts::{FileSpan, InitBuffer};
use source::parse::SyntaxFile;

/// The initialisation without its number of buffers.
pub(crate) fn unnumbered(context: &Context, init: &InitBuffer) -> Result<Edit, String> {
    let number = init.number.as_ref().ok_or("no number of buffers")?;
    let file = context.forest.get(&number.file).ok_or("the initialisation is not parsed")?;
    let rest = &file.text()[number.end..];
    let comma = rest.len() - rest.trim_start_matches([',', ' ']).len();
    Ok(edit(file, number.start..number.end + comma, ""))
}

/// The initialisation of a buffer with the number of buffers of a queue, one.
pub(crate) fn numbered(context: &Context, init: &InitBuffer) -> Result<Edit, String> {
    let file = context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
    let call = file.calls().iter().find(|call| call.statement.as_ref() == Some(&init.statement.span()));
    let size = call.and_then(|call| call.arguments.get(1)).ok_or("the initialisation is not understood")?;
    Ok(edit(file, size.start..size.start, "1, "))
}

/// The declaration with another type: `made` gets the scope before the kind of member and that of the position.
pub(crate) fn retyped(
    file: &SyntaxFile,
    declaration: &FileSpan,
    name: &str,
    made: impl Fn(&str, &str) -> String,
) -> Result<Edit, String> {
    let text = file.slice(&declaration.span());
    let unclear = || format!("{name} is not declared alone");
    let end = text.rfind('>').ok_or_else(unclear)? + 1;
    let start = ["TQueBind<", "TQue<", "TBuf<"].iter().find_map(|kind| text.find(kind)).ok_or_else(unclear)?;
    let open = start + text[start..].find('<').ok_or_else(unclear)?;
    let scope = &text[..start];
    if text[end..].trim().trim_end_matches(';').trim() != name || !matches!(scope, "" | "AscendC::") {
        return Err(unclear());
    }
    let position = text[open + 1..end - 1].split(',').next().unwrap_or_default().trim();
    // `TBuf<>` has a position by default.
    let of_default = format!("{scope}TPosition");
    let position = match position.rsplit_once("::") {
        Some((of, _)) => of,
        None if position.is_empty() => &of_default,
        None => return Err(unclear()),
    };
    Ok(edit(file, declaration.start..declaration.start + end, made(scope, position)))
}
