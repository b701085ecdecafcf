//! V27: a buffer is not filled before a copy comes into it, where nothing that the copy leaves out reaches a result.

use crate::analysis::code::{Surroundings, words};
use crate::analysis::copies::without_size;
use crate::analysis::pipe_order::ordered_without;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::edits::deleted;
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Spot, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::Edit;
use source::facts::api::{Access, is_copy};
use source::facts::{Origin, TensorUse};
use source::parse::{Call, Function, Local, SyntaxFile};

/// The motif.
pub const SKIP_FILL: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[FILL]) };

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

const FILL: Exchange = Exchange {
    slow: Form::Asked(filled, "@Duplicate($t, static_cast<$e>(0), $n);\n@PipeBarrier<PIPE_ALL>();"),
    fast: Form::Behind(copied_into),
    make: Way::new("do not fill $t", &[Guard::Holds(only_copied_into)])
        .with(barrier_behind)
        .on_conditions(|place| vec![format!("what the copies leave of {} reaches no result", place.hole("t"))]),
    unmake: Some(Way::new("fill $t first", &[Guard::Holds(whole_size)]).with(|place| {
        let count = without_size(place.hole("size"), place.hole("e")).unwrap_or_default();
        place.fill("n", count);
        Ok(Vec::new())
    })),
};

/// Fills of tensors just allocated for a copy.
fn filled(around: &Surroundings<'_>) -> Vec<Spot> {
    let Surroundings { file, function, kernel, tensors, .. } = *around;
    let mut found = Vec::new();
    for call in file.calls_in(function.body.clone()).filter(|call| call.name == "Duplicate") {
        let name = file.argument(call, 0).map(str::trim).unwrap_or_default();
        let Some(Origin::Alloc(queue)) = tensors.tensors.get(name).map(|tensor| &tensor.origin) else { continue };
        if kernel.queues.get(queue).is_some_and(|queue| queue.position.contains("VECIN")) {
            let statement = call.statement.as_ref().unwrap_or(&call.span);
            found.push(Spot::new(file, statement, &[("t", name)]).shown(&call.span));
        }
    }
    found
}

/// Declarations of tensors into which the first use copies.
fn copied_into(around: &Surroundings<'_>) -> Vec<Spot> {
    let Surroundings { file, kernel, tensors, .. } = *around;
    let mut found = Vec::new();
    for (name, tensor) in &tensors.tensors {
        let Origin::Alloc(queue) = &tensor.origin else { continue };
        let first = tensors.uses_of(name).next().and_then(|first| copy_of(file, first));
        let (Some(init), Some(call)) = (kernel.init_of(queue), first) else { continue };
        let holes = [("t", name.as_str()), ("e", tensor.element.as_str()), ("size", init.size.as_str())];
        found.push(Spot::new(file, &tensor.declaration, &holes).shown(&call.span));
    }
    found
}

/// The copy that a use is an operand of.
fn copy_of<'a>(file: &'a SyntaxFile, used: &TensorUse) -> Option<&'a Call> {
    used.call.and_then(|index| file.calls().get(index)).filter(|call| is_copy(&call.name) && call.object.is_none())
}

fn only_copied_into(place: &FoundForm<'_>) -> Result<(), String> {
    let (around, name, fill) = (place.around, place.hole("t"), place.span());
    if !around.file.slice(fill).ends_with(';') {
        return Err("the fill is not a statement of its own".to_owned());
    }
    let others: Vec<&TensorUse> =
        around.tensors.uses_of(name).filter(|used| !fill.contains(&used.span.start)).collect();
    if others.iter().any(|used| used.span.start < fill.start) {
        return Err(format!("{name} is used before it is filled"));
    }
    let copied = |used: &TensorUse| copy_of(around.file, used).is_some() && used.argument == Some(0);
    let fits = others.iter().all(|used| copied(used) || used.access == Access::Release);
    if !fits || !others.iter().any(|used| copied(used)) {
        return Err(format!("{name} is not only copied into after it is filled"));
    }
    Ok(())
}

/// The barrier that made the copy wait for the fill goes with it.
fn barrier_behind(place: &mut FoundForm<'_>) -> Result<Vec<Edit>, String> {
    let Surroundings { context, file, kernel, .. } = place.around;
    let (fill, call) = (place.span().clone(), place.call()?);
    let barrier = file.calls().iter().find_map(|next| {
        let line = next.statement.as_ref()?;
        let full = next.name == "PipeBarrier" && next.template_arguments.as_deref() == Some("PIPE_ALL");
        let behind = line.start >= fill.end && file.slice(&(fill.end..line.start)).trim().is_empty();
        (full && behind).then_some((next, line))
    });
    let goes = |next: &Call| ordered_without(context, kernel, file, &[call.span.clone(), next.span.clone()]).is_ok();
    Ok(barrier.filter(|(next, _)| goes(next)).map(|(_, line)| deleted(file, line)).into_iter().collect())
}

fn whole_size(place: &FoundForm<'_>) -> Result<(), String> {
    let (file, size, element) = (place.around.file, place.hole("size"), place.hole("e"));
    let count =
        without_size(size, element).ok_or(format!("the buffer's size {size} is not count * sizeof({element})"))?;
    // The size is written where the buffer is made: only members and constants mean the same here.
    let local = words(&count).into_iter().find(|word| {
        let parameter = |function: &Function| function.parameters.iter().any(|parameter| parameter.name == *word);
        let declared = |local: &Local| local.name == *word && file.enclosing_function(local.span.start).is_some();
        parameter(place.around.function) || file.functions().iter().any(parameter) || file.locals().iter().any(declared)
    });
    if let Some(local) = local {
        return Err(format!("{local} in the buffer's size is not a member or a constant"));
    }
    Ok(())
}
