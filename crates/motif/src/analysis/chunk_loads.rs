//! Loads of chunks in loops: which queue brings which range of a global tensor in each round, and which loads bring the same.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::code::squash;
use crate::analysis::flow::changes::{changed_names, changes_name};
use crate::analysis::global_memory::never_written;
use crate::analysis::pipe_order::PROTOCOL;
use crate::analysis::queue_run::{Frame, QueueRun, QueueStep, Reader, counter, leaves, statement_within};
use source::facts::api::is_copy;
use source::facts::{Callers, Origin, TensorFacts, base_name};
use source::parse::{Call, Local, Loop};

/// What is done with a tensor of a queue, in this order.
const STEPS: [&str; 4] = ["AllocTensor", "EnQue", "DeQue", "FreeTensor"];

/// A tensor that is filled, taken, used and given back in each round of a loop.
pub(crate) struct Load<'a> {
    pub(crate) queue: String,
    /// Frame that fills.
    pub(crate) from: usize,
    pub(crate) alloc: &'a Local,
    pub(crate) copies: Vec<&'a Call>,
    /// The statements that copy, choices between copies as a whole.
    pub(crate) brought: Vec<Range<usize>>,
    pub(crate) enque: Range<usize>,
    /// Frame that uses.
    pub(crate) to: usize,
    pub(crate) taken: &'a Local,
    pub(crate) free: Range<usize>,
    /// Loops around with their frames, outermost first; the last one counts the chunks.
    pub(crate) loops: Vec<(usize, &'a Loop)>,
    /// What is copied, in names of the outermost function.
    pub(crate) text: String,
    /// Number of rounds.
    pub(crate) rounds: String,
    /// Names that the text rests on.
    pub(crate) words: BTreeSet<String>,
    /// Loops whose counters the text names: frame and start.
    pub(crate) counters: BTreeSet<(usize, usize)>,
    /// The global tensor.
    pub(crate) global: String,
}

/// Loads of a queue by the loop that they stand in; `Err` where steps do not make loads that are understood.
pub(crate) fn loads<'a>(run: &'a QueueRun<'a>, queue: &str) -> Vec<Result<Load<'a>, String>> {
    let steps: Vec<&QueueStep<'_>> = run.steps.iter().filter(|step| step.queue == queue).collect();
    let key = |step: &QueueStep<'_>| -> Vec<(usize, usize)> {
        step.loops.iter().map(|(frame, repetition)| (*frame, repetition.span.start)).collect()
    };
    let mut done: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut found = Vec::new();
    for step in &steps {
        let here = key(step);
        if here.is_empty() || done.contains(&here) {
            continue;
        }
        let group: Vec<&QueueStep<'_>> = steps.iter().filter(|step| key(step) == here).copied().collect();
        done.push(here);
        // Several loads of a round, one behind the other.
        let known = group.len().is_multiple_of(STEPS.len())
            && group.chunks(STEPS.len()).all(|load| load.iter().map(|step| step.call.name.as_str()).eq(STEPS));
        if !known {
            found.push(Err(format!("{queue} is not filled, taken and given back in each round")));
            continue;
        }
        found.extend(group.chunks(STEPS.len()).map(|steps| load(run, queue, steps)));
    }
    found
}

