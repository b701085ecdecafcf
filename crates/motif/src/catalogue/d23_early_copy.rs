//! D23: the copy of the next tile is issued before the current one is computed, so that it runs while the scalar unit waits
//! for results of the vector unit.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::code::{block_of, squash, words};
use crate::analysis::flow::changes::{changed_names, changes_name};
use crate::analysis::flow::effects::{own_functions, reached};
use crate::analysis::global_memory::apart;
use crate::analysis::regions::is_full_barrier;
use crate::rewrite::edits::edit;
use crate::rewrite::queue_depth::depth_set;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{is_copy, vector_shape};
use source::facts::{Callers, Kernel, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Loop, SyntaxFile};

/// Buffers that a queue needs: one is computed on while the other is filled.
const BUFFERS_MIN: i64 = 2;

/// Tensors that such a queue holds at a time: the next one is enqueued before the current one is taken.
const DEPTH_AHEAD: &str = "2";

/// Vector instructions of a round from which on the queue of the vector unit makes the scalar unit wait: two rounds of fewer fit into it
/// (`queue_depth` of the machine descriptions is 32), and the copy of the next round is issued while this one is computed.
const QUEUED: usize = 16;

/// The motif.
pub struct EarlyCopy;

const METADATA: Metadata = Metadata {
    id: Id::D23,
    title: "copy in the next tile before computing this one",
    family: Family::DataMovement,
    precondition: "a for loop that counts up, its body with calls first (after declarations that rest on the counter alone) of functions of the class that \
     only fill queues of at least two buffers from global memory, or with what such a function does; the rest of the round takes each of these queues once (their depth becomes 2), writes none \
     of the global tensors read and none of the variables used, and makes the scalar unit wait (an element read, a reduction, more vector instructions than half their queue holds); no full \
     barrier, no way out of the loop",
    left_to_verifier: "the number of buffers, where it comes from tiling",
    relieves: &[Counter::StallUs],
    prior_gain: 1.2,
    cost: "nothing; needs the second buffer",
    tunables: "closes one buffer per input queue",
    undoing: "copy in at the start of the round",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for EarlyCopy {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for_each_loop(context, |kernel, rounds| {
            let Some(first) = rounds.first(context, kernel) else { return };
            let judged = moved_ahead(context, kernel, rounds, &first);
            let line = rounds.file.line(first.span.end);
            let note = format!("{} of the next round before line {line}", first.name);
            let conditions = judged.as_ref().map(|(_, conditions)| conditions.clone()).unwrap_or_default();
            let edits = judged.map(|(edits, _)| edits);
            let mut candidate = Candidate::new(rounds.file, &first.span, note, edits);
            candidate.site.conditions = conditions;
            found.push(candidate);
        });
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for_each_loop(context, |kernel, rounds| found.extend(moved_back(context, kernel, rounds)));
        found
    }
}

/// `for (T counter = start; counter < end; counter += step)` with a block.
struct Rounds<'a> {
    file: &'a SyntaxFile,
    repetition: &'a Loop,
    counter: &'a str,
    start: &'a str,
    end: &'a str,
    step: &'a str,
    /// Statements of the body in order.
    statements: Vec<Range<usize>>,
}

/// What copies in: calls of functions that fill queues, or the statements of such a function in the loop itself.
struct First {
    /// From the first statement to the end of the last.
    span: Range<usize>,
    /// Declarations before it, which the rest of the round uses too.
    declarations: Vec<Range<usize>>,
    /// What is called.
    name: String,
}

