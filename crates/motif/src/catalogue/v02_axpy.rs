//! V02: multiply by a scalar and add into the destination, in one instruction.

use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Condition, Guard, Rule, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const AXPY: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V02,
    title: "Muls and Add to Axpy",
    family: Family::Vector,
    precondition: "Muls(t, x, s) then Add(y, y, t) with the same count, t not read afterwards, x unchanged in between, half or float",
    left_to_verifier: "element type, where it is a template parameter",
    relieves: &[Counter::VecUs],
    prior_gain: 1.03,
    cost: "other rounding: multiply and add may be fused",
    tunables: "none",
    undoing: "split, through an unused scratch tensor",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

const RULES: &[Rule] = &[Rule::new(
    ["Muls(t, a, s, n)", "Add(y, y, t, n)"],
    "Axpy(y, a, s, n)",
    "Axpy into {y}",
    &[Guard::Mergeable, Guard::HasForm(&[]), Guard::Apart("a", "y")],
)
.rounding()
.on_condition(Condition::UnknownElement("the element type is half or float"))
.undone("Axpy to Muls and Add", Through::Scratch)];