fn load<'a>(run: &'a QueueRun<'a>, queue: &str, group: &[&QueueStep<'a>]) -> Result<Load<'a>, String> {
    let [alloc, enque, taken, free] = [group[0], group[1], group[2], group[3]];
    if alloc.frame != enque.frame || taken.frame != free.frame {
        return Err(format!("a tensor of {queue} is handed from function to function"));
    }
    let local = |step: &QueueStep<'_>| {
        let file = run.frames[step.frame].file;
        let mut locals = file.locals().iter();
        locals
            .find(|local| local.alone && local.value.as_ref() == Some(&step.call.span))
            .ok_or_else(|| format!("line {} does not declare a tensor of {queue}", file.line(step.call.span.start)))
    };
    let (to, from) = (taken.frame, alloc.frame);
    let (alloc_local, taken_local) = (local(alloc)?, local(taken)?);
    let statement = |step: &QueueStep<'_>, name: &str| {
        let file = run.frames[step.frame].file;
        let names = file.argument(step.call, 0).map(str::trim) == Some(name);
        let statement = step.call.statement.clone().filter(|_| names);
        statement.ok_or_else(|| format!("line {} is not understood", file.line(step.call.span.start)))
    };
    let (enque_at, free_at) = (statement(enque, &alloc_local.name)?, statement(free, &taken_local.name)?);
    let Frame { file, function, .. } = &run.frames[from];
    let facts = TensorFacts::of(file, function);
    let mut copies: Vec<&Call> = Vec::new();
    for used in facts.uses_of(&alloc_local.name).filter(|used| used.span.start < enque_at.start) {
        let call = used.call.and_then(|index| file.calls().get(index));
        let copies_in = |call: &&Call| {
            call.name.contains("Copy") && call.object.is_none() && used.argument == Some(0) && call.statement.is_some()
        };
        copies.push(
            call.filter(copies_in)
                .ok_or_else(|| format!("{} is used at line {} too", alloc_local.name, file.line(used.span.start)))?,
        );
    }
    let [first, ..] = copies[..] else { return Err(format!("nothing is copied to {}", alloc_local.name)) };
    // A choice between copies goes as a whole.
    let mut brought: Vec<Range<usize>> = Vec::new();
    for copy in &copies {
        let statement = statement_within(file, &copy.span, &alloc_local.span)
            .filter(|statement| !file.loops().iter().any(|repetition| repetition.span == *statement))
            .ok_or_else(|| format!("line {} does not copy in the block of AllocTensor", file.line(copy.span.start)))?;
        if !brought.contains(&statement) {
            brought.push(statement);
        }
    }
    let pass = *group[0].loops.last().ok_or("no loop")?;
    let mut reader = run.reader(pass);
    let mut text = String::new();
    let mut globals = BTreeSet::new();
    for statement in &brought {
        text.push_str(&reader.text(from, statement, Some(&alloc_local.name))?);
    }
    for copy in &copies {
        if !Callers::new(run.kernel, &run.context.forest).callees(copy).is_empty() {
            return Err(format!("{} is a function of the class", copy.name));
        }
        globals.insert(run.member(from, file.argument(copy, 1).map(base_name).unwrap_or_default()));
    }
    let global = globals.pop_first().filter(|name| globals.is_empty() && run.kernel.globals.contains_key(name));
    let global = global.ok_or_else(|| format!("line {} copies from no global tensor", file.line(first.span.start)))?;
    let rounds = rounds(run, &mut reader, pass)?;
    Ok(Load {
        queue: queue.to_owned(),
        from,
        alloc: alloc_local,
        copies,
        brought,
        enque: enque_at,
        to,
        taken: taken_local,
        free: free_at,
        loops: group[0].loops.clone(),
        text: squash(&text),
        rounds,
        words: std::mem::take(&mut reader.words),
        counters: std::mem::take(&mut reader.counters),
        global,
    })
}

/// The number of rounds of a loop that counts from 0 by one, the counter left alone.
fn rounds(run: &QueueRun<'_>, reader: &mut Reader<'_>, (frame, repetition): (usize, &Loop)) -> Result<String, String> {
    let file = run.frames[frame].file;
    let line = file.line(repetition.span.start);
    let unclear = || format!("the loop at line {line} does not count from 0 by one");
    let (name, start) = counter(file, repetition).ok_or_else(unclear)?;
    let update = squash(file.slice(repetition.update.as_ref().ok_or_else(unclear)?));
    let condition = repetition.condition.clone().ok_or_else(unclear)?;
    let text = file.slice(&condition);
    let stepped = update == format!("{name}++") || update == format!("++{name}") || update == format!("{name}+=1");
    let bound = text.trim_start().strip_prefix(name).map(str::trim_start).and_then(|rest| rest.strip_prefix('<'));
    let bound = bound.filter(|rest| !rest.starts_with(['=', '<'])).ok_or_else(unclear)?;
    if !stepped || !matches!(start, "0" | "0u" | "0U" | "0UL" | "0ul") || bound.contains("&&") {
        return Err(unclear());
    }
    let at = condition.end - bound.len()..condition.end;
    let body = file.slice(&repetition.body);
    if let Some(word) = leaves(body, &["break", "goto", "return"]) {
        return Err(format!("{word} stands in the loop at line {line}"));
    }
    reader.text(frame, &at, None)
}

/// Two or more loads of the same chunks, or one whose chunks every round of the loop around loads again.
pub(crate) struct Reuse<'a> {
    /// Loads first, and keeps.
    pub(crate) first: &'a Load<'a>,
    /// Find what is kept.
    pub(crate) later: Vec<&'a Load<'a>>,
    /// The loop whose first round loads, where later rounds find what is kept.
    pub(crate) around: Option<(usize, &'a Loop)>,
}

