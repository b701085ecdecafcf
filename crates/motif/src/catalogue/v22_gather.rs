//! V22: elements that scalars fetch one by one through indices are fetched by one instruction.

use crate::rewrite::buffers::{added, free_name, removed};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::Edit;
use source::facts::Origin;

/// The motif.
pub const GATHER_ELEMENTS: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[DIRECT, NAMED]) };

const METADATA: Metadata = Metadata {
    id: Id::V22,
    title: "scalar fetches through indices to Gather",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 that writes y[i] = x[o[i]]; three local tensors in different memory; x and y of half, int16_t, uint16_t, float, int32_t or \
     uint32_t, o of int32_t or uint32_t with a buffer of its own",
    left_to_verifier: "indices are not negative and lie in the tensor; at most 255 repeats; the buffer fits",
    relieves: &[Counter::ScalarUs],
    prior_gain: 6.0,
    cost: "a buffer for the offsets in bytes",
    tunables: "takes bytes of the unified buffer",
    undoing: "scalar loop",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const DIRECT: Exchange = Exchange {
    slow: Form::Code(
        "for ($$t $$i = 0; $$i < $n; $$i++) {
    $$y.SetValue($$i, $$x.GetValue($$o.GetValue($$i)));
}",
    ),
    fast: GATHER,
    make: MAKE,
    unmake: Some(
        Way::new("fetch $y from $x one by one", &[Guard::Mentioned("gatherOffsets", 3)])
            .choosing(|place| {
                let indices = place.hole("p").trim_end_matches(".ReinterpretCast<int32_t>()");
                vec![vec![("t", "uint32_t".to_owned()), ("i", "i".to_owned()), ("o", indices.to_owned())]]
            })
            .with(|place| removed(place.around.context, place.around.kernel, place.hole("b"), 1)),
    ),
};
const NAMED: Exchange = Exchange {
    slow: Form::Code(
        "for ($$t $$i = 0; $$i < $n; $$i++) {
    $$u $$index = $$o.GetValue($$i);
    $$y.SetValue($$i, $$x.GetValue($$index));
}",
    ),
    fast: GATHER,
    make: MAKE,
    unmake: None,
};
/// `$p` is the tensor of indices, as signed numbers.
const GATHER: Form = Form::Code(
    "@LocalTensor<int32_t> gatherOffsets = $$b.Get<int32_t>();
@Muls(gatherOffsets, $p, static_cast<int32_t>(sizeof($$e)), $n);
@Gather($$y, $$x, gatherOffsets.ReinterpretCast<uint32_t>(), 0, $n);",
);
const MAKE: Way = Way::new(
    "gather $y from $x",
    &[
        Guard::Holds(one_type),
        Guard::Tensors(&["o"], &["int32_t", "uint32_t"]),
        Guard::Apart("x", "y"),
        Guard::Apart("o", "y"),
        Guard::Fresh(&["gatherOffsets"]),
    ],
)
.with(offsets)
.on_conditions(|place| {
    vec![
        format!("the indices in {} are not negative", place.hole("o")),
        format!("{} elements are 1 to 255 repeats", place.hole("n")),
        "the buffers fit the unified buffer".to_owned(),
    ]
});

fn one_type(place: &FoundForm<'_>) -> Result<(), String> {
    let (from, to) = (place.element("x"), place.element("y"));
    if from != to || !matches!(from, "half" | "int16_t" | "uint16_t" | "float" | "int32_t" | "uint32_t") {
        return Err(format!("from {from} to {to}: elements of 16 or 32 bits of one type are gathered"));
    }
    Ok(())
}

/// The indices as signed numbers, and a buffer for their offsets.
fn offsets(place: &mut FoundForm<'_>) -> Result<Vec<Edit>, String> {
    let around = place.around;
    let indices = place.hole("o").to_owned();
    let origin = around.tensors.tensors.get(&indices).map(|tensor| &tensor.origin);
    let Some(Origin::Alloc(target) | Origin::DeQue(target) | Origin::Buffer(target)) = origin else {
        return Err(format!("the size of {indices} is not known"));
    };
    let init = around.kernel.init_of(target).ok_or(format!("{target} is not initialised at exactly one place"))?;
    let buffer = free_name(around.context, "gatherBuf");
    let signed = if place.element("o") == "uint32_t" { ".ReinterpretCast<int32_t>()" } else { "" };
    let element = place.element("x").to_owned();
    place.fill("p", format!("{indices}{signed}"));
    place.fill("e", element);
    place.fill("b", buffer.clone());
    added(around.context, around.kernel, init, &[(buffer, init.size.clone())], &[])
}
