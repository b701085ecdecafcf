//! V38: a long reduction takes the blocks of 32 bytes first: one cycle for 64 floats instead of seven.

use crate::analysis::code::{Surroundings, block_of, functions, written_scope};
use crate::analysis::first_element::rest_unread;
use crate::analysis::machine::REPEAT_MAX;
use crate::analysis::reductions::{KINDS, as_operand, form_of, lanes_of, uncast};
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::base_name;
use source::parse::{Call, SyntaxFile};

/// Floats of one repeat. With half, an instruction over blocks takes as long as one over repeats.
const LANES: i64 = 64;
/// Blocks of one repeat, which is how many results it leaves.
const BLOCKS: i64 = 8;
/// The element type that a call may name.
const FLOAT: &[&str] = &["float"];
/// Below this the second instruction takes longer than what it saves.
const COUNT_MIN: i64 = 256;

/// The motif.
pub struct BlocksFirst;

const METADATA: Metadata = Metadata {
    id: Id::V38,
    title: "blocks before repeats in a long reduction",
    family: Family::Vector,
    precondition: "ReduceX(dst, src, work, n) without index on floats, work is no part of the others, but may be dst itself, or src if nobody reads more than the first \
     element of it before it is overwritten; n at least 256, where it is known. Whole repeats, 255 at most, are counted; any other or unknown n is the \
     count of a mask",
    left_to_verifier: "the work tensor holds an eighth of the numbers and what the reduction of these needs",
    relieves: &[Counter::VecUs, Counter::StallUs],
    prior_gain: 1.05,
    cost: "a sum is added up in another order",
    tunables: "none",
    undoing: "the reduction in one call",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for BlocksFirst {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for call in file.calls_in(function.body.clone()) {
                let Some(kind) = call.name.strip_prefix("Reduce").filter(|kind| KINDS.contains(kind)) else { continue };
                if call.statement.is_none() || call.object.is_some() || form_of(file, call, FLOAT).is_none() {
                    continue;
                }
                let judged = blocks_first(&around, call, kind);
                let note = format!("{} after BlockReduce{kind}", call.name);
                let needs = format!(
                    "{} holds {} / {BLOCKS} numbers and what their reduction needs",
                    file.argument(call, 2).unwrap_or_default().trim(),
                    file.argument(call, 3).unwrap_or_default().trim()
                );
                let candidate = Candidate::new(file, &call.span, note, judged).on_condition(needs);
                found.push(candidate.with_rounding(kind == "Sum"));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, ..) in functions(context) {
            let calls: Vec<&Call> =
                file.calls_in(function.body.clone()).filter(|call| call.statement.is_some()).collect();
            for pair in calls.windows(2) {
                found.extend(in_one_call(file, pair));
            }
            for six in calls.windows(6) {
                found.extend(in_one_call(file, six));
            }
        }
        found
    }
}

fn blocks_first(around: &Surroundings<'_>, call: &Call, kind: &str) -> Result<Vec<Edit>, String> {
    let Surroundings { context, file, tensors, .. } = *around;
    if lanes_of(file, call, tensors)? != LANES {
        return Err("the operands are half, for which an instruction over blocks is no faster".to_owned());
    }
    let statement = call.statement.as_ref().ok_or("the reduction is no statement")?;
    block_of(file, statement).ok_or("the reduction is the only statement of an if or a loop")?;
    let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
    let (target, source, work, count) = (argument(0), argument(1), argument(2), argument(3));
    let onto_source = work == source && tensors.tensors.contains_key(work);
    if (base_name(work) == base_name(source) && !onto_source)
        || (base_name(work) == base_name(target) && work != target)
    {
        return Err(format!("{work} is no tensor of its own"));
    }
    if onto_source {
        // A repeat leaves its blocks' results where it or an earlier one has been read, which the documented sum by
        // count does not: the source stays as it was.
        rest_unread(around, work, statement, target != source)?;
    }
    let value = context.facts.known.value(uncast(count));
    if value.is_some_and(|value| value < COUNT_MIN) {
        return Err(format!("{count} elements are fewer than {COUNT_MIN}"));
    }
    let whole = value.is_some_and(|value| value % LANES == 0 && value <= REPEAT_MAX * LANES);
    // The general reduction sets masks too, and leaves the full one behind.
    let (typed, flag) = form_of(file, call, FLOAT).unwrap_or_default();
    let written = Written { prefix: written_scope(file, call), kind, typed: &typed, target, source, work, count, flag };
    let lines = written.lines(whole);
    let separator = format!("\n{}", file.indentation(statement.start));
    Ok(vec![edit(file, statement.clone(), lines.join(&separator))])
}

