//! Work of one core given to all: the block dimension of the host, and what the kernel asks about itself. What each core then does is
//! the business of who asks for it.

use std::ops::Range;

use crate::analysis::code::{block_of, words};
use crate::analysis::entry::device_files;
use crate::analysis::flow::changes::changes;
use crate::analysis::launches::{Launch, all_launches, cap_of};
use crate::context::Context;
use crate::rewrite::edits::{edit, included};
use crate::site::Candidate;
use source::Edit;
use source::parse::{Call, SyntaxFile};

/// Vector cores of the machine, asked from the platform.
const PLATFORM: &str = "\"tiling/platform/platform_ascendc.h\"";
/// Where `std::min` is declared.
const ALGORITHM: &str = "<algorithm>";
/// Words that tie the cores of a launch together, tell what they are, or let the order of writes decide.
const TOGETHER: &[&str] = &[
    "SyncAll",
    "IBSet",
    "IBWait",
    "NotifyNextBlock",
    "WaitPreBlock",
    "InitDetermineComputeWorkspace",
    "CrossCoreSetFlag",
    "CrossCoreWaitFlag",
    "GetSubBlockIdx",
    "GetSubBlockNum",
    "GetTaskRation",
    "KERNEL_TYPE_AIC_ONLY",
    "KERNEL_TYPE_MIX_AIC_1_1",
    "KERNEL_TYPE_MIX_AIC_1_2",
    "KERNEL_TYPE_MIX_AIV_1_0",
    "KERNEL_TYPE_MIX_AIV_HARD_SYNC",
    "KERNEL_TYPE_MIX_AIC_HARD_SYNC",
    "Mmad",
    "Matmul",
    "MatmulImpl",
    "REGIST_MATMUL_OBJ",
    "SetAtomicAdd",
    "SetAtomicMax",
    "SetAtomicMin",
    "SetAtomicType",
];

/// The argument of `SetBlockDim`.
fn asked<'a>(launch: &Launch<'a>) -> &'a str {
    launch.set.arguments.first().map_or("", |argument| launch.file.slice(argument))
}

/// Launches of one core as candidates for all of them.
pub(crate) fn of_one_core<'a>(
    context: &'a Context,
    note: &str,
    dealt: impl Fn(&Launch<'a>) -> Result<Vec<Edit>, String>,
) -> Vec<Candidate> {
    let found = all_launches(context).into_iter().filter(|launch| is_of_one_core(context, launch));
    found
        .map(|launch| {
            Candidate::new(launch.file, &launch.set.span, note, dealt(&launch))
                .on_condition("rounds are independent of each other")
                .on_condition("the elements of the first input, or of the first output where nothing asks for that, tell how much work there is")
        })
        .collect()
}

/// Launches of all cores, as [`to_all_cores`] makes them, as candidates for one.
pub(crate) fn of_all_cores<'a>(
    context: &'a Context,
    elements_per_core: u32,
    gathered: impl Fn(&Launch<'a>) -> Result<Vec<Edit>, String>,
) -> Vec<Candidate> {
    let found = all_launches(context).into_iter().filter(|launch| is_of_all_cores(launch, elements_per_core));
    found
        .map(|launch| Candidate::new(launch.file, &launch.set.span, "one core does all rounds", gathered(&launch)))
        .collect()
}

/// Whether one core does all the work.
fn is_of_one_core(context: &Context, launch: &Launch<'_>) -> bool {
    let blocks = asked(launch);
    let known = &context.facts.known;
    // A variable that is never set again.
    let local = launch.locals().find(|local| local.name == blocks).and_then(|local| local.value.clone());
    let set = || changes(launch.file, &launch.function.body).into_iter().filter(|change| change.name == blocks).count();
    known.value(blocks) == Some(1)
        || local.is_some_and(|value| known.value(launch.file.slice(&value)) == Some(1) && set() == 1)
}

