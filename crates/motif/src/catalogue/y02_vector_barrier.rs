//! Y02: a barrier between vector instructions, which the compiler inserts by itself.

use crate::analysis::code::{block_of, functions, scope, vector_calls};
use crate::rewrite::edits::{deleted, insert_after};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::parse::{Call, SyntaxFile};

/// Calls of the pointer style, for which the compiler inserts nothing.
const POINTER_STYLE: &[&str] =
    &["pipe_barrier", "set_flag", "wait_flag", "set_vector_mask", "vadd", "vmul", "copy_gm_to_ubuf", "asc_copy_gm2ub"];

/// The motif.
pub struct VectorBarrier;

const METADATA: Metadata = Metadata {
    id: Id::Y02,
    title: "remove a redundant PipeBarrier<PIPE_V>",
    family: Family::Synchronisation,
    precondition: "tensor programming (no pointer-style instructions in the file), compiled with automatic synchronisation, which is the default (condition)",
    left_to_verifier: "automatic synchronisation is on",
    relieves: &[Counter::StallUs, Counter::ScalarUs],
    prior_gain: 1.01,
    cost: "nothing",
    tunables: "none",
    undoing: "barrier after a vector call",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for VectorBarrier {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in context.forest.iter() {
            for call in
                file.calls_named("PipeBarrier").filter(|call| call.template_arguments.as_deref() == Some("PIPE_V"))
            {
                let candidate = Candidate::new(file, &call.span, "drop the vector barrier", removal(file, call));
                found.push(candidate.on_condition("the project does not switch automatic synchronisation off"));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let line = format!("{}PipeBarrier<PIPE_V>();", scope(file));
                let edits = insert_after(file, &call.statement, &[line])
                    .map(|edit| vec![edit])
                    .ok_or_else(|| "the statement shares its line".to_owned());
                found.push(Candidate::new(file, &call.call.span, "vector barrier after this instruction", edits));
            }
        }
        found
    }
}

fn removal(file: &SyntaxFile, call: &Call) -> Result<Vec<source::Edit>, String> {
    let statement = call.statement.as_ref().ok_or("the barrier is not a statement of its own")?;
    block_of(file, statement).ok_or("the barrier is the only statement of an if or a loop")?;
    if let Some(pointer) =
        file.calls().iter().find(|call| call.object.is_none() && POINTER_STYLE.contains(&call.name.as_str()))
    {
        return Err(format!(
            "{} at line {} is pointer style: the compiler inserts nothing there",
            pointer.name,
            file.line(pointer.span.start)
        ));
    }
    if file.text().contains("__simd_vf__")
        || file.text().contains("MicroAPI::")
        || file.text().contains("__VEC_SCOPE__")
    {
        return Err("the file has register-level vector functions with their own ordering".to_owned());
    }
    Ok(vec![deleted(file, statement)])
}
