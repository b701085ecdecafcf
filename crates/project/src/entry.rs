//! Kernel entries: the `__global__` functions of a source text.

use source::condition::inactive_lines;
use source::lex::{Token, TokenKind, closing, tokens};

/// A kernel entry function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelEntry {
    /// File, relative to the operator's root.
    pub file: String,
    /// Name of the function.
    pub function: String,
    /// Names of its parameters in order.
    pub parameters: Vec<String>,
    /// Whether it is a function template.
    pub is_template: bool,
    /// Line of its name, from 1.
    pub line: usize,
}

/// The entries that a text defines, in file order. Declarations without a body do not count, nor do entries for other
/// architectures, which are often templates of the same name.
pub fn kernel_entries(file: &str, text: &str) -> Vec<KernelEntry> {
    if !text.contains("__global__") {
        return Vec::new();
    }
    let inactive = inactive_lines(text);
    let left_out = |token: &Token| inactive.iter().any(|range| range.contains(&token.span.start));
    let all: Vec<Token> = tokens(text).into_iter().filter(|token| !left_out(token)).collect();
    let mut result = Vec::new();
    for (index, token) in all.iter().enumerate() {
        if !token.is(text, "__global__") || in_directive(text, &all, index) {
            continue;
        }
        if let Some(entry) = entry_at(file, text, &all, index) {
            result.push(entry);
        }
    }
    result
}

fn entry_at(file: &str, text: &str, all: &[Token], global: usize) -> Option<KernelEntry> {
    // Attributes with arguments such as __mix__(1, 2) come before the name; the name is the identifier whose parameter
    // list is followed by the body.
    let mut index = global + 1;
    while index + 1 < all.len() {
        if all[index].is(text, ";") || all[index].is(text, "{") {
            return None;
        }
        if all[index].kind == TokenKind::Identifier && all[index + 1].is(text, "(") {
            let close = closing(text, all, index + 1)?;
            if all.get(close + 1).is_some_and(|next| next.is(text, "{")) {
                return Some(KernelEntry {
                    file: file.to_owned(),
                    function: all[index].text(text).to_owned(),
                    parameters: parameter_names(text, &all[index + 2..close]),
                    is_template: is_template(text, all, global),
                    line: text[..all[index].span.start].matches('\n').count() + 1,
                });
            }
            index = close + 1;
        } else {
            index += 1;
        }
    }
    None
}

fn parameter_names(text: &str, list: &[Token]) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    let mut last: Option<&str> = None;
    for token in list {
        match token.text(text) {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => names.extend(last.take().map(str::to_owned)),
            _ if token.kind == TokenKind::Angles => depth = depth.saturating_sub(token.span.len()),
            word if depth == 0 && token.kind == TokenKind::Identifier => last = Some(word),
            _ => {}
        }
    }
    names.extend(last.map(str::to_owned));
    names
}

/// Whether the declaration that `global` stands in begins with `template <...>`.
fn is_template(text: &str, all: &[Token], global: usize) -> bool {
    let mut index = global;
    while let Some(previous) = index.checked_sub(1) {
        let token = &all[previous];
        match token.text(text) {
            ";" | "}" | "{" => return false,
            "template" => return true,
            _ => index = previous,
        }
    }
    false
}

/// `#define X __global__` and the like.
fn in_directive(text: &str, all: &[Token], index: usize) -> bool {
    let at = all[index].span.start;
    let mut line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    while line_start > 1 && text[..line_start - 1].trim_end_matches(['\r', ' ', '\t']).ends_with('\\') {
        line_start = text[..line_start - 1].rfind('\n').map_or(0, |end| end + 1);
    }
    text[line_start..at].trim_start().starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_all_forms() {
        let text = "\
extern \"C\" __global__ __aicore__ void plain(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) { f(); }
template <uint32_t mode, class T = A<int>>
__global__ __aicore__ void shaped(GM_ADDR x) {}
__global__ __mix__(1, 2) void mixed(__gm__ uint8_t* x, Tiling tiling) {}
__global__ __aicore__ void declared(GM_ADDR x);
#define KERNEL extern \"C\" __global__ void hidden(GM_ADDR x) {}
// __global__ void commented(GM_ADDR x) {}
";
        let found = kernel_entries("k.cpp", text);
        let names: Vec<(&str, bool, usize)> =
            found.iter().map(|entry| (entry.function.as_str(), entry.is_template, entry.line)).collect();
        assert_eq!(names, [("plain", false, 1), ("shaped", true, 3), ("mixed", false, 4)]);
        assert_eq!(found[0].parameters, ["x", "workspace", "tiling"]);
        assert_eq!(found[2].parameters, ["x", "tiling"]);
    }

    #[test]
    fn a_head_for_unit_tests_is_none_on_a_device() {
        let text = "\
#ifdef __CCE_KT_TEST__
template <uint32_t mode>
#else
extern \"C\"
#endif
__global__ __aicore__ void loss(GM_ADDR x) {}
";
        let found = kernel_entries("k.cpp", text);
        assert_eq!(found.iter().map(|entry| (entry.is_template, entry.line)).collect::<Vec<_>>(), [(false, 6)]);
    }

    #[test]
    fn entries_of_other_architectures_are_not_entries() {
        let text = "\
#if defined(__CCE_AICORE__) && __CCE_AICORE__ == 310
template <uint64_t MODE> __global__ __aicore__ void pool(GM_ADDR x) {}
#else
extern \"C\" __global__ __aicore__ void pool(GM_ADDR x) {}
#endif
";
        let found = kernel_entries("k.cpp", text);
        assert_eq!(found.iter().map(|entry| (entry.is_template, entry.line)).collect::<Vec<_>>(), [(false, 4)]);
    }
}
