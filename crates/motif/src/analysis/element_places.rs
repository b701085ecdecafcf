//! Where the rounds of a loop, or of two nested ones, write elements of global memory.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::code::{block_of, is_name, squash, words};
use crate::analysis::flow::changes::{How, changes};
use crate::analysis::flow::effects::{is_harmless, steady};
use crate::analysis::flow::values::Values;
use crate::analysis::loops::{counted, loops_around};
use crate::analysis::polynomial::Polynomial;
use crate::analysis::running::{Advance, Course};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Loop};

/// Variables are followed through so many others.
const DEPTH_MAX: usize = 6;

/// A loop, or two of which the outer one does nothing but the inner one.
pub(crate) struct Nest<'a> {
    pub(crate) course: Course<'a>,
    pub(crate) outer: &'a Loop,
    pub(crate) inner: Option<&'a Loop>,
    /// Counter and bound of each.
    outer_range: (String, String),
    inner_range: Option<(String, String)>,
}

/// Places of a write, in elements.
pub(crate) struct Written {
    /// From round to round of the inner loop, or of the only one.
    pub(crate) pitch: Polynomial,
    /// From round to round of the outer one of two.
    pub(crate) outer: Option<Polynomial>,
    /// Distances that have to be whole lines for a line to be of one round alone.
    pub(crate) whole: Vec<Polynomial>,
    /// Where the first place is, where that has to be the start of a line too.
    pub(crate) base: Option<Polynomial>,
}

/// An index that runs along, at the start of a round.
pub(crate) struct Running {
    pub(crate) name: String,
    pub(crate) start: Polynomial,
}

impl<'a> Nest<'a> {
    pub(crate) fn of(course: Course<'a>, outer: &'a Loop, inner: Option<&'a Loop>) -> Result<Self, String> {
        let outer_range = counted(course.file, outer)?;
        let inner_range = inner.map(|inner| counted(course.file, inner)).transpose()?;
        Ok(Self { course, outer, inner, outer_range, inner_range })
    }