/// Operands as they stand in the text.
struct Written<'a> {
    prefix: &'a str,
    kind: &'a str,
    typed: &'a str,
    target: &'a str,
    source: &'a str,
    work: &'a str,
    count: &'a str,
    flag: &'a str,
}

impl Written<'_> {
    fn in_one_call(&self) -> String {
        let Self { prefix, kind, typed, target, source, work, count, flag } = self;
        format!("{prefix}Reduce{kind}{typed}({target}, {source}, {work}, {count}{flag});")
    }

    /// Blocks first, by repeats or by a count in the mask.
    fn lines(&self, whole: bool) -> Vec<String> {
        let Self { prefix, kind, typed, target, source, work, count, flag } = self;
        let operand = as_operand(count);
        let rest = |from: &str, left: &str| {
            format!("{prefix}Reduce{kind}{typed}({target}, {work}, {work}[{from}], {left}{flag});")
        };
        let block = format!("{prefix}BlockReduce{kind}");
        if whole {
            let left = format!("{operand} / {BLOCKS}");
            return vec![
                format!("{block}{typed}({work}, {source}, {operand} / {LANES}, {LANES}, 1, 1, {BLOCKS});"),
                rest(&left, &left),
            ];
        }
        vec![
            format!("{prefix}SetMaskCount();"),
            format!("{prefix}SetVectorMask<float, {prefix}MaskMode::COUNTER>(0, {count});"),
            format!("{block}<float, false>({work}, {source}, 1, {prefix}MASK_PLACEHOLDER, 1, 1, {BLOCKS});"),
            format!("{prefix}SetMaskNorm();"),
            format!("{prefix}ResetMask();"),
            rest(
                &format!("({operand} + {}) / {LANES} * {BLOCKS}", LANES - 1),
                &format!("({operand} + {}) / {BLOCKS}", BLOCKS - 1),
            ),
        ]
    }
}

/// The calls, as this motif writes them, in one again.
fn in_one_call(file: &SyntaxFile, calls: &[&Call]) -> Option<Candidate> {
    let (whole, blocks) = if calls.len() == 2 { (true, calls[0]) } else { (false, *calls.get(2)?) };
    let last = calls.last()?;
    let kind = last.name.strip_prefix("Reduce").filter(|kind| KINDS.contains(kind))?;
    let (typed, flag) = form_of(file, last, FLOAT)?;
    if blocks.name != format!("BlockReduce{kind}") || blocks.arguments.len() != 7 {
        return None;
    }
    let of = |call: &Call, index: usize| file.argument(call, index).unwrap_or_default().trim().to_owned();
    let prefix = written_scope(file, last);
    let count = if whole {
        let operand = of(blocks, 2).strip_suffix(&format!(" / {LANES}"))?.to_owned();
        operand.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(&operand).to_owned()
    } else {
        of(calls[1], 1)
    };
    let (target, source, work) = (of(last, 0), of(blocks, 1), of(blocks, 0));
    let written =
        Written { prefix, kind, typed: &typed, target: &target, source: &source, work: &work, count: &count, flag };
    let span = calls.first()?.statement.as_ref()?.start..last.statement.as_ref()?.end;
    let separator = format!("\n{}", file.indentation(span.start));
    if file.slice(&span) != written.lines(whole).join(&separator) {
        return None;
    }
    let edits = Ok(vec![edit(file, span.clone(), written.in_one_call())]);
    Some(Candidate::new(file, &span, "the reduction in one call", edits).with_rounding(kind == "Sum"))
}