fn for_each_loop(context: &Context, mut judge: impl FnMut(&Kernel, &Rounds<'_>)) {
    for file in context.forest.iter() {
        for repetition in file.loops() {
            let Some(kernel) = context.facts.kernel_at(file, repetition.span.start) else { continue };
            if let Some(rounds) = Rounds::of(file, repetition) {
                judge(kernel, &rounds);
            }
        }
    }
}

impl<'a> Rounds<'a> {
    fn of(file: &'a SyntaxFile, repetition: &'a Loop) -> Option<Self> {
        let initializer = file.slice(repetition.initializer.as_ref()?).trim().trim_end_matches(';');
        let (declared, start) = initializer.split_once('=')?;
        let counter = declared.split_whitespace().last()?;
        let condition = file.slice(repetition.condition.as_ref()?).trim();
        let end = condition.strip_prefix(counter)?.trim_start().strip_prefix('<')?.trim();
        let update = file.slice(repetition.update.as_ref()?).trim();
        let step = if [format!("{counter}++"), format!("++{counter}")].contains(&squash(update)) {
            "1"
        } else {
            update.strip_prefix(counter)?.trim_start().strip_prefix("+=")?.trim()
        };
        let plain = |text: &str| !text.is_empty() && !text.contains(['=', '?', ',', '<', '>', '&', '|', '[', '{']);
        let typed = declared.split_whitespace().count() >= 2 && declared.split_whitespace().all(is_word);
        if !typed || ![start.trim(), end, step].iter().all(|text| plain(text)) || words(end).contains(&counter) {
            return None;
        }
        let body = file.node_at(&repetition.body).filter(|body| body.kind() == "compound_statement")?;
        let mut cursor = body.walk();
        let children = body.named_children(&mut cursor).filter(|child| child.kind() != "comment");
        let statements = children.map(|child| child.byte_range()).collect();
        Some(Self { file, repetition, counter, start: start.trim(), end, step, statements })
    }

    fn first(&self, context: &Context, kernel: &Kernel) -> Option<First> {
        let file = self.file;
        let declares = |span: &Range<usize>| file.locals().iter().any(|local| local.span == *span);
        let allocates =
            |span: &Range<usize>| declares(span) && file.calls_in(span.clone()).any(|call| call.name == "AllocTensor");
        let is_declaration = |span: &&Range<usize>| declares(span) && !allocates(span);
        let declarations: Vec<Range<usize>> = self.statements.iter().take_while(is_declaration).cloned().collect();
        let rest = &self.statements[declarations.len()..];
        let filler = |span: &Range<usize>| {
            let call = file.calls().iter().find(|call| call.statement.as_ref() == Some(span))?;
            let fills = own_functions(context, kernel, &call.name).any(|(file, function)| {
                let inside = || file.calls_in(function.body.clone());
                inside().any(|call| call.name == "EnQue") && inside().any(|call| is_copy(&call.name))
            });
            (call.is_own() && fills).then_some(call)
        };
        let calls: Vec<&Call> = rest.iter().map_while(filler).collect();
        let (count, name) = match calls.first() {
            Some(call) => (calls.len(), call.name.clone()),
            None => (rest.first().filter(|span| allocates(span)).and_then(|_| self.filled(context, kernel, rest))?, {
                let copies = |span: &Range<usize>| file.calls_in(span.clone()).find(|call| is_copy(&call.name));
                rest.iter().find_map(copies).map_or_else(|| "the copy".to_owned(), |call| call.name.clone())
            }),
        };
        Some(First { span: rest.first()?.start..rest.get(count - 1)?.end, declarations, name })
    }

    /// How many statements fill queues, up to the last `EnQue` before something else is done.
    fn filled(&self, context: &Context, kernel: &Kernel, statements: &[Range<usize>]) -> Option<usize> {
        let only_fills = |span: &&Range<usize>| {
            let here = self.file.calls_in((*span).clone()).all(|call| copies_only(context, kernel, call));
            here && reached(context, kernel, self.file, span).iter().all(|(file, function)| {
                file.calls_in(function.body.clone()).all(|call| copies_only(context, kernel, call))
            })
        };
        let enqueues = |span: &Range<usize>| self.file.calls_in(span.clone()).any(|call| call.name == "EnQue");
        let filling = statements.iter().take_while(only_fills).enumerate();
        filling.filter(|(_, span)| enqueues(span)).map(|(index, _)| index + 1).last()
    }

    /// The counter of the next round.
    fn next(&self) -> String {
        if words(self.step).len() + usize::from(self.step == "1") == 1 && is_word(self.step) {
            format!("{} + {}", self.counter, self.step)
        } else {
            format!("{} + ({})", self.counter, self.step)
        }
    }

    /// The text with the counter of another round.
    fn with_counter(&self, text: &str, value: &str) -> String {
        let mut result = String::new();
        let mut from = 0;
        for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
            if &text[token.span.clone()] != self.counter || text[..token.span.start].ends_with(['.', '>', ':']) {
                continue;
            }
            result.push_str(&text[from..token.span.start]);
            from = token.span.end;
            let alone = bounded(&text[..token.span.start], &text[token.span.end..]);
            if alone || is_word(value) { result.push_str(value) } else { result.push_str(&format!("({value})")) }
        }
        result.push_str(&text[from..]);
        result
    }

    /// The text that copies in for one round at an indentation: declarations and what follows them.
    fn text(&self, first: &First, value: &str, indentation: &str) -> Vec<String> {
        let from = self.file.indentation(first.span.start);
        let spans = first.declarations.iter().chain([&first.span]);
        spans.map(|span| self.with_counter(&indented(self.file.slice(span), from, indentation), value)).collect()
    }

    /// What stands before the loop and at the start of its body.
    fn ahead(&self, first: &First) -> (String, String) {
        let outer = self.file.indentation(self.repetition.span.start);
        let inner = self.file.indentation(first.span.start);
        let next = self.next();
        let guarded = |value: &str, indentation: &str| {
            let deeper = format!("{indentation}    ");
            guarded(&format!("{value} < {}", self.end), &self.text(first, value, &deeper), indentation)
        };
        (guarded(self.start, outer), guarded(&next, inner))
    }
}

