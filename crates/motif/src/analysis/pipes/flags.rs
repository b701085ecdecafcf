//! Flags that are set and awaited at once, by two calls beside each other or by a function that does nothing else.

use std::ops::Range;

use super::{Pipes, pipe};
use crate::analysis::code::{block_of, words};
use crate::context::Context;
use source::facts::Kernel;
use source::parse::{Call, Function, SyntaxFile};

/// Flags that order everything of some pipes before everything of others, at one place.
pub(crate) struct FlagUnit<'a> {
    pub(crate) file: &'a SyntaxFile,
    /// The call at which they are awaited: `WaitFlag`, or that of the function that sets and awaits them.
    pub(crate) call: &'a Call,
    /// Statements that go with them: the variable of the id where nothing else uses it, the setting, the waiting.
    pub(crate) statements: Vec<Range<usize>>,
    /// The first pipe of each is waited for by the second.
    pub(crate) pairs: Vec<(Pipes, Pipes)>,
}

/// One `SetFlag` with its `WaitFlag`.
struct Pair<'a> {
    wait: &'a Call,
    set: Range<usize>,
    event: String,
    id: String,
}

/// All of a kernel. `Err` says which flag is set at one place and awaited at another.
pub(crate) fn flag_units<'a>(context: &'a Context, kernel: &Kernel) -> Vec<FlagUnit<'a>> {
    let mut found = Vec::new();
    for (name, index) in &kernel.functions {
        let Some(file) = context.forest.get(name) else { continue };
        let Some(function) = file.functions().get(*index) else { continue };
        if only_flags(file, function) {
            continue;
        }
        for pair in pairs_in(file, function) {
            if let Some(unit) = unit_of(file, function, &pair) {
                found.push(unit);
            }
        }
        for call in file.calls_in(function.body.clone()) {
            found.extend(by_function(context, kernel, file, call));
        }
    }
    found
}

/// The pipes of an event: `HardEvent::MTE3_MTE2`.
pub(crate) fn event_pipes(event: &str) -> Option<(Pipes, Pipes)> {
    let (from, to) = event.rsplit("::").next()?.trim().split_once('_')?;
    Some((pipe(from)?, pipe(to)?))
}

/// The event of a `SetFlag` or `WaitFlag`, also in the older form with the pipes as arguments, and its id.
pub(crate) fn event_of(file: &SyntaxFile, call: &Call) -> Option<(String, String)> {
    let argument = |index: usize| file.argument(call, index).map(|text| text.trim().to_owned());
    match call.name.as_str() {
        "SetFlag" | "WaitFlag" => Some((call.template_arguments.clone()?.trim().to_owned(), argument(0)?)),
        "set_flag" | "wait_flag" => {
            let plain = |index: usize| argument(index).map(|text| text.trim_start_matches("PIPE_").to_owned());
            Some((format!("{}_{}", plain(0)?, plain(1)?), argument(2)?))
        }
        _ => None,
    }
}

fn is_set(call: &Call) -> bool {
    matches!(call.name.as_str(), "SetFlag" | "set_flag")
}

fn is_wait(call: &Call) -> bool {
    matches!(call.name.as_str(), "WaitFlag" | "wait_flag")
}

/// Whether a call has to do with flags and nothing else.
fn of_flags(call: &Call) -> bool {
    is_set(call) || is_wait(call) || matches!(call.name.as_str(), "FetchEventID" | "GetTPipePtr" | "static_cast")
}

/// Whether flags are all that a function is about.
fn only_flags(file: &SyntaxFile, function: &Function) -> bool {
    let mut calls = file.calls_in(function.body.clone()).peekable();
    let straight = |word: &&str| matches!(*word, "if" | "for" | "while" | "switch" | "return" | "goto" | "do");
    calls.peek().is_some()
        && calls.all(of_flags)
        && file.calls_in(function.body.clone()).any(is_wait)
        && words(file.slice(&function.body)).iter().find(|word| straight(word)).is_none()
}

