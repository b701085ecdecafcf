//! An edit that may mend something, with what it is about.

use std::ops::Range;

use source::parse::SyntaxFile;
use source::{Edit, Patch};

/// What is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MendKind {
    /// A number of repeats where a number of elements belongs.
    ElementCount,
    /// Nothing orders two accesses.
    MissingWait,
    /// A tensor is used after it was given back.
    EarlyFree,
}

/// An edit that may mend something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mend {
    /// What is mended.
    pub kind: MendKind,
    /// File, relative to the operator's root.
    pub file: String,
    /// Line of what is wrong, from 1.
    pub line: usize,
    /// What is done, one line.
    pub title: String,
    /// The edits.
    pub edits: Vec<Edit>,
}

impl Mend {
    pub(super) fn new(
        kind: MendKind,
        file: &SyntaxFile,
        at: &Range<usize>,
        title: impl Into<String>,
        edits: Vec<Edit>,
    ) -> Self {
        Self { kind, file: file.name().to_owned(), line: file.line(at.start), title: title.into(), edits }
    }

    /// Several as one patch.
    pub fn patch(mends: &[Self]) -> Patch {
        let titles: Vec<&str> = mends.iter().map(|mend| mend.title.as_str()).collect();
        let edits = mends.iter().flat_map(|mend| mend.edits.iter().cloned()).collect();
        Patch { title: titles.join("; "), motif: "repair".to_owned(), edits }
    }
}
