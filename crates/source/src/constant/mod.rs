//! Constant expressions of C++: parsed once, evaluated with the language's own arithmetic over what names are known to be.
//!
//! Whoever needs the value of an initialiser, an argument, an array bound or a condition of the preprocessor asks here.
//! Integers have their types: literals are as wide as the language says, small ones are promoted, unsigned ones wrap, and a
//! signed overflow, a division by zero or a shift beyond the width has no value but a [`ConstantError`]. What is not
//! understood is an error as well, so that no caller takes a wrong number for a right one.
//!
//! Constraints of a manifest have a language of their own ([`space::Expression`]): there numbers have 128 bits and no types,
//! division rounds down, names may be texts, and mistakes are told with their place. Nobody writes `sizeof` or a suffix in
//! a manifest, and nobody expects `n - 1u` to wrap there.

mod error;
mod evaluate;
mod expression;
mod literal;
mod parse;
#[cfg(test)]
mod tests;
mod types;
mod value;

pub use error::ConstantError;
pub use evaluate::Names;
pub use expression::{BinaryOperator, ConstantExpression, Helper, UnaryOperator};
pub use literal::{integer, literal};
pub use types::{IntegerType, NumberType, fixed_type_bytes};
pub use value::ConstantValue;

/// Value of an expression as C++ code has it, given what names are known to be.
pub fn evaluate(text: &str, names: &dyn Names) -> Result<ConstantValue, ConstantError> {
    ConstantExpression::parse(text)?.value(names)
}

/// Truth of the condition of an `#if`, where all integers have 64 bits.
pub fn condition_holds(text: &str, names: &dyn Names) -> Result<bool, ConstantError> {
    ConstantExpression::parse(text)?.holds_in_directive(names)
}
