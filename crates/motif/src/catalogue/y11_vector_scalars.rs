//! Y11: numbers of rows stay in the vector unit: rows are combined with blocks of them instead of with what the scalar unit fetched.

use crate::analysis::code::{functions, squash, words, written_scope};
use crate::analysis::linear::bound;
use crate::analysis::machine::BLOCK_BYTES;
use crate::analysis::rows::RowLoop;
use crate::rewrite::buffers::removed;
use crate::rewrite::edits::edit;
use crate::rewrite::row_fission::Fission;
use crate::rewrite::row_scalars::{RowScalars, SPREAD};
use crate::rewrite::template::{Found, find};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Shape, vector_shape};
use source::facts::{Kernel, KnownValues, TensorFacts, base_name};
use source::parse::{Call, Function, SyntaxFile};

/// The motif.
pub struct VectorScalars;

const METADATA: Metadata = Metadata {
    id: Id::Y11,
    title: "numbers of rows stay in the vector unit",
    family: Family::Synchronisation,
    precondition: "a loop from 0 in steps of 1 over rows that lie close together: vector instructions in count form, reductions of floats to the first element of a temporary, scalar work \
     on such elements and on elements at the counter, and instructions that take the number, or a row filled with it, as an operand; the width is known, \
     whole blocks of one repeat or whole repeats; temporaries are the loop's own and overwritten in each row before they are read; a number is not used by the scalar unit again later in the row",
    left_to_verifier: "fits the unified buffer; number of rows from 1 to 255; tensors of unknown origin do not overlap",
    relieves: &[Counter::StallUs, Counter::ScalarUs, Counter::VecUs],
    prior_gain: 2.0,
    cost: "a block for each row, and a temporary's bytes for every row; at most 255 rows",
    tunables: "opens V01 and V20 for what the scalar unit still does, a loop of its own; takes bytes of the unified buffer",
    undoing: "a number fetched for each row",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for VectorScalars {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for repetition in file.loops().iter().filter(|around| function.body.contains(&around.span.start)) {
                let Some(rows) = RowLoop::around(file, repetition) else { continue };
                let fission = Fission { context, kernel, file, function, tensors: &tensors, rows: &rows };
                let Some(scalars) = RowScalars::of(&fission) else { continue };
                let judged = scalars.taken_apart();
                let note = format!("all {} rows at once, with blocks of their numbers", rows.rows);
                let conditions = judged.as_ref().map(|taken| taken.conditions.clone()).unwrap_or_default();
                let rounding = judged.as_ref().is_ok_and(|taken| taken.rounding);
                let mut candidate = Candidate::new(file, &rows.span(), note, judged.map(|taken| taken.edits));
                candidate.site.conditions = conditions;
                found.push(candidate.with_rounding(rounding));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let template = format!(
                "@LocalTensor<$$e> $$t = $$b.Get<$$e>(); @Brcb($$t, $$s, static_cast<uint8_t>(($n + {}) / {SPREAD}), {{1, {SPREAD}}});",
                SPREAD - 1
            );
            for place in find(file, &function.body, &template) {
                let after = file.calls().iter().find(|call| call.span.start >= place.span.end);
                let Some(call) = after else { continue };
                let Some((end, text)) = fetched(file, &place, call, function, &tensors, &context.facts.known) else {
                    continue;
                };
                let edits = once(context, kernel, file, &place, end, text);
                let note = format!("fetch a number of {} for each row", place.hole("s"));
                found.push(Candidate::new(file, &place.span, note, edits));
            }
        }
        found
    }
}

fn once(
    context: &Context,
    kernel: &Kernel,
    file: &SyntaxFile,
    place: &Found,
    end: usize,
    text: String,
) -> Result<Vec<Edit>, String> {
    if place.commented {
        return Err("a comment or a directive would be lost".to_owned());
    }
    let mut edits = removed(context, kernel, place.hole("b"), 1)?;
    edits.push(edit(file, place.span.start..end, text));
    Ok(edits)
}

/// The loop over rows for an instruction with blocks as this motif writes it, and where that ends.
fn fetched(
    file: &SyntaxFile,
    place: &Found,
    call: &Call,
    function: &Function,
    tensors: &TensorFacts,
    known: &KnownValues,
) -> Option<(usize, String)> {
    let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
    let name = match (call.name.as_str(), vector_shape(&call.name)?) {
        ("Mul", Shape::Binary) => "Muls",
        ("Add", Shape::Binary) => "Adds",
        ("Max", Shape::Binary) => "Maxs",
        ("Min", Shape::Binary) => "Mins",
        _ => return None,
    };
    let strides = argument(5).strip_prefix("{1, 1, 0, ")?.strip_suffix(", 1}")?;
    let (left, right) = strides.split_once(", ")?;
    let blocks: i64 = left.parse().ok()?;
    let rows = place.hole("n");
    let statement = call.statement.clone()?;
    let element = &tensors.tensors.get(base_name(argument(0)))?.element;
    let repeats = format!("static_cast<uint8_t>({rows})");
    let plain = left == right && argument(2) == place.hole("t") && squash(argument(4)) == squash(&repeats);
    let looped = file.enclosing_loop(statement.start).filter(|around| around.span.start >= place.span.end);
    let (end, width) = match looped {
        None => (statement.end, argument(3)),
        Some(around) => (around.span.end, file.slice(around.condition.as_ref()?).trim().strip_prefix("column < ")?),
    };
    // The blocks serve this instruction alone.
    let others = words(file.slice(&function.body)).into_iter().filter(|word| *word == place.hole("t")).count();
    if !plain || known.value(width)?.checked_mul(known.type_bytes(element)?)? != blocks * BLOCK_BYTES || others != 3 {
        return None;
    }
    let indentation = file.indentation(place.span.start);
    let operand = |index: usize| {
        let text = argument(index);
        match text.split_once('[') {
            None => Some(format!("{text}[row * {width}]")),
            Some((name, "column]")) => Some(format!("{name}[row * {width}]")),
            Some(_) => None,
        }
    };
    let (rows, prefix) = (bound(rows), written_scope(file, call));
    let text = format!(
        "for (uint32_t row = 0; row < {rows}; row++) {{\n{indentation}    {element} number = {}.GetValue(row);\n{indentation}    {prefix}{name}({}, {}, number, {width});\n{indentation}}}",
        place.hole("s"),
        operand(0)?,
        operand(1)?
    );
    Some((end, text))
}
