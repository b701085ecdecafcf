//! Element types as the operator definition names them.

use std::fmt;
use std::str::FromStr;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// IEEE half.
    Float16,
    /// IEEE single.
    Float32,
    /// bfloat16.
    Bfloat16,
    /// Signed 8-bit.
    Int8,
    /// Unsigned 8-bit.
    Uint8,
    /// Signed 16-bit.
    Int16,
    /// Unsigned 16-bit.
    Uint16,
    /// Signed 32-bit.
    Int32,
    /// Unsigned 32-bit.
    Uint32,
    /// Signed 64-bit.
    Int64,
    /// Unsigned 64-bit.
    Uint64,
    /// One byte, 0 or 1.
    Bool,
    /// IEEE double.
    Float64,
    /// Signed 4-bit, two in a byte, the first in the low half.
    Int4,
    /// Real and imaginary part, IEEE single each.
    Complex64,
}

/// The name is not an element type that the tool knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown dtype `{0}`; known are float16, float32, float64, bfloat16, complex64, int4 to int64, uint8 to uint64 and bool"
)]
pub struct UnknownDType(pub String);

const NAMES: [(DType, &str); 15] = [
    (DType::Float16, "float16"),
    (DType::Float32, "float32"),
    (DType::Bfloat16, "bfloat16"),
    (DType::Int8, "int8"),
    (DType::Uint8, "uint8"),
    (DType::Int16, "int16"),
    (DType::Uint16, "uint16"),
    (DType::Int32, "int32"),
    (DType::Uint32, "uint32"),
    (DType::Int64, "int64"),
    (DType::Uint64, "uint64"),
    (DType::Bool, "bool"),
    (DType::Float64, "float64"),
    (DType::Int4, "int4"),
    (DType::Complex64, "complex64"),
];

/// Names that operator definitions have for the same.
const OTHER_NAMES: [(DType, &str); 3] =
    [(DType::Int4, "DT_INT4"), (DType::Float64, "DT_DOUBLE"), (DType::Float64, "double")];

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        NAMES
            .iter()
            .chain(&OTHER_NAMES)
            .find(|(_, known)| *known == name)
            .map(|(dtype, _)| *dtype)
            .ok_or_else(|| UnknownDType(name.to_owned()))
    }
}

impl fmt::Display for DType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(NAMES.iter().find(|(dtype, _)| dtype == self).map_or("?", |(_, name)| name))
    }
}

impl DType {
    /// Size of what is read and written as one, in bytes: an element, or a pair of 4-bit elements.
    pub fn size_bytes(self) -> usize {
        match self {
            DType::Int8 | DType::Uint8 | DType::Bool | DType::Int4 => 1,
            DType::Float16 | DType::Bfloat16 | DType::Int16 | DType::Uint16 => 2,
            DType::Float32 | DType::Int32 | DType::Uint32 => 4,
            DType::Int64 | DType::Uint64 | DType::Float64 | DType::Complex64 => 8,
        }
    }

    /// What an element is made of: real and imaginary part of a complex number, otherwise the element itself. Values are drawn
    /// and compared part by part.
    pub fn part(self) -> Self {
        if self == DType::Complex64 { DType::Float32 } else { self }
    }

