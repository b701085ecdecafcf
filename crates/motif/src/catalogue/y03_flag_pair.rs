//! Y03: where only one pipe has to wait for one other, a flag instead of a barrier that stops all of them.

use std::ops::Range;

use crate::analysis::code::{block_of, scope, words};
use crate::analysis::pipe_order::{PipeEdge, edges};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::Kernel;
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct FlagPair;

const METADATA: Metadata = Metadata {
    id: Id::Y03,
    title: "full barrier to a flag of one pair of pipes",
    family: Family::Synchronisation,
    precondition: "as Y01, but the barrier alone orders accesses in its block; all of them go from the same pipe to the same other pipe. The flag is set and awaited \
     at once, so that it balances on every path",
    left_to_verifier: "no other hazard that the barrier covered (hazard check)",
    relieves: &[Counter::StallUs],
    prior_gain: 1.08,
    cost: "an event id for the moment",
    tunables: "none",
    undoing: "full barrier",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for FlagPair {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in context.forest.iter() {
            for call in
                file.calls_named("PipeBarrier").filter(|call| call.template_arguments.as_deref() == Some("PIPE_ALL"))
            {
                let Some(kernel) = context.facts.kernel_at(file, call.span.start) else { continue };
                let Ok(needed) = needed(context, kernel, file, call) else { continue };
                let Some(first) = needed.first() else { continue };
                let note = format!("flag {}_{} instead of the barrier", first.pipes.0, first.pipes.1);
                let candidate = Candidate::new(file, &call.span, note, flagged(file, call, &needed));
                found.push(
                    candidate.on_condition("the hazard check finds no race: destinations of copies do not overlap"),
                );
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in context.forest.iter() {
            for wait in file.calls_named("WaitFlag") {
                let Some(edits) = barrier(file, wait) else { continue };
                found.push(Candidate::new(file, &wait.span, "full barrier instead of the flag", Ok(edits)));
            }
        }
        found
    }
}

/// Edges that the barrier alone orders.
fn needed(context: &Context, kernel: &Kernel, file: &SyntaxFile, call: &Call) -> Result<Vec<PipeEdge>, String> {
    Ok(edges(context, kernel, file, &[])?.into_iter().filter(|edge| edge.rests_on(file, call)).collect())
}

/// Name of the variable that holds the event's id.
fn variable(pipes: (&str, &str)) -> String {
    let title = |pipe: &str| format!("{}{}", &pipe[..1], pipe[1..].to_lowercase());
    format!("event{}To{}", title(pipes.0), title(pipes.1))
}

fn flagged(file: &SyntaxFile, call: &Call, needed: &[PipeEdge]) -> Result<Vec<Edit>, String> {
    let pipes = needed[0].pipes;
    if let Some(other) = needed.iter().find(|edge| edge.pipes != pipes) {
        return Err(format!("the barrier also orders {}", other.explain(file)));
    }
    let statement = call.statement.clone().ok_or("the barrier is not a statement of its own")?;
    block_of(file, &statement).ok_or("the barrier is the only statement of an if or a loop")?;
    let lines = file.whole_lines(&statement).ok_or("the barrier shares its line")?;
    let name = variable(pipes);
    let function = file.enclosing_function(call.span.start).ok_or("the barrier is not in a function")?;
    if words(file.slice(&function.span)).contains(&name.as_str()) {
        return Err(format!("{name} is taken"));
    }
    Ok(vec![edit(file, lines, lines_of(file, statement.start, pipes))])
}

fn lines_of(file: &SyntaxFile, at: usize, pipes: (&str, &str)) -> String {
    let (scope, name) = (scope(file), variable(pipes));
    let event = format!("{scope}HardEvent::{}_{}", pipes.0, pipes.1);
    let indentation = file.indentation(at);
    format!(
        "{indentation}const {scope}TEventID {name} = {scope}GetTPipePtr()->FetchEventID({event});\n\
         {indentation}{scope}SetFlag<{event}>({name});\n\
         {indentation}{scope}WaitFlag<{event}>({name});\n"
    )
}

/// The three lines of a flag that is awaited where it is set become a barrier.
fn barrier(file: &SyntaxFile, wait: &Call) -> Option<Vec<Edit>> {
    let event = wait.template_arguments.as_deref()?.rsplit("::").next()?;
    let (from, to) = event.split_once('_')?;
    let statement = wait.statement.clone()?;
    let end = file.whole_lines(&statement)?.end;
    let text = lines_of(file, statement.start, (from, to));
    let span: Range<usize> = end.checked_sub(text.len())?..end;
    if file.slice(&span) != text {
        return None;
    }
    let function = file.enclosing_function(span.start)?;
    let name = variable((from, to));
    if words(file.slice(&function.span)).iter().filter(|word| **word == name).count() != 3 {
        return None;
    }
    let line = format!("{}{}PipeBarrier<PIPE_ALL>();\n", file.indentation(statement.start), scope(file));
    Some(vec![edit(file, span, line)])
}
