//! Rewrites that may have brought constants along, and what these are.

use super::progress::Progress;
use super::workspace::Workspace;
use discovery::init::{Brought, brought};
use source::SourceTree;
use space::Tunable;

/// A rewrite that was taken over and may have brought constants along.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Opened {
    /// Name of the rewrite.
    pub motif: String,
    /// Sources before it.
    pub before: SourceTree,
    /// Sources after it.
    pub after: SourceTree,
}

/// What rewrites of the best candidate have brought along that is not searched yet.
pub(super) fn brought_along(workspace: &Workspace, progress: &Progress, opened: Vec<Opened>) -> Brought {
    let mut all = Brought::default();
    let best = progress.best.rewrites();
    for Opened { before, after, .. } in opened.iter().filter(|opened| best.contains(&opened.motif)) {
        let known: Vec<Tunable> = workspace.tunables().iter().chain(&all.tunables).cloned().collect();
        let found = brought(before, after, workspace.manifest.layout, &known);
        all.tunables.extend(found.tunables);
        all.constraints.extend(found.constraints);
    }
    all
}
