//! Tunables: a named place in the sources, the values it may take, and how a value gets there.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Value;

/// Values a tunable may take. Every domain is finite and ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Domain {
    /// `min, min + step, ...` up to and including `max`; `step` is at least 1.
    Range {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
        /// Distance between neighbours.
        step: i64,
    },
    /// The powers of two from `min` to `max`, both included; both are powers of two.
    PowerOfTwo {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// Listed values; `ordered` says whether neighbours in the list are alike.
    List {
        /// The values, without repetition.
        values: Vec<Value>,
        /// Whether the order of the list means anything.
        ordered: bool,
    },
    /// `false` and `true`.
    Bool,
    /// Every order of some items, as the text of the items with commas between them.
    Permutation {
        /// The items, at most [`MOST_PERMUTED`], without repetition.
        items: Vec<String>,
    },
}

impl Domain {
    /// Whether neighbours among its values are alike.
    pub fn is_ordered(&self) -> bool {
        !matches!(self, Domain::List { ordered: false, .. } | Domain::Permutation { .. })
    }
}

/// More items than this have too many orders to be listed.
pub const MOST_PERMUTED: usize = 6;

/// Under which condition a tunable matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Expression over other tunables and case facts.
    pub text: String,
    /// Bytes of the manifest where it stands.
    #[serde(skip)]
    pub span: Range<usize>,
}

/// Where in the project a tunable lives, and so how a value is applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// The literal that initialises a named constant: `constexpr`, `const`, `#define`, a static member or an enumerator.
    Constant {
        /// File, relative to the operator's root.
        file: String,
        /// Name of the constant; `Class::NAME` where several classes of the file have one.
        name: String,
        /// Further files with a constant of this name that must keep the same value (host and kernel in step).
        #[serde(default)]
        also: Vec<String>,
    },
    /// A literal argument of a call, such as `SetBlockDim(1)`.
    Argument {
        /// File, relative to the operator's root.
        file: String,
        /// Callee without qualifiers: `SetBlockDim`, `InitBuffer`.
        call: String,
        /// Text of the first argument that selects the call (`inQueueX`), or empty for the only call of that name.
        first: String,
        /// Position of the literal among the arguments, from 0.
        index: usize,
    },
    /// An expression assigned to a variable, member or tiling field; the value is an upper limit: `min(expression, value)`.
    Cap {
        /// File, relative to the operator's root.
        file: String,
        /// Left-hand side as written without object: `ubFactor` for `tiling->ubFactor = ..` and `tiling.set_ubFactor(..)`.
        target: String,
    },
    /// A number of cores that work is divided among; the value is the least share of a core: no more cores take part than
    /// get so much each, and 0 is no such rule.
    Share {
        /// File, relative to the operator's root.
        file: String,
        /// Variable that holds the number of cores.
        cores: String,
        /// What is divided, as written.
        of: String,
    },
    /// The unified buffer that a tiling function plans with, where it asks the platform for its size; the value is how many bytes of it
    /// are planned with for every element of the first input that a core gets, so that short work is done in several tiles. 0 is no
    /// such rule.
    Portion {
        /// File, relative to the operator's root.
        file: String,
        /// Variable that holds the size.
        target: String,
    },
    /// A CMake cache entry.
    Cmake {
        /// Name of the entry.
        variable: String,
    },
    /// Nowhere: the tunable of a recorded space, which is only looked up.
    Recorded,
}

/// One dimension of the search space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunable {
    /// Name in the manifest, unique in it.
    pub name: String,
    /// Values it may take.
    pub domain: Domain,
    /// Value in the sources as they are. For a cap: no limit is `None`.
    pub default: Option<Value>,
    /// How a value is applied.
    pub binding: Binding,
    /// Why this is a tunable and why the domain is what it is; one line.
    pub reason: String,
    /// Condition over other tunables and facts under which the value matters; elsewhere it stays at its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
}
