//! Values with their types.

use super::error::ConstantError;
use super::types::{IntegerType, NumberType};

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConstantValue {
    /// An integer.
    Integer {
        /// Its value, which its type holds.
        value: i128,
        /// Its type.
        kind: IntegerType,
    },
    /// A number of `float`, which is exact in the wider type.
    Single(f64),
    /// A number of `double`.
    Double(f64),
}

impl ConstantValue {
    /// A truth value.
    pub fn truth(value: bool) -> Self {
        Self::Integer { value: i128::from(value), kind: IntegerType::BOOL }
    }

    /// An integer whose type is not known: it is taken to be so wide that nothing wraps.
    pub fn wide(value: i64) -> Self {
        Self::Integer { value: i128::from(value), kind: IntegerType::I64 }
    }

    /// Its type.
    pub fn kind(self) -> NumberType {
        match self {
            Self::Integer { kind, .. } => NumberType::Integer(kind),
            Self::Single(_) => NumberType::Single,
            Self::Double(_) => NumberType::Double,
        }
    }

    /// The integer, if it is one and fits.
    pub fn as_integer(self) -> Option<i64> {
        match self {
            Self::Integer { value, .. } => i64::try_from(value).ok(),
            Self::Single(_) | Self::Double(_) => None,
        }
    }

    /// The number as one would write it: `0.1f` is 0.1 and not the binary fraction next to it.
    pub fn number(self) -> f64 {
        match self {
            Self::Integer { value, .. } => value as f64,
            Self::Single(value) => (value as f32).to_string().parse().unwrap_or(value),
            Self::Double(value) => value,
        }
    }

    /// Whether it counts as true.
    pub fn is_true(self) -> bool {
        match self {
            Self::Integer { value, .. } => value != 0,
            Self::Single(value) | Self::Double(value) => value != 0.0,
        }
    }

    /// The same in another type, as a cast makes it.
    pub(super) fn converted(self, to: NumberType) -> Result<Self, ConstantError> {
        let overflow = ConstantError::Overflow { operator: "cast" };
        Ok(match (self, to) {
            (value, NumberType::Integer(IntegerType::BOOL)) => Self::truth(value.is_true()),
            (Self::Integer { value, .. }, NumberType::Integer(kind)) => {
                Self::Integer { value: kind.wrapped(value), kind }
            }
            // What does not fit is undefined.
            (Self::Single(value) | Self::Double(value), NumberType::Integer(kind)) => {
                let whole = value.trunc();
                let fits = whole.is_finite() && whole.abs() < 2f64.powi(64) && kind.holds(whole as i128);
                if !fits {
                    return Err(overflow);
                }
                Self::Integer { value: whole as i128, kind }
            }
            (Self::Integer { value, .. }, NumberType::Single) => Self::Single(f64::from(value as f32)),
            (Self::Integer { value, .. }, NumberType::Double) => Self::Double(value as f64),
            (Self::Single(value) | Self::Double(value), NumberType::Single) => Self::single(value, "cast")?,
            (Self::Single(value) | Self::Double(value), NumberType::Double) => Self::Double(value),
        })
    }

    /// A `float` nearest to a number.
    pub(super) fn single(value: f64, operator: &'static str) -> Result<Self, ConstantError> {
        let rounded = f64::from(value as f32);
        if rounded.is_finite() { Ok(Self::Single(rounded)) } else { Err(ConstantError::Overflow { operator }) }
    }
}
