//! Y01: a full barrier that orders nothing that queues and compiler do not order already.

use std::collections::BTreeSet;

use crate::analysis::barrier_regions::{Judged, needless};
use crate::analysis::code::{block_of, scope};
use crate::analysis::pipe_order::ordered_without;
use crate::analysis::regions::is_full_barrier;
use crate::rewrite::edits::{deleted, insert_after};
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct FullBarrier;

const METADATA: Metadata = Metadata {
    id: Id::Y01,
    title: "remove a needless PipeBarrier<PIPE_ALL>",
    family: Family::Synchronisation,
    precondition: "every queue of the class, its base classes included, is used in order (alloc, fill, EnQue, DeQue, use, free), tensors followed \
     through functions of the class; a TBuf that copies touch, or a global tensor both read and written, is not touched on both sides of the barrier, \
     nor is there a cross-core protocol, up to the next full barriers on all paths; destinations of copies do not overlap (condition)",
    left_to_verifier: "destinations of copies do not overlap (hazard check)",
    relieves: &[Counter::StallUs],
    prior_gain: 1.15,
    cost: "nothing",
    tunables: "opens D01: nothing overlaps while the barrier stands",
    undoing: "barrier after each step of a loop",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[
            Combination { rank: 1, motifs: &[Id::Y01, Id::D01] },
            Combination { rank: 5, motifs: &[Id::Y01, Id::Y02] },
        ],
        ..Company::ANY
    },
};

impl Motif for FullBarrier {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut judged = Judged::new();
        for file in context.forest.iter() {
            for call in file.calls_named("PipeBarrier").filter(|call| is_full_barrier(call)) {
                let edits = removal(context, file, call, &mut judged);
                let candidate = Candidate::new(file, &call.span, "drop the full barrier", edits);
                found.push(
                    candidate.on_condition("the hazard check finds no race: destinations of copies do not overlap"),
                );
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values().filter(|kernel| !kernel.queues.is_empty()) {
            let own: BTreeSet<&str> = kernel
                .functions
                .iter()
                .filter_map(|(file, index)| Some(context.forest.get(file)?.functions().get(*index)?.name.as_str()))
                .collect();
            for (file, _, call) in kernel.calls(&context.forest) {
                let step =
                    own.contains(call.name.as_str()) && call.object.as_deref().is_none_or(|object| object == "this");
                let Some(statement) =
                    call.statement.as_ref().filter(|_| step && file.enclosing_loop(call.span.start).is_some())
                else {
                    continue;
                };
                let line = format!("{}PipeBarrier<PIPE_ALL>();", scope(file));
                let edits = insert_after(file, statement, &[line])
                    .map(|edit| vec![edit])
                    .ok_or_else(|| "the statement shares its line".to_owned());
                found.push(Candidate::new(file, &call.span, "full barrier after this step", edits));
            }
        }
        found
    }
}

fn removal(
    context: &Context,
    file: &SyntaxFile,
    call: &Call,
    judged: &mut Judged,
) -> Result<Vec<source::Edit>, String> {
    let statement = call.statement.as_ref().ok_or("the barrier is not a statement of its own")?;
    block_of(file, statement).ok_or("the barrier is the only statement of an if or a loop")?;
    let kernel = context.facts.kernel_at(file, call.span.start).ok_or("the barrier is not in a kernel function")?;
    let alone = context.facts.derived(&kernel.name).is_empty();
    let by_edges = ordered_without(context, kernel, file, std::slice::from_ref(&call.span));
    if !(alone && by_edges.is_ok()) {
        // The reason that names an edge is the more telling one.
        let named = by_edges.err().filter(|reason| reason.contains("nothing else orders"));
        needless(context, kernel, file, statement, judged).map_err(|reason| named.unwrap_or(reason))?;
    }
    Ok(vec![deleted(file, statement)])
}