/// Flags awaited right behind where they are set: nothing but other flags and their ids stands between.
fn pairs_in<'a>(file: &'a SyntaxFile, function: &Function) -> Vec<Pair<'a>> {
    let mut found = Vec::new();
    for set in file.calls_in(function.body.clone()).filter(|call| is_set(call)) {
        let (Some(statement), Some((event, id))) = (set.statement.clone(), event_of(file, set)) else { continue };
        let mut at = statement.clone();
        while let Some(next) = next_statement(file, &at) {
            let mut calls = file.calls_in(next.clone()).peekable();
            if calls.peek().is_none() || !calls.all(of_flags) || block_of(file, &next).is_none() {
                break;
            }
            let wait = file.calls_in(next.clone()).find(|call| is_wait(call) && call.statement.as_ref() == Some(&next));
            if let Some(wait) = wait.filter(|wait| event_of(file, wait) == Some((event.clone(), id.clone()))) {
                found.push(Pair { wait, set: statement.clone(), event: event.clone(), id: id.clone() });
                break;
            }
            at = next;
        }
    }
    found
}

/// The statement behind another one in its block.
fn next_statement(file: &SyntaxFile, statement: &Range<usize>) -> Option<Range<usize>> {
    let mut node = file.node_at(statement)?;
    while node.parent().is_some_and(|parent| parent.byte_range() == *statement) {
        node = node.parent()?;
    }
    let mut next = node.next_named_sibling()?;
    while next.kind() == "comment" {
        next = next.next_named_sibling()?;
    }
    Some(next.byte_range())
}

fn unit_of<'a>(file: &'a SyntaxFile, function: &Function, pair: &Pair<'a>) -> Option<FlagUnit<'a>> {
    let pipes = event_pipes(&pair.event)?;
    let wait = pair.wait.statement.clone()?;
    let mut statements = vec![pair.set.clone(), wait];
    let variable = id_variable(file, function, pair);
    if let Some((variable, block)) = variable.and_then(|variable| Some((variable.clone(), block_of(file, &variable)?)))
    {
        let mentions = words(file.slice(&block)).iter().filter(|word| **word == pair.id).count();
        // Another pair may use the id too.
        if mentions == 3 && block.contains(&pair.set.start) {
            statements.insert(0, variable);
        }
    }
    Some(FlagUnit { file, call: pair.wait, statements, pairs: vec![pipes] })
}

/// The declaration of the variable that holds the id, where it is asked for right there.
fn id_variable(file: &SyntaxFile, function: &Function, pair: &Pair<'_>) -> Option<Range<usize>> {
    let declares = |local: &&source::parse::Local| {
        local.name == pair.id
            && local.alone
            && function.body.contains(&local.span.start)
            && local.span.end <= pair.set.start
    };
    let local = file.locals().iter().rev().find(declares)?;
    file.slice(local.value.as_ref()?).contains("FetchEventID").then(|| local.span.clone())
}

/// The flags of a call of a function that does nothing but set and await flags.
pub(crate) fn by_function<'a>(
    context: &'a Context,
    kernel: &Kernel,
    file: &'a SyntaxFile,
    call: &'a Call,
) -> Option<FlagUnit<'a>> {
    let own = call.object.as_deref().is_none_or(|object| object == "this");
    let statement = call.statement.clone().filter(|_| own && !of_flags(call) && call.arguments.is_empty())?;
    let of_class = kernel.functions.iter().filter_map(|(name, index)| {
        let file = context.forest.get(name)?;
        Some((file, file.functions().get(*index)?))
    });
    let free = context.forest.iter().flat_map(|file| {
        file.functions().iter().filter(|function| function.class.is_none()).map(move |function| (file, function))
    });
    let mut named = of_class.chain(free).filter(|(_, function)| function.name == call.name);
    let (other, function) = named.next()?;
    if named.next().is_some_and(|(_, another)| another.span != function.span) || !only_flags(other, function) {
        return None;
    }
    let given = call.template_arguments.as_deref();
    let mut pairs = Vec::new();
    for pair in pairs_in(other, function) {
        pairs.push(event_pipes(&pair.event).or_else(|| event_pipes(given?))?);
    }
    let waits = other.calls_in(function.body.clone()).filter(|call| is_wait(call)).count();
    let sets = other.calls_in(function.body.clone()).filter(|call| is_set(call)).count();
    (pairs.len() == waits && waits == sets).then(|| FlagUnit { file, call, statements: vec![statement], pairs })
}
