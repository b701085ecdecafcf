//! Statements as they are written into a source: on what line, with what limit, and of what expression.

use super::lexer::Tokens;

/// Line break and indentation of the line that `offset` is in.
pub(super) fn line_around(text: &str, offset: usize) -> String {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let indent: String = text[start..].chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect();
    let newline = if text[..start].ends_with("\r\n") { "\r\n" } else { "\n" };
    format!("{newline}{indent}")
}

/// Why a plan takes less memory than the platform says, for the maintainer who meets the limit.
const WHY_LIMITED: &str = "// Plans with less than there is: shorter tiles, and room for more buffers.";

/// What stands behind the call that asks for a size, on lines of its own: a limit to so many bytes with its reason; nothing for no
/// limit. `line` is the line break and the indentation of the call.
pub fn limit_asked(variable: &str, line: &str, bytes: i64) -> String {
    if bytes <= 0 {
        return String::new();
    }
    format!("{line}{WHY_LIMITED}{line}{}", limit_statement(variable, bytes))
}

/// The statement that limits a variable.
pub(super) fn limit_statement(variable: &str, bytes: i64) -> String {
    format!("{variable} = {variable} < {bytes} ? {variable} : {bytes};")
}

/// Whether evaluating twice could differ from evaluating once: increments and assignments.
pub(super) fn has_side_effects(expression: &str) -> bool {
    let tokens = Tokens::of(expression);
    (0..tokens.tokens.len()).any(|position| {
        let word = tokens.get(position);
        matches!(word, "++" | "--" | "=")
            || (word.len() >= 2 && word.ends_with('=') && !matches!(word, "==" | "!=" | "<=" | ">="))
    })
}
