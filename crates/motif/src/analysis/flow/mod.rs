//! A function as motifs ask about it: its statements, what may run after each, what each changes and touches.
//!
//! * [`graph`]: statements and control flow, ways out through macros included. What is not understood (labels, exceptions, cases inside
//!   of other statements, code that does not parse) is no graph, so nothing is proved of the function.
//! * [`changes`]: names that code changes by itself, from its syntax tree; [`bindings`]: other names of a variable.
//! * [`effects`]: the same through everything that calls reach, and whether an expression keeps its value.
//! * [`memory`]: which tensors may be in the same memory.
//! * [`liveness`]: whether what a tensor holds is read again.
//! * [`values`]: what variables are set from.

mod bindings;
pub(crate) mod changes;
pub(crate) mod effects;
mod graph;
pub(crate) mod liveness;
pub(crate) mod memory;
pub(crate) mod values;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::code::{Surroundings, words};
use crate::context::Context;
use effects::steady_over;
use graph::Graph;
use source::facts::TensorUse;

/// Control flow of a function with the questions about two of its statements.
pub(crate) struct Flow<'a> {
    around: &'a Surroundings<'a>,
    graph: Arc<Graph>,
}

impl<'a> Flow<'a> {
    /// The flow of a function, or why it is not understood.
    pub(crate) fn of(around: &'a Surroundings<'a>) -> Result<Self, String> {
        let Surroundings { context, file, function, .. } = *around;
        let graph = context.functions.once(file, function, || {
            Graph::of(file, function, &leaving(context, file.slice(&function.body))).map(Arc::new)
        })?;
        Ok(Self { around, graph })
    }

    fn step(&self, statement: &Range<usize>) -> Result<usize, String> {
        let line = self.around.file.line(statement.start);
        self.graph.at(statement.start).ok_or_else(|| format!("line {line} is no statement of the function"))
    }

    /// Proves that both statements run, or neither does: the second once after each run of the first.
    pub(crate) fn follows(&self, first: &Range<usize>, second: &Range<usize>) -> Result<(), String> {
        let (from, to) = (self.step(first)?, self.step(second)?);
        let line = |statement: &Range<usize>| self.around.file.line(statement.start);
        if let Some(steps) = self.graph.ways_out(from, to) {
            let leaves = |word: &&str| matches!(*word, "break" | "continue" | "return" | "goto" | "throw");
            let text = |step: usize| self.around.file.slice(&self.graph.step(step).span);
            let word = steps.into_iter().find_map(|step| words(text(step)).into_iter().find(leaves));
            return Err(format!("{} may leave before line {}", word.unwrap_or("the code"), line(second)));
        }
        if !self.graph.is_preceded(from, to) {
            return Err(format!("line {} may run without line {}", line(second), line(first)));
        }
        Ok(())
    }

    /// What may run after the first statement and before the next run of the second.
    pub(crate) fn between(&self, first: &Range<usize>, second: &Range<usize>) -> Result<Vec<Range<usize>>, String> {
        let (from, to) = (self.step(first)?, self.step(second)?);
        Ok(self.graph.between(from, to).into_iter().map(|step| self.graph.step(step).span.clone()).collect())
    }

    /// Proves that an expression has no effect and the same value at both statements.
    pub(crate) fn same_value(
        &self,
        expression: &str,
        first: &Range<usize>,
        second: &Range<usize>,
    ) -> Result<(), String> {
        let Surroundings { context, file, kernel, .. } = *self.around;
        let spans = self.between(first, second)?;
        steady_over(context, file, kernel, expression, &spans)
    }

    /// Uses of tensors that may run after the first statement and before the next run of the second.
    pub(crate) fn uses_between(
        &self,
        first: &Range<usize>,
        second: &Range<usize>,
    ) -> Result<Vec<&'a TensorUse>, String> {
        let spans = self.between(first, second)?;
        let inside = |used: &&TensorUse| spans.iter().any(|span| span.contains(&used.span.start));
        Ok(self.around.tensors.uses.iter().filter(inside).collect())
    }
}

/// Macros of a text that may leave what they stand in.
fn leaving<'a>(context: &'a Context, text: &'a str) -> BTreeSet<&'a str> {
    let leaves = |name: &&str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![*name]);
        while let Some(word) = open.pop() {
            if matches!(word, "break" | "continue" | "return" | "goto" | "throw") {
                return true;
            }
            if seen.insert(word) {
                open.extend(context.facts.macros.get(word).into_iter().flatten().flat_map(|body| words(body)));
            }
        }
        false
    };
    let macros: BTreeSet<&str> =
        words(text).into_iter().filter(|word| context.facts.macros.contains_key(*word)).collect();
    macros.into_iter().filter(leaves).collect()
}
