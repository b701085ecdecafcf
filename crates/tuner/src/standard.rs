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
pub(super) struct LeansOnTensors {
    seen: Arc<AtomicBool>,
    /// Whether tensors are left as they were whatever is known: for a second run.
    always: bool,
}

impl LeansOnTensors {
    /// For runs that leave tensors as they were.
    pub(super) fn always() -> Self {
        Self { seen: Arc::new(AtomicBool::new(true)), always: true }
    }

    /// Whether it was.
    pub(super) fn is_seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }

    /// Whether tensors are left as they were whatever is known.
    pub(super) fn is_always(&self) -> bool {
        self.always
    }

    /// It was seen now.
    pub(super) fn see(&self) {
        self.seen.store(true, Ordering::Relaxed);
    }
}
