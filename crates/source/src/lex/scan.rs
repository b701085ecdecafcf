//! The one lexer: it tells code from comments, literals and directives, with byte spans. What asks for more puts its pieces together.

use std::ops::Range;

/// What makes a function a kernel's entry.
pub(super) const KERNEL_WORD: &str = "__global__";

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Identifier or keyword.
    Word,
    /// Number with its suffix.
    Number,
    /// One byte of punctuation.
    Punctuation,
    /// String or character literal.
    Literal,
    /// Comment; also what stands around a kernel in a raw literal (see [`super::embedded_kernels`]), which is as little part of the code.
    Comment,
    /// Preprocessor directive with its continuation lines, without the last line end.
    Directive,
    /// Anything else.
    Other,
}

/// A piece of a text; blanks between pieces are not recorded.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Where it stands in the text.
    pub span: Range<usize>,
}

/// Splits a text. Never fails: what it can't understand becomes [`PieceKind::Other`].
pub fn pieces(text: &str) -> Vec<Piece> {
    split(text, true)
}

/// Span of what a raw literal holds, where that is a kernel; `literal` begins at the quote.
fn kernel_in(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let open = text[literal.clone()].find('(')?;
    let closing = open + 1; // `)`, what stands before the parenthesis, and a quote
    let body = literal.start + open + 1..literal.end.checked_sub(closing)?;
    let is_closed = text.get(body.end..literal.end)?.starts_with(')');
    let code = text.get(body.clone())?;
    (is_closed && code.contains(KERNEL_WORD) && code.contains('\n')).then_some(body)
}

/// Splits what stands in a directive: a `#` there begins no other.
pub(super) fn pieces_of_directive(text: &str) -> Vec<Piece> {
    split(text, false)
}

fn split(text: &str, directives: bool) -> Vec<Piece> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut position = 0;
    let mut line_start = true;
    while position < bytes.len() {
        let byte = bytes[position];
        if byte == b'\n' {
            line_start = true;
            position += 1;
            continue;
        }
        if byte.is_ascii_whitespace() {
            position += 1;
            continue;
        }
        let start = position;
        let kind;
        if byte == b'#' && line_start && directives {
            kind = PieceKind::Directive;
            position = directive_end(bytes, position);
        } else if bytes[position..].starts_with(b"//") {
            kind = PieceKind::Comment;
            position = line_comment_end(bytes, position);
        } else if bytes[position..].starts_with(b"/*") {
            kind = PieceKind::Comment;
            position = block_comment_end(bytes, position);
        } else if byte == b'"' || byte == b'\'' {
            kind = PieceKind::Literal;
            position = literal_end(bytes, position, byte);
        } else if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') {
            position = word_end(bytes, position);
            let prefix = &text[start..position];
            kind = match bytes.get(position) {
                Some(b'"') if matches!(prefix, "R" | "LR" | "uR" | "UR" | "u8R") => {
                    let quote = position;
                    position = raw_string_end(bytes, quote);
                    if let Some(body) = kernel_in(text, quote..position) {
                        pieces.push(Piece { kind: PieceKind::Comment, span: start..body.start });
                        let inside = split(&text[body.clone()], true).into_iter();
                        pieces.extend(inside.map(|piece| Piece {
                            kind: piece.kind,
                            span: body.start + piece.span.start..body.start + piece.span.end,
                        }));
                        pieces.push(Piece { kind: PieceKind::Comment, span: body.end..position });
                        line_start = false;
                        continue;
                    }
                    PieceKind::Literal
                }
                Some(quote @ (b'"' | b'\'')) if matches!(prefix, "L" | "u" | "U" | "u8") => {
                    position = literal_end(bytes, position, *quote);
                    PieceKind::Literal
                }
                _ => PieceKind::Word,
            };
        } else if byte.is_ascii_digit() || (byte == b'.' && bytes.get(position + 1).is_some_and(u8::is_ascii_digit)) {
            kind = PieceKind::Number;
            position = number_end(bytes, position);
        } else if byte.is_ascii_punctuation() {
            kind = PieceKind::Punctuation;
            position += 1;
        } else {
            kind = PieceKind::Other;
            position += 1;
            while position < bytes.len() && !bytes[position].is_ascii() {
                position += 1;
            }
        }
        if kind != PieceKind::Comment {
            line_start = false;
        }
        pieces.push(Piece { kind, span: start..position });
    }
    pieces
}

