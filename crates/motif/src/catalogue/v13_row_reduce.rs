//! V13: a loop that reduces one short row a round becomes one instruction with a repeat per row.

use crate::analysis::code::{Surroundings, is_float, squash, unused_scratch, written_scope};
use crate::analysis::linear::bound;
use crate::analysis::machine::{BLOCK_BYTES, REPEAT_BYTES, REPEAT_MAX};
use crate::analysis::rows::{Operand, RowLoop, at_least_one, row_loops};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Spot, Way};
use crate::{Company, Counter, Family, Id, Metadata};
use source::Edit;
use source::facts::TensorUse;
use source::facts::api::Access;
use source::parse::Call;

/// The motif.
pub const ROW_REDUCE: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[REDUCTIONS]) };

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

const REDUCTIONS: Exchange = Exchange {
    slow: Form::Asked(
        reductions,
        "for (uint32_t row = 0; row < $r; row++) {
    @Reduce$k($y[row * $p], $x[row * $c], $w, $c);
}",
    ),
    fast: Form::Code("@WholeReduce$k{Max|Min|Sum}($$y, $$x, $c, $r, $p, 1, $s$o{, @ReduceOrder::ORDER_ONLY_VALUE|});"),
    make: Way::new("one Reduce$k for $r rows", &[]).with(repeated).on_conditions(|place| {
        let (known, rows) = (&place.around.context.facts.known, place.hole("r"));
        if at_least_one(known, rows) { Vec::new() } else { vec![format!("{rows} is 1 to {REPEAT_MAX}")] }
    }),
    unmake: Some(Way::new("a reduction for each row with $w", &[]).choosing(|place| {
        let ours = row_blocks(place).is_some_and(|blocks| blocks.to_string() == place.hole("s"));
        let order = (place.hole("k") == "Sum") == place.hole("o").is_empty();
        if !ours || !order || !place.around.tensors.tensors.contains_key(place.hole("x")) {
            return Vec::new();
        }
        let rows = bound(place.hole("r"));
        let scratches = unused_scratch(place.around.tensors, place.element("y")).into_iter();
        scratches.map(|work| vec![("w", work.to_owned()), ("r", rows.clone())]).collect()
    })),
};

/// Loops over rows around one reduction.
fn reductions(around: &Surroundings<'_>) -> Vec<Spot> {
    let mut found = Vec::new();
    for rows in row_loops(around.file, around.function).into_iter().flatten() {
        let [call] = rows.calls[..] else { continue };
        let kind = call.name.strip_prefix("Reduce").filter(|kind| matches!(*kind, "Max" | "Min" | "Sum"));
        if let Some(kind) = kind {
            let spot = Spot::new(around.file, &rows.span(), &[("k", kind), ("r", &rows.rows)]);
            found.push(spot.scoped(written_scope(around.file, call)));
        }
    }
    found
}

/// Blocks of 32 bytes in a row, where its width is known.
fn row_blocks(place: &FoundForm<'_>) -> Option<i64> {
    let known = &place.around.context.facts.known;
    known.value(place.hole("c"))?.checked_mul(known.type_bytes(place.element("y"))?).map(|bytes| bytes / BLOCK_BYTES)
}

/// The operands of one instruction over all rows.
fn repeated(place: &mut FoundForm<'_>) -> Result<Vec<Edit>, String> {
    let Surroundings { context, file, function, tensors, .. } = place.around;
    let known = &context.facts.known;
    let here = |rows: &RowLoop<'_>| rows.span() == *place.span();
    let rows = row_loops(file, function).into_iter().flatten().find(here).ok_or("the loop is not understood")?;
    rows.replaceable()?;
    let [call] = rows.calls[..] else { return Err("the loop holds more than one call".to_owned()) };
    if call.arguments.len() != 4 || call.object.is_some() || call.template_arguments.is_some() {
        return Err("not the form with an element count and no index".to_owned());
    }
    let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
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
    only_work(place, work.tensor())?;
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
    let order = if place.hole("k") == "Sum" { "" } else { ", @ReduceOrder::ORDER_ONLY_VALUE" };
    let holes = [
        ("o", order.replace('@', place.scope())),
        ("y", target.first()),
        ("x", source.first()),
        ("c", count.to_owned()),
        ("p", to.pitch.clone()),
        ("s", (row_bytes / BLOCK_BYTES).to_string()),
    ];
    holes.into_iter().for_each(|(hole, text)| place.fill(hole, text));
    Ok(Vec::new())
}

/// Proves that nobody wants what the routine leaves in the work tensor, which is gone.
fn only_work(place: &FoundForm<'_>, work: &str) -> Result<(), String> {
    let (file, span) = (place.around.file, place.span());
    let read = |used: &&TensorUse| !span.contains(&used.span.start) && used.access != Access::None;
    let as_work = |used: &TensorUse| {
        let reduces = |call: &Call| call.name.starts_with("Reduce");
        used.argument == Some(2) && used.call.and_then(|index| file.calls().get(index)).is_some_and(reduces)
    };
    match place.around.tensors.uses_of(work).filter(read).find(|used| !as_work(used)) {
        Some(used) => Err(format!("{work} is used for something else at line {}", file.line(used.span.start))),
        None => Ok(()),
    }
}
