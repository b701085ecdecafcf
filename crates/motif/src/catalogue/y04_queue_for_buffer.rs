//! Y04: a queue instead of a buffer that copies fill or empty, so that queues order it and not barriers.

use crate::analysis::barrier_order::barriers_order;
use crate::analysis::regions::is_full_barrier;
use crate::analysis::taken_buffer::taken;
use crate::rewrite::queued::{event_ids, queued};
use crate::rewrite::through_queue::as_buffer;
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::facts::Kernel;

/// The motif.
pub struct QueueForBuffer;

const METADATA: Metadata = Metadata {
    id: Id::Y04,
    title: "queue instead of a buffer that copies touch",
    family: Family::Synchronisation,
    precondition: "a TBuf member with one InitBuffer in a class where full barriers alone order copies; each tensor taken from it is only filled by copies, or only used by \
     vector and scalar accesses, or first the one and then the other in statements of one block (for results the other way round); on every path of every function that \
     nobody in the class calls, filling and using take turns, and nothing is left in it at the end; at most 8 buffers over all queues of one position",
    left_to_verifier: "nothing",
    relieves: &[Counter::StallUs],
    prior_gain: 1.01,
    cost: "flags that the full barriers make superfluous until Y01 removes them; an event id",
    tunables: "opens Y01 and D01: nothing overlaps while barriers order a buffer",
    undoing: "a buffer, where full barriers stand",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[
            Combination { rank: 2, motifs: &[Id::Y04, Id::Y01] },
            Combination { rank: 3, motifs: &[Id::Y04, Id::Y01, Id::D01] },
        ],
        ..Company::ANY
    },
};

impl Motif for QueueForBuffer {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values().filter(|kernel| has_full_barrier(context, kernel)) {
            for (name, declaration) in &kernel.buffers {
                let Some(header) = context.forest.get(&declaration.file) else { continue };
                let Some(judged) = taken(context, kernel, name, "Get").transpose() else { continue };
                let edits = judged.and_then(|(role, all)| {
                    let edits = queued(context, kernel, name, role, &all);
                    event_ids(context, kernel, role.position()).and(edits)
                });
                found.push(Candidate::new(header, &declaration.span(), format!("{name} as a queue"), edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values().filter(|kernel| has_full_barrier(context, kernel)) {
            for (name, queue) in &kernel.queues {
                let Some(header) = context.forest.get(&queue.declaration.file) else { continue };
                if !matches!(queue.position.as_str(), "VECIN" | "VECOUT") {
                    continue;
                }
                let edits = barriers_order(context, kernel, name).and_then(|()| as_buffer(context, kernel, name));
                found.push(Candidate::new(header, &queue.declaration.span(), format!("{name} as a buffer"), edits));
            }
        }
        found
    }
}

/// Whether full barriers stand in a class, and no flags between copies and the other pipes, which a queue would set once more.
fn has_full_barrier(context: &Context, kernel: &Kernel) -> bool {
    let mut barrier = false;
    for (_, _, call) in kernel.calls(&context.forest) {
        barrier |= call.name == "PipeBarrier" && is_full_barrier(call);
        if matches!(call.name.as_str(), "SetFlag" | "WaitFlag")
            && call.template_arguments.as_deref().is_none_or(|event| event.contains("MTE"))
        {
            return false;
        }
    }
    barrier
}
