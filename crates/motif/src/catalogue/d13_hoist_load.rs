//! D13: a tensor that every round loads from the same place is loaded once before the loop and kept.

use std::ops::Range;

use crate::analysis::code::{block_of, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::flow::effects::{own_functions, reached, steady};
use crate::analysis::global_memory;
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::edit;
use crate::rewrite::signature::{with_parameter, without_parameter};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Access, is_copy};
use source::facts::{Kernel, Origin, TensorFacts, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Local, Loop, SyntaxFile};

/// What the loaded tensor's name gets where the taken one has the same name.
const SUFFIX: &str = "Loaded";

/// The motif.
pub struct HoistLoad;

const METADATA: Metadata = Metadata {
    id: Id::D13,
    title: "load once what every round loads again",
    family: Family::DataMovement,
    precondition: "in a loop, or in functions of the class each called once from it: AllocTensor, one copy from a global tensor that the kernel does not write, \
     EnQue, and DeQue, reads, FreeTensor, all of the queue's uses; the copy's operands are the same in every round, also after every call \
     in the loop; the loop is not left by return",
    left_to_verifier: "nothing",
    relieves: &[Counter::Mte2Us, Counter::StallUs],
    prior_gain: 1.3,
    cost: "the buffer stays taken during the loop; the reading function gets a parameter",
    tunables: "none",
    undoing: "load in every round, at the end of a function that loads",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for HoistLoad {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for queue in kernel.queues.keys() {
                let Some(load) = Load::of(context, kernel, queue) else { continue };
                let Some(copy) = load.copy.statement.clone() else { continue };
                let note = format!("load {} once before the loop", load.taken.name);
                found.push(Candidate::new(load.from.file, &copy, note, load.hoisted()));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in context.forest.iter() {
            for repetition in file.loops() {
                let Some(kernel) = context.facts.kernel_at(file, repetition.span.start) else { continue };
                found.extend(sunk(context, kernel, file, repetition));
            }
        }
        found
    }
}

/// A part of the round: directly in the loop, or a function that the loop calls at one place.
#[derive(Clone, Copy)]
struct Part<'a> {
    file: &'a SyntaxFile,
    function: &'a Function,
    /// The call in the loop; `None` where the part stands in the loop itself.
    call: Option<&'a Call>,
}

/// A queue that is filled with the same data in every round.
struct Load<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    /// Where the tensor is filled.
    from: Part<'a>,
    alloc: &'a Local,
    copy: &'a Call,
    enque: Range<usize>,
    /// Where it is read.
    to: Part<'a>,
    taken: &'a Local,
    free: Range<usize>,
    /// The loop and its file and function.
    file: &'a SyntaxFile,
    outer: &'a Function,
    repetition: &'a Loop,
}

