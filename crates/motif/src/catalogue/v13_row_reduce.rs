//! V13: a loop that reduces one short row a round becomes one instruction with a repeat per row.

use crate::analysis::code::{functions, is_float, squash, unused_scratch, written_scope};
use crate::analysis::linear::bound;
use crate::analysis::machine::{BLOCK_BYTES, REPEAT_BYTES, REPEAT_MAX};
use crate::analysis::rows::{Operand, RowLoop, at_least_one, row_loops};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{KnownValues, TensorFacts};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct RowReduce;

const METADATA: Metadata = Metadata {
    id: Id::V13,
    title: "loop of reductions of short rows to one WholeReduce",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 around ReduceX(dst[row * pitch], src[row * n], work, n) without index, half or float; n known, whole blocks, within \
     one repeat; at most 255 rows; dst, src and work in different memory",
    left_to_verifier: "number of rows from 1 to 255",
    relieves: &[Counter::StallUs, Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.5,
    cost: "at most 255 rows; the work tensor is no longer written",
    tunables: "closes rows a tile beyond 255",
    undoing: "a reduction for each row, with an unused scratch tensor",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for RowReduce {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let known = &context.facts.known;
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for rows in row_loops(file, function) {
                let Ok(rows) = rows else { continue };
                let [call] = rows.calls[..] else { continue };
                let Some(kind) = call.name.strip_prefix("Reduce").filter(|kind| matches!(*kind, "Max" | "Min" | "Sum"))
                else {
                    continue;
                };
                let edits = repeated(known, &rows, call, kind, &tensors);
                let note = format!("one {} for {} rows", call.name, rows.rows);
                let mut candidate = Candidate::new(file, &rows.span(), note, edits);
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
                let Some(kind) = call.name.strip_prefix("WholeReduce") else { continue };
                let Some(statement) = call.statement.clone() else { continue };
                for (work, text) in row_by_row(file, call, kind, &tensors, &context.facts.known).unwrap_or_default() {
                    let note = format!("a reduction for each row with {work}");
                    found.push(Candidate::new(file, &statement, note, Ok(vec![edit(file, statement.clone(), text)])));
                }
            }
        }
        found
    }
}

fn repeated(
    known: &KnownValues,
    rows: &RowLoop<'_>,
    call: &Call,
    kind: &str,
    tensors: &TensorFacts,
) -> Result<Vec<Edit>, String> {
    rows.replaceable()?;
    if call.arguments.len() != 4 || call.object.is_some() || call.template_arguments.is_some() {
        return Err("not the form with an element count and no index".to_owned());
    }
    let argument = |index: usize| rows.file.argument(call, index).unwrap_or_default().trim();
    let (target, source) = (rows.operand(argument(0))?, rows.operand(argument(1))?);
    let work = rows.operand(argument(2))?;
    let (Operand::Row(target_name, to), Operand::Row(source_name, from)) = (&target, &source) else {
        return Err("the result or the source is the same in every row".to_owned());
    };
    for (left, right) in
        [(target_name.as_str(), source_name.as_str()), (target_name, work.tensor()), (source_name, work.tensor())]
    {
        if !tensors.disjoint(left, right) {
            return Err(format!("{left} and {right} may share memory"));
        }
    }
    // Whatever the routine leaves in the work tensor is gone.
    let read = |used: &&source::facts::TensorUse| {
        !rows.repetition.span.contains(&used.span.start) && used.access != source::facts::api::Access::None
    };
    let as_work = |used: &source::facts::TensorUse| {
        let call = used.call.and_then(|index| rows.file.calls().get(index));
        used.argument == Some(2) && call.is_some_and(|call| call.name.starts_with("Reduce"))
    };
    if let Some(used) = tensors.uses_of(work.tensor()).filter(read).find(|used| !as_work(used)) {
        return Err(format!(
            "{} is used for something else at line {}",
            work.tensor(),
            rows.file.line(used.span.start)
        ));
    }
    let element = tensors.tensors.get(target_name).map_or("", |tensor| tensor.element.as_str());
    if is_float(element) != Some(true) {
        return Err(format!("{target_name} holds {element}, not half or float"));
    }
    let count = argument(3);
    if squash(&from.pitch) != squash(count) {
        return Err(format!("rows of {source_name} are {} apart, not {count}", from.pitch));
    }
    let bytes = known.type_bytes(element).ok_or_else(|| format!("the size of {element} is not known"))?;
    let width = known.value(count).ok_or_else(|| format!("the width {count} is not known"))?;
    let row_bytes = width.saturating_mul(bytes);
    if row_bytes <= 0 || row_bytes % BLOCK_BYTES != 0 || row_bytes > REPEAT_BYTES {
        return Err(format!("rows of {row_bytes} bytes are not whole blocks within one repeat of {REPEAT_BYTES}"));
    }
    if let Some(value) = known.value(&rows.rows).filter(|value| !(1..=REPEAT_MAX).contains(value)) {
        return Err(format!("{value} rows are not 1 to {REPEAT_MAX} repeats"));
    }
    let prefix = written_scope(rows.file, call);
    let order = if kind == "Sum" { String::new() } else { format!(", {prefix}ReduceOrder::ORDER_ONLY_VALUE") };
    let text = format!(
        "{prefix}WholeReduce{kind}({}, {}, {count}, {}, {}, 1, {}{order});",
        target.first(),
        source.first(),
        rows.rows,
        to.pitch,
        row_bytes / BLOCK_BYTES
    );
    Ok(vec![edit(rows.file, rows.span(), text)])
}

/// The loop for a WholeReduce as this motif writes it, with every unused scratch tensor.
fn row_by_row(
    file: &SyntaxFile,
    call: &Call,
    kind: &str,
    tensors: &TensorFacts,
    known: &KnownValues,
) -> Option<Vec<(String, String)>> {
    let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
    let wanted = if kind == "Sum" { 7 } else { 8 };
    let (target, source, width, rows, pitch) = (argument(0), argument(1), argument(2), argument(3), argument(4));
    let element = tensors.tensors.get(target)?.element.as_str();
    let stride = known.value(width)?.checked_mul(known.type_bytes(element)?)? / BLOCK_BYTES;
    let value_only = wanted == 7 || argument(7).ends_with("ORDER_ONLY_VALUE");
    if call.arguments.len() != wanted
        || !value_only
        || argument(5) != "1"
        || argument(6) != stride.to_string()
        || !tensors.tensors.contains_key(source)
    {
        return None;
    }
    let prefix = written_scope(file, call);
    let indentation = file.indentation(call.span.start);
    let rows = bound(rows);
    let scratches = unused_scratch(tensors, element).into_iter();
    let text = |work: &str| {
        format!(
            "for (uint32_t row = 0; row < {rows}; row++) {{\n{indentation}    {prefix}Reduce{kind}({target}[row * {pitch}], {source}[row * {width}], {work}, {width});\n{indentation}}}"
        )
    };
    Some(scratches.map(|work| (work.to_owned(), text(work))).collect())
}
