//! Nothing is changed that no case runs.

use super::*;
use crate::motif::{Coverage, VisitedLines};

/// Line of the first text like this, from 1.
fn line(text: &str, wanted: &str) -> (String, u32) {
    let line = text.lines().position(|line| line.contains(wanted)).unwrap();
    ("k.h".to_owned(), line as u32 + 1)
}

fn covered(context: &Context, visited: &[(String, u32)]) -> Context {
    let visited: VisitedLines = visited.iter().cloned().collect();
    context.clone().with_coverage(&Coverage::of(&context.forest, &visited))
}

const SPLIT: &str = "        AscendC::Muls(poly, x, 2.0f, count);\n        AscendC::Add(y, poly, y, count);\n";

#[test]
fn a_function_that_no_case_runs_is_left_alone() {
    let text = computing(SPLIT);
    let context = context(&text);
    let copied = line(&text, "DataCopyPad(xLocal");
    let silent = covered(&context, std::slice::from_ref(&copied));
    let found = motif("V02").find(&silent);
    assert!(found.sites.is_empty() && found.refused[0].reason.contains("no case runs Compute"), "{found:?}");
    let site = &motif("V02").find(&context).sites[0];
    assert!(motif("V02").apply(&silent, site).is_err());

    let run = covered(&context, &[copied, line(&text, "Muls(poly")]);
    assert_eq!(motif("V02").find(&run), motif("V02").find(&context));
    // It holds for what becomes of these sources, whatever moves.
    let moved = silent.after({
        let mut tree = SourceTree::new();
        tree.insert("k.h", format!("\n\n{text}"));
        tree
    });
    assert!(motif("V02").find(&moved).sites.is_empty());
    assert_eq!(motif("V02").find(&covered(&context, &[])).sites.len(), 1, "nothing is known without a run");
}

#[test]
fn a_class_of_one_name_in_a_header_that_no_case_runs_is_left_alone() {
    let text = computing(EXP);
    let mut tree = SourceTree::new();
    tree.insert("k.h", text.as_str());
    tree.insert("old/k.h", text.as_str());
    let context = Context::new(tree, KnownValues::default(), None);
    let visited = [line(&text, "DataCopyPad(xLocal"), line(&text, "Exp(y"), line(&text, "DataCopyPad(yGm")];
    let found = motif("Y01").find(&covered(&context, &visited));
    assert!(found.sites.iter().all(|site| site.file == "k.h"), "{found:?}");
    assert!(motif("Y01").find(&context).sites.iter().any(|site| site.file == "old/k.h"));
}
