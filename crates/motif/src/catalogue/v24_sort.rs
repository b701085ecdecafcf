//! V24: the k largest elements by k searches for the maximum become one sort.

use crate::analysis::code::{Surroundings, functions, scope, unused_scratch, words};
use crate::rewrite::buffers::{added, free_name, removed};
use crate::rewrite::edits::edit;
use crate::rewrite::template::{Found, fill, find_past_barriers};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::Access;
use source::facts::{InitBuffer, Origin};

/// The motif.
pub struct SortOnce;

/// Bytes that a run of 32 values or places takes: sorting knows no parts of runs.
const RUN_BYTES: &str = "128";

/// One search after the other.
const SEARCHES: &str = "for (uint32_t $$i = 0; $$i < $k; $$i++) {
    @ReduceMax($$found, $$x, $$work, $n, true);
    float $$value = $$found.GetValue(0);
    int32_t $$place = $$found.ReinterpretCast<int32_t>().GetValue(1);
    $$values.SetValue($$i, $$value);
    $$places.SetValue($$i, $$place);
    $$x.SetValue($$place, $low);
}";
/// A sort of everything; the last run is filled up with what sorts behind all else.
const SORT: &str = "const uint32_t sorted = ($n + 31) / 32 * 32;
for (uint32_t $$i = $n; $$i < sorted; $$i++) {
    $$x.SetValue($$i, $low);
}
@LocalTensor<int32_t> sortPlaces = $$a.Get<int32_t>();
@LocalTensor<float> sortRecords = $$b.Get<float>();
@LocalTensor<float> sortMerged = $$c.Get<float>();
@CreateVecIndex(sortPlaces, static_cast<int32_t>(0), ($n + 31) / 32 * 32);
@Sort<float, true>(sortRecords, $$x, sortPlaces.ReinterpretCast<uint32_t>(), sortMerged, static_cast<int32_t>(sorted / 32));
@Extract($$values, $$places.ReinterpretCast<uint32_t>(), sortRecords, static_cast<int32_t>(($k + 31) / 32));";
const BUFFERS: [(&str, &str, &str); 3] =
    [("a", "sortPlacesBuf", ""), ("b", "sortRecordsBuf", " * 2"), ("c", "sortMergedBuf", " * 2")];

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

impl Motif for SortOnce {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for place in find_past_barriers(file, &function.body, &SEARCHES.replace("uint32_t", "$$t")) {
                let note = format!("sort {}", place.hole("x"));
                found.push(
                    Candidate::new(file, &place.span, note, around.sorted(&place))
                        .on_condition("none of the largest elements are equal, none is NaN")
                        .on_condition(format!("{} is at most {}", place.hole("k"), place.hole("n")))
                        .on_condition("the buffers fit the unified buffer"),
                );
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for place in find_past_barriers(file, &function.body, SORT) {
                let scratch = unused_scratch(&tensors, "float");
                for result in &scratch {
                    for work in scratch.iter().filter(|work| *work != result) {
                        let note = format!("search {} with {result} and {work}", place.hole("x"));
                        found.push(Candidate::new(file, &place.span, note, around.searched(&place, result, work)));
                    }
                }
            }
        }
        found
    }
}

fn rounded(size: &str) -> String {
    let plain = !size.contains(['?', '<', '>', '&', '|', '^']);
    let size = if plain { size.to_owned() } else { format!("({size})") };
    format!("({size} + 127) / {RUN_BYTES} * {RUN_BYTES}")
}

fn unrounded(size: &str) -> Option<&str> {
    size.strip_prefix('(')?.strip_suffix(&format!(" + 127) / {RUN_BYTES} * {RUN_BYTES}"))
}

