//! D14: chunks that a later pass over the same range loads again stay in the unified buffer, as many as fit.

use std::ops::Range;

use crate::analysis::chunk_loads::{Load, Reuse, loads, reuses};
use crate::analysis::code::words;
use crate::analysis::queue_run::{QueueRun, counter, runs};
use crate::rewrite::buffers::access;
use crate::rewrite::counted_bytes::{BYTES, LENGTH, ROUNDS, SLOTS, TAKEN};
use crate::rewrite::edits::edit;
use crate::rewrite::keep_edits::{Keep, NONE_BY_DEFAULT, PARAMETER};
use crate::rewrite::signature::without_parameter;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{CallSite, Callers, Kernel};
use source::lex::pieces;
use source::parse::SyntaxFile;

/// The motif.
pub struct KeepChunks;

const METADATA: Metadata = Metadata {
    id: Id::D14,
    title: "keep chunks that are loaded again",
    family: Family::DataMovement,
    precondition: "two loops of the same number of rounds, one behind the other in the same round of what is around, or one loop in another: \
     in each round a queue is filled, taken and given back once; what is copied is the same function of the counter, with functions \
     of the class and locals followed; nothing writes the global tensor or what the copy rests on; the first load is done in every round; \
     the tensor is only read by the vector and scalar units; all buffers are initialised in one function",
    left_to_verifier: "that nothing but its own data was ordered by the load that is left out; that a pipe from outside serves one class at a time",
    relieves: &[Counter::Mte2Us, Counter::StallUs],
    prior_gain: 1.25,
    cost: "a copy within the unified buffer for each chunk that is kept; the room that is left, as far as it is needed: what does not fit \
     is loaded as before, whatever the shape",
    tunables: "none",
    undoing: "load again in every pass",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for KeepChunks {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        context.facts.kernels.values().flat_map(|kernel| kept(context, kernel)).collect()
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (name, place) in &kernel.buffers {
                let Some(file) = context.forest.get(&place.file) else { continue };
                let ours = kernel.buffers.contains_key(name) && file.text().contains(&format!(" {name}{SLOTS} = 0;"));
                if let Some(edits) = ours.then(|| reloaded(context, kernel, name)).flatten() {
                    found.push(Candidate::new(file, &place.span(), format!("load again what {name} keeps"), Ok(edits)));
                }
            }
        }
        found
    }
}

fn kept(context: &Context, kernel: &Kernel) -> Vec<Candidate> {
    let mut found = Vec::new();
    if kernel.queues.is_empty() {
        return found;
    }
    for run in runs(context, kernel).into_iter().filter_map(Result::ok) {
        for (queue, member) in &kernel.queues {
            if member.position != "VECIN" {
                continue;
            }
            let understood: Vec<Load<'_>> = loads(&run, queue).into_iter().filter_map(Result::ok).collect();
            for reuse in reuses(&run, &understood) {
                found.extend(candidate(&run, &reuse));
            }
        }
    }
    found
}

fn candidate(run: &QueueRun<'_>, reuse: &Reuse<'_>) -> Option<Candidate> {
    let first = reuse.first;
    let file = run.frames[first.to].file;
    let note = match reuse.around {
        None => format!("keep {} of {} for {} later", first.taken.name, first.queue, reuse.later.len()),
        Some((frame, around)) => {
            let name = counter(run.frames[frame].file, around).map_or("", |(name, _)| name);
            format!("keep {} of {} from {name} 0 on", first.taken.name, first.queue)
        }
    };
    let alone = |kernel: &Kernel| {
        if kernel.has_base() || !run.context.facts.derived(&kernel.name).is_empty() {
            return Err("base and derived classes may have buffers".to_owned());
        }
        Ok(())
    };
    let edits = alone(run.kernel)
        .and_then(|()| reuse.proven(run))
        .and_then(|()| Keep::new(run, reuse).ok_or_else(|| "no name".to_owned())?.edits());
    let condition = format!("nothing but its own data is ordered by the loads of {} that are left out", first.queue);
    let candidate = Candidate::new(file, &first.taken.span, note, edits).on_condition(condition);
    let shared = run.kernel.init_of(&first.queue).is_some_and(|init| access(run.context, init).contains("->"));
    let others = run.context.facts.kernels.values().filter(|kernel| !kernel.init_buffers.is_empty()).count() > 1;
    Some(if shared && others {
        candidate.on_condition(format!("no object of another class takes room from the pipe of {}", run.kernel.name))
    } else {
        candidate
    })
}

