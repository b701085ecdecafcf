//! Arrays that references give.

use verify::DType;

/// An array that a reference gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// File that the script wrote, relative to its directory.
    pub file: String,
    /// Dtype name.
    pub dtype: String,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Raw bytes.
    pub bytes: Vec<u8>,
}

impl Array {
    /// The elements as another dtype; `None` for a dtype that has no size here.
    pub fn bytes_as(&self, to: DType) -> Option<Vec<u8>> {
        let from: DType = self.dtype.parse().ok()?;
        if from == to {
            return Some(self.bytes.clone());
        }
        // What is complex there and real here, or the other way round, is another result.
        if from.parts() != to.parts() {
            return None;
        }
        let mut result = Vec::with_capacity(self.bytes.len() / from.size_bytes() * to.size_bytes());
        for element in self.bytes.chunks_exact(from.size_bytes()) {
            to.encode(from.decode(element), &mut result);
        }
        Some(result)
    }
}
