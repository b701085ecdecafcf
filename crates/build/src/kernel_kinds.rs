//! What cores the kernels of a direct-launch program run on, by the words before their names.
//!
//! Such a program is one, with its host code in it, and compiled once: for cube cores when all its kernels are theirs,
//! else for vector cores. Launches that need what it was not compiled for are refused at run time. The kinds go to the
//! launch header as a macro.

use std::collections::BTreeMap;

use aicore::KernelType;
use source::lex::{Token, TokenKind, closing, tokens};

/// What texts say of their kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelKinds {
    /// Kernels that need cube cores.
    named: BTreeMap<String, KernelType>,
    /// Some kernel runs on vector cores.
    vector: bool,
}

impl KernelKinds {
    /// Reads texts.
    pub(crate) fn of<'text>(texts: impl Iterator<Item = &'text str>) -> Self {
        let mut kinds = Self::default();
        for text in texts.filter(|text| text.contains("__global__")) {
            let all = tokens(text);
            for index in 0..all.len() {
                if !all[index].is(text, "__global__") {
                    continue;
                }
                match declared(text, &all, index) {
                    Some((name, Some(kind))) => drop(kinds.named.insert(name, kind)),
                    Some((_, None)) => kinds.vector = true,
                    None => {}
                }
            }
        }
        kinds
    }

    /// Compiler words that tell the launch header; to stand behind the definitions for vector cores.
    pub(crate) fn words(&self) -> Vec<String> {
        if self.named.is_empty() {
            return Vec::new();
        }
        let entries: String = self.named.iter().map(|(name, kind)| format!("{name}={};", kind.name())).collect();
        let mut words = vec![format!("-DASCENDSIM_KERNEL_KINDS=\"{entries}\"")];
        if !self.vector && self.named.values().all(|kind| kind.vectors() == 0) {
            words.extend(["-U__DAV_C220_VEC__", "-D__DAV_C220_CUBE__"].map(str::to_owned));
        }
        words
    }
}

/// Name and kind of the function with `__global__` at a token.
fn declared(text: &str, all: &[Token], global: usize) -> Option<(String, Option<KernelType>)> {
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
                return Some((word.to_owned(), kind));
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
        let kinds = KernelKinds::of([text].into_iter());
        let expected = [
            ("alone", KernelType::Mix10),
            ("both", KernelType::Mix12),
            ("pair", KernelType::Mix11),
            ("product", KernelType::Aic),
        ];
        assert_eq!(kinds.named, expected.map(|(name, kind)| (name.to_owned(), kind)).into());
        assert!(kinds.vector);
        let words = "-DASCENDSIM_KERNEL_KINDS=\"alone=mix_1_0;both=mix_1_2;pair=mix_1_1;product=aic;\"";
        assert_eq!(kinds.words(), [words]);
    }

    #[test]
    fn a_program_with_cube_kernels_alone_is_compiled_for_cube_cores() {
        let words = |text: &str| KernelKinds::of([text].into_iter()).words();
        assert_eq!(words("__global__ __aicore__ void k();"), [""; 0]);
        let cube = ["-DASCENDSIM_KERNEL_KINDS=\"k=aic;\"", "-U__DAV_C220_VEC__", "-D__DAV_C220_CUBE__"];
        assert_eq!(words("__global__ __cube__ void k();"), cube);
        assert_eq!(words("__global__ __cube__ void k(); __global__ void v();"), cube[..1]);
    }
}
