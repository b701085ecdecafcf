//! Tokens of C++ text with their bytes, enough to find constants, calls and assignments.
//!
//! A flat token list is used here instead of the syntax tree on purpose: it also sees macro bodies, files that the
//! grammar cannot parse, and branches that the pre-pass blanks, and a tunable must be found wherever it stands.

use std::ops::Range;

use crate::condition::inactive_lines;
use crate::lex::{Piece, PieceKind, embedded_kernels, pieces, touching};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Identifier,
    Number,
    /// String or character literal.
    Text,
    /// Operator or bracket; `::`, `->`, `==` and the like are one token, `<` and `>` always stand alone.
    Mark,
}

/// A token of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// `#define NAME body` without parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    pub name: String,
    /// Bytes of the body, without comments and blanks at its ends; empty for a bare definition.
    pub body: Range<usize>,
}

/// A file cut into tokens. Preprocessor lines give no tokens; object-like definitions are kept apart.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    pub defines: Vec<Define>,
}

impl<'a> Tokens<'a> {
    /// Cuts a file, leaving out branches that are not compiled for the target (see [`crate::condition`]).
    pub fn of(text: &'a str) -> Self {
        let mut scan = Self { text, tokens: Vec::new(), defines: Vec::new() };
        let inactive = inactive_lines(text);
        // Statements around kernels in raw literals end nowhere before the kernel's first.
        let around: Vec<Range<usize>> =
            embedded_kernels(text).into_iter().flat_map(|kernel| [kernel.front, kernel.back]).collect();
        let active = |offset: usize| !inactive.iter().chain(&around).any(|range| range.contains(&offset));
        let pieces = pieces(text);
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let joined = match piece.kind {
                PieceKind::Comment => None,
                PieceKind::Directive => {
                    if active(piece.span.start) {
                        scan.defines.extend(define(text, piece.span.start, piece.span.end));
                    }
                    None
                }
                _ => Some(token(text, &pieces[at..])),
            };
            if let Some((kind, count)) = joined {
                let span = piece.span.start..pieces[at + count - 1].span.end;
                if active(span.start) {
                    scan.tokens.push(Token { kind, span });
                }
                at += count;
            } else {
                at += 1;
            }
        }
        scan
    }

    /// Text of a token, or nothing beyond the ends.
    pub fn get(&self, position: usize) -> &'a str {
        self.tokens.get(position).map_or("", |token| &self.text[token.span.clone()])
    }

    /// Kind of a token.
    pub fn kind(&self, position: usize) -> Option<Kind> {
        self.tokens.get(position).map(|token| token.kind)
    }

    /// Bytes from the first to the last token of a range.
    pub fn span(&self, range: Range<usize>) -> Range<usize> {
        match (self.tokens.get(range.start), range.end.checked_sub(1).and_then(|last| self.tokens.get(last))) {
            (Some(first), Some(last)) if range.start < range.end => first.span.start..last.span.end,
            _ => 0..0,
        }
    }

    /// Position of the bracket that closes the one at `open`; `None` where brackets do not match.
    pub fn closing(&self, open: usize) -> Option<usize> {
        let mut awaited = Vec::new();
        for position in open..self.tokens.len() {
            match self.get(position) {
                "(" => awaited.push(")"),
                "[" => awaited.push("]"),
                "{" => awaited.push("}"),
                bracket @ (")" | "]" | "}") => {
                    if awaited.pop() != Some(bracket) {
                        return None;
                    }
                    if awaited.is_empty() {
                        return Some(position);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// If `<` at `open` starts template arguments (names, numbers, `::`, `,`, casts without parentheses), the position of its `>`.
    pub fn closing_angle(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for position in open..self.tokens.len().min(open + 200) {
            match self.get(position) {
                "<" => depth += 1,
                ">" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(position);
                    }
                }
                "::" | "," | "*" | "&" | "-" | "+" | "..." => {}
                _ if matches!(self.kind(position), Some(Kind::Identifier | Kind::Number)) => {}
                _ => return None,
            }
        }
        None
    }

    /// Position after the statement's end: the first `;`, or `,` where `commas`, or closing bracket, at depth zero.
    pub fn expression_end(&self, start: usize, commas: bool) -> usize {
        let mut position = start;
        while position < self.tokens.len() {
            match self.get(position) {
                "(" | "[" | "{" => match self.closing(position) {
                    Some(close) => position = close,
                    None => return self.tokens.len(),
                },
                ")" | "]" | "}" | ";" => return position,
                "," if commas => return position,
                "<" => {
                    position =
                        self.closing_angle(position).filter(|close| self.get(close + 1) == "(").unwrap_or(position)
                }
                _ => {}
            }
            position += 1;
        }
        position
    }

    /// Position of the first token of the statement or declaration that contains `position`.
    pub fn statement_start(&self, position: usize) -> usize {
        let mut start = position;
        while start > 0 {
            match self.get(start - 1) {
                ";" | "{" | "}" => break,
                ":" if matches!(self.get(start.wrapping_sub(2)), "public" | "private" | "protected" | "default") => {
                    break;
                }
                _ => start -= 1,
            }
        }
        start
    }

    /// Arguments of the call whose `(` is at `open`: ranges of token positions.
    pub fn arguments(&self, open: usize) -> Option<Vec<Range<usize>>> {
        let close = self.closing(open)?;
        let mut arguments = Vec::new();
        let mut start = open + 1;
        while start < close {
            let end = self.expression_end(start, true).min(close);
            arguments.push(start..end);
            start = end + 1;
        }
        Some(arguments)
    }

    /// For every token, the token position of the `{` that encloses it.
    pub fn enclosing(&self, position: usize) -> Option<usize> {
        let mut depth = 0usize;
        for before in (0..position).rev() {
            match self.get(before) {
                "}" => depth += 1,
                "{" if depth == 0 => return Some(before),
                "{" => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// The scope that a `{` opens.
    pub fn scope_at(&self, open: usize) -> Scope {
        let start = self.statement_start(open);
        let head: Vec<&str> = (start..open).map(|position| self.get(position)).collect();
        if head.contains(&"namespace") || (head.first() == Some(&"extern") && head.len() == 2) {
            return Scope::Namespace;
        }
        // `template <class T> void f() {` is a function: a class head has no parameter list.
        let called = head.contains(&")");
        if head.contains(&"enum") {
            return Scope::Enumeration;
        }
        if !called && let Some(word) = head.iter().rposition(|word| matches!(*word, "class" | "struct")) {
            let name = head.get(word + 1).copied().unwrap_or_default();
            return Scope::Class(name.to_owned());
        }
        Scope::Function
    }

    /// The innermost scope of a token.
    pub fn scope(&self, position: usize) -> Scope {
        self.enclosing(position).map_or(Scope::Namespace, |open| self.scope_at(open))
    }

    /// Text of a token range without blanks.
    pub fn compact(&self, range: Range<usize>) -> String {
        range.map(|position| self.get(position)).collect()
    }

    /// Text of all tokens without blanks.
    pub fn compact_all(&self) -> String {
        self.compact(0..self.tokens.len())
    }
}

/// Where a declaration stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    Namespace,
    Class(String),
    Enumeration,
    Function,
}

fn define(text: &str, at: usize, end: usize) -> Option<Define> {
    let line = &text[at + 1..end];
    let rest = line.trim_start().strip_prefix("define")?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim_start();
    let length =
        rest.find(|character: char| !character.is_ascii_alphanumeric() && character != '_').unwrap_or(rest.len());
    if length == 0 || rest[length..].starts_with('(') {
        return None;
    }
    let body_start = end - rest.len() + length;
    let mut body = &text[body_start..end];
    if let Some(comment) = body.find("//").into_iter().chain(body.find("/*")).min() {
        body = &body[..comment];
    }
    let start = body_start + (body.len() - body.trim_start().len());
    let stop = body_start + body.trim_end().len();
    Some(Define { name: rest[..length].to_owned(), body: start..stop.max(start) })
}

/// Kind of the token that begins with the first of these pieces, and how many of them it has.
fn token(text: &str, pieces: &[Piece]) -> (Kind, usize) {
    const LONG_MARKS: [&str; 21] = [
        "...", "<<=", "::", "->", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=",
        "|=", "^=", "<<",
    ];
    let first = &pieces[0].span;
    match pieces[0].kind {
        PieceKind::Number => (Kind::Number, 1),
        PieceKind::Literal => (Kind::Text, 1),
        // Letters beyond ASCII are letters of a name.
        PieceKind::Word | PieceKind::Other if !text.as_bytes()[first.start].is_ascii_control() => {
            let is_name = |piece: &Piece| {
                let ascii = text.as_bytes()[piece.span.start].is_ascii();
                piece.kind == PieceKind::Word
                    || piece.kind == PieceKind::Other && !ascii
                    || piece.kind == PieceKind::Number
                        && text[piece.span.clone()].bytes().all(|byte| byte.is_ascii_alphanumeric())
            };
            let rest = pieces.windows(2).take_while(|pair| is_name(&pair[1]) && pair[0].span.end == pair[1].span.start);
            (Kind::Identifier, 1 + rest.count())
        }
        _ => {
            let fits =
                |mark: &&&str| text[first.start..].starts_with(**mark) && touching(pieces, mark.len()) == mark.len();
            (Kind::Mark, LONG_MARKS.iter().find(fits).map_or(1, |mark| mark.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_definitions() {
        let text = "#define A 16 // note\n#define F(x) (x)\n#define B \\\n  (8 * 2)\nconst float x = 1.5e-3f; /* { */ s = \"a;\\\"b\";";
        let tokens = Tokens::of(text);
        let words: Vec<&str> = (0..tokens.tokens.len()).map(|position| tokens.get(position)).collect();
        assert_eq!(words, ["const", "float", "x", "=", "1.5e-3f", ";", "s", "=", "\"a;\\\"b\"", ";"]);
        let bodies: Vec<(&str, &str)> =
            tokens.defines.iter().map(|define| (define.name.as_str(), &text[define.body.clone()])).collect();
        assert_eq!(bodies[0], ("A", "16"));
        assert_eq!(bodies.len(), 2);
        assert!(bodies[1].1.ends_with("(8 * 2)"));
    }

    #[test]
    fn scopes_and_arguments() {
        let tokens = Tokens::of(
            "namespace a { class K : public B { static constexpr int N = 1; void f() { g(h<1, 2>(3), {4, 5}); } }; }",
        );
        let at = |word: &str| (0..tokens.tokens.len()).find(|position| tokens.get(*position) == word).expect("there");
        assert_eq!(tokens.scope(at("class")), Scope::Namespace);
        assert_eq!(tokens.scope(at("N")), Scope::Class("K".to_owned()));
        assert_eq!(tokens.scope(at("g")), Scope::Function);
        let arguments = tokens.arguments(at("g") + 1).expect("closed");
        let texts: Vec<String> = arguments.into_iter().map(|argument| tokens.compact(argument)).collect();
        assert_eq!(texts, ["h<1,2>(3)", "{4,5}"]);
    }

    #[test]
    fn unfinished_text_does_not_panic() {
        for text in ["", "\"abc", "f(", "#define", "#define X", "/* a", "'\\", "a = {", "1.", "é = 2;", "# \\"] {
            let tokens = Tokens::of(text);
            tokens.closing(0);
            tokens.expression_end(0, true);
        }
    }
}