    /// How many [parts](DType::part) an element has.
    pub fn parts(self) -> usize {
        self.size_bytes() / self.part().size_bytes()
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float16 | DType::Float32 | DType::Bfloat16 | DType::Float64)
    }

    /// All values in `bytes`, both of every pair and both parts of every complex number.
    pub fn elements(self, bytes: &[u8]) -> Vec<f64> {
        if self == DType::Int4 {
            let halves = |byte: &u8| [(*byte << 4) as i8 >> 4, *byte as i8 >> 4];
            return bytes.iter().flat_map(halves).map(f64::from).collect();
        }
        let part = self.part();
        bytes.chunks_exact(part.size_bytes()).map(|element| part.decode(element)).collect()
    }

    /// Puts 4-bit elements that were written one in a byte together.
    pub fn pack(self, bytes: Vec<u8>) -> Vec<u8> {
        if self != DType::Int4 {
            return bytes;
        }
        bytes.chunks(2).map(|pair| (pair[0] & 15) | (pair.get(1).copied().unwrap_or(0) << 4)).collect()
    }

    /// The element at the start of `bytes`; integers beyond 2^53 lose low bits. Missing bytes count as zero. A pair of 4-bit
    /// elements is one number: it agrees with another where both elements do. Of a complex number it is the real part.
    pub fn decode(self, bytes: &[u8]) -> f64 {
        let mut raw = [0_u8; 8];
        let size = self.size_bytes().min(bytes.len());
        raw[..size].copy_from_slice(&bytes[..size]);
        self.decode_bits(u64::from_le_bytes(raw))
    }

    /// The element whose bytes are the low ones of `bits`, as [`DType::decode`] has it.
    #[inline]
    pub(crate) fn decode_bits(self, bits: u64) -> f64 {
        match self {
            DType::Float16 => f16::from_bits(bits as u16).to_f64(),
            DType::Bfloat16 => bf16::from_bits(bits as u16).to_f64(),
            DType::Float32 | DType::Complex64 => f64::from(f32::from_bits(bits as u32)),
            DType::Int8 | DType::Int4 => f64::from(bits as u8 as i8),
            DType::Float64 => f64::from_bits(bits),
            DType::Uint8 | DType::Bool => f64::from(bits as u8),
            DType::Int16 => f64::from(bits as u16 as i16),
            DType::Uint16 => f64::from(bits as u16),
            DType::Int32 => f64::from(bits as u32 as i32),
            DType::Uint32 => f64::from(bits as u32),
            DType::Int64 => bits as i64 as f64,
            DType::Uint64 => bits as f64,
        }
    }

    /// Appends the element nearest to `value` to `bytes`; a 4-bit element takes a byte until [`DType::pack`], a complex number gets
    /// no imaginary part.
    pub fn encode(self, value: f64, bytes: &mut Vec<u8>) {
        self.encode_all(std::iter::once(value), bytes);
    }

    /// The same for many values. What an element is made of is asked once for all of them.
    pub(crate) fn encode_all(self, values: impl Iterator<Item = f64>, bytes: &mut Vec<u8>) {
        fn each<const SIZE: usize>(
            values: impl Iterator<Item = f64>,
            bytes: &mut Vec<u8>,
            encode: impl Fn(f64) -> [u8; SIZE],
        ) {
            in_chunks(values, |chunk| {
                let start = bytes.len();
                bytes.resize(start + chunk.len() * SIZE, 0);
                let places = bytes[start..].chunks_exact_mut(SIZE);
                places.zip(chunk).for_each(|(place, value)| place.copy_from_slice(&encode(*value)));
            });
        }
        match self {
            DType::Float16 => in_chunks(values, |chunk| {
                // The processor converts several at once, and is asked once for all of them whether it can.
                let (mut singles, mut halves) = ([0.0; CHUNK], [f16::ZERO; CHUNK]);
                singles.iter_mut().zip(chunk).for_each(|(single, value)| *single = *value as f32);
                halves.convert_from_f32_slice(&singles);
                bytes.extend(halves[..chunk.len()].iter().flat_map(|half| half.to_le_bytes()));
            }),
            DType::Bfloat16 => each(values, bytes, |value| bf16::from_f32(value as f32).to_le_bytes()),
            DType::Float32 => each(values, bytes, |value| (value as f32).to_le_bytes()),
            DType::Int8 => each(values, bytes, |value| (value as i8).to_le_bytes()),
            DType::Int4 => each(values, bytes, |value| (value.clamp(-8.0, 7.0) as i8).to_le_bytes()),
            DType::Float64 => each(values, bytes, f64::to_le_bytes),
            DType::Uint8 => each(values, bytes, |value| (value as u8).to_le_bytes()),
            DType::Bool => each(values, bytes, |value| [u8::from(value >= 0.5)]),
            DType::Int16 => each(values, bytes, |value| (value as i16).to_le_bytes()),
            DType::Uint16 => each(values, bytes, |value| (value as u16).to_le_bytes()),
            DType::Int32 => each(values, bytes, |value| (value as i32).to_le_bytes()),
            DType::Uint32 => each(values, bytes, |value| (value as u32).to_le_bytes()),
            DType::Int64 => each(values, bytes, |value| (value as i64).to_le_bytes()),
            DType::Uint64 => each(values, bytes, |value| (value as u64).to_le_bytes()),
            DType::Complex64 => {
                values.for_each(|value| bytes.extend([value as f32, 0.0].iter().flat_map(|part| part.to_le_bytes())));
            }
        }
    }
}

/// Values that are encoded together.
const CHUNK: usize = 64;

/// Hands on so many values at once, and the rest.
fn in_chunks(mut values: impl Iterator<Item = f64>, mut take: impl FnMut(&[f64])) {
    let mut chunk = [0.0; CHUNK];
    loop {
        let count = chunk.iter_mut().zip(&mut values).map(|(place, value)| *place = value).count();
        take(&chunk[..count]);
        if count < CHUNK {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for (dtype, name) in NAMES {
            assert_eq!(name.parse::<DType>(), Ok(dtype));
            assert_eq!(dtype.to_string(), name);
        }
        assert!("float".parse::<DType>().is_err());
    }

    #[test]
    fn many_values_are_encoded_as_each_of_them() {
        let values = (0..1000).map(|index| f64::from(index - 500) * 977.37e-2).chain([f64::INFINITY, -0.0, 1e-7]);
        for (dtype, _) in NAMES {
            for count in [0, 1, 63, 64, 65, 1003] {
                let (mut together, mut alone) = (vec![7], vec![7]);
                dtype.encode_all(values.clone().take(count), &mut together);
                for value in values.clone().take(count) {
                    match dtype {
                        DType::Float16 => alone.extend(f16::from_f32(value as f32).to_le_bytes()),
                        _ => dtype.encode(value, &mut alone),
                    }
                }
                assert_eq!(together, alone, "{count} of {dtype}");
            }
        }
    }

    #[test]
    fn two_small_elements_share_a_byte() {
        let mut bytes = Vec::new();
        [-3.0, 7.0, -8.0].iter().for_each(|value| DType::Int4.encode(*value, &mut bytes));
        let packed = DType::Int4.pack(bytes);
        assert_eq!(packed, [0x7d, 0x08]);
        assert_eq!(DType::Int4.elements(&packed), [-3.0, 7.0, -8.0, 0.0]);
    }

    #[test]
    fn a_complex_number_has_two_parts() {
        let mut bytes = Vec::new();
        DType::Complex64.encode(2.5, &mut bytes);
        bytes.extend(1.0_f32.to_le_bytes());
        bytes.extend((-3.0_f32).to_le_bytes());
        assert_eq!(DType::Complex64.elements(&bytes), [2.5, 0.0, 1.0, -3.0]);
        assert_eq!((DType::Complex64.parts(), DType::Complex64.part()), (2, DType::Float32));
        assert_eq!((DType::Int4.parts(), DType::Float16.parts()), (1, 1));
    }

    #[test]
    fn small_values_survive_every_dtype() {
        for (dtype, _) in NAMES {
            let mut bytes = Vec::new();
            dtype.encode(1.0, &mut bytes);
            assert_eq!(bytes.len(), dtype.size_bytes());
            assert_eq!(dtype.decode(&bytes), 1.0, "{dtype}");
        }
    }
}
