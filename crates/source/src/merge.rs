//! What one change made of a text, done to what another made of it.

use std::ops::Range;

use super::SourceTree;
use super::lines::{LineRun, lines, runs};

/// What leads from `base` to `theirs`, done to `ours`: by whole lines, and where both changed neighbouring or the same lines by what
/// stands in them. `None` where both changed the same words, or put something at the same place.
///
/// A merge knows nothing of what the words mean. Whoever takes it builds it and looks at what it computes.
pub fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
    if base == theirs || ours == theirs {
        return Some(ours.to_owned());
    }
    if base == ours {
        return Some(theirs.to_owned());
    }
    of_pieces(&lines(base), &lines(ours), &lines(theirs), Unit::Line)
}

/// The same for every file that `theirs` has. A file that a tree lacks is empty.
pub fn merged_trees(base: &SourceTree, ours: &SourceTree, theirs: &SourceTree) -> Option<SourceTree> {
    let mut tree = ours.clone();
    for (file, changed) in theirs.iter() {
        let (was, is) = (base.text(file).unwrap_or_default(), ours.text(file).unwrap_or_default());
        if was != changed {
            tree.insert(file, merged(was, is, changed)?);
        }
    }
    Some(tree)
}

/// What texts are cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Line,
    Word,
}

/// Pieces of the base in whose place one side has others, or both have.
#[derive(Clone, Debug)]
struct Change {
    base: Range<usize>,
    ours: Option<Range<usize>>,
    theirs: Option<Range<usize>>,
}

fn of_pieces(base: &[&str], ours: &[&str], theirs: &[&str], unit: Unit) -> Option<String> {
    let mut text = String::new();
    let mut kept_to = 0;
    for change in changes(&runs(base, ours), &runs(base, theirs)) {
        text.extend(base[kept_to..change.base.start].iter().copied());
        kept_to = change.base.end;
        match (change.ours, change.theirs) {
            (Some(our), Some(their)) => text.push_str(&both(&base[change.base], &ours[our], &theirs[their], unit)?),
            (Some(our), None) => text.extend(ours[our].iter().copied()),
            (None, their) => text.extend(theirs[their.unwrap_or_default()].iter().copied()),
        }
    }
    text.extend(base[kept_to..].iter().copied());
    Some(text)
}

/// What both changed, each in its way.
fn both(base: &[&str], ours: &[&str], theirs: &[&str], unit: Unit) -> Option<String> {
    if ours == theirs {
        return Some(ours.concat());
    }
    let (base, ours, theirs) = (base.concat(), ours.concat(), theirs.concat());
    (unit == Unit::Line).then(|| of_pieces(&words(&base), &words(&ours), &words(&theirs), Unit::Word))?
}

/// The changes of both sides in their order, those as one that overlap or put something at the same place. Beside a change there is
/// room for another's.
fn changes(ours: &[LineRun], theirs: &[LineRun]) -> Vec<Change> {
    let changed = |runs: &[LineRun]| runs.iter().filter(|run| !run.same).cloned().collect::<Vec<_>>();
    let of_ours = changed(ours).into_iter().map(|run| (run.old, Some(run.new), None));
    let of_theirs = changed(theirs).into_iter().map(|run| (run.old, None, Some(run.new)));
    let mut all: Vec<_> = of_ours.chain(of_theirs).map(|(base, ours, theirs)| Change { base, ours, theirs }).collect();
    all.sort_by_key(|change| (change.base.start, change.base.end));
    let mut found: Vec<Change> = Vec::new();
    for change in all {
        match found.last_mut() {
            Some(last) if meet(&last.base, &change.base) => last.take(change),
            _ => found.push(change),
        }
    }
    found
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one == other || (one.start < other.end && other.start < one.end)
}

impl Change {
    /// Makes one of this and a later one. What lies between two changes of one side is as it was.
    fn take(&mut self, later: Change) {
        let base = self.base.start..self.base.end.max(later.base.end);
        self.ours = spanned(&base, (&self.base, self.ours.take()), (&later.base, later.ours));
        self.theirs = spanned(&base, (&self.base, self.theirs.take()), (&later.base, later.theirs));
        self.base = base;
    }
}

/// Pieces of one side that stand for all of `base`, of which one or both of two parts are changed.
fn spanned(
    base: &Range<usize>,
    (first, in_first): (&Range<usize>, Option<Range<usize>>),
    (second, in_second): (&Range<usize>, Option<Range<usize>>),
) -> Option<Range<usize>> {
    let start = match (&in_first, &in_second) {
        (Some(new), _) => new.start - (first.start - base.start),
        (None, Some(new)) => new.start - (second.start - base.start),
        (None, None) => return None,
    };
    let end = match (&in_first, &in_second) {
        (_, Some(new)) => new.end + (base.end - second.end),
        (Some(new), None) => new.end + (base.end - first.end),
        (None, None) => return None,
    };
    Some(start..end)
}

