//! An operator that was built.

use std::path::PathBuf;

use super::Locked;

/// An operator that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// Its directory.
    pub directory: PathBuf,
    /// Its lock.
    pub locked: Locked,
    /// Files that were built: programs of a direct launch, libraries of a framework operator. None where nothing is built.
    pub artifacts: Vec<PathBuf>,
}
