//! Pairs of vector calls where the second consumes what the first put into a temporary.

use crate::analysis::code::{Surroundings, VectorCall, functions, same_block, squash, vector_calls, written_scope};
use crate::analysis::flow::Flow;
use crate::analysis::flow::liveness::dead_after;
use crate::analysis::flow::memory::may_share;
use crate::context::Context;
use crate::site::Candidate;
use source::facts::api::Access;
use source::facts::{Kernel, TensorFacts};
use source::parse::{Function, SyntaxFile};

/// A producer and a consumer in the same block, with what surrounds them.
pub(crate) struct Pair<'a> {
    pub(crate) context: &'a Context,
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    pub(crate) kernel: &'a Kernel,
    pub(crate) tensors: &'a TensorFacts,
    pub(crate) first: &'a VectorCall<'a>,
    pub(crate) second: &'a VectorCall<'a>,
}

/// Calls `judge` for every pair where `second` reads the destination of `first`, which has one of the names, and nothing touches it
/// in between.
pub(crate) fn each_pair(
    context: &Context,
    first_names: &[&str],
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
                if first_names.contains(&first.name)
                    && untouched
                    && same_block(file, &first.statement, &second.statement)
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
    pub(crate) fn temporary(&self) -> &str {
        self.first.destination
    }

    /// Proves that the first instruction can be done at the second's place instead, and its result be thrown away.
    pub(crate) fn can_merge(&self) -> Result<(), String> {
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
    pub(crate) fn dead(&self) -> Result<(), String> {
        dead_after(&self.around(), self.temporary(), &self.second.statement, self.first.count)
    }

    /// Proves that both cover the same elements.
    pub(crate) fn same_count(&self) -> Result<(), String> {
        if squash(self.first.count) != squash(self.second.count) {
            return Err(format!("the counts differ: {} and {}", self.first.count, self.second.count));
        }
        self.same_value(self.first.count)
    }

    /// Proves that an expression has no effect and means the same at both instructions.
    fn same_value(&self, expression: &str) -> Result<(), String> {
        let around = self.around();
        Flow::of(&around)?
            .same_value(expression, &self.first.statement, &self.second.statement)
            .map_err(|reason| format!("{reason} between the two instructions"))
    }

    fn around(&self) -> Surroundings<'_> {
        let Self { context, file, function, kernel, tensors, .. } = *self;
        Surroundings { context, file, function, kernel, tensors }
    }

    /// Proves that nothing the first instruction reads changes before the second, and that the second follows on all paths.
    pub(crate) fn inputs_unchanged(&self) -> Result<(), String> {
        let around = self.around();
        let flow = Flow::of(&around)?;
        let (first, second) = (&self.first.statement, &self.second.statement);
        flow.follows(first, second)?;
        if let Some(scalar) = self.first.scalar {
            self.same_value(scalar)?;
        }
        let (file, temporary) = (self.file, self.temporary());
        let between = flow.uses_between(first, second)?;
        let mut touched = between.iter().filter(|used| used.access != Access::None);
        if let Some(used) = touched.find(|used| may_share(&around, &used.tensor, temporary)) {
            let line = file.line(used.span.start);
            return Err(format!("{} may share memory with {temporary} at line {line}", used.tensor));
        }
        for used in between {
            let writes = !matches!(used.access, Access::Read | Access::None | Access::Release);
            let hits = |source: &&str| may_share(&around, &used.tensor, source);
            if let Some(source) = self.first.sources.iter().find(|source| writes && hits(source)) {
                return Err(format!("{} may change {source} at line {}", used.tensor, file.line(used.span.start)));
            }
            if used.access == Access::Release && self.first.sources.contains(&used.tensor.as_str()) {
                return Err(format!("{} is given back before line {}", used.tensor, file.line(second.start)));
            }
        }
        Ok(())
    }

    /// Element type of the second instruction's destination.
    pub(crate) fn element(&self) -> &str {
        self.tensors.tensors.get(self.second.destination).map_or("", |tensor| tensor.element.as_str())
    }
}

/// The callee as written with another name, scope kept.
pub(crate) fn renamed(file: &SyntaxFile, call: &VectorCall<'_>, name: &str) -> String {
    format!("{}{name}", written_scope(file, call.call))
}
