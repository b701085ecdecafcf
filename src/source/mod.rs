//! C++ sources: snapshots of the editable files, edits as spans, patches, and write-back that keeps formatting.

mod edit;

pub use edit::{Edit, EditError, Patch, SourceTree};
