//! Why a tunable has one value for all sizes.

/// Why a tunable is not chosen by size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} has one value for all sizes: {why}")]
pub struct NotDispatched {
    /// Name of the tunable.
    pub name: String,
    /// Why.
    pub why: WhyNot,
}

/// What stands in the way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyNot {
    /// A limit, a share, an argument, a CMake entry: nothing with a name that could be a variable.
    #[error("it is no constant with a name")]
    NoConstant,
    /// A constant that several files keep at one value.
    #[error("host and kernel keep it in step")]
    InStep,
    /// Its place was not found.
    #[error("{0}")]
    NotFound(String),
    /// An enumerator, a text or a switch.
    #[error("{file}:{line}: it is no number with an integer type")]
    NoInteger {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// A kernel reads it.
    #[error("{file}:{line}: the kernel reads it, and is compiled once for all sizes")]
    InKernel {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// A file that nobody may edit reads it.
    #[error("{file} reads it, which is not one of the files that tuning may edit")]
    Beside {
        /// File.
        file: String,
    },
    /// A static assertion, an array's bound, a template argument, another constant.
    #[error("it is {0}")]
    CompileTime(String),
    /// It is used where no function is, or in a macro.
    #[error("{file}:{line}: it is used outside of a function")]
    OutsideFunction {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// What is computed once and kept.
    #[error("{file}:{line}: what is made of it there is kept from one call to the next")]
    Kept {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// Nothing uses it.
    #[error("no host code uses it")]
    Unused,
    /// Nothing in the function says how large the first input is.
    #[error("{file}:{line}: the size of the first input is not known in the function that uses it")]
    NoSize {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// Code that only some builds have.
    #[error("{file}:{line}: it is used under conditions of the preprocessor")]
    Conditional {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// Names that a variable or a constant would have are taken.
    #[error("{file}: the names that it would get, such as `{taken}`, are taken")]
    NameTaken {
        /// File.
        file: String,
        /// The last one that was tried.
        taken: String,
    },
    /// A choice by size is there.
    #[error("{file}:{line}: it is chosen by size already")]
    There {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// A rule for the number of cores stands on the constant.
    #[error("the rule {0} stands on it")]
    Ruled(String),
}

impl WhyNot {
    /// The same of a tunable.
    pub(super) fn of(self, name: &str) -> NotDispatched {
        NotDispatched { name: name.to_owned(), why: self }
    }
}
