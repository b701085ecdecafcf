//! What runs between a place in a kernel and the next full barriers before and after it, on all paths.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use source::facts::{Callers, Kernel};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile, SyntaxForest};

/// Functions are followed into each other so deep.
const DEPTH_MAX: usize = 12;

/// Code that may run on one side of a place before another full barrier does: spans by file.
#[derive(Default)]
pub(crate) struct Region<'a> {
    pub(crate) spans: Vec<(&'a SyntaxFile, Range<usize>)>,
}

impl<'a> Region<'a> {
    /// Calls of the region.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&'a SyntaxFile, &'a Call)> {
        self.spans.iter().flat_map(|(file, span)| file.calls_in(span.clone()).map(move |call| (*file, call)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Before,
    After,
}

/// Walks the kernel's functions from a statement to full barriers.
pub(crate) struct Walk<'a> {
    callers: Callers<'a>,
    kernel: &'a Kernel,
    forest: &'a SyntaxForest,
    side: Side,
    region: Region<'a>,
    seen: BTreeSet<(String, usize)>,
    depth: usize,
}

impl<'a> Walk<'a> {
    /// The region on one side of a statement. `Err` where the control flow is not understood.
    pub(crate) fn region(
        kernel: &'a Kernel,
        forest: &'a SyntaxForest,
        file: &'a SyntaxFile,
        statement: &Range<usize>,
        side: Side,
    ) -> Result<Region<'a>, String> {
        let callers = Callers::new(kernel, forest);
        let (region, seen) = (Region::default(), BTreeSet::new());
        let mut walk = Walk { callers, kernel, forest, side, region, seen, depth: 0 };
        let node = statement_node(file, statement).ok_or("the barrier is not a statement of its own")?;
        walk.leave(file, node)?;
        Ok(walk.region)
    }