/// A text cut into words, runs of blanks, and single characters of all other kinds.
fn words(text: &str) -> Vec<&str> {
    let kind = |character: char| match character {
        '\n' => 0,
        _ if character.is_whitespace() => 1,
        '_' => 2,
        _ if character.is_alphanumeric() => 2,
        _ => 0,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, character) in text.char_indices() {
        let is = kind(character);
        if last.is_some_and(|last| last != is || is == 0) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(is);
    }
    words.extend((start < text.len()).then(|| &text[start..]));
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: &str = "void Copy() {\n    Load(a, 1);\n    Wait();\n    Store(b, n);\n}\n";

    /// The change of `theirs` on top of that of `ours`, both as what is replaced by what.
    fn with(ours: (&str, &str), theirs: (&str, &str)) -> Option<String> {
        merged(BASE, &BASE.replace(ours.0, ours.1), &BASE.replace(theirs.0, theirs.1))
    }

    #[test]
    fn neighbouring_lines_and_words_of_one_line_come_together() {
        let neighbours =
            with(("    Wait();\n", ""), ("    Store(b, n);\n", "    Store(b, n, 2);\n")).expect("no conflict");
        assert_eq!(neighbours, "void Copy() {\n    Load(a, 1);\n    Store(b, n, 2);\n}\n");
        let words = with(("Load(a, 1)", "Load(a, 32)"), ("Load(a,", "Load(copy,")).expect("no conflict");
        assert_eq!(words, BASE.replace("Load(a, 1)", "Load(copy, 32)"));
        let beside = with(("    Wait();\n", ""), ("Wait();\n", "Wait();\n    Free();\n")).expect("no conflict");
        assert_eq!(beside, BASE.replace("Wait", "Free"), "what follows a line that goes stays");
    }

    #[test]
    fn the_same_words_and_the_same_place_are_a_conflict() {
        assert_eq!(with(("(a, 1)", "(a, 2)"), ("(a, 1)", "(a, 3)")), None);
        assert_eq!(with(("    Wait", "    A();\n    Wait"), ("    Wait", "    B();\n    Wait")), None);
        assert_eq!(with(("(a, 1)", "(a, 2)"), ("    Load(a, 1);\n", "")), None, "a change of what goes");
        assert_eq!(with(("(a, 1)", "(a, 2)"), ("(a, 1)", "(a, 2)")), Some(BASE.replace('1', "2")), "the same change");
    }

    #[test]
    fn a_file_that_a_tree_lacks_is_empty() {
        let tree = |text: &str| {
            let mut tree = SourceTree::new();
            tree.insert("k.h", BASE);
            tree.insert("new.h", text);
            tree
        };
        let mut without = SourceTree::new();
        without.insert("k.h", BASE.replace("Wait", "Hold"));
        let merged = merged_trees(&SourceTree::new(), &without, &tree("int x;\n"));
        assert!(merged.is_none(), "both have a text for a file that was not there");
        let mut base = SourceTree::new();
        base.insert("k.h", BASE);
        let merged = merged_trees(&base, &without, &tree("int x;\n")).expect("no conflict");
        assert_eq!((merged.text("new.h"), merged.text("k.h")), (Some("int x;\n"), without.text("k.h")));
    }

    proptest! {
        #[test]
        fn changes_that_are_apart_are_both_there(
            lines in prop::collection::vec("[a-c(){};, ]{0,6}\n", 3..12),
            (at, other) in (0_usize..12, 0_usize..12),
        ) {
            // Of lines that are the same nobody can tell which one is gone.
            let lines: Vec<String> = lines.into_iter().collect();
            let (at, other) = (at % lines.len(), other % lines.len());
            prop_assume!(at != other);
            let change = |places: &[(usize, &str)]| {
                let line = |(place, line): (usize, &String)| places.iter().find(|(of, _)| *of == place).map_or(line.clone(), |(_, new)| (*new).to_owned());
                lines.iter().enumerate().map(line).collect::<String>()
            };
            let merged = merged(&change(&[]), &change(&[(at, "ours\n")]), &change(&[(other, "theirs\n")]));
            prop_assert_eq!(merged, Some(change(&[(at, "ours\n"), (other, "theirs\n")])));
        }

        #[test]
        fn words_are_all_of_a_text(text in "[a-z0-9_ \n(){}\t;é]{0,40}") {
            prop_assert_eq!(words(&text).concat(), text);
        }
    }
}
