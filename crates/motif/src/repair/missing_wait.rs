//! A full barrier in front of an access that nothing orders behind an earlier one.

use std::ops::Range;

use super::mend::{Mend, MendKind};
use crate::analysis::code::scope;
use crate::context::Context;
use crate::rewrite::edits::edit;
use source::parse::{SyntaxFile, statements};

/// A barrier for each of these places: file and line of the later one of two accesses.
pub fn missing_waits(context: &Context, later: &[(String, u32)]) -> Vec<Mend> {
    let mut found: Vec<Mend> = Vec::new();
    for (name, line) in later {
        let Some(file) = context.forest.get(name) else { continue };
        let Some(mend) = barrier(file, *line as usize) else { continue };
        if !found.contains(&mend) {
            found.push(mend);
        }
    }
    found
}

fn barrier(file: &SyntaxFile, line: usize) -> Option<Mend> {
    let spans = |span: &Range<usize>| (file.line(span.start)..=file.line(span.end.saturating_sub(1))).contains(&line);
    let simple = statements(file).into_iter().map(|statement| statement.span).find(spans)?;
    let statement = in_a_block(file, &simple)?;
    // What shares its line with something else gets no barrier between the two.
    let lines = file.whole_lines(&statement)?;
    let text = format!("{}{}PipeBarrier<PIPE_ALL>();\n", file.indentation(statement.start), scope(file));
    let edits = vec![edit(file, lines.start..lines.start, text)];
    Some(Mend::new(MendKind::MissingWait, file, &simple, "wait for all pipes before this", edits))
}

/// The statement itself, or the smallest around it that stands in braces: the only statement of an `if` has no room for another.
fn in_a_block(file: &SyntaxFile, statement: &Range<usize>) -> Option<Range<usize>> {
    let mut node = file.node_at(statement)?;
    loop {
        let parent = node.parent()?;
        if parent.kind() == "compound_statement" && node.byte_range().len() >= statement.len() {
            return Some(node.byte_range());
        }
        node = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, context, mended};
    use super::*;

    const KERNEL: &str = "using namespace AscendC;\nclass K {\n    void Run(int n)\n    {\n        DataCopy(x, xGm, n);\n        if (n > 1)\n            Add(y, x,\n                x, n);\n        Abs(y, y, n);\n    }\n};\n";

    #[test]
    fn a_barrier_stands_before_the_later_access() {
        let context = context(KERNEL);
        let found = missing_waits(&context, &[at("k.cpp", 9), at("k.cpp", 9)]);
        assert_eq!(found.len(), 1, "one a place");
        let after = mended(&context, &found);
        assert_eq!(after, KERNEL.replace("        Abs", "        PipeBarrier<PIPE_ALL>();\n        Abs"));
        assert_eq!((found[0].file.as_str(), found[0].line), ("k.cpp", 9));
    }

    #[test]
    fn the_only_statement_of_a_branch_waits_before_the_branch() {
        let context = context(KERNEL);
        let after = mended(&context, &missing_waits(&context, &[at("k.cpp", 8)]));
        assert_eq!(after, KERNEL.replace("        if (", "        PipeBarrier<PIPE_ALL>();\n        if ("));
    }

    #[test]
    fn names_are_qualified_as_the_file_does_it() {
        let context = context(&KERNEL.replace("using namespace AscendC;\n", ""));
        let after = mended(&context, &missing_waits(&context, &[at("k.cpp", 4)]));
        assert!(after.contains("{\n        AscendC::PipeBarrier<PIPE_ALL>();\n        DataCopy"), "{after}");
    }

    #[test]
    fn nothing_is_put_where_no_statement_stands_or_two_share_a_line() {
        let context = context(&KERNEL.replace("        Abs(y, y, n);", "        Abs(y, y, n); Exp(y, y, n);"));
        assert_eq!(missing_waits(&context, &[at("k.cpp", 1), at("k.cpp", 9), at("k.cpp", 0), at("other.cpp", 5)]), []);
    }
}
