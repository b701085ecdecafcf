//! What hazards are weighed by.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Whether the operator as it stands was seen to lean on what its queues' tensors were left with.
#[derive(Clone, Debug, Default)]
pub(super) struct LeansOnTensors(Arc<AtomicBool>);

impl LeansOnTensors {
    /// One that was seen.
    pub(super) fn seen() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Whether it was.
    pub(super) fn is_seen(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// It was seen now.
    pub(super) fn see(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
