//! V05: a sum with Relu, or a product, that is cast to a narrower type right away becomes one instruction.

use crate::analysis::code::{functions, unused_scratch, vector_calls};
use crate::context::Context;
use crate::counter::Counter;
use crate::id::Id;
use crate::metadata::{Company, Family, Metadata};
use crate::motif::Motif;
use crate::rewrite::edits::edit;
use crate::rewrite::pairs::{Pair, each_pair, renamed};
use crate::site::Candidate;
use source::Edit;

/// The motif.
pub struct FusedCast;

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

impl Motif for FusedCast {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (first, fused) in FORMS {
            found.extend(each_pair(context, first, |pair| {
                let note = format!("{fused} into {}", pair.second.destination);
                let edits = merged(pair, fused);
                (pair.second.name == "Cast").then(|| {
                    Candidate::new(pair.file, &pair.second.call.span, note, edits)
                        .on_condition("both forms round and saturate alike")
                })
            }));
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let Some((first, _)) = FORMS.iter().find(|(_, fused)| *fused == call.name) else { continue };
                let wide = tensors.tensors.get(call.sources[0]).map_or("", |tensor| tensor.element.as_str());
                for scratch in unused_scratch(&tensors, wide) {
                    let (operation, cast) = (renamed(file, &call, first), renamed(file, &call, "Cast"));
                    let scope = operation.strip_suffix(first).unwrap_or_default();
                    let text = format!(
                        "{operation}({scratch}, {}, {}, {count});\n{}{cast}({}, {scratch}, {scope}RoundMode::CAST_RINT, {count})",
                        call.sources[0],
                        call.sources[1],
                        file.indentation(call.statement.start),
                        call.destination,
                        count = call.count,
                    );
                    let note = format!("{} through {scratch}", call.name);
                    let edits = Ok(vec![edit(file, call.call.span.clone(), text)]);
                    found.push(Candidate::new(file, &call.call.span, note, edits));
                }
            }
        }
        found
    }
}

/// Instruction before the cast, and both in one.
const FORMS: [(&str, &str); 3] = [("AddRelu", "AddReluCast"), ("SubRelu", "SubReluCast"), ("Mul", "MulCast")];

fn merged(pair: &Pair<'_>, fused: &str) -> Result<Vec<Edit>, String> {
    let wide = pair.tensors.tensors.get(pair.temporary()).map_or("", |tensor| tensor.element.as_str());
    let narrow = pair.element();
    let product = fused == "MulCast";
    let known = match (wide, narrow) {
        ("float", "half") | ("int16_t", "int8_t") => !product,
        ("half", "int8_t") => true,
        ("half", "uint8_t") => product,
        _ => false,
    };
    if !known {
        return Err(format!("{fused} has no form from {wide} to {narrow}"));
    }
    // From float to half, the mode NONE rounds to nearest even too.
    let mode = pair.second.scalar.unwrap_or_default().rsplit("::").next().unwrap_or_default();
    if mode != "CAST_RINT" && !(mode == "CAST_NONE" && wide == "float") {
        return Err(format!("the fused form does not round like {mode}"));
    }
    pair.can_merge()?;
    let target = pair.second.destination;
    if let Some(source) = pair.first.sources.iter().find(|source| !pair.tensors.disjoint(source, target)) {
        return Err(format!("{source} and {target} may share memory"));
    }
    let call = format!(
        "{}({target}, {}, {}, {})",
        renamed(pair.file, pair.second, fused),
        pair.first.sources[0],
        pair.first.sources[1],
        pair.second.count
    );
    Ok(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), call),
    ])
}
