//! Code by example: a text with holes is looked for among the tokens of a function, and another is filled with what the holes
//! held.
//!
//! `$name` stands for an expression, `$$name` for one word, and `$name{Max|Min}` for one of these texts, which may be part of a word
//! and may be nothing: `$last{, false|}`. A hole that occurs twice holds the same text twice. Blanks and comments
//! do not count, neither do an `@`, which stands for the scope where names need one, `AscendC::`, `this->`, the `template` of a member template, and `++i` for `i++` at the end of a loop's head.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::code::squash;
use source::lex::{PieceKind, pieces};
use source::parse::SyntaxFile;

/// What the holes held, as written.
pub(crate) type Holes = BTreeMap<String, String>;

/// A place that looks like the template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// From the first token to the last.
    pub(crate) span: Range<usize>,
    /// What the holes held.
    pub(crate) holes: Holes,
    /// The scope of the first name, as written.
    pub(crate) scope: String,
    /// Whether a comment or a directive lies between the tokens.
    pub(crate) commented: bool,
    /// Whether a directive does.
    pub(crate) directed: bool,
}

impl Found {
    /// Text of a hole, empty if the template has none of the name.
    pub(crate) fn hole(&self, name: &str) -> &str {
        self.holes.get(name).map_or("", String::as_str)
    }
}

#[derive(Clone, Debug)]
enum Part {
    Word(String),
    Expression(String),
    Name(String),
    /// One of some texts by its tokens, with the text as it is written out.
    Choice(String, Vec<(String, Vec<String>)>),
}

/// What a template is made of before it is cut into tokens.
enum Piece<'a> {
    Text(&'a str),
    /// A hole with its name, whether it is one word, and the texts that it may hold, if only some.
    Hole(&'a str, bool, Option<&'a str>),
}

struct Source<'a> {
    text: &'a str,
    /// Spans in the file and text, in the order in which they are compared.
    tokens: Vec<(Range<usize>, &'a str, PieceKind)>,
}

/// All places in a part of a file that look like the template, from first to last, without overlaps.
pub(crate) fn find(file: &SyntaxFile, within: &Range<usize>, template: &str) -> Vec<Found> {
    find_with(file, within, template, false)
}

/// The same where barriers between the tokens do not count.
pub(crate) fn find_past_barriers(file: &SyntaxFile, within: &Range<usize>, template: &str) -> Vec<Found> {
    find_with(file, within, template, true)
}

fn find_with(file: &SyntaxFile, within: &Range<usize>, template: &str, past_barriers: bool) -> Vec<Found> {
    let parts = parts(template);
    let text = file.text();
    let mut source = Source { text, tokens: Vec::new() };
    let mut aside = Vec::new();
    for token in pieces(file.slice(within)) {
        let span = within.start + token.span.start..within.start + token.span.end;
        if matches!(token.kind, PieceKind::Comment | PieceKind::Directive) {
            aside.push((span, token.kind));
        } else {
            let word = &text[span.clone()];
            source.tokens.push((span, word, token.kind));
        }
    }
    source.simplify(past_barriers);
    let (mut found, mut from) = (Vec::new(), 0);
    while from < source.tokens.len() {
        let mut holes = Holes::new();
        match source.matches(&parts, from, &mut holes) {
            Some(end) if end > from => {
                let tokens = &source.tokens[from..end];
                let start = tokens.iter().map(|(span, ..)| span.start).min().unwrap_or(0);
                let stop = tokens.iter().map(|(span, ..)| span.end).max().unwrap_or(0);
                let mut inside = aside.iter().filter(|(aside, _)| start < aside.start && aside.end <= stop);
                let directed = inside.clone().any(|(_, kind)| *kind == PieceKind::Directive);
                let commented = inside.next().is_some();
                let (first, word, _) = &tokens[0];
                let scope = text[first.start..first.end - word.len()].to_owned();
                found.push(Found { span: start..stop, holes, scope, commented, directed });
                from = end;
            }
            _ => from += 1,
        }
    }
    found
}

/// The template with its holes filled and the scope for every `@`; every further line gets the indentation.
pub(crate) fn fill(template: &str, holes: &[(&str, &str)], scope: &str, indentation: &str) -> String {
    let template = template.replace('@', scope);
    let mut filled = String::new();
    for (index, line) in template.lines().enumerate() {
        if index > 0 {
            filled.push('\n');
            filled.push_str(if line.is_empty() { "" } else { indentation });
        }
        for piece in template_pieces(line) {
            filled.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Hole(name, ..) => holes.iter().find(|(hole, _)| *hole == name).map_or("", |(_, text)| *text),
            });
        }
    }
    filled
}

