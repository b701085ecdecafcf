//! Input data: reproducible from case, tensor and seed alone.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::DType;
use super::TensorSpec;

/// What inputs look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataKind {
    /// Uniform in the case's range.
    Random,
    /// Rows of several kinds (`Row`): values beyond the range, zeros of both signs, denormals, extremes, infinities and NaN.
    Hostile,
    /// Nothing but zeros, of numbers that are not integers: what comes out are the operator's own constants, which no other value hides.
    Zeros,
}

/// One hostile value every so many elements: primes, so that they meet every lane in turn, and another one for each tensor, so that
/// each value meets ordinary ones and all others. Where they begin, and which they are, is for the seed to say.
const HOSTILE_STRIDES: [usize; 4] = [7, 5, 11, 13];

const HOSTILE_FLOATS: [f64; 10] =
    [0.0, -0.0, 1e-40, -6e-8, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 65504.0, -65504.0, 1.0];

/// A row of hostile data. One that holds everything says nothing of a reduction, whose result is NaN then whatever it does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    /// All hostile values, strewn among ordinary ones.
    Strewn,
    /// Ordinary values times this: finite, and beyond what the case says, or so small that constants beside them count.
    Scaled(f64),
    /// Ordinary values far from zero, all on one side of it: what is left of them after an exponential is nothing or too much.
    Far,
    /// Nothing but zeros.
    Zero,
    /// One value throughout.
    Constant,
    /// Ordinary ones with few infinities of one sign.
    Infinite,
}

const ROWS: [Row; 10] = [
    Row::Strewn,
    Row::Scaled(4.0),
    Row::Zero,
    Row::Far,
    Row::Infinite,
    Row::Scaled(100.0),
    Row::Constant,
    Row::Strewn,
    Row::Scaled(1e-3),
    Row::Scaled(1e4),
];
/// Steps from kind to kind, another one for each tensor. None shares a divisor with the number of kinds, so that each takes all of them.
const STEPS: [usize; 4] = [1, 3, 7, 9];

/// How far [`Row::Far`] is. In turn e to these is a denormal of 32 bits, one of 16 bits, so much that a hundred of them are more than 32 bits
/// hold, a little more than 16 bits do, and so much that a thousand of them are too much for 32.
const FAR: [f64; 5] = [-100.0, -14.0, 84.0, 12.0, 82.0];

/// Elements of a row: the last dimension, or less where there are too few rows for all kinds.
fn row_length(spec: &TensorSpec, elements: usize) -> usize {
    let last = spec.shape.as_ref().and_then(|shape| shape.last().copied()).unwrap_or(1) as usize;
    let enough = |length: usize| length > 0 && elements / length >= ROWS.len();
    if enough(last) && last > 1 { last } else { elements.div_ceil(ROWS.len()).max(1) }
}

