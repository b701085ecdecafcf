//! V37: what is carried from row to row stays in the row of results before, instead of in a tensor that every row copies.

use std::ops::Range;

use crate::analysis::code::{block_of, functions, is_name, squash};
use crate::analysis::rows::{Operand, RowCall, RowLoop, at_least_one, row_loops};
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::edit;
use crate::rewrite::hoist::before_loop;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{Origin, TensorFacts};
use source::parse::{Call, Loop, SyntaxFile};

/// The motif.
pub struct CarriedRows;

const METADATA: Metadata = Metadata {
    id: Id::V37,
    title: "carry from row to row in the results",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 with two vector calls in count form: Add, Mul, Max or Min of a tensor with a row of another one in place, then a copy of that \
     tensor to a row of the results, as adding 0 or multiplying by 1; the same count, each row at row * pitch, three tensors in different memory",
    left_to_verifier: "at least one row; the sign of zeros; tensors of unknown origin do not overlap",
    relieves: &[Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.15,
    cost: "nothing",
    tunables: "none",
    undoing: "a copy of what is carried in every row",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for CarriedRows {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for rows in row_loops(file, function).into_iter().flatten() {
                let Some(carried) = Carried::of(&rows, &tensors) else { continue };
                let note = format!("{} in rows of {}", carried.sum, carried.results.0);
                let mut conditions = Vec::new();
                let edits = carried.in_results(&rows, &tensors, &mut conditions);
                let mut candidate = Candidate::new(file, &rows.span(), note, edits);
                candidate.site.conditions = conditions;
                if !at_least_one(&context.facts.known, &rows.rows) {
                    candidate = candidate.on_condition(format!("{} is at least 1", rows.rows));
                }
                if carried.copy.name == "Adds" {
                    candidate = candidate.on_condition("the sign of a zero does not matter");
                }
                found.push(candidate);
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for repetition in file.loops().iter().filter(|around| function.body.contains(&around.span.start)) {
                let Some((note, edits)) = copied(file, repetition, &tensors) else { continue };
                found.push(Candidate::new(file, &repetition.span, note, Ok(edits)));
            }
        }
        found
    }
}

/// The two calls of a loop that carries something.
struct Carried<'a> {
    sum: String,
    /// What is combined with the next row.
    combine: &'a Call,
    copy: &'a Call,
    /// Rows that come in and rows of results, with their pitches.
    input: (String, String),
    results: (String, String),
    width: &'a str,
}

fn is_barrier(call: &Call) -> bool {
    call.name == "PipeBarrier" && call.object.is_none()
}

/// Whether the scalar of a call makes it a copy.
fn copies(name: &str, scalar: &str) -> bool {
    let inner = scalar.rsplit_once('(').map_or(scalar, |(_, inner)| inner.trim_end_matches(')')).trim();
    let number: Option<f64> = inner.trim_end_matches(['f', 'F']).parse().ok();
    matches!((name, number), ("Adds", Some(0.0)) | ("Muls", Some(1.0)))
}

impl<'a> Carried<'a> {
    fn of(rows: &RowLoop<'a>, tensors: &TensorFacts) -> Option<Self> {
        let vector: Vec<&'a Call> = rows.calls.iter().copied().filter(|call| !is_barrier(call)).collect();
        let [combine, copy] = vector[..] else { return None };
        let (first, second) = (RowCall::of(rows, combine, tensors).ok()?, RowCall::of(rows, copy, tensors).ok()?);
        let whole = |operand: &Operand| match operand {
            Operand::Row(name, at) if at.start.is_empty() => Some((name.clone(), at.pitch.clone())),
            _ => None,
        };
        let [Operand::Same(sum), left, right] = &first.operands[..] else { return None };
        let input = if *left == first.operands[0] { whole(right)? } else { whole(left)? };
        let same = |operand: &&Operand| **operand == first.operands[0];
        let once = [left, right].into_iter().filter(same).count() == 1;
        let [results, Operand::Same(copied)] = &second.operands[..] else { return None };
        let [scalar] = second.middle[..] else { return None };
        let known = matches!(combine.name.as_str(), "Add" | "Mul" | "Max" | "Min") && copies(&copy.name, scalar);
        (known && once && copied == sum && squash(first.width) == squash(second.width)).then_some(Self {
            sum: sum.clone(),
            combine,
            copy,
            input,
            results: whole(results)?,
            width: first.width,
        })
    }

