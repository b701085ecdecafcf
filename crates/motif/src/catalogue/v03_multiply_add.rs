//! V03: multiply and add of three tensors in one instruction.

use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Bound, Condition, Guard, Rule, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const MULTIPLY_ADD: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V03,
    title: "Mul and Add to MulAddDst or FusedMulAdd",
    family: Family::Vector,
    precondition: "Mul(t, a, b) then Add(y, y, t) with t not read afterwards, or Mul(d, d, a) then Add(d, d, b); same count, operands disjoint and unchanged, \
     half or float",
    left_to_verifier: "as V02",
    relieves: &[Counter::VecUs],
    prior_gain: 1.03,
    cost: "other rounding: multiply and add may be fused",
    tunables: "none",
    undoing: "split",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

const FLOATS: Condition = Condition::UnknownElement("the element type is half or float");

const RULES: &[Rule] = &[
    Rule::new(
        ["Mul(t, a, b, n)", "Add(y, y, t, n)"],
        "MulAddDst(y, a, b, n)",
        "MulAddDst into {y}",
        &[
            Guard::Mergeable,
            Guard::HasForm(&[]),
            Guard::Apart("a", "y"),
            Guard::Apart("b", "y"),
            Guard::Typed(&["a", "b"]),
        ],
    )
    .rounding()
    .on_condition(FLOATS)
    .undone("MulAddDst to Mul and Add", Through::Scratch),
    Rule::new(
        ["Mul(y, y, a, n)", "Add(y, y, b, n)"],
        "FusedMulAdd(y, a, b, n)",
        "FusedMulAdd into {y}",
        &[
            Guard::Mergeable,
            Guard::HasForm(&[]),
            Guard::Holds(other_factor),
            Guard::Apart("a", "y"),
            Guard::Apart("b", "y"),
            Guard::Typed(&["a", "b"]),
        ],
    )
    .rounding()
    .on_condition(FLOATS)
    .undone("FusedMulAdd to Mul and Add", Through::InPlace),
];

fn other_factor(bound: &Bound<'_>) -> Result<(), String> {
    if bound.text("a") == bound.text("y") {
        return Err("the destination is multiplied by itself".to_owned());
    }
    Ok(())
}
