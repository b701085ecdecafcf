//! What stays the same while a part of a function runs, calls of the class and of unknown functions included.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::change::{assigns, invariant};
use crate::analysis::code::words;
use crate::context::Context;
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::{Kernel, base_name, is_host};
use source::parse::{Call, Function, SyntaxFile};

/// Free functions that change none of their arguments.
const HARMLESS: &[&str] = &[
    "static_cast",
    "reinterpret_cast",
    "sizeof",
    "PipeBarrier",
    "SetFlag",
    "WaitFlag",
    "GetBlockIdx",
    "GetBlockNum",
    "GetSubBlockIdx",
    "min",
    "max",
    "Min",
    "Max",
    "CeilDiv",
    "Ceil",
    "half",
    "float",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
];

/// Functions of the kernel's class by name.
pub(crate) fn own_functions<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    name: &'a str,
) -> impl Iterator<Item = (&'a SyntaxFile, &'a Function)> {
    kernel.functions.iter().filter_map(move |(file, index)| {
        let file = context.forest.get(file)?;
        Some((file, file.functions().get(*index)?)).filter(|(_, function)| function.name == name)
    })
}

/// Functions of the class that calls in the span reach, directly or through others.
pub(crate) fn reached<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    span: &Range<usize>,
) -> Vec<(&'a SyntaxFile, &'a Function)> {
    let mut found: Vec<(&SyntaxFile, &Function)> = Vec::new();
    let mut seen: BTreeSet<(&str, usize)> = BTreeSet::new();
    let mut spans: Vec<(&SyntaxFile, Range<usize>)> = vec![(file, span.clone())];
    while let Some((file, span)) = spans.pop() {
        for call in file.calls_in(span).filter(|call| call.is_own()) {
            for (other, function) in own_functions(context, kernel, &call.name) {
                if seen.insert((other.name(), function.body.start)) {
                    found.push((other, function));
                    spans.push((other, function.body.clone()));
                }
            }
        }
    }
    found
}

/// Proves that an expression has the same value everywhere in the span: nothing in it, and no function of the class that
/// is called from it, changes a name of the expression, and no unknown function could.
pub(crate) fn steady(
    context: &Context,
    file: &SyntaxFile,
    kernel: &Kernel,
    expression: &str,
    span: &Range<usize>,
) -> Result<(), String> {
    let names = words(expression);
    let declared_inside =
        |word: &&&str| file.locals().iter().any(|local| local.name == **word && span.contains(&local.span.start));
    if let Some(word) = names.iter().find(declared_inside) {
        return Err(format!("{word} is declared in the loop"));
    }
    if !invariant(expression, file.slice(span)) {
        return Err(format!("{expression} may change from round to round"));
    }
    let variables: Vec<&str> = names.into_iter().filter(|word| !HARMLESS.contains(word) && *word != "this").collect();
    if variables.is_empty() {
        return Ok(());
    }
    let reached = reached(context, kernel, file, span);
    for (other, part) in
        reached.iter().map(|(other, function)| (*other, function.body.clone())).chain([(file, span.clone())])
    {
        if let Some((name, word)) = changed_by_macro(context, other.slice(&part), &variables) {
            return Err(format!("the macro {name} may change {word}"));
        }
    }
    for (other, function) in &reached {
        if let Some(word) = variables.iter().find(|word| assigns(other.slice(&function.body), word)) {
            return Err(format!("{} may change {word}", function.name));
        }
    }
    let places = reached.iter().map(|(other, function)| (*other, function.body.clone()));
    for (other, part) in places.chain([(file, span.clone())]) {
        for call in other.calls_in(part) {
            let known = HARMLESS.contains(&call.name.as_str())
                || is_copy(&call.name)
                || argument_access(&call.name, 0) != Access::Escape
                || (call.is_own() && own_functions(context, kernel, &call.name).next().is_some());
            if known {
                continue;
            }
            if let Some((function, word)) = changed_elsewhere(context, call, &variables) {
                return Err(format!("{function} may change {word}"));
            }
            let object = call.object.as_deref().map(base_name).unwrap_or_default();
            let by_reference = call.arguments.iter().enumerate().any(|(position, argument)| {
                let argument = other.slice(argument).trim();
                let named = |word: &&str| argument.trim_start_matches('&').trim_start_matches("this->") == *word;
                variables.iter().any(named) && (argument.starts_with('&') || !by_value(context, call, position))
            });
            let inherited = call.object.is_none() && call.scope.is_empty() && kernel.has_base();
            if variables.contains(&object) || (call.object.is_none() && by_reference) || inherited {
                return Err(format!("{} at line {} may change {expression}", call.name, other.line(call.span.start)));
            }
        }
    }
    Ok(())
}

/// A macro that a text uses and that changes one of the variables, with the variable.
fn changed_by_macro<'a>(context: &'a Context, text: &str, variables: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = words(text);
    while let Some(word) = open.pop() {
        let Some((name, bodies)) = context.facts.macros.get_key_value(word).filter(|_| seen.insert(word)) else {
            continue;
        };
        for body in bodies {
            if let Some(variable) = variables.iter().find(|variable| assigns(body, variable)) {
                return Some((name, variable));
            }
            open.extend(words(body));
        }
    }
    None
}

/// A function outside of the class that a call may mean, or one that it calls, and a variable that it changes.
fn changed_elsewhere<'a>(context: &'a Context, call: &Call, variables: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open = vec![call.name.as_str()];
    while let Some(name) = open.pop() {
        if !seen.insert(name) {
            continue;
        }
        for (file, function) in
            context.forest.iter().flat_map(|file| file.functions().iter().map(move |function| (file, function)))
        {
            if function.name != name || is_host(file.name()) {
                continue;
            }
            let own = |word: &str| {
                function.parameters.iter().any(|parameter| parameter.name == word)
                    || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
            };
            let body = file.slice(&function.body);
            if let Some(word) = variables.iter().find(|word| !own(word) && assigns(body, word)) {
                return Some((&function.name, word));
            }
            open.extend(file.calls_in(function.body.clone()).map(|call| call.name.as_str()));
        }
    }
    None
}

/// Whether all functions that a call may mean take an argument as a copy or as a constant.
fn by_value(context: &Context, call: &Call, position: usize) -> bool {
    let functions = context.forest.iter().flat_map(|file| file.functions());
    let mut taken = functions
        .filter(|function| function.name == call.name)
        .filter_map(|function| function.parameters.get(position))
        .map(|parameter| parameter.type_text.as_str())
        .peekable();
    taken.peek().is_some()
        && taken.all(|type_text| !type_text.contains('*') && (!type_text.contains('&') || type_text.contains("const")))
}
