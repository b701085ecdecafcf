//! V12: a reduction of a whole tensor in two instructions, without the scalar unit's part in the general routine.

use std::ops::Range;

use crate::analysis::code::{block_of, functions, squash, written_scope};
use crate::analysis::machine::REPEAT_MAX;
use crate::analysis::reductions::{KINDS, as_operand, form_of, lanes_of, uncast};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{KnownValues, TensorFacts, base_name};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct TwoLevelReduce;

const METADATA: Metadata = Metadata {
    id: Id::V12,
    title: "ReduceMax, ReduceMin or ReduceSum to two WholeReduce instructions",
    family: Family::Vector,
    precondition: "ReduceX(dst, src, work, n), maybe with its type or a trailing false, without index, half or float; n whole repeats and so few that one more repeat covers their results \
     (64 times 64 floats, 128 times 128 half), proved from constants and known values, else a condition",
    left_to_verifier: "whole repeats and within reach, where it is not proved",
    relieves: &[Counter::StallUs, Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.1,
    cost: "lengths that are not whole repeats no longer work; a sum is added up in another order",
    tunables: "closes tile lengths that are not whole repeats",
    undoing: "the general reduction",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for TwoLevelReduce {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in file.calls_in(function.body.clone()) {
                let Some(kind) = call.name.strip_prefix("Reduce").filter(|kind| KINDS.contains(kind)) else { continue };
                let Some(statement) = call.statement.as_ref().filter(|_| call.object.is_none()) else { continue };
                if form_of(file, call, &["float", "half"]).is_none() {
                    continue;
                }
                let Some(count) = file.argument(call, 3) else { continue };
                let judged = lanes_of(file, call, &tensors).and_then(|lanes| {
                    let proved = whole_repeats(&context.facts.known, count, lanes)?;
                    Ok((split(file, call, statement, kind, lanes)?, lanes, proved))
                });
                let condition = judged.as_ref().ok().filter(|(_, _, proved)| !proved).map(|(_, lanes, _)| {
                    format!(
                        "{} is a multiple of {lanes} and at most {} in every case, tails included",
                        count.trim(),
                        limit(*lanes)
                    )
                });
                let note = format!("{} in two steps", call.name);
                let candidate = Candidate::new(file, &call.span, note, judged.map(|(edits, _, _)| edits));
                let candidate = candidate.with_rounding(kind == "Sum");
                found.push(match condition {
                    Some(condition) => candidate.on_condition(condition),
                    None => candidate,
                });
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            let calls: Vec<&Call> =
                file.calls_in(function.body.clone()).filter(|call| call.statement.is_some()).collect();
            for pair in calls.windows(2) {
                // Sums have no such argument; the others may say that they want no index.
                for (flag, note) in
                    [("", "the general reduction"), (", false", "the general reduction, explicitly without index")]
                {
                    let sum = pair[0].name == "WholeReduceSum";
                    if sum && !flag.is_empty() {
                        continue;
                    }
                    let Some((text, span)) = merged(file, pair[0], pair[1], &tensors, flag) else { continue };
                    let candidate = Candidate::new(file, &span, note, Ok(vec![edit(file, span.clone(), text)]));
                    found.push(candidate.with_rounding(sum));
                }
            }
        }
        found
    }
}

/// Elements that two levels reach.
fn limit(lanes: i64) -> i64 {
    lanes * lanes.min(REPEAT_MAX)
}

/// Whether the count is proved to be whole repeats within reach; an error where it is known not to be.
fn whole_repeats(known: &KnownValues, count: &str, lanes: i64) -> Result<bool, String> {
    let count = uncast(count);
    let Some(value) = known.value(count) else { return Ok(false) };
    if value < lanes || value % lanes != 0 || value > limit(lanes) {
        return Err(format!("{value} elements are not whole repeats of {lanes}, or more than {}", limit(lanes)));
    }
    Ok(true)
}

fn split(
    file: &SyntaxFile,
    call: &Call,
    statement: &Range<usize>,
    kind: &str,
    lanes: i64,
) -> Result<Vec<Edit>, String> {
    block_of(file, statement).ok_or("the reduction is the only statement of an if or a loop")?;
    let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
    let (target, source, work, count) = (argument(0), argument(1), argument(2), argument(3));
    if source == work {
        return Err("the source is the work tensor".to_owned());
    }
    let repeats = format!("{} / {lanes}", as_operand(count));
    let prefix = written_scope(file, call);
    let (typed, _) = form_of(file, call, &["float", "half"]).unwrap_or_default();
    let order = if kind == "Sum" { String::new() } else { format!(", {prefix}ReduceOrder::ORDER_ONLY_VALUE") };
    let indentation = file.indentation(statement.start);
    let text = format!(
        "{prefix}WholeReduce{kind}{typed}({work}, {source}, {lanes}, {repeats}, 1, 1, 8{order});\n{indentation}{prefix}WholeReduce{kind}{typed}({target}, {work}, {repeats}, 1, 1, 1, 8{order});"
    );
    Ok(vec![edit(file, statement.clone(), text)])
}

/// The general reduction in place of two levels as this motif writes them.
fn merged(
    file: &SyntaxFile,
    first: &Call,
    second: &Call,
    tensors: &TensorFacts,
    flag: &str,
) -> Option<(String, Range<usize>)> {
    let kind = first.name.strip_prefix("WholeReduce").filter(|kind| KINDS.contains(kind))?;
    let (from, to) = (first.statement.as_ref()?, second.statement.as_ref()?);
    let wanted = if kind == "Sum" { 7 } else { 8 };
    let typed = match first.template_arguments.as_deref().map(str::trim) {
        None => String::new(),
        Some(element @ ("float" | "half")) => format!("<{element}>"),
        Some(_) => return None,
    };
    if second.name != first.name
        || second.template_arguments != first.template_arguments
        || first.arguments.len() != wanted
        || second.arguments.len() != wanted
    {
        return None;
    }
    let of = |call: &Call, index: usize| file.argument(call, index).unwrap_or_default().trim().to_owned();
    let (work, source, lanes, repeats) = (of(first, 0), of(first, 1), of(first, 2), of(first, 3));
    let tail = |call: &Call, from: usize| (from..wanted).map(|index| squash(&of(call, index))).collect::<Vec<_>>();
    let count = repeats.strip_suffix(&format!(" / {lanes}"))?;
    let plain = [&work, &source].iter().all(|name| tensors.tensors.contains_key(base_name(name)));
    let strides = tail(first, 4)[..3] == ["1", "1", "8"] && tail(second, 4)[..3] == ["1", "1", "8"];
    let order = tail(first, 7).iter().chain(&tail(second, 7)).all(|order| order.ends_with("ORDER_ONLY_VALUE"));
    let chained = of(second, 1) == work && of(second, 2) == repeats && of(second, 3) == "1";
    let adjacent = file.slice(&(from.end..to.start)).trim().is_empty();
    if !(plain && strides && order && chained && adjacent && lanes.parse::<i64>().is_ok()) {
        return None;
    }
    let prefix = written_scope(file, first);
    let count = count.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(count);
    let target = of(second, 0);
    Some((format!("{prefix}Reduce{kind}{typed}({target}, {source}, {work}, {count}{flag});"), from.start..to.end))
}
