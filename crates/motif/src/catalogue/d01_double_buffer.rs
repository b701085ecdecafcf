//! D01: two buffers per queue, so that copies of one tile overlap with computing another.

use crate::analysis::code::{squash, words};
use crate::analysis::machine::EVENT_IDS;
use crate::context::unified_buffer::UNIFIED_BUFFER_BYTES;
use crate::rewrite::buffers::{name_of, number_of_buffers};
use crate::rewrite::constant_room;
use crate::rewrite::counted_bytes::counted;
use crate::rewrite::edits::edit;
use crate::rewrite::planned_room;
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{InitBuffer, Kernel, base_name, parse_integer};
use source::parse::SyntaxFile;

/// The motif.
pub struct DoubleBuffer;

const METADATA: Metadata = Metadata {
    id: Id::D01,
    title: "double buffering",
    family: Family::DataMovement,
    precondition: "the queue is filled in a loop; at most 8 buffers over all queues of one position; doubled buffers fit the unified buffer (condition where sizes come from \
     tiling), or all are doubled and the tiling function, which asks the platform for that size, plans with half of it; or the size is a constant of the kernel that nothing else is but what chunks are cut by, and is halved; a named constant used in other expressions keeps them meaningful (condition)",
    left_to_verifier: "fits the unified buffer; lengths divide where the constant is used elsewhere",
    relieves: &[Counter::StallUs],
    prior_gain: 1.10,
    cost: "one more buffer per queue, one more event id; where they do not fit, tiles half as long",
    tunables: "closes large tiles: the queues take twice the bytes",
    undoing: "2 to 1, with the tiles as long as before",
    rounding_changes: false,
    replaces_constants: false,
    company: Company { leads: &[Combination { rank: 4, motifs: &[Id::D01, Id::D23] }], ..Company::ANY },
};

impl Motif for DoubleBuffer {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = numbers(context, 1, 2);
        found.extend(with_tiles(context, 1, 2));
        found.extend(with_chunks(context, 1, 2));
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = numbers(context, 2, 1);
        found.extend(with_tiles(context, 2, 1));
        found.extend(with_chunks(context, 2, 1));
        found
    }
}

/// Where all queues' second buffers do not fit: all of them, and the tiling function plans with half of the unified buffer, so that its
/// tiles are half as long.
fn with_tiles(context: &Context, from: i64, to: i64) -> Vec<Candidate> {
    let mut found = Vec::new();
    for kernel in context.facts.kernels.values() {
        let number = |init: &InitBuffer| Some(context.text_of(init.number.as_ref()?)?.to_owned());
        let inits: Vec<&InitBuffer> = kernel
            .init_buffers
            .iter()
            .filter(|init| number(init).and_then(|text| number_of_buffers(context, &text)) == Some(from))
            .collect();
        let bytes = context.unified_buffer.with_numbers(kernel, &inits, from, to);
        let full = bytes.is_some_and(|bytes| bytes > UNIFIED_BUFFER_BYTES);
        let Some(place) = inits.first().and_then(|init| init.number.as_ref()) else { continue };
        let Some(file) = context.forest.get(&place.file) else { continue };
        if from < to && !full {
            continue;
        }
        let planned = if from < to { planned_room::halve(context) } else { planned_room::double(context) };
        let Ok(planned) = planned else { continue };
        let mut edits = check_queues(context, kernel, &inits, from, to).map(|()| planned);
        let mut constants: Vec<String> = Vec::new();
        for init in &inits {
            let text = number(init).unwrap_or_default();
            if parse_integer(&text).is_none() {
                let name = name_of(&text).to_owned();
                if !constants.contains(&name) {
                    let (users, definitions) = (users_of(context, &name), definition_edits(context, &name, from, to));
                    let known = |init: &InitBuffer| inits.iter().any(|known| known.target == init.target);
                    if !users.iter().all(|(of, inits)| of.name == kernel.name && inits.iter().all(|init| known(init))) {
                        edits = Err(format!("{name} is the number of other kernels' buffers too"));
                    }
                    edits = edits.and_then(|edits| Ok([edits, definitions?].concat()));
                    constants.push(name);
                }
                continue;
            }
            let Some((number, file)) =
                init.number.as_ref().and_then(|number| Some((number, context.forest.get(&number.file)?)))
            else {
                continue;
            };
            let places = counted(file, &init.target, from).into_iter().chain([number.span()]);
            let numbers: Vec<Edit> = places.map(|place| edit(file, place, to.to_string())).collect();
            edits = edits.map(|edits| [edits, numbers].concat());
        }
        let queues: Vec<&str> = inits.iter().map(|init| init.target.as_str()).collect();
        let share = if from < to { "half of the unified buffer" } else { "twice the unified buffer" };
        let note = format!("{to} buffers for {}, planned with {share}", queues.join(", "));
        found.push(
            Candidate::new(file, &place.span(), note, edits)
                .on_condition("tiles follow from the size of the unified buffer"),
        );
    }
    found
}

