//! The equal-length pre-pass: hides from the C++ grammar what only the Ascend C compiler understands.
//!
//! Every byte stays where it is. Qualifiers become spaces and a few spots change one byte for another, so that a span
//! in the tree of the prepared text is the same span in the original.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::lex::{EmbeddedKernel, Piece, PieceKind, embedded_kernels, pieces};

/// Words with two underscores on both sides that standard C++ grammars know; everything else of that form is a
/// qualifier of the device compiler.
const LANGUAGE_WORDS: &[&str] = &[
    "__attribute__",
    "__asm__",
    "__volatile__",
    "__inline__",
    "__restrict__",
    "__extension__",
    "__const__",
    "__func__",
    "__alignof__",
    "__typeof__",
    "__signed__",
];

/// Qualifiers that take arguments in parentheses.
const WITH_ARGUMENTS: &[&str] = &["__launch_bounds__", "__mix__", "__inout_pipe__", "__schedmode__", "__reg_alloc__"];

/// Macros that define a structure of tiling data: between a definition without a semicolon and types as arguments the grammar
/// finds no C++. Those that read the structure read these texts.
const TILING_MACROS: &[&str] = &[
    "BEGIN_TILING_DATA_DEF",
    "TILING_DATA_FIELD_DEF",
    "TILING_DATA_FIELD_DEF_ARR",
    "TILING_DATA_FIELD_DEF_STRUCT",
    "END_TILING_DATA_DEF",
];

/// Names of project macros that stand for qualifiers only and can be hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MacroNames {
    names: BTreeSet<String>,
}

impl MacroNames {
    /// Names given by hand, such as by a manifest.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self { names: names.into_iter().collect() }
    }

    /// Learns from the `#define`s of a source tree: object-like macros whose body, in every definition, is nothing but
    /// qualifiers, or a bare `template <..>`.
    pub fn learn<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut bodies: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for text in texts {
            for token in pieces(text) {
                if token.kind != PieceKind::Directive {
                    continue;
                }
                if let Some((name, body)) = object_macro(&text[token.span]) {
                    bodies.entry(name).or_default().push(body);
                }
            }
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        // A macro may be made of other learned macros: repeat until nothing is added.
        loop {
            let before = names.len();
            for (name, definitions) in &bodies {
                let hideable = definitions.iter().all(|body| only_qualifiers(body, &names) || bare_template(body));
                if hideable && definitions.iter().any(|body| !body.trim().is_empty()) {
                    names.insert(name.clone());
                }
            }
            if names.len() == before {
                return Self { names };
            }
        }
    }

    /// Adds names.
    pub fn extend(&mut self, names: impl IntoIterator<Item = String>) {
        self.names.extend(names);
    }

    /// Whether uses of this name are hidden.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

/// Name and body of `#define NAME body`; `None` for function-like macros and other directives.
fn object_macro(directive: &str) -> Option<(String, String)> {
    let rest = directive.strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    if end == 0 || rest[end..].starts_with('(') {
        return None;
    }
    let body = rest[end..].replace("\\\r\n", " ").replace("\\\n", " ");
    let without_comments: String = pieces(&body)
        .iter()
        .filter(|token| token.kind != PieceKind::Comment)
        .map(|token| body[token.span.clone()].to_owned() + " ")
        .collect();
    Some((rest[..end].to_owned(), without_comments))
}

fn only_qualifiers(body: &str, learned: &BTreeSet<String>) -> bool {
    let tokens = pieces(body);
    let mut index = 0;
    while index < tokens.len() {
        let word = &body[tokens[index].span.clone()];
        if is_device_qualifier(word) || learned.contains(word) || matches!(word, "inline" | "static" | "constexpr") {
            index += 1;
        } else if word == "extern" && tokens.get(index + 1).is_some_and(|next| &body[next.span.clone()] == "\"C\"") {
            index += 2;
        } else if word == "__attribute__" {
            match closing(&tokens, body, index + 1, "(", ")") {
                Some(close) => index = close + 1,
                None => return false,
            }
        } else if word == "[" {
            match aicore_brackets(&tokens, body, index) {
                Some(close) => index = close + 1,
                None => return false,
            }
        } else {
            return false;
        }
    }
    true
}

