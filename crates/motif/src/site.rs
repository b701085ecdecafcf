//! Places where motifs apply, and the reasons where they do not.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::id::Id;
use source::parse::{ParseError, SyntaxFile};
use source::{Edit, EditError};

/// A place where a motif applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// File, relative to the operator's root.
    pub file: String,
    /// Bytes that show the pattern.
    pub span: Range<usize>,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// What would be done, one line.
    pub note: String,
    /// Conditions that the source does not prove; the verifier must check them.
    pub conditions: Vec<String>,
    /// Whether results may differ in rounding.
    pub rounding: bool,
}

/// A place that looks like a site but is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// File, relative to the operator's root.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The precondition does not hold.
    #[error("{motif} does not apply at {file}:{line}: {reason}")]
    Precondition {
        /// The motif.
        motif: Id,
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// Why not.
        reason: String,
    },
    /// Nothing like the site is in these sources.
    #[error("{motif} has no site at {file}:{line} in these sources; look for sites again")]
    NoSuchSite {
        /// The motif.
        motif: Id,
        /// The file.
        file: String,
        /// The line.
        line: usize,
    },
    /// No case would show whether a change is right.
    #[error("{title}: {reason}")]
    Unverified {
        /// What the patch would do.
        title: String,
        /// Why not.
        reason: String,
    },
    /// The code is not understood.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The edits do not fit the sources.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Sites found and places refused, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Places where the motif applies.
    pub sites: Vec<Site>,
    /// Places that look like it but where it must not be applied.
    pub refused: Vec<Refused>,
}

/// A place with the edits that would be made there, or the reason against them.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The place.
    pub site: Site,
    /// The edits, or why there are none.
    pub edits: Result<Vec<Edit>, String>,
}

impl Candidate {
    /// A candidate at a span.
    pub fn new(
        file: &SyntaxFile,
        span: &Range<usize>,
        note: impl Into<String>,
        edits: Result<Vec<Edit>, String>,
    ) -> Self {
        let site = Site {
            file: file.name().to_owned(),
            span: span.clone(),
            line: file.line(span.start),
            note: note.into(),
            conditions: Vec::new(),
            rounding: false,
        };
        Self { site, edits }
    }

    /// Adds a condition that the verifier must check.
    pub fn on_condition(mut self, condition: impl Into<String>) -> Self {
        self.site.conditions.push(condition.into());
        self
    }

    /// Marks the candidate as changing rounding.
    pub fn with_rounding(mut self, rounding: bool) -> Self {
        self.site.rounding = rounding;
        self
    }
}