/// Where the second buffer of a queue does not fit, and its size is a constant of the kernel that chunks are cut by: half as much.
fn with_chunks(context: &Context, from: i64, to: i64) -> Vec<Candidate> {
    let mut found = Vec::new();
    for kernel in context.facts.kernels.values() {
        for init in &kernel.init_buffers {
            let Some(place) = &init.number else { continue };
            let Some(file) = context.forest.get(&place.file) else { continue };
            let most = if from < to { to } else { from * 2 };
            let size = context.facts.known.value(&init.size);
            let full = size.is_some_and(|size| size.saturating_mul(most) > UNIFIED_BUFFER_BYTES);
            if parse_integer(file.slice(&place.span())) != Some(from) || !full {
                continue;
            }
            let room =
                if from < to { constant_room::halve(context, init) } else { constant_room::double(context, init) };
            let Ok(room) = room else { continue };
            let edits = check_queues(context, kernel, &[init], from, to)
                .map(|()| vec![edit(file, place.span(), to.to_string()), room]);
            let share = if from < to { "half as long" } else { "twice as long" };
            let note = format!("{to} buffers for {}, {share}", init.target);
            found.push(
                Candidate::new(file, &place.span(), note, edits)
                    .on_condition(format!("lengths follow from {}", init.size)),
            );
        }
    }
    found
}

fn numbers(context: &Context, from: i64, to: i64) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut constants_done: Vec<String> = Vec::new();
    for kernel in context.facts.kernels.values() {
        for init in &kernel.init_buffers {
            let Some(number) = &init.number else { continue };
            let Some(file) = context.forest.get(&number.file) else { continue };
            let text = file.slice(&number.span());
            let name = name_of(text);
            if parse_integer(text) == Some(from) {
                let places = counted(file, &init.target, from).into_iter().chain([number.span()]);
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
    let users = users_of(context, name);
    let first = &context.facts.definitions(name).next()?.value;
    let file = context.forest.get(&first.file)?;
    let mut edits = definition_edits(context, name, from, to);
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

/// Kernels with the buffers whose number is the constant.
fn users_of<'a>(context: &'a Context, name: &str) -> Vec<(&'a Kernel, Vec<&'a InitBuffer>)> {
    let users = context.facts.kernels.values();
    users
        .map(|kernel| (kernel, kernel.init_buffers.iter().filter(|init| uses(context, init, name)).collect::<Vec<_>>()))
        .filter(|(_, inits)| !inits.is_empty())
        .collect()
}

/// Every definition of a constant gets the other number.
fn definition_edits(context: &Context, name: &str, from: i64, to: i64) -> Result<Vec<Edit>, String> {
    let definitions = context.facts.definitions(name).map(|constant| {
        let place = &constant.value;
        let file = context.forest.get(&place.file).ok_or("the constant's file is not parsed")?;
        if parse_integer(&constant.text) != Some(from) {
            let (text, line) = (&constant.text, file.line(place.start));
            return Err(format!("{name} is defined as {text} in {}:{line}, not as a number", place.file));
        }
        Ok(edit(file, place.span(), to.to_string()))
    });
    definitions.collect()
}

fn uses(context: &Context, init: &InitBuffer, name: &str) -> bool {
    let text = init.number.as_ref().and_then(|place| context.text_of(place));
    text.is_some_and(|text| words(text).contains(&name))
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

/// Whether the second buffers are of use, and there is room for them.
fn check(context: &Context, kernel: &Kernel, inits: &[&InitBuffer], from: i64, to: i64) -> Result<(), String> {
    check_queues(context, kernel, inits, from, to)?;
    if from > to {
        return Ok(());
    }
    let known = &context.facts.known;
    let bytes = kernel.init_buffers.iter().try_fold(0, |sum: i64, init| {
        let number = if init.number.is_some() { number_after(context, init, inits, to)? } else { 1 };
        sum.checked_add(known.value(&init.size)?.checked_mul(number)?)
    });
    match bytes.or_else(|| context.unified_buffer.with_numbers(kernel, inits, from, to)) {
        Some(bytes) if bytes > UNIFIED_BUFFER_BYTES => {
            Err(format!("{bytes} bytes of buffers, and the unified buffer has {UNIFIED_BUFFER_BYTES}"))
        }
        _ => Ok(()),
    }
}

/// The number of buffers of a queue once those of `inits` have `to`.
fn number_after(context: &Context, init: &InitBuffer, inits: &[&InitBuffer], to: i64) -> Option<i64> {
    let place = init.number.as_ref()?;
    if inits.contains(&init) { Some(to) } else { context.facts.known.value(context.text_of(place)?) }
}

/// Whether the second buffers are of use, wherever they are.
fn check_queues(context: &Context, kernel: &Kernel, inits: &[&InitBuffer], from: i64, to: i64) -> Result<(), String> {
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
    for position in ["VECIN", "VECOUT"] {
        let held = |init: &&InitBuffer| {
            let queue = kernel.queues.get(&init.target);
            init.number.is_some() && queue.is_none_or(|queue| queue.position.split(',').any(|found| found == position))
        };
        let buffers: i64 = kernel
            .init_buffers
            .iter()
            .filter(held)
            .map(|init| number_after(context, init, inits, to).unwrap_or(1))
            .sum();
        if buffers > EVENT_IDS {
            return Err(format!("{buffers} buffers over all {position} queues, and there are {EVENT_IDS} event ids"));
        }
    }
    Ok(())
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
