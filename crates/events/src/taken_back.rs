//! What a search found and the run gave up again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A step of the best candidate that was taken back: it is worth nothing, or does not hold where the search did not look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakenBack {
    /// The rewrite, or the tunable with its values.
    pub step: String,
    /// Why.
    pub why: String,
}
