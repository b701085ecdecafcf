//! V33: two multiplications by scalars, or two additions of scalars, in one instruction.

use crate::analysis::code::{is_float, is_name};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Bound, Guard, Rule, Texts, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const SCALAR_CHAIN: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V33,
    title: "two scalar instructions of a kind in one",
    family: Family::Vector,
    precondition: "Muls(t, x, a) then Muls(y, t, b), or Adds and Adds, with the same count, t not read afterwards, x unchanged in between, float",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "other rounding: the scalars are combined first, which may overflow where the steps do not",
    tunables: "none",
    undoing: "split a scalar that is a product or a sum of two names, in place",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

const RULES: &[Rule] = &[
    Rule::new(["Muls(t, a, s, n)", "Muls(y, t, u, n)"], "Muls(y, a, r, n)", "one Muls into {y}", GUARDS)
        .rounding()
        .made("r", |bound| joined(bound, "*"))
        .undone_with("two Muls in place of one", Through::InPlace, |bound| parted(bound, " * ")),
    Rule::new(["Adds(t, a, s, n)", "Adds(y, t, u, n)"], "Adds(y, a, r, n)", "one Adds into {y}", GUARDS)
        .rounding()
        .made("r", |bound| joined(bound, "+"))
        .undone_with("two Adds in place of one", Through::InPlace, |bound| parted(bound, " + ")),
];

const GUARDS: &[Guard] = &[Guard::Holds(single), Guard::Mergeable, Guard::Holds(not_whole)];

fn single(bound: &Bound<'_>) -> Result<(), String> {
    let element = bound.element("y");
    if !matches!(element, "float" | "float32_t") {
        let kind = if is_float(element) == Some(true) { "short floats round each step" } else { "not a float" };
        return Err(format!("{kind} ({element})"));
    }
    Ok(())
}

fn not_whole(bound: &Bound<'_>) -> Result<(), String> {
    let whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if whole(bound.text("s")) && whole(bound.text("u")) {
        return Err("two integer constants are left to the writer".to_owned());
    }
    Ok(())
}

fn joined(bound: &Bound<'_>, operator: &str) -> String {
    let part = |text: &str| if is_name(text) { text.to_owned() } else { format!("({text})") };
    format!("{} {operator} {}", part(bound.text("s")), part(bound.text("u")))
}

fn parted(bound: &Bound<'_>, operator: &str) -> Option<Texts> {
    let (first, second) = bound.text("r").split_once(operator)?;
    let plain = is_name(first) && is_name(second) && bound.element("y") == "float";
    plain.then(|| vec![("s", first.to_owned()), ("u", second.to_owned())])
}
