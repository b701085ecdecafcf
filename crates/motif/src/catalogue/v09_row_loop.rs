//! V09: a loop of short calls over rows that lie behind each other becomes one call over all of them.

use crate::analysis::code::{functions, vector_calls};
use crate::analysis::linear::bound;
use crate::analysis::machine::BLOCK_BYTES;
use crate::analysis::rows::{Operand, RowCall, RowLoop, apart, at_least_one, factors, product, row_loops};
use crate::rewrite::broadcast_rows::broadcast_by_row;
use crate::rewrite::edits::edit;
use crate::rewrite::row_fission::{Fission, row_by_row};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::TensorFacts;

/// The motif.
pub struct JoinedRows;

const METADATA: Metadata = Metadata {
    id: Id::V09,
    title: "loop of calls over rows to one call",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 with nothing but vector calls in count form; every operand is t[start + row * width] with the count as width; \
     scalars the same in every row; tensors in different memory, or the same tensor at the same place. Where rows have gaps between them or share operands, each \
     call gets a repeat for every row: rows of one repeat or a multiple of it, pitches of whole blocks, at most 255; a temporary of a row gets a place for each row",
    left_to_verifier: "at least one row; tensors of unknown origin do not overlap; lengths and pitches where they are not known",
    relieves: &[Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.3,
    cost: "nothing, or a temporary's bytes for every row",
    tunables: "none",
    undoing: "a loop around a call whose count is a product",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for JoinedRows {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for rows in row_loops(file, function) {
                let Ok(rows) = rows else { continue };
                let fission = Fission { context, kernel, file, function, tensors: &tensors, rows: &rows };
                let Some(calls) = fission.calls() else { continue };
                // A loop without any operand that steps is another matter.
                let steps = |operand: &Operand| matches!(operand, Operand::Row(..));
                if !calls.iter().any(|call| call.operands.iter().any(steps)) {
                    continue;
                }
                let judged = joined(&rows, &calls, &tensors);
                // Rows with gaps between them, and several calls of which some have an operand that all rows share.
                if judged.is_err() && (calls.len() > 1 || gaps(&calls)) {
                    let judged = fission.taken_apart(&calls);
                    let note = format!("each call for all {} rows", rows.rows);
                    let conditions = judged.as_ref().map(|(_, conditions)| conditions.clone()).unwrap_or_default();
                    let mut candidate = Candidate::new(file, &rows.span(), note, judged.map(|(edits, _)| edits));
                    candidate.site.conditions = conditions;
                    found.push(candidate);
                    continue;
                }
                let note = format!("one call for all {} rows", rows.rows);
                let conditions = judged.as_ref().map(|(_, conditions)| conditions.clone()).unwrap_or_default();
                let mut candidate = Candidate::new(file, &rows.span(), note, judged.map(|(edits, _)| edits));
                candidate.site.conditions = conditions;
                if !at_least_one(&context.facts.known, &rows.rows) {
                    candidate = candidate.on_condition(format!("{} is at least 1", rows.rows));
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
                let known = &context.facts.known;
                if broadcast_by_row(file, call, &tensors, known).is_some() {
                    continue;
                }
                let Some(text) = row_by_row(file, call, &tensors, known) else { continue };
                let Some(statement) = &call.statement else { continue };
                let edits = Ok(vec![edit(file, statement.clone(), text)]);
                found.push(Candidate::new(file, statement, "row by row, a call for each repeat", edits));
            }
            for call in vector_calls(file, function, &tensors) {
                // Numbers in equal steps would start anew in every row.
                let Some((rows, width)) = factors(call.count).filter(|_| call.name != "CreateVecIndex") else {
                    continue;
                };
                let mut arguments: Vec<String> = std::iter::once(&call.destination)
                    .chain(&call.sources)
                    .map(|operand| format!("{operand}[row * {width}]"))
                    .collect();
                arguments.extend(call.scalar.map(str::to_owned));
                let (rows, indentation) = (bound(rows), file.indentation(call.statement.start));
                let text = format!(
                    "for (uint32_t row = 0; row < {rows}; row++) {{\n{indentation}    {}({}, {width});\n{indentation}}}",
                    file.slice(&call.call.callee),
                    arguments.join(", ")
                );
                let bytes = tensors
                    .tensors
                    .get(call.destination)
                    .and_then(|tensor| context.facts.known.type_bytes(&tensor.element));
                let whole = bytes.is_some_and(|bytes| {
                    let divisor = context.facts.known.divisor(width).saturating_mul(bytes);
                    divisor != 0 && divisor % BLOCK_BYTES == 0
                });
                let note = format!("row by row, {rows} times {width}");
                let edits = Ok(vec![edit(file, call.statement.clone(), text)]);
                let mut candidate = Candidate::new(file, &call.statement, note, edits);
                if !whole {
                    candidate = candidate.on_condition(format!("{width} elements are a multiple of 32 bytes"));
                }
                found.push(candidate);
            }
        }
        found
    }
}

/// Whether rows of some operand do not lie close together.
fn gaps(calls: &[RowCall<'_>]) -> bool {
    calls.iter().any(|call| call.packed().is_err())
}

fn joined(
    rows: &RowLoop<'_>,
    calls: &[RowCall<'_>],
    tensors: &TensorFacts,
) -> Result<(Vec<Edit>, Vec<String>), String> {
    rows.replaceable()?;
    if rows.calls.len() != calls.len() {
        return Err("barriers stand between the calls".to_owned());
    }
    for call in calls {
        call.packed()?;
        let same = call.operands.iter().find(|operand| matches!(operand, Operand::Same(_)));
        if let Some(same) = same {
            return Err(format!("{} is the same in every row", same.tensor()));
        }
    }
    let conditions = apart(tensors, calls)?;
    let lines: Vec<String> = calls
        .iter()
        .map(|call| {
            let mut arguments: Vec<String> = call.operands.iter().map(Operand::first).collect();
            arguments.extend(call.middle.iter().map(|text| (*text).to_owned()));
            arguments.push(product(&rows.rows, call.width));
            format!("{}({});", rows.file.slice(&call.call.callee), arguments.join(", "))
        })
        .collect();
    Ok((vec![edit(rows.file, rows.span(), rows.replaced(&lines))], conditions))
}
