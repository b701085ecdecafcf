//! The view that looking for reads of tiling structures has of a file: what the preprocessor sees, without comments.

use source::lex::{PieceKind, pieces};

/// A file as words, numbers and punctuation.
pub(super) struct Tokens<'a> {
    pub(super) name: &'a str,
    pub(super) of: Vec<(PieceKind, &'a str)>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> Self {
        let of = pieces(text).into_iter().filter(|piece| piece.kind != PieceKind::Comment);
        Self { name, of: of.map(|piece| (piece.kind, &text[piece.span])).collect() }
    }

    pub(super) fn text(&self, index: usize) -> &'a str {
        self.of.get(index).map_or("", |(_, text)| text)
    }

    pub(super) fn before(&self, index: usize, steps: usize) -> &'a str {
        index.checked_sub(steps).map_or("", |index| self.text(index))
    }

    /// Whether the tokens from `index` on are these.
    pub(super) fn are(&self, index: usize, texts: &[&str]) -> bool {
        texts.iter().enumerate().all(|(steps, text)| self.text(index + steps) == *text)
    }

    pub(super) fn is_word(&self, index: usize) -> bool {
        self.of.get(index).is_some_and(|(kind, _)| *kind == PieceKind::Word)
    }

    pub(super) fn positions(&self, word: &'a str) -> impl Iterator<Item = usize> + '_ {
        let of_word = move |(_, token): &(usize, &(PieceKind, &str))| token.0 == PieceKind::Word && token.1 == word;
        self.of.iter().enumerate().filter(of_word).map(|(index, _)| index)
    }

    /// The arguments of a macro's call whose name stands at `index`, each without blanks.
    pub(super) fn arguments(&self, index: usize) -> Vec<String> {
        let mut arguments = vec![String::new()];
        let mut depth = 0_usize;
        for (_, text) in self.of.iter().skip(index + 1) {
            match *text {
                "(" if depth == 0 => depth = 1,
                ")" if depth == 1 => return arguments,
                "," if depth == 1 => arguments.push(String::new()),
                other => {
                    depth = match other {
                        "(" => depth + 1,
                        ")" => depth.saturating_sub(1),
                        _ => depth,
                    };
                    if let Some(last) = arguments.last_mut() {
                        last.push_str(other);
                    }
                }
            }
        }
        Vec::new()
    }

    /// Name of the function, or word, whose parentheses are around a token, as far as they are in the same statement.
    pub(super) fn caller(&self, index: usize) -> &'a str {
        let mut depth = 0_usize;
        for at in (0..index).rev() {
            match self.text(at) {
                ")" => depth += 1,
                "(" if depth == 0 => return self.before(at, 1),
                "(" => depth -= 1,
                ";" | "{" | "}" => break,
                _ => {}
            }
        }
        ""
    }

    /// Whether the name at `index` is changed there, begun with something, or handed out by its address.
    pub(super) fn is_changed(&self, index: usize) -> bool {
        let [before, further] = [1, 2].map(|steps| self.before(index, steps));
        match (self.text(index + 1), self.text(index + 2)) {
            ("=", "=") => false,
            ("<", "<") | (">", ">") => self.text(index + 3) == "=",
            ("=", _) | ("+" | "-", "+" | "-" | "=") | ("*" | "/" | "%" | "&" | "|" | "^", "=") | ("{" | "(", _) => true,
            _ if before == "&" && further != "&" => true,
            _ => ["+", "-"].contains(&before) && before == further,
        }
    }

    /// Whether a statement is run whenever the function around it is: it stands in the function's own block, and nothing leaves that before.
    pub(super) fn always_runs(&self, index: usize) -> bool {
        let index = self.unqualified(index);
        if ![";", "{", "}"].contains(&self.before(index, 1)) {
            return false;
        }
        let mut depth = 0_usize;
        for at in (0..index).rev() {
            match self.text(at) {
                "}" => depth += 1,
                "{" if depth > 0 => depth -= 1,
                "{" => match self.before(at, 1) {
                    // A block by itself.
                    "{" | "}" | ";" => {}
                    ")" => return !["if", "for", "while", "switch"].contains(&self.caller(at - 1)),
                    "const" | "noexcept" | "override" => return true,
                    _ => return false,
                },
                "return" | "break" | "goto" => return false,
                _ => {}
            }
        }
        false
    }

    /// First token of a member's name with what it may be qualified by: its classes, or `this`.
    pub(super) fn unqualified(&self, mut index: usize) -> usize {
        if self.before(index, 1) == ">" && self.before(index, 2) == "-" && self.before(index, 3) == "this" {
            return index - 3;
        }
        while self.before(index, 1) == ":" && self.before(index, 2) == ":" && index > 2 && self.is_word(index - 3) {
            index -= 3;
        }
        index
    }

    /// First token of the expression whose member's name stands at `index`, where it is a name, with `this` before it or not;
    /// `None` where the name is no member of anything.
    pub(super) fn object(&self, index: usize) -> Option<usize> {
        let (point, arrow) =
            (self.before(index, 1) == ".", self.before(index, 1) == ">" && self.before(index, 2) == "-");
        if !point && !arrow {
            return None;
        }
        index.checked_sub(if point { 2 } else { 3 })
    }
}

/// Whether a macro's text has the name: what becomes of it nobody looked at.
pub(super) fn in_macros(files: &[&Tokens<'_>], name: &str) -> bool {
    let has =
        |text: &str| text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name);
    files.iter().any(|tokens| {
        let directives = tokens.of.iter().filter(|(kind, _)| *kind == PieceKind::Directive);
        directives.into_iter().any(|(_, text)| text.contains("define") && has(text))
    })
}