    /// The loop that is all that a round of this one does, where one is: what else stands there only sets variables, and nothing of it is
    /// one of the calls.
    pub(crate) fn only_loop(course: &Course<'a>, outer: &Loop, writes: &[&Call]) -> Option<&'a Loop> {
        let file = course.file;
        let body = file.node_at(&outer.body).filter(|body| body.kind() == "compound_statement")?;
        let mut found = None;
        let mut cursor = body.walk();
        for statement in body.named_children(&mut cursor) {
            match statement.kind() {
                "comment" => {}
                "for_statement" if found.is_none() => {
                    found = file.loops().iter().find(|other| other.span == statement.byte_range());
                }
                "expression_statement" | "declaration" => {
                    if file.calls_in(statement.byte_range()).any(|call| !is_harmless(&call.name)) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        let inner = found?;
        let (_, bound) = counted(file, inner).ok()?;
        steady(course.context, file, course.kernel, &bound, &outer.body).ok()?;
        writes.iter().all(|call| inner.body.contains(&call.span.start)).then_some(inner)
    }

    /// The loop whose rounds are dealt.
    pub(crate) fn innermost(&self) -> &'a Loop {
        self.inner.unwrap_or(self.outer)
    }

    /// Rounds of all.
    pub(crate) fn rounds(&self) -> Option<Polynomial> {
        let outer = self.course.steady_form(&self.outer_range.1)?;
        match &self.inner_range {
            None => Some(outer),
            Some(_) => outer.times(&self.inner_rounds()?),
        }
    }

    /// Rounds of the inner one of two loops.
    pub(crate) fn inner_rounds(&self) -> Option<Polynomial> {
        self.course.steady_form(&self.inner_range.as_ref()?.1)
    }

    /// Counter of the outer loop.
    pub(crate) fn outer_counter(&self) -> &str {
        &self.outer_range.0
    }

    /// Places of a write; `None` where they are no sums of products.
    pub(crate) fn written(&self, call: &Call, running: &[Running]) -> Option<Written> {
        let file = self.course.file;
        let index = file.slice(call.arguments.first()?);
        let (inner, outer) = (self.inner_range.as_ref(), &self.outer_range.0);
        if let Some(running) = running.iter().find(|running| running.name == squash(index)) {
            let last = inner.map_or(outer, |(counter, _)| counter);
            let (pitch, rest) = running.start.split(last)?;
            let (of_outer, rest) = rest.split(outer)?;
            let base = (rest.constant() != Some(0)).then_some(rest);
            return Some(Written { pitch, outer: inner.map(|_| of_outer), whole: Vec::new(), base });
        }
        let body = &self.innermost().body;
        let around = loops_around(file, self.course.function, call.span.start);
        let mut within = Vec::new();
        for repetition in around.iter().filter(|repetition| body.contains(&repetition.span.start)) {
            within.push((counted(file, repetition).ok()?, &repetition.body));
        }
        let mut counters: BTreeSet<&str> = within.iter().map(|((counter, _), _)| counter.as_str()).collect();
        for ((counter, _), of_loop) in &within {
            steady(self.course.context, file, self.course.kernel, counter, of_loop).ok()?;
        }
        counters.insert(outer);
        counters.extend(inner.map(|(counter, _)| counter.as_str()));
        if counters.len() != within.len() + 1 + usize::from(inner.is_some()) {
            return None;
        }
        let mut rest = self.form(index, &counters, 0)?;
        let mut taken = |counter: &str| {
            let (step, others) = rest.split(counter)?;
            let is_plain = !others.mentions(counter) && counters.iter().all(|other| !step.mentions(other));
            rest = others;
            is_plain.then_some(step)
        };
        let of_outer = taken(outer)?;
        let pitch = match inner {
            Some((counter, _)) => taken(counter)?,
            None => of_outer.clone(),
        };
        if pitch.is_zero() || of_outer.is_zero() {
            return None;
        }
        let mut whole = Vec::new();
        for ((counter, bound), _) in &within {
            let step = taken(counter)?;
            // What lies inside of a round's places is no matter; what lies beyond the places of all rounds has to begin with a line.
            let rounds = self.course.steady_form(inner.map_or(&self.outer_range.1, |(_, bound)| bound))?;
            if !step.is_zero() && step.is_multiple_of(&pitch.times(&rounds)?) {
                whole.push(step);
            } else if Polynomial::of(bound, &|name| Some(Polynomial::atom(name))).is_none() {
                return None;
            }
        }
        let is_base = rest.constant().is_none() && (inner.is_some() || !rest.lies_in(&pitch));
        Some(Written { pitch, outer: inner.map(|_| of_outer), whole, base: is_base.then_some(rest) })
    }

    /// An expression in counters and what does not change; variables that a round sets once are followed.
    fn form(&self, text: &str, counters: &BTreeSet<&str>, depth: usize) -> Option<Polynomial> {
        let Course { context, kernel, file, function, body } = &self.course;
        if depth > DEPTH_MAX {
            return None;
        }
        let values = Values::of(file, function);
        Polynomial::of(text, &|name| {
            let plain = self.course.plain_name(name);
            if counters.contains(plain) {
                return Some(Polynomial::atom(plain));
            }
            if let Some(value) = values.only(plain, body) {
                return self.form(file.slice(&value), counters, depth + 1);
            }
            steady(context, file, kernel, name, body).ok()?;
            Some(Polynomial::atom(plain))
        })
    }

    /// Variables by whose value alone rounds write and which run along with them, as they are at the start of each; none where every
    /// variable is set anew.
    pub(crate) fn running(&self, writes: &[&Call]) -> Result<Vec<Running>, String> {
        let Course { file, function, .. } = self.course;
        let values = Values::of(file, function);
        let mut found: Vec<Running> = Vec::new();
        for call in writes {
            let Some(index) = call.arguments.first().map(|index| squash(file.slice(index))) else { continue };
            let is_local = || {
                let mut locals = file.locals().iter().filter(|local| function.body.contains(&local.span.start));
                locals.any(|local| local.name == index && local.span.end <= self.outer.span.start)
            };
            let is_known = found.iter().any(|running| running.name == index);
            let counts = loops_around(file, function, call.span.start)
                .into_iter()
                .any(|repetition| counted(file, repetition).is_ok_and(|(counter, _)| counter == index));
            if !is_name(&index) || is_known || counts || !is_local() || values.is_set_first(&index, &self.outer.body) {
                continue;
            }
            let start = self.start_of(&index, writes)?;
            found.push(Running { name: index, start });
        }
        Ok(found)
    }

    /// What a running index is at the start of a round.
    fn start_of(&self, name: &str, writes: &[&Call]) -> Result<Polynomial, String> {
        let Course { file, function, .. } = self.course;
        let unclear = || format!("what {name} is at the start of a round is not known");
        let body = &self.innermost().body;
        let mut locals =
            file.locals().iter().filter(|local| local.name == name && function.body.contains(&local.span.start));
        let (Some(declared), None) = (locals.next(), locals.next()) else { return Err(unclear()) };
        if declared.type_text.contains(['&', '*']) || !is_whole(&declared.type_text) {
            return Err(unclear());
        }
        let first = declared.value.as_ref().and_then(|value| self.course.steady_form(file.slice(value)));
        let first = first.filter(|_| declared.span.end <= self.outer.span.start).ok_or_else(unclear)?;
        self.is_theirs(name, &declared.span, body)?;
        let of_round = self.course.advance(name, self.innermost())?;
        self.is_used_where_it_runs(name, &of_round)?;
        for call in
            writes.iter().filter(|call| call.arguments.first().is_some_and(|index| squash(file.slice(index)) == name))
        {
            self.goes_on_behind(name, call)?;
        }
        let counter = |name: &str| Polynomial::atom(name);
        let outer = counter(&self.outer_range.0);
        let runs = match &self.inner_range {
            None => outer.times(&of_round.by),
            Some((inner, bound)) => {
                let rounds = self.course.steady_form(bound).ok_or_else(unclear)?;
                let of_all = outer.times(&rounds).map(|before| before.plus(&counter(inner)));
                of_all.and_then(|before| before.times(&of_round.by))
            }
        };
        let dealt = [Some(&self.outer_range.0), self.inner_range.as_ref().map(|(counter, _)| counter)];
        if of_round.by.is_zero() || dealt.into_iter().flatten().any(|counter| of_round.by.mentions(counter)) {
            return Err(unclear());
        }
        Ok(first.plus(&runs.ok_or_else(unclear)?))
    }

    /// Proves that nothing but the rounds uses a variable, and that they hand it to nobody.
    fn is_theirs(&self, name: &str, declared: &Range<usize>, body: &Range<usize>) -> Result<(), String> {
        let Course { file, function, .. } = self.course;
        let text = file.slice(&function.body);
        for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
            let at = function.body.start + token.span.start;
            if &text[token.span.clone()] == name && !body.contains(&at) && !declared.contains(&at) {
                return Err(format!("line {}: {name} is used outside of the rounds", file.line(at)));
            }
        }
        if changes(file, &function.body).into_iter().any(|change| change.name == name && change.how == How::Bound) {
            return Err(format!("{name} has another name"));
        }
        for call in file.calls_in(body.clone()) {
            let hands_over = call.arguments.iter().any(|argument| words(file.slice(argument)).contains(&name));
            if hands_over && !matches!(call.name.as_str(), "GetValue" | "SetValue") && !is_harmless(&call.name) {
                return Err(format!("line {}: {} gets {name}", file.line(call.span.start), call.name));
            }
        }
        Ok(())
    }

    /// Proves that an index is used in the loops that move it on, where there are any: their bounds are not below 0 there.
    fn is_used_where_it_runs(&self, name: &str, advance: &Advance) -> Result<(), String> {
        let file = self.course.file;
        let body = &self.innermost().body;
        let text = file.slice(body);
        for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
            let at = body.start + token.span.start;
            let runs = advance.loops.is_empty() || advance.loops.iter().any(|span| span.contains(&at));
            if &text[token.span.clone()] == name && !runs {
                return Err(format!("line {}: {name} is used beside the loop that moves it on", file.line(at)));
            }
        }
        Ok(())
    }

    /// Proves that what a round writes at an index is its own: the index goes on behind the write, in the same block, by one or more.
    fn goes_on_behind(&self, name: &str, write: &Call) -> Result<(), String> {
        let file = self.course.file;
        let line = file.line(write.span.start);
        let unclear = || format!("line {line}: {name} does not go on behind the write");
        let statement = write.statement.as_ref().ok_or_else(unclear)?;
        let block = block_of(file, statement).and_then(|block| file.node_at(&block)).ok_or_else(unclear)?;
        let mut cursor = block.walk();
        let mut later = block.named_children(&mut cursor).filter(|other| other.start_byte() >= statement.end);
        let goes_on = later.any(|other| {
            let text = squash(file.slice(&other.byte_range()));
            [format!("{name}++;"), format!("++{name};"), format!("{name}+=1;")].contains(&text)
        });
        if goes_on { Ok(()) } else { Err(unclear()) }
    }
}

/// Whether a variable holds whole numbers.
fn is_whole(type_text: &str) -> bool {
    let kinds = ["int", "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t", "auto"];
    words(type_text).into_iter().any(|word| kinds.contains(&word))
}
