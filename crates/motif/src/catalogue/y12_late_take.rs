//! Y12: a queue's tensor is taken right before its first use, so that work on other tensors need not wait for it.

use std::ops::Range;

use crate::analysis::code::functions;
use crate::analysis::siblings::{movable_over, siblings, works};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{Kernel, Origin, TensorFacts};
use source::parse::{Local, SyntaxFile};

/// The motif.
pub struct LateTake;

const METADATA: Metadata = Metadata {
    id: Id::Y12,
    title: "DeQue or AllocTensor right before the first use",
    family: Family::Synchronisation,
    precondition: "a declaration LocalTensor t = queue.DeQue or queue.AllocTensor, first used later in the same block; in between straight-line work on other \
     tensors that leaves the queue alone",
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

impl Motif for LateTake {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_take(context, |file, kernel, tensors, local, queue| {
            let first = tensors.uses_of(&local.name).find(|used| used.span.start >= local.span.end)?;
            let before = siblings(file, &local.span).into_iter().find(|other| other.contains(&first.span.start))?;
            let between = local.span.end..before.start;
            works(file, &between).then(|| {
                let edits = movable_over(file, kernel, &between, queue, &|name| tensors.tensors.contains_key(name))
                    .and_then(|()| moved(file, &local.span, &before));
                vec![(format!("take {} before line {}", local.name, file.line(before.start)), edits)]
            })
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        each_take(context, |file, kernel, tensors, local, queue| {
            let mut found = Vec::new();
            for before in siblings(file, &local.span).iter().rev().filter(|other| other.end <= local.span.start) {
                let between = before.start..local.span.start;
                let Ok(()) = movable_over(file, kernel, &between, queue, &|name| tensors.tensors.contains_key(name))
                else {
                    break;
                };
                if works(file, &between) {
                    let note = format!("take {} before line {}", local.name, file.line(before.start));
                    found.push((note, moved(file, &local.span, before)));
                }
            }
            Some(found)
        })
    }
}

type Moves = Vec<(String, Result<Vec<Edit>, String>)>;

fn each_take(
    context: &Context,
    judge: impl Fn(&SyntaxFile, &Kernel, &TensorFacts, &Local, &str) -> Option<Moves>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, tensors) in functions(context) {
        for local in file.locals().iter().filter(|local| function.body.contains(&local.span.start) && local.alone) {
            let origin = tensors.tensors.get(&local.name).filter(|tensor| tensor.declaration == local.span);
            let Some(Origin::Alloc(queue) | Origin::DeQue(queue)) = origin.map(|tensor| &tensor.origin) else {
                continue;
            };
            for (note, edits) in judge(file, kernel, &tensors, local, queue).unwrap_or_default() {
                found.push(Candidate::new(file, &local.span, note, edits));
            }
        }
    }
    found
}

/// Takes the declaration out and puts it before another statement.
fn moved(file: &SyntaxFile, declaration: &Range<usize>, before: &Range<usize>) -> Result<Vec<Edit>, String> {
    let whole = file.whole_lines(declaration).ok_or("the declaration shares its line")?;
    let target = file
        .whole_lines(before)
        .ok_or_else(|| format!("the statement at line {} shares its line", file.line(before.start)))?;
    let line = format!("{}{}\n", file.indentation(before.start), file.slice(declaration));
    Ok(vec![edit(file, whole, ""), edit(file, target.start..target.start, line)])
}