fn guarded(condition: &str, texts: &[String], indentation: &str) -> String {
    let inner: String = texts.iter().map(|text| format!("{indentation}    {text}\n")).collect();
    format!("{indentation}if ({condition}) {{\n{inner}{indentation}}}\n")
}

/// The text with its lines after the first at another indentation.
fn indented(text: &str, from: &str, to: &str) -> String {
    let mut lines = text.split('\n');
    let mut result = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        result.push('\n');
        match line.strip_prefix(from) {
            Some(rest) => result.push_str(&format!("{to}{rest}")),
            None => result.push_str(line),
        }
    }
    result
}

/// Whether an expression between these texts is an operand of nothing: in parentheses, between commas.
fn bounded(before: &str, after: &str) -> bool {
    matches!(before.trim_end().chars().last(), None | Some('(' | ',' | '='))
        && matches!(after.trim_start().chars().next(), None | Some(')' | ',' | ';'))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':')
}

/// Vector instructions that these statements issue, as far as they show: a loop issues more of them than fit anywhere.
fn vector_instructions(file: &SyntaxFile, span: &Range<usize>) -> usize {
    let inner: Vec<&Loop> =
        file.loops().iter().filter(|inner| span.start <= inner.span.start && inner.span.end <= span.end).collect();
    let of_call = |call: &Call| {
        let repeated = inner.iter().any(|inner| inner.body.contains(&call.span.start));
        if repeated { QUEUED } else { 1 }
    };
    let is_vector = |call: &&Call| vector_shape(&call.name).is_some() || call.name == "PipeBarrier";
    file.calls_in(span.clone()).filter(is_vector).map(of_call).sum()
}

