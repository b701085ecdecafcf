//! V06: a tensor filled with one value, used as an operand, becomes a scalar operand.

use crate::analysis::code::is_float;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Bound, Guard, Rule, Through};
use crate::{Combination, Company, Counter, Family, Id, Metadata};

/// The motif.
pub const SCALAR_OPERAND: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V06,
    title: "Duplicate and binary instruction to its scalar form",
    family: Family::Vector,
    precondition: "Duplicate(t, s) then Add, Sub (as subtrahend), Mul, Max or Min with t (behind the other operand where they are floats), same count, t not read afterwards; division is left alone because \
     multiplying by the reciprocal rounds differently",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing; frees the filled tensor",
    tunables: "may leave a buffer unused: opens larger tiles",
    undoing: "fill an unused scratch tensor",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[Combination { rank: 14, motifs: &[Id::V06, Id::D07, Id::D04, Id::V37, Id::D01] }],
        ..Company::ANY
    },
};

const RULES: &[Rule] = &[
    filled("Add(y, b, t, n)", "Adds(y, b, s, n)", "Add with a scalar", "Adds with a filled tensor"),
    filled("Mul(y, b, t, n)", "Muls(y, b, s, n)", "Mul with a scalar", "Muls with a filled tensor"),
    bounded("Max(y, b, t, n)", "Maxs(y, b, s, n)", "Max with a scalar", "Maxs with a filled tensor"),
    bounded("Min(y, b, t, n)", "Mins(y, b, s, n)", "Min with a scalar", "Mins with a filled tensor"),
    Rule::new(
        ["Duplicate(t, s, n)", "Sub(y, b, t, n)"],
        "Adds(y, b, r, n)",
        "Sub with a scalar",
        &[Guard::Holds(negates_exactly), Guard::SameCount, Guard::Unchanged, Guard::Dead],
    )
    .made("r", |bound| format!("static_cast<{}>(-({}))", bound.element("y"), bound.text("s"))),
    Rule::never(
        ["Duplicate(t, s, n)", "Sub(y, t, b, n)"],
        "Sub with a scalar",
        &[Guard::Never("s - a has no scalar form")],
    ),
    Rule::never(["Duplicate(t, s, n)", "Div(y, b, t, n)"], "Div with a scalar", &[Guard::Never(DIVISION)]),
    Rule::never(["Duplicate(t, s, n)", "Div(y, t, b, n)"], "Div with a scalar", &[Guard::Never(DIVISION)]),
];

const DIVISION: &str = "a / s as a * (1 / s) rounds differently";

const fn filled(second: &'static str, short: &'static str, note: &'static str, undoing: &'static str) -> Rule {
    Rule::new(["Duplicate(t, s, n)", second], short, note, &[Guard::SameCount, Guard::Unchanged, Guard::Dead])
        .undone(undoing, Through::Scratch)
}

const fn bounded(second: &'static str, short: &'static str, note: &'static str, undoing: &'static str) -> Rule {
    const GUARDS: &[Guard] = &[Guard::Holds(takes_the_same_zero), Guard::SameCount, Guard::Unchanged, Guard::Dead];
    Rule::new(["Duplicate(t, s, n)", second], short, note, GUARDS).undone(undoing, Through::Scratch)
}

/// Of 0 and -0 neither is larger: which one comes out hangs on the order of operands.
fn takes_the_same_zero(bound: &Bound<'_>) -> Result<(), String> {
    let filled_first = bound.operands().first() == Some(&bound.text("t"));
    if filled_first && is_float(bound.element("y")) != Some(false) {
        return Err("of 0 and -0 another one may be taken with the operands in the other order".to_owned());
    }
    Ok(())
}

fn negates_exactly(bound: &Bound<'_>) -> Result<(), String> {
    let element = bound.element("y");
    if is_float(element) != Some(true) {
        return Err(format!("a - s as a + (-s) is exact for half and float, not known for {element}"));
    }
    Ok(())
}
