//! Classes whose work is rounds that cores may take in turn, and what of a kernel is none.
//!
//! Every core counts all rounds, so that what counts them goes on as it did, and does its own ones.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::arms::{Chain, called_once};
use crate::analysis::code::{block_of, classes_called, functions_of, is_all_of, scope, words};
use crate::analysis::flow::changes::changed_names;
use crate::analysis::flow::effects::{own_functions, reached};
use crate::analysis::queue_run::statement_at;
use crate::analysis::round_list::{statements_of, touching_queues};
use crate::context::Context;
use crate::rewrite::carried_vectors::Carrying;
use crate::rewrite::edits::edit;
use crate::rewrite::first_core::{Place, Rest, ways};
use source::Edit;
use source::facts::api::is_copy;
use source::facts::{Kernel, base_name};
use source::parse::{Call, Function, SyntaxFile};

/// The member that counts rounds.
const COUNTER: &str = "round";
/// The member that holds the next round of a core: a remainder for each of them would take the scalar unit longer than a short round does.
const TURN: &str = "turn";

/// A class whose rounds are dealt.
pub(crate) struct Dealt<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) edits: Vec<Edit>,
    pub(crate) rounds: Vec<(&'a SyntaxFile, Range<usize>)>,
    /// Functions of it that do something else.
    others: Vec<Rest<'a>>,
    /// How a launch gets to its rounds.
    pub(crate) ways: Vec<Chain<'a>>,
}

/// The classes whose rounds are dealt, and what is left to the first core: classes that do something else.
pub(crate) fn classes(context: &Context) -> Result<(Vec<Dealt<'_>>, Vec<Rest<'_>>), String> {
    let (mut dealt, mut rest) = (Vec::new(), Vec::new());
    for kernel in context.facts.kernels.values().filter(|kernel| !kernel.globals.is_empty()) {
        let class = Class::of(context, kernel).and_then(|class| {
            let of = |(function, reason)| Rest { function, call: None, reason };
            let (edits, ways) = (class.edits()?, class.ways()?);
            let others = class.others.into_iter().map(of).collect();
            Ok(Dealt { kernel, edits, rounds: class.rounds, others, ways })
        });
        match class {
            Ok(class) => dealt.push(class),
            Err(reason) => rest.push((kernel, reason)),
        }
    }
    // What no case runs stays as it is, where there is something else.
    let is_seen = |class: &Dealt<'_>| context.verifiable(&class.edits).is_ok();
    if dealt.iter().any(is_seen) {
        let (seen, unseen): (Vec<_>, Vec<_>) = dealt.into_iter().partition(is_seen);
        dealt = seen;
        rest.extend(unseen.iter().filter_map(|class| Some((class.kernel, context.verifiable(&class.edits).err()?))));
    }
    if dealt.is_empty() {
        let first = rest.into_iter().next().map(|(_, reason)| reason);
        return Err(first.unwrap_or_else(|| "no class has global tensors".to_owned()));
    }
    let mut others: Vec<Rest<'_>> = dealt.iter().flat_map(|class| class.others.iter().cloned()).collect();
    for (kernel, reason) in rest {
        let functions = functions_of(context, kernel).into_iter().filter(|(_, function)| function.name != kernel.name);
        others.extend(functions.map(|function| Rest { function, call: None, reason: reason.clone() }));
    }
    Ok((dealt, others))
}

/// Whether rounds of a class add to a tensor that outlives them.
pub(crate) fn carries(context: &Context, kernel: &Kernel) -> bool {
    Class::of(context, kernel).is_ok_and(|class| class.carries())
}

