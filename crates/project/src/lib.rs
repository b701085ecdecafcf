//! Finding the operator project: which directory, which layout, which files, which machine. Nothing here runs CMake or a compiler.

mod auto_sync;
mod detect;
mod entry;
mod kernel_tests;
mod machine;
mod repository;

pub use auto_sync::{AutoSyncOff, auto_sync_off};
pub use detect::{CmakeRoot, OperatorProject, ProjectError, SourceLoadError};
pub use detect::{camel_case, is_interface_code, snake_case};
pub use entry::{KernelEntry, kernel_entries};
pub use kernel_tests::{KernelTests, NoKernelTests};
pub use machine::{LoadMachineError, load_machine};
pub use repository::{RepositoryIndex, cmake_files};

/// The text of a CMake file with blanks for comments, so that places stay where they are.
pub fn without_cmake_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        kept.push_str(code);
        kept.extend(line[code.len()..].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
    }
    kept
}
