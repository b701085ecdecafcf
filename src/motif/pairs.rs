//! Pairs of vector calls where the second consumes what the first put into a temporary.

use super::code::{
    Surroundings, VectorCall, assigns, block_of, dead_after, functions, squash, vector_calls, words, written_scope,
};
use super::context::{Candidate, Context};
use crate::source::facts::api::Access;
use crate::source::facts::{Kernel, TensorFacts};
use crate::source::parse::{Function, SyntaxFile};

/// A producer and a consumer in the same block, with what surrounds them.
pub(super) struct Pair<'a> {
    pub(super) context: &'a Context,
    pub(super) file: &'a SyntaxFile,
    pub(super) function: &'a Function,
    pub(super) kernel: &'a Kernel,
    pub(super) tensors: &'a TensorFacts,
    pub(super) first: &'a VectorCall<'a>,
    pub(super) second: &'a VectorCall<'a>,
}

/// Calls `judge` for every pair where `second` reads the destination of `first` and nothing touches it in between.
pub(super) fn each_pair(
    context: &Context,
    first_name: &str,
    mut judge: impl FnMut(&Pair<'_>) -> Option<Candidate>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, tensors) in functions(context) {
        let calls = vector_calls(file, function, &tensors);
        for second in &calls {
            for source in distinct(&second.sources) {
                let Some(first) = calls
                    .iter()
                    .rev()
                    .find(|first| first.statement.end <= second.statement.start && first.destination == source)
                else {
                    continue;
                };
                let untouched = tensors
                    .uses_of(source)
                    .all(|used| used.span.start < first.statement.end || used.span.start >= second.statement.start);
                if first.name == first_name
                    && untouched
                    && block_of(file, &first.statement) == block_of(file, &second.statement)
                {
                    found.extend(judge(&Pair { context, file, function, kernel, tensors: &tensors, first, second }));
                }
            }
        }
    }
    found
}

fn distinct<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    names
}

impl Pair<'_> {
    /// The temporary between the two.
    pub(super) fn temporary(&self) -> &str {
        self.first.destination
    }

    /// Proves that the first instruction can be done at the second's place instead, and its result be thrown away.
    pub(super) fn can_merge(&self) -> Result<(), String> {
        self.same_count()?;
        self.inputs_unchanged()?;
        if !self.tensors.disjoint(self.temporary(), self.second.destination)
            && self.temporary() != self.second.destination
        {
            return Err(format!("{} and {} may share memory", self.temporary(), self.second.destination));
        }
        if self.temporary() == self.second.destination {
            return Ok(());
        }
        self.dead()
    }

    /// Proves that the temporary is not needed after the second instruction.
    pub(super) fn dead(&self) -> Result<(), String> {
        let Self { context, file, function, kernel, tensors, .. } = *self;
        let around = Surroundings { context, file, function, kernel, tensors };
        dead_after(&around, self.temporary(), &self.second.statement, self.first.count)
    }

    /// Proves that both cover the same elements.
    pub(super) fn same_count(&self) -> Result<(), String> {
        let between = self.file.slice(&(self.first.statement.end..self.second.statement.start));
        let changed = words(self.first.count).into_iter().find(|word| assigns(between, word));
        if squash(self.first.count) != squash(self.second.count) {
            return Err(format!("the counts differ: {} and {}", self.first.count, self.second.count));
        }
        changed.map_or(Ok(()), |word| Err(format!("{word} changes between the two instructions")))
    }

    /// Proves that nothing the first instruction reads changes before the second.
    pub(super) fn inputs_unchanged(&self) -> Result<(), String> {
        let between = self.first.statement.end..self.second.statement.start;
        let text = self.file.slice(&between);
        if let Some(word) =
            self.first.scalar.map(words).unwrap_or_default().into_iter().find(|word| assigns(text, word))
        {
            return Err(format!("{word} changes between the two instructions"));
        }
        if self.first.scalar.is_some_and(|scalar| scalar.contains('(') && !super::code::invariant(scalar, text)) {
            return Err("the scalar operand is a call that may not be repeated".to_owned());
        }
        for used in self.tensors.uses.iter().filter(|used| between.contains(&used.span.start)) {
            let writes = !matches!(used.access, Access::Read | Access::None | Access::Release);
            let hits = |source: &&str| used.tensor == **source || !self.tensors.disjoint(&used.tensor, source);
            if let Some(source) = self.first.sources.iter().find(|source| writes && hits(source)) {
                return Err(format!("{} may change {source} at line {}", used.tensor, self.file.line(used.span.start)));
            }
            if used.access == Access::Release && self.first.sources.contains(&used.tensor.as_str()) {
                return Err(format!(
                    "{} is given back before line {}",
                    used.tensor,
                    self.file.line(self.second.statement.start)
                ));
            }
        }
        Ok(())
    }

    /// Element type of the second instruction's destination.
    pub(super) fn element(&self) -> &str {
        self.tensors.tensors.get(self.second.destination).map_or("", |tensor| tensor.element.as_str())
    }

    /// The other operand of a binary second instruction.
    pub(super) fn other_operand(&self) -> Option<&str> {
        match self.second.sources.as_slice() {
            [left, right] if *left == self.temporary() && *right != self.temporary() => Some(right),
            [left, right] if *right == self.temporary() && *left != self.temporary() => Some(left),
            _ => None,
        }
    }
}

/// The callee as written with another name, scope kept.
pub(super) fn renamed(file: &SyntaxFile, call: &VectorCall<'_>, name: &str) -> String {
    format!("{}{name}", written_scope(file, call.call))
}
