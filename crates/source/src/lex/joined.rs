//! Pieces of C++ text as tokens: just enough to find launches, entries and macro arguments without being fooled by comments and
//! strings. The syntax tree of the kernel stage is elsewhere; rewriting for the compiler must also work on files that a
//! parser refuses.

use std::ops::Range;

use super::scan::{Piece, PieceKind, pieces, pieces_of_directive};

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

/// Splits text into tokens; white space, comments and line continuations are left out, and directives are taken apart.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut result = Vec::new();
    add(text, 0, &pieces(text), &mut result);
    result
}

/// Adds the tokens of a part of a text that begins at `from`.
fn add(text: &str, from: usize, pieces: &[Piece], result: &mut Vec<Token>) {
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let span = from + piece.span.start..from + piece.span.end;
        at += 1;
        let kind = match piece.kind {
            PieceKind::Comment => continue,
            PieceKind::Word => TokenKind::Identifier,
            PieceKind::Number => TokenKind::Number,
            PieceKind::Literal => TokenKind::Literal,
            PieceKind::Directive => {
                result.push(Token { kind: TokenKind::Punctuation, span: span.start..span.start + 1 });
                let inside = span.start + 1..span.end;
                add(text, inside.start, &pieces_of_directive(&text[inside.clone()]), result);
                continue;
            }
            PieceKind::Other => {
                let letters = text[span.clone()].char_indices();
                result.extend(letters.map(|(place, letter)| {
                    let start = span.start + place;
                    Token { kind: TokenKind::Punctuation, span: start..start + letter.len_utf8() }
                }));
                continue;
            }
            PieceKind::Punctuation => {
                let (kind, length) = mark(&text[span.start..], &pieces[at - 1..]);
                at += length - 1;
                if text[span.clone()] != *"\\" {
                    result.push(Token { kind, span: span.start..span.start + length });
                }
                continue;
            }
        };
        result.push(Token { kind, span });
    }
}

/// What punctuation stands at the start of a text, and how many bytes of it.
fn mark(text: &str, pieces: &[Piece]) -> (TokenKind, usize) {
    let is = |mark: &str| text.starts_with(mark) && touching(pieces, mark.len()) == mark.len();
    match () {
        () if is("<<<") => (TokenKind::LaunchOpen, 3),
        () if is("->") => (TokenKind::Punctuation, 2),
        () if is("::") => (TokenKind::Scope, 2),
        () if is(">") => (TokenKind::Angles, text.bytes().take_while(|byte| *byte == b'>').count()),
        () => (TokenKind::Punctuation, 1),
    }
}

/// How many of the first pieces, at most so many, are punctuation without anything between.
pub(crate) fn touching(pieces: &[Piece], most: usize) -> usize {
    let pairs = pieces.windows(2).take(most - 1);
    1 + pairs
        .take_while(|pair| pair[1].kind == PieceKind::Punctuation && pair[0].span.end == pair[1].span.start)
        .count()
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

/// Whether a text has a kernel compiled while the program runs (`aclrtcCompileProg`).
pub fn compiles_at_run_time(text: &str) -> bool {
    const CALL: &str = "aclrtcCompileProg";
    text.contains(CALL) && tokens(text).windows(2).any(|pair| pair[0].is(text, CALL) && pair[1].is(text, "("))
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
    fn long_runs_of_one_letter_take_no_time() {
        let started = std::time::Instant::now();
        for letter in ["#", "\\\n#", ";", ">", "<", ":", "-", "é", "$", "\""] {
            let text = letter.repeat(200_000);
            tokens(&text);
            tokens(&format!("#define A {text}"));
            crate::tunable::lexer::Tokens::of(&text);
        }
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
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
