//! What an expression is made of.

use super::types::NumberType;
use super::value::ConstantValue;

/// A constant expression, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantExpression {
    /// A literal.
    Literal(ConstantValue),
    /// A name: the last one of `a.b`, `a->b` and `A::b`.
    Name(String),
    /// `sizeof` a type.
    SizeOf(String),
    /// `defined` a macro.
    Defined(String),
    /// One operand.
    Unary(UnaryOperator, Box<ConstantExpression>),
    /// Two operands.
    Binary(BinaryOperator, Box<ConstantExpression>, Box<ConstantExpression>),
    /// `condition ? one : other`.
    Conditional(Box<[ConstantExpression; 3]>),
    /// A cast of any form.
    Cast(NumberType, Box<ConstantExpression>),
    /// A cast to a type of this name, which is not known.
    CastToUnknown(String, Box<ConstantExpression>),
    /// A helper of the library, with the type that its template argument names.
    Call(Helper, Option<NumberType>, Box<[ConstantExpression; 2]>),
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `~`
    Complement,
    /// `!`
    Not,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

impl BinaryOperator {
    /// All, with how they are written and how strongly they bind.
    pub(super) const ALL: [(Self, &'static str, u8); 18] = [
        (Self::Or, "||", 1),
        (Self::And, "&&", 2),
        (Self::BitOr, "|", 3),
        (Self::BitXor, "^", 4),
        (Self::BitAnd, "&", 5),
        (Self::Equal, "==", 6),
        (Self::NotEqual, "!=", 6),
        (Self::Less, "<", 7),
        (Self::Greater, ">", 7),
        (Self::LessEqual, "<=", 7),
        (Self::GreaterEqual, ">=", 7),
        (Self::ShiftLeft, "<<", 8),
        (Self::ShiftRight, ">>", 8),
        (Self::Add, "+", 9),
        (Self::Subtract, "-", 9),
        (Self::Multiply, "*", 10),
        (Self::Divide, "/", 10),
        (Self::Remainder, "%", 10),
    ];

    /// How it is written.
    pub fn mark(self) -> &'static str {
        Self::ALL.iter().find(|(operator, ..)| *operator == self).map_or("", |(_, mark, _)| mark)
    }

    /// Whether it takes integers only.
    pub(super) fn is_for_integers(self) -> bool {
        matches!(self, Self::BitOr | Self::BitXor | Self::BitAnd | Self::ShiftLeft | Self::ShiftRight | Self::Remainder)
    }

    /// Whether its result is a truth value whatever its operands are.
    pub(super) fn compares(self) -> bool {
        matches!(
            self,
            Self::Or
                | Self::And
                | Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::Greater
                | Self::LessEqual
                | Self::GreaterEqual
        )
    }
}

/// Functions that mean the same wherever their names stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// `std::min`
    Min,
    /// `std::max`
    Max,
    /// Quotient, rounded up.
    CeilDiv,
    /// The least multiple that is no less.
    AlignUp,
}

impl Helper {
    /// Helpers of the standard library and of the toolkits, by their qualified names: without its namespace a function is the
    /// project's own, and may mean anything.
    pub(super) fn named(path: &str) -> Option<Self> {
        Some(match path {
            "std::min" | "Std::min" | "AscendC::Std::min" => Self::Min,
            "std::max" | "Std::max" | "AscendC::Std::max" => Self::Max,
            "AscendC::CeilDivision" | "ops::CeilDiv" | "Ops::Base::CeilDiv" => Self::CeilDiv,
            "AscendC::AlignUp" | "ops::CeilAlign" | "Ops::Base::CeilAlign" => Self::AlignUp,
            _ => return None,
        })
    }

    /// How messages call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
            Self::CeilDiv => "ceil_div",
            Self::AlignUp => "align_up",
        }
    }
}
