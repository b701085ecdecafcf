//! Y12: a queue's tensor is taken right before its first use, so that work on other tensors need not wait for it.

use std::ops::Range;

use crate::analysis::code::Surroundings;
use crate::analysis::siblings::movable_over;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::motion::{Mover, Shift, Towards};
use crate::{Company, Counter, Family, Id, Metadata};
use source::facts::Origin;

/// The motif.
pub const LATE_TAKE: Declared = Declared { metadata: &METADATA, rules: Rules::Shift(&TAKE) };

const METADATA: Metadata = Metadata {
    id: Id::Y12,
    title: "DeQue or AllocTensor right before the first use",
    family: Family::Synchronisation,
    precondition: "a declaration LocalTensor t = queue.DeQue or queue.AllocTensor, first used later in the same block; in between straight-line work on other \
     tensors that leaves the queue alone and hands nothing on",
    left_to_verifier: "nothing",
    relieves: &[Counter::StallUs],
    prior_gain: 1.04,
    cost: "nothing",
    tunables: "none",
    undoing: "take the tensor earlier",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const TAKE: Shift = Shift { verb: "take", movers: takes, towards: Towards::FirstUse, passes };

/// Declarations of tensors that are taken from a queue.
fn takes(around: &Surroundings<'_>) -> Vec<Mover> {
    let (file, body) = (around.file, &around.function.body);
    let mut found = Vec::new();
    for local in file.locals().iter().filter(|local| body.contains(&local.span.start) && local.alone) {
        let tensor = around.tensors.tensors.get(&local.name).filter(|tensor| tensor.declaration == local.span);
        if let Some(Origin::Alloc(queue) | Origin::DeQue(queue)) = tensor.map(|tensor| &tensor.origin) {
            found.push(Mover::of_local(local, queue));
        }
    }
    found
}

fn passes(around: &Surroundings<'_>, mover: &Mover, between: &Range<usize>) -> Result<(), String> {
    // Whoever is handed something on waits for the work before, and so for the copies that this waited for: a result may be stored
    // in the place of the input.
    if let Some(call) = around.file.calls_in(between.clone()).find(|call| call.name == "EnQue") {
        let line = around.file.line(call.span.start);
        return Err(format!(
            "EnQue at line {line} stands in between: what it hands on comes after what {} waits for",
            mover.name
        ));
    }
    let owned = |name: &str| around.tensors.tensors.contains_key(name);
    movable_over(around.file, around.kernel, between, &mover.of, &owned)
}