/// Whether an expression for the number of blocks is 1 or less: the number, the lesser of two numbers of which it is one, or a variable that
/// is never anything else.
fn is_of_one_at_most(context: &Context, launch: &Launch<'_>, text: &str, depth: usize) -> bool {
    let text = text.trim();
    let own = |part: &str| depth < 6 && is_of_one_at_most(context, launch, part, depth + 1);
    if context.facts.known.value(text) == Some(1) {
        return true;
    }
    if let Some((asked, (then, otherwise))) =
        text.split_once('?').and_then(|(asked, arms)| Some((asked, arms.split_once(':')?)))
    {
        let lesser = asked.trim().trim_start_matches('(').trim_end_matches(')').split_once('<');
        let same = |left: &str, right: &str| left.trim() == right.trim();
        return lesser.is_some_and(|(left, right)| same(left, then) && same(right, otherwise)) && own(otherwise);
    }
    for name in ["std::min(", "std::min<uint32_t>(", "std::min<int>(", "std::min<int64_t>("] {
        if let Some((left, right)) =
            text.strip_prefix(name).and_then(|rest| rest.strip_suffix(')')).and_then(|both| both.split_once(','))
        {
            return own(left) || own(right);
        }
    }
    let mut locals = launch.locals().filter(|local| local.name == text);
    let (Some(local), None) = (locals.next(), locals.next()) else { return false };
    let set = changes(launch.file, &launch.function.body).into_iter().filter(|change| change.name == text).count();
    local.value.as_ref().is_some_and(|value| set == 1 && own(launch.file.slice(value)))
}

/// Whether the launch is what [`to_all_cores`] makes of one.
fn is_of_all_cores(launch: &Launch<'_>, elements_per_core: u32) -> bool {
    blocks_of(launch, elements_per_core).is_ok_and(|blocks| asked(launch).contains(&blocks))
}

/// As many blocks as there are cores, or as the first input is worth.
pub(crate) fn blocks_of(launch: &Launch<'_>, elements_per_core: u32) -> Result<String, String> {
    Ok(cap_of(&launch.question()?, &launch.work(elements_per_core)?))
}

/// Edits that set the number of blocks to an expression that the launching function has from byte `from` on, with lines before it: where
/// the number was set, or else right behind what the expression needs.
pub(crate) fn set_blocks(launch: &Launch<'_>, blocks: &str, from: usize, mut lines: Vec<String>) -> Option<Vec<Edit>> {
    let file = launch.file;
    let statement = launch.set.statement.clone()?;
    let indentation = file.indentation(statement.start);
    let indented =
        |lines: &[String]| lines.iter().map(|line| format!("{indentation}{line}\n")).collect::<Vec<_>>().concat();
    if from <= statement.start {
        block_of(file, &statement)?;
        let start = file.whole_lines(&statement)?.start;
        let argument = launch.set.arguments.first()?.clone();
        return Some(vec![edit(file, start..start, indented(&lines)), edit(file, argument, blocks)]);
    }
    if block_of(file, &statement).as_ref() != Some(&launch.function.body) {
        return None;
    }
    // Who sets it later sets it again: a launch that ends before has one core.
    let object = launch.set.object.as_deref()?;
    let rest = &file.text()[from..];
    let end = from + rest.find('\n').filter(|end| rest[..*end].trim().is_empty())? + 1;
    lines.push(format!("{object}->SetBlockDim({blocks});"));
    Some(vec![edit(file, end..end, indented(&lines))])
}

/// The edit that launches one block where all were.
pub(crate) fn to_one_core(launch: &Launch<'_>) -> Result<Edit, String> {
    let argument = launch.set.arguments.first().ok_or("SetBlockDim without a number")?;
    Ok(edit(launch.file, argument.clone(), "1"))
}

