//! The blocks of a function that run or do not run by themselves: arms of branches, bodies of loops, cases, arms of
//! directives, and what follows a statement that may leave early.

use std::ops::Range;

use tree_sitter::Node;

use source::parse::{Function, SyntaxFile};

/// Syntax nested deeper than this is one block with what is around it.
const NESTED_MAX: usize = 256;

/// A block with the blocks inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its bytes, those of the blocks inside it included.
    pub(crate) span: Range<usize>,
    /// Blocks that stand in it and may be left out while it runs.
    pub(crate) inner: Vec<Block>,
}

impl Block {
    /// The blocks of a function's body.
    pub(crate) fn of(file: &SyntaxFile, function: &Function) -> Self {
        let span = function.body.clone();
        let mut inner = Vec::new();
        if let Some(body) = file.node_at(&span) {
            sequence(body, 0, &mut inner);
        }
        Self { span, inner }
    }

    /// Whether a byte is its own, not one of a block inside it.
    pub(crate) fn owns(&self, byte: usize) -> bool {
        self.span.contains(&byte) && !self.inner.iter().any(|block| block.span.contains(&byte))
    }

    /// All blocks from here on, outer before inner.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Block)) {
        visit(self);
        for block in &self.inner {
            block.walk(visit);
        }
    }
}

/// The statements of a block one after the other; behind one that may leave early, the rest is a block of its own.
fn sequence(block: Node<'_>, nested: usize, inner: &mut Vec<Block>) {
    let mut cursor = block.walk();
    let statements: Vec<Node<'_>> = block.named_children(&mut cursor).collect();
    for (index, statement) in statements.iter().enumerate() {
        blocks_in(*statement, nested, inner);
        let rest = statements.get(index + 1).zip(statements.last());
        if let Some((first, last)) = rest.filter(|_| leaves(*statement, true, true, 0)) {
            let mut behind = Vec::new();
            rest_of(&statements[index + 1..], nested, &mut behind);
            inner.push(Block { span: first.start_byte()..last.end_byte(), inner: behind });
            return;
        }
    }
}

fn rest_of(statements: &[Node<'_>], nested: usize, inner: &mut Vec<Block>) {
    for (index, statement) in statements.iter().enumerate() {
        blocks_in(*statement, nested, inner);
        let rest = statements.get(index + 1).zip(statements.last());
        if let Some((first, last)) = rest.filter(|_| nested < NESTED_MAX && leaves(*statement, true, true, 0)) {
            let mut behind = Vec::new();
            rest_of(&statements[index + 1..], nested + 1, &mut behind);
            inner.push(Block { span: first.start_byte()..last.end_byte(), inner: behind });
            return;
        }
    }
}

/// Adds the outermost blocks inside a node.
fn blocks_in(node: Node<'_>, nested: usize, inner: &mut Vec<Block>) {
    if nested > NESTED_MAX {
        return;
    }
    let mut add = |part: Node<'_>| {
        let mut own = Vec::new();
        sequence_or_statement(part, nested + 1, &mut own);
        inner.push(Block { span: part.byte_range(), inner: own });
    };
    match node.kind() {
        "if_statement" => {
            if let Some(part) = node.child_by_field_name("consequence") {
                add(part);
            }
            if let Some(part) = node.child_by_field_name("alternative") {
                add(part);
            }
        }
        "for_statement" | "while_statement" | "for_range_loop" | "lambda_expression" => {
            if let Some(part) = node.child_by_field_name("body") {
                add(part);
            }
        }
        "case_statement" => add(node),
        "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" => arms(node, nested, inner),
        "preproc_else" => add(node),
        "compound_statement" => sequence(node, nested + 1, inner),
        _ => {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                blocks_in(child, nested + 1, inner);
            }
        }
    }
}

fn sequence_or_statement(part: Node<'_>, nested: usize, inner: &mut Vec<Block>) {
    match part.kind() {
        "compound_statement" | "case_statement" | "preproc_else" | "else_clause" => sequence(part, nested, inner),
        _ => blocks_in(part, nested, inner),
    }
}

/// The arms of a directive: what stands up to the next one, and each of those behind it.
fn arms(node: Node<'_>, nested: usize, inner: &mut Vec<Block>) {
    let mut cursor = node.walk();
    let asked = [node.child_by_field_name("condition"), node.child_by_field_name("name")];
    let parts: Vec<Node<'_>> =
        node.named_children(&mut cursor).filter(|child| !asked.contains(&Some(*child))).collect();
    let (others, own): (Vec<Node<'_>>, Vec<Node<'_>>) =
        parts.into_iter().partition(|part| matches!(part.kind(), "preproc_else" | "preproc_elif" | "preproc_elifdef"));
    if let Some((first, last)) = own.first().zip(own.last()) {
        let mut blocks = Vec::new();
        rest_of(&own, nested + 1, &mut blocks);
        inner.push(Block { span: first.start_byte()..last.end_byte(), inner: blocks });
    }
    for other in others {
        blocks_in(other, nested + 1, inner);
    }
}

/// Whether what follows a statement may be left out after it: a `return` somewhere in it, a `goto`, and what leaves a round of
/// a loop or a `switch` that the statement stands in.
fn leaves(node: Node<'_>, breaks: bool, continues: bool, nested: usize) -> bool {
    if nested > NESTED_MAX {
        return true;
    }
    let (breaks, continues) = match node.kind() {
        "return_statement" | "goto_statement" | "throw_statement" => return true,
        "break_statement" => return breaks,
        "continue_statement" => return continues,
        "lambda_expression" | "function_definition" => return false,
        "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => (false, false),
        "switch_statement" => (false, continues),
        _ => (breaks, continues),
    };
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| leaves(child, breaks, continues, nested + 1))
}