/// Edits that take a kept buffer out again.
fn reloaded(context: &Context, kernel: &Kernel, name: &str) -> Option<Vec<Edit>> {
    let ours: Vec<String> =
        ["", SLOTS, LENGTH, BYTES, TAKEN, ROUNDS].iter().map(|end| format!("{name}{end}")).collect();
    let mut edits = Vec::new();
    for file in context.forest.iter() {
        let text = file.text();
        let mut end = 0;
        for (start, _) in text.match_indices(name) {
            let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let line = first..text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
            let mine = words(&text[line.clone()]).iter().any(|word| ours.iter().any(|own| own == word));
            if start < end || !mine {
                continue;
            }
            let (until, undone) = undone(file, &line, name)?;
            end = until;
            edits.extend(undone);
        }
    }
    edits.extend(without_parameters(context, kernel, name)?);
    Some(edits)
}

/// The end of the line, or of the `if` that starts there, with the edits that take out what was added.
fn undone(file: &SyntaxFile, line: &Range<usize>, name: &str) -> Option<(usize, Vec<Edit>)> {
    let text = file.text();
    let inside = &text[line.clone()];
    let slots = format!("{name}{SLOTS}");
    let next_line = |from: usize| text[from..].find('\n').map_or(text.len(), |at| from + at + 1);
    if inside.trim().starts_with("if (") && inside.trim().ends_with(") {") {
        let indentation = &inside[..inside.len() - inside.trim_start().len()];
        let close = format!("\n{indentation}}}");
        let end = line.end - 1 + text[line.end - 1..].find(&close)? + 1;
        let body = &text[line.end..end];
        let mut until = next_line(end);
        if text[end..until].trim() == "} else {" {
            until = next_line(until - 1 + text[until - 1..].find(&close)? + 1);
        }
        let own = words(body).iter().any(|word| *word == name || *word == slots);
        let lines = body.split_inclusive('\n').map(|line| line.strip_prefix("    ").unwrap_or(line));
        let kept: String = if own { String::new() } else { lines.collect() };
        return Some((until, vec![edit(file, line.start..until, kept)]));
    }
    let gone = || edit(file, line.clone(), "");
    let local = file.locals().iter().find(|local| line.contains(&local.span.start) && local.value.is_some());
    let choice = local.and_then(|local| {
        let value = local.value.clone()?;
        let (_, other) = file.slice(&value).split_once(&format!("{slots} ? {name}.Get<"))?.1.split_once("] : ")?;
        Some((local, value, other))
    });
    let Some((local, value, other)) = choice else { return Some((line.end, vec![gone()])) };
    if other.contains("DeQue") {
        return Some((line.end, vec![edit(file, value, other)]));
    }
    // The taken tensor has a name of its own: the old one again.
    let function = file.enclosing_function(line.start)?;
    let body = file.slice(&function.body);
    let renamed = pieces(body).into_iter().filter(|token| &body[token.span.clone()] == other);
    let places = renamed.map(|token| function.body.start + token.span.start..function.body.start + token.span.end);
    let mut edits: Vec<Edit> = places
        .filter(|place| !line.contains(&place.start))
        .map(|place| edit(file, place, local.name.as_str()))
        .collect();
    edits.push(gone());
    Some((line.end, edits))
}

/// Edits that take away the parameters and arguments that were added for a buffer.
fn without_parameters(context: &Context, kernel: &Kernel, name: &str) -> Option<Vec<Edit>> {
    let end = name.strip_prefix("keep").unwrap_or(name);
    let ours = |parameter: &str| {
        parameter
            .strip_prefix(PARAMETER)
            .is_some_and(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()) == end)
    };
    let mut edits = Vec::new();
    for (file, index) in &kernel.functions {
        let Some((file, function)) =
            context.forest.get(file).and_then(|file| Some((file, file.functions().get(*index)?)))
        else {
            continue;
        };
        let list: Vec<String> = function
            .parameters
            .iter()
            .filter(|parameter| ours(&parameter.name))
            .map(|parameter| format!("{} {}", parameter.type_text, parameter.name))
            .collect();
        if list.is_empty() {
            continue;
        }
        let sites = Callers::new(kernel, &context.forest).sites(function);
        let before = function.parameters.len() - list.len();
        let mut given = sites.iter().filter(|site| site.call.arguments.len() > before);
        let first = given.next()?;
        let arguments = |site: &CallSite<'_>| -> String {
            let added: Vec<&str> =
                site.call.arguments[before..].iter().map(|argument| site.file.slice(argument)).collect();
            added.join(", ")
        };
        let optional: Vec<String> = list.iter().map(|text| format!("{text}{NONE_BY_DEFAULT}")).collect();
        let taken = [list, optional].into_iter().find_map(|list| {
            let place = (first.file, first.call);
            without_parameter(context, file, function, &list.join(", "), place, &arguments(first))
        });
        edits.extend(taken?);
        for site in given {
            let from = site.call.arguments.get(before.checked_sub(1)?)?.end;
            edits.push(edit(site.file, from..site.call.arguments.last()?.end, ""));
        }
    }
    Some(edits)
}