impl<'a> Load<'a> {
    fn of(context: &'a Context, kernel: &'a Kernel, queue: &'a str) -> Option<Self> {
        let uses: Vec<(&SyntaxFile, &Call)> = kernel
            .calls(&context.forest)
            .filter(|(_, _, call)| call.object.as_deref().map(base_name) == Some(queue))
            .map(|(file, _, call)| (file, call))
            .collect();
        let one = |name: &str| {
            let mut named = uses.iter().filter(|(_, call)| call.name == name);
            named.next().copied().filter(|_| named.next().is_none())
        };
        if uses.len() != 4 || !kernel.queues.get(queue)?.position.starts_with("VECIN") {
            return None;
        }
        let (from_file, alloc) = one("AllocTensor")?;
        let (_, enque) = one("EnQue")?;
        let (to_file, deque) = one("DeQue")?;
        let (_, free) = one("FreeTensor")?;
        let local = |file: &'a SyntaxFile, call: &Call| {
            file.locals().iter().find(|local| local.alone && local.value.as_ref() == Some(&call.span))
        };
        let (alloc, taken) = (local(from_file, alloc)?, local(to_file, deque)?);
        let (from, to) =
            (from_file.enclosing_function(alloc.span.start)?, to_file.enclosing_function(taken.span.start)?);
        let (enque, free) = (enque.statement.clone()?, free.statement.clone()?);
        if !from.body.contains(&enque.start) || !to.body.contains(&free.start) {
            return None;
        }
        let copies: Vec<&Call> = from_file
            .calls_in(from.body.clone())
            .filter(|call| {
                is_copy(&call.name) && from_file.argument(call, 0).map(str::trim) == Some(alloc.name.as_str())
            })
            .collect();
        let [copy] = copies[..] else { return None };
        // The loop: around the fill, or around the only call of the function that fills.
        let from_part = |file, function: &'a Function, byte: usize| -> Option<(Part<'a>, &'a SyntaxFile, &'a Loop)> {
            let inner: Option<&Loop> = loops_in(file, function, byte).into_iter().next_back();
            if let Some(repetition) = inner {
                return Some((Part { file, function, call: None }, file, repetition));
            }
            let mut calls =
                kernel.calls(&context.forest).filter(|(_, _, call)| call.is_own() && call.name == function.name);
            let (caller, _, call) = calls.next().filter(|_| calls.next().is_none())?;
            if own_functions(context, kernel, &function.name).count() != 1 {
                return None;
            }
            let around = caller.enclosing_function(call.span.start)?;
            let repetition = loops_in(caller, around, call.span.start).into_iter().next_back()?;
            call.statement.as_ref()?;
            Some((Part { file, function, call: Some(call) }, caller, repetition))
        };
        let (from, file, repetition) = from_part(from_file, from, alloc.span.start)?;
        let (to, other, again) = from_part(to_file, to, taken.span.start)?;
        let outer = file.enclosing_function(repetition.span.start)?;
        (other.name() == file.name() && again.span == repetition.span).then_some(Self {
            context,
            kernel,
            from,
            alloc,
            copy,
            enque,
            to,
            taken,
            free,
            file,
            outer,
            repetition,
        })
    }

    /// The name that the loaded tensor gets beside the taken one.
    fn loaded_name(&self) -> String {
        if self.alloc.name == self.taken.name {
            format!("{}{SUFFIX}", self.alloc.name)
        } else {
            self.alloc.name.clone()
        }
    }

    fn hoisted(&self) -> Result<Vec<Edit>, String> {
        let Self { context, kernel, file, repetition, .. } = *self;
        if kernel.has_base() || !context.facts.derived(&kernel.name).is_empty() {
            return Err("base and derived classes may use the queue".to_owned());
        }
        let body = file.slice(&repetition.span);
        for token in pieces(body) {
            let word = &body[token.span.clone()];
            if token.kind == PieceKind::Directive || matches!(word, "return" | "goto") {
                return Err(format!("{} stands in the loop", word.lines().next().unwrap_or_default()));
            }
        }
        block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        for part in [&self.from, &self.to] {
            if let Some(call) = part.call
                && block_of(file, call.statement.as_ref().ok_or("a call is part of an expression")?)
                    != Some(repetition.body.clone())
            {
                return Err(format!("{} is not called in every round", call.name));
            }
        }
        self.every_round()?;
        self.only_read()?;
        let source = base_name(self.from.file.argument(self.copy, 1).unwrap_or_default());
        self.never_written(source)?;
        let closure = self.closure()?;
        for text in
            closure.iter().map(|local| self.from.file.slice(&local.span)).chain([self.from.file.slice(&self.copy.span)])
        {
            self.same_in_every_round(text, &closure)?;
        }
        self.edits(&closure)
    }

    /// The fill and the take stand in the block of the loop or of the function.
    fn every_round(&self) -> Result<(), String> {
        let checks = [
            (
                &self.from,
                vec![self.alloc.span.clone(), self.copy.statement.clone().unwrap_or_default(), self.enque.clone()],
            ),
            (&self.to, vec![self.taken.span.clone(), self.free.clone()]),
        ];
        for (part, statements) in checks {
            let block = if part.call.is_some() { &part.function.body } else { &self.repetition.body };
            for statement in statements {
                if block_of(part.file, &statement).as_ref() != Some(block) {
                    return Err(format!("line {} is not part of every round", part.file.line(statement.start)));
                }
            }
        }
        Ok(())
    }

    fn only_read(&self) -> Result<(), String> {
        let filled = TensorFacts::of(self.from.file, self.from.function);
        let copy = self.copy.span.clone();
        let others = filled
            .uses_of(&self.alloc.name)
            .find(|used| !copy.contains(&used.span.start) && !self.enque.contains(&used.span.start));
        if let Some(used) =
            others.filter(|_| self.alloc.name != self.taken.name || self.from.function.span != self.to.function.span)
        {
            return Err(format!("{} is used at line {} too", self.alloc.name, self.from.file.line(used.span.start)));
        }
        let read = TensorFacts::of(self.to.file, self.to.function);
        if read.tensors.get(&self.taken.name).is_none_or(|tensor| tensor.origin == Origin::Unknown) {
            return Err(format!("{} is declared twice", self.taken.name));
        }
        let changed = read
            .uses_of(&self.taken.name)
            .find(|used| !self.free.contains(&used.span.start) && !matches!(used.access, Access::Read | Access::None));
        match changed {
            Some(used) => {
                Err(format!("{} may be changed at line {}", self.taken.name, self.to.file.line(used.span.start)))
            }
            None => Ok(()),
        }
    }

    fn never_written(&self, global: &str) -> Result<(), String> {
        if !self.kernel.globals.contains_key(global) {
            return Err(format!("{global} is not a global tensor of {}", self.kernel.name));
        }
        for (file, _, call) in self.kernel.calls(&self.context.forest) {
            let object = call.object.as_deref().map(base_name) == Some(global);
            let target = is_copy(&call.name) && file.argument(call, 0).map(base_name) == Some(global);
            let known =
                is_copy(&call.name) || matches!(call.name.as_str(), "SetGlobalBuffer" | "GetValue" | "SetL2CacheHint");
            let passed = !known && call.arguments.iter().any(|argument| base_name(file.slice(argument)) == global);
            if target || passed || (object && !known) {
                return Err(format!("{global} may be written at line {}", file.line(call.span.start)));
            }
        }
        global_memory::never_written(self.context, self.kernel, global)
    }

    /// Locals of the filling function that the copy rests on.
    fn closure(&self) -> Result<Vec<&'a Local>, String> {
        let Part { file, function, .. } = self.from;
        let locals: Vec<&Local> = file
            .locals()
            .iter()
            .filter(|local| function.body.contains(&local.span.start) && local.span.end <= self.copy.span.start)
            .collect();
        let mut needed: Vec<&Local> = Vec::new();
        let mut open: Vec<&str> = words(file.slice(&self.copy.span));
        while let Some(word) = open.pop() {
            if word == self.alloc.name || needed.iter().any(|local| local.name == word) {
                continue;
            }
            let named: Vec<&&Local> = locals.iter().filter(|local| local.name == word).collect();
            match named[..] {
                [] => {}
                [local] if self.from.call.is_none() && !self.repetition.body.contains(&local.span.start) => {}
                [local] if local.alone && local.value.is_some() => {
                    let rest = local.span.end..function.body.end;
                    let stepped = changes_name(file, &rest, word) || file.slice(&rest).contains(&format!("{word}."));
                    if stepped {
                        return Err(format!("{word} is filled in step by step"));
                    }
                    needed.push(local);
                    open.extend(words(file.slice(&local.span)));
                }
                _ => return Err(format!("{word} is not one plain declaration")),
            }
        }
        needed.sort_by_key(|local| local.span.start);
        Ok(needed)
    }

    fn same_in_every_round(&self, text: &str, closure: &[&Local]) -> Result<(), String> {
        for word in words(text) {
            let parameter = self.from.call.is_some()
                && self.from.function.parameters.iter().any(|parameter| parameter.name == word);
            if parameter {
                return Err(format!("{word} may change from round to round"));
            }
            if word == self.alloc.name || closure.iter().any(|local| local.name == word) {
                continue;
            }
            // Types and functions have no value: nothing assigns them.
            steady(self.context, self.file, self.kernel, word, &self.repetition.span)?;
        }
        if words(text).contains(&"GetValue") {
            return Err("an element of a tensor is read for the copy".to_owned());
        }
        Ok(())
    }

    fn edits(&self, closure: &[&Local]) -> Result<Vec<Edit>, String> {
        let Part { file: from, function: filler, .. } = self.from;
        let indentation = self.file.indentation(self.repetition.span.start);
        let mut lines: Vec<String> = closure.iter().map(|local| from.slice(&local.span).to_owned()).collect();
        let renamed = self.loaded_name();
        let taken_name = &self.taken.name;
        for name in closure.iter().map(|local| &local.name).chain([&renamed, taken_name]) {
            let text = self.file.slice(&self.outer.body);
            let inside = |word: &str| words(text).contains(&word);
            let own = self.from.call.is_none() || (self.to.call.is_none() && name == taken_name);
            if !own && inside(name) {
                return Err(format!("{name} is a name of {} already", self.outer.name));
            }
        }
        let statement = |span: &Range<usize>| replace_word(from.slice(span), &self.alloc.name, &renamed);
        let copy = self.copy.statement.clone().ok_or("the copy is not a statement of its own")?;
        lines.extend([statement(&self.alloc.span), statement(&copy), statement(&self.enque)]);
        lines.push(self.to.file.slice(&self.taken.span).to_owned());
        let start = line_start(self.file, self.repetition.span.start);
        let before: String = lines.iter().map(|line| format!("{indentation}{line}\n")).collect();
        let mut edits = vec![edit(self.file, start..start, before)];
        let after = self
            .file
            .whole_lines(&(self.repetition.span.end - 1..self.repetition.span.end))
            .ok_or("the loop shares its last line")?;
        edits.push(edit(self.file, after.end..after.end, format!("{indentation}{}\n", self.to.file.slice(&self.free))));
        let unshared = closure.iter().filter(|local| {
            let others = words(from.slice(&filler.body)).into_iter().filter(|word| *word == local.name).count();
            let here = lines.iter().flat_map(|line| words(line)).filter(|word| *word == local.name).count();
            others == here
        });
        let gone = unshared.map(|local| local.span.clone()).chain([self.alloc.span.clone(), copy, self.enque.clone()]);
        edits.extend(gone.map(|span| edit(from, from.removal_span(&span), "")));
        let to = self.to.file;
        edits.extend([&self.taken.span, &self.free].map(|span| edit(to, to.removal_span(span), "")));
        if let Some(call) = self.to.call {
            let parameter = format!(
                "const {} &{taken_name}",
                self.taken.type_text.trim_start_matches("const ").trim_end_matches('&').trim()
            );
            if self.taken.type_text.contains("auto") {
                return Err(format!("the type of {taken_name} is not written"));
            }
            edits.extend(with_parameter(
                self.context,
                to,
                self.to.function,
                &parameter,
                (self.file, call),
                taken_name,
            )?);
        }
        Ok(edits)
    }
}

