//! Y05: a queue that only the vector unit touches is a plain buffer.

use super::code::{edit, functions, insert_after};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::queue_run::leaves;
use super::queue_uses::{calls_on, name_span, single_buffer};
use super::siblings::siblings;
use source::Edit;
use source::facts::api::{Access, is_copy};
use source::facts::{InitBuffer, Kernel, Origin, Place, TensorFacts};
use source::parse::SyntaxFile;

/// The motif.
pub struct ScratchBuffer;

impl Motif for ScratchBuffer {
    fn id(&self) -> &'static str {
        "Y05"
    }
    fn title(&self) -> &'static str {
        "buffer instead of a queue that only the vector unit touches"
    }
    fn family(&self) -> Family {
        Family::Synchronisation
    }
    fn precondition(&self) -> &'static str {
        "a queue member with one buffer; every tensor taken from it is used by understood vector and scalar accesses alone, never by a copy; the queue is \
         touched by its own calls and one InitBuffer; EnQue and FreeTensor are statements of their own"
    }
    fn cost(&self) -> &'static str {
        "nothing; frees event ids"
    }
    fn undoing(&self) -> &'static str {
        "a queue, freed after the last use, where the buffer is taken at one place"
    }
    fn tunables(&self) -> &'static str {
        "opens D01: a queue less"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs, Counter::StallUs]
    }
    fn prior_gain(&self) -> f64 {
        1.02
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
                super::code::block_of(used.file, statement)
                    .ok_or_else(|| format!("line {line}: the only statement of an if or a loop"))?;
                edits.push(edit(used.file, used.file.removal_span(statement), ""));
            }
            other => return Err(format!("line {line}: {other} needs a queue")),
        }
    }
    Ok(edits)
}

/// The initialisation without its number of buffers.
pub(super) fn unnumbered(context: &Context, init: &InitBuffer) -> Result<Edit, String> {
    let number = init.number.as_ref().ok_or("no number of buffers")?;
    let file = context.forest.get(&number.file).ok_or("the initialisation is not parsed")?;
    let rest = &file.text()[number.end..];
    let comma = rest.len() - rest.trim_start_matches([',', ' ']).len();
    Ok(edit(file, number.start..number.end + comma, ""))
}

/// The declaration with another type: `made` gets the scope before `TQue` or `TBuf` and that of the position.
pub(super) fn retyped(
    file: &SyntaxFile,
    declaration: &Place,
    name: &str,
    made: impl Fn(&str, &str) -> String,
) -> Result<Edit, String> {
    let text = file.slice(&declaration.span());
    let unclear = || format!("{name} is not declared alone");
    let end = text.rfind('>').ok_or_else(unclear)? + 1;
    let start = text.find("TQue<").or_else(|| text.find("TBuf<")).ok_or_else(unclear)?;
    let scope = &text[..start];
    if text[end..].trim().trim_end_matches(';').trim() != name || !matches!(scope, "" | "AscendC::") {
        return Err(unclear());
    }
    let position = text[start + 5..end - 1].split(',').next().unwrap_or_default().trim();
    let position = position.rsplit_once("::").ok_or_else(unclear)?.0;
    Ok(edit(file, declaration.start..declaration.start + end, made(scope, position)))
}

/// A buffer that is taken at one place, as a queue.
fn queued(
    context: &Context,
    kernel: &Kernel,
    name: &str,
    declaration: &Place,
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
