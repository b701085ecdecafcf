//! V21: a negation that only serves another instruction goes into that instruction.

use crate::analysis::code::{is_float, squash};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Bound, Condition, Guard, Rule, Texts, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const NEGATION: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V21,
    title: "negation inside another instruction",
    family: Family::Vector,
    precondition: "Muls by -1 whose result only one instruction reads: Add of it becomes Sub, Sub of it becomes Add, Max with the value itself becomes Abs",
    left_to_verifier: "the sign of a zero and NaN, where Abs replaces Max",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "a negation of its own",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const RULES: &[Rule] = &[
    Rule::new(
        ["Muls(t, a, m, n)", "Add(y, b, t, n)"],
        "Sub(y, b, a, n)",
        "Sub for Add",
        &[Guard::Resembles(negates), Guard::Holds(|bound| exact(bound, "Sub", "int32_t")), Guard::Mergeable],
    )
    .undone_with("Sub with a negated operand", Through::Scratch, minus_one),
    Rule::new(
        ["Muls(t, a, m, n)", "Sub(y, b, t, n)"],
        "Add(y, b, a, n)",
        "Add for Sub",
        &[Guard::Resembles(negates), Guard::Holds(|bound| exact(bound, "Add", "int32_t")), Guard::Mergeable],
    )
    .undone_with("Add with a negated operand", Through::Scratch, minus_one),
    Rule::new(
        ["Muls(t, a, m, n)", "Max(y, a, t, n)"],
        "Abs(y, a, n)",
        "Abs for Max",
        &[Guard::Resembles(negates), Guard::Holds(|bound| exact(bound, "Abs", "")), Guard::Mergeable],
    )
    .on_condition(Condition::Always("zeros may have either sign, and NaN is NaN"))
    .undone_with("Abs with a negated operand", Through::Scratch, minus_one),
];

fn negates(bound: &Bound<'_>) -> bool {
    let negated = squash(bound.text("m"));
    let plain = negated.rsplit_once('(').map_or(negated.as_str(), |(_, inner)| inner.trim_end_matches(')'));
    ["-1", "-1.0", "-1.0f", "-1.f", "-1.0F"].contains(&plain)
}

fn minus_one(bound: &Bound<'_>) -> Option<Texts> {
    let element = bound.element("y");
    let one = if element == "float" { "-1.0f".to_owned() } else { format!("static_cast<{element}>(-1)") };
    Some(vec![("m", one)])
}

fn exact(bound: &Bound<'_>, name: &str, besides: &str) -> Result<(), String> {
    let element = bound.element("y");
    if is_float(element) != Some(true) && element != besides {
        return Err(format!("{name} is not known to be the same for {element}"));
    }
    Ok(())
}