fn place(loops: &[(usize, &Loop)]) -> Vec<(usize, usize)> {
    loops.iter().map(|(frame, repetition)| (*frame, repetition.span.start)).collect()
}

/// Loads that bring again what another has brought, in text order.
pub(crate) fn reuses<'a>(run: &QueueRun<'_>, loads: &'a [Load<'a>]) -> Vec<Reuse<'a>> {
    let mut found: Vec<Reuse<'a>> = Vec::new();
    let mut taken: Vec<usize> = Vec::new();
    for (index, first) in loads.iter().enumerate() {
        if taken.contains(&index) {
            continue;
        }
        let outer = place(&first.loops[..first.loops.len() - 1]);
        let same = |(_, other): &(usize, &'a Load<'a>)| {
            place(&other.loops[..other.loops.len() - 1]) == outer
                && run.meet(first.pass().0, other.pass().0)
                && other.text == first.text
                && squash(&other.rounds) == squash(&first.rounds)
        };
        let later: Vec<(usize, &Load<'_>)> = loads.iter().enumerate().skip(index + 1).filter(same).collect();
        taken.extend(later.iter().map(|(index, _)| index));
        if !later.is_empty() {
            found.push(Reuse { first, later: later.iter().map(|(_, load)| *load).collect(), around: None });
        }
    }
    for first in loads {
        let [.., around, _] = first.loops[..] else { continue };
        if around.0 != 0 || first.counters.contains(&(around.0, around.1.span.start)) {
            continue;
        }
        let file = run.frames[around.0].file;
        if counter(file, around.1).is_some() {
            found.push(Reuse { first, later: vec![first], around: Some(around) });
        }
    }
    found
}

impl<'a> Load<'a> {
    /// The loop that counts the chunks, with its frame.
    pub(crate) fn pass(&self) -> (usize, &'a Loop) {
        self.loops[self.loops.len() - 1]
    }
}

impl Reuse<'_> {
    /// Proves that what is kept is what would be loaded.
    pub(crate) fn proven(&self, run: &QueueRun<'_>) -> Result<(), String> {
        let first = self.first;
        let pass = first.pass();
        let (outer, block) = self.common(run)?;
        let Frame { file, .. } = &run.frames[first.to];
        run.always(first.to, &first.taken.span, pass.0, &pass.1.body)
            .map_err(|reason| format!("{reason} of the first load"))?;
        run.always(pass.0, &pass.1.span, outer, &block)?;
        if let Some((frame, around)) = self.around {
            let file = run.frames[frame].file;
            let (name, start) = counter(file, around).ok_or("the loop around has no counter")?;
            if !matches!(start, "0" | "0u" | "0U" | "0UL" | "0ul") || changes_name(file, &around.body, name) {
                return Err(format!("{name} does not count from 0"));
            }
            if let Some(word) = leaves(file.slice(&around.body), &["continue"]) {
                return Err(format!("{word} stands in the loop around"));
            }
        }
        never_written(run.context, run.kernel, &first.global)?;
        if self.meets_others(run) {
            given_from_outside(run, &first.global)?;
        }
        steady(run, &first.words)?;
        for load in &self.later {
            let last = self.around.is_none() && self.later.last().is_some_and(|last| std::ptr::eq(*last, *load));
            unchanged(run, load, last)?;
        }
        let element = |load: &Load<'_>| {
            let Frame { file, function, .. } = &run.frames[load.to];
            TensorFacts::of(file, function).tensors.get(&load.taken.name).map(|tensor| tensor.element.clone())
        };
        if self.later.iter().any(|load| element(load) != element(first)) {
            return Err(format!("{} is taken with different element types at {}", first.queue, file.name()));
        }
        Ok(())
    }

    /// Whether cores wait for each other somewhere in the run: what other cores write may be read behind it.
    fn meets_others(&self, run: &QueueRun<'_>) -> bool {
        run.frames.iter().any(|Frame { file, function, .. }| {
            file.calls_in(function.body.clone()).any(|call| PROTOCOL.contains(&call.name.as_str()))
        })
    }

    /// The block whose every round has all of the loads.
    fn common(&self, run: &QueueRun<'_>) -> Result<(usize, Range<usize>), String> {
        let loops = &self.first.loops;
        match loops.len().checked_sub(2).map(|at| loops[at]) {
            Some((frame, repetition)) => Ok((frame, repetition.body.clone())),
            None => Ok((0, run.frames[0].function.body.clone())),
        }
    }
}