/// Raw little-endian bytes of an input tensor.
///
/// `stream` separates the tensors of a case, `seed` the runs.
pub fn generate(spec: &TensorSpec, dtype: DType, elements: usize, seed: u64, stream: u64, kind: DataKind) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    let (low, high) = (spec.range.low, spec.range.high);
    // Both parts of a complex number are numbers of the range.
    let (dtype, elements) = (dtype.part(), elements * dtype.parts());
    let mut bytes = Vec::with_capacity(elements * dtype.size_bytes());
    let stride = HOSTILE_STRIDES[stream as usize % HOSTILE_STRIDES.len()];
    let first = seed as usize % stride;
    let turn = (seed / stride as u64) as usize % HOSTILE_FLOATS.len();
    let length = row_length(spec, elements);
    let step = STEPS[stream as usize % STEPS.len()];
    if kind == DataKind::Random && spec.values.is_empty() {
        // Nearly all data are of this kind, and some of them are large.
        let uniform = (0..elements).map(|_| low + (high - low) * rng.random::<f64>());
        if dtype.is_float() {
            dtype.encode_all(uniform, &mut bytes);
        } else {
            dtype.encode_all(uniform.map(f64::floor), &mut bytes);
        }
        return dtype.pack(bytes);
    }
    let values = (0..elements).map(|index| {
        let uniform = low + (high - low) * rng.random::<f64>();
        let is_hostile = index % stride == first;
        match kind {
            // Values that the manifest gives mean something to the operator: axes, sizes, offsets.
            _ if !spec.values.is_empty() => spec.values[index % spec.values.len()],
            DataKind::Hostile if dtype.is_float() => {
                let number = index / length;
                // Tensors go through the kinds at other steps and begin each round elsewhere, so that each kind meets each other.
                let round = number / ROWS.len();
                match ROWS[(number * step + round * (stream as usize + 1) + turn) % ROWS.len()] {
                    Row::Strewn if is_hostile => HOSTILE_FLOATS[rng.random_range(0..HOSTILE_FLOATS.len())],
                    Row::Infinite if is_hostile && (round + stream as usize + turn).is_multiple_of(2) => f64::INFINITY,
                    Row::Infinite if is_hostile => f64::NEG_INFINITY,
                    Row::Strewn | Row::Infinite => uniform,
                    Row::Scaled(by) => uniform * by,
                    Row::Far => uniform + FAR[(round + turn) % FAR.len()],
                    Row::Zero => 0.0,
                    Row::Constant => low + (high - low) * 0.75,
                }
            }
            DataKind::Zeros if dtype.is_float() => 0.0,
            DataKind::Hostile if is_hostile => [low, high, 0.0][(index / stride + turn) % 3].floor(),
            _ if dtype.is_float() => uniform,
            _ => uniform.floor(),
        }
    });
    dtype.encode_all(values, &mut bytes);
    dtype.pack(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ValueRange;

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
    fn both_parts_of_complex_numbers_are_drawn() {
        for kind in [DataKind::Random, DataKind::Hostile] {
            let bytes = generate(&spec(), DType::Complex64, 64, 7, 0, kind);
            assert_eq!(bytes.len(), 64 * 8);
            let imaginary = bytes.chunks(8).map(|number| DType::Float32.decode(&number[4..]));
            assert!(imaginary.filter(|part| *part != 0.0 && (-2.0..3.0).contains(part)).count() > 16, "{kind:?}");
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
    fn zeros_are_of_floats_alone() {
        let zeros = generate(&spec(), DType::Float32, 64, 7, 0, DataKind::Zeros);
        assert!(DType::Float32.elements(&zeros).iter().all(|value| *value == 0.0));
        let indices = generate(&spec(), DType::Int32, 64, 7, 0, DataKind::Zeros);
        assert_eq!(indices, generate(&spec(), DType::Int32, 64, 7, 0, DataKind::Random));
    }

    fn values(spec: &TensorSpec, elements: usize, seed: u64, stream: u64) -> Vec<f64> {
        let bytes = generate(spec, DType::Float32, elements, seed, stream, DataKind::Hostile);
        bytes.chunks(4).map(|element| DType::Float32.decode(element)).collect()
    }

    #[test]
    fn hostile_values_stand_elsewhere_with_another_seed() {
        let nans = |seed| {
            let found = values(&spec(), 1024, seed, 0).into_iter().enumerate().filter(|(_, value)| value.is_nan());
            found.map(|(place, _)| place).collect::<Vec<_>>()
        };
        assert_eq!(nans(7), nans(7));
        assert!(!nans(7).is_empty() && nans(7) != nans(8) && nans(7) != nans(20));
    }

    #[test]
    fn rows_of_hostile_data_are_of_every_kind() {
        let rows = TensorSpec { shape: Some(vec![32, 64]), ..spec() };
        let found = values(&rows, 2048, 7, 0);
        let any = |what: &dyn Fn(&[f64]) -> bool| found.chunks(64).any(what);
        assert!(any(&|row| row.iter().any(|value| value.is_nan())));
        assert!(any(&|row| row.contains(&f64::INFINITY)
            && !row.contains(&f64::NEG_INFINITY)
            && !row.iter().any(|v| v.is_nan())));
        assert!(any(&|row| row.iter().all(|value| *value == 0.0)));
        assert!(any(&|row| row[0] != 0.0 && row.iter().all(|value| *value == row[0])));
        assert!(any(&|row| row.iter().all(|value| *value != 0.0 && value.abs() <= 3e-3)));
        assert!(any(&|row| row.iter().all(|value| (9.0..103.0).contains(&value.abs()))), "far from zero");
        for least in [4.0, 100.0, 5000.0] {
            let largest = |row: &[f64]| row.iter().copied().fold(0.0, |most: f64, value| most.max(value.abs()));
            assert!(any(&|row| (least..4.0 * 1e4).contains(&largest(row))), "{least}");
        }
    }

    #[test]
    fn hostile_values_of_two_inputs_meet_ordinary_ones_and_each_other() {
        let rows = TensorSpec { shape: Some(vec![64, 2048]), ..spec() };
        let (left, right) = (values(&rows, 64 * 2048, 7, 0), values(&rows, 64 * 2048, 7, 1));
        let met = |one: &dyn Fn(f64) -> bool, other: &dyn Fn(f64) -> bool| {
            left.iter().zip(&right).any(|(a, b)| one(*a) && other(*b))
        };
        let ordinary = |value: f64| value.is_finite() && value != 0.0;
        assert!(met(&ordinary, &f64::is_infinite) && met(&f64::is_infinite, &ordinary));
        assert!(met(&|value| value == f64::INFINITY, &|value| value == f64::NEG_INFINITY));
        assert!(met(&|value| value == 0.0, &ordinary) && met(&ordinary, &|value| value == 0.0));
    }
}