/// The text with another text in place of a word.
pub(crate) fn with_word(text: &str, word: &str, other: &str) -> String {
    let (mut out, mut done) = (String::new(), 0);
    for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
        if text[token.span.clone()] == *word {
            out.push_str(&text[done..token.span.start]);
            out.push_str(other);
            done = token.span.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// An expression as it is compared.
fn plain(text: &str) -> String {
    squash(text).replace("this->", "").replace("AscendC::", "")
}

/// Texts and holes of a template in their order.
fn template_pieces(template: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        found.push(Piece::Text(&rest[..at]));
        let word = rest[at..].starts_with("$$");
        let hole = rest[at..].trim_start_matches('$');
        let end = hole.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(hole.len());
        let choice = hole[end..].strip_prefix('{').filter(|_| !word).and_then(|inner| inner.split_once('}'));
        found.push(Piece::Hole(&hole[..end], word, choice.map(|(texts, _)| texts)));
        rest = choice.map_or(&hole[end..], |(_, rest)| rest);
    }
    found.push(Piece::Text(rest));
    found
}

fn tokens_of(text: &str) -> Vec<String> {
    let words = pieces(text).into_iter().map(|token| text[token.span].to_owned());
    words.filter(|word| word != "@").collect()
}

fn parts(template: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    // What stands before a choice in the same word belongs to each of its texts.
    let mut stem = String::new();
    let pieces = template_pieces(template);
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => {
                let chosen = matches!(pieces.get(index + 1), Some(Piece::Hole(_, _, Some(_))));
                let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let cut = if chosen { text.trim_end_matches(in_word).len() } else { text.len() };
                parts.extend(tokens_of(&text[..cut]).into_iter().map(Part::Word));
                text[cut..].clone_into(&mut stem);
            }
            Piece::Hole(name, _, Some(texts)) => {
                let stem = std::mem::take(&mut stem);
                let choice = |text: &str| (text.to_owned(), tokens_of(&format!("{stem}{text}")));
                parts.push(Part::Choice((*name).to_owned(), texts.split('|').map(choice).collect()));
            }
            Piece::Hole(name, true, None) => parts.push(Part::Name((*name).to_owned())),
            Piece::Hole(name, false, None) => parts.push(Part::Expression((*name).to_owned())),
        }
    }
    parts
}

