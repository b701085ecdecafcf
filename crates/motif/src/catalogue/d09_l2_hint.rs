//! D09: data that streams through once should not push reused data out of the L2 cache.

use std::collections::BTreeSet;

use crate::analysis::code::{Surroundings, block_of};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Spot, Way};
use crate::{Company, Context, Counter, Family, Id, Metadata};
use source::facts::api::is_copy;
use source::facts::{Kernel, base_name};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub const L2_HINT: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[HINT]) };

const METADATA: Metadata = Metadata {
    id: Id::D09,
    title: "L2 hint for streamed data",
    family: Family::DataMovement,
    precondition: "a global tensor with one SetGlobalBuffer, touched by exactly one copy on exactly one call path, at an address that changes; the hint never \
     changes results",
    left_to_verifier: "nothing",
    relieves: &[Counter::Mte2Us, Counter::Mte3Us],
    prior_gain: 1.05,
    cost: "a slower second read, should there be one",
    tunables: "none",
    undoing: "drop the hint",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

const HINT: Exchange = Exchange {
    slow: Form::Behind(unhinted),
    fast: Form::Code("$$g.SetL2CacheHint(@CacheMode::CACHE_MODE_DISABLE);"),
    make: Way::new("no L2 allocation for $g", &[Guard::Holds(once), Guard::Holds(alone)]),
    unmake: Some(Way::new("drop the L2 hint", &[])),
};

/// Where global tensors of the class are set that have no hint yet.
fn unhinted(around: &Surroundings<'_>) -> Vec<Spot> {
    let Surroundings { context, file, function, kernel, .. } = *around;
    let mut found = Vec::new();
    for call in file.calls_in(function.body.clone()).filter(|call| call.name == "SetGlobalBuffer") {
        let global = call.object.as_deref().map(base_name).unwrap_or_default();
        if kernel.globals.contains_key(global) && !hinted(context, kernel, global) {
            let statement = call.statement.as_ref().unwrap_or(&call.span);
            found.push(Spot::new(file, statement, &[("g", global)]).scoped("AscendC::").shown(&call.span));
        }
    }
    found
}

fn alone(place: &FoundForm<'_>) -> Result<(), String> {
    let (file, span) = (place.around.file, place.span());
    if block_of(file, span).is_none() || !file.slice(span).ends_with(';') {
        return Err("SetGlobalBuffer is part of an expression, or the only statement of an if".to_owned());
    }
    Ok(())
}

fn once(place: &FoundForm<'_>) -> Result<(), String> {
    streamed(place.around.context, place.around.kernel, place.hole("g"))
}

fn hinted(context: &Context, kernel: &Kernel, global: &str) -> bool {
    kernel
        .calls(&context.forest)
        .any(|(_, _, call)| call.name == "SetL2CacheHint" && call.object.as_deref().map(base_name) == Some(global))
}

fn streamed(context: &Context, kernel: &Kernel, global: &str) -> Result<(), String> {
    let forest = &context.forest;
    let is_of = |call: &Call| call.object.as_deref().map(base_name) == Some(global);
    if kernel.calls(forest).filter(|(_, _, call)| call.name == "SetGlobalBuffer" && is_of(call)).count() != 1 {
        return Err(format!("{global} is set at several places"));
    }
    if let Some((_, _, call)) = kernel
        .calls(forest)
        .find(|(_, _, call)| is_of(call) && !matches!(call.name.as_str(), "SetGlobalBuffer" | "GetSize"))
    {
        return Err(format!("{global}.{} may read it again", call.name));
    }
    let mut copies = Vec::new();
    for (file, _, call) in kernel.calls(forest) {
        for (index, argument) in call.arguments.iter().enumerate() {
            if base_name(file.slice(argument)) == global {
                if !is_copy(&call.name) || index > 1 {
                    return Err(format!("{global} is passed to {}", call.name));
                }
                copies.push((file, call, file.slice(argument)));
            }
        }
    }
    let [(file, call, operand)] = copies.as_slice() else {
        return Err(format!("{global} is touched by {} copies, not one", copies.len()));
    };
    if !operand.contains('[') {
        return Err(format!("{global} is copied from its start every time"));
    }
    let paths = paths_to(context, kernel, file, call.span.start, &mut BTreeSet::new());
    if paths == 1 {
        Ok(())
    } else {
        Err(format!("the copy of {global} is reached on {paths} call paths: it may be read again"))
    }
}

/// Number of call paths inside the kernel that lead to a byte.
fn paths_to(context: &Context, kernel: &Kernel, file: &SyntaxFile, byte: usize, seen: &mut BTreeSet<String>) -> usize {
    let Some(function) = file.enclosing_function(byte) else { return 0 };
    if !seen.insert(function.name.clone()) {
        return 2;
    }
    let callers: Vec<(&SyntaxFile, usize)> = kernel
        .calls(&context.forest)
        .filter(|(_, _, call)| call.name == function.name)
        .map(|(file, _, call)| (file, call.span.start))
        .collect();
    let paths = if callers.is_empty() {
        1
    } else {
        callers.iter().map(|(file, byte)| paths_to(context, kernel, file, *byte, seen)).sum()
    };
    seen.remove(&function.name);
    paths
}
