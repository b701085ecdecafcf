//! V27: a buffer is not filled before a copy comes into it, where nothing that the copy leaves out reaches a result.

use crate::analysis::code::{block_of, functions, scope, words};
use crate::analysis::copies::without_size;
use crate::analysis::pipe_order::ordered_without;
use crate::rewrite::edits::{deleted, insert_after};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::is_copy;
use source::facts::{Kernel, Origin, TensorFacts};
use source::parse::{Call, Function, SyntaxFile};

/// The motif.
pub struct SkipFill;

const METADATA: Metadata = Metadata {
    id: Id::V27,
    title: "no fill before a copy comes in",
    family: Family::Vector,
    precondition: "Duplicate on a tensor just allocated from a queue, then copies into it in the same function and nothing else. A full barrier directly behind \
     the fill goes with it where queues order the rest",
    left_to_verifier: "elements that no copy overwrites never reach a result: the verifier runs with other bytes there",
    relieves: &[Counter::VecUs, Counter::StallUs],
    prior_gain: 1.1,
    cost: "nothing",
    tunables: "none",
    undoing: "fill with zero before the copy, and a barrier",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for SkipFill {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for call in file.calls_in(function.body.clone()).filter(|call| call.name == "Duplicate") {
                let name = file.argument(call, 0).map(str::trim).unwrap_or_default();
                let Some(Origin::Alloc(queue)) = tensors.tensors.get(name).map(|tensor| &tensor.origin) else {
                    continue;
                };
                if !kernel.queues.get(queue).is_some_and(|queue| queue.position.contains("VECIN")) {
                    continue;
                }
                let edits = unfilled(context, file, kernel, &tensors, call, name);
                let candidate = Candidate::new(file, &call.span, format!("do not fill {name}"), edits);
                found.push(candidate.on_condition(format!("what the copies leave of {name} reaches no result")));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for (name, tensor) in &tensors.tensors {
                let Origin::Alloc(queue) = &tensor.origin else { continue };
                let Some(first) = tensors.uses_of(name).next().filter(|first| copies_in(file, first.call)) else {
                    continue;
                };
                let (Some(init), Some(call)) = (kernel.init_of(queue), first.call.and_then(|at| file.calls().get(at)))
                else {
                    continue;
                };
                let edits = filled(file, function, name, &tensor.element, &init.size, &tensor.declaration);
                found.push(Candidate::new(file, &call.span, format!("fill {name} first"), edits));
            }
        }
        found
    }
}

/// Whether a call copies into its first operand.
fn copies_in(file: &SyntaxFile, call: Option<usize>) -> bool {
    call.and_then(|index| file.calls().get(index)).is_some_and(|call| is_copy(&call.name) && call.object.is_none())
}

fn unfilled(
    context: &Context,
    file: &SyntaxFile,
    kernel: &Kernel,
    tensors: &TensorFacts,
    call: &Call,
    name: &str,
) -> Result<Vec<Edit>, String> {
    let statement = call.statement.as_ref().ok_or("the fill is not a statement of its own")?;
    block_of(file, statement).ok_or("the fill is the only statement of an if or a loop")?;
    let others: Vec<_> = tensors.uses_of(name).filter(|used| !statement.contains(&used.span.start)).collect();
    if others.iter().any(|used| used.span.start < statement.start) {
        return Err(format!("{name} is used before it is filled"));
    }
    let copied = |used: &&&source::facts::TensorUse| copies_in(file, used.call) && used.argument == Some(0);
    let copies = others.iter().filter(copied).count();
    let released = |used: &&&source::facts::TensorUse| used.access == source::facts::api::Access::Release;
    if copies == 0 || copies + others.iter().filter(released).count() != others.len() {
        return Err(format!("{name} is not only copied into after it is filled"));
    }
    let mut edits = vec![deleted(file, statement)];
    // The barrier that made the copy wait for the fill.
    let barrier = file.calls().iter().find(|next| {
        next.name == "PipeBarrier"
            && next.template_arguments.as_deref() == Some("PIPE_ALL")
            && next.statement.as_ref().is_some_and(|next| {
                next.start >= statement.end && file.slice(&(statement.end..next.start)).trim().is_empty()
            })
    });
    if let Some(barrier) = barrier
        && let Some(line) = &barrier.statement
        && ordered_without(context, kernel, file, &[call.span.clone(), barrier.span.clone()]).is_ok()
    {
        edits.push(deleted(file, line));
    }
    Ok(edits)
}

fn filled(
    file: &SyntaxFile,
    function: &Function,
    name: &str,
    element: &str,
    size: &str,
    declaration: &std::ops::Range<usize>,
) -> Result<Vec<Edit>, String> {
    let count =
        without_size(size, element).ok_or(format!("the buffer's size {size} is not count * sizeof({element})"))?;
    // The size is written where the buffer is made: only members and constants mean the same here.
    let local = words(&count).into_iter().find(|word| {
        let parameter = |function: &Function| function.parameters.iter().any(|parameter| parameter.name == *word);
        let declared =
            |local: &source::parse::Local| local.name == *word && file.enclosing_function(local.span.start).is_some();
        parameter(function) || file.functions().iter().any(parameter) || file.locals().iter().any(declared)
    });
    if let Some(local) = local {
        return Err(format!("{local} in the buffer's size is not a member or a constant"));
    }
    let prefix = scope(file);
    let lines = [
        format!("{prefix}Duplicate({name}, static_cast<{element}>(0), {count});"),
        format!("{prefix}PipeBarrier<PIPE_ALL>();"),
    ];
    insert_after(file, declaration, &lines)
        .map(|edit| vec![edit])
        .ok_or_else(|| "the declaration shares its line".to_owned())
}
