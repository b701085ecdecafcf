//! Tunables in the sources: finding the bytes a value lives in, writing a value there, and replacing it by a knob that
//! the simulator reads at run time.

mod asked;
pub mod compile_time;
mod dispatch;
mod flow;
mod instrument;
pub mod lexer;
pub mod literal;
mod locate;
mod meaning;
mod portion;
mod realize;
mod share;
mod statement;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use space::Value;

pub use asked::{ASKING, asked_size};
pub use compile_time::looks_compile_time;
pub use dispatch::{
    BY_SIZE, BySize, NotDispatched, Surroundings, ValuesBySize, WhyNot, by_size, chosen_by_size, dispatchable,
    of_choices,
};
pub use flow::{Flow, Sink};
pub use instrument::instrument;
pub use locate::locate;
pub use locate::{cap_of, constants_in};
pub use meaning::Meaning;
pub use meaning::SETS_CORES;
pub use portion::{PortionRule, has_portion};
pub use realize::{present_value, realize};
pub use share::ShareRule;
pub use share::{ASKS_CORES, divisions};
pub use statement::limit_asked;
pub use words::words;

/// A place in the sources that holds the value of a tunable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// File, relative to the operator's root.
    pub file: String,
    /// Bytes of the literal or expression.
    pub span: Range<usize>,
    /// Text of these bytes.
    pub text: String,
    /// Line, from 1.
    pub line: usize,
    /// Value that stands there: an integer or a boolean for literals, a limit for an expression already capped.
    pub value: Option<Value>,
    /// How the place is written.
    pub form: SiteForm,
}

impl Site {
    fn of(file: &str, text: &str, span: Range<usize>, value: Option<Value>, form: SiteForm) -> Self {
        Self {
            file: file.to_owned(),
            text: text[span.clone()].to_owned(),
            line: line_of(text, span.start),
            span,
            value,
            form,
        }
    }
}

/// Syntax around a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteForm {
    /// Initialiser of a constant that is declared with a type.
    Declaration(Declaration),
    /// Body of an object-like macro.
    Define,
    /// Value of an enumerator.
    Enumerator,
    /// Argument of a call.
    Argument,
    /// Assigned expression; the bytes are those of the expression without the cap, if it has one.
    Assigned {
        /// Bytes of the uncapped expression.
        inner: Range<usize>,
        /// The call that picks the smaller value, in the type of what is assigned: `std::min<uint32_t>`.
        call: String,
        /// Whether the file is compiled for the AI Core, where `std::min` is not at hand.
        device: bool,
    },
    /// In front of the first statement that divides work by a number of cores: nothing, or a rule for the least share.
    Share(ShareRule),
    /// A number of cores behind a rule that declares a variable for those that take part.
    Shared {
        /// The constant that stands there without a rule.
        constant: String,
        /// The variable that stands there with one.
        variable: String,
    },
    /// Behind the same call and that statement: nothing, or a rule for how much is planned with.
    Portion(PortionRule),
    /// Behind the call that asks the platform for the size of the unified buffer: nothing, or a statement that limits it.
    Asked {
        /// Where the answer goes, as written.
        variable: String,
        /// Line break and indentation of the call.
        line: String,
    },
}

/// What instrumenting must know about a constant's declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Bytes of the word `constexpr`, where it is used.
    pub constexpr: Option<Range<usize>>,
    /// Bytes of the word `static`, where it is used.
    pub storage: Option<Range<usize>>,
    /// Whether the declaration is a class member.
    pub member: bool,
    /// Text of the type.
    pub kind: String,
    /// Whether the initialiser is in braces, where narrowing is an error.
    pub braces: bool,
}

/// Why a tunable cannot be found or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TunableError {
    /// The file is not among the sources.
    #[error("{file}: not one of the operator's source files; correct the tunable's `file`")]
    UnknownFile {
        /// The file.
        file: String,
    },
    /// Nothing in the file fits.
    #[error("{file}: no {what}; correct the tunable or delete it")]
    NotFound {
        /// The file.
        file: String,
        /// What was looked for.
        what: String,
    },
    /// Several places with different values fit.
    #[error("{file}: {what} fits lines {}; {fix}", lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Ambiguous {
        /// The file.
        file: String,
        /// What was looked for.
        what: String,
        /// Lines, from 1.
        lines: Vec<usize>,
        /// How to say which one is meant.
        fix: String,
    },
    /// The place does not hold a literal.
    #[error("{file}:{line}: {what} is `{text}`, not a literal; only literals can be replaced")]
    NotLiteral {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What was looked for.
        what: String,
        /// The text that stands there.
        text: String,
    },
    /// The value cannot stand at the place.
    #[error("{file}:{line}: {name} = {value} cannot be written here: {message}")]
    BadValue {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The tunable.
        name: String,
        /// The value.
        value: Value,
        /// Why not.
        message: String,
    },
}

/// Line of a byte, from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}
