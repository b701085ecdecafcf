//! Which operators a command is about.

use std::path::PathBuf;

use clap::Args;

/// One operator, or many, whether they have a manifest or are to get one.
#[derive(Clone, Debug, Default, Args)]
pub struct Selection {
    /// Operators, directories of them, or patterns such as 'math/*' [default: the operator of --project].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Every operator in or below the project's directory, without `target` and what git ignores.
    #[arg(long, conflicts_with = "paths")]
    pub workspace: bool,
    /// Leave out operators with this in their paths; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub exclude: Vec<String>,
}

impl Selection {
    /// Whether several may be meant.
    pub fn is_many(&self) -> bool {
        self.workspace || !self.paths.is_empty()
    }
}

/// Operators that have a manifest.
#[derive(Clone, Debug, Default, Args)]
pub struct Operators {
    /// Which of them.
    #[command(flatten)]
    pub selection: Selection,
    /// Only operators whose inputs have changed since the working tree and this revision of git parted: files of their directories, headers
    /// that they include, CMake files above them.
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,
}
