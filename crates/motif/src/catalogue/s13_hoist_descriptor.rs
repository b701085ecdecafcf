//! S13: the descriptor of a tensor list is read once, not in every round of the loop over its tensors.

use crate::analysis::code::{Surroundings, words};
use crate::analysis::flow::effects::steady;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::motion::{Hoist, Mover};
use crate::{Company, Counter, Family, Id, Metadata};
use source::parse::{Local, Loop};

/// The motif.
pub const HOIST_DESCRIPTOR: Declared = Declared { metadata: &METADATA, rules: Rules::Hoist(&DESCRIPTOR) };

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

const DESCRIPTOR: Hoist = Hoist {
    movers: descriptors,
    same,
    conditions: |_, _, _, _| vec!["nothing writes the list of tensors".to_owned()],
    // Other descriptors may stand in between.
    between: |text| {
        text.split(';').all(|part| part.trim().is_empty() || DESCRIPTORS.iter().any(|name| part.contains(name)))
    },
    conditional: Some("the descriptor is read under a condition"),
};

/// Types whose constructor reads global memory, and whose questions change nothing.
const DESCRIPTORS: &[&str] = &["ListTensorDesc"];
/// Questions to a descriptor.
const QUESTIONS: &[&str] = &["GetDataPtr", "GetDesc", "GetSize"];

fn descriptors(around: &Surroundings<'_>) -> Vec<Mover> {
    let type_of = |local: &Local| local.type_text.rsplit("::").next().unwrap_or_default().trim().to_owned();
    Mover::locals(around)
        .filter(|(local, _)| DESCRIPTORS.contains(&type_of(local).as_str()))
        .map(|(local, value)| Mover::of_local(local, around.file.slice(&value)))
        .collect()
}

/// Proves that the descriptor is made from the same arguments in every round and only asked for its tensors, in the loop alone.
fn same(around: &Surroundings<'_>, mover: &Mover, repetition: &Loop) -> Result<(), String> {
    let Surroundings { context, file, function, kernel, .. } = *around;
    let name = mover.name.as_str();
    steady(context, file, kernel, &mover.of, &repetition.span)?;
    let mentions = |text: &str| words(text).into_iter().filter(|word| *word == name).count();
    let asked = file
        .calls_in(function.body.clone())
        .filter(|call| call.object.as_deref() == Some(name) && QUESTIONS.contains(&call.name.as_str()))
        .count();
    if mentions(file.slice(&function.body)) != asked + 1 {
        return Err(format!("{name} is not only asked for its tensors"));
    }
    let before = mover.statement.end <= repetition.span.start;
    if before && mentions(file.slice(&(repetition.span.end..function.body.end))) > 0 {
        return Err(format!("{name} is asked behind the loop too"));
    }
    Ok(())
}
