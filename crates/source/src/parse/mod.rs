//! Syntax trees of Ascend C sources: an equal-length pre-pass, a C++ tree over it, and the items that analyses ask for.

mod blank;
mod file;
mod forest;
mod items;
mod memory;
mod removal;
mod statements;

pub use blank::{MacroNames, blank};
pub use file::{ParseError, SyntaxFile};
pub use forest::SyntaxForest;
pub use items::{Call, Class, Function, Local, Loop, Member, Parameter, Unread};
pub use removal::removal_with_comments;
pub use statements::{Statement, statements};
