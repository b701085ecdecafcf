//! What is measured on, and what that says of the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A toolkit, its devices, and how times are taken on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Devices {
    /// Version of the toolkit.
    pub toolkit: String,
    /// Full name of the chip.
    pub soc: String,
    /// The devices in words.
    pub devices: Vec<String>,
    /// How kernels come to them.
    pub route: String,
    /// Launches before the first that counts.
    pub warm_up: u32,
    /// Microseconds that these take at least.
    pub warm_up_us: u32,
    /// Launches that count, at least.
    pub launches: u32,
    /// Launches that count, at most.
    pub most_launches: u32,
    /// Whether the L2 cache is emptied before every launch.
    pub flush_l2: bool,
    /// Copies of the tensors that launches take turns through.
    pub rotate: u32,
}

/// Measured times over modelled ones, on this operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelError {
    /// Geometric mean by the model, in microseconds.
    pub modelled_us: f64,
    /// Geometric mean by the devices.
    pub measured_us: f64,
    /// Geometric mean of measured over modelled.
    pub ratio: f64,
    /// Standard deviation of one ratio as a share of it; nothing of a single pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Pairs.
    pub pairs: u32,
    /// Devices that were lost, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}
