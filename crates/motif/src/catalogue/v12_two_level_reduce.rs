//! V12: a reduction of a whole tensor in two instructions, without the scalar unit's part in the general routine.

use crate::analysis::machine::REPEAT_MAX;
use crate::analysis::reductions::{as_operand, lanes_of, uncast};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Texts, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::facts::base_name;

/// The motif.
pub const TWO_LEVEL_REDUCE: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[LEVELS]) };

const METADATA: Metadata = Metadata {
    id: Id::V12,
    title: "ReduceMax, ReduceMin or ReduceSum to two WholeReduce instructions",
    family: Family::Vector,
    precondition: "ReduceX(dst, src, work, n), maybe with its type or a trailing false, without index, half or float; n whole repeats and so few that one more repeat covers their results \
     (64 times 64 floats, 128 times 128 half), proved from constants and known values, else a condition",
    left_to_verifier: "whole repeats and within reach, where it is not proved",
    relieves: &[Counter::StallUs, Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.1,
    cost: "lengths that are not whole repeats no longer work; a sum is added up in another order",
    tunables: "closes tile lengths that are not whole repeats",
    undoing: "the general reduction",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

const LEVELS: Exchange = Exchange {
    slow: Form::Code("@Reduce$k{Max|Min|Sum}$e{<float>|<half>|}($y, $x, $w, $n$f{, false|});"),
    fast: Form::Code(
        "@WholeReduce$k{Max|Min|Sum}$e{<float>|<half>|}($w, $x, $l, $d / $l, 1, 1, 8$o{, @ReduceOrder::ORDER_ONLY_VALUE|});
@WholeReduce$k{Max|Min|Sum}$e{<float>|<half>|}($y, $w, $d / $l, 1, 1, 1, 8$o{, @ReduceOrder::ORDER_ONLY_VALUE|});",
    ),
    make: Way::new("Reduce$k in two steps", &[Guard::Holds(whole_repeats), Guard::Holds(own_work)])
        .with(|place| {
            let order = if place.hole("k") == "Sum" { "" } else { VALUE_ONLY };
            let (lanes, operand) = (lanes(place)?, as_operand(place.hole("n")));
            place.fill("o", order.replace('@', place.scope()));
            place.fill("l", lanes.to_string());
            place.fill("d", operand);
            Ok(Vec::new())
        })
        .on_conditions(|place| {
            let lanes = lanes(place).ok().filter(|_| place.around.context.facts.known.value(uncast(place.hole("n"))).is_none());
            let condition = |lanes: i64| {
                let (count, most) = (place.hole("n"), limit(lanes));
                format!("{count} is a multiple of {lanes} and at most {most} in every case, tails included")
            };
            lanes.map(condition).into_iter().collect()
        })
        .rounding(|place| place.hole("k") == "Sum"),
    unmake: Some(
        Way::new("the general reduction$h", &[]).choosing(in_one).rounding(|place| place.hole("k") == "Sum"),
    ),
};

/// No index is asked for.
const VALUE_ONLY: &str = ", @ReduceOrder::ORDER_ONLY_VALUE";

fn lanes(place: &FoundForm<'_>) -> Result<i64, String> {
    lanes_of(place.around.file, place.call()?, place.around.tensors)
}

/// Elements that two levels reach.
fn limit(lanes: i64) -> i64 {
    lanes * lanes.min(REPEAT_MAX)
}

fn whole_repeats(place: &FoundForm<'_>) -> Result<(), String> {
    let lanes = lanes(place)?;
    match place.around.context.facts.known.value(uncast(place.hole("n"))) {
        Some(value) if value < lanes || value % lanes != 0 || value > limit(lanes) => {
            Err(format!("{value} elements are not whole repeats of {lanes}, or more than {}", limit(lanes)))
        }
        _ => Ok(()),
    }
}

fn own_work(place: &FoundForm<'_>) -> Result<(), String> {
    if place.hole("x") == place.hole("w") { Err("the source is the work tensor".to_owned()) } else { Ok(()) }
}

/// The holes of the general reduction. Sums have no argument for the index; the others may say that they want none.
fn in_one(place: &FoundForm<'_>) -> Vec<Texts> {
    let tensor = |hole: &str| place.around.tensors.tensors.contains_key(base_name(place.hole(hole)));
    let sum = place.hole("k") == "Sum";
    if !tensor("w") || !tensor("x") || place.hole("l").parse::<i64>().is_err() || sum != place.hole("o").is_empty() {
        return Vec::new();
    }
    let operand = place.hole("d");
    let count = operand.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(operand);
    let form = |flag: &str, said: &str| vec![("n", count.to_owned()), ("f", flag.to_owned()), ("h", said.to_owned())];
    let mut forms = vec![form("", "")];
    if !sum {
        forms.push(form(", false", ", explicitly without index"));
    }
    forms
}
