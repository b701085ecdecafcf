//! Where the values of a function's variables come from, within the function.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use super::changes::{How, changes, path};
use crate::analysis::code::words;
use crate::analysis::loops::loops_around;
use source::lex::{PieceKind, pieces};
use source::parse::{Function, SyntaxFile};

/// What a function gives its variables: in declarations, assignments and steps.
pub(crate) struct Values<'a> {
    file: &'a SyntaxFile,
    function: &'a Function,
    /// Names with the expressions that they are set from.
    given: Vec<(&'a str, Range<usize>)>,
}

impl<'a> Values<'a> {
    pub(crate) fn of(file: &'a SyntaxFile, function: &'a Function) -> Self {
        let within = |span: &Range<usize>| function.body.start <= span.start && span.end <= function.body.end;
        let locals = file.locals().iter().filter(|local| within(&local.span));
        let mut given: Vec<(&str, Range<usize>)> =
            locals.filter_map(|local| Some((local.name.as_str(), local.value.clone()?))).collect();
        let mut open: Vec<Node<'a>> =
            file.root().descendant_for_byte_range(function.body.start, function.body.end).into_iter().collect();
        while let Some(node) = open.pop() {
            if let ("assignment_expression" | "init_declarator", Some(value)) =
                (node.kind(), node.child_by_field_name("right").or_else(|| node.child_by_field_name("value")))
            {
                let target = node.child_by_field_name("left").or_else(|| node.child_by_field_name("declarator"));
                let names = target.map(path).unwrap_or_default();
                given.extend(names.into_iter().map(|name| (file.slice(&name.byte_range()), value.byte_range())));
            }
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
        given.retain(|(_, value)| within(value));
        Self { file, function, given }
    }

    /// Names that an expression follows: its own, and those that these are set from.
    pub(crate) fn behind(&self, expression: &Range<usize>) -> BTreeSet<&'a str> {
        let mut names: BTreeSet<&str> = words(self.file.slice(expression)).into_iter().collect();
        loop {
            let known = names.len();
            let more: Vec<&str> = self
                .given
                .iter()
                .filter(|(name, _)| names.contains(name))
                .flat_map(|(_, value)| words(self.file.slice(value)))
                .collect();
            names.extend(more);
            if names.len() == known {
                return names;
            }
        }
    }

    /// The expression that code sets a variable from, if it does so at one place.
    pub(crate) fn only(&self, name: &str, within: &Range<usize>) -> Option<Range<usize>> {
        let inside = |value: &Range<usize>| within.start <= value.start && value.end <= within.end;
        let mut given = self.given.iter().filter(|(other, value)| *other == name && inside(value));
        let (_, value) = given.next()?;
        // A declaration stands among them twice: as a local and as its declarator.
        if given.any(|(_, other)| other != value) {
            return None;
        }
        let mut node = self.file.node_at(value)?;
        while node.parent().is_some_and(|parent| parent.byte_range() == *value) {
            node = node.parent()?;
        }
        let parent = node.parent()?;
        let sets = match parent.kind() {
            "init_declarator" => true,
            "assignment_expression" => parent.child_by_field_name("operator").is_some_and(|sign| sign.kind() == "="),
            _ => false,
        };
        let changed = changes(self.file, within).into_iter().filter(|change| change.name == name);
        (sets && changed.filter(|change| change.how != How::Declared).count() == 1).then(|| value.clone())
    }

    /// The expressions that an expression follows, itself among them.
    pub(crate) fn spans_behind(&self, expression: &Range<usize>) -> Vec<Range<usize>> {
        let names = self.behind(expression);
        let given = self.given.iter().filter(|(name, _)| names.contains(name)).map(|(_, value)| value.clone());
        std::iter::once(expression.clone()).chain(given).collect()
    }

    /// Whether a local variable that is declared outside of a loop's body is set in every round before it is read, and is not read
    /// behind the loop.
    pub(crate) fn is_set_first(&self, name: &str, body: &Range<usize>) -> bool {
        let mut locals = self.file.locals().iter();
        let Some(declared) = locals.find(|local| local.name == name && self.function.body.contains(&local.span.start))
        else {
            return false;
        };
        let later = self.mentions(name, &(body.end..self.function.body.end));
        self.is_set_first_in(name, body)
            && !declared.type_text.contains(['&', '*'])
            && later.into_iter().all(|at| {
                let around = loops_around(self.file, self.function, at).last().copied();
                around.is_some_and(|repetition| self.is_set_first_in(name, &repetition.body))
            })
    }

    fn is_set_first_in(&self, name: &str, body: &Range<usize>) -> bool {
        let mentions = self.mentions(name, body);
        let (Some(first), Some(last)) = (mentions.first(), mentions.last()) else { return true };
        let Some(node) = self.file.node_at(&(*first..*first + name.len())) else { return false };
        let assignment = node.parent().filter(|parent| {
            let field = |name: &str| parent.child_by_field_name(name);
            parent.kind() == "assignment_expression"
                && field("left") == Some(node)
                && field("operator").is_some_and(|sign| sign.kind() == "=")
                && field("right").is_some_and(|value| !words(self.file.slice(&value.byte_range())).contains(&name))
        });
        let statement = assignment.and_then(|assignment| assignment.parent());
        let block = statement.filter(|statement| statement.kind() == "expression_statement").and_then(|it| it.parent());
        block.is_some_and(|block| block.kind() == "compound_statement" && block.byte_range().contains(last))
    }

    /// First bytes of all mentions of a name.
    fn mentions(&self, name: &str, span: &Range<usize>) -> Vec<usize> {
        let text = self.file.slice(span);
        let words = pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word);
        words.filter(|token| &text[token.span.clone()] == name).map(|token| span.start + token.span.start).collect()
    }
}