/// A class that does the work of a core.
struct Class<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    /// Functions that name queues themselves.
    stages: BTreeSet<String>,
    /// Runs of calls that are a round each: file, first and last statement.
    rounds: Vec<(&'a SyntaxFile, Range<usize>)>,
    /// Functions that are stages by name but no part of a round: they make ready, once and before all rounds, what every core needs.
    setups: BTreeSet<String>,
    /// Functions that do something else, and what that is.
    others: Vec<(Place<'a>, String)>,
}

impl<'a> Class<'a> {
    fn of(context: &'a Context, kernel: &'a Kernel) -> Result<Self, String> {
        if kernel.has_base() || !context.facts.derived(&kernel.name).is_empty() {
            return Err(format!("{} has a base class or is one", kernel.name));
        }
        let touching = touching_queues(context, kernel);
        let (stages, setups) = (BTreeSet::new(), BTreeSet::new());
        let mut class = Self { context, kernel, stages, rounds: Vec::new(), setups, others: Vec::new() };
        for (file, function) in functions_of(context, kernel) {
            let names_queue = |word: &&str| kernel.queues.contains_key(*word) || kernel.buffers.contains_key(*word);
            if function.name != "Init" && words(file.slice(&function.body)).iter().any(names_queue) {
                class.stages.insert(function.name.clone());
            }
        }
        for (file, function) in functions_of(context, kernel) {
            let drives = touching.contains(&function.name) && !class.stages.contains(&function.name);
            if !drives || function.name == "Init" {
                continue;
            }
            let known = class.rounds.len();
            if let Err(reason) = class.add_rounds(file, function) {
                class.rounds.truncate(known);
                class.others.push(((file, function), reason));
            }
        }
        class.leave_unproven()?;
        if class.rounds.is_empty() {
            let reason = class.others.into_iter().next().map(|(_, reason)| reason);
            return Err(reason.unwrap_or_else(|| format!("{} does no rounds by functions of its own", kernel.name)));
        }
        class.nothing_else()?;
        Ok(class)
    }

    /// Functions with rounds that are not proven to be rounds do something else.
    fn leave_unproven(&mut self) -> Result<(), String> {
        for (file, span) in self.rounds.clone() {
            let Err(reason) = self.proven(file, &span) else { continue };
            let function = file.enclosing_function(span.start).ok_or("a round in no function")?;
            self.rounds.retain(|(other, span)| other.name() != file.name() || !function.body.contains(&span.start));
            self.others.push(((file, function), reason));
        }
        Ok(())
    }

    /// Runs of statements that are calls of stages, in every block of a function.
    fn add_rounds(&mut self, file: &'a SyntaxFile, function: &'a Function) -> Result<(), String> {
        let mut calls: Vec<&Call> = file
            .calls_in(function.body.clone())
            .filter(|call| call.is_own() && self.stages.contains(&call.name))
            .collect();
        while let Some(first) = calls.first() {
            let block = statement_at(file, &first.span)
                .and_then(|statement| block_of(file, &statement))
                .ok_or_else(|| format!("line {}: {} is not in a block", file.line(first.span.start), first.name))?;
            let statements = statements_of(file, &block)?;
            let is_call = |statement: &Range<usize>| {
                calls.iter().any(|call| {
                    statement.start == call.span.start
                        && file.slice(statement).trim_end_matches([';', ' ']).len() == call.span.len()
                })
            };
            let start = statements.iter().position(|statement| statement.contains(&first.span.start));
            let start = start.filter(|at| is_call(&statements[*at])).ok_or_else(|| {
                format!("line {}: {} is no statement of its own", file.line(first.span.start), first.name)
            })?;
            // Barriers stand between the calls of a round.
            let is_barrier = |statement: &Range<usize>| {
                file.calls_in(statement.clone())
                    .any(|call| call.name == "PipeBarrier" && call.span.start == statement.start)
            };
            let run = statements[start..].iter().take_while(|statement| is_call(statement) || is_barrier(statement));
            let count = 1 + run.enumerate().filter(|(_, statement)| is_call(statement)).last().map_or(0, |(at, _)| at);
            let span = statements[start].start..statements[start + count - 1].end;
            if !file.loops().iter().any(|repetition| repetition.body.contains(&span.start)) && count == 1 {
                if self.makes_ready(file, &span).is_ok() {
                    self.setups.insert(first.name.clone());
                    calls.retain(|call| !span.contains(&call.span.start));
                    continue;
                }
                let reason = format!("line {}: {} may be all of the work", file.line(span.start), first.name);
                let meant = own_functions(self.context, self.kernel, &first.name);
                self.others.extend(meant.map(|function| (function, reason.clone())));
                calls.retain(|call| !span.contains(&call.span.start));
                continue;
            }
            calls.retain(|call| !span.contains(&call.span.start));
            self.rounds.push((file, span));
        }
        Ok(())
    }

    /// Proves what a round may be: it leaves its queues as it found them, and sets nothing that others find.
    fn proven(&self, file: &'a SyntaxFile, span: &Range<usize>) -> Result<(), String> {
        let kernel = self.kernel;
        let functions = reached(self.context, kernel, file, span);
        in_pairs(&functions).map_err(|reason| format!("line {}: the round does {reason}", file.line(span.start)))?;
        for (file, function) in functions {
            // What a parameter refers to is somebody else's.
            let own = |name: &str| {
                let by_value = |text: &str| !text.contains(['&', '*']);
                function.parameters.iter().any(|parameter| parameter.name == name && by_value(&parameter.type_text))
                    || file.locals().iter().any(|local| local.name == name && function.body.contains(&local.span.start))
            };
            let is_memory = |name: &str| {
                kernel.queues.contains_key(name)
                    || kernel.buffers.contains_key(name)
                    || kernel.globals.contains_key(name)
            };
            let members = self.members();
            let is_of_others = |name: &str| {
                let is_parameter = |parameter: &source::parse::Parameter| {
                    parameter.name == name && !parameter.type_text.contains("Tensor")
                };
                members.contains(name)
                    || kernel.tensor_members.contains(name)
                    || function.parameters.iter().any(is_parameter)
            };
            let kept = changed_names(file, &function.body)
                .into_iter()
                .find(|name| !own(name) && !is_memory(name) && is_of_others(name));
            if let Some(name) = kept {
                return Err(format!("{} sets {name}, which lives longer than a round", function.name));
            }
        }
        Ok(())
    }

    /// Functions that only those call that do something else, these included.
    fn of_others(&self) -> BTreeSet<(&'a str, usize)> {
        let key = |(file, function): &Place<'a>| (file.name(), function.body.start);
        let functions = functions_of(self.context, self.kernel);
        let mut found: BTreeSet<(&str, usize)> = self.others.iter().map(|(place, _)| key(place)).collect();
        loop {
            let known = found.len();
            for place in &functions {
                let calls = |(file, caller): &&Place<'a>| {
                    file.calls_in(caller.body.clone()).any(|call| call.is_own() && call.name == place.1.name)
                };
                let mut callers = functions.iter().filter(calls).peekable();
                if callers.peek().is_some() && callers.all(|caller| found.contains(&key(caller))) {
                    found.insert(key(place));
                }
            }
            if found.len() == known {
                return found;
            }
        }
    }

    /// Proves that nobody else of those who deal writes global memory.
    fn nothing_else(&self) -> Result<(), String> {
        let in_rounds = self.rounds.iter().flat_map(|(file, span)| reached(self.context, self.kernel, file, span));
        let mut known: BTreeSet<(&str, usize)> =
            in_rounds.map(|(file, function)| (file.name(), function.body.start)).collect();
        known.extend(self.of_others());
        for (file, function) in functions_of(self.context, self.kernel) {
            if known.contains(&(file.name(), function.body.start)) {
                continue;
            }
            let in_round = |call: &Call| {
                self.rounds.iter().any(|(other, span)| other.name() == file.name() && span.contains(&call.span.start))
            };
            let stray = |call: &&Call| {
                call.is_own()
                    && self.stages.contains(&call.name)
                    && !self.setups.contains(&call.name)
                    && !self.others.iter().any(|((_, other), _)| other.name == call.name)
                    && !in_round(call)
            };
            if let Some(call) = file.calls_in(function.body.clone()).find(stray) {
                return Err(format!(
                    "{}:{}: {} is called outside of a round",
                    file.name(),
                    file.line(call.span.start),
                    call.name
                ));
            }
            if let Some(call) = file.calls_in(function.body.clone()).find(|call| self.may_write(file, function, call)) {
                let line = file.line(call.span.start);
                return Err(format!("{}:{line}: {} outside of a round", file.name(), call.name));
            }
        }
        Ok(())
    }

    /// What every core asks itself about: a run of calls, or a choice between two of them that does nothing else. Neither arm is changed
    /// then, which may be one that cannot be seen to run.
    fn questions(&self) -> Vec<(&'a SyntaxFile, Range<usize>)> {
        let mut open = self.rounds.clone();
        let mut found = Vec::new();
        while !open.is_empty() {
            let (file, span) = open.remove(0);
            let other = |choice: &(Range<usize>, Range<usize>)| {
                open.iter().position(|(other, run)| other.name() == file.name() && is_all_of(file, run, &choice.1))
            };
            match choice_of(file, &span).and_then(|choice| Some((other(&choice)?, choice.0))) {
                Some((at, choice)) => {
                    open.remove(at);
                    found.push((file, choice));
                }
                None => found.push((file, span)),
            }
        }
        found
    }

    /// Whether a call may write global memory.
    fn may_write(&self, file: &SyntaxFile, function: &Function, call: &Call) -> bool {
        let of_global = |text: Option<&str>| text.is_some_and(|text| self.kernel.globals.contains_key(base_name(text)));
        // What is brought into a tensor of the function is read alone.
        let brings = || {
            let destination = file.argument(call, 0).map(base_name).unwrap_or_default();
            let mut locals = file.locals().iter().filter(|local| function.body.contains(&local.span.start));
            locals.any(|local| local.name == destination && local.type_text.contains("LocalTensor"))
        };
        call.name == "SetValue" && of_global(call.object.as_deref())
            || is_copy(&call.name) && call.object.is_none() && !brings()
            || call.name.starts_with("InitGlobalMemory")
            || call.name == "InitOutput"
    }

    /// Proves that a call which is no round may be done by every core: it leaves queues as it found them and writes no global memory.
    fn makes_ready(&self, file: &'a SyntaxFile, span: &Range<usize>) -> Result<(), String> {
        let functions = reached(self.context, self.kernel, file, span);
        in_pairs(&functions)?;
        for (file, function) in functions {
            called_once(self.context, function)?;
            if let Some(call) = file.calls_in(function.body.clone()).find(|call| self.may_write(file, function, call)) {
                return Err(format!("line {}: {} may write global memory", file.line(call.span.start), call.name));
            }
        }
        Ok(())
    }

    /// How a launch gets to its rounds.
    fn ways(&self) -> Result<Vec<Chain<'a>>, String> {
        let mut found = Vec::new();
        for (file, span) in &self.rounds {
            let function = file.enclosing_function(span.start).ok_or("a round in no function")?;
            found.extend(ways(self.context, file, function, file.calls_in(span.clone()).next())?);
        }
        Ok(found)
    }

    /// Whether there is a tensor that every round adds to.
    fn carries(&self) -> bool {
        Carrying::of(self.context, self.kernel, &self.rounds).edits().is_ok_and(|edits| !edits.is_empty())
    }

    /// Data members of the class.
    fn members(&self) -> BTreeSet<&'a str> {
        let classes = classes_called(self.context, &self.kernel.name).into_iter();
        classes.flat_map(|(_, class)| class.members.iter().map(|member| member.name.as_str())).collect()
    }

    fn edits(&self) -> Result<Vec<Edit>, String> {
        let (context, kernel) = (self.context, self.kernel);
        let classes = classes_called(context, &kernel.name);
        let bodies = classes.iter().map(|(file, class)| file.slice(&class.span));
        let functions = functions_of(context, kernel).into_iter().map(|(file, function)| file.slice(&function.span));
        let texts: Vec<&str> = bodies.chain(functions).collect();
        let is_taken = |name: &&str| texts.iter().any(|text| words(text).contains(name));
        if let Some(name) = [COUNTER, TURN].iter().find(|name| is_taken(name)) {
            return Err(format!("{} has a {name} of its own", kernel.name));
        }
        let mut edits = Vec::new();
        for (file, class) in classes {
            let last = class.members.last().ok_or_else(|| format!("{} has no members", kernel.name))?;
            let line = file.whole_lines(&last.span).ok_or("the last member shares its line")?;
            let indentation = file.indentation(last.span.start);
            let members = members(file).map(|member| format!("{indentation}{member}\n")).concat();
            edits.push(edit(file, line.end..line.end, members));
        }
        if edits.is_empty() {
            return Err(format!("{} is no class", kernel.name));
        }
        edits.extend(Carrying::of(context, kernel, &self.rounds).edits()?);
        for (file, span) in &self.questions() {
            let whole = file
                .whole_lines(span)
                .ok_or_else(|| format!("line {}: the round shares its lines", file.line(span.start)))?;
            let indentation = file.indentation(span.start);
            let inside: String = file.slice(&whole).split_inclusive('\n').map(indented).collect();
            let [question, next] = turn(file);
            let text = format!("{indentation}{question}\n{indentation}    {next}\n{inside}{indentation}}}\n");
            edits.push(edit(file, whole, text));
        }
        Ok(edits)
    }
}

