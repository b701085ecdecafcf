//! Where a tiling function asks the platform how large the unified buffer is.

use std::ops::Range;

use space::Value;

use super::lexer::Tokens;
use super::statement::{limit_statement, line_around};
use super::{Site, SiteForm};
use crate::constant::integer;

/// A size of the unified buffer that a tiling function asks of the platform.
pub struct AskedSize {
    /// Last name of the variable that takes the answer.
    pub name: String,
    /// Behind the call.
    pub site: Site,
}

/// The method of the platform that tells the size of a memory.
pub const ASKING: &str = "GetCoreMemSize";

/// The call `..GetCoreMemSize(..UB, variable);` at `position`, where a statement may follow it.
pub fn asked_size(file: &str, tokens: &Tokens<'_>, position: usize) -> Option<AskedSize> {
    if tokens.get(position) != ASKING || tokens.get(position + 1) != "(" {
        return None;
    }
    let [memory, variable] = <[Range<usize>; 2]>::try_from(tokens.arguments(position + 1)?).ok()?;
    let semicolon = tokens.closing(position + 1)? + 1;
    // What depends on a condition without braces has room for one statement only.
    let first = tokens.get(tokens.statement_start(position));
    let conditional = matches!(first, "if" | "else" | "for" | "while" | "do" | "return" | "case" | "default");
    if tokens.get(memory.end.checked_sub(1)?) != "UB" || tokens.get(semicolon) != ";" || conditional {
        return None;
    }
    let name = tokens.get(variable.end.checked_sub(1)?).to_owned();
    let assigned = tokens.compact(variable.clone());
    let limited = (semicolon + 1..tokens.tokens.len().min(semicolon + 64)).find(|at| tokens.get(*at) == ";");
    let limit = limited.and_then(|end| {
        let statement = tokens.compact(semicolon + 1..end);
        let bytes = integer(statement.strip_prefix(&format!("{assigned}={assigned}<"))?.split('?').next()?)?;
        let written = limit_statement(&assigned, bytes).replace(' ', "");
        (written.strip_suffix(';') == Some(statement.as_str())).then_some((end, bytes))
    });
    let start = tokens.span(semicolon..semicolon + 1).end;
    let end = limit.map_or(start, |(end, _)| tokens.span(end..end + 1).end);
    let value = limit.map(|(_, bytes)| Value::Int(bytes));
    let line = line_around(tokens.text, tokens.tokens[tokens.statement_start(position)].span.start);
    let form = SiteForm::Asked { variable: tokens.text[tokens.span(variable)].to_owned(), line };
    Some(AskedSize { name, site: Site::of(file, tokens.text, start..end, value, form) })
}
