//! Numbers of a kernel as host code has them: members that the kernel fills from fields of its tiling data, which the host sets.

use std::ops::Range;

use crate::analysis::arms::callers;
use crate::analysis::code::{block_of, functions_of, is_name, squash, words};
use crate::analysis::flow::changes::changes;
use crate::analysis::flow::effects::is_plain;
use crate::analysis::launches::Launch;
use crate::analysis::polynomial::Polynomial;
use crate::context::Context;
use source::facts::{Kernel, is_host};
use source::parse::{Call, Function, SyntaxFile};

/// An expression of a host function, and the end of the statement from which on it can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnHost {
    pub(crate) text: String,
    pub(crate) from: usize,
}

/// A number of the kernel in the function that launches it.
pub(crate) fn on_host(context: &Context, launch: &Launch<'_>, kernel: &Kernel, number: &Polynomial) -> Option<OnHost> {
    let mut known: Vec<(&str, Range<usize>, String)> = Vec::new();
    for name in number.names() {
        let (statement, value) = set(context, launch, &field_of(context, kernel, name)?)?;
        known.push((name, statement, value));
    }
    let from = known.iter().map(|(_, statement, _)| statement.end).max().unwrap_or(0);
    // What it is made of stays what it was until all of it is there.
    let own = |call: &Call| {
        let mut hosts = context.forest.iter().filter(|file| is_host(file.name()));
        hosts.any(|file| file.functions().iter().any(|function| function.name == call.name))
    };
    for (_, statement, value) in known.iter().filter(|(_, statement, _)| statement.end < from) {
        let (span, names) = (statement.end..from, words(value));
        let changed = changes(launch.file, &span).into_iter().any(|change| names.contains(&change.name));
        if changed || launch.file.calls_in(span).any(own) {
            return None;
        }
    }
    let text = number.text_with(&|name| {
        let (_, _, value) = known.iter().find(|(other, _, _)| *other == name)?;
        Some(value.clone())
    })?;
    Some(OnHost { text, from })
}

/// The number of the tiling key for which a condition of the kernel holds, where it is about nothing else, and the host's expression for the
/// key that it chooses.
pub(crate) fn key_on_host(context: &Context, launch: &Launch<'_>, kernel: &Kernel, condition: &str) -> Option<OnHost> {
    let keys = keys_of(context, kernel, condition)?;
    let mut set: Vec<(&SyntaxFile, &Call)> = Vec::new();
    for file in context.forest.iter().filter(|file| is_host(file.name())) {
        set.extend(file.calls_named("SetTilingKey").map(|call| (file, call)));
    }
    let [(file, call)] = set[..] else { return None };
    let statement = top_level(launch, file, call)?;
    let asked = file.argument(call, 0)?.trim();
    if !is_plain(asked) {
        return None;
    }
    let asked = if is_name(asked) { asked.to_owned() } else { format!("({asked})") };
    let text = keys.iter().map(|key| format!("{asked} == {key}")).collect::<Vec<_>>().join(" || ");
    Some(OnHost { text, from: statement.end })
}

/// A question of the kernel whether a member is a number, in the function that launches it.
pub(crate) fn holds_on_host(
    context: &Context,
    launch: &Launch<'_>,
    kernel: &Kernel,
    condition: &str,
) -> Option<OnHost> {
    let (sign, asked) = condition.strip_prefix('!').map_or(("==", condition), |asked| ("!=", asked));
    let (member, wanted) = asked.trim().strip_prefix('(')?.strip_suffix(')')?.split_once("==")?;
    let member = member.trim();
    let member = member.strip_prefix("this->").unwrap_or(member);
    let wanted = context.facts.known.value(wanted.trim()).filter(|_| is_name(member))?;
    let number = on_host(context, launch, kernel, &Polynomial::atom(member))?;
    Some(OnHost { text: format!("{} {sign} {wanted}", number.text), from: number.from })
}

/// A statement of the launching function that is done whenever that comes to its end.
fn top_level(launch: &Launch<'_>, file: &SyntaxFile, call: &Call) -> Option<Range<usize>> {
    let statement = call.statement.clone()?;
    let own = file.name() == launch.file.name() && block_of(file, &statement).as_ref() == Some(&launch.function.body);
    own.then_some(statement)
}

/// The one place where the host sets a field, with what it sets it to.
fn set(context: &Context, launch: &Launch<'_>, field: &str) -> Option<(Range<usize>, String)> {
    let setter = format!("set_{field}");
    let mut found: Vec<(&SyntaxFile, &Call)> = Vec::new();
    for file in context.forest.iter().filter(|file| is_host(file.name())) {
        found.extend(file.calls_named(&setter).map(|call| (file, call)));
    }
    let [(file, call)] = found[..] else { return None };
    let statement = top_level(launch, file, call)?;
    let value = file.argument(call, 0)?.trim();
    is_plain(value).then(|| (statement, value.to_owned()))
}

/// The field of the tiling data that a member is filled from, once and for all.
fn field_of(context: &Context, kernel: &Kernel, member: &str) -> Option<String> {
    let (function, value) = given(context, kernel, member)?;
    if let Some((object, field)) = value.split_once("->").or_else(|| value.split_once('.')) {
        let at = function.parameters.iter().position(|parameter| parameter.name == object && is_name(field))?;
        return same_for_all(context, function, |caller_file, caller, call| {
            let handed = caller_file.argument(call, at)?.trim().trim_start_matches('&');
            if is_tiling_data(caller_file, caller, handed) {
                return Some(field.to_owned());
            }
            part_of(caller_file, caller, handed, field)
        });
    }
    let at = function.parameters.iter().position(|parameter| parameter.name == value)?;
    same_for_all(context, function, |caller_file, caller, call| {
        field_in(caller_file, caller, caller_file.argument(call, at)?)
    })
}