/// Proves that functions take from queues what they give them, and hand on what they take.
fn in_pairs(functions: &[(&SyntaxFile, &Function)]) -> Result<(), String> {
    for pair in [("AllocTensor", "FreeTensor"), ("EnQue", "DeQue")] {
        let queues = |name: &str| -> BTreeSet<&str> {
            let calls = functions.iter().flat_map(|(file, function)| file.calls_in(function.body.clone()));
            calls.filter(|call| call.name == name).filter_map(|call| call.object.as_deref()).map(base_name).collect()
        };
        let (taken, given) = (queues(pair.0), queues(pair.1));
        if taken != given {
            let odd: Vec<&&str> = taken.symmetric_difference(&given).collect();
            return Err(format!("{} or {} of {odd:?} alone", pair.0, pair.1));
        }
    }
    Ok(())
}

/// The `if` of which statements are the first arm, with the block of the other one, where its condition changes nothing.
fn choice_of(file: &SyntaxFile, statements: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let first = statement_at(file, &(statements.start..statements.start + 1))?;
    let block = block_of(file, &first).filter(|block| is_all_of(file, statements, block))?;
    let mut node = file.node_at(&block)?;
    while node.kind() != "compound_statement" || node.byte_range() != block {
        node = node.parent()?;
    }
    let choice = node.parent().filter(|parent| parent.kind() == "if_statement")?;
    let condition = choice.child_by_field_name("condition")?.byte_range();
    let other = choice.child_by_field_name("alternative")?;
    let other = if other.kind() == "else_clause" { other.named_child(0)? } else { other };
    let is_plain_choice = choice.child_by_field_name("consequence") == Some(node)
        && other.kind() == "compound_statement"
        && file.calls_in(condition.clone()).next().is_none()
        && changed_names(file, &condition).is_empty()
        && block_of(file, &choice.byte_range()).is_some();
    is_plain_choice.then(|| (choice.byte_range(), other.byte_range()))
}

/// A line one step further in.
fn indented(line: &str) -> String {
    if line.trim().is_empty() { line.to_owned() } else { format!("    {line}") }
}

/// What counts rounds in a class.
pub(crate) fn members(file: &SyntaxFile) -> [String; 2] {
    let api = scope(file);
    [
        format!("uint32_t {COUNTER} = 0; // of all cores"),
        format!("uint32_t {TURN} = {api}GetBlockIdx(); // of this core"),
    ]
}

/// The head of what a core does where a round is its own.
pub(crate) fn turn(file: &SyntaxFile) -> [String; 2] {
    let api = scope(file);
    [format!("if ({COUNTER}++ == {TURN}) {{"), format!("{TURN} += {api}GetBlockNum();")]
}
