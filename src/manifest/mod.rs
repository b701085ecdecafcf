//! `ascend.toml`: schema, defaults, validation with line and column.

mod valid;

pub use valid::{Attribute, Case, HazardPolicy, Layout, Manifest, Reference, TensorSpec, Tolerance, ValueRange};
