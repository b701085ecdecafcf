//! A candidate as it is built and run.

use std::collections::BTreeMap;

use source::SourceTree;

/// What is compiled and how it is run: sources, values given at run time, and CMake entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Digest of the candidate that this plan realises; two plans may realise the same candidate.
    pub digest: String,
    /// Sources to compile.
    pub sources: SourceTree,
    /// Values of tunables that are injected at run time.
    pub knobs: BTreeMap<String, i64>,
    /// CMake entries on top of the manifest's.
    pub cmake: BTreeMap<String, String>,
    /// The sources as they would be written back, where that is not what is compiled.
    pub written: Option<SourceTree>,
}