impl Source<'_> {
    fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |(_, word, _)| word)
    }

    fn simplify(&mut self, past_barriers: bool) {
        let mut kept: Vec<(Range<usize>, &str, PieceKind)> = Vec::with_capacity(self.tokens.len());
        let (mut index, mut start) = (0, None);
        while index < self.tokens.len() {
            let words = [0, 1, 2, 3, 4, 5, 6].map(|offset| self.word(index + offset));
            let skip = match words {
                ["AscendC", ":", ":", ..] | ["this", "-", ">", ..] => 3,
                ["template", "ReinterpretCast" | "GetValue" | "SetValue" | "Get", ..] => 1,
                ["PipeBarrier", "<", _, ">", "(", ")", ";"] if past_barriers => 7,
                ["+", "+", _, ")", ..] => {
                    kept.extend([index + 2, index, index + 1].map(|at| self.tokens[at].clone()));
                    index += 3;
                    continue;
                }
                _ => 0,
            };
            if skip == 0 {
                let mut token = self.tokens[index].clone();
                token.0.start = std::mem::take(&mut start).unwrap_or(token.0.start);
                kept.push(token);
                index += 1;
            } else if skip == 3 && start.is_none() {
                // What is replaced goes with its scope.
                start = Some(self.tokens[index].0.start);
            }
            index += skip;
        }
        self.tokens = kept;
    }

    /// End of the match of all parts from a token on.
    fn matches(&self, parts: &[Part], from: usize, holes: &mut Holes) -> Option<usize> {
        let Some((part, rest)) = parts.split_first() else { return Some(from) };
        let (_, word, kind) = self.tokens.get(from)?;
        match part {
            Part::Word(wanted) => (wanted == word).then(|| self.matches(rest, from + 1, holes)).flatten(),
            Part::Choice(name, texts) => {
                let held = holes.get(name).cloned();
                for (text, tokens) in texts.iter().filter(|(text, _)| held.as_ref().is_none_or(|held| held == text)) {
                    let fits = tokens.iter().enumerate().all(|(index, token)| self.word(from + index) == token);
                    if !fits {
                        continue;
                    }
                    holes.insert(name.clone(), text.clone());
                    if let Some(end) = self.matches(rest, from + tokens.len(), holes) {
                        return Some(end);
                    }
                }
                if held.is_none() {
                    holes.remove(name);
                }
                None
            }
            Part::Name(name) => {
                if *kind != PieceKind::Word || holes.get(name).is_some_and(|held| held != word) {
                    return None;
                }
                let fresh = holes.insert(name.clone(), (*word).to_owned()).is_none();
                let end = self.matches(rest, from + 1, holes);
                if end.is_none() && fresh {
                    holes.remove(name);
                }
                end
            }
            Part::Expression(name) => {
                let held = holes.get(name).map(|held| plain(held));
                let mut depth = 0i32;
                for end in from..self.tokens.len().min(from + 200) {
                    match self.word(end) {
                        "(" | "[" => depth += 1,
                        ")" | "]" => depth -= 1,
                        ";" | "{" | "}" => break,
                        "," if depth == 0 => break,
                        _ => {}
                    }
                    if depth < 0 {
                        break;
                    }
                    if depth > 0 {
                        continue;
                    }
                    let text = &self.text[self.tokens[from].0.start..self.tokens[end].0.end];
                    if held.as_ref().is_some_and(|held| *held != plain(text)) {
                        continue;
                    }
                    if held.is_none() {
                        holes.insert(name.clone(), text.to_owned());
                    }
                    if let Some(end) = self.matches(rest, end + 1, holes) {
                        return Some(end);
                    }
                    if held.is_none() {
                        holes.remove(name);
                    }
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;
    use source::parse::SyntaxForest;

    fn found(code: &str, template: &str) -> Vec<Found> {
        let mut tree = SourceTree::new();
        tree.insert("k.h", code);
        let forest = SyntaxForest::parse(&tree);
        let file = forest.get("k.h").unwrap();
        find(file, &(0..code.len()), template)
    }

    #[test]
    fn holes_hold_expressions_and_repeat_themselves() {
        let code = "void f() { AscendC::Add(y[i * n], a, b, this->n /* all */); Add(y, c, c, f(n, 2)); }";
        let all = found(code, "Add($y, $left, $right, $count);");
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].hole("y"), all[0].hole("count")), ("y[i * n]", "this->n"));
        assert!(all[0].commented && !all[1].commented);
        assert_eq!(&code[all[1].span.clone()], "Add(y, c, c, f(n, 2));");
        assert!(code[all[0].span.clone()].starts_with("AscendC::Add("));
        let same = found(code, "Add($y, $x, $x, $count);");
        assert_eq!(same.iter().map(|found| found.hole("x")).collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn choices_are_parts_of_words_and_may_be_nothing() {
        let code = "void f() { ReduceMax<float>(y, x, w, n); AscendC::ReduceSum(y, x, w, n, false); ReduceAny(y, x, w, n); ReduceMin(y, x, w, n, true); }";
        let template = "@Reduce$kind{Max|Min|Sum}$type{<float>|}($y, $x, $w, $n$flag{, false|});";
        let all = found(code, template);
        let held = |name: &str| all.iter().map(|found| found.hole(name).to_owned()).collect::<Vec<_>>();
        assert_eq!(held("kind"), ["Max", "Sum"]);
        assert_eq!(held("type"), ["<float>", ""]);
        assert_eq!(held("flag"), ["", ", false"]);
        let again = [("kind", "Sum"), ("y", "a"), ("x", "b"), ("w", "c"), ("n", "4"), ("flag", ", false")];
        assert_eq!(fill(template, &again, "AscendC::", ""), "AscendC::ReduceSum(a, b, c, 4, false);");
        let twice = "@Whole$k{Max|Min}($y); @Whole$k{Max|Min}($x);";
        assert_eq!(found("void f() { WholeMax(a); WholeMin(b); WholeMin(c); }", twice).len(), 1);
    }

    #[test]
    fn heads_of_loops_are_one_form() {
        for step in ["i++", "++i"] {
            let code = format!("void f() {{ for (int i = 0; i < rows; {step}) {{ x.SetValue(i, 0); }} }}");
            let all = found(&code, "for ($$t $$i = 0; $$i < $n; $$i++) { $x.SetValue($$i, $v); }");
            assert_eq!(all.len(), 1, "{code}");
            assert_eq!((all[0].hole("t"), all[0].hole("n"), all[0].hole("x")), ("int", "rows", "x"));
            assert!(code[all[0].span.clone()].starts_with("for (") && code[all[0].span.clone()].ends_with('}'));
        }
    }

    #[test]
    fn lines_are_filled_and_indented() {
        assert_eq!(
            fill("f($a);\nif (x) {\n    g($b, $a);\n}", &[("a", "1"), ("b", "n")], "", "  "),
            "f(1);\n  if (x) {\n      g(n, 1);\n  }"
        );
    }
}
