//! V22: elements that scalars fetch one by one through indices are fetched by one instruction.

use crate::analysis::code::{Surroundings, block_of, functions, scope, words};
use crate::rewrite::buffers::{added, free_name, removed};
use crate::rewrite::edits::edit;
use crate::rewrite::template::{Found, fill, find};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::Origin;

/// The motif.
pub struct GatherElements;

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

impl Motif for GatherElements {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for form in [DIRECT, NAMED] {
                for place in find(file, &function.body, &form.replace("uint32_t", "$$t")) {
                    let note = format!("gather {} from {}", place.hole("y"), place.hole("x"));
                    found.push(
                        Candidate::new(file, &place.span, note, around.gathered(&place))
                            .on_condition(format!("the indices in {} are not negative", place.hole("o")))
                            .on_condition(format!("{} elements are 1 to 255 repeats", place.hole("n")))
                            .on_condition("the buffers fit the unified buffer"),
                    );
                }
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for place in find(file, &function.body, GATHER) {
                let note = format!("fetch {} from {} one by one", place.hole("y"), place.hole("x"));
                found.push(Candidate::new(file, &place.span, note, around.fetched(&place)));
            }
        }
        found
    }
}

const DIRECT: &str = "for (uint32_t $$i = 0; $$i < $n; $$i++) {
    $$y.SetValue($$i, $$x.GetValue($$o.GetValue($$i)));
}";
const NAMED: &str = "for (uint32_t $$i = 0; $$i < $n; $$i++) {
    $$u $$index = $$o.GetValue($$i);
    $$y.SetValue($$i, $$x.GetValue($$index));
}";
/// `$p` is the tensor of indices, as signed numbers.
const GATHER: &str = "@LocalTensor<int32_t> gatherOffsets = $$b.Get<int32_t>();
@Muls(gatherOffsets, $p, static_cast<int32_t>(sizeof($$e)), $n);
@Gather($$y, $$x, gatherOffsets.ReinterpretCast<uint32_t>(), 0, $n);";

impl Surroundings<'_> {
    fn gathered(&self, place: &Found) -> Result<Vec<Edit>, String> {
        if place.commented {
            return Err("a comment or a directive would be lost".to_owned());
        }
        block_of(self.file, &place.span).ok_or("the loop is the only statement of an if or a loop")?;
        let element =
            |name: &str| self.tensors.tensors.get(place.hole(name)).map_or("", |tensor| tensor.element.as_str());
        let (from, to, index) = (element("x"), element("y"), element("o"));
        if from != to || !matches!(from, "half" | "int16_t" | "uint16_t" | "float" | "int32_t" | "uint32_t") {
            return Err(format!("from {from} to {to}: elements of 16 or 32 bits of one type are gathered"));
        }
        if !matches!(index, "int32_t" | "uint32_t") {
            return Err(format!("indices of {index} are not 32 bits wide"));
        }
        for (left, right) in [("x", "y"), ("o", "y")] {
            let (left, right) = (place.hole(left), place.hole(right));
            if !self.tensors.disjoint(left, right) {
                return Err(format!("{left} and {right} may share memory"));
            }
        }
        if words(self.file.slice(&self.function.body)).contains(&"gatherOffsets") {
            return Err("the name gatherOffsets is taken in the function".to_owned());
        }
        let origin = self.tensors.tensors.get(place.hole("o")).map(|tensor| &tensor.origin);
        let Some(Origin::Alloc(target) | Origin::DeQue(target) | Origin::Buffer(target)) = origin else {
            return Err(format!("the size of {} is not known", place.hole("o")));
        };
        let init = self.kernel.init_of(target).ok_or(format!("{target} is not initialised at exactly one place"))?;
        let buffer = free_name(self.context, "gatherBuf");
        let indices = if index == "uint32_t" {
            format!("{}.ReinterpretCast<int32_t>()", place.hole("o"))
        } else {
            place.hole("o").to_owned()
        };
        let holes = [
            ("b", buffer.as_str()),
            ("p", indices.as_str()),
            ("e", from),
            ("n", place.hole("n")),
            ("x", place.hole("x")),
            ("y", place.hole("y")),
        ];
        let text = fill(GATHER, &holes, scope(self.file), self.file.indentation(place.span.start));
        let mut edits = added(self.context, self.kernel, init, &[(buffer.clone(), init.size.clone())], &[])?;
        edits.push(edit(self.file, place.span.clone(), text));
        Ok(edits)
    }

    fn fetched(&self, place: &Found) -> Result<Vec<Edit>, String> {
        if place.commented {
            return Err("a comment or a directive would be lost".to_owned());
        }
        let offsets =
            words(self.file.slice(&self.function.body)).into_iter().filter(|word| *word == "gatherOffsets").count();
        if offsets != 3 {
            return Err("the offsets are used elsewhere too".to_owned());
        }
        let mut edits = removed(self.context, self.kernel, place.hole("b"), 1)?;
        let indices = place.hole("p").trim_end_matches(".ReinterpretCast<int32_t>()");
        let holes =
            [("i", "i"), ("n", place.hole("n")), ("y", place.hole("y")), ("x", place.hole("x")), ("o", indices)];
        let text = fill(DIRECT, &holes, scope(self.file), self.file.indentation(place.span.start));
        edits.push(edit(self.file, place.span.clone(), text));
        Ok(edits)
    }
}
