//! D16: a queue's tensor is given back right after its last use, so that the next copy need not wait for the rest.

use std::ops::Range;

use crate::analysis::code::Surroundings;
use crate::analysis::siblings::movable_over;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::motion::{Mover, Shift, Towards};
use crate::{Combination, Company, Counter, Family, Id, Metadata, Turn};
use source::facts::api::Access;
use source::facts::{Origin, TensorUse, base_name};

/// The motif.
pub const EARLY_FREE: Declared = Declared { metadata: &METADATA, rules: Rules::Shift(&FREE) };

const METADATA: Metadata = Metadata {
    id: Id::D16,
    title: "FreeTensor right after the last use",
    family: Family::DataMovement,
    precondition: "a tensor taken from a queue in the same function, every use understood, the last one before the FreeTensor in the same block; in between \
     straight-line work on other tensors that leaves the queue alone",
    left_to_verifier: "nothing",
    relieves: &[Counter::StallUs],
    prior_gain: 1.04,
    cost: "nothing",
    tunables: "none",
    undoing: "give the tensor back later",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[Combination { rank: 6, motifs: &[Id::D16, Id::Y12] }],
        turn: Turn::Late(1),
        ..Company::ANY
    },
};

const FREE: Shift = Shift { verb: "free", movers: frees, towards: Towards::LastUse, passes };

/// Statements that give back a tensor of the function.
fn frees(around: &Surroundings<'_>) -> Vec<Mover> {
    let file = around.file;
    let mut found = Vec::new();
    for call in file.calls_in(around.function.body.clone()).filter(|call| call.name == "FreeTensor") {
        let tensor = file.argument(call, 0).filter(|name| around.tensors.tensors.contains_key(*name));
        let (Some(name), Some(statement)) = (tensor, call.statement.clone()) else { continue };
        let of = call.object.as_deref().map(base_name).unwrap_or_default().to_owned();
        found.push(Mover { statement, shown: call.span.clone(), name: name.to_owned(), of });
    }
    found
}

/// Proves that the tensor may be given back at the other end of the text as well.
fn passes(around: &Surroundings<'_>, mover: &Mover, between: &Range<usize>) -> Result<(), String> {
    let Surroundings { file, kernel, tensors, .. } = *around;
    let Mover { name, of, statement, .. } = mover;
    let taken = tensors.tensors.get(name).map(|tensor| &tensor.origin);
    if !matches!(taken, Some(Origin::Alloc(from) | Origin::DeQue(from)) if from == of) {
        return Err(format!("{name} is not taken from {of} in this function"));
    }
    let here = |used: &&TensorUse| !statement.contains(&used.span.start);
    let unclear = |used: &&TensorUse| matches!(used.access, Access::Escape | Access::Release);
    if let Some(used) = tensors.uses_of(name).filter(here).find(unclear) {
        return Err(format!("{name} is handed on at line {}", file.line(used.span.start)));
    }
    movable_over(file, kernel, between, of, &|name| tensors.tensors.contains_key(name))
}
