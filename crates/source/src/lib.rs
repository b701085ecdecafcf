//! C++ sources: snapshots of the editable files, edits as spans, patches, syntax trees. No I/O.

pub mod arch;
pub mod comments;
pub mod condition;
pub mod constant;
mod difference;
mod edit;
pub mod facts;
pub mod lex;
pub mod lines;
mod merge;
pub mod parse;
mod path;
pub mod tunable;

pub use difference::{difference, inverse};
pub use edit::{Edit, EditError, Patch, SourceTree};
pub use merge::{merged, merged_trees};
pub use path::normal;
