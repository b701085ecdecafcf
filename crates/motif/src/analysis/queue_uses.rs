//! Every place that touches a queue or buffer of a kernel class.

use crate::analysis::code::words;
use crate::context::Context;
use source::facts::{InitBuffer, Kernel, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile};

/// A call on a queue: `queue.EnQue(t)`.
pub(crate) struct QueueCall<'a> {
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    pub(crate) call: &'a Call,
}

/// All calls on a queue or buffer in text order, if nothing else but its `InitBuffer` and its declaration mentions it.
pub(crate) fn calls_on<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    queue: &str,
) -> Result<Vec<QueueCall<'a>>, String> {
    if kernel.has_base() {
        return Err(format!("{} has a base class that may use {queue}", kernel.name));
    }
    let mut found = Vec::new();
    for (name, index) in &kernel.functions {
        let Some(file) = context.forest.get(name) else { continue };
        let Some(function) = file.functions().get(*index) else { continue };
        let body = file.slice(&function.body);
        let mentions = pieces(body)
            .into_iter()
            .filter(|token| match token.kind {
                PieceKind::Word => &body[token.span.clone()] == queue,
                PieceKind::Directive => words(body[token.span.clone()].trim_start_matches('#')).contains(&queue),
                _ => false,
            })
            .count();
        let before = found.len();
        let mut inits = 0;
        for call in file.calls_in(function.body.clone()) {
            if call.object.as_deref().map(|object| object.trim_start_matches("this->")) == Some(queue) {
                found.push(QueueCall { file, function, call });
            } else if call.name == "InitBuffer" && file.argument(call, 0).map(base_name) == Some(queue) {
                inits += 1;
            }
        }
        if mentions != found.len() - before + inits {
            return Err(format!("{queue} is handed on in {}", function.name));
        }
    }
    Ok(found)
}

/// The one `InitBuffer` of a queue, and whether it makes one buffer.
pub(crate) fn single_buffer<'a>(context: &Context, kernel: &'a Kernel, queue: &str) -> Result<&'a InitBuffer, String> {
    let init = kernel.init_of(queue).ok_or_else(|| format!("{queue} is not initialised at exactly one place"))?;
    let number = init.number.as_ref().ok_or_else(|| format!("{queue} has no number of buffers"))?;
    let text = context.forest.get(&number.file).map(|file| file.slice(&number.span())).unwrap_or_default();
    match context.facts.known.value(text) {
        Some(1) => Ok(init),
        _ => Err(format!("{queue} has {text} buffers")),
    }
}

/// The call's name as a span, without object and template arguments.
pub(crate) fn name_span(file: &SyntaxFile, call: &Call) -> Option<std::ops::Range<usize>> {
    let callee = file.slice(&call.callee);
    let plain = callee.split('<').next().unwrap_or(callee).trim_end();
    let start = plain.len().checked_sub(call.name.len()).filter(|start| plain[*start..] == *call.name)?;
    Some(call.callee.start + start..call.callee.start + plain.len())
}
