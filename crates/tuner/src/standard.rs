//! What hazards are weighed by.

use std::sync::Arc;

use super::known::KnownFindings;

/// What hazards are weighed by.
#[derive(Clone, Debug)]
pub(super) enum Standard {
    /// Nothing is known: every error rejects.
    Alone,
    /// The operator as it stands: what does not stop the run is taken up, unless the manifest refuses it.
    Baseline,
    /// A candidate for a baseline of which this is known.
    Candidate(Arc<KnownFindings>),
}
