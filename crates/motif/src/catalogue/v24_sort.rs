//! V24: the k largest elements by k searches for the maximum become one sort.

use crate::analysis::code::{Surroundings, unused_scratch};
use crate::rewrite::buffers::{added, free_name, removed};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::edits::edit;
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::Edit;
use source::facts::api::Access;
use source::facts::{InitBuffer, Origin};

/// The motif.
pub const SORT_ONCE: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[SORT]) };

const METADATA: Metadata = Metadata {
    id: Id::V24,
    title: "one sort for repeated searches of the maximum",
    family: Family::Vector,
    precondition: "a loop that finds the maximum of a float tensor with its place, stores both and takes it out by a smallest value; the tensor and the results of \
     the search are used nowhere else afterwards; each tensor has a buffer of its own that is initialised at one place",
    left_to_verifier: "no two of the largest elements are equal and none is NaN; k is at most the count; the buffers fit",
    relieves: &[Counter::VecUs, Counter::ScalarUs],
    prior_gain: 4.0,
    cost: "five times the bytes of the searched tensor; buffers rounded up to runs of 32",
    tunables: "takes bytes of the unified buffer",
    undoing: "a search for each result",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

/// Bytes that a run of 32 values or places takes: sorting knows no parts of runs.
const RUN_BYTES: &str = "128";

const SORT: Exchange = Exchange {
    // One search after the other.
    slow: Form::PastBarriers(
        "for ($$t $$i = 0; $$i < $k; $$i++) {
    @ReduceMax($$found, $$x, $$work, $n, true);
    float $$value = $$found.GetValue(0);
    int32_t $$place = $$found.ReinterpretCast<int32_t>().GetValue(1);
    $$values.SetValue($$i, $$value);
    $$places.SetValue($$i, $$place);
    $$x.SetValue($$place, $low);
}",
    ),
    // A sort of everything; the last run is filled up with what sorts behind all else.
    fast: Form::PastBarriers(
        "const uint32_t sorted = ($n + 31) / 32 * 32;
for (uint32_t $$i = $n; $$i < sorted; $$i++) {
    $$x.SetValue($$i, $low);
}
@LocalTensor<int32_t> sortPlaces = $$a.Get<int32_t>();
@LocalTensor<float> sortRecords = $$b.Get<float>();
@LocalTensor<float> sortMerged = $$c.Get<float>();
@CreateVecIndex(sortPlaces, static_cast<int32_t>(0), ($n + 31) / 32 * 32);
@Sort<float, true>(sortRecords, $$x, sortPlaces.ReinterpretCast<uint32_t>(), sortMerged, static_cast<int32_t>(sorted / 32));
@Extract($$values, $$places.ReinterpretCast<uint32_t>(), sortRecords, static_cast<int32_t>(($k + 31) / 32));",
    ),
    make: Way::new(
        "sort $x",
        &[
            Guard::Tensors(&["x", "found", "values"], &["float"]),
            Guard::Tensors(&["places"], &["int32_t"]),
            Guard::Holds(not_used_again),
            Guard::Fresh(&["sorted", "sortPlaces", "sortRecords", "sortMerged"]),
        ],
    )
    .with(room)
    .with_its_comments()
    .on_conditions(|place| {
        vec![
            "none of the largest elements are equal, none is NaN".to_owned(),
            format!("{} is at most {}", place.hole("k"), place.hole("n")),
            "the buffers fit the unified buffer".to_owned(),
        ]
    }),
    unmake: Some(
        Way::new("search $x with $found and $work", &[])
            .choosing(|place| {
                let scratch = unused_scratch(place.around.tensors, "float");
                let pairs = scratch.iter().flat_map(|left| scratch.iter().map(move |right| (*left, *right)));
                let texts = |(result, work): (&str, &str)| {
                    [("t", "uint32_t"), ("found", result), ("work", work), ("value", "value"), ("place", "place")]
                        .map(|(hole, text)| (hole, text.to_owned()))
                        .to_vec()
                };
                pairs.filter(|(left, right)| left != right).map(texts).collect()
            })
            .with(no_room),
    ),
};
const BUFFERS: [(&str, &str, &str); 3] =
    [("a", "sortPlacesBuf", ""), ("b", "sortRecordsBuf", " * 2"), ("c", "sortMergedBuf", " * 2")];
