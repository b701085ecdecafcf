//! Text of a round: statements with their lines, and the part of a tensor that belongs to a row.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::round_list::List;
use crate::analysis::round_names::ROW;
use source::lex::{PieceKind, pieces};
use source::parse::SyntaxFile;

/// Whether a name at a byte is a field of something else.
pub(crate) fn is_field(file: &SyntaxFile, byte: usize) -> bool {
    let before = file.text()[..byte].trim_end();
    before.ends_with('.') || before.ends_with("->") || before.ends_with("::")
}

pub(crate) fn line_start(file: &SyntaxFile, byte: usize) -> usize {
    file.text()[..byte].rfind('\n').map_or(0, |end| end + 1)
}

pub(crate) fn line_end(file: &SyntaxFile, byte: usize) -> usize {
    file.text()[byte..].find('\n').map_or(file.text().len(), |end| byte + end + 1)
}

/// The lines between the braces of a block.
pub(crate) fn block_lines(file: &SyntaxFile, block: &Range<usize>) -> Result<Range<usize>, String> {
    let (start, end) = (line_end(file, block.start), line_start(file, block.end - 1));
    let braces_alone =
        file.slice(&(block.start + 1..start)).trim().is_empty() && file.slice(&(end..block.end - 1)).trim().is_empty();
    if start <= end && braces_alone { Ok(start..end) } else { Err("a block shares its lines".to_owned()) }
}

/// The lines of each statement, with the comments and blank lines before it.
pub(crate) fn chunks(
    file: &SyntaxFile,
    statements: &[Range<usize>],
    lines: &Range<usize>,
) -> Result<Vec<Range<usize>>, String> {
    let mut chunks = Vec::new();
    let mut from = lines.start;
    for statement in statements {
        let (start, end) = (line_start(file, statement.start), line_end(file, statement.end));
        let behind = file.slice(&(statement.end..end)).trim();
        let alone =
            file.slice(&(start..statement.start)).trim().is_empty() && (behind.is_empty() || behind.starts_with("//"));
        if !alone || start < from {
            return Err(format!("line {}: a statement shares its line", file.line(statement.start)));
        }
        chunks.push(from..end);
        from = end;
    }
    Ok(chunks)
}

pub(crate) fn first_indentation(file: &SyntaxFile, list: &List<'_>) -> String {
    list.statements.first().map(|first| file.indentation(first.start).to_owned()).unwrap_or_default()
}

/// Statements of a row with the row's part of every tensor of a queue.
pub(crate) fn sliced(
    list: &List<'_>,
    span: &Range<usize>,
    pitches: &BTreeMap<String, String>,
) -> Result<String, String> {
    let file = list.file;
    let text = file.slice(span);
    let tokens: Vec<(PieceKind, Range<usize>)> = pieces(text)
        .into_iter()
        .filter(|token| token.kind != PieceKind::Comment)
        .map(|token| (token.kind, token.span))
        .collect();
    let word = |index: usize| tokens.get(index).map_or("", |(_, span)| &text[span.clone()]);
    let (mut out, mut done) = (String::new(), 0);
    for index in 0..tokens.len() {
        let name = word(index);
        let Some(pitch) = pitches.get(name).filter(|_| tokens[index].0 == PieceKind::Word) else { continue };
        if index > 0 && (word(index - 1) == "." || (index > 1 && word(index - 1) == ">" && word(index - 2) == "-")) {
            continue;
        }
        let line = file.line(span.start + tokens[index].1.start);
        let row = format!("{ROW} * {pitch}");
        let end = tokens[index].1.end;
        // An index starts behind its bracket, an element's number behind its parenthesis.
        let offset_at = |open: usize| -> Result<(usize, bool), String> {
            let (mut depth, mut weak) = (1, false);
            for at in open + 1..tokens.len() {
                match word(at) {
                    "(" | "[" => depth += 1,
                    ")" | "]" => depth -= 1,
                    "?" | "<" | ">" | "&" | "|" | "^" | "=" if word(at - 1) != "-" && word(at - 1) != "static_cast" => {
                        weak |= depth == 1 && word(at) != ">" && word(at) != "<";
                    }
                    "," if depth == 1 => return Ok((open, weak)),
                    _ => {}
                }
                if depth == 0 {
                    return Ok((open, weak));
                }
            }
            Err(format!("line {line}: the use of {name} is not understood"))
        };
        let open = match word(index + 1) {
            "[" => Some(index + 1),
            "." => match word(index + 2) {
                "GetValue" | "SetValue" if word(index + 3) == "(" => Some(index + 3),
                "ReinterpretCast" => None,
                "template" if word(index + 3) == "ReinterpretCast" => None,
                method => return Err(format!("line {line}: {method} of {name} is not understood")),
            },
            "=" if word(index + 2) != "=" => return Err(format!("line {line}: {name} is assigned")),
            _ if index > 0 && word(index - 1) == "&" => return Err(format!("line {line}: the address of {name}")),
            _ => None,
        };
        match open {
            Some(open) => {
                let (open, weak) = offset_at(open)?;
                if weak {
                    return Err(format!("line {line}: an index of {name} is not a sum"));
                }
                let at = tokens[open].1.end;
                out.push_str(&text[done..at]);
                if word(open + 1) == "0" && matches!(word(open + 2), "]" | ")" | ",") {
                    out.push_str(&row);
                    done = tokens[open + 1].1.end;
                } else {
                    out.push_str(&format!("{row} + "));
                    done = at;
                }
            }
            None => {
                out.push_str(&text[done..end]);
                out.push_str(&format!("[{row}]"));
                done = end;
            }
        }
    }
    out.push_str(&text[done..]);
    Ok(out)
}
