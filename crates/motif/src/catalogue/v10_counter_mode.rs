//! V10: whole repeats and a masked call for the rest become one call with an element count, which is what counter mode is for.

use std::ops::Range;

use crate::analysis::code::{block_of, functions, is_name, squash, vector_calls};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::machine::{BLOCK_BYTES, REPEAT_BYTES};
use crate::analysis::rows::{Operand, RowCall, row_loops};
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Shape, vector_shape};
use source::facts::{TensorFacts, base_name};
use source::parse::{Call, Function, SyntaxFile};

/// The motif.
pub struct CounterMode;

const METADATA: Metadata = Metadata {
    id: Id::V10,
    title: "main call and masked tail call to one call with a count",
    family: Family::Vector,
    precondition: "a vector call with mask, repeats and strides of rows that lie close together, or a loop of calls over such rows, maybe under an if; then an if on the length of the \
     rest with nothing but the same instruction for it, each operand further on by the same number of elements; masks are numbers, tensors are the \
     same at the same place or lie in different memory",
    left_to_verifier: "the rest starts where the main call ends; at least one element; tensors of unknown origin do not overlap",
    relieves: &[Counter::VecUs, Counter::ScalarUs],
    prior_gain: 1.03,
    cost: "nothing",
    tunables: "none",
    undoing: "whole repeats, and a masked call for the rest",
    rounding_changes: false,
    replaces_constants: false,
    company: Company { prevails_over: &[Id::V11], ..Company::ANY },
};

impl Motif for CounterMode {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            let place = Vicinity { context, file, function, tensors: &tensors };
            for call in file.calls_in(function.body.clone()) {
                let Some(tail) = place.tail(call) else { continue };
                let Some(main) = place.main(&tail) else { continue };
                let mut conditions = Vec::new();
                let edits = place.joined(&main, &tail, &mut conditions);
                let span = main.span.start..tail.span.end;
                let mut candidate = Candidate::new(file, &span, format!("one {} for all elements", call.name), edits);
                candidate.site.conditions = conditions;
                found.push(candidate);
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let bytes = |name: &str| {
                    tensors.tensors.get(name).and_then(|tensor| context.facts.known.type_bytes(&tensor.element))
                };
                let Some(own) = bytes(call.destination) else { continue };
                let repeated = vector_shape(call.name).is_some() && is_name(call.count);
                if !repeated || call.sources.iter().any(|source| bytes(source) != Some(own)) {
                    continue;
                }
                let (mask, count) = (REPEAT_BYTES / own, call.count);
                let operands: Vec<&str> =
                    std::iter::once(call.destination).chain(call.sources.iter().copied()).collect();
                let strides =
                    format!("{{{}, {}}}", vec!["1"; operands.len()].join(", "), vec!["8"; operands.len()].join(", "));
                let scalar = call.scalar.map(|scalar| format!("{scalar}, ")).unwrap_or_default();
                let callee = file.slice(&call.call.callee);
                let indentation = file.indentation(call.statement.start);
                let rest: Vec<String> =
                    operands.iter().map(|operand| format!("{operand}[{count} / {mask} * {mask}]")).collect();
                let text = format!(
                    "{callee}({}, {scalar}{mask}, {count} / {mask}, {strides});\n{indentation}if ({count} % {mask} > 0) {{\n{indentation}    {callee}({}, {scalar}{count} % {mask}, 1, {strides});\n{indentation}}}",
                    operands.join(", "),
                    rest.join(", ")
                );
                let edits = Ok(vec![edit(file, call.statement.clone(), text)]);
                let candidate =
                    Candidate::new(file, &call.statement, format!("whole repeats of {mask} and the rest"), edits);
                found.push(candidate.on_condition(format!("{count} is {mask} to {}", 255 * mask)));
            }
        }
        found
    }
}

struct Vicinity<'a> {
    context: &'a Context,
    file: &'a SyntaxFile,
    function: &'a Function,
    tensors: &'a TensorFacts,
}

/// A call taken apart: operands as written, what stands before the count, the count of one row.
struct Taken<'a> {
    call: &'a Call,
    operands: Vec<String>,
    middle: Vec<&'a str>,
    count: &'a str,
    /// Repeats and strides, in the form that has them.
    repeats: Option<(&'a str, &'a str)>,
}

/// The call for the rest, with its `if`.
struct Tail<'a> {
    taken: Taken<'a>,
    span: Range<usize>,
}

/// What covers the whole repeats.
struct Main<'a> {
    taken: Taken<'a>,
    span: Range<usize>,
    /// Elements that it covers, as they follow from it.
    covered: String,
    /// What an `if` around it asks.
    condition: Option<&'a str>,
}