/// What a member is set to, where one assignment of the class does that. What a template is for some arguments does it in a function with
/// the same parameters.
fn given<'a>(context: &'a Context, kernel: &'a Kernel, member: &str) -> Option<(&'a Function, String)> {
    let mut found: Option<(&Function, String)> = None;
    let (mut own, mut changed) = (0, 0);
    let names = |function: &Function| function.parameters.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let same = |(first, value): &(&Function, String), function: &Function, other: &str| {
        first.name == function.name && first.span != function.span && names(first) == names(function) && value == other
    };
    for (file, function) in functions_of(context, kernel) {
        changed += changes(file, &function.body).into_iter().filter(|change| change.name == member).count();
        for line in file.slice(&function.body).lines() {
            let Some((left, right)) = line.trim().strip_suffix(';').and_then(|line| line.split_once('=')) else {
                continue;
            };
            let left = left.trim();
            if left == member || left.strip_prefix("this->") == Some(member) {
                let value = squash(right);
                own += 1;
                // A parameter that is another number by then.
                if value != member && changes(file, &function.body).into_iter().any(|change| change.name == value) {
                    return None;
                }
                if found.as_ref().is_some_and(|first| !same(first, function, &value)) {
                    return None;
                }
                found.get_or_insert((function, value));
            }
        }
    }
    found.filter(|_| own == changed)
}

/// What all calls of a function agree on.
fn same_for_all<T: PartialEq>(
    context: &Context,
    function: &Function,
    answer: impl Fn(&SyntaxFile, &Function, &Call) -> Option<T>,
) -> Option<T> {
    let mut agreed = None;
    for (file, caller, call) in callers(context, function).ok()? {
        let own = answer(file, caller, call)?;
        if agreed.as_ref().is_some_and(|other| *other != own) {
            return None;
        }
        agreed = Some(own);
    }
    agreed
}

/// Whether a name is the tiling data of a kernel.
fn is_tiling_data(file: &SyntaxFile, function: &Function, name: &str) -> bool {
    is_name(name) && squash(file.slice(&function.body)).contains(&format!("GET_TILING_DATA({name},"))
}

/// The field that an expression is.
fn field_in(file: &SyntaxFile, function: &Function, text: &str) -> Option<String> {
    let (object, field) = text.trim().split_once('.')?;
    (is_name(field.trim()) && is_tiling_data(file, function, object.trim())).then(|| field.trim().to_owned())
}

/// The field that a part of a local structure is made from, where nothing changes it.
fn part_of(file: &SyntaxFile, function: &Function, local: &str, part: &str) -> Option<String> {
    let mut locals =
        file.locals().iter().filter(|other| other.name == local && function.body.contains(&other.span.start));
    let declared = locals.next()?;
    let sets = changes(file, &function.body).into_iter().filter(|change| change.name == local || change.name == part);
    if locals.next().is_some() || sets.count() != 1 {
        return None;
    }
    let list = file.slice(declared.value.as_ref()?).trim().strip_prefix('{')?.strip_suffix('}')?;
    let wanted = format!(".{part}=");
    let mut values = list.split(',').filter_map(|item| squash(item).strip_prefix(&wanted).map(str::to_owned));
    let value = values.next()?;
    field_in(file, function, &value)
}

/// Keys for which a condition holds: a question about the key itself, or about a member that is a number for every key.
fn keys_of(context: &Context, kernel: &Kernel, condition: &str) -> Option<Vec<i64>> {
    let asked = condition.strip_prefix('(')?.strip_suffix(')')?;
    if let Some(key) = asked.trim().strip_prefix("TILING_KEY_IS(") {
        return Some(vec![key.strip_suffix(')')?.trim().parse().ok()?]);
    }
    let (member, wanted) = asked.split_once("==")?;
    let member = member.trim();
    let member = member.strip_prefix("this->").unwrap_or(member);
    let number = |text: &str| context.facts.known.value(text.trim());
    let wanted = number(wanted)?;
    let (function, value) = given(context, kernel, member)?;
    let at = function.parameters.iter().position(|parameter| parameter.name == value)?;
    let mut keys = Vec::new();
    for (file, _, call) in callers(context, function).ok()? {
        let own = number(file.argument(call, at)?)?;
        let key = key_around(file, call)?;
        if own == wanted {
            keys.push(key);
        }
    }
    (!keys.is_empty()).then_some(keys)
}

/// The tiling key of the arm that a call stands in.
fn key_around(file: &SyntaxFile, call: &Call) -> Option<i64> {
    let mut node = file.node_at(&call.span)?;
    while let Some(parent) = node.parent() {
        if parent.kind() == "if_statement" && parent.child_by_field_name("consequence") == Some(node) {
            let asked = file.slice(&parent.child_by_field_name("condition")?.byte_range()).trim().to_owned();
            let key = asked.strip_prefix("(TILING_KEY_IS(").and_then(|rest| rest.strip_suffix("))"));
            if let Some(key) = key {
                return key.trim().parse().ok();
            }
        }
        node = parent;
    }
    None
}
