//! V38: a long reduction takes the blocks of 32 bytes first: one cycle for 64 floats instead of seven.

use crate::analysis::first_element::rest_unread;
use crate::analysis::machine::REPEAT_MAX;
use crate::analysis::reductions::{as_operand, lanes_of, uncast};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Texts, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::facts::base_name;

/// The motif.
pub const BLOCKS_FIRST: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[WHOLE, COUNTED]) };

const METADATA: Metadata = Metadata {
    id: Id::V38,
    title: "blocks before repeats in a long reduction",
    family: Family::Vector,
    precondition: "ReduceX(dst, src, work, n) without index on floats, work is no part of the others, but may be dst itself, or src if nobody reads more than the first \
     element of it before it is overwritten; n at least 256, where it is known. Whole repeats, 255 at most, are counted; any other or unknown n is the \
     count of a mask",
    left_to_verifier: "the work tensor holds an eighth of the numbers and what the reduction of these needs",
    relieves: &[Counter::VecUs, Counter::StallUs],
    prior_gain: 1.05,
    cost: "a sum is added up in another order",
    tunables: "none",
    undoing: "the reduction in one call",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

/// Floats of one repeat. With half, an instruction over blocks takes as long as one over repeats.
const LANES: i64 = 64;
/// Below this the second instruction takes longer than what it saves.
const COUNT_MIN: i64 = 256;

const SLOW: Form = Form::Code("@Reduce$k{Max|Min|Sum}$e{<float>|}($y, $x, $w, $n$f{, false|});");

/// Whole repeats, which are counted.
const WHOLE: Exchange = Exchange {
    slow: SLOW,
    fast: Form::Code(
        "@BlockReduce$k{Max|Min|Sum}$e{<float>|}($w, $x, $d / 64, 64, 1, 1, 8);
@Reduce$k{Max|Min|Sum}$e{<float>|}($y, $w, $w[$d / 8], $d / 8$f{, false|});",
    ),
    make: BLOCKS.choosing(|place| whole(place, true)),
    unmake: Some(ONE_CALL.choosing(|place| {
        let operand = place.hole("d");
        let count = operand.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(operand);
        if as_operand(count) == operand { vec![vec![("n", count.to_owned())]] } else { Vec::new() }
    })),
};

/// Any other number, which is the count of a mask. The general reduction sets masks too, and leaves the full one behind.
const COUNTED: Exchange = Exchange {
    slow: SLOW,
    fast: Form::Code(
        "@SetMaskCount();
@SetVectorMask<float, @MaskMode::COUNTER>(0, $n);
@BlockReduce$k{Max|Min|Sum}<float, false>($w, $x, 1, @MASK_PLACEHOLDER, 1, 1, 8);
@SetMaskNorm();
@ResetMask();
@Reduce$k{Max|Min|Sum}$e{<float>|}($y, $w, $w[($d + 63) / 64 * 8], ($d + 7) / 8$f{, false|});",
    ),
    make: BLOCKS.choosing(|place| whole(place, false)),
    unmake: Some(ONE_CALL.resembling(|place| as_operand(place.hole("n")) == place.hole("d"))),
};

const BLOCKS: Way =
    Way::new("Reduce$k after BlockReduce$k", &[Guard::Holds(floats), Guard::Holds(own_work), Guard::Holds(long)])
        .on_conditions(|place| {
            vec![format!("{} holds {} / 8 numbers and what their reduction needs", place.hole("w"), place.hole("n"))]
        })
        .rounding(is_sum);

const ONE_CALL: Way = Way::new("the reduction in one call", &[]).rounding(is_sum);

fn is_sum(place: &FoundForm<'_>) -> bool {
    place.hole("k") == "Sum"
}

fn count(place: &FoundForm<'_>) -> Option<i64> {
    place.around.context.facts.known.value(uncast(place.hole("n")))
}

/// The count as an operand, if it is known to be whole repeats that one instruction reaches, or if it is not.
fn whole(place: &FoundForm<'_>, wanted: bool) -> Vec<Texts> {
    let whole = count(place).is_some_and(|value| value % LANES == 0 && value <= REPEAT_MAX * LANES);
    if whole == wanted { vec![vec![("d", as_operand(place.hole("n")))]] } else { Vec::new() }
}

fn floats(place: &FoundForm<'_>) -> Result<(), String> {
    if lanes_of(place.around.file, place.call()?, place.around.tensors)? != LANES {
        return Err("the operands are half, for which an instruction over blocks is no faster".to_owned());
    }
    Ok(())
}

fn own_work(place: &FoundForm<'_>) -> Result<(), String> {
    let (target, source, work) = (place.hole("y"), place.hole("x"), place.hole("w"));
    let onto_source = work == source && place.around.tensors.tensors.contains_key(work);
    if (base_name(work) == base_name(source) && !onto_source)
        || (base_name(work) == base_name(target) && work != target)
    {
        return Err(format!("{work} is no tensor of its own"));
    }
    if onto_source {
        // A repeat leaves its blocks' results where it or an earlier one has been read, which the documented sum by
        // count does not: the source stays as it was.
        rest_unread(&place.around, work, place.span(), target != source)?;
    }
    Ok(())
}

fn long(place: &FoundForm<'_>) -> Result<(), String> {
    if count(place).is_some_and(|value| value < COUNT_MIN) {
        return Err(format!("{} elements are fewer than {COUNT_MIN}", place.hole("n")));
    }
    Ok(())
}
