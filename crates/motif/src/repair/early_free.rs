//! A tensor is given back behind its last use, and not before it.

use std::ops::Range;

use tree_sitter::Node;

use super::mend::{Mend, MendKind};
use crate::analysis::code::words;
use crate::context::Context;
use crate::rewrite::edits::edit;
use source::parse::{Call, SyntaxFile};

/// Calls that end what a name stands for: behind them the same name is another tensor, or none.
const ENDS: [&str; 4] = ["FreeTensor", "EnQue", "AllocTensor", "DeQue"];

/// Each `FreeTensor` that stands before a use of its tensor in the same block, where one of these places, file and line, lies from it
/// to the last use.
pub fn early_frees(context: &Context, faulty: &[(String, u32)]) -> Vec<Mend> {
    let mut found = Vec::new();
    for file in context.forest.iter() {
        for call in file.calls_named("FreeTensor") {
            let Some((statement, last)) = moved(file, call) else { continue };
            let lines = file.line(statement.start)..=file.line(last.end.saturating_sub(1));
            if !faulty.iter().any(|(name, line)| name == file.name() && lines.contains(&(*line as usize))) {
                continue;
            }
            let Some(edits) = behind(file, &statement, &last) else { continue };
            let title = format!("give {} back behind its last use", file.argument(call, 0).unwrap_or_default().trim());
            found.push(Mend::new(MendKind::EarlyFree, file, &statement, title, edits));
        }
    }
    found
}

/// The statement that gives a tensor back, and the last one behind it in the block that uses it.
fn moved(file: &SyntaxFile, call: &Call) -> Option<(Range<usize>, Range<usize>)> {
    let (name, statement) = (file.argument(call, 0)?.trim(), call.statement.clone()?);
    if words(name) != [name] {
        return None;
    }
    let mut node = file.node_at(&statement)?;
    while node.parent()?.kind() != "compound_statement" {
        node = node.parent()?;
    }
    // In a branch of its own it is not given back on every way to what follows.
    if node.byte_range() != statement {
        return None;
    }
    let uses = |node: &Node<'_>| words(file.slice(&node.byte_range())).contains(&name);
    let mut behind = Vec::new();
    while let Some(next) = node.next_named_sibling() {
        behind.push(next);
        node = next;
    }
    let last = behind.iter().rposition(uses)?;
    let until = behind[..=last].iter().filter(|node| uses(node));
    let another = |node: &&Node<'_>| {
        let ends = |call: &Call| {
            ENDS.contains(&call.name.as_str())
                && call.arguments.iter().any(|argument| file.slice(argument).trim() == name)
        };
        let text = file.slice(&node.byte_range());
        let rest = text.trim_start().strip_prefix(name).unwrap_or_default().trim_start();
        let assigned = rest.starts_with('=') && !rest.starts_with("==");
        node.kind() == "declaration" && declares(text, name) || assigned || file.calls_in(node.byte_range()).any(ends)
    };
    let known = until.clone().find(another).is_none();
    known.then(|| (statement, behind[last].byte_range()))
}

/// Whether a declaration's text declares the name and does not only use it.
fn declares(text: &str, name: &str) -> bool {
    text.split('=').next().is_some_and(|head| words(head).last() == Some(&name))
}

fn behind(file: &SyntaxFile, statement: &Range<usize>, last: &Range<usize>) -> Option<Vec<source::Edit>> {
    let (from, to) = (file.whole_lines(statement)?, file.whole_lines(last)?);
    let text = file.slice(&from).to_owned();
    (text.ends_with('\n') && file.slice(&to).ends_with('\n'))
        .then(|| vec![edit(file, from, ""), edit(file, to.end..to.end, text)])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, context, mended};
    use super::*;

    const FREED_FIRST: &str = "class K {\n    void Run(int n)\n    {\n        LocalTensor<float> x = in.DeQue<float>();\n        in.FreeTensor(x);\n        Abs(y, x, n);\n        for (int i = 0; i < n; i++) {\n            Add(y, y, x, n);\n        }\n        Exp(y, y, n); // not x\n    }\n};\n";

    fn found(text: &str, line: u32) -> usize {
        early_frees(&context(text), &[("k.cpp".to_owned(), line)]).len()
    }

    #[test]
    fn it_goes_behind_the_last_use() {
        let context = context(FREED_FIRST);
        let found = early_frees(&context, &[at("k.cpp", 8)]);
        assert_eq!((found.len(), found[0].line), (1, 5));
        let free = "        in.FreeTensor(x);\n";
        let last = "            Add(y, y, x, n);\n        }\n";
        let expected = FREED_FIRST.replace(free, "").replace(last, &format!("{last}{free}"));
        assert_eq!(mended(&context, &found), expected);
    }

    #[test]
    fn what_nobody_saw_at_fault_stays() {
        assert_eq!(found(FREED_FIRST, 8), 1);
        assert_eq!(found(FREED_FIRST, 4), 0, "before it");
        assert_eq!(found(FREED_FIRST, 10), 0, "behind the last use");
        let last = FREED_FIRST.replace("Abs(y, x, n)", "Abs(y, y, n)").replace("Add(y, y, x, n)", "Add(y, y, y, n)");
        assert_eq!(found(&last, 6), 0, "no use follows");
    }

    #[test]
    fn the_same_name_for_another_tensor_is_no_use() {
        let anew = ["x = in.DeQue<float>();", "LocalTensor<float> x = in.DeQue<float>();", "out.EnQue(x);"];
        for another in anew {
            assert_eq!(found(&FREED_FIRST.replace("Abs(y, x, n);", another), 6), 0, "{another}");
        }
        let twice = context(&FREED_FIRST.replace("Abs(y, x, n);", "in.FreeTensor(x);"));
        assert!(early_frees(&twice, &[at("k.cpp", 5)]).is_empty(), "given back twice");
        let branch = FREED_FIRST.replace("in.FreeTensor(x);", "if (n > 1)\n            in.FreeTensor(x);");
        assert_eq!(found(&branch, 7), 0, "on some ways only");
    }
}
