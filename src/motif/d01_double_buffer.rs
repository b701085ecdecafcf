//! D01: two buffers per queue, so that copies of one tile overlap with computing another.

use super::code::{edit, squash, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::unified_buffer::UNIFIED_BUFFER_BYTES;
use crate::source::Edit;
use crate::source::facts::{InitBuffer, Kernel, Place, base_name, parse_integer};
use crate::source::parse::SyntaxFile;

/// Tensors that all queues of one position may hold at once: event ids of one pair of pipes on arch 2201 (reference of
/// `AllocTensor`).
const EVENT_IDS: i64 = 8;

/// The motif.
pub struct DoubleBuffer;

impl Motif for DoubleBuffer {
    fn id(&self) -> &'static str {
        "D01"
    }
    fn title(&self) -> &'static str {
        "double buffering"
    }
    fn family(&self) -> Family {
        Family::DataMovement
    }
    fn precondition(&self) -> &'static str {
        "the queue is filled in a loop; at most 8 buffers over all queues of one position; doubled buffers fit the unified buffer (condition where sizes come from \
         tiling); a named constant used in other expressions keeps them meaningful (condition)"
    }
    fn cost(&self) -> &'static str {
        "one more buffer per queue, one more event id"
    }
    fn left_to_verifier(&self) -> &'static str {
        "fits the unified buffer; lengths divide where the constant is used elsewhere"
    }
    fn undoing(&self) -> &'static str {
        "2 to 1"
    }
    fn tunables(&self) -> &'static str {
        "closes large tiles: the queues take twice the bytes"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::StallUs]
    }
    fn prior_gain(&self) -> f64 {
        1.10
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        numbers(context, 1, 2)
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        numbers(context, 2, 1)
    }
}

fn numbers(context: &Context, from: i64, to: i64) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut constants_done: Vec<String> = Vec::new();
    for kernel in context.facts.kernels.values() {
        for init in &kernel.init_buffers {
            let Some(number) = &init.number else { continue };
            let Some(file) = context.forest.get(&number.file) else { continue };
            let text = file.slice(&number.span());
            let name = base_name(text.rsplit("::").next().unwrap_or(text));
            if parse_integer(text) == Some(from) {
                let places = super::keep_room::counted(file, &init.target, from).into_iter().chain([number.span()]);
                let edits = check(context, kernel, &[init], from, to)
                    .map(|()| places.map(|place| edit(file, place, to.to_string())).collect());
                let note = format!("{} buffers for {}", to, init.target);
                found.push(
                    Candidate::new(file, &number.span(), note, edits)
                        .on_condition("the buffers fit the unified buffer"),
                );
            } else if context.facts.known.value(name) == Some(from)
                && squash(text).ends_with(name)
                && !constants_done.contains(&name.to_owned())
            {
                constants_done.push(name.to_owned());
                found.extend(by_constant(context, name, from, to));
            }
        }
    }
    found
}

/// One edit of the constant changes every queue that uses it, in the kernel and where the host mirrors it.
fn by_constant(context: &Context, name: &str, from: i64, to: i64) -> Option<Candidate> {
    let users: Vec<(&Kernel, Vec<&InitBuffer>)> = context
        .facts
        .kernels
        .values()
        .map(|kernel| (kernel, kernel.init_buffers.iter().filter(|init| uses(context, init, name)).collect::<Vec<_>>()))
        .filter(|(_, inits)| !inits.is_empty())
        .collect();
    let definitions: Vec<(&Place, &str)> =
        context.facts.definitions(name).map(|constant| (&constant.value, constant.text.as_str())).collect();
    let (first, _) = definitions.first()?;
    let file = context.forest.get(&first.file)?;
    let mut edits: Result<Vec<Edit>, String> = Ok(Vec::new());
    for (place, text) in &definitions {
        let literal = parse_integer(text) == Some(from);
        edits = edits.and_then(|mut edits| {
            let file = context.forest.get(&place.file).ok_or("the constant's file is not parsed")?;
            if !literal {
                return Err(format!(
                    "{name} is defined as {text} in {}:{}, not as a number",
                    place.file,
                    file.line(place.start)
                ));
            }
            edits.push(edit(file, place.span(), to.to_string()));
            Ok(edits)
        });
    }
    for (kernel, inits) in &users {
        edits = edits.and_then(|edits| check(context, kernel, inits, from, to).map(|()| edits));
    }
    let queues: Vec<&str> = users.iter().flat_map(|(_, inits)| inits.iter().map(|init| init.target.as_str())).collect();
    let note = format!("{name} = {to}: {}", queues.join(", "));
    let mut candidate =
        Candidate::new(file, &first.span(), note, edits).on_condition("the buffers fit the unified buffer");
    let elsewhere = other_uses(context, name);
    if !elsewhere.is_empty() {
        candidate =
            candidate.on_condition(format!("{name} is also used at {}: lengths still divide", elsewhere.join(", ")));
    }
    Some(candidate)
}

