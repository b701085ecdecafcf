//! V20: a scalar loop that chooses the larger, the smaller or the absolute value by a branch becomes vector calls.

use super::choices::NAN_CONDITION;
use super::code::{Surroundings, edit, functions, vector_calls, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::linear::grouped;
use super::v01_scalar_loop::scalar_loops;

/// The motif.
pub struct Branchless;

impl Motif for Branchless {
    fn id(&self) -> &'static str {
        "V20"
    }
    fn title(&self) -> &'static str {
        "branches over elements to maxima and minima"
    }
    fn family(&self) -> Family {
        Family::Vector
    }
    fn precondition(&self) -> &'static str {
        "a loop as V01 takes it, with ?: or if besides: each chooses between the two values that its condition compares, or between a value and its \
         negation by its sign"
    }
    fn cost(&self) -> &'static str {
        "a temporary per live intermediate that does not fit the destination"
    }
    fn left_to_verifier(&self) -> &'static str {
        "NaN; count at least 1; shared operands start at the same element"
    }
    fn undoing(&self) -> &'static str {
        "scalar loop with ?: for Maxs, Mins, Max and Min of floats"
    }
    fn tunables(&self) -> &'static str {
        "new temporaries take bytes of the unified buffer"
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        8.0
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
