//! C++ sources: snapshots of the editable files, edits as spans, patches, syntax trees, and write-back that keeps formatting.

mod edit;
pub mod facts;
pub mod parse;
pub mod tunable;

pub use edit::{Edit, EditError, Patch, SourceTree};
