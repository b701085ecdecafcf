//! Input data: reproducible from case, tensor and seed alone.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::DType;
use crate::manifest::TensorSpec;

/// What inputs look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataKind {
    /// Uniform in the case's range.
    Random,
    /// Random, with zeros of both signs, denormals, extremes, infinities and NaN strewn in.
    Hostile,
}

/// One hostile value every so many elements: a prime, so that it meets every lane in turn. Where they begin, and with which, is for
/// the seed to say.
const HOSTILE_STRIDE: usize = 13;

const HOSTILE_FLOATS: [f64; 10] =
    [0.0, -0.0, 1e-40, -6e-8, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 65504.0, -65504.0, 1.0];

/// Raw little-endian bytes of an input tensor.
///
/// `stream` separates the tensors of a case, `seed` the runs.
pub fn generate(spec: &TensorSpec, dtype: DType, elements: usize, seed: u64, stream: u64, kind: DataKind) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    let (low, high) = (spec.range.low, spec.range.high);
    let mut bytes = Vec::with_capacity(elements * dtype.size_bytes());
    let first = seed as usize % HOSTILE_STRIDE;
    let turn = (seed / HOSTILE_STRIDE as u64) as usize % HOSTILE_FLOATS.len();
    for index in 0..elements {
        let uniform = low + (high - low) * rng.random::<f64>();
        let value = match kind {
            // Values that the manifest gives mean something to the operator: axes, sizes, offsets.
            _ if !spec.values.is_empty() => spec.values[index % spec.values.len()],
            DataKind::Hostile if dtype.is_float() && index % HOSTILE_STRIDE == first => {
                HOSTILE_FLOATS[(index / HOSTILE_STRIDE + turn) % HOSTILE_FLOATS.len()]
            }
            DataKind::Hostile if index % HOSTILE_STRIDE == first => {
                [low, high, 0.0][(index / HOSTILE_STRIDE + turn) % 3].floor()
            }
            _ if dtype.is_float() => uniform,
            _ => uniform.floor(),
        };
        dtype.encode(value, &mut bytes);
    }
    dtype.pack(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::ValueRange;

    fn spec() -> TensorSpec {
        TensorSpec {
            name: "x".to_owned(),
            dtype: "float32".to_owned(),
            format: "ND".to_owned(),
            shape: Some(vec![256]),
            range: ValueRange { low: -2.0, high: 3.0 },
            values: Vec::new(),
        }
    }

    #[test]
    fn random_data_stays_in_range_and_is_reproducible() {
        let first = generate(&spec(), DType::Float32, 256, 7, 0, DataKind::Random);
        assert_eq!(first, generate(&spec(), DType::Float32, 256, 7, 0, DataKind::Random));
        assert_ne!(first, generate(&spec(), DType::Float32, 256, 8, 0, DataKind::Random));
        assert_ne!(first, generate(&spec(), DType::Float32, 256, 7, 1, DataKind::Random));
        for element in first.chunks(4) {
            let value = DType::Float32.decode(element);
            assert!((-2.0..3.0).contains(&value));
        }
    }

    #[test]
    fn given_values_are_kept_and_repeated() {
        let spec = TensorSpec { values: vec![3.0, -1.0], ..spec() };
        for kind in [DataKind::Random, DataKind::Hostile] {
            let bytes = generate(&spec, DType::Int32, 3, 7, 0, kind);
            assert_eq!(DType::Int32.elements(&bytes), [3.0, -1.0, 3.0]);
        }
    }

    #[test]
    fn hostile_values_stand_elsewhere_with_another_seed() {
        let nans = |seed| {
            let bytes = generate(&spec(), DType::Float32, 256, seed, 0, DataKind::Hostile);
            let values = bytes.chunks(4).map(|element| DType::Float32.decode(element)).enumerate();
            values.filter(|(_, value)| value.is_nan()).map(|(place, _)| place).collect::<Vec<_>>()
        };
        assert_eq!(nans(7), nans(7));
        assert!(nans(7) != nans(8) && nans(7) != nans(20));
    }

    #[test]
    fn hostile_data_has_nan_infinity_and_zero() {
        let bytes = generate(&spec(), DType::Float32, 256, 7, 0, DataKind::Hostile);
        let values: Vec<f64> = bytes.chunks(4).map(|element| DType::Float32.decode(element)).collect();
        assert!(values.iter().any(|value| value.is_nan()));
        assert!(values.contains(&f64::INFINITY));
        assert!(values.contains(&0.0));
    }
}
