//! D16: a queue's tensor is given back right after its last use, so that the next copy need not wait for the rest.

use std::ops::Range;

use crate::analysis::code::functions;
use crate::analysis::siblings::{movable_over, siblings, works};
use crate::rewrite::edits::{edit, insert_after};
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif, Turn};
use source::Edit;
use source::facts::api::Access;
use source::facts::{Kernel, Origin, TensorFacts, base_name};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct EarlyFree;

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

impl Motif for EarlyFree {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_free(context, |file, kernel, tensors, call, tensor| {
            let statement = call.statement.as_ref()?;
            let all = siblings(file, statement);
            let last = tensors.uses_of(tensor).filter(|used| used.span.start < statement.start).last()?;
            let after = all.iter().find(|sibling| sibling.contains(&last.span.start))?;
            let between = after.end..statement.start;
            works(file, &between).then(|| {
                let edits =
                    check(file, kernel, tensors, call, tensor, &between).and_then(|()| moved(file, statement, after));
                vec![(format!("free {tensor} after line {}", file.line(after.end)), edits)]
            })
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        each_free(context, |file, kernel, tensors, call, tensor| {
            let statement = call.statement.as_ref()?;
            let mut found = Vec::new();
            for after in siblings(file, statement).iter().filter(|sibling| sibling.start > statement.start) {
                let between = statement.end..after.end;
                if !works(file, &between) {
                    continue;
                }
                let Ok(()) = check(file, kernel, tensors, call, tensor, &between) else { break };
                let note = format!("free {tensor} after line {}", file.line(after.end));
                found.push((note, moved(file, statement, after)));
            }
            Some(found)
        })
    }
}

type Moves = Vec<(String, Result<Vec<Edit>, String>)>;

fn each_free(
    context: &Context,
    judge: impl Fn(&SyntaxFile, &Kernel, &TensorFacts, &Call, &str) -> Option<Moves>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, tensors) in functions(context) {
        for call in file.calls_in(function.body.clone()).filter(|call| call.name == "FreeTensor") {
            let Some(tensor) = file.argument(call, 0).filter(|name| tensors.tensors.contains_key(*name)) else {
                continue;
            };
            for (note, edits) in judge(file, kernel, &tensors, call, tensor).unwrap_or_default() {
                found.push(Candidate::new(file, &call.span, note, edits));
            }
        }
    }
    found
}

/// Proves that the tensor may be given back at the other end of the text as well.
fn check(
    file: &SyntaxFile,
    kernel: &Kernel,
    tensors: &TensorFacts,
    call: &Call,
    tensor: &str,
    between: &Range<usize>,
) -> Result<(), String> {
    let queue = call.object.as_deref().map(base_name).unwrap_or_default();
    let taken = tensors.tensors.get(tensor).map(|tensor| &tensor.origin);
    if !matches!(taken, Some(Origin::Alloc(from) | Origin::DeQue(from)) if from == queue) {
        return Err(format!("{tensor} is not taken from {queue} in this function"));
    }
    let here = |used: &&source::facts::TensorUse| !call.span.contains(&used.span.start);
    let unclear = |used: &&source::facts::TensorUse| matches!(used.access, Access::Escape | Access::Release);
    if let Some(used) = tensors.uses_of(tensor).filter(here).find(unclear) {
        return Err(format!("{tensor} is handed on at line {}", file.line(used.span.start)));
    }
    movable_over(file, kernel, between, queue, &|name| tensors.tensors.contains_key(name))
}

/// Takes the statement out and puts it after another one.
fn moved(file: &SyntaxFile, statement: &Range<usize>, after: &Range<usize>) -> Result<Vec<Edit>, String> {
    let whole = file.whole_lines(statement).ok_or("the FreeTensor shares its line")?;
    let inserted = insert_after(file, after, &[file.slice(statement).to_owned()])
        .ok_or_else(|| format!("the statement that ends at line {} shares its line", file.line(after.end)))?;
    Ok(vec![edit(file, whole, ""), inserted])
}
