//! D23: the copy of the next tile is issued before the current one is computed, so that it runs while the scalar unit waits
//! for results of the vector unit.

use std::ops::Range;

use super::code::{assigns, edit, squash, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::steady::{is_own_call, own_functions, reached};
use crate::source::Edit;
use crate::source::facts::api::is_copy;
use crate::source::facts::{Kernel, base_name};
use crate::source::parse::{Call, Function, Loop, SyntaxFile, TokenKind, lex};

/// Buffers that a queue needs: one is computed on while the other is filled.
const BUFFERS_MIN: i64 = 2;

/// The motif.
pub struct EarlyCopy;

impl Motif for EarlyCopy {
    fn id(&self) -> &'static str {
        "D23"
    }
    fn title(&self) -> &'static str {
        "copy in the next tile before computing this one"
    }
    fn family(&self) -> Family {
        Family::DataMovement
    }
    fn precondition(&self) -> &'static str {
        "a for loop that counts up, its body with one call first (after declarations that rest on the counter alone) of a function of the class that \
         only fills queues of at least two buffers from global memory; the rest of the round takes each of these queues once, writes none \
         of the global tensors read and none of the variables used, and makes the scalar unit wait (an element read, a reduction); no full \
         barrier, no way out of the loop"
    }
    fn cost(&self) -> &'static str {
        "nothing; needs the second buffer"
    }
    fn left_to_verifier(&self) -> &'static str {
        "the number of buffers, where it comes from tiling"
    }
    fn undoing(&self) -> &'static str {
        "copy in at the start of the round"
    }
    fn tunables(&self) -> &'static str {
        "closes one buffer per input queue"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::StallUs]
    }
    fn prior_gain(&self) -> f64 {
        1.2
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for_each_loop(context, |kernel, rounds| {
            let Some(first) = rounds.first_call(context, kernel) else { return };
            let judged = moved_ahead(context, kernel, rounds, &first);
            let line = rounds.file.line(first.statement.end);
            let note = format!("{} of the next round before line {line}", first.call.name);
            let conditions = judged.as_ref().map(|(_, conditions)| conditions.clone()).unwrap_or_default();
            let edits = judged.map(|(edits, _)| edits);
            let mut candidate = Candidate::new(rounds.file, &first.statement, note, edits);
            candidate.site.conditions = conditions;
            found.push(candidate);
        });
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for_each_loop(context, |_, rounds| found.extend(moved_back(rounds)));
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

/// The call that copies in, with the declarations before it.
struct First<'a> {
    call: &'a Call,
    statement: Range<usize>,
    declarations: Vec<Range<usize>>,
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

    fn first_call(&self, context: &Context, kernel: &Kernel) -> Option<First<'a>> {
        let is_declaration = |span: &&Range<usize>| self.file.locals().iter().any(|local| local.span == **span);
        let declarations: Vec<Range<usize>> = self.statements.iter().take_while(is_declaration).cloned().collect();
        let statement = self.statements.get(declarations.len())?.clone();
        let call = self.file.calls().iter().find(|call| call.statement.as_ref() == Some(&statement))?;
        let fills = own_functions(context, kernel, &call.name).any(|(file, function)| {
            let inside = || file.calls_in(function.body.clone());
            inside().any(|call| call.name == "EnQue") && inside().any(|call| is_copy(&call.name))
        });
        (is_own_call(call) && fills).then_some(First { call, statement, declarations })
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
        for token in lex(text).into_iter().filter(|token| token.kind == TokenKind::Word) {
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

    /// The lines that copy in for one round: declarations and the call.
    fn lines(&self, first: &First<'_>, value: &str) -> Vec<String> {
        let spans = first.declarations.iter().chain([&first.statement]);
        spans.map(|span| self.with_counter(self.file.slice(span), value)).collect()
    }

    fn guarded(&self, condition: &str, lines: &[String], indentation: &str) -> String {
        let inner: String = lines.iter().map(|line| format!("{indentation}    {line}\n")).collect();
        format!("{indentation}if ({condition}) {{\n{inner}{indentation}}}\n")
    }

    /// What stands before the loop and at the start of its body.
    fn ahead(&self, first: &First<'_>) -> (String, String) {
        let outer = self.file.indentation(self.repetition.span.start);
        let inner = self.file.indentation(first.statement.start);
        let before = self.guarded(&format!("{} < {}", self.start, self.end), &self.lines(first, self.start), outer);
        let next = self.next();
        let inside = self.guarded(&format!("{next} < {}", self.end), &self.lines(first, &next), inner);
        (before, inside)
    }
}

/// Whether an expression between these texts is an operand of nothing: in parentheses, between commas.
fn bounded(before: &str, after: &str) -> bool {
    matches!(before.trim_end().chars().last(), None | Some('(' | ',' | '='))
        && matches!(after.trim_start().chars().next(), None | Some(')' | ',' | ';'))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':')
}