impl<'a> Vicinity<'a> {
    fn taken(&self, call: &'a Call) -> Option<Taken<'a>> {
        if call.object.is_some() || call.template_arguments.is_some() || !matches!(call.scope.as_str(), "" | "AscendC")
        {
            return None;
        }
        let (operands, middle) = match (call.name.as_str(), vector_shape(&call.name)) {
            ("Cast", _) | (_, Some(Shape::Scalar)) => (2, 1),
            (_, Some(Shape::Binary)) => (3, 0),
            (_, Some(Shape::Unary)) => (2, 0),
            _ => return None,
        };
        let argument = |index: usize| self.file.slice(&call.arguments[index]).trim();
        let rest = call.arguments.len().checked_sub(operands + middle)?;
        let repeats = match rest {
            1 => None,
            3 => Some((argument(operands + middle + 1), argument(operands + middle + 2))),
            _ => return None,
        };
        let names: Vec<String> = (0..operands).map(|index| argument(index).to_owned()).collect();
        let known = |operand: &String| self.tensors.tensors.contains_key(base_name(operand));
        names.iter().all(known).then(|| Taken {
            call,
            operands: names,
            middle: (operands..operands + middle).map(argument).collect(),
            count: argument(operands + middle),
            repeats,
        })
    }

    /// The call as one for the rest: alone in an `if` that asks whether there is any.
    fn tail(&self, call: &'a Call) -> Option<Tail<'a>> {
        let taken = self.taken(call)?;
        if taken.repeats.is_some_and(|(repeats, _)| repeats != "1")
            || !taken.operands.iter().all(|text| text.ends_with(']'))
        {
            return None;
        }
        let (span, condition) = self.alone_in_if(call)?;
        let squashed = squash(condition);
        let count = squash(taken.count);
        let asks = [format!("{count}>0"), format!("{count}!=0"), count, format!("0<{}", squash(taken.count))];
        asks.contains(&squashed).then_some(Tail { taken, span })
    }

    /// The `if` without else whose body is nothing but this call, with its condition.
    fn alone_in_if(&self, call: &Call) -> Option<(Range<usize>, &'a str)> {
        let statement = call.statement.as_ref()?;
        let inside: Vec<Range<usize>> =
            siblings(self.file, statement).into_iter().filter(|other| !is_barrier(self.file.slice(other))).collect();
        if inside != [statement.clone()] {
            return None;
        }
        let block = block_of(self.file, statement)?;
        let node = self.file.node_at(&block)?;
        let mut parent = node;
        while parent.kind() != "if_statement" {
            parent = parent.parent().filter(|parent| parent.start_byte() >= self.function.body.start)?;
        }
        let consequence = parent.child_by_field_name("consequence")?;
        if parent.child_by_field_name("alternative").is_some() || consequence.byte_range() != block {
            return None;
        }
        let text = self.file.slice(&parent.child_by_field_name("condition")?.byte_range()).trim();
        let text = text.strip_prefix('(')?.strip_suffix(')')?.trim();
        let hinted = ["likely(", "unlikely("].iter().find_map(|hint| text.strip_prefix(hint)?.strip_suffix(')'));
        Some((parent.byte_range(), hinted.unwrap_or(text).trim()))
    }

    /// What stands before the rest and covers the whole repeats.
    fn main(&self, tail: &Tail<'a>) -> Option<Main<'a>> {
        let around = siblings(self.file, &tail.span);
        let at = around.iter().position(|other| *other == tail.span)?;
        let before = around[..at].iter().rev().find(|other| !is_barrier(self.file.slice(other)))?.clone();
        let file = self.file;
        let mut rows = row_loops(file, self.function).into_iter().flatten();
        if let Some(rows) = rows.find(|rows| rows.span() == before) {
            let vector: Vec<&Call> = rows.calls.iter().copied().filter(|call| call.name != "PipeBarrier").collect();
            let [call] = vector[..] else { return None };
            let row = RowCall::of(&rows, call, self.tensors).ok()?;
            row.packed().ok()?;
            if !row.operands.iter().all(|operand| matches!(operand, Operand::Row(..))) {
                return None;
            }
            let taken = Taken {
                call,
                operands: row.operands.iter().map(Operand::first).collect(),
                middle: row.middle.clone(),
                count: row.width,
                repeats: None,
            };
            let covered = crate::analysis::rows::product(&rows.rows, row.width);
            return (taken.call.name == tail.taken.call.name).then_some(Main {
                taken,
                span: before,
                covered,
                condition: None,
            });
        }
        let call = file.calls_in(before.clone()).find(|call| call.name == tail.taken.call.name)?;
        let taken = self.taken(call)?;
        let (repeats, _) = taken.repeats?;
        let covered = crate::analysis::rows::product(repeats, taken.count);
        if call.statement.as_ref() == Some(&before) {
            return Some(Main { taken, span: before, covered, condition: None });
        }
        let (span, condition) = self.alone_in_if(call)?;
        (span == before).then_some(Main { taken, span: before, covered, condition: Some(condition) })
    }

    fn joined(&self, main: &Main<'_>, tail: &Tail<'_>, conditions: &mut Vec<String>) -> Result<Vec<Edit>, String> {
        let file = self.file;
        let (first, rest) = (&main.taken, &tail.taken);
        let text = file.slice(&(main.span.start..tail.span.end));
        if text.contains("//") || text.contains("/*") || text.lines().any(|line| line.trim_start().starts_with('#')) {
            return Err("a comment or a directive stands in between".to_owned());
        }
        if first.middle.iter().zip(&rest.middle).any(|(left, right)| squash(left) != squash(right)) {
            return Err("the scalar operands differ".to_owned());
        }
        if first.operands.len() != rest.operands.len()
            || file.slice(&first.call.callee) != file.slice(&rest.call.callee)
        {
            return Err("the two calls have different forms".to_owned());
        }
        if let Some((_, strides)) = first.repeats {
            self.close_together(first, strides, conditions)?;
        }
        if let Some((_, strides)) = rest.repeats {
            let blocks = self.strides(strides, rest.operands.len())?;
            if blocks[..rest.operands.len()].iter().any(|stride| *stride != 1) {
                return Err("the blocks of the rest do not lie close together".to_owned());
            }
        }
        let further = further(first, rest)?;
        self.apart(first, conditions)?;
        let covered = squash(&main.covered);
        let same = [covered.clone(), swapped(&main.covered)].contains(&squash(&further));
        let equal = self.context.facts.known.value(&main.covered);
        if !same && (equal.is_none() || equal != self.context.facts.known.value(&further)) {
            conditions.push(format!("{further} is {}", main.covered));
        }
        if let Some(condition) = main.condition {
            let asked = [first.repeats.map_or("", |(repeats, _)| repeats), further.as_str()];
            let squashed = squash(condition);
            let fits = asked.iter().any(|asked| {
                let asked = squash(asked);
                [format!("{asked}>0"), format!("{asked}!=0"), asked].contains(&squashed)
            });
            if !fits {
                return Err(format!("the main call is made only if {condition}"));
            }
        }
        let count =
            whole(&further, rest.count).unwrap_or_else(|| format!("{} + {}", sum_part(&further), sum_part(rest.count)));
        if self.context.facts.known.value(&count).is_none_or(|value| value < 1) {
            conditions.push(format!("{count} is at least 1"));
        }
        let middle: String = first.middle.iter().map(|text| format!("{text}, ")).collect();
        let line = format!("{}({}, {middle}{count});", file.slice(&first.call.callee), first.operands.join(", "));
        Ok(vec![edit(file, main.span.start..tail.span.end, line)])
    }

    /// Proves that the rows of a call with repeats lie behind each other without gaps.
    fn close_together(&self, taken: &Taken<'_>, strides: &str, conditions: &mut Vec<String>) -> Result<(), String> {
        let number = taken.operands.len();
        let strides = self.strides(strides, number)?;
        let known = &self.context.facts.known;
        let mask = known.value(taken.count);
        for (operand, (block, repeat)) in taken.operands.iter().zip(strides[..number].iter().zip(&strides[number..])) {
            let element = &self.tensors.tensors[base_name(operand)].element;
            let row = repeat.saturating_mul(BLOCK_BYTES);
            let Some(bytes) = known.type_bytes(element).filter(|_| *block == 1 && row > 0) else {
                if *block != 1 || row <= 0 {
                    return Err(format!("repeats of {operand} do not lie close together"));
                }
                conditions.push(format!("{} elements of {element} are {row} bytes", taken.count));
                continue;
            };
            if row % bytes != 0 || mask.is_some_and(|mask| mask.saturating_mul(bytes) != row) {
                return Err(format!("repeats of {operand} do not lie close together"));
            }
            if mask.is_none() {
                conditions.push(format!("{} is {}", taken.count, row / bytes));
            }
        }
        Ok(())
    }

    /// Strides of blocks and repeats, spelled out in place or in a variable that is not changed.
    fn strides(&self, text: &str, operands: usize) -> Result<Vec<i64>, String> {
        let unclear = || format!("the strides {text} are not known");
        let listed = match text.split_once('{') {
            Some((head, rest)) if head.is_empty() || head.ends_with("RepeatParams") => rest.strip_suffix('}'),
            _ => text.split_once("RepeatParams(").and_then(|(_, rest)| rest.strip_suffix(')')),
        };
        let own = |local: &&source::parse::Local| {
            local.name == text && local.alone && self.function.body.contains(&local.span.start)
        };
        let body = self.file.slice(&self.function.body);
        let list = match listed {
            Some(list) => list.to_owned(),
            None => {
                let local = self.file.locals().iter().find(own).ok_or_else(unclear)?;
                let changed = body.contains(&format!("{text}."))
                    || changes_name(self.file, &(local.span.end..self.function.body.end), text);
                let value = local.value.clone().filter(|_| !changed).map(|value| self.file.slice(&value).trim());
                let value = value.ok_or_else(unclear)?;
                let inner = value.split_once(['{', '(']).map_or(value, |(_, rest)| rest);
                inner.trim_end_matches(['}', ')']).to_owned()
            }
        };
        let numbers: Option<Vec<i64>> =
            list.split(',').map(|part| self.context.facts.known.value(part.trim())).collect();
        numbers.filter(|numbers| numbers.len() == 2 * operands).ok_or_else(unclear)
    }

    /// No call reads what another place of it writes.
    fn apart(&self, taken: &Taken<'_>, conditions: &mut Vec<String>) -> Result<(), String> {
        let (target, sources) = taken.operands.split_first().ok_or("no operands")?;
        for source in sources.iter().filter(|source| squash(source) != squash(target)) {
            let (left, right) = (base_name(target), base_name(source));
            if left == right {
                return Err(format!("{left} is used at different places"));
            }
            if !self.tensors.disjoint(left, right) {
                conditions.push(format!("{left} and {right} do not overlap"));
            }
        }
        Ok(())
    }
}

/// By how many elements every operand of the rest lies further on.
fn further(first: &Taken<'_>, rest: &Taken<'_>) -> Result<String, String> {
    let mut further: Option<String> = None;
    for (left, right) in first.operands.iter().zip(&rest.operands) {
        let (name, start) = indexed(left).ok_or_else(|| format!("{left} is not one index of a tensor"))?;
        let (other, index) = indexed(right).ok_or_else(|| format!("{right} is not one index of a tensor"))?;
        if name != other {
            return Err(format!("{left} and {right} are different tensors"));
        }
        let own = if start.is_empty() || start == "0" {
            Some(index)
        } else {
            let index = index.strip_prefix(start).and_then(|rest| rest.trim_start().strip_prefix('+')).map(str::trim);
            index.or_else(|| indexed(right)?.1.strip_suffix(start)?.trim_end().strip_suffix('+').map(str::trim_end))
        };
        let own = own.ok_or_else(|| format!("{right} does not lie behind {left}"))?;
        if further.as_deref().is_some_and(|known| squash(known) != squash(own)) {
            return Err("the operands of the rest lie further on by different numbers".to_owned());
        }
        further = Some(own.to_owned());
    }
    further.ok_or_else(|| "no operands".to_owned())
}

/// Name and index of an operand, the index empty where there is none.
fn indexed(operand: &str) -> Option<(&str, &str)> {
    match operand.split_once('[') {
        None => is_name(operand).then_some((operand, "")),
        Some((name, rest)) => Some((name.trim(), rest.strip_suffix(']')?.trim())).filter(|(name, _)| is_name(name)),
    }
}

/// `b*a` for `a * b`.
fn swapped(product: &str) -> String {
    product.rsplit_once(" * ").map_or_else(String::new, |(left, right)| squash(&format!("{right}*{left}")))
}

/// `n` for `n / m * m` and `n % m`.
fn whole(covered: &str, rest: &str) -> Option<String> {
    let (number, by) = rest.split_once('%')?;
    let (number, by) = (number.trim(), by.trim());
    let plain = is_name(number) && is_name(by);
    (plain && squash(covered) == format!("{number}/{by}*{by}")).then(|| number.to_owned())
}

/// A summand: in parentheses where an operator that binds looser than a sum stands in it.
fn sum_part(text: &str) -> String {
    let loose = ['<', '>', '?', '&', '|', '^', '='].iter().any(|sign| text.replace("->", "").contains(*sign));
    if loose { format!("({text})") } else { text.to_owned() }
}

fn is_barrier(statement: &str) -> bool {
    let statement = statement.trim_start_matches("AscendC::");
    ["PipeBarrier<PIPE_V>", "pipe_barrier(PIPE_V)"].iter().any(|start| statement.starts_with(start))
}
