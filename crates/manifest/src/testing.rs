//! What tests here and elsewhere take manifests from.

pub use super::keys::all_keys;

/// A manifest that says no more than it must, for tests.
pub const SMALLEST: &str = r#"
[operator]
name = "X"
layout = "msopgen"
kernel = "x"
sources = ["x.cpp"]

[[case]]
name = "8"
inputs = [{ name = "x", dtype = "float32", shape = [8] }]
outputs = [{ name = "y", dtype = "float32" }]
"#;
