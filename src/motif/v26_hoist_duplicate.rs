//! V26: a tensor filled with the same value in every round is filled once before the loop.

use super::code::{block_of, edit, functions, invariant, loops_around, vector_calls};
use super::context::{Candidate, Context, Counter, Family, Motif};
use crate::source::Edit;
use crate::source::facts::api::Access;
use crate::source::facts::{Origin, TensorFacts};
use crate::source::parse::{Function, Loop, SyntaxFile};

use super::code::VectorCall;

/// The motif.
pub struct HoistDuplicate;

impl Motif for HoistDuplicate {
    fn id(&self) -> &'static str {
        "V26"
    }
    fn title(&self) -> &'static str {
        "hoist a constant Duplicate out of its loop"
    }
    fn family(&self) -> Family {
        Family::Vector
    }
    fn precondition(&self) -> &'static str {
        "Duplicate(t, s, n) directly in the loop's body, t a TBuf tensor declared before the loop and written nowhere else in the function, s and n \
         the same in every round, no read of t before it"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn undoing(&self) -> &'static str {
        "into the loop"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::VecUs]
    }
    fn prior_gain(&self) -> f64 {
        1.03
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors).iter().filter(|call| call.name == "Duplicate") {
                let Some(repetition) = loops_around(file, function, call.statement.start).first().copied() else {
                    continue;
                };
                if repetition.body.contains(&tensors.tensors[call.destination].declaration.start) {
                    continue;
                }
                let edits = hoisted(file, function, &tensors, call, repetition);
                found.push(Candidate::new(
                    file,
                    &call.call.span,
                    format!("fill {} before the loop", call.destination),
                    edits,
                ));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors).iter().filter(|call| call.name == "Duplicate") {
                let next = file.loops().iter().find(|repetition| {
                    repetition.span.start >= call.statement.end
                        && file.slice(&(call.statement.end..repetition.span.start)).trim().is_empty()
                });
                let Some(repetition) = next.filter(|repetition| function.body.contains(&repetition.span.start)) else {
                    continue;
                };
                let edits = sunk(file, &tensors, call, repetition);
                found.push(Candidate::new(
                    file,
                    &call.call.span,
                    format!("fill {} in every round", call.destination),
                    edits,
                ));
            }
        }
        found
    }
}

fn only_write(tensors: &TensorFacts, call: &VectorCall<'_>) -> Result<(), String> {
    let name = call.destination;
    if !matches!(tensors.tensors.get(name).map(|tensor| &tensor.origin), Some(Origin::Buffer(_))) {
        return Err(format!("{name} does not come from a TBuf"));
    }
    let other = tensors
        .uses_of(name)
        .find(|used| !call.statement.contains(&used.span.start) && !matches!(used.access, Access::Read | Access::None));
    if other.is_some() {
        return Err(format!("{name} is written elsewhere too"));
    }
    let shared = tensors.tensors.iter().any(|(other, tensor)| {
        other != name
            && (!tensors.disjoint(other, name) || tensor.origin == Origin::Unknown)
            && tensors.uses_of(other).next().is_some()
    });
    if shared { Err(format!("another tensor may share memory with {name}")) } else { Ok(()) }
}

fn hoisted(
    file: &SyntaxFile,
    function: &Function,
    tensors: &TensorFacts,
    call: &VectorCall<'_>,
    repetition: &Loop,
) -> Result<Vec<Edit>, String> {
    only_write(tensors, call)?;
    if block_of(file, &call.statement).as_ref() != Some(&repetition.body) {
        return Err("the fill is conditional".to_owned());
    }
    let whole_loop = file.slice(&repetition.span);
    for expression in [call.scalar.unwrap_or_default(), call.count] {
        let declared_inside = super::code::words(expression).into_iter().find(|word| {
            file.locals().iter().any(|local| local.name == *word && repetition.span.contains(&local.span.start))
        });
        if let Some(word) = declared_inside {
            return Err(format!("{word} is declared in the loop"));
        }
        if !invariant(expression, whole_loop) {
            return Err(format!("{expression} may change from round to round"));
        }
    }
    if let Some(early) = tensors.uses_of(call.destination).find(|used| used.span.start < call.statement.start) {
        return Err(format!(
            "{} is read at line {} before it is filled",
            call.destination,
            file.line(early.span.start)
        ));
    }
    if !loops_around(file, function, repetition.span.start.saturating_sub(1)).is_empty()
        && file.slice(&repetition.span).contains("break")
    {
        return Err("the loop may be left early".to_owned());
    }
    let whole = file.whole_lines(&call.statement).ok_or("the fill shares its line")?;
    let before = file
        .whole_lines(&(repetition.span.start..repetition.span.start + 3))
        .map_or(line_start(file, repetition.span.start), |span| span.start);
    if block_of(file, &repetition.span).is_none() {
        return Err("the loop is the only statement of an if or a loop".to_owned());
    }
    let line = format!("{}{}\n", file.indentation(repetition.span.start), file.slice(&call.statement));
    Ok(vec![edit(file, before..before, line), edit(file, whole, "")])
}

fn sunk(
    file: &SyntaxFile,
    tensors: &TensorFacts,
    call: &VectorCall<'_>,
    repetition: &Loop,
) -> Result<Vec<Edit>, String> {
    only_write(tensors, call)?;
    let read_elsewhere = tensors
        .uses_of(call.destination)
        .any(|used| !call.statement.contains(&used.span.start) && !repetition.body.contains(&used.span.start));
    if read_elsewhere {
        return Err(format!("{} is read outside the loop", call.destination));
    }
    let body = file.slice(&repetition.body);
    if !body.starts_with("{\n") {
        return Err("the loop's body does not start on a line of its own".to_owned());
    }
    for expression in [call.scalar.unwrap_or_default(), call.count] {
        if !invariant(expression, file.slice(&repetition.span)) {
            return Err(format!("{expression} may change from round to round"));
        }
    }
    let whole = file.whole_lines(&call.statement).ok_or("the fill shares its line")?;
    let inside = repetition.body.start + 2;
    let rest = &body[2..];
    let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    let line = format!("{indentation}{}\n", file.slice(&call.statement));
    Ok(vec![edit(file, whole, ""), edit(file, inside..inside, line)])
}

fn line_start(file: &SyntaxFile, byte: usize) -> usize {
    file.text()[..byte].rfind('\n').map_or(0, |end| end + 1)
}
