//! Which operators a command is about.

use std::path::PathBuf;

use clap::Args;

/// One operator, or many.
#[derive(Clone, Debug, Default, Args)]
pub struct Operators {
    /// Operator projects, directories of them, or patterns such as 'ops/*' [default: the project of --project].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Every directory with an ascend.toml in or below the project's directory, without `target` and what git ignores.
    #[arg(long, conflicts_with = "paths")]
    pub workspace: bool,
    /// Leave out operators with this in their paths; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub exclude: Vec<String>,
    /// Only operators whose inputs have changed since the working tree and this revision of git parted: files of their directories, headers
    /// that they include, CMake files above them.
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,
}
