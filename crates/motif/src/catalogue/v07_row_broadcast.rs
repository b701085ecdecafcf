//! V07: a loop over rows with an operand that all rows share becomes calls with a repeat per row, that operand standing still.

use crate::analysis::code::{functions, is_name};
use crate::analysis::linear::bound;
use crate::analysis::machine::{BLOCK_BYTES, REPEAT_BYTES, REPEAT_MAX};
use crate::analysis::rows::{Operand, RowCall, RowLoop, apart, at_least_one, row_loops, vector_rows};
use crate::rewrite::broadcast_rows::broadcast_by_row;
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Shape, vector_shape};
use source::facts::{KnownValues, TensorFacts};

/// The motif.
pub struct RowBroadcast;

const METADATA: Metadata = Metadata {
    id: Id::V07,
    title: "loop over rows with a shared operand to repeats with stride 0",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 with binary calls in count form; one source is the same tensor in every row, the other operands are \
     t[start + row * width]; the width is known, whole blocks, at most one repeat or a multiple of it, at most 255 blocks; tensors in different \
     memory or the same at the same place",
    left_to_verifier: "number of rows from 1 to 255; tensors of unknown origin do not overlap",
    relieves: &[Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.3,
    cost: "at most 255 rows; the width is fixed in the strides",
    tunables: "closes rows a tile beyond 255",
    undoing: "a call for each row",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for RowBroadcast {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let known = &context.facts.known;
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for rows in row_loops(file, function) {
                let Some((calls, rows)) = vector_rows(rows, &tensors) else { continue };
                let shared = |call: &RowCall<'_>| {
                    vector_shape(&call.call.name) == Some(Shape::Binary)
                        && call.operands.iter().skip(1).filter(|operand| matches!(operand, Operand::Same(_))).count()
                            == 1
                        && matches!(call.operands[0], Operand::Row(..))
                };
                if !calls.iter().all(shared) {
                    continue;
                }
                let judged = repeated(known, &rows, &calls, &tensors);
                let note = format!("a repeat for each of {} rows", rows.rows);
                let conditions = judged.as_ref().map(|(_, conditions)| conditions.clone()).unwrap_or_default();
                let mut candidate = Candidate::new(file, &rows.span(), note, judged.map(|(edits, _)| edits));
                candidate.site.conditions = conditions;
                if !at_least_one(known, &rows.rows) {
                    candidate = candidate.on_condition(format!("{} is 1 to {REPEAT_MAX}", rows.rows));
                }
                found.push(candidate);
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in file.calls_in(function.body.clone()) {
                let Some(text) = broadcast_by_row(file, call, &tensors, &context.facts.known) else { continue };
                let Some(statement) = &call.statement else { continue };
                let edits = Ok(vec![edit(file, statement.clone(), text)]);
                found.push(Candidate::new(file, statement, "a call for each row", edits));
            }
        }
        found
    }
}

fn repeated(
    known: &KnownValues,
    rows: &RowLoop<'_>,
    calls: &[RowCall<'_>],
    tensors: &TensorFacts,
) -> Result<(Vec<Edit>, Vec<String>), String> {
    rows.replaceable()?;
    if let Some(count) = known.value(&rows.rows).filter(|count| *count > REPEAT_MAX) {
        return Err(format!("{count} rows are more than {REPEAT_MAX} repeats"));
    }
    let conditions = apart(tensors, calls)?;
    let lines: Result<Vec<String>, String> = calls.iter().map(|call| line(known, rows, call, tensors)).collect();
    Ok((vec![edit(rows.file, rows.span(), rows.replaced(&lines?))], conditions))
}

fn line(known: &KnownValues, rows: &RowLoop<'_>, call: &RowCall<'_>, tensors: &TensorFacts) -> Result<String, String> {
    call.packed()?;
    let element = tensors.tensors.get(call.operands[0].tensor()).map_or("", |tensor| tensor.element.as_str());
    let bytes = known.type_bytes(element).ok_or_else(|| format!("the size of {element} is not known"))?;
    let width = known.value(call.width).ok_or_else(|| format!("the width {} is not known", call.width))?;
    let row_bytes = width.saturating_mul(bytes);
    if row_bytes <= 0 || row_bytes % BLOCK_BYTES != 0 || row_bytes / BLOCK_BYTES > REPEAT_MAX {
        return Err(format!("rows of {row_bytes} bytes are not 1 to {REPEAT_MAX} blocks of {BLOCK_BYTES}"));
    }
    if row_bytes > REPEAT_BYTES && row_bytes % REPEAT_BYTES != 0 {
        return Err(format!("rows of {row_bytes} bytes are not whole repeats of {REPEAT_BYTES}"));
    }
    let stride = row_bytes / BLOCK_BYTES;
    let strides: Vec<String> = call
        .operands
        .iter()
        .map(|operand| if matches!(operand, Operand::Same(_)) { "0".to_owned() } else { stride.to_string() })
        .collect();
    let repeats = if is_name(&rows.rows) && rows.rows.bytes().all(|byte| byte.is_ascii_digit()) {
        rows.rows.clone()
    } else {
        format!("static_cast<uint8_t>({})", rows.rows)
    };
    let callee = rows.file.slice(&call.call.callee);
    let tail = format!("{repeats}, {{1, 1, 1, {}}});", strides.join(", "));
    let firsts: Vec<String> = call.operands.iter().map(Operand::first).collect();
    if row_bytes <= REPEAT_BYTES {
        return Ok(format!("{callee}({}, {}, {tail}", firsts.join(", "), call.width));
    }
    let step = REPEAT_BYTES / bytes;
    let operands: Vec<String> = call
        .operands
        .iter()
        .map(|operand| match operand {
            Operand::Row(name, stepped) if !stepped.start.is_empty() => format!("{name}[{} + column]", stepped.start),
            operand => format!("{}[column]", operand.tensor()),
        })
        .collect();
    let indentation = rows.file.indentation(rows.span().start);
    Ok(format!(
        "for (uint32_t column = 0; column < {}; column += {step}) {{\n{indentation}    {callee}({}, {step}, {tail}\n{indentation}}}",
        bound(call.width),
        operands.join(", ")
    ))
}
