//! What the cases run of a kernel. A change to anything else could be wrong without anybody noticing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::source::facts::api::{Access, argument_access};
use crate::source::parse::{Function, SyntaxFile, SyntaxForest};

/// Lines that instructions of all runs came from: file, relative to the operator's root, and line from 1.
pub type VisitedLines = BTreeSet<(String, u32)>;

/// Functions with instructions none of which ran. They are known by name, so that it holds while the code around them changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// File, class (empty for none) and name of the function.
    silent_functions: BTreeSet<(String, String, String)>,
    /// File and class: all functions of the class in that file that have instructions.
    silent_classes: BTreeSet<(String, String)>,
}

impl Coverage {
    /// From what ran of these sources. Where nothing is known to have run, nothing is known.
    pub fn of(forest: &SyntaxForest, visited: &VisitedLines) -> Self {
        if visited.is_empty() {
            return Self::default();
        }
        // Overloads have one name: each is as good as run if one of them is.
        let mut functions: BTreeMap<(String, String, String), bool> = BTreeMap::new();
        let mut classes: BTreeMap<(String, String), bool> = BTreeMap::new();
        for file in forest.iter() {
            for function in file.functions().iter().filter(|function| has_instructions(file, function)) {
                let ran = ran(file, &function.span, visited);
                let class = function.class.clone().unwrap_or_default();
                *functions.entry((file.name().to_owned(), class.clone(), function.name.clone())).or_default() |= ran;
                if !class.is_empty() {
                    *classes.entry((file.name().to_owned(), class)).or_default() |= ran;
                }
            }
        }
        Self {
            silent_functions: functions.into_iter().filter(|(_, ran)| !ran).map(|(key, _)| key).collect(),
            silent_classes: classes.into_iter().filter(|(_, ran)| !ran).map(|(key, _)| key).collect(),
        }
    }

    /// What no case runs, as `file: name`: classes, and functions of others.
    pub fn silent(&self) -> Vec<String> {
        let classes = self.silent_classes.iter().map(|(file, class)| format!("{file}: {class}"));
        let functions = self
            .silent_functions
            .iter()
            .filter(|(file, class, _)| !self.silent_classes.contains(&(file.clone(), class.clone())));
        classes.chain(functions.map(|(file, _, function)| format!("{file}: {function}"))).collect()
    }

    /// Why a change at a byte would go unverified, if it would.
    pub fn unverified(&self, file: &SyntaxFile, byte: usize) -> Option<String> {
        let named = |name: &str| format!("no case runs {name}: nothing would verify the change");
        let function = file.enclosing_function(byte);
        if let Some(function) = function {
            let class = function.class.clone().unwrap_or_default();
            if self.silent_functions.contains(&(file.name().to_owned(), class, function.name.clone())) {
                return Some(named(&function.name));
            }
        }
        let around = file.classes().iter().find(|class| class.span.contains(&byte)).map(|class| class.name.as_str());
        let class = function.and_then(|function| function.class.as_deref()).or(around)?;
        self.silent_classes.contains(&(file.name().to_owned(), class.to_owned())).then(|| named(class))
    }
}

/// Whether instructions stand in the function itself, so that it would have been seen running.
fn has_instructions(file: &SyntaxFile, function: &Function) -> bool {
    file.calls().iter().any(|call| {
        let written = matches!(argument_access(&call.name, 0), Access::Write | Access::ReadWrite);
        call.object.is_none() && function.body.contains(&call.span.start) && written
    })
}

fn ran(file: &SyntaxFile, span: &Range<usize>, visited: &VisitedLines) -> bool {
    let line = |offset: usize| u32::try_from(file.line(offset)).unwrap_or(u32::MAX);
    let lines = (file.name().to_owned(), line(span.start))..=(file.name().to_owned(), line(span.end));
    visited.range(lines).next().is_some()
}
