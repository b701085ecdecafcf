//! Figures of a machine, each with its source.

use serde::{Deserialize, Serialize};

/// How a constant is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Stated by the vendor.
    Documented,
    /// Measured on hardware by somebody who published it.
    Measured,
    /// Derived by us from the above.
    Inferred,
    /// Chosen so that published kernels come out right.
    Fitted,
}

/// One figure of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Where it comes from.
    pub source: String,
    /// How it is known.
    pub confidence: Confidence,
}
