//! What cores the kernels of a direct-launch program run on, by the words before their names.
//!
//! Such a program is one, with its host code in it: it is compiled once, and code for both kinds of cores asks at run
//! time where it is. The kinds go to the launch header as a macro.

use std::collections::BTreeMap;

use super::lex::{Token, TokenKind, closing, tokens};
use crate::aicore::KernelType;

/// Kinds of the kernels that texts declare; kernels for vector cores are left out.
pub(crate) fn kernel_kinds<'text>(texts: impl Iterator<Item = &'text str>) -> BTreeMap<String, KernelType> {
    let mut kinds = BTreeMap::new();
    for text in texts.filter(|text| text.contains("__mix__") || text.contains("__cube__")) {
        let all = tokens(text);
        for index in 0..all.len() {
            if all[index].is(text, "__global__")
                && let Some((name, kind)) = declared(text, &all, index)
            {
                kinds.insert(name, kind);
            }
        }
    }
    kinds
}

/// Compiler words that tell the launch header.
pub(crate) fn definition(kinds: &BTreeMap<String, KernelType>) -> Option<String> {
    let entries: String = kinds.iter().map(|(name, kind)| format!("{name}={};", kind.name())).collect();
    (!entries.is_empty()).then(|| format!("-DASCENDSIM_KERNEL_KINDS=\"{entries}\""))
}

/// Name and kind of the function with `__global__` at a token.
fn declared(text: &str, all: &[Token], global: usize) -> Option<(String, KernelType)> {
    let is = |index: usize, word: &str| all.get(index).is_some_and(|token| token.is(text, word));
    // The words may stand on both sides: back to the end of what came before.
    let ends = |index: usize| [";", "}", "{"].iter().any(|end| is(index, end));
    let mut first = global;
    while first > 0 && !ends(first - 1) {
        first -= 1;
    }
    let mut kind = None;
    let mut index = first;
    loop {
        let token = all.get(index)?;
        if ends(index) {
            return None;
        }
        if token.is(text, "__cube__") {
            kind = Some(KernelType::Aic);
        } else if token.is(text, "__mix__") && is(index + 1, "(") {
            let close = closing(text, all, index + 1)?;
            kind = Some(match all[close - 1].text(text) {
                "2" => KernelType::Mix12,
                "1" => KernelType::Mix11,
                _ => KernelType::Mix10,
            });
            index = close;
        } else if token.kind == TokenKind::Identifier && is(index + 1, "(") && index > global {
            let word = token.text(text);
            if !word.starts_with("__") {
                return kind.map(|kind| (word.to_owned(), kind));
            }
            index = closing(text, all, index + 1)?;
        }
        index += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_from_the_words_of_the_declaration() {
        let text = "#include <x.h>\n\
                    __global__ __aicore__ void plain(GM_ADDR x) {}\n\
                    __global__ __mix__(1, 2) __aicore__ void both(GM_ADDR x) { if (x) { call(x); } }\n\
                    extern \"C\" __mix__(1, 1) __global__ __aicore__ void pair(GM_ADDR x);\n\
                    template <typename T> __global__ __cube__ void product(T x) {}\n\
                    __global__ __attribute__((used)) __mix__(1, 0) void alone();\n\
                    // __global__ __cube__ void comment();\n\
                    __cube__ void helper();\n";
        let kinds = kernel_kinds([text].into_iter());
        let expected = [
            ("alone", KernelType::Mix10),
            ("both", KernelType::Mix12),
            ("pair", KernelType::Mix11),
            ("product", KernelType::Aic),
        ];
        assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)).into());
        let words = "-DASCENDSIM_KERNEL_KINDS=\"alone=mix_1_0;both=mix_1_2;pair=mix_1_1;product=aic;\"";
        assert_eq!(definition(&kinds).as_deref(), Some(words));
        assert_eq!(definition(&kernel_kinds(["__global__ void k();"].into_iter())), None);
    }
}