/// Tensors whose buffers are whole runs.
const IN_RUNS: [&str; 3] = ["x", "values", "places"];

fn rounded(size: &str) -> String {
    let plain = !size.contains(['?', '<', '>', '&', '|', '^']);
    let size = if plain { size.to_owned() } else { format!("({size})") };
    format!("({size} + 127) / {RUN_BYTES} * {RUN_BYTES}")
}

fn unrounded(size: &str) -> Option<&str> {
    size.strip_prefix('(')?.strip_suffix(&format!(" + 127) / {RUN_BYTES} * {RUN_BYTES}"))
}

fn init<'a>(around: &Surroundings<'a>, tensor: &str) -> Result<&'a InitBuffer, String> {
    let origin = around.tensors.tensors.get(tensor).map(|tensor| &tensor.origin);
    let Some(Origin::Alloc(target) | Origin::DeQue(target) | Origin::Buffer(target)) = origin else {
        return Err(format!("where {tensor} comes from is not known"));
    };
    around.kernel.init_of(target).ok_or_else(|| format!("{target} is not initialised at exactly one place"))
}

/// Edits of the sizes of buffers.
fn resized(place: &FoundForm<'_>, size: impl Fn(&str) -> Option<String>) -> Result<Vec<Edit>, String> {
    let resized = |hole: &&str| {
        let tensor = place.hole(hole);
        let init = init(&place.around, tensor)?;
        let file = place.around.context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
        let call = file.calls().iter().find(|call| call.statement.as_ref() == Some(&init.statement.span()));
        let argument = call.and_then(|call| call.arguments.last()).ok_or("the initialisation is not a plain call")?;
        let size = size(file.slice(argument).trim()).ok_or_else(|| format!("{tensor}'s buffer is not whole runs"))?;
        Ok(edit(file, argument.clone(), size))
    };
    IN_RUNS.iter().map(resized).collect()
}

fn not_used_again(place: &FoundForm<'_>) -> Result<(), String> {
    let (tensors, span) = (place.around.tensors, place.span());
    for (hole, wholly) in [("found", true), ("work", true), ("x", false)] {
        let used = tensors.uses_of(place.hole(hole)).find(|used| {
            let elsewhere = !span.contains(&used.span.start) && (wholly || used.span.start >= span.end);
            elsewhere && !matches!(used.access, Access::Release | Access::None)
        });
        if let Some(used) = used {
            let line = place.around.file.line(used.span.start);
            return Err(format!("{} is used again at line {line}", place.hole(hole)));
        }
    }
    Ok(())
}

/// Whole runs for what is sorted, and buffers for the sort.
fn room(place: &mut FoundForm<'_>) -> Result<Vec<Edit>, String> {
    let around = place.around;
    let room = rounded(&init(&around, place.hole("x"))?.size);
    let made = BUFFERS.map(|(_, name, factor)| (free_name(around.context, name), format!("{room}{factor}")));
    let mut edits = resized(place, |size| Some(rounded(size)))?;
    edits.extend(added(around.context, around.kernel, init(&around, place.hole("places"))?, &made, &[])?);
    for ((hole, ..), (name, _)) in BUFFERS.iter().zip(made) {
        place.fill(hole, name);
    }
    Ok(edits)
}

fn no_room(place: &mut FoundForm<'_>) -> Result<Vec<Edit>, String> {
    let mut edits = resized(place, |size| unrounded(size).map(str::to_owned))?;
    for (hole, ..) in BUFFERS {
        edits.extend(removed(place.around.context, place.around.kernel, place.hole(hole), 1)?);
    }
    Ok(edits)
}