    /// From a statement to the end of what surrounds it.
    fn leave(&mut self, file: &'a SyntaxFile, mut node: Node<'a>) -> Result<(), String> {
        if !self.seen.insert((file.name().to_owned(), node.start_byte())) {
            return Ok(());
        }
        if let Some(function) = file.enclosing_function(node.start_byte()) {
            straight(file, function)?;
        }
        loop {
            let parent = node.parent().ok_or("the statement is in no function")?;
            match parent.kind() {
                "compound_statement" | "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" => {
                    let mut next = self.step(node);
                    while let Some(sibling) = next {
                        if self.statement(file, sibling)? {
                            return Ok(());
                        }
                        next = self.step(sibling);
                    }
                }
                "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
                    self.region.spans.push((file, header(parent)));
                    self.block(file, node)?;
                }
                "if_statement" | "else_clause" => {}
                "function_definition" => {
                    let body = node.byte_range();
                    let function = file.functions().iter().find(|function| function.body == body);
                    return self.callers_of(function.ok_or("the function is not understood")?);
                }
                other => {
                    return Err(format!("a {} at line {}", other.replace('_', " "), file.line(parent.start_byte())));
                }
            }
            node = parent;
        }
    }

    fn callers_of(&mut self, function: &Function) -> Result<(), String> {
        let sites = self.callers.sites(function);
        if sites.is_empty() {
            // An entry: other entries, as `Init`, may run before or after it.
            let entries = self.kernel.functions.iter().filter_map(|(file, index)| {
                let file = self.forest.get(file)?;
                Some((file, file.functions().get(*index)?))
            });
            for (file, entry) in entries {
                if entry.span != function.span && self.callers.sites(entry).is_empty() {
                    self.region.spans.push((file, entry.body.clone()));
                }
            }
            return Ok(());
        }
        for site in sites {
            let node = site.file.node_at(&site.call.span).ok_or("a call is not understood")?;
            let statement = enclosing_statement(node).ok_or_else(|| {
                format!("the call at line {} is part of a condition", site.file.line(site.call.span.start))
            })?;
            self.leave(site.file, statement)?;
        }
        Ok(())
    }

    fn step(&self, node: Node<'a>) -> Option<Node<'a>> {
        match self.side {
            Side::Before => node.prev_named_sibling(),
            Side::After => node.next_named_sibling(),
        }
    }

    /// A statement that is walked over; whether every path through it meets a full barrier.
    fn statement(&mut self, file: &'a SyntaxFile, node: Node<'a>) -> Result<bool, String> {
        match node.kind() {
            "comment" => Ok(false),
            "compound_statement" => self.block(file, node),
            "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
                self.region.spans.push((file, header(node)));
                if let Some(body) = node.child_by_field_name("body") {
                    self.block(file, body)?;
                }
                Ok(false)
            }
            "if_statement" => {
                let branch = |name: &str| node.child_by_field_name(name);
                if let Some(condition) = branch("condition") {
                    self.simple(file, condition)?;
                }
                let first = branch("consequence").map(|node| self.block(file, node)).transpose()?.unwrap_or(false);
                let other = branch("alternative").and_then(|clause| clause.named_child(0));
                let second = other.map(|node| self.block(file, node)).transpose()?.unwrap_or(false);
                Ok(first && second)
            }
            "expression_statement" | "declaration" | "return_statement" => self.simple(file, node),
            _ => {
                self.region.spans.push((file, node.byte_range()));
                for call in file.calls_in(node.byte_range()) {
                    self.whole(call);
                }
                Ok(false)
            }
        }
    }

    /// The statements of a block, from the side where the walk enters it.
    fn block(&mut self, file: &'a SyntaxFile, node: Node<'a>) -> Result<bool, String> {
        if node.kind() != "compound_statement" {
            return self.statement(file, node);
        }
        let mut cursor = node.walk();
        let mut children: Vec<Node<'a>> = node.named_children(&mut cursor).collect();
        if self.side == Side::Before {
            children.reverse();
        }
        for child in children {
            if self.statement(file, child)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn simple(&mut self, file: &'a SyntaxFile, node: Node<'a>) -> Result<bool, String> {
        let mut stopped = false;
        for call in file.calls_in(node.byte_range()) {
            if is_full_barrier(call) {
                return Ok(true);
            }
            let callees = self.callers.callees(call);
            let mut all = !callees.is_empty();
            for (callee_file, callee) in callees {
                straight(callee_file, callee)?;
                let body = callee_file.node_at(&callee.body).ok_or("a function is not understood")?;
                self.depth += 1;
                if self.depth > DEPTH_MAX {
                    return Err("functions call each other too deeply".to_owned());
                }
                all &= self.block(callee_file, body)?;
                self.depth -= 1;
            }
            stopped |= all;
        }
        self.region.spans.push((file, node.byte_range()));
        Ok(stopped)
    }

    /// All that a call may run, whatever the order.
    fn whole(&mut self, call: &Call) {
        for (file, callee) in self.callers.callees(call) {
            if self.seen.insert((file.name().to_owned(), callee.body.end)) {
                self.region.spans.push((file, callee.body.clone()));
                for inner in file.calls_in(callee.body.clone()) {
                    self.whole(inner);
                }
            }
        }
    }
}

/// Whether a call is `PipeBarrier<PIPE_ALL>()`.
pub(crate) fn is_full_barrier(call: &Call) -> bool {
    call.name == "PipeBarrier" && call.template_arguments.as_deref() == Some("PIPE_ALL")
}

/// The part of a loop before its body.
fn header(node: Node<'_>) -> Range<usize> {
    let end = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    node.start_byte()..end.max(node.start_byte())
}

fn statement_node<'a>(file: &'a SyntaxFile, statement: &Range<usize>) -> Option<Node<'a>> {
    let mut node = file.node_at(statement)?;
    while node.byte_range().len() < statement.len() {
        node = node.parent()?;
    }
    Some(node)
}

/// The statement around a node that stands in a block; `None` inside the head of a loop or a condition.
fn enclosing_statement(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        let parent = node.parent()?;
        let body = |name: &str| parent.child_by_field_name(name).is_some_and(|child| child == node);
        match parent.kind() {
            "compound_statement" | "preproc_if" | "preproc_ifdef" | "preproc_else" | "else_clause" => {
                return Some(node);
            }
            "if_statement" => return (body("consequence") || body("alternative")).then_some(node),
            "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
                return body("body").then_some(node);
            }
            "lambda_expression" | "function_definition" => return None,
            _ => node = parent,
        }
    }
}

/// Proves that a function runs from its start to its end.
fn straight(file: &SyntaxFile, function: &Function) -> Result<(), String> {
    let text = file.slice(&function.body);
    for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
        let word = &text[token.span.clone()];
        let at = function.body.start + token.span.start;
        let leaves = match word {
            "return" => {
                let rest = text[token.span.end..].trim_end().strip_suffix('}').unwrap_or_default();
                rest.trim_end().strip_suffix(';').is_none_or(|value| value.contains(';'))
            }
            "break" | "continue" | "goto" => true,
            _ => false,
        };
        if leaves {
            return Err(format!("{word} at line {} leaves early", file.line(at)));
        }
    }
    Ok(())
}
