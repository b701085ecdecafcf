//! Indices that run along with a nest of loops: what they have gone on by behind a round, as an expression of the counters.

use std::ops::Range;

use tree_sitter::Node;

use crate::analysis::code::{is_name, squash, words};
use crate::analysis::flow::changes::{How, changes};
use crate::analysis::flow::effects::steady;
use crate::analysis::loops::counted;
use crate::analysis::polynomial::Polynomial;
use crate::context::Context;
use source::facts::Kernel;
use source::lex::{PieceKind, pieces};
use source::parse::{Function, Loop, SyntaxFile};

/// Code in which an index runs: everything that its steps are made of stays the same there.
pub(crate) struct Course<'a> {
    pub(crate) context: &'a Context,
    pub(crate) kernel: &'a Kernel,
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    /// The body of the outermost loop.
    pub(crate) body: Range<usize>,
}

/// By how much an index goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advance {
    pub(crate) by: Polynomial,
    /// Loops that it does so in: where one of them has no rounds because its bound is below 0, `by` is wrong.
    pub(crate) loops: Vec<Range<usize>>,
}

impl<'a> Course<'a> {
    /// By how much a round of a loop moves a variable on; `Err` says what is not known about it.
    pub(crate) fn advance(&self, name: &str, repetition: &Loop) -> Result<Advance, String> {
        self.every_round(repetition)?;
        let node = self.file.node_at(&repetition.body).ok_or("the loop is not understood")?;
        self.of_block(name, node)
    }

    /// What an expression is made of, where nothing of it changes in the body.
    pub(crate) fn steady_form(&self, text: &str) -> Option<Polynomial> {
        steady(self.context, self.file, self.kernel, text, &self.body).ok()?;
        Polynomial::of(text, &|name| Some(Polynomial::atom(self.plain_name(name))))
    }

