//! S13: the descriptor of a tensor list is read once, not in every round of the loop over its tensors.

use crate::analysis::code::{block_of, functions, words};
use crate::analysis::flow::effects::steady;
use crate::analysis::loops::loops_around;
use crate::rewrite::hoist::{hoisted, sunk};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::Kernel;
use source::parse::{Function, Local, Loop, SyntaxFile};

/// Types whose constructor reads global memory, and whose questions change nothing.
const DESCRIPTORS: &[&str] = &["ListTensorDesc"];
/// Questions to a descriptor.
const QUESTIONS: &[&str] = &["GetDataPtr", "GetDesc", "GetSize"];

/// The motif.
pub struct HoistDescriptor;

const METADATA: Metadata = Metadata {
    id: Id::S13,
    title: "hoist the descriptor of a tensor list out of its loop",
    family: Family::Scalar,
    precondition: "a ListTensorDesc declared directly in the loop's body, with arguments that are the same in every round, also after every call in the loop; it is only asked \
     for pointers, descriptions and its size; the name is used nowhere else in the function",
    left_to_verifier: "nothing writes the list itself",
    relieves: &[Counter::ScalarUs],
    prior_gain: 1.2,
    cost: "nothing",
    tunables: "none",
    undoing: "into the loop",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for HoistDescriptor {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_descriptor(context, |place, local| {
            let around = loops_around(place.file, place.function, local.span.start);
            let repetition = *around.first()?;
            let edits = place.check(local, repetition).and_then(|()| {
                if block_of(place.file, &local.span).as_ref() != Some(&repetition.body) {
                    return Err("the descriptor is read under a condition".to_owned());
                }
                hoisted(place.file, repetition, &local.span)
            });
            Some((format!("read {} before the loop", local.name), edits))
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        each_descriptor(context, |place, local| {
            // Other descriptors may stand in between.
            let between = |repetition: &&Loop| {
                let text = place.file.slice(&(local.span.end..repetition.span.start));
                text.split(';').all(|part| part.trim().is_empty() || DESCRIPTORS.iter().any(|name| part.contains(name)))
            };
            let next = place.file.loops().iter().filter(|repetition| repetition.span.start >= local.span.end);
            let repetition = next.take(1).find(between)?;
            let elsewhere = words(place.file.slice(&(repetition.span.end..place.function.body.end)));
            if elsewhere.contains(&local.name.as_str()) {
                return None;
            }
            let edits = place.check(local, repetition).and_then(|()| sunk(place.file, repetition, &local.span));
            Some((format!("read {} in every round", local.name), edits))
        })
    }
}

struct Place<'a> {
    context: &'a Context,
    file: &'a SyntaxFile,
    function: &'a Function,
    kernel: &'a Kernel,
}

fn each_descriptor(
    context: &Context,
    judge: impl Fn(&Place<'_>, &Local) -> Option<(String, Result<Vec<Edit>, String>)>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, _) in functions(context) {
        let place = Place { context, file, function, kernel };
        for local in file.locals().iter().filter(|local| function.body.contains(&local.span.start) && local.alone) {
            let type_name = local.type_text.rsplit("::").next().unwrap_or_default();
            if !DESCRIPTORS.contains(&type_name.trim()) || local.value.is_none() {
                continue;
            }
            if let Some((note, edits)) = judge(&place, local) {
                let candidate = Candidate::new(file, &local.span, note, edits);
                found.push(candidate.on_condition("nothing writes the list of tensors"));
            }
        }
    }
    found
}

impl Place<'_> {
    fn check(&self, local: &Local, repetition: &Loop) -> Result<(), String> {
        let (file, name) = (self.file, local.name.as_str());
        let value = local.value.clone().unwrap_or_default();
        steady(self.context, file, self.kernel, file.slice(&value), &repetition.span)?;
        let mentions = words(file.slice(&self.function.body)).into_iter().filter(|word| *word == name).count();
        let asked = file
            .calls_in(self.function.body.clone())
            .filter(|call| call.object.as_deref() == Some(name) && QUESTIONS.contains(&call.name.as_str()))
            .count();
        if mentions != asked + 1 {
            return Err(format!("{name} is not only asked for its tensors"));
        }
        Ok(())
    }
}
