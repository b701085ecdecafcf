//! Facts that motifs rest on, read from the syntax trees: queues and buffers, local tensors, constants, copies.

pub mod api;
mod callers;
mod expression;
mod kernel;
mod tensors;
pub mod trace;

use std::collections::{BTreeMap, BTreeSet};

pub use crate::constant::{fixed_type_bytes, integer as parse_integer};
pub use callers::{CallSite, Callers};
pub use expression::KnownValues;
pub use kernel::{CopyOrigins, FileSpan, InitBuffer, Kernel, Queue, is_host};
pub use tensors::{Origin, Tensor, TensorFacts, TensorUse, base_name, element_type};

use super::parse::{SyntaxFile, SyntaxForest};
use crate::lex::{PieceKind, pieces};

/// A named integer constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Name.
    pub name: String,
    /// The literal or expression that it stands for.
    pub value: FileSpan,
    /// Its text.
    pub text: String,
}

/// Facts of a whole source tree.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Kernels by class or function name.
    pub kernels: BTreeMap<String, Kernel>,
    /// Named constants in file order: `constexpr`, `const`, static members, `#define`.
    pub constants: Vec<Constant>,
    /// What the constants' names are known to be.
    pub known: KnownValues,
    /// Bodies of macros by name, of all definitions.
    pub macros: BTreeMap<String, Vec<String>>,
}

impl Facts {
    /// Collects the facts.
    pub fn collect(forest: &SyntaxForest, known: &KnownValues) -> Self {
        let constants: Vec<Constant> = forest.iter().flat_map(constants_of).collect();
        let mut known = known.clone();
        // Constants may be made of constants: three rounds are deeper than code goes.
        for _ in 0..3 {
            for constant in &constants {
                if let Some(value) = known.value(&constant.text) {
                    known.add(constant.name.clone(), value);
                }
            }
        }
        let mut macros: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, body) in forest.iter().flat_map(macros_of) {
            macros.entry(name).or_default().push(body);
        }
        Self { kernels: collect_kernels(forest), constants, known, macros }
    }

    /// The kernel a function belongs to.
    pub fn kernel_at(&self, file: &SyntaxFile, byte: usize) -> Option<&Kernel> {
        let function = file.enclosing_function(byte)?;
        self.kernels.get(function.class.as_deref().unwrap_or(&function.name))
    }

    /// A kernel together with its base classes; `Err` names a base class that these sources do not define.
    pub fn with_bases(&self, kernel: &Kernel) -> Result<Kernel, String> {
        let mut whole = kernel.clone();
        let mut seen: BTreeSet<&str> = BTreeSet::from([kernel.name.as_str()]);
        let mut open: Vec<&str> = kernel.bases.iter().map(String::as_str).collect();
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            let base = self.kernels.get(name).ok_or_else(|| name.to_owned())?;
            whole.take_over(base);
            open.extend(base.bases.iter().map(String::as_str));
        }
        Ok(whole)
    }

    /// Kernels that inherit from a class, directly or not.
    pub fn derived<'a>(&'a self, name: &str) -> Vec<&'a Kernel> {
        let mut found: Vec<&Kernel> = Vec::new();
        let mut open = vec![name.to_owned()];
        while let Some(base) = open.pop() {
            for kernel in self.kernels.values().filter(|kernel| kernel.bases.contains(&base)) {
                if !found.iter().any(|known| known.name == kernel.name) {
                    found.push(kernel);
                    open.push(kernel.name.clone());
                }
            }
        }
        found
    }

    /// Definitions of a constant by name.
    pub fn definitions<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Constant> {
        self.constants.iter().filter(move |constant| constant.name == name)
    }
}

fn collect_kernels(forest: &SyntaxForest) -> BTreeMap<String, Kernel> {
    kernel::collect(forest)
}

/// Names and bodies of the macros that a file defines.
fn macros_of(file: &SyntaxFile) -> Vec<(String, String)> {
    let directives = pieces(file.text()).into_iter().filter(|token| token.kind == PieceKind::Directive);
    let defined = directives.filter_map(|token| {
        let rest = file.slice(&token.span).strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
        let end = rest.find(|next: char| !(next.is_ascii_alphanumeric() || next == '_')).unwrap_or(rest.len());
        (end > 0).then(|| (rest[..end].to_owned(), rest[end..].to_owned()))
    });
    defined.collect()
}

fn constants_of(file: &SyntaxFile) -> Vec<Constant> {
    let constant = |name: &str, value: &std::ops::Range<usize>| Constant {
        name: name.to_owned(),
        value: FileSpan::new(file, value),
        text: file.slice(value).to_owned(),
    };
    let is_const = |type_text: &str| type_text.split(' ').any(|word| word == "const" || word == "constexpr");
    let mut found: Vec<Constant> = Vec::new();
    // Constants of a function are left out: another function may use the name for something else.
    for local in file
        .locals()
        .iter()
        .filter(|local| is_const(&local.type_text) && file.enclosing_function(local.span.start).is_none())
    {
        found.extend(local.value.iter().map(|value| constant(&local.name, value)));
    }
    for member in file.classes().iter().flat_map(|class| &class.members).filter(|member| is_const(&member.type_text)) {
        found.extend(member.value.iter().map(|value| constant(&member.name, value)));
    }
    for token in pieces(file.text()).iter().filter(|token| token.kind == PieceKind::Directive) {
        let directive = file.slice(&token.span);
        let words = pieces(directive.trim_start_matches('#'));
        let offset = token.span.start + 1;
        let word = |index: usize| words.get(index).map_or("", |word| &directive[1..][word.span.clone()]);
        // `#define NAME 3`, nothing more; an adjacent parenthesis would make it a function.
        let adjacent = words.len() > 2 && words[1].span.end == words[2].span.start;
        if word(0) == "define" && words.len() == 3 && !adjacent && words[2].kind == PieceKind::Number {
            let value = offset + words[2].span.start..offset + words[2].span.end;
            found.push(constant(word(1), &value));
        }
    }
    found.sort_by_key(|constant| constant.value.start);
    found
}
