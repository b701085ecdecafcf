//! What differs between two texts, by whole lines. The only room that knows the library for it, which is compiled anew for each kind of
//! list that it is asked to compare.

use std::ops::Range;

use similar::{Algorithm, DiffTag, TextDiff};

/// Lines that two texts have in common, or that one has in place of the other's. Numbers begin with 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRun {
    /// Lines of the old text.
    pub old: Range<usize>,
    /// Lines of the new text.
    pub new: Range<usize>,
    /// Whether they are the same.
    pub same: bool,
}

/// Lines of a text with their ends.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// All runs of two lists of lines in their order.
pub fn runs(old: &[&str], new: &[&str]) -> Vec<LineRun> {
    runs_of(&compared(Algorithm::Myers, old, new))
}

/// The same, where lines that are there once on either side hold the rest: `}` and the like would else be matched across functions.
pub fn anchored_runs(old: &[&str], new: &[&str]) -> Vec<LineRun> {
    runs_of(&compared(Algorithm::Patience, old, new))
}

/// Runs that differ between two texts.
pub fn changed_runs(old: &str, new: &str) -> Vec<LineRun> {
    runs(&lines(old), &lines(new)).into_iter().filter(|run| !run.same).collect()
}

/// Two texts as a unified diff with so many lines around each change, and with these names of the two.
pub fn unified(old: &str, new: &str, context: usize, names: Option<(&str, &str)>) -> String {
    let (old, new) = (lines(old), lines(new));
    let difference = compared(Algorithm::Myers, &old, &new);
    let mut unified = difference.unified_diff();
    unified.context_radius(context);
    if let Some((old, new)) = names {
        unified.header(old, new);
    }
    unified.to_string()
}

fn compared<'text>(
    algorithm: Algorithm,
    old: &'text [&'text str],
    new: &'text [&'text str],
) -> TextDiff<'text, 'text, str> {
    TextDiff::configure().algorithm(algorithm).newline_terminated(true).diff_slices(old, new)
}

fn runs_of(difference: &TextDiff<'_, '_, str>) -> Vec<LineRun> {
    let operations = difference.ops().iter();
    operations
        .map(|operation| LineRun {
            old: operation.old_range(),
            new: operation.new_range(),
            same: operation.tag() == DiffTag::Equal,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_both_texts() {
        let found = runs(&lines("a\nb\nc\n"), &lines("a\nd\ne\nc\n"));
        let run = |old, new, same| LineRun { old, new, same };
        assert_eq!(found, [run(0..1, 0..1, true), run(1..2, 1..3, false), run(2..3, 3..4, true)]);
        assert_eq!(changed_runs("a\nb\n", "a\nb\n"), []);
    }

    #[test]
    fn a_last_line_without_an_end_is_told() {
        let text = unified("a\nb", "a\nc\n", 1, Some(("old", "new")));
        assert_eq!(text, "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n");
    }
}
