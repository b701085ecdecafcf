//! Host functions that set the number of cores of a launch, and what that number follows from.

use crate::analysis::code::words;
use crate::context::Context;
use source::facts::is_host;
use source::parse::{Call, Function, Local, SyntaxFile};

/// A host function that sets the block dimension.
pub(crate) struct Launch<'a> {
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    /// The call of `SetBlockDim`.
    pub(crate) set: &'a Call,
}

/// Host functions that set one block dimension.
pub(crate) fn launches(context: &Context) -> Vec<Launch<'_>> {
    let mut found = Vec::new();
    for file in context.forest.iter().filter(|file| is_host(file.name())) {
        for function in file.functions() {
            let mut calls = file.calls_in(function.body.clone()).filter(|call| call.name == "SetBlockDim");
            // Several block dimensions in one function belong to several ways of splitting.
            if let (Some(set), None) = (calls.next(), calls.next()) {
                found.push(Launch { file, function, set });
            }
        }
    }
    found
}

impl<'a> Launch<'a> {
    /// Its local variables.
    pub(crate) fn locals(&self) -> impl Iterator<Item = &'a Local> {
        let body = self.function.body.clone();
        self.file.locals().iter().filter(move |local| body.contains(&local.span.start))
    }

    /// Names that the block dimension follows from.
    pub(crate) fn sources(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.set.arguments.iter().flat_map(|span| words(self.file.slice(span))).collect();
        for _ in 0..6 {
            for local in self.locals() {
                let value = local.value.as_ref().filter(|_| names.contains(&local.name.as_str()));
                for word in value.map(|value| words(self.file.slice(value))).unwrap_or_default() {
                    if !names.contains(&word) {
                        names.push(word);
                    }
                }
            }
        }
        names
    }
}