fn word_end(bytes: &[u8], mut position: usize) -> usize {
    while position < bytes.len() && (bytes[position].is_ascii_alphanumeric() || matches!(bytes[position], b'_' | b'$'))
    {
        position += 1;
    }
    position
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let mut position = start;
    // The `e` of a hexadecimal number is one of its digits.
    let is_hex = matches!(bytes.get(start..start + 2), Some(b"0x" | b"0X"));
    while position < bytes.len() {
        let byte = bytes[position];
        let before = bytes[position.saturating_sub(1)];
        let exponent = matches!(before, b'p' | b'P') || matches!(before, b'e' | b'E') && !is_hex;
        let separator = byte == b'\'' && bytes.get(position + 1).is_some_and(u8::is_ascii_alphanumeric);
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'.' | b'_')
            || separator
            || (exponent && matches!(byte, b'+' | b'-'))
        {
            position += 1;
        } else {
            break;
        }
    }
    position
}

/// A comment goes on after a backslash at the end of its line.
fn line_comment_end(bytes: &[u8], mut position: usize) -> usize {
    while position < bytes.len() {
        let before = bytes[..position].strip_suffix(b"\r").unwrap_or(&bytes[..position]);
        if bytes[position] == b'\n' && before.last() != Some(&b'\\') {
            break;
        }
        position += 1;
    }
    position
}

fn block_comment_end(bytes: &[u8], position: usize) -> usize {
    bytes[position + 2..].windows(2).position(|pair| pair == b"*/").map_or(bytes.len(), |found| position + found + 4)
}

fn literal_end(bytes: &[u8], mut position: usize, quote: u8) -> usize {
    position += 1;
    while position < bytes.len() {
        match bytes[position] {
            b'\\' => position += 2,
            b'\n' => return position,
            byte => {
                position += 1;
                if byte == quote {
                    return position;
                }
            }
        }
    }
    bytes.len()
}

fn raw_string_end(bytes: &[u8], quote: usize) -> usize {
    let Some(open) = bytes[quote..].iter().position(|byte| *byte == b'(').map(|found| quote + found) else {
        return literal_end(bytes, quote, b'"');
    };
    let mut end = vec![b')'];
    end.extend_from_slice(&bytes[quote + 1..open]);
    end.push(b'"');
    bytes[open..].windows(end.len()).position(|window| window == end).map_or(bytes.len(), |at| open + at + end.len())
}

fn directive_end(bytes: &[u8], mut position: usize) -> usize {
    while position < bytes.len() {
        if bytes[position..].starts_with(b"/*") {
            position = block_comment_end(bytes, position);
        } else if bytes[position..].starts_with(b"//") {
            // A line comment ends the directive, unless the line goes on after a backslash.
            let end = line_comment_end(bytes, position);
            if bytes[end.saturating_sub(1)] != b'\\' {
                return end;
            }
            position = end + 1;
        } else if bytes[position] == b'\n' {
            let before = bytes[..position].strip_suffix(b"\r").unwrap_or(&bytes[..position]);
            if before.last() != Some(&b'\\') {
                return position;
            }
            position += 1;
        } else {
            position += 1;
        }
    }
    bytes.len().min(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(PieceKind, &str)> {
        pieces(text).into_iter().map(|token| (token.kind, &text[token.span])).collect()
    }

    #[test]
    fn literals_comments_and_directives_are_single_tokens() {
        let text = "#define A(x) \\\n  x + 1\nint b = 1'000; // it's\nauto s = R\"x(a)\" )x\"; /* \" */ char c = '\"';";
        let tokens = kinds(text);
        assert_eq!(tokens[0], (PieceKind::Directive, "#define A(x) \\\n  x + 1"));
        assert!(tokens.contains(&(PieceKind::Number, "1'000")));
        assert!(tokens.contains(&(PieceKind::Comment, "// it's")));
        assert!(tokens.contains(&(PieceKind::Literal, "R\"x(a)\" )x\"")));
        assert!(tokens.contains(&(PieceKind::Comment, "/* \" */")));
        assert!(tokens.contains(&(PieceKind::Literal, "'\"'")));
    }

    #[test]
    fn exponents_belong_to_the_number() {
        assert_eq!(kinds("1.5e-3f-x")[0], (PieceKind::Number, "1.5e-3f"));
    }

    #[test]
    fn unterminated_things_end_with_the_text() {
        for text in ["/* a", "\"a", "R\"(a", "#define x \\", "'\\", "R\"", "#/*"] {
            assert!(pieces(text).iter().all(|token| token.span.end <= text.len()), "{text}");
        }
    }
}
