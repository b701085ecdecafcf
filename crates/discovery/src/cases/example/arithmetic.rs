//! Values of expressions over numbers and names whose values are known.

use std::collections::BTreeMap;
use std::ops::Range;

use super::known::Known;
use source::constant::{ConstantExpression, ConstantValue};
use source::tunable::lexer::Tokens;

/// Value of an expression, if all of it is arithmetic.
pub(super) fn number(tokens: &Tokens<'_>, known: &BTreeMap<String, Known>, range: Range<usize>) -> Option<f64> {
    let words: Vec<&str> = range.map(|at| tokens.get(at)).collect();
    // What is remembered of a name is its number: whole ones count as integers.
    let value_of = |name: &str| match known.get(name)? {
        Known::Number(value) if value.fract() == 0.0 && value.abs() < 2f64.powi(53) => {
            Some(ConstantValue::wide(*value as i64))
        }
        Known::Number(value) => Some(ConstantValue::Double(*value)),
        _ => None,
    };
    Some(ConstantExpression::of_words(&words).ok()?.value(&value_of).ok()?.number())
}
