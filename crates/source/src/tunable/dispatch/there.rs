//! Choices by size that stand in the sources already.

use super::super::lexer::{Kind, Tokens};
use super::super::line_of;
use super::super::locate::constants_in;
use super::super::realize::present_value;
use crate::SourceTree;
use space::{Binding, Tunable};

/// Endings of the constant for the smallest inputs: of names in capitals, and of others.
pub(super) const SMALL: [&str; 2] = ["_SMALL", "Small"];
/// The same for those in the middle.
pub(super) const MIDDLE: [&str; 2] = ["_MEDIUM", "Medium"];
/// A constant that a choice by size has beside the one that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BySize {
    /// File.
    pub file: String,
    /// The constant for the largest inputs.
    pub constant: String,
    /// The one for smaller ones.
    pub smaller: String,
    /// Line of the choice, from 1.
    pub line: usize,
}

impl BySize {
    /// What can be searched of it, as a tunable with the values of the one for the largest inputs.
    fn tunable(&self, largest: &Tunable) -> Tunable {
        let binding = Binding::Constant { file: self.file.clone(), name: self.smaller.clone(), also: Vec::new() };
        let reason = format!("{} for smaller inputs", largest.name);
        Tunable { name: self.smaller.clone(), binding, reason, default: None, ..largest.clone() }
    }
}

/// The constants for smaller inputs of all choices by size of these tunables, as tunables of their own; without those that are among them
/// already.
pub fn of_choices(tree: &SourceTree, tunables: &[Tunable]) -> Vec<Tunable> {
    let is_of = |binding: &Binding, file: &str, constant: &str| {
        let Binding::Constant { file: own, name, .. } = binding else { return false };
        own == file && name.rsplit("::").next() == Some(constant)
    };
    let mut found = Vec::new();
    for there in chosen_by_size(tree) {
        let of = |constant: &str| tunables.iter().find(|tunable| is_of(&tunable.binding, &there.file, constant));
        let (Some(largest), None) = (of(&there.constant), of(&there.smaller)) else { continue };
        let tunable = there.tunable(largest);
        let value = present_value(tree, &tunable.binding).ok().flatten();
        if value.is_some() && !tunables.iter().any(|known| known.name == tunable.name) {
            found.push(Tunable { default: value, ..tunable });
        }
    }
    found
}

/// All constants of choices by size: `.. <= N ? NAME_SMALL : NAME` with both declared in the file.
pub fn chosen_by_size(tree: &SourceTree) -> Vec<BySize> {
    let mut found: Vec<BySize> = Vec::new();
    for (file, text) in tree.iter().filter(|(_, text)| SMALL.iter().any(|ending| text.contains(ending))) {
        let tokens = Tokens::of(text);
        let constants = constants_in(file, text);
        let declared = |name: &str| constants.iter().any(|constant| constant.name == name);
        for asked in (3..tokens.tokens.len()).filter(|at| tokens.get(*at) == "?" && tokens.get(at + 2) == ":") {
            let smaller = tokens.get(asked + 1);
            let base = SMALL.iter().chain(&MIDDLE).find_map(|ending| smaller.strip_suffix(ending));
            let Some(constant) = base.filter(|base| declared(base) && declared(smaller)) else { continue };
            let compared = tokens.get(asked - 2) == "<=" && tokens.kind(asked - 1) == Some(Kind::Number);
            let end = tokens.expression_end(asked + 3, false);
            let is_last = end > 0 && tokens.get(end - 1) == constant;
            if compared && is_last && !found.iter().any(|known| known.file == file && known.smaller == smaller) {
                let line = line_of(text, tokens.tokens[asked].span.start);
                let (constant, smaller) = (constant.to_owned(), smaller.to_owned());
                found.push(BySize { file: file.to_owned(), constant, smaller, line });
            }
        }
    }
    found
}
