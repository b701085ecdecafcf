//! Which global tensors may be the same memory, whatever they are called.
//!
//! Two tensors are apart if the pointers that they start at come from different parameters of the kernel's entry, and
//! the operator does not write into one of its inputs by definition. A caller may still pass one address for an input and an
//! output of an operator that does not say so. Such a call is right only if it gives what it would with memory of its own: then no
//! load depends on an earlier store, and a load that moves before one reads what it read. What must not happen is that a load
//! moves across a store whose result it is there to read.

use std::collections::BTreeSet;

use crate::analysis::code::words;
use crate::context::Context;
use source::facts::api::is_copy;
use source::facts::{Callers, Kernel, base_name, is_host};
use source::parse::{Function, SyntaxFile};

/// Pointers are followed through so many names.
const DEPTH_MAX: usize = 6;

/// Proves that the class never writes a global tensor, nor another that may be the same memory.
pub(crate) fn never_written(context: &Context, kernel: &Kernel, global: &str) -> Result<(), String> {
    let forest = &context.forest;
    let callers = Callers::new(kernel, forest);
    let mut written: BTreeSet<String> = BTreeSet::new();
    for (file, _, call) in kernel.calls(forest) {
        let Some(function) = file.enclosing_function(call.span.start) else { continue };
        let members = |index: usize| {
            file.argument(call, index).map(|text| callers.members(function, base_name(text))).unwrap_or_default()
        };
        let object = call.object.as_deref().map(|object| callers.members(function, base_name(object)));
        if let Some(members) = object {
            let reads = matches!(
                call.name.as_str(),
                "SetGlobalBuffer" | "GetValue" | "SetL2CacheHint" | "GetPhyAddr" | "GetSize"
            );
            if !reads && members.contains(global) {
                return Err(format!("{}.{} at line {}", global, call.name, file.line(call.span.start)));
            }
            if call.name == "SetValue" {
                written.extend(members.into_iter().filter(|member| kernel.globals.contains_key(member)));
            }
            continue;
        }
        if !callers.callees(call).is_empty() {
            continue;
        }
        for index in 0..call.arguments.len() {
            let touched = members(index);
            let reads = index > 0 && call.name.contains("Copy");
            if is_copy(&call.name) && index == 0 || (touched.contains(global) && !reads) {
                written.extend(touched);
            }
        }
    }
    if written.contains(global) {
        return Err(format!("{global} may be written"));
    }
    written
        .iter()
        .filter(|other| kernel.globals.contains_key(*other))
        .try_for_each(|other| apart(context, kernel, global, other))
}

/// Proves that two global tensors of a kernel are different memory.
pub(crate) fn apart(context: &Context, kernel: &Kernel, read: &str, written: &str) -> Result<(), String> {
    if read == written {
        return Err(format!("{read} is written too"));
    }
    let (own, other) = (starts(context, kernel, read), starts(context, kernel, written));
    if own.is_empty() || other.is_empty() {
        let unknown = if own.is_empty() { read } else { written };
        return Err(format!("where {unknown} starts is not known: {written} is written and may be {read}"));
    }
    if let Some(start) = own.iter().find(|start| other.iter().any(|other| same(start, other))) {
        return Err(format!("{written} is written and starts where {read} does, at {start}"));
    }
    if let Some(name) = written_input(context) {
        return Err(format!("the operator writes its input {name}: {written} may be {read}"));
    }
    Ok(())
}

/// Whether two global tensors are different memory: as [`apart`], and where the operator writes one of its inputs, neither starts at
/// the parameter of the entry that stands for such an input while the other starts at its output.
pub(crate) fn different(context: &Context, kernel: &Kernel, left: &str, right: &str) -> bool {
    let (own, other) = (starts(context, kernel, left), starts(context, kernel, right));
    let shared = own.iter().any(|start| other.iter().any(|other| same(start, other)));
    if left == right || own.is_empty() || other.is_empty() || shared {
        return false;
    }
    if written_input(context).is_none() {
        return true;
    }
    let (inputs, outputs) = (named(context, "Input"), named(context, "Output"));
    let Some(parameters) = entry_parameters(context).filter(|found| found.len() >= inputs.len() + outputs.len()) else {
        return false;
    };
    let places = |starts: &BTreeSet<String>| -> Option<Vec<usize>> {
        starts.iter().map(|start| parameters.iter().position(|parameter| parameter == start)).collect()
    };
    let (Some(own), Some(other)) = (places(&own), places(&other)) else { return false };
    let in_place = |left: &[usize], right: &[usize]| {
        inputs.iter().enumerate().any(|(input, name)| {
            let output = outputs.iter().position(|output| output == name);
            output.is_some_and(|output| left.contains(&input) && right.contains(&(inputs.len() + output)))
        })
    };
    !in_place(&own, &other) && !in_place(&other, &own)
}

