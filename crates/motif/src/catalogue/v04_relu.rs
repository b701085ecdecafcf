//! V04: an addition or subtraction and the rectifier after it, in one instruction.

use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Condition, Guard, Rule, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const FUSED_RELU: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V04,
    title: "Add or Sub and Relu to AddRelu or SubRelu",
    family: Family::Vector,
    precondition: "Add(t, a, b) or Sub(t, a, b) then Relu(y, t) with the same count, t not read afterwards, a and b unchanged in between, half, float or int16_t",
    left_to_verifier: "element type, where it is a template parameter",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "split, in place",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const RULES: &[Rule] = &[
    rectified(["Add(t, a, b, n)", "Relu(y, t, n)"], "AddRelu(y, a, b, n)", "AddRelu into {y}", "Add and Relu"),
    rectified(["Sub(t, a, b, n)", "Relu(y, t, n)"], "SubRelu(y, a, b, n)", "SubRelu into {y}", "Sub and Relu"),
];

const fn rectified(long: [&'static str; 2], short: &'static str, note: &'static str, undoing: &'static str) -> Rule {
    Rule::new(long, short, note, &[Guard::HasForm(&["int16_t"]), Guard::Mergeable])
        .on_condition(Condition::UnknownElement("the element type is half, float or int16_t"))
        .undone(undoing, Through::InPlace)
}
