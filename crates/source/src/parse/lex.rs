//! A lexer just good enough to tell code from comments, literals and directives, with byte spans.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Identifier or keyword.
    Word,
    /// Number with its suffix.
    Number,
    /// One byte of punctuation.
    Punctuation,
    /// String or character literal.
    Literal,
    /// Comment.
    Comment,
    /// Preprocessor directive with its continuation lines, without the last line end.
    Directive,
    /// Anything else.
    Other,
}

/// A token; blanks between tokens are not recorded.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Range<usize>,
}

/// Splits the text into tokens. Never fails: what it can't understand becomes [`TokenKind::Other`].
pub fn lex(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
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
        if byte == b'#' && line_start {
            kind = TokenKind::Directive;
            position = directive_end(bytes, position);
        } else if bytes[position..].starts_with(b"//") {
            kind = TokenKind::Comment;
            position = line_comment_end(bytes, position);
        } else if bytes[position..].starts_with(b"/*") {
            kind = TokenKind::Comment;
            position = block_comment_end(bytes, position);
        } else if byte == b'"' || byte == b'\'' {
            kind = TokenKind::Literal;
            position = literal_end(bytes, position, byte);
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            position = word_end(bytes, position);
            if bytes.get(position) == Some(&b'"') && text[start..position].ends_with('R') {
                kind = TokenKind::Literal;
                position = raw_string_end(bytes, position);
            } else {
                kind = TokenKind::Word;
            }
        } else if byte.is_ascii_digit() || (byte == b'.' && bytes.get(position + 1).is_some_and(u8::is_ascii_digit)) {
            kind = TokenKind::Number;
            position = number_end(bytes, position);
        } else if byte.is_ascii_punctuation() {
            kind = TokenKind::Punctuation;
            position += 1;
        } else {
            kind = TokenKind::Other;
            position += 1;
            while position < bytes.len() && !bytes[position].is_ascii() {
                position += 1;
            }
        }
        if kind != TokenKind::Comment {
            line_start = false;
        }
        tokens.push(Token { kind, span: start..position });
    }
    tokens
}

fn word_end(bytes: &[u8], mut position: usize) -> usize {
    while position < bytes.len() && (bytes[position].is_ascii_alphanumeric() || bytes[position] == b'_') {
        position += 1;
    }
    position
}

fn number_end(bytes: &[u8], mut position: usize) -> usize {
    while position < bytes.len() {
        let byte = bytes[position];
        let exponent = matches!(bytes[position.saturating_sub(1)], b'e' | b'E' | b'p' | b'P');
        let separator = byte == b'\'' && bytes.get(position + 1).is_some_and(u8::is_ascii_alphanumeric);
        if byte.is_ascii_alphanumeric() || byte == b'.' || separator || (exponent && matches!(byte, b'+' | b'-')) {
            position += 1;
        } else {
            break;
        }
    }
    position
}

fn line_comment_end(bytes: &[u8], mut position: usize) -> usize {
    while position < bytes.len() && bytes[position] != b'\n' {
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

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        lex(text).into_iter().map(|token| (token.kind, &text[token.span])).collect()
    }

    #[test]
    fn literals_comments_and_directives_are_single_tokens() {
        let text = "#define A(x) \\\n  x + 1\nint b = 1'000; // it's\nauto s = R\"x(a)\" )x\"; /* \" */ char c = '\"';";
        let tokens = kinds(text);
        assert_eq!(tokens[0], (TokenKind::Directive, "#define A(x) \\\n  x + 1"));
        assert!(tokens.contains(&(TokenKind::Number, "1'000")));
        assert!(tokens.contains(&(TokenKind::Comment, "// it's")));
        assert!(tokens.contains(&(TokenKind::Literal, "R\"x(a)\" )x\"")));
        assert!(tokens.contains(&(TokenKind::Comment, "/* \" */")));
        assert!(tokens.contains(&(TokenKind::Literal, "'\"'")));
    }

    #[test]
    fn exponents_belong_to_the_number() {
        assert_eq!(kinds("1.5e-3f-x")[0], (TokenKind::Number, "1.5e-3f"));
    }

    #[test]
    fn unterminated_things_end_with_the_text() {
        for text in ["/* a", "\"a", "R\"(a", "#define x \\", "'\\", "R\"", "#/*"] {
            assert!(lex(text).iter().all(|token| token.span.end <= text.len()), "{text}");
        }
    }
}
