//! Which instance of a kernel is wanted: its entry, its tensors, its tiling.

use serde::{Deserialize, Serialize};

use project::KernelEntry;

/// A tensor parameter with its dtype in one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorBinding {
    /// Name in the operator definition.
    pub name: String,
    /// Dtype name: float16, float32, ...
    pub dtype: String,
    /// Format name: ND.
    pub format: String,
}

/// A tiling class as the runner describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TilingClass {
    /// Operator type it is registered for, perhaps with `_<key>`.
    pub op: String,
    /// Name of the class.
    pub class: String,
    /// Size in bytes.
    pub size: u64,
    /// Fields in order.
    pub fields: Vec<TilingField>,
}

/// A field of a tiling class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TilingField {
    /// Name.
    pub name: String,
    /// C++ type, or the name of another class.
    #[serde(rename = "type")]
    pub kind: String,
    /// Place in bytes.
    pub offset: u64,
    /// Number of elements.
    pub count: u64,
    /// Whether it is an array even if it has one element only.
    #[serde(rename = "array", default)]
    pub is_array: bool,
}

/// Which instance of a kernel is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelVariant {
    /// Operator type, such as `AddCustom`.
    pub op_type: String,
    /// The entry.
    pub entry: KernelEntry,
    /// Inputs in the operator's order.
    pub inputs: Vec<TensorBinding>,
    /// Outputs in the operator's order.
    pub outputs: Vec<TensorBinding>,
    /// Tiling key that the tiling function chose.
    pub tiling_key: u64,
    /// Tiling classes of the host library.
    pub tiling_classes: Vec<TilingClass>,
}