/// Names of the parameters of the kernel's entry, if there is one.
fn entry_parameters(context: &Context) -> Option<Vec<String>> {
    let is_entry = |file: &SyntaxFile, function: &Function| {
        // The parser does not see the qualifiers.
        let start = file.text()[..function.span.start].rfind([';', '}', '{']).map_or(0, |end| end + 1);
        file.slice(&(start..function.body.start)).contains("__global__")
    };
    let kernels = context.forest.iter().filter(|file| !is_host(file.name()));
    let mut entries = kernels.flat_map(|file| file.functions().iter().filter(move |function| is_entry(file, function)));
    let entry = entries.next().filter(|_| entries.next().is_none())?;
    Some(entry.parameters.iter().map(|parameter| parameter.name.clone()).collect())
}

/// Names that the operator's definition gives its inputs or outputs, in their order.
fn named(context: &Context, which: &str) -> Vec<String> {
    let hosts = context.forest.iter().filter(|file| is_host(file.name()));
    let calls = hosts.flat_map(|file| file.calls_named(which).filter_map(move |call| file.argument(call, 0)));
    calls.filter(|text| text.starts_with('"')).map(str::to_owned).collect()
}

/// Whether two pointers are one: by name, or the one that an operator is given for a result in place.
fn same(left: &str, right: &str) -> bool {
    let plain = |name: &str| {
        let name = name.trim_end_matches('_');
        name.strip_suffix("_ref").or_else(|| name.strip_suffix("Ref")).unwrap_or(name).to_owned()
    };
    plain(left) == plain(right)
}

/// An input of the operator that it writes: one that its definition gives as an output too.
fn written_input(context: &Context) -> Option<String> {
    let outputs = named(context, "Output");
    named(context, "Input").into_iter().find(|input| outputs.contains(input))
}

/// Names of the entry's parameters that the pointer of a global tensor is made of.
fn starts(context: &Context, kernel: &Kernel, global: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (file, _, call) in kernel.calls(&context.forest) {
        let Some(function) = file.enclosing_function(call.span.start) else { continue };
        let object = call.object.as_deref().map(base_name).unwrap_or_default();
        let sets = call.name == "SetGlobalBuffer"
            && (object == global || Callers::new(kernel, &context.forest).members(function, object).contains(global));
        if let Some(text) = file.argument(call, 0).filter(|_| sets) {
            follow(context, file, function, text, DEPTH_MAX, &mut found);
        }
    }
    found
}

/// Adds what the pointers in an expression come from.
fn follow(
    context: &Context,
    file: &SyntaxFile,
    function: &Function,
    text: &str,
    depth: usize,
    found: &mut BTreeSet<String>,
) {
    let pointer = |type_text: &str| type_text.contains("GM_ADDR") || type_text.contains('*');
    for word in words(text) {
        let position =
            function.parameters.iter().position(|parameter| parameter.name == word && pointer(&parameter.type_text));
        if let Some(position) = position {
            let before = found.len();
            if depth > 0 {
                callers_of(context, function).for_each(|(other, caller, call)| {
                    if let Some(argument) = other.argument(call, position) {
                        follow(context, other, caller, argument, depth - 1, found);
                    }
                });
            }
            if found.len() == before {
                found.insert(word.to_owned());
            }
            continue;
        }
        let locals =
            file.locals().iter().filter(|local| function.body.contains(&local.span.start) && local.name == word);
        for local in locals.filter(|local| pointer(&local.type_text) || local.type_text.contains("auto")) {
            if let (Some(value), true) = (&local.value, depth > 0) {
                follow(context, file, function, file.slice(value), depth - 1, found);
            }
        }
        let class = function.class.as_deref().unwrap_or_default();
        let members = context.forest.iter().flat_map(|file| file.classes()).filter(|known| known.name == class);
        if members.flat_map(|class| &class.members).any(|member| member.name == word && pointer(&member.type_text)) {
            found.insert(word.to_owned());
        }
    }
}

/// Calls of a function, in it or out of its class.
fn callers_of<'a>(
    context: &'a Context,
    function: &'a Function,
) -> impl Iterator<Item = (&'a SyntaxFile, &'a Function, &'a source::parse::Call)> {
    let kernels = context.forest.iter().filter(|file| !is_host(file.name()));
    let calls = kernels.flat_map(|file| file.calls_named(&function.name).map(move |call| (file, call)));
    calls.filter_map(move |(file, call)| {
        let caller = file.enclosing_function(call.span.start)?;
        let elsewhere = caller.span != function.span && call.arguments.len() <= function.parameters.len();
        elsewhere.then_some((file, caller, call))
    })
}
