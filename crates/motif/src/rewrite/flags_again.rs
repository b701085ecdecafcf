//! A queue between copies in and copies out as a buffer, with flags that are set and awaited at once.

use crate::analysis::code::{block_of, scope};
use crate::analysis::queue_uses::{QueueCall, calls_on, name_span, single_buffer};
use crate::context::Context;
use crate::rewrite::edits::edit;
use crate::rewrite::members::{retyped, unnumbered};
use source::Edit;
use source::facts::Kernel;
use source::parse::SyntaxFile;

/// Edits that make a buffer of a bound queue, each of whose tensors keeps one name in one block.
pub(crate) fn as_buffer_with_flags(context: &Context, kernel: &Kernel, name: &str) -> Result<Vec<Edit>, String> {
    let init = single_buffer(context, kernel, name)?;
    let bound = kernel.queues.values().filter(|queue| queue.position == "VECIN,VECOUT").count();
    let flags = ["SetFlag", "WaitFlag", "set_flag", "wait_flag"];
    let by_hand = kernel.calls(&context.forest).any(|(_, _, call)| {
        let event = call.template_arguments.as_deref().unwrap_or("MTE");
        flags.contains(&call.name.as_str()) && !event.ends_with("MTE2_V") && !event.ends_with("V_MTE3")
    });
    if bound > 1 || by_hand {
        return Err("other flags of these pipes may have the id".to_owned());
    }
    let queue = &kernel.queues[name];
    let header = context.forest.get(&queue.declaration.file).ok_or("the class is not parsed")?;
    let buffer = retyped(header, &queue.declaration, name, |scope, of| format!("{scope}TBuf<{of}::VECCALC>"))?;
    let mut edits = vec![buffer, unnumbered(context, init)?];
    let calls = calls_on(context, kernel, name)?;
    if calls.is_empty() || calls.len() % 4 != 0 {
        return Err(format!("{name} is not used in turns"));
    }
    for turn in calls.chunks(4) {
        edits.extend(turn_with_flags(turn)?);
    }
    Ok(edits)
}

/// The four calls of one turn in one block: taken into a variable, handed over and taken again by the same name, given back.
fn turn_with_flags(turn: &[QueueCall<'_>]) -> Result<Vec<Edit>, String> {
    let [alloc, enque, deque, free] = turn else { return Err("a turn is not understood".to_owned()) };
    let file = alloc.file;
    let line = file.line(alloc.call.span.start);
    let names = [alloc, enque, deque, free].map(|used| used.call.name.as_str());
    if names != ["AllocTensor", "EnQue", "DeQue", "FreeTensor"]
        || turn.iter().any(|used| used.file.name() != file.name())
    {
        return Err(format!("line {line}: the calls are not those of one turn"));
    }
    let unclear = |what: &str| format!("line {line}: {what}");
    let local = file.locals().iter().find(|local| local.value.as_ref() == Some(&alloc.call.span));
    let local = local.ok_or_else(|| unclear("no tensor is declared"))?;
    let (handed, given) = (enque.call.statement.clone(), free.call.statement.clone());
    let (Some(handed), Some(given)) = (handed, given) else { return Err(unclear("a call is no statement")) };
    let taken = assignment(file, deque, &local.name).ok_or_else(|| unclear("the tensor gets another name"))?;
    let behind = file.text()[handed.end..taken.start].trim().is_empty();
    let block = block_of(file, &local.span);
    let in_block = [&handed, &taken, &given].iter().all(|statement| block_of(file, statement) == block);
    if !behind || !in_block || block.is_none() {
        return Err(unclear("the turn is not in one block"));
    }
    let scope = scope(file);
    let call = |name: &str, event: &str| format!("{scope}{name}<{scope}HardEvent::{event}>(EVENT_ID0);");
    let pair = |event: &str| [call("SetFlag", event), call("WaitFlag", event)];
    let [set, wait] = pair("MTE2_MTE3");
    let [set_again, wait_again] = pair("MTE3_MTE2");
    let name = name_span(file, alloc.call).ok_or_else(|| unclear("the call is not understood"))?;
    Ok(vec![
        edit(file, name, "Get"),
        edit(file, handed, set),
        edit(file, taken, wait),
        edit(file, given.clone(), format!("{set_again}\n{}{wait_again}", file.indentation(given.start))),
    ])
}

/// `tensor = queue.DeQue<T>();` with the name.
fn assignment(file: &SyntaxFile, deque: &QueueCall<'_>, name: &str) -> Option<std::ops::Range<usize>> {
    let mut node = file.node_at(&deque.call.span)?;
    while node.kind() != "expression_statement" {
        node = node.parent().filter(|parent| parent.kind() != "compound_statement")?;
    }
    let (left, right) = file.slice(&node.byte_range()).split_once('=')?;
    let whole = right.trim().trim_end_matches(';').trim_end() == file.slice(&deque.call.span);
    (left.trim() == name && whole).then(|| node.byte_range())
}
