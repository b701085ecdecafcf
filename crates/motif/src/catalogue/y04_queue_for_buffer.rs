//! Y04: a queue instead of a buffer that copies fill or empty, so that queues order it and not barriers.

use crate::analysis::barrier_order::barriers_order;
use crate::analysis::machine::EVENT_IDS;
use crate::analysis::regions::is_full_barrier;
use crate::analysis::taken_buffer::{Role, Taken, taken};
use crate::rewrite::members::{numbered, retyped};
use crate::rewrite::through_queue::as_buffer;
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::trace::{RunPart, roots};
use source::facts::{InitBuffer, Kernel};
use source::parse::{Call, SyntaxFile};

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
                let edits = judged.and_then(|(role, all)| queued(context, kernel, name, role, &all));
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

fn queued(context: &Context, kernel: &Kernel, name: &str, role: Role, all: &[Taken<'_>]) -> Result<Vec<Edit>, String> {
    let init = kernel.init_of(name).ok_or_else(|| format!("{name} is not initialised at exactly one place"))?;
    if init.number.is_some() {
        return Err(format!("{name} is initialised like a queue"));
    }
    event_ids(context, kernel, role)?;
    let turns = Turns { name, all };
    for (root, steps) in roots(&context.forest, kernel) {
        if turns.after(&steps, (0, 0))? != (0, 0) {
            return Err(format!("{name} may be full at the end of {root}"));
        }
    }
    let declaration = &kernel.buffers[name];
    let header = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
    let position = role.position();
    let mut edits = vec![retyped(header, declaration, name, |scope, of| format!("{scope}TQue<{of}::{position}, 1>"))?];
    edits.push(numbered(context, init)?);
    for taken in all {
        edits.extend(taken.through_queue(name, role)?);
    }
    Ok(edits)
}

fn event_ids(context: &Context, kernel: &Kernel, role: Role) -> Result<(), String> {
    let of_position = |init: &&InitBuffer| {
        kernel.queues.get(&init.target).is_some_and(|queue| queue.position.split(',').any(|at| at == role.position()))
    };
    let number = |init: &InitBuffer| {
        let place = init.number.as_ref()?;
        context.facts.known.value(context.forest.get(&place.file)?.slice(&place.span()))
    };
    let buffers: i64 = kernel.init_buffers.iter().filter(of_position).map(|init| number(init).unwrap_or(1)).sum();
    if buffers < EVENT_IDS {
        Ok(())
    } else {
        Err(format!("{buffers} buffers over all {} queues take all {EVENT_IDS} event ids", role.position()))
    }
}

/// Filling and emptying of a buffer in the order in which they run.
struct Turns<'a> {
    name: &'a str,
    all: &'a [Taken<'a>],
}

impl Turns<'_> {
    /// Fewest and most fillings that wait after the steps.
    fn after(&self, steps: &[RunPart<'_>], start: (u32, u32)) -> Result<(u32, u32), String> {
        let mut held = start;
        for step in steps {
            held = match step {
                RunPart::Call(file, call) => self.taken(file, call, held)?,
                RunPart::Own(_, _, inner) => self.after(inner, held)?,
                RunPart::Loop(inner) => {
                    if self.after(inner, held)? != held {
                        return Err(format!("a round may leave {} otherwise than it found it", self.name));
                    }
                    held
                }
                RunPart::Branch(arms) => {
                    let mut either: Option<(u32, u32)> = None;
                    for arm in arms {
                        let after = self.after(arm, held)?;
                        either = Some(either.map_or(after, |(low, high)| (low.min(after.0), high.max(after.1))));
                    }
                    either.unwrap_or(held)
                }
                RunPart::Leave if held.1 > 0 => {
                    return Err(format!("a function is left early while {} may be full", self.name));
                }
                RunPart::Leave => held,
                RunPart::Unknown(file, span) => {
                    return Err(format!("line {}: code that is not understood", file.line(span.start)));
                }
            };
        }
        Ok(held)
    }

    fn taken(&self, file: &SyntaxFile, call: &Call, held: (u32, u32)) -> Result<(u32, u32), String> {
        let same = |taken: &&Taken<'_>| taken.file.name() == file.name() && taken.call.span == call.span;
        let Some(taken) = self.all.iter().find(same) else { return Ok(held) };
        let line = file.line(call.span.start);
        match (taken.fills, taken.empties) {
            (true, _) if held.1 > 0 => Err(format!("line {line}: {} may be full already", self.name)),
            (true, false) => Ok((1, 1)),
            (false, true) if held.0 == 0 => Err(format!("line {line}: {} may not be filled anew", self.name)),
            (false, true) => Ok((0, 0)),
            _ => Ok(held),
        }
    }
}
