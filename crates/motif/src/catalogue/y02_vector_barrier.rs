//! Y02: a barrier between vector instructions, which the compiler inserts by itself.

use crate::analysis::code::{Surroundings, vector_calls};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Spot, Way};
use crate::{Company, Counter, Family, Id, Metadata};

/// The motif.
pub const VECTOR_BARRIER: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[BARRIER]) };

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

const BARRIER: Exchange = Exchange {
    slow: Form::Anywhere("@PipeBarrier<PIPE_V>();"),
    fast: Form::Behind(instructions),
    make: Way::new("drop the vector barrier", &[Guard::Holds(tensor_style), Guard::Holds(no_registers)])
        .on_conditions(|_| vec!["the project does not switch automatic synchronisation off".to_owned()]),
    unmake: Some(Way::new("vector barrier after this instruction", &[])),
};

/// Calls of the pointer style, for which the compiler inserts nothing.
const POINTER_STYLE: &[&str] =
    &["pipe_barrier", "set_flag", "wait_flag", "set_vector_mask", "vadd", "vmul", "copy_gm_to_ubuf", "asc_copy_gm2ub"];
/// Words of vector functions on registers.
const REGISTERS: &[&str] = &["__simd_vf__", "MicroAPI::", "__VEC_SCOPE__"];

fn instructions(around: &Surroundings<'_>) -> Vec<Spot> {
    let calls = vector_calls(around.file, around.function, around.tensors).into_iter();
    calls.map(|call| Spot::new(around.file, &call.statement, &[]).shown(&call.call.span)).collect()
}

fn tensor_style(place: &FoundForm<'_>) -> Result<(), String> {
    let file = place.around.file;
    let mut calls = file.calls().iter().filter(|call| call.object.is_none());
    match calls.find(|call| POINTER_STYLE.contains(&call.name.as_str())) {
        Some(call) => Err(format!(
            "{} at line {} is pointer style: the compiler inserts nothing there",
            call.name,
            file.line(call.span.start)
        )),
        None => Ok(()),
    }
}

fn no_registers(place: &FoundForm<'_>) -> Result<(), String> {
    if REGISTERS.iter().any(|word| place.around.file.text().contains(word)) {
        return Err("the file has register-level vector functions with their own ordering".to_owned());
    }
    Ok(())
}