fn bare_template(body: &str) -> bool {
    let body = body.trim();
    let tokens = pieces(body);
    let starts = tokens.first().is_some_and(|token| &body[token.span.clone()] == "template");
    let mut depth = 0i32;
    for (index, token) in tokens.iter().enumerate().skip(1) {
        match &body[token.span.clone()] {
            "<" => depth += 1,
            ">" => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return starts && index + 1 == tokens.len() && index > 1;
        }
    }
    false
}

fn is_device_qualifier(word: &str) -> bool {
    word.len() > 4
        && word.starts_with("__")
        && word.ends_with("__")
        && !LANGUAGE_WORDS.contains(&word)
        && (word == "__VEC_SCOPE__"
            || word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'))
}

/// Index of the token that closes the bracket opened by the token at `open`.
fn closing(tokens: &[Piece], text: &str, open: usize, left: &str, right: &str) -> Option<usize> {
    if tokens.get(open).is_none_or(|token| &text[token.span.clone()] != left) {
        return None;
    }
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        let word = &text[token.span.clone()];
        if word == left {
            depth += 1;
        } else if word == right {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// `[aicore]`, `[host, aicore]`: index of the closing bracket.
fn aicore_brackets(tokens: &[Piece], text: &str, open: usize) -> Option<usize> {
    let mut found = false;
    for (index, token) in tokens.iter().enumerate().skip(open + 1).take(6) {
        match &text[token.span.clone()] {
            "aicore" => found = true,
            "host" | "," => {}
            "]" => return found.then_some(index),
            _ => return None,
        }
    }
    None
}

/// The text with device-only syntax hidden, byte for byte as long as the original.
pub fn blank(text: &str, macros: &MacroNames) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let tokens: Vec<Piece> = pieces(text)
        .into_iter()
        .filter(|token| !matches!(token.kind, PieceKind::Comment | PieceKind::Directive))
        .collect();
    let word = |index: usize| tokens.get(index).map_or("", |token: &Piece| &text[token.span.clone()]);
    let adjacent = |index: usize| tokens.get(index + 1).is_some_and(|next| tokens[index].span.end == next.span.start);
    // Whether an argument begins here that has something behind its first word.
    let is_argument =
        |index: usize| index > 0 && matches!(word(index - 1), "," | "(") && !matches!(word(index + 1), "," | ")" | "");
    let mut index = 0;
    while index < tokens.len() {
        let here = word(index);
        let mut next = index + 1;
        if tokens[index].kind == PieceKind::Word {
            if is_device_qualifier(here) || macros.contains(here) {
                hide(&mut bytes, tokens[index].span.clone());
                if WITH_ARGUMENTS.contains(&here)
                    && let Some(close) = closing(&tokens, text, index + 1, "(", ")")
                {
                    hide(&mut bytes, tokens[index + 1].span.start..tokens[close].span.end);
                    next = close + 1;
                }
            } else if TILING_MACROS.contains(&here) {
                hide(&mut bytes, tokens[index].span.clone());
                if let Some(close) = closing(&tokens, text, index + 1, "(", ")") {
                    hide(&mut bytes, tokens[index + 1].span.start..tokens[close].span.end);
                    next = close + 1;
                }
            } else if here == "template"
                && index > 0
                && matches!(word(index - 1), "." | ">")
                && is_member_access(&tokens, text, index)
            {
                hide(&mut bytes, tokens[index].span.clone());
            } else if here == "return" && is_argument(index) {
                // Of a macro that takes statements, such as `OP_CHECK_IF(condition, log, return FAILED)`: its value stays.
                hide(&mut bytes, tokens[index].span.clone());
            } else if here.starts_with("PRI") && index > 0 && word(index - 1).ends_with('"') {
                // Part of a format, by a macro of <cinttypes>.
                hide(&mut bytes, tokens[index].span.clone());
            } else if here == "if" {
                let condition = if word(index + 1) == "constexpr" { index + 2 } else { index + 1 };
                next = parenthesise(&mut bytes, &tokens, text, condition).unwrap_or(next);
            }
        } else if here == "[" {
            if let Some(close) = aicore_brackets(&tokens, text, index) {
                hide(&mut bytes, tokens[index].span.start..tokens[close].span.end);
                next = close + 1;
            }
        } else if here == "<"
            && word(index + 1) == "<"
            && word(index + 2) == "<"
            && adjacent(index)
            && adjacent(index + 1)
        {
            if let Some(close) = launch_end(&tokens, text, index + 3) {
                hide(&mut bytes, tokens[index].span.start..tokens[close].span.end);
                next = close + 1;
            }
        } else if here == "-"
            && word(index + 1) == ">"
            && word(index + 2) == "*"
            && adjacent(index)
            && adjacent(index + 1)
        {
            hide(&mut bytes, tokens[index + 2].span.clone());
            next = index + 3;
        } else if here == "," && word(index + 1) == ")" {
            hide(&mut bytes, tokens[index].span.clone());
        }
        index = next;
    }
    for kernel in embedded_kernels(text) {
        free_kernel(&mut bytes, kernel);
    }
    // Only whole tokens of valid text were replaced, by ASCII: this can't fail, and if it did the original is right.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Takes the statement away around a kernel that stands in a raw literal, and closes what the statement stands in before the
/// kernel's code and opens it again behind: no grammar knows classes, templates and namespaces within a function.
fn free_kernel(bytes: &mut [u8], kernel: EmbeddedKernel) {
    let EmbeddedKernel { front, back, depth, .. } = kernel;
    if depth > front.len().min(back.len()) {
        return;
    }
    let (close, open) = (front.end - depth..front.end, back.start..back.start + depth);
    hide(bytes, front);
    hide(bytes, back);
    bytes[close].fill(b'}');
    bytes[open].fill(b'{');
}

/// Whether the token before `template` is `.` or `->`, not the end of a template argument list.
fn is_member_access(tokens: &[Piece], text: &str, index: usize) -> bool {
    let before = &tokens[index - 1].span;
    &text[before.clone()] == "." || (index >= 2 && &text[tokens[index - 2].span.start..before.end] == "->")
}

/// Gives `if NAME {` its parentheses, inside the bytes of the condition. Returns the token to go on with.
fn parenthesise(bytes: &mut [u8], tokens: &[Piece], text: &str, first: usize) -> Option<usize> {
    let start = tokens.get(first)?;
    if start.kind != PieceKind::Word {
        return None;
    }
    let mut index = first;
    loop {
        let token = tokens.get(index)?;
        match &text[token.span.clone()] {
            "{" => break,
            ";" | "}" => return None,
            _ => index += 1,
        }
    }
    let span = start.span.start..tokens.get(index.checked_sub(1)?)?.span.end;
    if span.len() < 3 || index - first > 12 {
        return None;
    }
    for (offset, byte) in bytes[span.clone()].iter_mut().enumerate() {
        if *byte != b'\n' && *byte != b'\r' {
            *byte = match offset {
                0 => b'(',
                at if at + 1 == span.len() => b')',
                _ => b'1',
            };
        }
    }
    Some(index)
}

/// Index of the last `>` of `>>>`, before any statement end.
fn launch_end(tokens: &[Piece], text: &str, start: usize) -> Option<usize> {
    for index in start..tokens.len() {
        match &text[tokens[index].span.clone()] {
            ";" | "{" => return None,
            ">" if index + 2 < tokens.len() && &text[tokens[index].span.start..tokens[index + 2].span.end] == ">>>" => {
                return Some(index + 2);
            }
            _ => {}
        }
    }
    None
}

/// Replaces bytes by spaces, keeping line ends.
fn hide(bytes: &mut [u8], span: Range<usize>) {
    for byte in &mut bytes[span] {
        if *byte != b'\n' && *byte != b'\r' {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> String {
        blank(text, &MacroNames::default())
    }

    #[test]
    fn qualifiers_are_hidden_and_language_words_stay() {
        assert_eq!(plain("__aicore__ inline void f(__gm__ T* p);"), "           inline void f(       T* p);");
        assert_eq!(plain("__attribute__((x)) int a = __LINE__;"), "__attribute__((x)) int a = __LINE__;");
        assert_eq!(plain("__launch_bounds__(512) void f()"), "                       void f()");
        assert_eq!(plain("// __aicore__\n\"__gm__\""), "// __aicore__\n\"__gm__\"");
    }

    #[test]
    fn statements_that_macros_take_are_their_values() {
        assert_eq!(plain("CHECK(a, f(x), return no);"), "CHECK(a, f(x),        no);");
        for text in ["CHECK(a, return);", "g([] { return 1; });", "{ return (1); }", "if (a) return b, c;"] {
            assert_eq!(plain(text), text);
        }
        let text = "bool f() {\n    CHECK(rows < 0 && g<T>(rows) > 1, LOG(c, \"%\" PRId64, rows), return ge::FAILED);\n    \
                    for (int row = 0; row < rows; row++) {\n        CHECK(row < rows, LOG(c), continue);\n    }\n}\n";
        let file = crate::parse::SyntaxFile::parse("a.cpp", text, &MacroNames::default()).expect("a tree");
        assert!(file.errors().is_empty() && file.loops().len() == 1, "{:?}", file.errors());
    }

    #[test]
    fn kernels_in_raw_literals_are_code_of_the_file() {
        let text = "int main() {\n  const char* s = R\"(\n__global__ void k() {}\n)\";\n  return 0;\n}\n";
        let parses =
            |text: &str| crate::parse::SyntaxFile::parse("a.cpp", text, &MacroNames::default()).expect("a tree");
        assert_eq!(plain(text), "int main() {\n                    }\n           void k() {}\n{  \n  return 0;\n}\n");
        for around in [
            text.to_owned(),
            text.replace("const char* s = R", "build(R").replace(")\";", ")\", 1);"),
            "const char* s = R\"(\n#include <x>\nnamespace n { template <typename T> __global__ void k() {} }\n)\";\nint after;\n".to_owned(),
        ] {
            let file = parses(&around);
            assert!(file.errors().is_empty(), "{around}: {:?} in {}", file.errors(), file.blanked());
            assert!(file.functions().iter().any(|function| function.name == "k"), "{}", file.blanked());
        }
    }

    #[test]
    fn launches_conditions_and_member_templates_parse_afterwards() {
        assert_eq!(plain("add<<<8, nullptr, s>>>(x);"), "add                   (x);");
        assert_eq!(plain("if ASCEND_IS_AIV {"), "if (11111111111) {");
        assert_eq!(plain("q.template Get<T>()"), "q.         Get<T>()");
        assert_eq!(plain("p->template Get<T>()"), "p->         Get<T>()");
        assert_eq!(plain("a<b> template"), "a<b> template");
        assert_eq!(plain("void f() [aicore];"), "void f()         ;");
        assert_eq!(plain("f(a, )"), "f(a  )");
        assert_eq!(plain("a << b << c >> d"), "a << b << c >> d");
    }

    #[test]
    fn macros_of_the_project_are_learned_from_every_definition() {
        let text = "#define INLINE __aicore__ inline // short\n#define AICORE INLINE\n#define N 4\n#define F(x) __aicore__\n\
                    #define TPL template <typename T, int N>\n#define K __gm__\n#define K 3\n#define GUARD_H\n";
        let names = MacroNames::learn([text]);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["AICORE", "INLINE", "TPL"]);
        assert_eq!(blank("INLINE void f();", &names), "       void f();");
    }

    proptest! {
        #[test]
        fn length_and_line_ends_stay(text in "[a-zA-Z_<>\\-*#\"'/\\\\(){};,. \n\r\\[\\]éx0-9]{0,200}") {
            let blanked = plain(&text);
            prop_assert_eq!(blanked.len(), text.len());
            let ends = |text: &str| text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect::<Vec<_>>();
            prop_assert_eq!(ends(&blanked), ends(&text));
        }

        #[test]
        fn pieces_of_kernels_keep_their_length(pieces in proptest::collection::vec(prop_oneof![
            Just("__aicore__ "), Just("<<<"), Just(">>>"), Just("if "), Just("ASCEND_IS_AIV"), Just("{"), Just("}"), Just("("), Just(")"),
            Just(".template f"), Just("->*"), Just(","), Just("#define A __gm__\n"), Just("/*"), Just("*/"), Just("\""), Just("é"), Just("\n"),
            Just("__mix__(1, 2)"), Just("[aicore]"), Just("R\"(") ], 0..40)) {
            let text = pieces.concat();
            let names = MacroNames::learn([text.as_str()]);
            prop_assert_eq!(blank(&text, &names).len(), text.len());
        }
    }
}
