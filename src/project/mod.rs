//! Finding the operator project: which directory, which layout, which files. Nothing here runs CMake or a compiler.

mod auto_sync;
pub(crate) mod detect;
mod entry;
mod repository;

pub use auto_sync::{AutoSyncOff, auto_sync_off};
pub use detect::{CmakeRoot, OperatorProject, ProjectError, SourceLoadError};
pub(crate) use detect::{camel_case, is_interface_code, is_other_architecture, snake_case};
pub use entry::{KernelEntry, kernel_entries};
pub(crate) use repository::RepositoryIndex;
