//! C++ sources: snapshots of the editable files, edits as spans, patches, syntax trees, and write-back that keeps formatting.

pub mod condition;
mod difference;
mod edit;
pub mod facts;
pub mod parse;
pub mod tunable;
mod write_back;

pub use difference::{difference, inverse};
pub use edit::{Edit, EditError, Patch, SourceTree};
pub use write_back::{WriteBackError, write_back};
