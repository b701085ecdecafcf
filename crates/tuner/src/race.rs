//! What a quick trial runs against.

use std::collections::BTreeSet;

use super::Champion;

/// What a quick trial runs against.
#[derive(Clone, Copy, Debug)]
pub struct Race<'a> {
    /// The best so far.
    pub champion: &'a Champion,
    /// Weights of the timed cases.
    pub weights: &'a [f64],
    /// Names of cases of which every block runs.
    pub whole: &'a BTreeSet<String>,
}