impl Surroundings<'_> {
    fn init(&self, tensor: &str) -> Result<&InitBuffer, String> {
        let origin = self.tensors.tensors.get(tensor).map(|tensor| &tensor.origin);
        let Some(Origin::Alloc(target) | Origin::DeQue(target) | Origin::Buffer(target)) = origin else {
            return Err(format!("where {tensor} comes from is not known"));
        };
        self.kernel.init_of(target).ok_or_else(|| format!("{target} is not initialised at exactly one place"))
    }

    /// Edit of a buffer's size.
    fn resized(&self, tensor: &str, size: impl Fn(&str) -> Option<String>) -> Result<Edit, String> {
        let init = self.init(tensor)?;
        let file = self.context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
        let call = file.calls().iter().find(|call| call.statement.as_ref() == Some(&init.statement.span()));
        let argument = call.and_then(|call| call.arguments.last()).ok_or("the initialisation is not a plain call")?;
        let size = size(file.slice(argument).trim()).ok_or_else(|| format!("{tensor}'s buffer is not whole runs"))?;
        Ok(edit(file, argument.clone(), size))
    }

    fn sorted(&self, place: &Found) -> Result<Vec<Edit>, String> {
        if place.directed {
            return Err("a directive stands in the loop".to_owned());
        }
        let hole = |name: &'static str| place.hole(name);
        for (name, element) in [("x", "float"), ("found", "float"), ("values", "float"), ("places", "int32_t")] {
            if self.tensors.tensors.get(hole(name)).is_none_or(|tensor| tensor.element != element) {
                return Err(format!("{} is not a local tensor of {element}", hole(name)));
            }
        }
        for (name, wholly) in [("found", true), ("work", true), ("x", false)] {
            let used = self.tensors.uses_of(hole(name)).find(|used| {
                let elsewhere = !place.span.contains(&used.span.start) && (wholly || used.span.start >= place.span.end);
                elsewhere && !matches!(used.access, Access::Release | Access::None)
            });
            if let Some(used) = used {
                return Err(format!("{} is used again at line {}", hole(name), self.file.line(used.span.start)));
            }
        }
        let body = self.file.slice(&self.function.body);
        let names = ["sorted", "sortPlaces", "sortRecords", "sortMerged"];
        if let Some(taken) = words(body).into_iter().find(|word| names.contains(word)) {
            return Err(format!("the name {taken} is taken in the function"));
        }
        let init = self.init(hole("x"))?;
        let room = rounded(&init.size);
        let made = BUFFERS.map(|(_, name, factor)| (free_name(self.context, name), format!("{room}{factor}")));
        let mut edits = ["x", "values", "places"]
            .into_iter()
            .map(|name| self.resized(hole(name), |size| Some(rounded(size))))
            .collect::<Result<Vec<_>, _>>()?;
        edits.extend(added(self.context, self.kernel, self.init(hole("places"))?, &made, &[])?);
        let holes: Vec<(&str, &str)> = ["i", "k", "n", "low", "x", "values", "places"]
            .into_iter()
            .map(|name| (name, hole(name)))
            .chain(BUFFERS.iter().zip(&made).map(|((key, ..), (name, _))| (*key, name.as_str())))
            .collect();
        let text = fill(SORT, &holes, scope(self.file), self.file.indentation(place.span.start));
        edits.push(edit(self.file, place.span.clone(), text));
        Ok(edits)
    }

    fn searched(&self, place: &Found, result: &str, work: &str) -> Result<Vec<Edit>, String> {
        if place.commented {
            return Err("a comment or a directive would be lost".to_owned());
        }
        let hole = |name: &'static str| (name, place.hole(name));
        let mut edits = ["x", "values", "places"]
            .into_iter()
            .map(|name| self.resized(place.hole(name), |size| unrounded(size).map(str::to_owned)))
            .collect::<Result<Vec<_>, _>>()?;
        for (key, ..) in BUFFERS {
            edits.extend(removed(self.context, self.kernel, place.hole(key), 1)?);
        }
        let named = [("found", result), ("work", work), ("value", "value"), ("place", "place")];
        let holes: Vec<(&str, &str)> =
            [hole("i"), hole("k"), hole("n"), hole("low"), hole("x"), hole("values"), hole("places")]
                .into_iter()
                .chain(named)
                .collect();
        let text = fill(SEARCHES, &holes, scope(self.file), self.file.indentation(place.span.start));
        edits.push(edit(self.file, place.span.clone(), text));
        Ok(edits)
    }
}
