//! Facts of a case that constraints may name.

use std::collections::BTreeMap;

/// Integer facts of one case: `ub_bytes`, `cores`, `dtype_bytes`, `n`, `rank`, `dim0`, ...
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseFacts {
    /// Name of the case.
    pub case: String,
    /// Facts by name.
    pub values: BTreeMap<String, i64>,
}

impl CaseFacts {
    /// Facts that hold for every case on a machine: its vector cores and the bytes of its Unified Buffer.
    pub fn of_machine(case: impl Into<String>, cores: u32, ub_bytes: u64) -> Self {
        let mut facts = Self { case: case.into(), values: BTreeMap::new() };
        facts.set("cores", i64::from(cores));
        facts.set("ub_bytes", i64::try_from(ub_bytes).unwrap_or(i64::MAX));
        facts
    }

    /// Adds what a tensor says: `n` elements, `rank`, `dim0`.. (from the left) and `dtype_bytes`.
    pub fn with_tensor(mut self, shape: &[u64], dtype_bytes: u32) -> Self {
        let clamp = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.set("n", clamp(shape.iter().fold(1, |product: u64, dimension| product.saturating_mul(*dimension))));
        self.set("rank", clamp(shape.len() as u64));
        self.set("dtype_bytes", i64::from(dtype_bytes));
        for (axis, dimension) in shape.iter().enumerate() {
            self.set(format!("dim{axis}"), clamp(*dimension));
        }
        self
    }

    /// Sets one fact.
    pub fn set(&mut self, name: impl Into<String>, value: i64) {
        self.values.insert(name.into(), value);
    }
}