/// Proves that nothing the run does changes a name.
fn steady(run: &QueueRun<'_>, words: &BTreeSet<String>) -> Result<(), String> {
    let mut seen: BTreeSet<(&str, usize)> = BTreeSet::new();
    for Frame { file, function, .. } in &run.frames {
        if !seen.insert((file.name(), function.body.start)) {
            continue;
        }
        let changed = changed_names(file, &function.body);
        if let Some(word) = words.iter().find(|word| changed.contains(word.as_str())) {
            return Err(format!("{} may change {word}", function.name));
        }
        for call in file.calls_in(function.body.clone()) {
            for (index, argument) in call.arguments.iter().enumerate() {
                let name = file.slice(argument).trim().trim_start_matches("this->");
                let callees = Callers::new(run.kernel, &run.context.forest).callees(call);
                let by_reference = callees.iter().any(|(_, callee)| {
                    callee.parameters.get(index).is_some_and(|parameter| {
                        let type_text = &parameter.type_text;
                        type_text.contains('&') && !type_text.contains("const") && !type_text.contains("Tensor")
                    })
                });
                if by_reference && words.contains(name) {
                    return Err(format!("{} may change {name}", call.name));
                }
            }
        }
    }
    Ok(())
}

/// Proves that a global tensor is an argument of the kernel, which no other core writes, and not its workspace.
fn given_from_outside(run: &QueueRun<'_>, global: &str) -> Result<(), String> {
    let mut set = run
        .kernel
        .calls(&run.context.forest)
        .filter(|(_, _, call)| call.name == "SetGlobalBuffer" && call.object.as_deref().map(base_name) == Some(global))
        .peekable();
    let somewhere = set.peek().is_some();
    let outside = set.all(|(file, _, call)| {
        let text = file.argument(call, 0).unwrap_or_default();
        let function = file.enclosing_function(call.span.start);
        let argument = function.is_some_and(|function| {
            let names = crate::analysis::code::words(text);
            function.parameters.iter().any(|parameter| names.contains(&parameter.name.as_str()))
        });
        argument && !text.to_lowercase().contains("workspace")
    });
    if somewhere && outside {
        return Ok(());
    }
    Err(format!("other cores may write {global} between the loads: cores wait for each other"))
}

/// Proves that the taken tensor is only read by the vector and scalar units; the last load may change it.
fn unchanged(run: &QueueRun<'_>, load: &Load<'_>, last: bool) -> Result<(), String> {
    let Frame { file, function, .. } = &run.frames[load.to];
    let facts = TensorFacts::of(file, function);
    let name = &load.taken.name;
    if facts.tensors.get(name).is_none_or(|tensor| tensor.origin == Origin::Unknown) {
        return Err(format!("{name} is declared twice"));
    }
    used_well(run, file, &facts, name, last, &load.free, 0)
}

fn used_well(
    run: &QueueRun<'_>,
    file: &source::parse::SyntaxFile,
    facts: &TensorFacts,
    name: &str,
    last: bool,
    free: &Range<usize>,
    depth: usize,
) -> Result<(), String> {
    use source::facts::api::Access;
    for used in facts.uses_of(name).filter(|used| depth > 0 || !free.contains(&used.span.start)) {
        let line = file.line(used.span.start);
        let call = used.call.and_then(|index| file.calls().get(index));
        if call.is_some_and(|call| is_copy(&call.name)) {
            let (Some(call), 1) = (call, used.argument.unwrap_or(0)) else {
                return Err(format!("{name} is the target of a copy at line {line}"));
            };
            // Within the unified buffer the vector unit copies.
            let target = file.argument(call, 0).map(base_name).unwrap_or_default();
            if call.name != "DataCopy" || !facts.tensors.contains_key(target) {
                return Err(format!("{name} is copied out at line {line}"));
            }
            continue;
        }
        match used.access {
            Access::Read | Access::None => {}
            Access::Write | Access::ReadWrite if last => {}
            Access::Write | Access::ReadWrite => return Err(format!("{name} is changed at line {line}")),
            Access::Escape | Access::Release => {
                let callees =
                    call.map(|call| Callers::new(run.kernel, &run.context.forest).callees(call)).unwrap_or_default();
                let ([(other, callee)], Some(argument)) = (callees.as_slice(), used.argument) else {
                    return Err(format!("{name} is used at line {line} in a way that is not understood"));
                };
                let parameter = callee.parameters.get(argument).filter(|_| depth < 4);
                let parameter = parameter.ok_or_else(|| format!("{name} is handed on at line {line}"))?;
                let inner = TensorFacts::of(other, callee);
                used_well(run, other, &inner, &parameter.name, last, free, depth + 1)?;
            }
        }
    }
    Ok(())
}
