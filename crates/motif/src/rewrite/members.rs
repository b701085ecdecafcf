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

/// The declaration with another type: `made` gets the scope before `TQue` or `TBuf` and that of the position.
pub(crate) fn retyped(
    file: &SyntaxFile,
    declaration: &FileSpan,
    name: &str,
    made: impl Fn(&str, &str) -> String,
) -> Result<Edit, String> {
    let text = file.slice(&declaration.span());
    let unclear = || format!("{name} is not declared alone");
    let end = text.rfind('>').ok_or_else(unclear)? + 1;
    let start = text.find("TQue<").or_else(|| text.find("TBuf<")).ok_or_else(unclear)?;
    let scope = &text[..start];
    if text[end..].trim().trim_end_matches(';').trim() != name || !matches!(scope, "" | "AscendC::") {
        return Err(unclear());
    }
    let position = text[start + 5..end - 1].split(',').next().unwrap_or_default().trim();
    let position = position.rsplit_once("::").ok_or_else(unclear)?.0;
    Ok(edit(file, declaration.start..declaration.start + end, made(scope, position)))
}
