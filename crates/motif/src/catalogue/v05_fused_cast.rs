//! V05: a sum with Relu, or a product, that is cast to a narrower type right away becomes one instruction.

use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::peephole::{Bound, Condition, Guard, Rule, Through};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const FUSED_CAST: Declared = Declared { metadata: &METADATA, rules: Rules::Pairs(RULES) };

const METADATA: Metadata = Metadata {
    id: Id::V05,
    title: "cast in the same instruction",
    family: Family::Vector,
    precondition: "AddRelu, SubRelu or Mul and then Cast of all of its result, which nobody else reads: float to half after AddRelu and SubRelu, half to int8_t after all \
     three, half to uint8_t after Mul, int16_t to int8_t after AddRelu and SubRelu; rounding to nearest even",
    left_to_verifier: "rounding and saturation of the two forms",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "a scratch tensor for the wide result",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const RULES: &[Rule] = &[
    cast(
        ["AddRelu(t, a, b, n)", "Cast(y, t, m, n)"],
        "AddReluCast(y, a, b, n)",
        ["AddReluCast into {y}", "AddReluCast"],
        RECTIFIED,
    ),
    cast(
        ["SubRelu(t, a, b, n)", "Cast(y, t, m, n)"],
        "SubReluCast(y, a, b, n)",
        ["SubReluCast into {y}", "SubReluCast"],
        RECTIFIED,
    ),
    cast(["Mul(t, a, b, n)", "Cast(y, t, m, n)"], "MulCast(y, a, b, n)", ["MulCast into {y}", "MulCast"], PRODUCTS),
];

/// What a rectified sum is cast from and to.
const RECTIFIED: &[Guard] = &[
    Guard::Casts(&[("float", "half"), ("int16_t", "int8_t"), ("half", "int8_t")]),
    Guard::Holds(rounds_alike),
    Guard::Mergeable,
    Guard::Apart("a", "y"),
    Guard::Apart("b", "y"),
];
/// What a product is cast from and to.
const PRODUCTS: &[Guard] = &[
    Guard::Casts(&[("half", "int8_t"), ("half", "uint8_t")]),
    Guard::Holds(rounds_alike),
    Guard::Mergeable,
    Guard::Apart("a", "y"),
    Guard::Apart("b", "y"),
];

const fn cast(
    long: [&'static str; 2],
    short: &'static str,
    [note, undoing]: [&'static str; 2],
    guards: &'static [Guard],
) -> Rule {
    Rule::new(long, short, note, guards)
        .on_condition(Condition::Always("both forms round and saturate alike"))
        .undone_with(undoing, Through::ScratchLike("a"), |bound| {
            Some(vec![("m", bound.scoped("RoundMode::CAST_RINT"))])
        })
}

fn rounds_alike(bound: &Bound<'_>) -> Result<(), String> {
    // From float to half, the mode NONE rounds to nearest even too.
    let mode = bound.text("m").rsplit("::").next().unwrap_or_default();
    if mode != "CAST_RINT" && !(mode == "CAST_NONE" && bound.element("t") == "float") {
        return Err(format!("the fused form does not round like {mode}"));
    }
    Ok(())
}
