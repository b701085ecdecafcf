//! V01: a scalar loop over the elements of local tensors becomes vector calls, and one that fills global memory copies of a tile.

use std::collections::BTreeSet;

use crate::analysis::code::{Surroundings, functions, vector_calls, words};
use crate::analysis::linear::grouped;
use crate::rewrite::edits::edit;
use crate::rewrite::global_fill::global_fills;
use crate::rewrite::scalar_loops::scalar_loops;
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};

/// The motif.
pub struct ScalarLoop;

const METADATA: Metadata = Metadata {
    id: Id::V01,
    title: "scalar element loop to vector instructions",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 that reads and writes local tensors at its counter only, with + - * / max min, abs, exp, sqrt, negation and casts \
     between half and float; constants do not change; no tensor that a copy fills without a queue. The order of operations is kept. \
     Or a loop that runs once and gives the elements of a global tensor, from the first on, one value, before any other scalar access to that tensor",
    left_to_verifier: "count at least 1; shared operands start at the same element; NaN in max and min; the unified buffer has room for a tile to fill with",
    relieves: &[Counter::ScalarUs],
    prior_gain: 8.0,
    cost: "a temporary per live intermediate that does not fit the destination",
    tunables: "new temporaries take bytes of the unified buffer",
    undoing: "scalar loop (float; half for two tensors); a filled tile stays",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[
            Combination { rank: 10, motifs: &[Id::V01, Id::V06] },
            Combination { rank: 11, motifs: &[Id::V01, Id::Y01, Id::Y02] },
        ],
        ..Company::ANY
    },
};

impl Motif for ScalarLoop {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = global_fills(context);
        found.extend(scalar_loops(context, false));
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let operator = match call.name {
                    "Add" | "Adds" => "+",
                    "Sub" => "-",
                    "Mul" | "Muls" => "*",
                    "Div" => "/",
                    _ => continue,
                };
                let mentions: BTreeSet<&str> = words(file.slice(&function.span)).into_iter().collect();
                let Some(counter) = ["i", "j", "k", "element"].into_iter().find(|name| !mentions.contains(name)) else {
                    continue;
                };
                let all_of = |element: &str| {
                    let is_of = |name: &str| tensors.tensors.get(name).is_some_and(|tensor| tensor.element == element);
                    std::iter::once(call.destination).chain(call.sources.iter().copied()).all(is_of)
                };
                let half = all_of("half") && call.scalar.is_none();
                let read = |tensor: &str| {
                    if half {
                        format!("static_cast<float>({tensor}.GetValue({counter}))")
                    } else {
                        format!("{tensor}.GetValue({counter})")
                    }
                };
                let right = call
                    .sources
                    .get(1)
                    .map(|source| read(source))
                    .or_else(|| call.scalar.map(grouped))
                    .unwrap_or_default();
                let indentation = file.indentation(call.statement.start);
                let value = format!("{} {operator} {right}", read(call.sources[0]));
                let value = if half { format!("static_cast<half>({value})") } else { value };
                let (count, destination) = (grouped(call.count), call.destination);
                let text = format!(
                    "for (uint32_t {counter} = 0; {counter} < {count}; {counter}++) {{\n{indentation}    {destination}.SetValue({counter}, {value});\n{indentation}}}"
                );
                let place = Surroundings { context, file, function, kernel, tensors: &tensors };
                let edits = if let Some(reason) = call.scalar.and_then(|scalar| place.other_in_rounds(scalar)) {
                    Err(reason)
                } else if half || all_of("float") {
                    Ok(vec![edit(file, call.statement.clone(), text)])
                } else {
                    Err("only float, and half without constants, keep their rounding in a scalar loop for certain"
                        .to_owned())
                };
                found.push(Candidate::new(file, &call.call.span, format!("scalar loop for {}", call.name), edits));
            }
        }
        found
    }
}
