//! Steps that were taken back, and why.

use super::probing::ProbeVerdict;
use events::{self, Event};

/// A step that was taken back, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenBack {
    /// The step in words.
    pub step: String,
    /// Why.
    pub why: String,
}

/// Says that a step was taken back.
pub(super) fn said(taken_back: TakenBack, emit: &mut dyn FnMut(Event)) -> TakenBack {
    emit(Event::TakenBack(events::TakenBack { step: taken_back.step.clone(), why: taken_back.why.clone() }));
    taken_back
}

/// What is amiss, one clause.
pub(super) fn reason_of(verdict: &ProbeVerdict) -> String {
    match verdict {
        ProbeVerdict::Held { speedup } => format!("{speedup:.2}x"),
        ProbeVerdict::Slower { speedup } => format!("{speedup:.2}x there, slower than the operator as it was"),
        ProbeVerdict::Wrong(rejection) => rejection.to_string(),
    }
}
