//! Values of expressions, with the conversions that the language makes.

use super::error::ConstantError;
use super::expression::{BinaryOperator, ConstantExpression, Helper, UnaryOperator};
use super::types::{IntegerType, NumberType, fixed_type_bytes};
use super::value::ConstantValue;

/// What names are known to be.
pub trait Names {
    /// Value of a name.
    fn value(&self, name: &str) -> Option<ConstantValue>;

    /// Size of a type in bytes.
    fn type_bytes(&self, name: &str) -> Option<i64> {
        fixed_type_bytes(name)
    }

    /// Whether a macro is defined.
    fn is_defined(&self, _name: &str) -> Option<bool> {
        None
    }
}

impl<F: Fn(&str) -> Option<ConstantValue>> Names for F {
    fn value(&self, name: &str) -> Option<ConstantValue> {
        self(name)
    }
}

impl ConstantExpression {
    /// Its value in C++ code.
    pub fn value(&self, names: &dyn Names) -> Result<ConstantValue, ConstantError> {
        Evaluation { names, least: IntegerType::I32 }.value(self)
    }

    /// Its truth in a directive, where all integers have 64 bits and `unknown && 0` is false.
    pub fn holds_in_directive(&self, names: &dyn Names) -> Result<bool, ConstantError> {
        Evaluation { names, least: IntegerType::I64 }.value(self).map(ConstantValue::is_true)
    }
}

struct Evaluation<'a> {
    names: &'a dyn Names,
    /// The least that integers are promoted to.
    least: IntegerType,
}

