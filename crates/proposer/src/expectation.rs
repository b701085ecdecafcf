//! What a proposal may bring.

/// An expected speed-up with its reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expectation {
    pub(super) gain: f64,
    pub(super) reason: String,
}