fn moved_ahead(
    context: &Context,
    kernel: &Kernel,
    rounds: &Rounds<'_>,
    first: &First<'_>,
) -> Result<(Vec<Edit>, Vec<String>), String> {
    let file = rounds.file;
    let body = file.slice(&rounds.repetition.body);
    for token in lex(body) {
        let word = &body[token.span.clone()];
        if token.kind == TokenKind::Directive || matches!(word, "break" | "continue" | "return" | "goto") {
            return Err(format!("{} stands in the loop", word.lines().next().unwrap_or_default()));
        }
    }
    super::code::block_of(file, &rounds.repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
    let fillers = filling(context, kernel, file, first)?;
    let rest = first.statement.end..rounds.repetition.body.end;
    let others = reached(context, kernel, file, &rest);
    let mut places: Vec<(&SyntaxFile, Range<usize>)> =
        others.iter().map(|(file, function)| (*file, function.body.clone())).collect();
    places.push((file, rest.clone()));
    let calls = || places.iter().flat_map(|(file, span)| file.calls_in(span.clone()).map(move |call| (*file, call)));
    if let Some((other, call)) = calls().find(|(_, call)| super::regions::is_full_barrier(call)) {
        return Err(format!("a full barrier stands at {}:{}", other.name(), other.line(call.span.start)));
    }
    let waits = |call: &Call| {
        matches!(call.name.as_str(), "GetValue" | "WaitFlag" | "SyncAll") || call.name.starts_with("Reduce")
    };
    if !calls().any(|(_, call)| waits(call)) {
        return Err("nothing in the loop makes the scalar unit wait: the next copy is issued early as it is".to_owned());
    }
    let mut conditions = Vec::new();
    // Queues: filled here alone, taken once a round, two buffers at least.
    let queues = queues_of(kernel, &fillers)?;
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
    }
    // What the copy rests on must not change in the rest of the round.
    let texts: Vec<&str> = places.iter().map(|(file, span)| file.slice(span)).collect();
    for word in words(rounds.end).into_iter().chain(words(rounds.step)).chain([rounds.counter]) {
        if texts.iter().any(|text| assigns(text, word)) {
            return Err(format!("{word} may change in the rest of the round"));
        }
    }
    let own = first.declarations.iter().chain([&first.statement]).map(|span| (file, span.clone()));
    for (at, span) in own.chain(fillers.iter().map(|(file, function)| (*file, function.body.clone()))) {
        for word in words(at.slice(&span)) {
            let local = at.locals().iter().any(|local| local.name == word && span.contains(&local.span.start));
            if !local && word != rounds.counter && texts.iter().any(|text| assigns(text, word)) {
                return Err(format!("{word} may change in the rest of the round"));
            }
            let fills = || fillers.iter().any(|(file, function)| assigns(file.slice(&function.body), word));
            let declared = || fillers.iter().any(|(file, function)| declared_in(file, function, word));
            if !local && fills() && !declared() {
                return Err(format!("{} changes {word}", first.call.name));
            }
            if kernel.globals.contains_key(word)
                && calls().any(|(file, call)| {
                    let first = file.argument(call, 0).map(base_name);
                    (is_copy(&call.name) && first == Some(word))
                        || (call.object.as_deref().map(base_name) == Some(word) && call.name != "GetValue")
                })
            {
                return Err(format!("{word} is written in the rest of the round"));
            }
        }
    }
    for span in &first.declarations {
        let declared = file.locals().iter().filter(|local| local.span == *span);
        for local in declared {
            if assigns(&body[span.end - rounds.repetition.body.start..], &local.name) || local.value.is_none() {
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
    Ok((edits(rounds, first)?, conditions))
}

fn declared_in(file: &SyntaxFile, function: &Function, word: &str) -> bool {
    function.parameters.iter().any(|parameter| parameter.name == word)
        || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
}

fn edits(rounds: &Rounds<'_>, first: &First<'_>) -> Result<Vec<Edit>, String> {
    let file = rounds.file;
    let (before, inside) = rounds.ahead(first);
    let line = file.text()[..rounds.repetition.span.start].rfind('\n').map_or(0, |end| end + 1);
    if !file.text()[line..rounds.repetition.span.start].trim().is_empty() {
        return Err("the loop shares its line".to_owned());
    }
    let call = file.whole_lines(&first.statement).ok_or("the call shares its line")?;
    let start = first.declarations.first().map_or(Ok(call.start), |declaration| {
        file.whole_lines(declaration).map(|lines| lines.start).ok_or("a declaration shares its line")
    })?;
    if start == call.start {
        return Ok(vec![edit(file, line..line, before), edit(file, call, inside)]);
    }
    Ok(vec![edit(file, line..line, before), edit(file, start..start, inside), edit(file, call, "")])
}

/// Functions that the call reaches, if they do nothing but fill queues.
fn filling<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    first: &First<'_>,
) -> Result<Vec<(&'a SyntaxFile, &'a Function)>, String> {
    const PLAIN: &[&str] =
        &["AllocTensor", "EnQue", "static_cast", "min", "max", "Min", "Max", "SetPadValue", "CeilDiv", "GetBlockIdx"];
    let fillers = reached(context, kernel, file, &first.statement);
    for (other, function) in &fillers {
        for call in other.calls_in(function.body.clone()) {
            let type_name = call.name.starts_with("DataCopy");
            let own = is_own_call(call) && own_functions(context, kernel, &call.name).next().is_some();
            if !(PLAIN.contains(&call.name.as_str()) || is_copy(&call.name) || type_name || own) {
                let line = other.line(call.span.start);
                return Err(format!("{}:{line}: {} is more than a copy", other.name(), call.name));
            }
        }
    }
    Ok(fillers)
}

fn queues_of(kernel: &Kernel, fillers: &[(&SyntaxFile, &Function)]) -> Result<Vec<String>, String> {
    let mut queues = Vec::new();
    for (file, function) in fillers {
        for call in
            file.calls_in(function.body.clone()).filter(|call| matches!(call.name.as_str(), "EnQue" | "AllocTensor"))
        {
            let queue = call.object.as_deref().map(base_name).unwrap_or_default().to_owned();
            let known =
                kernel.queues.get(&queue).ok_or_else(|| format!("{queue} is not a queue of {}", kernel.name))?;
            if !known.position.starts_with("VECIN") {
                return Err(format!("{queue} is not an input queue"));
            }
            if !queues.contains(&queue) {
                queues.push(queue);
            }
        }
    }
    Ok(queues)
}

/// A loop in the form that [`Rounds::ahead`] writes, turned back.
fn moved_back(rounds: &Rounds<'_>) -> Option<Candidate> {
    let file = rounds.file;
    let guard = rounds.statements.first()?;
    let node = file.node_at(guard).filter(|node| node.kind() == "if_statement")?;
    let block = node.child_by_field_name("consequence").filter(|block| block.kind() == "compound_statement")?;
    let mut cursor = block.walk();
    let inner: Vec<Range<usize>> = block.named_children(&mut cursor).map(|child| child.byte_range()).collect();
    let (call_line, declarations) = inner.split_last()?;
    // The declarations of the round itself follow the guard.
    let own: Vec<Range<usize>> = rounds.statements.iter().skip(1).take(declarations.len()).cloned().collect();
    let next = rounds.next();
    let original = file.slice(call_line).replace(&format!("({next})"), rounds.counter).replace(&next, rounds.counter);
    let call = file.calls().iter().find(|call| call.statement.as_ref() == Some(call_line))?;
    let first_texts: Vec<String> =
        own.iter().map(|span| file.slice(span).to_owned()).chain([original.clone()]).collect();
    let outer = file.indentation(rounds.repetition.span.start);
    let written =
        |value: &str| -> Vec<String> { first_texts.iter().map(|text| rounds.with_counter(text, value)).collect() };
    let before = rounds.guarded(&format!("{} < {}", rounds.start, rounds.end), &written(rounds.start), outer);
    let indentation = file.indentation(guard.start);
    let inside = rounds.guarded(&format!("{next} < {}", rounds.end), &written(&next), indentation);
    let line = file.text()[..rounds.repetition.span.start].rfind('\n').map_or(0, |end| end + 1);
    let lines = file.whole_lines(guard)?;
    let above = line.checked_sub(before.len())?;
    if file.text().get(above..line)? != before || file.slice(&lines) != inside {
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
    Some(Candidate::new(file, guard, format!("{} at the start of its round", call.name), Ok(edits)))
}