impl Evaluation<'_> {
    fn value(&self, expression: &ConstantExpression) -> Result<ConstantValue, ConstantError> {
        match expression {
            ConstantExpression::Literal(value) => Ok(*value),
            ConstantExpression::Name(name) => {
                self.names.value(name).ok_or_else(|| ConstantError::UnknownName { name: name.clone() })
            }
            ConstantExpression::SizeOf(name) => {
                let bytes = self.names.type_bytes(name);
                let bytes = bytes.ok_or_else(|| ConstantError::UnknownType { name: name.clone() })?;
                Ok(ConstantValue::Integer { value: i128::from(bytes), kind: IntegerType::U64 })
            }
            ConstantExpression::Defined(name) => {
                let defined = self.names.is_defined(name);
                defined.map(ConstantValue::truth).ok_or_else(|| ConstantError::UnknownName { name: name.clone() })
            }
            ConstantExpression::Unary(operator, operand) => self.unary(*operator, self.value(operand)?),
            ConstantExpression::Binary(BinaryOperator::And, left, right) => self.joined(left, right, false),
            ConstantExpression::Binary(BinaryOperator::Or, left, right) => self.joined(left, right, true),
            ConstantExpression::Binary(operator, left, right) => {
                self.binary(*operator, self.value(left)?, self.value(right)?)
            }
            ConstantExpression::Conditional(parts) => {
                let [condition, one, other] = parts.as_ref();
                let chosen = if self.value(condition)?.is_true() { one } else { other };
                // Its type is made of both branches, also where only one of them has a value.
                let kind = self.kind(expression)?;
                self.value(chosen)?.converted(kind)
            }
            ConstantExpression::Cast(kind, operand) => self.value(operand)?.converted(*kind),
            ConstantExpression::CastToUnknown(name, operand) => small_float(name, self.value(operand)?),
            ConstantExpression::Call(helper, kind, arguments) => {
                let [left, right] = arguments.as_ref();
                self.call(*helper, *kind, self.value(left)?, self.value(right)?)
            }
        }
    }

    /// Type of an expression, which it has without a value as well; an error where it could not be compiled.
    fn kind(&self, expression: &ConstantExpression) -> Result<NumberType, ConstantError> {
        let integer = |kind| Ok(NumberType::Integer(kind));
        match expression {
            ConstantExpression::Literal(value) => Ok(value.kind()),
            ConstantExpression::SizeOf(_) => integer(IntegerType::U64),
            ConstantExpression::Defined(_) => integer(IntegerType::BOOL),
            ConstantExpression::Unary(UnaryOperator::Not, operand) => {
                self.kind(operand)?;
                integer(IntegerType::BOOL)
            }
            ConstantExpression::Name(_) => self.value(expression).map(ConstantValue::kind),
            ConstantExpression::CastToUnknown(name, _) => exact_up_to(name).map(|_| NumberType::Single),
            ConstantExpression::Unary(operator, operand) => match (operator, self.kind(operand)?) {
                (UnaryOperator::Complement, NumberType::Single | NumberType::Double) => {
                    Err(ConstantError::Operands { operator: "~" })
                }
                (_, kind) => Ok(self.promoted(kind)),
            },
            ConstantExpression::Binary(operator, left, right) => {
                let (left, right) = match (self.kind(left), self.kind(right)) {
                    (Ok(left), Ok(right)) => (left, right),
                    // A comparison has its type whatever is compared.
                    (Err(error), Ok(_)) | (Ok(_), Err(error)) if error.is_unknown() && operator.compares() => {
                        return integer(IntegerType::BOOL);
                    }
                    (Err(error), _) | (_, Err(error)) => return Err(error),
                };
                let floating = [left, right].iter().any(|kind| !matches!(kind, NumberType::Integer(_)));
                if floating && operator.is_for_integers() {
                    return Err(ConstantError::Operands { operator: operator.mark() });
                }
                match operator {
                    operator if operator.compares() => integer(IntegerType::BOOL),
                    BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => Ok(self.promoted(left)),
                    _ => Ok(self.common(left, right)),
                }
            }
            ConstantExpression::Conditional(parts) => {
                self.kind(&parts[0])?;
                let (one, other) = (self.kind(&parts[1])?, self.kind(&parts[2])?);
                // Two small ones of the same type are not promoted.
                Ok(if one == other { one } else { self.common(one, other) })
            }
            ConstantExpression::Cast(kind, operand) => self.kind(operand).map(|_| *kind),
            ConstantExpression::Call(_, kind, arguments) => {
                let (left, right) = (self.kind(&arguments[0])?, self.kind(&arguments[1])?);
                Ok(kind.unwrap_or_else(|| self.common(left, right)))
            }
        }
    }

    fn promoted(&self, kind: NumberType) -> NumberType {
        match kind {
            NumberType::Integer(kind) => NumberType::Integer(kind.promoted(self.least)),
            floating => floating,
        }
    }

    fn common(&self, left: NumberType, right: NumberType) -> NumberType {
        match (self.promoted(left), self.promoted(right)) {
            (NumberType::Integer(left), NumberType::Integer(right)) => NumberType::Integer(left.common(right)),
            (NumberType::Double, _) | (_, NumberType::Double) => NumberType::Double,
            _ => NumberType::Single,
        }
    }

    /// `&&` and `||`: one side alone may decide, in whatever order, for what is only unknown has a value all the same.
    fn joined(
        &self,
        left: &ConstantExpression,
        right: &ConstantExpression,
        decides: bool,
    ) -> Result<ConstantValue, ConstantError> {
        let left = self.value(left).map(ConstantValue::is_true);
        if left == Ok(decides) {
            // What is not evaluated must be right all the same.
            return match self.kind(right) {
                Err(error @ ConstantError::Operands { .. }) => Err(error),
                _ => Ok(ConstantValue::truth(decides)),
            };
        }
        let right = self.value(right).map(ConstantValue::is_true);
        match (left, right) {
            (Ok(_), Ok(right)) => Ok(ConstantValue::truth(right)),
            (Err(error), Ok(right)) if error.is_unknown() && right == decides => Ok(ConstantValue::truth(decides)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    fn unary(&self, operator: UnaryOperator, operand: ConstantValue) -> Result<ConstantValue, ConstantError> {
        if operator == UnaryOperator::Not {
            return Ok(ConstantValue::truth(!operand.is_true()));
        }
        match (operator, operand) {
            (UnaryOperator::Plus, ConstantValue::Single(_) | ConstantValue::Double(_)) => Ok(operand),
            (UnaryOperator::Minus, ConstantValue::Single(value)) => Ok(ConstantValue::Single(-value)),
            (UnaryOperator::Minus, ConstantValue::Double(value)) => Ok(ConstantValue::Double(-value)),
            (_, ConstantValue::Single(_) | ConstantValue::Double(_)) => Err(ConstantError::Operands { operator: "~" }),
            (operator, ConstantValue::Integer { value, kind }) => {
                let kind = kind.promoted(self.least);
                match operator {
                    UnaryOperator::Minus => integer(-value, kind, "-"),
                    UnaryOperator::Complement => Ok(ConstantValue::Integer { value: kind.wrapped(-1 - value), kind }),
                    UnaryOperator::Plus | UnaryOperator::Not => Ok(ConstantValue::Integer { value, kind }),
                }
            }
        }
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: ConstantValue,
        right: ConstantValue,
    ) -> Result<ConstantValue, ConstantError> {
        if matches!(operator, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight) {
            return self.shift(operator, left, right);
        }
        let kind = self.common(left.kind(), right.kind());
        match (left.converted(kind)?, right.converted(kind)?) {
            (ConstantValue::Integer { value: left, kind }, ConstantValue::Integer { value: right, .. }) => {
                integers(operator, left, right, kind)
            }
            (
                ConstantValue::Single(left) | ConstantValue::Double(left),
                ConstantValue::Single(right) | ConstantValue::Double(right),
            ) => floats(operator, left, right, kind),
            _ => Err(ConstantError::Operands { operator: operator.mark() }),
        }
    }

    fn shift(
        &self,
        operator: BinaryOperator,
        left: ConstantValue,
        right: ConstantValue,
    ) -> Result<ConstantValue, ConstantError> {
        let (ConstantValue::Integer { value, kind }, ConstantValue::Integer { value: by, .. }) = (left, right) else {
            return Err(ConstantError::Operands { operator: operator.mark() });
        };
        let kind = kind.promoted(self.least);
        let places = u32::try_from(by).ok().filter(|places| *places < kind.bits);
        let places = places.ok_or(ConstantError::Shift { by, bits: kind.bits })?;
        if operator == BinaryOperator::ShiftRight {
            return Ok(ConstantValue::Integer { value: value >> places, kind });
        }
        let shifted = value << places;
        // A signed number may lose its sign bit to the value, and no more.
        let unsigned = IntegerType { signed: false, ..kind };
        if kind.signed && !unsigned.holds(shifted) {
            return Err(ConstantError::Overflow { operator: "<<" });
        }
        Ok(ConstantValue::Integer { value: kind.wrapped(shifted), kind })
    }

    fn call(
        &self,
        helper: Helper,
        kind: Option<NumberType>,
        left: ConstantValue,
        right: ConstantValue,
    ) -> Result<ConstantValue, ConstantError> {
        let kind = kind.unwrap_or_else(|| self.common(left.kind(), right.kind()));
        let (left, right) = (left.converted(kind)?, right.converted(kind)?);
        let undefined = ConstantError::Operands { operator: helper.name() };
        match helper {
            Helper::Min | Helper::Max => {
                let less = self.binary(BinaryOperator::Less, right, left)?.is_true();
                Ok(if less == (helper == Helper::Min) { right } else { left })
            }
            Helper::CeilDiv | Helper::AlignUp => match (left, right, kind) {
                // For others the definitions that there are do not agree.
                (
                    ConstantValue::Integer { value: left, .. },
                    ConstantValue::Integer { value: right, .. },
                    NumberType::Integer(kind),
                ) if left >= 0 && right > 0 && kind.holds(left + right) => {
                    let parts = (left + right - 1) / right;
                    let value = if helper == Helper::CeilDiv { parts } else { parts * right };
                    integer(value, kind, helper.name())
                }
                _ => Err(undefined),
            },
        }
    }
}

/// A result in its type: unsigned ones wrap, signed ones must fit.
fn integer(value: i128, kind: IntegerType, operator: &'static str) -> Result<ConstantValue, ConstantError> {
    if kind.signed && !kind.holds(value) {
        return Err(ConstantError::Overflow { operator });
    }
    Ok(ConstantValue::Integer { value: kind.wrapped(value), kind })
}

/// Operands have at most 64 bits: no sum overflows here, and of a product of unsigned ones the low bits are what counts.
fn integers(
    operator: BinaryOperator,
    left: i128,
    right: i128,
    kind: IntegerType,
) -> Result<ConstantValue, ConstantError> {
    let value = match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left.wrapping_mul(right),
        BinaryOperator::Divide | BinaryOperator::Remainder if right == 0 => return Err(ConstantError::DivisionByZero),
        BinaryOperator::Divide => left / right,
        // The quotient has to fit for the remainder to be one.
        BinaryOperator::Remainder if !kind.holds(left / right) => {
            return Err(ConstantError::Overflow { operator: "%" });
        }
        BinaryOperator::Remainder => left % right,
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::BitAnd => left & right,
        comparison => return compared(comparison, left.cmp(&right)),
    };
    integer(value, kind, operator.mark())
}

fn floats(operator: BinaryOperator, left: f64, right: f64, kind: NumberType) -> Result<ConstantValue, ConstantError> {
    // The product of two floats and their sum, difference and quotient, rounded twice, are what rounding once gives.
    let value = match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left * right,
        BinaryOperator::Divide if right == 0.0 => return Err(ConstantError::DivisionByZero),
        BinaryOperator::Divide => left / right,
        BinaryOperator::Remainder | BinaryOperator::BitOr | BinaryOperator::BitXor | BinaryOperator::BitAnd => {
            return Err(ConstantError::Operands { operator: operator.mark() });
        }
        comparison => {
            let order = left.partial_cmp(&right).ok_or(ConstantError::Operands { operator: operator.mark() })?;
            return compared(comparison, order);
        }
    };
    if !value.is_finite() {
        return Err(ConstantError::Overflow { operator: operator.mark() });
    }
    if kind == NumberType::Single {
        return ConstantValue::single(value, operator.mark());
    }
    Ok(ConstantValue::Double(value))
}