fn moved_ahead(
    context: &Context,
    kernel: &Kernel,
    rounds: &Rounds<'_>,
    first: &First,
) -> Result<(Vec<Edit>, Vec<String>), String> {
    let file = rounds.file;
    let body = file.slice(&rounds.repetition.body);
    for token in pieces(body) {
        let word = &body[token.span.clone()];
        if token.kind == PieceKind::Directive || matches!(word, "break" | "continue" | "return" | "goto") {
            return Err(format!("{} stands in the loop", word.lines().next().unwrap_or_default()));
        }
    }
    block_of(file, &rounds.repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
    let fillers = filling(context, kernel, file, first)?;
    let rest = first.span.end..rounds.repetition.body.end;
    let others = reached(context, kernel, file, &rest);
    let mut places: Vec<(&SyntaxFile, Range<usize>)> =
        others.iter().map(|(file, function)| (*file, function.body.clone())).collect();
    places.push((file, rest.clone()));
    let calls = || places.iter().flat_map(|(file, span)| file.calls_in(span.clone()).map(move |call| (*file, call)));
    if let Some((other, call)) = calls().find(|(_, call)| is_full_barrier(call)) {
        return Err(format!("a full barrier stands at {}:{}", other.name(), other.line(call.span.start)));
    }
    let waits = |call: &Call| {
        matches!(call.name.as_str(), "GetValue" | "WaitFlag" | "SyncAll") || call.name.starts_with("Reduce")
    };
    let instructions: usize = places.iter().map(|(file, span)| vector_instructions(file, span)).sum();
    if instructions < QUEUED && !calls().any(|(_, call)| waits(call)) {
        return Err("nothing in the loop makes the scalar unit wait: the next copy is issued early as it is".to_owned());
    }
    let declared_there = file.locals().iter().filter(|local| first.span.contains(&local.span.start));
    if let Some(local) =
        declared_there.into_iter().find(|local| words(file.slice(&rest)).contains(&local.name.as_str()))
    {
        return Err(format!("{} is used after it has been filled", local.name));
    }
    let mut edits = Vec::new();
    let mut conditions = Vec::new();
    // Queues: filled here alone, taken once a round, two buffers at least.
    let queues = queues_of(context, kernel, file, first)?;
    for queue in &queues {
        let uses = |name: &str| {
            calls()
                .filter(|(_, call)| call.name == name && call.object.as_deref().map(base_name) == Some(queue))
                .count()
        };
        if uses("AllocTensor") > 0 || uses("DeQue") != 1 {
            return Err(format!("{queue} is not taken exactly once in the rest of the round"));
        }
        let init =
            kernel.init_of(queue).ok_or_else(|| format!("{queue} gets its buffers at several places or none"))?;
        let number = init
            .number
            .as_ref()
            .and_then(|place| Some(context.forest.get(&place.file)?.slice(&place.span())))
            .unwrap_or_default();
        match context.facts.known.value(number) {
            Some(buffers) if buffers < BUFFERS_MIN => {
                return Err(format!("{queue} has {buffers} buffer, the copy ahead needs {BUFFERS_MIN}"));
            }
            Some(_) => {}
            None => conditions.push(format!("{queue} has {BUFFERS_MIN} buffers at least ({number})")),
        }
        let known = &kernel.queues[queue];
        match context.facts.known.value(&known.depth) {
            Some(1) => {
                let declared = context.forest.get(&known.declaration.file).ok_or("the queue's file is unknown")?;
                edits.extend(depth_set(declared, known, DEPTH_AHEAD)?);
            }
            Some(_) => {}
            None => conditions.push(format!("{queue} may hold two tensors ({})", known.depth)),
        }
    }
    // What the copy rests on must not change in the rest of the round.
    let changed: BTreeSet<&str> = places.iter().flat_map(|(file, span)| changed_names(file, span)).collect();
    let filled: BTreeSet<&str> =
        fillers.iter().flat_map(|(file, function)| changed_names(file, &function.body)).collect();
    for word in words(rounds.end).into_iter().chain(words(rounds.step)).chain([rounds.counter]) {
        if changed.contains(word) {
            return Err(format!("{word} may change in the rest of the round"));
        }
    }
    let own = first.declarations.iter().chain([&first.span]).map(|span| (file, span.clone()));
    for (at, span) in own.chain(fillers.iter().map(|(file, function)| (*file, function.body.clone()))) {
        for word in words(at.slice(&span)) {
            let local = at.locals().iter().any(|local| local.name == word && span.contains(&local.span.start));
            if !local && word != rounds.counter && changed.contains(word) {
                return Err(format!("{word} may change in the rest of the round"));
            }
            let declared = || fillers.iter().any(|(file, function)| declared_in(file, function, word));
            if !local && filled.contains(word) && !declared() {
                return Err(format!("{} changes {word}", first.name));
            }
            if kernel.globals.contains_key(word)
                && calls().any(|(file, call)| {
                    let first = file.argument(call, 0).map(base_name);
                    let handed_on =
                        || (0..call.arguments.len()).any(|at| file.argument(call, at).map(base_name) == Some(word));
                    (is_copy(&call.name) && first == Some(word))
                        || (call.is_own() && own_functions(context, kernel, &call.name).next().is_some() && handed_on())
                        || (call.object.as_deref().map(base_name) == Some(word) && call.name != "GetValue")
                })
            {
                return Err(format!("{word} is written in the rest of the round"));
            }
            if kernel.globals.contains_key(word) {
                for (file, call) in calls().filter(|(_, call)| is_copy(&call.name) && call.object.is_none()) {
                    let function = file.enclosing_function(call.span.start);
                    let target = file.argument(call, 0).map(base_name).unwrap_or_default();
                    let targets =
                        function.map(|function| Callers::new(kernel, &context.forest).members(function, target));
                    for target in
                        targets.unwrap_or_default().iter().filter(|target| kernel.globals.contains_key(*target))
                    {
                        apart(context, kernel, word, target)?;
                    }
                }
            }
        }
    }
    for span in &first.declarations {
        let declared = file.locals().iter().filter(|local| local.span == *span);
        for local in declared {
            if changes_name(file, &(span.end..rounds.repetition.body.end), &local.name) || local.value.is_none() {
                return Err(format!("{} changes in the round", local.name));
            }
        }
        if let Some(call) = file
            .calls_in(span.clone())
            .find(|call| !matches!(call.name.as_str(), "static_cast" | "min" | "max" | "Min" | "Max"))
        {
            return Err(format!("{} is called before the copy", call.name));
        }
    }
    edits.extend(moved(rounds, first)?);
    Ok((edits, conditions))
}

fn declared_in(file: &SyntaxFile, function: &Function, word: &str) -> bool {
    function.parameters.iter().any(|parameter| parameter.name == word)
        || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
}

fn moved(rounds: &Rounds<'_>, first: &First) -> Result<Vec<Edit>, String> {
    let file = rounds.file;
    let (before, inside) = rounds.ahead(first);
    let line = file.text()[..rounds.repetition.span.start].rfind('\n').map_or(0, |end| end + 1);
    if !file.text()[line..rounds.repetition.span.start].trim().is_empty() {
        return Err("the loop shares its line".to_owned());
    }
    let call = file.whole_lines(&first.span).ok_or("the call shares its line")?;
    let start = first.declarations.first().map_or(Ok(call.start), |declaration| {
        file.whole_lines(declaration).map(|lines| lines.start).ok_or("a declaration shares its line")
    })?;
    if start == call.start {
        return Ok(vec![edit(file, line..line, before), edit(file, call, inside)]);
    }
    Ok(vec![edit(file, line..line, before), edit(file, start..start, inside), edit(file, call, "")])
}

/// Whether a call is of those that what copies in may make.
fn copies_only(context: &Context, kernel: &Kernel, call: &Call) -> bool {
    const PLAIN: &[&str] =
        &["AllocTensor", "EnQue", "static_cast", "min", "max", "Min", "Max", "SetPadValue", "CeilDiv", "GetBlockIdx"];
    let own = || call.is_own() && own_functions(context, kernel, &call.name).next().is_some();
    let type_name = call.name.starts_with("DataCopy");
    PLAIN.contains(&call.name.as_str()) || is_copy(&call.name) || type_name || own()
}

/// Functions that the statements reach, if these and they do nothing but fill queues.
fn filling<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    first: &First,
) -> Result<Vec<(&'a SyntaxFile, &'a Function)>, String> {
    let fillers = reached(context, kernel, file, &first.span);
    let inside = fillers.iter().map(|(other, function)| (*other, function.body.clone()));
    for (other, span) in inside.chain([(file, first.span.clone())]) {
        if let Some(call) = other.calls_in(span).find(|call| !copies_only(context, kernel, call)) {
            let line = other.line(call.span.start);
            return Err(format!("{}:{line}: {} is more than a copy", other.name(), call.name));
        }
    }
    Ok(fillers)
}