/// Edits that launch all vector cores for what one did, no more than one for so many elements of the first input, and that leave a core
/// which asks who it is with the answers that it had.
///
/// # Errors
/// Why more cores would mean something else.
pub(crate) fn to_all_cores(
    context: &Context,
    launch: &Launch<'_>,
    elements_per_core: u32,
) -> Result<Vec<Edit>, String> {
    let hosts = || context.forest.iter().filter(|file| source::facts::is_host(file.name()));
    let set: usize = hosts().map(|file| file.calls_named("SetBlockDim").count()).sum();
    let all = all_launches(context);
    let own = |other: &Launch<'_>| other.file.name() == launch.file.name() && other.set.span == launch.set.span;
    // What is dealt is right for one core too.
    if all.len() != set || !all.iter().all(|other| own(other) || is_of_one_at_most(context, other, asked(other), 0)) {
        return Err(format!("the block dimension is set at {set} places"));
    }
    // A variable that nobody looks at again is no question.
    for (file, call) in hosts().flat_map(|file| file.calls_named("GetBlockDim").map(move |call| (file, call))) {
        let unused = file.locals().iter().any(|local| {
            local.value.as_ref() == Some(&call.span)
                && file.enclosing_function(call.span.start).is_some_and(|function| {
                    words(file.slice(&function.body)).into_iter().filter(|word| **word == *local.name).count() == 1
                })
        });
        if !unused {
            return Err(format!("{}:{} asks for the block dimension", file.name(), file.line(call.span.start)));
        }
    }
    let Some(argument) = launch.set.arguments.first() else { return Err("SetBlockDim without a number".to_owned()) };
    let mut edits = vec![edit(launch.file, argument.clone(), blocks_of(launch, elements_per_core)?)];
    edits.extend(included(launch.file, PLATFORM)?);
    edits.extend(included(launch.file, ALGORITHM)?);
    for file in device_files(context) {
        if let Some(word) = words(file.text()).into_iter().find(|word| TOGETHER.contains(word)) {
            return Err(format!("{}: {word} ties cores together", file.name()));
        }
    }
    // What is asked where no edit can be made keeps its answer.
    let asks = |text: &str| words(text).iter().any(|word| matches!(*word, "GetBlockIdx" | "GetBlockNum"));
    if let Some((file, _)) = context.beside.iter().find(|(_, text)| asks(text)) {
        return Err(format!("{file}, which nobody edits, asks which core it is"));
    }
    if let Some((name, _)) = context.facts.macros.iter().find(|(_, bodies)| bodies.iter().any(|body| asks(body))) {
        return Err(format!("the macro {name} asks which core it is"));
    }
    edits.extend(device_files(context).flat_map(own_answers));
    Ok(edits)
}

/// Questions of a core which one it is, and how many there are, with the answers that they had: they dealt nothing.
fn own_answers(file: &SyntaxFile) -> Vec<Edit> {
    let calls = file.calls().iter().filter(|call| call.object.is_none() && call.arguments.is_empty());
    let in_assertion = |call: &Call| {
        let mut around =
            file.calls().iter().filter(|outer| outer.span.contains(&call.span.start) && outer.span != call.span);
        around.any(|outer| outer.name.eq_ignore_ascii_case("assert"))
    };
    let answers = calls.filter(|call| !in_assertion(call)).filter_map(|call| match call.name.as_str() {
        "GetBlockIdx" => Some(match nothing_added(file, call) {
            Some(term) => edit(file, term, ""),
            None => edit(file, call.span.clone(), "0"),
        }),
        "GetBlockNum" => Some(edit(file, call.span.clone(), "1")),
        _ => None,
    });
    answers.collect()
}

/// ` + n * GetBlockIdx()`, which adds nothing for the first core, as bytes.
fn nothing_added(file: &SyntaxFile, call: &Call) -> Option<Range<usize>> {
    let mut node = file.node_at(&call.span)?;
    while node.byte_range() != call.span || node.kind() != "call_expression" {
        node = node.parent()?;
    }
    let is = |node: &tree_sitter::Node<'_>, sign: &str| {
        node.child_by_field_name("operator").is_some_and(|found| found.kind() == sign)
    };
    let product = node.parent().filter(|parent| is(parent, "*"))?;
    let sum = product.parent().filter(|parent| is(parent, "+"))?;
    let (left, right) = (sum.child_by_field_name("left")?, sum.child_by_field_name("right")?);
    (right == product).then(|| left.end_byte()..product.end_byte())
}