fn compared(operator: BinaryOperator, order: std::cmp::Ordering) -> Result<ConstantValue, ConstantError> {
    let holds = match operator {
        BinaryOperator::Equal => order.is_eq(),
        BinaryOperator::NotEqual => order.is_ne(),
        BinaryOperator::Less => order.is_lt(),
        BinaryOperator::LessEqual => order.is_le(),
        BinaryOperator::Greater => order.is_gt(),
        BinaryOperator::GreaterEqual => order.is_ge(),
        _ => return Err(ConstantError::Operands { operator: operator.mark() }),
    };
    Ok(ConstantValue::truth(holds))
}

/// A cast to a type that only the device calculates with: whole numbers that such a type holds stay what they are.
fn small_float(name: &str, value: ConstantValue) -> Result<ConstantValue, ConstantError> {
    let exact = exact_up_to(name)?;
    let number = value.number();
    if number.fract() == 0.0 && number.abs() <= exact {
        Ok(ConstantValue::Single(number))
    } else {
        Err(ConstantError::Overflow { operator: "cast" })
    }
}

/// Up to where a floating type of the device has all whole numbers.
fn exact_up_to(name: &str) -> Result<f64, ConstantError> {
    match name.strip_prefix("AscendC::").unwrap_or(name) {
        "half" | "float16_t" => Ok(2048.0),
        "bfloat16_t" => Ok(256.0),
        _ => Err(ConstantError::UnknownType { name: name.to_owned() }),
    }
}