/// Loops of a function around a byte, outermost first.
fn loops_in<'a>(file: &'a SyntaxFile, function: &Function, byte: usize) -> Vec<&'a Loop> {
    let around = |repetition: &&Loop| function.body.contains(&repetition.span.start) && repetition.body.contains(&byte);
    file.loops().iter().filter(around).collect()
}

fn line_start(file: &SyntaxFile, byte: usize) -> usize {
    file.text()[..byte].rfind('\n').map_or(0, |end| end + 1)
}

fn replace_word(text: &str, word: &str, by: &str) -> String {
    let mut result = String::new();
    let mut from = 0;
    for token in
        pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word && &text[token.span.clone()] == word)
    {
        result.push_str(&text[from..token.span.start]);
        result.push_str(by);
        from = token.span.end;
    }
    result.push_str(&text[from..]);
    result
}

/// The load before a loop, put back into each function that loads and the one function that reads.
fn sunk(context: &Context, kernel: &Kernel, file: &SyntaxFile, repetition: &Loop) -> Vec<Candidate> {
    let all = siblings(file, &repetition.span);
    let Some(index) = all.iter().position(|span| *span == repetition.span) else { return Vec::new() };
    let call_at = |span: &Range<usize>, name: &str| file.calls_in(span.clone()).find(|call| call.name == name);
    let local_at = |span: &Range<usize>| file.locals().iter().find(|local| local.span == *span && local.alone);
    let (Some(first), Some(free)) = (index.checked_sub(4), all.get(index + 1)) else { return Vec::new() };
    let [alloc, copy, enque, taken] = [0, 1, 2, 3].map(|offset| all[first + offset].clone());
    let parts = (|| {
        let queue = |call: &Call| call.object.as_deref().map(base_name).unwrap_or_default().to_owned();
        let (loaded, kept) = (local_at(&alloc)?, local_at(&taken)?);
        let names = [
            queue(call_at(&alloc, "AllocTensor")?),
            queue(call_at(&enque, "EnQue")?),
            queue(call_at(&taken, "DeQue")?),
            queue(call_at(free, "FreeTensor")?),
        ];
        let copied = file
            .calls_in(copy.clone())
            .next()
            .filter(|call| is_copy(&call.name) && call.statement.as_ref() == Some(&copy))?;
        (names.iter().all(|name| *name == names[0]) && file.argument(copied, 0)? == loaded.name)
            .then_some((loaded, kept))
    })();
    let Some((loaded, kept)) = parts else { return Vec::new() };
    // Declarations right before it that the copy names.
    let copied = words(file.slice(&copy));
    let mut declarations: Vec<&Local> = Vec::new();
    for span in all[..first].iter().rev() {
        let wanted = |local: &&Local| {
            copied.contains(&local.name.as_str())
                || declarations.iter().any(|later| words(file.slice(&later.span)).contains(&local.name.as_str()))
        };
        let Some(local) = local_at(span).filter(wanted) else { break };
        declarations.insert(0, local);
    }
    let calls: Vec<&Call> =
        file.calls_in(repetition.body.clone()).filter(|call| call.is_own() && call.statement.is_some()).collect();
    let reader =
        calls.iter().find(|call| call.arguments.last().is_some_and(|argument| file.slice(argument) == kept.name));
    let Some(reader) = reader else { return Vec::new() };
    let Some((to, reads)) = own_functions(context, kernel, &reader.name).next() else { return Vec::new() };
    let parameter = format!("const {} &{}", kept.type_text, kept.name);
    let Some(unsigned) = without_parameter(context, to, reads, &parameter, (file, reader), &kept.name) else {
        return Vec::new();
    };
    let name = loaded.name.strip_suffix(SUFFIX).filter(|name| *name == kept.name).unwrap_or(&loaded.name);
    let mut found = Vec::new();
    for filler in calls.iter().filter(|call| call.span.start < reader.span.start) {
        for (from, fills) in reached(context, kernel, file, &filler.span) {
            let inside = || from.calls_in(fills.body.clone());
            if !inside().any(|call| call.name == "EnQue") {
                continue;
            }
            let there = from.slice(&fills.body);
            let mut lines: Vec<String> = declarations
                .iter()
                .map(|local| file.slice(&local.span).to_owned())
                .filter(|line| !there.contains(line.as_str()))
                .collect();
            lines.extend([&alloc, &copy, &enque].map(|span| replace_word(file.slice(span), &loaded.name, name)));
            let Some(last) = from.whole_lines(&(fills.body.end - 1..fills.body.end)) else { continue };
            let text: String =
                lines.iter().map(|line| format!("{}    {line}\n", from.indentation(fills.body.end - 1))).collect();
            let mut edits = vec![edit(from, last.start..last.start, text)];
            let start = declarations.first().map_or(alloc.start, |local| local.span.start);
            edits.push(edit(file, line_start(file, start)..line_start(file, repetition.span.start), ""));
            edits.push(edit(file, file.removal_span(free), ""));
            // Taken after the other tensors of queues, given back at the end.
            let after = to.locals().iter().rfind(|local| {
                reads.body.contains(&local.span.start)
                    && to.calls_in(local.span.clone()).any(|call| call.name == "DeQue")
            });
            let inner = format!("{}    ", to.indentation(reads.body.end - 1));
            let at = match after.and_then(|local| to.whole_lines(&local.span)) {
                Some(lines) => lines.end,
                None => {
                    to.text()[reads.body.start..].find('\n').map_or(reads.body.end, |end| reads.body.start + end + 1)
                }
            };
            edits.push(edit(to, at..at, format!("{inner}{}\n", file.slice(&taken))));
            let Some(end) = to.whole_lines(&(reads.body.end - 1..reads.body.end)) else { continue };
            edits.push(edit(to, end.start..end.start, format!("{inner}{}\n", file.slice(free))));
            edits.extend(unsigned.iter().cloned());
            let note = format!("load {} in every round in {}", kept.name, fills.name);
            found.push(Candidate::new(file, &copy, note, Ok(edits)));
        }
    }
    found
}
