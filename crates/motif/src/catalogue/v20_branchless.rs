//! V20: a scalar loop that chooses the larger, the smaller or the absolute value by a branch becomes vector calls.

use crate::analysis::code::{Surroundings, functions, vector_calls, words};
use crate::analysis::linear::grouped;
use crate::rewrite::edits::edit;
use crate::rewrite::scalar_loops::scalar_loops;
use crate::rewrite::vectorise::choices::NAN_CONDITION;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};

/// The motif.
pub struct Branchless;

const METADATA: Metadata = Metadata {
    id: Id::V20,
    title: "branches over elements to maxima and minima",
    family: Family::Vector,
    precondition: "a loop as V01 takes it, with ?: or if besides: each chooses between the two values that its condition compares, or between a value and its \
     negation by its sign",
    left_to_verifier: "NaN; count at least 1; shared operands start at the same element",
    relieves: &[Counter::ScalarUs],
    prior_gain: 8.0,
    cost: "a temporary per live intermediate that does not fit the destination",
    tunables: "new temporaries take bytes of the unified buffer",
    undoing: "scalar loop with ?: for Maxs, Mins, Max and Min of floats",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for Branchless {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        scalar_loops(context, true)
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let mentions = words(file.slice(&function.span));
            let Some(counter) = ["i", "j", "k", "element"].into_iter().find(|name| !mentions.contains(name)) else {
                continue;
            };
            for call in vector_calls(file, function, &tensors) {
                let operator = match call.name {
                    "Max" | "Maxs" => ">",
                    "Min" | "Mins" => "<",
                    _ => continue,
                };
                let float = |name: &&str| tensors.tensors.get(*name).is_some_and(|tensor| tensor.element == "float");
                let read = |name: &str| format!("{name}.GetValue({counter})");
                let left = read(call.sources[0]);
                let right = call.sources.get(1).map(|source| read(source)).or_else(|| call.scalar.map(grouped));
                let (Some(right), true) = (right, call.sources.iter().all(float) && float(&call.destination)) else {
                    continue;
                };
                let indentation = file.indentation(call.statement.start);
                let text = format!(
                    "for (uint32_t {counter} = 0; {counter} < {}; {counter}++) {{\n{indentation}    {}.SetValue({counter}, {left} {operator} {right} ? {left} : {right});\n{indentation}}}",
                    grouped(call.count),
                    call.destination
                );
                let place = Surroundings { context, file, function, kernel, tensors: &tensors };
                let edits = match call.scalar.and_then(|scalar| place.other_in_rounds(scalar)) {
                    Some(reason) => Err(reason),
                    None => Ok(vec![edit(file, call.statement.clone(), text)]),
                };
                let note = format!("scalar loop for {}", call.name);
                found.push(Candidate::new(file, &call.call.span, note, edits).on_condition(NAN_CONDITION));
            }
        }
        found
    }
}
