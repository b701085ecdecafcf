//! Y01: a full barrier that orders nothing that queues and compiler do not order already.

use std::collections::BTreeSet;

use super::barrier_regions::{Judged, needless};
use super::code::{edit, insert_after, scope};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::pipe_order::ordered_without;
use super::regions::is_full_barrier;
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct FullBarrier;

impl Motif for FullBarrier {
    fn id(&self) -> &'static str {
        "Y01"
    }
    fn title(&self) -> &'static str {
        "remove a needless PipeBarrier<PIPE_ALL>"
    }
    fn family(&self) -> Family {
        Family::Synchronisation
    }
    fn precondition(&self) -> &'static str {
        "every queue of the class, its base classes included, is used in order (alloc, fill, EnQue, DeQue, use, free), tensors followed \
         through functions of the class; a TBuf that copies touch, or a global tensor both read and written, is not touched on both sides of the barrier, \
         nor is there a cross-core protocol, up to the next full barriers on all paths; destinations of copies do not overlap (condition)"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn left_to_verifier(&self) -> &'static str {
        "destinations of copies do not overlap (hazard check)"
    }
    fn undoing(&self) -> &'static str {
        "barrier after each step of a loop"
    }
    fn tunables(&self) -> &'static str {
        "opens D01: nothing overlaps while the barrier stands"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::StallUs]
    }
    fn prior_gain(&self) -> f64 {
        1.15
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
    super::code::block_of(file, statement).ok_or("the barrier is the only statement of an if or a loop")?;
    let kernel = context.facts.kernel_at(file, call.span.start).ok_or("the barrier is not in a kernel function")?;
    let alone = context.facts.derived(&kernel.name).is_empty();
    let by_edges = ordered_without(context, kernel, file, std::slice::from_ref(&call.span));
    if !(alone && by_edges.is_ok()) {
        // The reason that names an edge is the more telling one.
        let named = by_edges.err().filter(|reason| reason.contains("nothing else orders"));
        needless(context, kernel, file, statement, judged).map_err(|reason| named.unwrap_or(reason))?;
    }
    Ok(vec![edit(file, file.removal_span(statement), "")])
}