    fn in_results(
        &self,
        rows: &RowLoop<'_>,
        tensors: &TensorFacts,
        conditions: &mut Vec<String>,
    ) -> Result<Vec<Edit>, String> {
        let (file, repetition) = (rows.file, rows.repetition);
        let (results, pitch) = (self.results.0.as_str(), self.results.1.as_str());
        for (left, right) in [(results, self.sum.as_str()), (results, &self.input.0), (&self.sum, &self.input.0)] {
            if left == right {
                return Err(format!("{left} is read and written"));
            }
            if !tensors.disjoint(left, right) {
                conditions.push(format!("{left} and {right} do not overlap"));
            }
        }
        if !matches!(
            tensors.tensors.get(results).map(|tensor| &tensor.origin),
            Some(Origin::Alloc(_) | Origin::Buffer(_))
        ) {
            return Err(format!("where {results} comes from is not known"));
        }
        if matches!(pitch.trim(), "0" | "1") {
            return Err(format!("rows of {results} overlap"));
        }
        if squash(pitch) != squash(self.width) {
            conditions.push(format!("{} is at most {pitch}", self.width));
        }
        let before = before_loop(file, repetition)?;
        let after = file.whole_lines(&repetition.span).ok_or("the loop shares its lines")?.end;
        let zero = repetition.initializer.clone().ok_or("the loop has no initial value")?;
        let place = file.slice(&zero).find('=').ok_or("the loop has no initial value")?;
        let number = file.slice(&zero)[place..].find('0').ok_or("the loop does not start at 0")? + place + zero.start;
        let argument = |call: &Call, index: usize| file.argument(call, index).unwrap_or_default().trim().to_owned();
        let carries_left = argument(self.combine, 1) == self.sum;
        let row = argument(self.copy, 0);
        let (callee, indentation) = (file.slice(&self.combine.callee), file.indentation(repetition.span.start));
        let spelled = |target: &str, carried: &str, input: &str| {
            let (left, right) = if carries_left { (carried, input) } else { (input, carried) };
            format!("{callee}({target}, {left}, {right}, {});", self.width)
        };
        let first = spelled(results, &self.sum, &self.input.0);
        let input = argument(self.combine, if carries_left { 2 } else { 1 });
        let next = spelled(&row, &format!("{results}[({} - 1) * {pitch}]", rows.counter), &input);
        let last = if is_name(&rows.rows) { rows.rows.clone() } else { format!("({})", rows.rows) };
        let copy = format!(
            "{}({}, {results}[({last} - 1) * {pitch}], {}, {});",
            file.slice(&self.copy.callee),
            self.sum,
            argument(self.copy, 2),
            self.width
        );
        let statement = |call: &Call| call.statement.clone().ok_or("a call shares its statement");
        Ok(vec![
            edit(file, before..before, format!("{indentation}{first}\n")),
            edit(file, number..number + 1, "1"),
            edit(file, statement(self.combine)?, next),
            edit(file, file.removal_span(&statement(self.copy)?), ""),
            edit(file, after..after, format!("{indentation}{copy}\n")),
        ])
    }
}

/// Edits that copy what is carried in every row again.
fn copied(file: &SyntaxFile, repetition: &Loop, tensors: &TensorFacts) -> Option<(String, Vec<Edit>)> {
    let initializer = repetition.initializer.clone()?;
    let text = file.slice(&initializer).trim_end().trim_end_matches(';');
    let (declared, start) = text.split_once('=')?;
    let counter = declared.split_whitespace().last()?;
    if !matches!(start.trim(), "1" | "1u" | "1U") {
        return None;
    }
    let rows =
        file.slice(repetition.condition.as_ref()?).trim().strip_prefix(counter)?.trim_start().strip_prefix('<')?;
    let rows = rows.trim();
    block_of(file, &repetition.span)?;
    let around = siblings(file, &repetition.span);
    let at = around.iter().position(|other| *other == repetition.span)?;
    let call_at = |span: &Range<usize>| file.calls().iter().find(|call| call.statement.as_ref() == Some(span));
    let is_plain = |span: &&Range<usize>| !call_at(span).is_some_and(is_barrier);
    let before = around[..at].iter().rev().find(is_plain)?;
    let after = around[at + 1..].iter().find(is_plain)?;
    let (first, last) = (call_at(before)?, call_at(after)?);
    let inside: Vec<&Call> =
        file.calls_in(repetition.body.clone()).filter(|call| call.statement.is_some() && !is_barrier(call)).collect();
    let [next] = inside[..] else { return None };
    let argument = |call: &Call, index: usize| file.argument(call, index).unwrap_or_default().trim().to_owned();
    let known = matches!(next.name.as_str(), "Add" | "Mul" | "Max" | "Min");
    if !known || first.name != next.name || !copies(&last.name, &argument(last, 2)) {
        return None;
    }
    if [first, next, last].iter().any(|call| call.arguments.len() != 4 || call.object.is_some()) {
        return None;
    }
    let (results, row, sum) = (argument(first, 0), argument(next, 0), argument(last, 0));
    let pitch = row.strip_prefix(&results)?.strip_prefix('[')?.strip_suffix(']')?.strip_prefix(counter)?;
    let pitch = pitch.trim_start().strip_prefix('*')?.trim().to_owned();
    let carried = squash(&format!("{results}[({counter} - 1) * {pitch}]"));
    let left = squash(&argument(next, 1)) == carried;
    let (own, other) = if left { (1, 2) } else { (2, 1) };
    let grouped = if is_name(rows) { rows.to_owned() } else { format!("({rows})") };
    let fits = squash(&argument(next, own)) == carried
        && argument(first, own) == sum
        && squash(&argument(last, 1)) == squash(&format!("{results}[({grouped} - 1) * {pitch}]"))
        && [first, next].iter().all(|call| squash(&argument(call, 3)) == squash(&argument(last, 3)))
        && tensors.tensors.contains_key(&sum);
    let statement = next.statement.clone()?;
    if !fits || file.whole_lines(&statement).is_none() {
        return None;
    }
    let callee = file.slice(&next.callee);
    let input = argument(next, other);
    let (one, two) = if left { (sum.as_str(), input.as_str()) } else { (input.as_str(), sum.as_str()) };
    let text = format!(
        "{callee}({sum}, {one}, {two}, {width});\n{}{}({row}, {sum}, {}, {width});",
        file.indentation(statement.start),
        file.slice(&last.callee),
        argument(last, 2),
        width = argument(last, 3)
    );
    let number = initializer.start + file.slice(&initializer).rfind('1')?;
    Some((
        format!("copy {sum} in every row"),
        vec![
            edit(file, file.removal_span(before), ""),
            edit(file, number..number + 1, "0"),
            edit(file, statement, text),
            edit(file, file.removal_span(after), ""),
        ],
    ))
}