fn uses(context: &Context, init: &InitBuffer, name: &str) -> bool {
    let text = |place: &Place| context.forest.get(&place.file).map(|file| file.slice(&place.span()).to_owned());
    init.number.as_ref().and_then(text).is_some_and(|text| words(&text).contains(&name))
}

/// Places other than definitions, InitBuffer numbers and queue depths that mention the constant.
fn other_uses(context: &Context, name: &str) -> Vec<String> {
    let mut expected: Vec<(&str, std::ops::Range<usize>)> = Vec::new();
    for kernel in context.facts.kernels.values() {
        expected.extend(
            kernel
                .init_buffers
                .iter()
                .filter_map(|init| init.number.as_ref())
                .map(|place| (place.file.as_str(), place.span())),
        );
        expected
            .extend(kernel.queues.values().map(|queue| (queue.declaration.file.as_str(), queue.declaration.span())));
    }
    let mut found = Vec::new();
    for file in context.forest.iter() {
        for (start, _) in file.text().match_indices(name) {
            let is_word = word_at(file, start, name);
            let definition = context.facts.definitions(name).any(|constant| {
                constant.value.file == file.name() && file.line(constant.value.start) == file.line(start)
            });
            let known = expected.iter().any(|(of, span)| *of == file.name() && span.contains(&start));
            if is_word && !definition && !known {
                found.push(format!("{}:{}", file.name(), file.line(start)));
            }
        }
    }
    found.dedup();
    found
}

fn word_at(file: &SyntaxFile, start: usize, name: &str) -> bool {
    let part_of_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = file.text().as_bytes();
    !part_of_word(start.checked_sub(1).and_then(|before| bytes.get(before)))
        && !part_of_word(bytes.get(start + name.len()))
}

fn check(context: &Context, kernel: &Kernel, inits: &[&InitBuffer], from: i64, to: i64) -> Result<(), String> {
    for init in inits {
        let Some(queue) = kernel.queues.get(&init.target) else {
            return Err(format!("{} is not a queue member of {}", init.target, kernel.name));
        };
        if !queue.position.split(',').any(|position| matches!(position, "VECIN" | "VECOUT")) {
            return Err(format!("{} has the position {}: no copy to overlap", init.target, queue.position));
        }
    }
    // A queue that shares the number with others may be filled once: its second buffer costs no more than bytes.
    let once = inits.first().filter(|_| !inits.iter().any(|init| filled_in_loop(context, kernel, &init.target)));
    if let Some(init) = once.filter(|_| from < to) {
        return Err(format!("{} is filled once: a second buffer would stay empty", init.target));
    }
    if from > to {
        return Ok(());
    }
    let known = &context.facts.known;
    let number = |init: &InitBuffer| {
        let place = init.number.as_ref()?;
        let changed = inits.contains(&init);
        if changed { Some(to) } else { known.value(context.forest.get(&place.file)?.slice(&place.span())) }
    };
    for position in ["VECIN", "VECOUT"] {
        let held = |init: &&InitBuffer| {
            let queue = kernel.queues.get(&init.target);
            init.number.is_some() && queue.is_none_or(|queue| queue.position.split(',').any(|found| found == position))
        };
        let buffers: i64 = kernel.init_buffers.iter().filter(held).map(|init| number(init).unwrap_or(1)).sum();
        if buffers > EVENT_IDS {
            return Err(format!("{buffers} buffers over all {position} queues, and there are {EVENT_IDS} event ids"));
        }
    }
    let bytes: Option<i64> = kernel
        .init_buffers
        .iter()
        .map(|init| Some(known.value(&init.size)? * if init.number.is_some() { number(init)? } else { 1 }))
        .sum();
    match bytes.or_else(|| context.unified_buffer.with_numbers(kernel, inits, from, to)) {
        Some(bytes) if bytes > UNIFIED_BUFFER_BYTES => {
            Err(format!("{bytes} bytes of buffers, and the unified buffer has {UNIFIED_BUFFER_BYTES}"))
        }
        _ => Ok(()),
    }
}

/// Whether `AllocTensor` of the queue is reached from inside a loop.
fn filled_in_loop(context: &Context, kernel: &Kernel, queue: &str) -> bool {
    kernel
        .calls(&context.forest)
        .filter(|(_, _, call)| call.name == "AllocTensor" && call.object.as_deref().map(base_name) == Some(queue))
        .any(|(file, _, call)| reached_in_loop(context, kernel, file, call.span.start, 0))
}

fn reached_in_loop(context: &Context, kernel: &Kernel, file: &SyntaxFile, byte: usize, depth: usize) -> bool {
    let Some(function) = file.enclosing_function(byte) else { return false };
    if file.enclosing_loop(byte).is_some_and(|repetition| function.body.contains(&repetition.span.start)) {
        return true;
    }
    depth < 6
        && kernel
            .calls(&context.forest)
            .filter(|(_, _, call)| call.name == function.name)
            .any(|(caller, _, call)| reached_in_loop(context, kernel, caller, call.span.start, depth + 1))
}
