//! Tensors of a case, and how far results may be off.

use serde::{Deserialize, Serialize};

/// A tensor of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    /// Name in the operator definition.
    pub name: String,
    /// Dtype name: float16, float32, bfloat16, int8, ..., bool.
    pub dtype: String,
    /// Format name: ND.
    pub format: String,
    /// Dimensions; `None` for an output whose shape is inferred.
    pub shape: Option<Vec<u64>>,
    /// Range of input values.
    pub range: ValueRange,
    /// Values of an input, repeated to its end; empty to draw from the range.
    pub values: Vec<f64>,
}

/// Range that input values are drawn from, uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueRange {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
}

/// Allowed difference: `|a - b| <= absolute + relative * |b|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Absolute part.
    pub absolute: f64,
    /// Relative part.
    pub relative: f64,
}
