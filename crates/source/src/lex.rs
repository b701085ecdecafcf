//! Tokens of C++ text: just enough to find launches, entries and macro arguments without being fooled by comments and
//! strings. The syntax tree of the kernel stage is elsewhere; rewriting for the compiler must also work on files that a
//! parser refuses.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Identifier or keyword.
    Identifier,
    /// Number.
    Number,
    /// String or character literal, raw strings included.
    Literal,
    /// `<<<`.
    LaunchOpen,
    /// A run of `>`; its length is the length of the span.
    Angles,
    /// `::`.
    Scope,
    /// Any other single character.
    Punctuation,
}

/// A token with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands in the text.
    pub span: Range<usize>,
}

impl Token {
    /// Text of the token.
    pub fn text<'text>(&self, source: &'text str) -> &'text str {
        &source[self.span.clone()]
    }

    /// Whether the token is exactly this text.
    pub fn is(&self, source: &str, text: &str) -> bool {
        self.text(source) == text
    }
}

/// Splits text into tokens; white space, comments and line continuations are left out.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut result = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        let kind = if byte.is_ascii_whitespace() || byte == b'\\' {
            at += 1;
            continue;
        } else if text[at..].starts_with("//") {
            at = end_of_line_comment(bytes, at);
            continue;
        } else if text[at..].starts_with("/*") {
            at = text[at + 2..].find("*/").map_or(bytes.len(), |length| at + 2 + length + 2);
            continue;
        } else if is_identifier_start(byte) {
            while at < bytes.len() && is_identifier_part(bytes[at]) {
                at += 1;
            }
            match bytes.get(at) {
                Some(b'"') if is_raw_prefix(&text[start..at]) => {
                    at = end_of_raw_string(text, at);
                    TokenKind::Literal
                }
                Some(b'"' | b'\'') if is_literal_prefix(&text[start..at]) => {
                    at = end_of_quoted(bytes, at);
                    TokenKind::Literal
                }
                _ => TokenKind::Identifier,
            }
        } else if byte.is_ascii_digit() {
            at = end_of_number(bytes, at);
            TokenKind::Number
        } else if byte == b'"' || byte == b'\'' {
            at = end_of_quoted(bytes, at);
            TokenKind::Literal
        } else if text[at..].starts_with("<<<") {
            at += 3;
            TokenKind::LaunchOpen
        } else if text[at..].starts_with("->") {
            at += 2;
            TokenKind::Punctuation
        } else if byte == b'>' {
            while bytes.get(at) == Some(&b'>') {
                at += 1;
            }
            TokenKind::Angles
        } else if text[at..].starts_with("::") {
            at += 2;
            TokenKind::Scope
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            TokenKind::Punctuation
        };
        result.push(Token { kind, span: start..at });
    }
    result
}

/// Index of the token that closes the bracket at `open`, counting `()`, `[]` and `{}` alike.
pub fn closing(source: &str, tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text(source) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// How a text includes a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Include {
    /// `"path"`.
    Quoted(String),
    /// `<path>`: from the include folders only.
    Angled(String),
    /// By a macro.
    Macro,
}

impl Include {
    /// The path, where it stands in quotes.
    pub fn quoted(self) -> Option<String> {
        match self {
            Include::Quoted(path) => Some(path),
            Include::Angled(_) | Include::Macro => None,
        }
    }
}

/// All includes of a text.
pub fn includes(text: &str) -> Vec<Include> {
    let all = tokens(text);
    let mut found = Vec::new();
    for (at, window) in all.windows(3).enumerate() {
        if !(window[0].is(text, "#") && window[1].is(text, "include")) {
            continue;
        }
        let name = window[2].text(text);
        if let Some(path) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            found.push(Include::Quoted(path.to_owned()));
        } else if name == "<" {
            let end = all[at + 3..].iter().find(|token| token.is(text, ">"));
            let path = end.and_then(|end| text.get(window[2].span.end..end.span.start));
            found.extend(path.filter(|path| !path.contains('\n')).map(|path| Include::Angled(path.to_owned())));
        } else if window[2].kind == TokenKind::Identifier {
            found.push(Include::Macro);
        }
    }
    found
}

/// Whether a text has a launch outside of comments and strings.
pub fn has_launch(text: &str) -> bool {
    text.contains("<<<") && tokens(text).iter().any(|token| token.kind == TokenKind::LaunchOpen)
}

fn is_identifier_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

fn is_identifier_part(byte: u8) -> bool {
    is_identifier_start(byte) || byte.is_ascii_digit()
}

fn is_raw_prefix(prefix: &str) -> bool {
    matches!(prefix, "R" | "LR" | "uR" | "UR" | "u8R")
}

fn is_literal_prefix(prefix: &str) -> bool {
    matches!(prefix, "L" | "u" | "U" | "u8")
}

fn end_of_line_comment(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        if bytes[at] == b'\n' && (at == 0 || bytes[at - 1] != b'\\') {
            break;
        }
        at += 1;
    }
    at
}

fn end_of_quoted(bytes: &[u8], open: usize) -> usize {
    let quote = bytes[open];
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            // An apostrophe in a disabled branch is no literal: never run over the end of the line.
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    // An escape may stand at the very end; the literal never ends inside a character as quotes are ASCII.
    bytes.len()
}

fn end_of_raw_string(text: &str, quote: usize) -> usize {
    let rest = &text[quote + 1..];
    let Some(open) = rest.find('(') else { return text.len() };
    let terminator = format!("){}\"", &rest[..open]);
    rest[open..].find(&terminator).map_or(text.len(), |end| quote + 1 + open + end + terminator.len())
}

fn end_of_number(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        let byte = bytes[at];
        let exponent_sign = matches!(byte, b'+' | b'-')
            && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P')
            && bytes[at - 1].is_ascii();
        let separator = byte == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit);
        if !(is_identifier_part(byte) || byte == b'.' || exponent_sign || separator) {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_hide_what_they_hold() {
        let text = "a /* <<< */ \"<<<\" // <<<\nR\"x(<<<)x\" '<' b<<<1>>>(c)";
        let found: Vec<&str> = tokens(text).iter().map(|token| token.text(text)).collect();
        assert_eq!(found, ["a", "\"<<<\"", "R\"x(<<<)x\"", "'<'", "b", "<<<", "1", ">>>", "(", "c", ")"]);
    }

    #[test]
    fn numbers_keep_signs_and_separators() {
        let text = "1e-3f+0x1p+2 1'000u";
        let found: Vec<&str> = tokens(text).iter().map(|token| token.text(text)).collect();
        assert_eq!(found, ["1e-3f", "+", "0x1p+2", "1'000u"]);
    }

    #[test]
    fn includes_are_found_and_comments_are_not() {
        let text = "#include \"a.h\"\n// #include \"b.h\"\n#  include <c.h>\n#include MACRO\n";
        let quoted = Include::Quoted("a.h".to_owned());
        assert_eq!(includes(text), [quoted, Include::Angled("c.h".to_owned()), Include::Macro]);
    }
}
