//! V28: a division by one value, held in a filled tensor, becomes a multiplication by its reciprocal.

use crate::analysis::code::is_float;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Bound, Guard, Rule, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const SCALAR_RECIPROCAL: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V28,
    title: "division by a filled tensor to Muls with the reciprocal",
    family: Family::Vector,
    precondition: "Duplicate(t, s) then Div(y, x, t), same count, t not read afterwards, float",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.1,
    cost: "other rounding: the reciprocal is rounded, then the product; a divisor below the normal range has no finite reciprocal",
    tunables: "may leave a buffer unused: opens larger tiles",
    undoing: "fill an unused scratch tensor and divide",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

const RULES: &[Rule] = &[Rule::new(
    ["Duplicate(t, s, n)", "Div(y, b, t, n)"],
    "Muls(y, b, r, n)",
    "multiply {b} by a reciprocal",
    &[Guard::Holds(single), Guard::SameCount, Guard::Unchanged, Guard::Dead, Guard::Holds(no_integer)],
)
.rounding()
.made("r", reciprocal)
.undone_with("Div by a filled tensor", Through::Scratch, |bound| {
    Some(vec![("s", reciprocal_of(bound.text("r"))?.to_owned())])
})];

/// `s` of `1.0f / s` and `1.0f / (s)`.
fn reciprocal_of(scalar: &str) -> Option<&str> {
    let rest = scalar.strip_prefix("1.0f")?.trim_start().strip_prefix('/')?.trim();
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    match inner {
        Some(inner) if !inner.contains(['(', ')']) => Some(inner),
        _ => name(rest).then_some(rest),
    }
}

fn single(bound: &Bound<'_>) -> Result<(), String> {
    let element = bound.element("y");
    if element != "float" && element != "float32_t" {
        let kind =
            if is_float(element) == Some(false) { "integer division" } else { "the reciprocal of a short float" };
        return Err(format!("{kind} is not a multiplication ({element})"));
    }
    Ok(())
}

fn no_integer(bound: &Bound<'_>) -> Result<(), String> {
    let scalar = bound.text("s");
    if scalar.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{scalar} is an integer constant: its reciprocal is left to the writer"));
    }
    Ok(())
}

fn reciprocal(bound: &Bound<'_>) -> String {
    let scalar = bound.text("s");
    let plain = scalar.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    if plain { format!("1.0f / {scalar}") } else { format!("1.0f / ({scalar})") }
}
