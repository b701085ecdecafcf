//! V14: no way to another type and back: half between floats loses bits for nothing, and integers between floats are there
//! for their rounding, which a cast from float to float does at once.

use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Bound, Condition, Guard, Rule, Texts, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const CAST_BACK: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V14,
    title: "no way to another type and back",
    family: Family::Vector,
    precondition: "Cast of float to half or bfloat16_t, or with a rounding mode to int32_t, and Cast of all of that back to float, which nobody else reads",
    left_to_verifier: "with half in between: that nobody wants what the rounding leaves over; with integers: that the values fit int32_t, and that the sign of zeros does not matter",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing; with half in between: other rounding, the result is the more exact one",
    tunables: "may leave a buffer unused: opens larger tiles",
    undoing: "through an unused tensor of the other type",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

const RULES: &[Rule] = &[
    Rule::new(["Cast(t, y, m, n)", "Cast(y, t, k, n)"], "", "{y} without {t}", &[NARROW, Guard::Mergeable])
        .rounding()
        .on_condition(LEFT_OVER)
        .undone_with("{y}", Through::ScratchOf("half"), |bound| {
            let call = bound.call;
            let cast_or_copy = call.name == "Cast" || (call.name == "Muls" && call.scalar == Some("1.0f"));
            let from_float = call.sources.len() == 1 && bound.element_of(call.sources[0]) == "float";
            (bound.element("y") == "float" && !(cast_or_copy && from_float)).then(|| to_nearest(bound))
        }),
    Rule::new(
        ["Cast(t, a, m, n)", "Cast(y, t, k, n)"],
        "Muls(y, a, o, n)",
        "{y} without {t}",
        &[NARROW, Guard::Mergeable, Guard::SameOrApart("a", "y")],
    )
    .rounding()
    .on_condition(LEFT_OVER)
    .made("o", |_| "1.0f".to_owned())
    .undone_with("{y}", Through::ScratchOf("half"), |bound| {
        (bound.text("o") == "1.0f" && floats(bound)).then(|| to_nearest(bound))
    }),
    Rule::new(
        ["Cast(t, a, m, n)", "Cast(y, t, k, n)"],
        "Cast(y, a, m, n)",
        "{y} without {t}",
        &[
            Guard::Resembles(|bound| floats(bound) && bound.element("t") == "int32_t"),
            Guard::Mergeable,
            Guard::SameOrApart("a", "y"),
            Guard::Holds(rounds),
        ],
    )
    .on_condition(Condition::Always("the values fit int32_t; the sign of zeros does not matter"))
    .undone_with("{y}", Through::ScratchOf("int32_t"), |bound| {
        floats(bound).then(|| vec![("k", bound.scoped("RoundMode::CAST_NONE"))])
    }),
];

/// With fewer bits in between.
const NARROW: Guard = Guard::Resembles(|bound| floats(bound) && matches!(bound.element("t"), "half" | "bfloat16_t"));
const LEFT_OVER: Condition = Condition::Always("nobody wants what the rounding leaves over");

/// Whether source and result are floats; where the rule has one name for both, they are the same.
fn floats(bound: &Bound<'_>) -> bool {
    let source = if bound.text("a").is_empty() { "y" } else { "a" };
    bound.element(source) == "float" && bound.element("y") == "float"
}

fn to_nearest(bound: &Bound<'_>) -> Texts {
    vec![("m", bound.scoped("RoundMode::CAST_RINT")), ("k", bound.scoped("RoundMode::CAST_NONE"))]
}

fn rounds(bound: &Bound<'_>) -> Result<(), String> {
    let mode = bound.text("m");
    if !["CAST_FLOOR", "CAST_CEIL", "CAST_RINT", "CAST_ROUND", "CAST_TRUNC"].iter().any(|known| mode.ends_with(known)) {
        return Err(format!("{mode} does not say how to round"));
    }
    Ok(())
}