/// The input queues that the statements fill, once each.
fn queues_of(context: &Context, kernel: &Kernel, file: &SyntaxFile, first: &First) -> Result<Vec<String>, String> {
    let queue_of = |call: &Call| {
        matches!(call.name.as_str(), "EnQue" | "AllocTensor")
            .then(|| (call.object.as_deref().map(base_name).unwrap_or_default().to_owned(), call.name == "EnQue"))
    };
    let mut queues: Vec<String> = Vec::new();
    let mut filled: Vec<String> = Vec::new();
    for call in file.calls_in(first.span.clone()) {
        // A function may fill a queue in either branch.
        let reached = reached(context, kernel, file, &call.span);
        let inside = reached.iter().flat_map(|(other, function)| other.calls_in(function.body.clone()));
        let mut uses: Vec<(String, bool)> = inside.filter_map(queue_of).collect();
        uses.sort();
        uses.dedup();
        for (queue, fills) in uses.into_iter().chain(queue_of(call)) {
            let known =
                kernel.queues.get(&queue).ok_or_else(|| format!("{queue} is not a queue of {}", kernel.name))?;
            if !known.position.starts_with("VECIN") {
                return Err(format!("{queue} is not an input queue"));
            }
            if fills && filled.contains(&queue) {
                return Err(format!("{queue} is filled more than once a round"));
            }
            if fills {
                filled.push(queue.clone());
            }
            if !queues.contains(&queue) {
                queues.push(queue);
            }
        }
    }
    Ok(queues)
}

