//! What follows for integer expressions from all values that their names take: the value, the most, a divisor.

use std::collections::{BTreeMap, BTreeSet};

use crate::constant::{
    BinaryOperator, ConstantExpression, ConstantValue, IntegerType, Names, NumberType, fixed_type_bytes,
};

/// What names are known to be: every value a name takes over all cases and specialisations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownValues {
    /// Values by name; a type's name stands for its size in bytes.
    pub values: BTreeMap<String, BTreeSet<i64>>,
}

impl KnownValues {
    /// Adds one possible value of a name.
    pub fn add(&mut self, name: impl Into<String>, value: i64) {
        self.values.entry(name.into()).or_default().insert(value);
    }

    fn single(&self, name: &str) -> Option<i64> {
        let values = self.values.get(name)?;
        (values.len() == 1).then(|| values.iter().next().copied()).flatten()
    }

    /// Size of a type in bytes, if it is the same in all cases.
    pub fn type_bytes(&self, type_name: &str) -> Option<i64> {
        fixed_type_bytes(type_name).or_else(|| self.single(type_name.trim()))
    }

    /// Value of an expression, if it has exactly one.
    pub fn value(&self, expression: &str) -> Option<i64> {
        self.value_of(&ConstantExpression::parse(expression).ok()?)
    }

    fn value_of(&self, expression: &ConstantExpression) -> Option<i64> {
        expression.value(self).ok()?.as_integer()
    }

    /// The largest value that an expression may have whose names and operands are not negative.
    pub fn most(&self, expression: &str) -> Option<i64> {
        self.most_of(&ConstantExpression::parse(expression).ok()?)
    }

    fn most_of(&self, expression: &ConstantExpression) -> Option<i64> {
        if let Some(value) = self.value_of(expression) {
            return Some(value);
        }
        match expression {
            ConstantExpression::Name(name) | ConstantExpression::SizeOf(name) => {
                let values = self.values.get(name)?;
                values.iter().max().copied().filter(|_| values.iter().all(|value| *value >= 0))
            }
            ConstantExpression::Binary(BinaryOperator::Add, left, right) => {
                self.most_of(left)?.checked_add(self.most_of(right)?)
            }
            ConstantExpression::Binary(BinaryOperator::Multiply, left, right) => {
                let natural = |side| self.most_of(side).filter(|most| *most >= 0);
                natural(left)?.checked_mul(natural(right)?)
            }
            ConstantExpression::Binary(BinaryOperator::Divide, left, right) => {
                let divisor = self.value_of(right).filter(|divisor| *divisor > 0)?;
                Some(self.most_of(left).filter(|most| *most >= 0)? / divisor)
            }
            ConstantExpression::Cast(kind, inner) if is_wide(*kind) => self.most_of(inner),
            _ => None,
        }
    }

    /// A number that certainly divides the expression in every case; 1 if nothing is known, 0 for the constant 0.
    pub fn divisor(&self, expression: &str) -> i64 {
        ConstantExpression::parse(expression).map_or(1, |expression| self.divisor_of(&expression))
    }

    fn divisor_of(&self, expression: &ConstantExpression) -> i64 {
        if let Some(value) = self.value_of(expression) {
            return value.checked_abs().unwrap_or(1);
        }
        match expression {
            ConstantExpression::Name(name) | ConstantExpression::SizeOf(name) => {
                self.values.get(name).map_or(1, |values| values.iter().fold(0, |sum, value| gcd(sum, *value)))
            }
            ConstantExpression::Binary(BinaryOperator::Multiply, left, right) => {
                self.divisor_of(left).checked_mul(self.divisor_of(right)).unwrap_or(1)
            }
            ConstantExpression::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
                gcd(self.divisor_of(left), self.divisor_of(right))
            }
            // What a multiple of b is divided by b, all its divisors are. Otherwise a quotient alone tells nothing; a / b * b
            // is a multiple of b: the product rule sees the b.
            ConstantExpression::Binary(BinaryOperator::Divide, left, right) => {
                match (self.divisor_of(left), self.value_of(right)) {
                    (divisor, Some(by)) if by > 0 && divisor % by == 0 => divisor / by,
                    _ => 1,
                }
            }
            ConstantExpression::Cast(kind, inner) if is_wide(*kind) => self.divisor_of(inner),
            _ => 1,
        }
    }
}

impl Names for KnownValues {
    fn value(&self, name: &str) -> Option<ConstantValue> {
        self.single(name).map(ConstantValue::wide)
    }

    fn type_bytes(&self, name: &str) -> Option<i64> {
        Self::type_bytes(self, name)
    }
}

/// Whether a cast leaves lengths and offsets what they are.
fn is_wide(kind: NumberType) -> bool {
    matches!(kind, NumberType::Integer(IntegerType { bits: 32.., .. }))
}

fn gcd(left: i64, right: i64) -> i64 {
    let (mut left, mut right) = (left.unsigned_abs(), right.unsigned_abs());
    while right != 0 {
        (left, right) = (right, left % right);
    }
    i64::try_from(left).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_from_constants() {
        let mut known = KnownValues::default();
        known.add("N", 4);
        known.add("T", 2);
        assert_eq!(known.value("N * sizeof(T) + 8 / 2"), Some(12));
        assert_eq!(known.value("static_cast<uint32_t>(this->N * sizeof(float))"), Some(16));
        assert_eq!(known.value("(uint32_t)N << 2"), Some(16));
        assert_eq!(known.value("tiling->N"), Some(4));
        assert_eq!(known.value("f(N)"), None);
        assert_eq!(known.value("10 - 3 - 2"), Some(5));
        assert_eq!(known.value("1 / 0"), None);
    }

    #[test]
    fn divisors_hold_for_all_cases() {
        let mut known = KnownValues::default();
        known.add("tile", 1024);
        known.add("tile", 96);
        assert_eq!(known.divisor("tile * sizeof(float)"), 128);
        assert_eq!(known.divisor("n * 8 * sizeof(float)"), 32);
        assert_eq!(known.divisor("tile + n"), 1);
        assert_eq!(known.divisor("tile / 2"), 16);
        assert_eq!(known.divisor("tile / 3"), 1);
        assert_eq!(known.most("(tile + 7) / 8 * 8"), Some(1024));
        assert_eq!(known.most("tile - 7"), None);
        known.add("either", -8);
        known.add("either", 2);
        known.add("minus", -1);
        assert_eq!(known.most("either * tile"), None);
        assert_eq!(known.most("minus * tile"), None);
        assert_eq!(known.most("tile / minus"), None);
        assert_eq!(known.most("tile + minus"), Some(1023));
        assert_eq!(known.value("minus - sizeof(float)"), None);
    }
}
