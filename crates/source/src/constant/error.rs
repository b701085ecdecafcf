//! Why an expression has no constant value.

/// Why an expression has no constant value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstantError {
    /// The text is not one of these expressions.
    #[error("`{found}` where {expected} was expected")]
    Syntax {
        /// The word that stands there, empty at the end.
        found: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// A word that begins like a literal and is none.
    #[error("`{literal}` is no literal of this language, or its value has no type")]
    Literal {
        /// The word.
        literal: String,
    },
    /// More nesting or more operands than anybody writes by hand.
    #[error("the expression is nested deeper than {limit} levels")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A name whose value is not known.
    #[error("the value of `{name}` is not known")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A type whose size or range is not known.
    #[error("the type `{name}` is not known")]
    UnknownType {
        /// The type.
        name: String,
    },
    /// A signed result that its type does not hold.
    #[error("the result of `{operator}` overflows its type")]
    Overflow {
        /// The operator or cast.
        operator: &'static str,
    },
    /// Division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A shift by less than nothing or by the width of the type or more.
    #[error("a shift by {by} in a type of {bits} bits")]
    Shift {
        /// How far.
        by: i128,
        /// Width of the type.
        bits: u32,
    },
    /// An operator that is not for numbers of this type, or a helper outside of where all its definitions agree.
    #[error("`{operator}` is not defined for these operands")]
    Operands {
        /// The operator or helper.
        operator: &'static str,
    },
}

impl ConstantError {
    /// Whether all that is wrong is that something is not known here.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::UnknownName { .. } | Self::UnknownType { .. })
    }
}
