//! D15: a vector instruction is not done whose result is overwritten before anybody reads it.

use crate::analysis::code::{Surroundings, VectorCall, block_of, vector_calls, written_scope};
use crate::analysis::flow::liveness::dead_after;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, Spot, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::facts::api::overwrites_first;

/// The motif.
pub const DEAD_WRITE: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[WRITE]) };

const METADATA: Metadata = Metadata {
    id: Id::D15,
    title: "no write that nobody reads",
    family: Family::Vector,
    precondition: "the next use of the destination in the same block overwrites all of it without reading it, or the tensor is scratch and nobody uses it any more",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "fill before a tensor is overwritten",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const WRITE: Exchange = Exchange {
    slow: Form::Asked(unread, "@Duplicate($t, static_cast<$e>(0), $n);"),
    fast: Form::Before(overwriting),
    make: Way::new("nobody reads $t before it is written again", &[]),
    unmake: Some(Way::new("fill $t first", &[])),
};

/// Instructions whose result nobody reads. Most have readers: that is no refusal.
fn unread(around: &Surroundings<'_>) -> Vec<Spot> {
    let dead = |call: &VectorCall<'_>| {
        dead_after(around, call.destination, &call.statement, call.count).is_ok()
            && block_of(around.file, &call.statement).is_some()
    };
    spots(around, dead)
}

/// Instructions that leave nothing of what was in their destination and do not read it, on lines of their own.
fn overwriting(around: &Surroundings<'_>) -> Vec<Spot> {
    let apart = |call: &VectorCall<'_>, source: &&str| around.tensors.disjoint(source, call.destination);
    spots(around, |call| {
        call.sources.iter().all(|source| *source != call.destination && apart(call, source))
            && around.file.whole_lines(&call.statement).is_some()
    })
}

fn spots(around: &Surroundings<'_>, wanted: impl Fn(&VectorCall<'_>) -> bool) -> Vec<Spot> {
    let Surroundings { file, function, tensors, .. } = *around;
    let calls = vector_calls(file, function, tensors).into_iter();
    calls
        .filter(|call| overwrites_first(call.name) && wanted(call))
        .map(|call| {
            let element = &tensors.tensors[call.destination].element;
            let holes = [("t", call.destination), ("e", element), ("n", call.count)];
            Spot::new(file, &call.statement, &holes).scoped(written_scope(file, call.call)).shown(&call.call.span)
        })
        .collect()
}
