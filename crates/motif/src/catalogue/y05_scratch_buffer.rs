//! Y05: a queue that only the vector unit touches is a plain buffer.

use crate::analysis::code::{block_of, functions};
use crate::analysis::queue_run::leaves;
use crate::analysis::queue_uses::{calls_on, name_span, single_buffer};
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::{deleted, edit, insert_after};
use crate::rewrite::members::{retyped, unnumbered};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Access, is_copy};
use source::facts::{FileSpan, Kernel, Origin, TensorFacts};

/// The motif.
pub struct ScratchBuffer;

const METADATA: Metadata = Metadata {
    id: Id::Y05,
    title: "buffer instead of a queue that only the vector unit touches",
    family: Family::Synchronisation,
    precondition: "a queue member with one buffer; every tensor taken from it is used by understood vector and scalar accesses alone, never by a copy; the queue is \
     touched by its own calls and one InitBuffer; EnQue and FreeTensor are statements of their own",
    left_to_verifier: "nothing",
    relieves: &[Counter::ScalarUs, Counter::StallUs],
    prior_gain: 1.02,
    cost: "nothing; frees event ids",
    tunables: "opens D01: a queue less",
    undoing: "a queue, freed after the last use, where the buffer is taken at one place",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for ScratchBuffer {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (name, queue) in &kernel.queues {
                let Some(file) = context.forest.get(&queue.declaration.file) else { continue };
                let Some(untouched) = no_copy(context, kernel, name) else { continue };
                let edits = untouched.and_then(|()| buffered(context, kernel, name));
                found.push(Candidate::new(file, &queue.declaration.span(), format!("{name} as a buffer"), edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (name, declaration) in &kernel.buffers {
                for position in ["VECCALC", "VECIN", "VECOUT"] {
                    found.extend(queued(context, kernel, name, declaration, position).unwrap_or_default());
                }
            }
        }
        found
    }
}

/// Tensors of a function that come from the queue or buffer.
fn tensors_of<'a>(tensors: &'a TensorFacts, name: &'a str) -> impl Iterator<Item = &'a String> {
    tensors.tensors.iter().filter_map(move |(tensor, known)| match &known.origin {
        Origin::Alloc(from) | Origin::DeQue(from) | Origin::Buffer(from) if from == name => Some(tensor),
        _ => None,
    })
}

/// Whether copies leave the queue alone; `None` if one certainly does not, or nothing uses the queue.
fn no_copy(context: &Context, kernel: &Kernel, name: &str) -> Option<Result<(), String>> {
    let mut used = false;
    let mut unclear = None;
    for (file, tensors) in kernel.tensors(&context.forest) {
        for tensor in tensors_of(&tensors, name) {
            for place in tensors.uses_of(tensor) {
                used = true;
                let call = place.call.and_then(|index| file.calls().get(index));
                if call.is_some_and(|call| is_copy(&call.name)) {
                    return None;
                }
                if place.access == Access::Escape {
                    let line = file.line(place.span.start);
                    unclear = Some(format!("line {line}: {tensor} goes to code that is not analysed"));
                }
            }
        }
    }
    used.then(|| unclear.map_or(Ok(()), Err))
}

fn buffered(context: &Context, kernel: &Kernel, name: &str) -> Result<Vec<Edit>, String> {
    let init = single_buffer(context, kernel, name)?;
    let queue = &kernel.queues[name];
    let header = context.forest.get(&queue.declaration.file).ok_or("the class is not parsed")?;
    let mut edits =
        vec![retyped(header, &queue.declaration, name, |scope, position| format!("{scope}TBuf<{position}::VECCALC>"))?];
    edits.push(unnumbered(context, init)?);
    for used in calls_on(context, kernel, name)? {
        let line = used.file.line(used.call.span.start);
        match used.call.name.as_str() {
            "AllocTensor" | "DeQue" if used.call.template_arguments.is_some() && used.call.arguments.is_empty() => {
                let span = name_span(used.file, used.call).ok_or("a call is not understood")?;
                edits.push(edit(used.file, span, "Get"));
            }
            "EnQue" | "FreeTensor" => {
                let statement = used.call.statement.as_ref().ok_or_else(|| format!("line {line}: not a statement"))?;
                block_of(used.file, statement)
                    .ok_or_else(|| format!("line {line}: the only statement of an if or a loop"))?;
                edits.push(deleted(used.file, statement));
            }
            other => return Err(format!("line {line}: {other} needs a queue")),
        }
    }
    Ok(edits)
}

/// A buffer that is taken at one place, as a queue.
fn queued(
    context: &Context,
    kernel: &Kernel,
    name: &str,
    declaration: &FileSpan,
    position: &str,
) -> Option<Vec<Candidate>> {
    no_copy(context, kernel, name)?.ok()?;
    let uses = calls_on(context, kernel, name).ok()?;
    let [get] = uses.as_slice() else { return None };
    let init = kernel.init_of(name).filter(|init| init.number.is_none())?;
    let (file, function, _, tensors) = functions(context)
        .into_iter()
        .find(|(file, function, _, _)| file.name() == get.file.name() && function.span == get.function.span)?;
    let tensor = tensors_of(&tensors, name).next()?;
    let taken = &tensors.tensors[tensor].declaration;
    let last = tensors.uses_of(tensor).last()?;
    let init_file = context.forest.get(&init.statement.file)?;
    let statement = init_file.calls().iter().find(|call| call.statement.as_ref() == Some(&init.statement.span()))?;
    let size = statement.arguments.get(1)?.start;
    let header = context.forest.get(&declaration.file)?;
    let member = retyped(header, declaration, name, |scope, of| format!("{scope}TQue<{of}::{position}, 1>")).ok()?;
    let mut found = Vec::new();
    for after in siblings(file, taken)
        .into_iter()
        .filter(|other| other.end >= last.span.end && function.body.contains(&other.start))
    {
        // Behind a way out the tensor would not be given back on all paths.
        let ways_out = ["return", "break", "continue", "goto"];
        if leaves(file.slice(&(taken.end..after.end)), &ways_out).is_some() {
            break;
        }
        let Some(free) = insert_after(file, &after, &[format!("{name}.FreeTensor({tensor});")]) else { continue };
        let edits = vec![
            member.clone(),
            edit(init_file, size..size, "1, "),
            edit(file, name_span(get.file, get.call)?, "AllocTensor"),
            free,
        ];
        let note = format!("{name} as a {position} queue, freed after line {}", file.line(after.end));
        found.push(Candidate::new(header, &declaration.span(), note, Ok(edits)));
    }
    Some(found)
}