/// A loop in the form that [`Rounds::ahead`] writes, turned back: with the queues' depths as they are, and with depth 1.
fn moved_back(context: &Context, kernel: &Kernel, rounds: &Rounds<'_>) -> Vec<Candidate> {
    let file = rounds.file;
    let restored = || {
        let guard = rounds.statements.first()?;
        let node = file.node_at(guard).filter(|node| node.kind() == "if_statement")?;
        let block = node.child_by_field_name("consequence").filter(|block| block.kind() == "compound_statement")?;
        let mut cursor = block.walk();
        let inner: Vec<Range<usize>> = block.named_children(&mut cursor).map(|child| child.byte_range()).collect();
        let most = inner.len().checked_sub(1)?.min(rounds.statements.len() - 1);
        // The declarations of the round itself follow the guard; how many there are, the text that they give shows.
        let (declared, edits) =
            (0..=most).rev().find_map(|declared| Some((declared, restored(rounds, guard, &inner, declared)?)))?;
        let span = inner[declared].start..inner.last()?.end;
        let name = file.calls_in(span.clone()).find(|call| is_copy(&call.name) || call.is_own())?.name.clone();
        let note = format!("{name} at the start of its round");
        Some((First { span, declarations: Vec::new(), name }, guard, note, edits))
    };
    let Some((first, guard, note, edits)) = restored() else { return Vec::new() };
    let mut found = vec![Candidate::new(file, guard, note.clone(), Ok(edits.clone()))];
    let queues = queues_of(context, kernel, file, &first).unwrap_or_default();
    let known = queues.iter().filter_map(|queue| kernel.queues.get(queue)).filter(|queue| queue.depth == DEPTH_AHEAD);
    let shallow: Option<Vec<Edit>> = known
        .map(|queue| depth_set(context.forest.get(&queue.declaration.file)?, queue, "1").ok())
        .collect::<Option<Vec<_>>>()
        .map(|edits| edits.concat());
    if let Some(shallow) = shallow.filter(|edits| !edits.is_empty()) {
        let all = shallow.into_iter().chain(edits).collect();
        found.push(Candidate::new(file, guard, format!("{note}, queues of depth 1"), Ok(all)));
    }
    found
}

/// The text with the counter for the next round's, and without the parentheses that this needed as an operand.
fn of_this_round(text: &str, next: &str, counter: &str) -> String {
    let operand = format!("({next})");
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&operand) {
        result.push_str(&rest[..at]);
        // Behind a name or a template's arguments, the parentheses are those of a call.
        let called = result.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | '>'));
        if called {
            result.push_str(&format!("({counter})"))
        } else {
            result.push_str(counter)
        }
        rest = &rest[at + operand.len()..];
    }
    result.push_str(rest);
    result.replace(next, counter)
}

/// The loop as it was, if so many of the statements in the guard are declarations of the round.
fn restored(rounds: &Rounds<'_>, guard: &Range<usize>, inner: &[Range<usize>], declared: usize) -> Option<Vec<Edit>> {
    let file = rounds.file;
    let own = &rounds.statements[1..=declared];
    let indentation = file.indentation(guard.start);
    let next = rounds.next();
    let moved = file.slice(&(inner.get(declared)?.start..inner.last()?.end));
    let moved = indented(moved, &format!("{indentation}    "), indentation);
    let original = of_this_round(&moved, &next, rounds.counter);
    let written = |value: &str, to: &str| {
        let deeper = format!("{to}    ");
        let texts = own.iter().map(|span| file.slice(span)).chain([original.as_str()]);
        let texts: Vec<String> =
            texts.map(|text| rounds.with_counter(&indented(text, indentation, &deeper), value)).collect();
        guarded(&format!("{value} < {}", rounds.end), &texts, to)
    };
    let line = file.text()[..rounds.repetition.span.start].rfind('\n').map_or(0, |end| end + 1);
    let lines = file.whole_lines(guard)?;
    let before = written(rounds.start, file.indentation(rounds.repetition.span.start));
    let above = line.checked_sub(before.len())?;
    if file.text().get(above..line)? != before || file.slice(&lines) != written(&next, indentation) {
        return None;
    }
    let restored = format!("{indentation}{original}\n");
    let mut edits = vec![edit(file, above..line, "")];
    match own.last().and_then(|last| file.whole_lines(last)) {
        Some(last) => {
            edits.push(edit(file, lines, ""));
            edits.push(edit(file, last.end..last.end, restored));
        }
        None => edits.push(edit(file, lines, restored)),
    }
    Some(edits)
}
