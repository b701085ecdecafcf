//! D15: a vector instruction is not done whose result is overwritten before anybody reads it.

use crate::analysis::code::{Surroundings, block_of, functions, vector_calls};
use crate::analysis::flow::liveness::dead_after;
use crate::rewrite::edits::{deleted, edit};
use crate::rewrite::pairs::renamed;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::facts::api::overwrites_first;

/// The motif.
pub struct DeadWrite;

const METADATA: Metadata = Metadata {
    id: Id::D15,
    title: "no write that nobody reads",
    family: Family::Vector,
    precondition: "the next use of the destination in the same block overwrites all of it without reading it, or the tensor is scratch and nobody uses it any more",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "fill before a tensor is overwritten",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for DeadWrite {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for call in vector_calls(file, function, &tensors).iter().filter(|call| overwrites_first(call.name)) {
                // Most instructions have readers: that is no refusal.
                if dead_after(&around, call.destination, &call.statement, call.count).is_err()
                    || block_of(file, &call.statement).is_none()
                {
                    continue;
                }
                let edits = Ok(vec![deleted(file, &call.statement)]);
                let note = format!("nobody reads {} before it is written again", call.destination);
                found.push(Candidate::new(file, &call.call.span, note, edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors).iter().filter(|call| overwrites_first(call.name)) {
                let Some(tensor) =
                    tensors.tensors.get(call.destination).filter(|_| !call.sources.contains(&call.destination))
                else {
                    continue;
                };
                let apart = call.sources.iter().all(|source| tensors.disjoint(source, call.destination));
                let Some(lines) = file.whole_lines(&call.statement).filter(|_| apart) else { continue };
                let line = format!(
                    "{}{}({}, static_cast<{}>(0), {});\n",
                    file.indentation(call.statement.start),
                    renamed(file, call, "Duplicate"),
                    call.destination,
                    tensor.element,
                    call.count
                );
                let edits = Ok(vec![edit(file, lines.start..lines.start, line)]);
                found.push(Candidate::new(file, &call.call.span, format!("fill {} first", call.destination), edits));
            }
        }
        found
    }
}