    /// A member by its own name, where no variable of the function has the same.
    pub(crate) fn plain_name<'n>(&self, name: &'n str) -> &'n str {
        let Some(member) = name.strip_prefix("this->") else { return name };
        let body = &self.function.body;
        let mut locals = self.file.locals().iter().filter(|local| body.contains(&local.span.start));
        let hidden = locals.any(|local| local.name == member)
            || self.function.parameters.iter().any(|parameter| parameter.name == member);
        if hidden { name } else { member }
    }

    fn of_block(&self, name: &str, block: Node<'a>) -> Result<Advance, String> {
        if block.kind() != "compound_statement" {
            return self.of_statement(name, block);
        }
        let mut whole = Advance::default();
        let mut cursor = block.walk();
        let mut whiles = Vec::new();
        for statement in block.named_children(&mut cursor) {
            if !self.changes(name, &statement.byte_range()) {
                continue;
            }
            if statement.kind() == "while_statement" {
                whiles.push(statement);
                continue;
            }
            let part = self.of_statement(name, statement)?;
            whole.by = whole.by.plus(&part.by);
            whole.loops.extend(part.loops);
        }
        if !whiles.is_empty() {
            let part = self.of_whiles(name, block, &whiles)?;
            whole.by = whole.by.plus(&part.by);
            whole.loops.extend(part.loops);
        }
        Ok(whole)
    }

    fn of_statement(&self, name: &str, statement: Node<'a>) -> Result<Advance, String> {
        let file = self.file;
        let line = file.line(statement.start_byte());
        let unclear = || format!("line {line}: how far {name} goes on is not known");
        if !self.changes(name, &statement.byte_range()) {
            return Ok(Advance::default());
        }
        match statement.kind() {
            "expression_statement" => {
                let step = statement.named_child(0).ok_or_else(unclear)?;
                let by = self.step(name, step).ok_or_else(unclear)?;
                Ok(Advance { by, loops: Vec::new() })
            }
            "compound_statement" => self.of_block(name, statement),
            "for_statement" => {
                let mut loops = file.loops().iter();
                let repetition = loops.find(|other| other.span == statement.byte_range()).ok_or_else(unclear)?;
                let (counter, bound) = counted(file, repetition).map_err(|reason| format!("line {line}: {reason}"))?;
                self.every_round(repetition)?;
                let body = file.node_at(&repetition.body).ok_or_else(unclear)?;
                let round = self.of_block(name, body)?;
                let rounds = self.steady_form(&bound).ok_or_else(unclear)?;
                steady(self.context, file, self.kernel, &counter, &repetition.body)?;
                if round.by.mentions(&counter) {
                    return Err(unclear());
                }
                let by = round.by.times(&rounds).ok_or_else(unclear)?;
                let mut loops = round.loops;
                loops.push(repetition.span.clone());
                Ok(Advance { by, loops })
            }
            "if_statement" => {
                let arm = |field: &str| statement.child_by_field_name(field);
                let otherwise = arm("alternative").map(|other| match other.kind() {
                    "else_clause" => other.named_child(0).unwrap_or(other),
                    _ => other,
                });
                let (Some(then), Some(otherwise)) = (arm("consequence"), otherwise) else { return Err(unclear()) };
                let (mut then, otherwise) = (self.of_block(name, then)?, self.of_block(name, otherwise)?);
                if then.by != otherwise.by {
                    return Err(unclear());
                }
                then.loops.extend(otherwise.loops);
                Ok(then)
            }
            _ => Err(unclear()),
        }
    }

    /// `x++`, `++x`, or `x += step`.
    fn step(&self, name: &str, step: Node<'a>) -> Option<Polynomial> {
        let text = |node: Node<'a>| self.file.slice(&node.byte_range());
        match step.kind() {
            "update_expression" => {
                let is_it = step.child_by_field_name("argument").is_some_and(|argument| text(argument) == name);
                (is_it && text(step).contains("++")).then(|| Polynomial::number(1))
            }
            "assignment_expression" => {
                let field = |field: &str| step.child_by_field_name(field);
                let adds = field("operator").is_some_and(|sign| sign.kind() == "+=");
                let is_it = field("left").is_some_and(|left| text(left) == name);
                let by = (adds && is_it).then(|| self.steady_form(text(field("right")?)))?;
                // One that went back might come to a place twice.
                by.filter(|by| by.constant().is_some_and(|by| by >= 0))
            }
            _ => None,
        }
    }

    /// `while` loops of a block that share a counter, which each of them moves on by one: as many rounds in all as the last one allows.
    fn of_whiles(&self, name: &str, block: Node<'a>, whiles: &[Node<'a>]) -> Result<Advance, String> {
        let file = self.file;
        let line = file.line(whiles[0].start_byte());
        let unclear = || format!("line {line}: how many rounds move {name} on is not known");
        let loops: Vec<&Loop> = whiles
            .iter()
            .filter_map(|node| file.loops().iter().find(|repetition| repetition.span == node.byte_range()))
            .collect();
        let condition =
            |repetition: &Loop| repetition.condition.clone().map(|span| file.slice(&span)).unwrap_or_default();
        let last = condition(loops.last().filter(|_| loops.len() == whiles.len()).ok_or_else(unclear)?);
        let last = crate::analysis::linear::enclosed(last.trim()).unwrap_or(last.trim());
        let (counter, bound) = last.split_once('<').ok_or_else(unclear)?;
        let (counter, bound) = (counter.trim(), bound.trim());
        let one = !bound.contains(['<', '=', '&', '|', '?', ',']);
        if !is_name(counter) || !one || words(bound).contains(&counter) {
            return Err(unclear());
        }
        let rounds = self.steady_form(bound).ok_or_else(unclear)?;
        let begins = file.locals().iter().any(|local| {
            let own = file.node_at(&local.span).and_then(|node| node.parent()) == Some(block)
                || crate::analysis::code::block_of(file, &local.span) == Some(block.byte_range());
            let value = local.value.as_ref().map(|value| file.slice(value));
            local.name == counter && own && value == Some("0") && local.span.end <= whiles[0].start_byte()
        });
        let mut round: Option<Polynomial> = None;
        for repetition in &loops {
            self.every_round(repetition)?;
            let wanted = squash(&format!("{counter}<{bound}"));
            let text = condition(repetition).trim();
            let text = crate::analysis::linear::enclosed(text).unwrap_or(text);
            // No round of it goes on where the last one would have ended.
            if !conjuncts(text).is_some_and(|parts| parts.into_iter().any(|part| squash(part) == wanted)) {
                return Err(unclear());
            }
            let body = file.node_at(&repetition.body).filter(|body| body.kind() == "compound_statement");
            let body = body.ok_or_else(unclear)?;
            if self.of_block(counter, body)? != (Advance { by: Polynomial::number(1), loops: Vec::new() }) {
                return Err(unclear());
            }
            let own = self.of_block(name, body)?;
            if !own.loops.is_empty() || round.as_ref().is_some_and(|other| *other != own.by) {
                return Err(unclear());
            }
            round = Some(own.by);
        }
        let sets = changes(file, &block.byte_range()).into_iter().filter(|change| change.name == counter).count();
        if !begins || sets != loops.len() + 1 {
            return Err(unclear());
        }
        let by = round.unwrap_or_default().times(&rounds).ok_or_else(unclear)?;
        if by.mentions(counter) {
            return Err(unclear());
        }
        Ok(Advance { by, loops: loops.iter().map(|repetition| repetition.span.clone()).collect() })
    }

    /// Proves that every round of a loop is done to its end.
    pub(crate) fn every_round(&self, repetition: &Loop) -> Result<(), String> {
        let text = self.file.slice(&repetition.body);
        for token in pieces(text) {
            let line = || self.file.line(repetition.body.start + token.span.start);
            match (token.kind, &text[token.span.clone()]) {
                (PieceKind::Directive, _) => return Err(format!("line {}: a directive stands in the loop", line())),
                (PieceKind::Word, word @ ("return" | "goto" | "break" | "continue")) => {
                    return Err(format!("line {}: {word} ends a round", line()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether code changes a variable, or may by another name.
    fn changes(&self, name: &str, span: &Range<usize>) -> bool {
        let own = changes(self.file, span).into_iter().filter(|change| change.how != How::Declared);
        own.into_iter().any(|change| change.name == name)
    }
}

/// What has to hold together, at the top level of a condition; `None` where something else decides.
fn conjuncts(condition: &str) -> Option<Vec<&str>> {
    if condition.contains("||") || condition.contains(['?', ',']) {
        return None;
    }
    let mut depth = 0i32;
    let mut found = Vec::new();
    for part in condition.split("&&") {
        let before = depth;
        for character in part.chars() {
            depth += i32::from(character == '(') - i32::from(character == ')');
        }
        if before == 0 && depth == 0 {
            found.push(part);
        }
    }
    Some(found)
}
