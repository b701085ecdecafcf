//! Patches from two versions of a tree, and the patch that undoes another.

use super::lines::{changed_runs, lines};
use super::{Edit, EditError, Patch, SourceTree};

/// The patch that turns `before` into `after`, by whole lines. Files of `after` only are not part of it.
pub fn difference(before: &SourceTree, after: &SourceTree, title: &str, motif: &str) -> Patch {
    let mut edits = Vec::new();
    for (file, old) in before.iter() {
        let Some(new) = after.text(file).filter(|new| *new != old) else { continue };
        let starts = |text: &str| {
            let mut starts = vec![0];
            starts.extend(lines(text).into_iter().scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            }));
            starts
        };
        let (old_starts, new_starts) = (starts(old), starts(new));
        for run in changed_runs(old, new) {
            let replacement = &new[new_starts[run.new.start]..new_starts[run.new.end]];
            let span = old_starts[run.old.start]..old_starts[run.old.end];
            edits.push(Edit { file: file.to_owned(), span, replacement: replacement.to_owned() });
        }
    }
    Patch { title: title.to_owned(), motif: motif.to_owned(), edits }
}

/// The patch that turns the patched tree back, byte for byte.
pub fn inverse(tree: &SourceTree, patch: &Patch) -> Result<Patch, EditError> {
    tree.apply(patch)?;
    let mut ordered: Vec<&Edit> = patch.edits.iter().collect();
    ordered.sort_by(|left, right| {
        (&left.file, left.span.start, left.span.end).cmp(&(&right.file, right.span.start, right.span.end))
    });
    let mut edits: Vec<Edit> = Vec::new();
    let (mut file, mut removed, mut added) = ("", 0, 0);
    for edit in ordered {
        if edit.file != file {
            (file, removed, added) = (&edit.file, 0, 0);
        }
        let start = edit.span.start + added - removed;
        let old = tree.text(file).and_then(|text| text.get(edit.span.clone())).unwrap_or_default();
        edits.push(Edit {
            file: file.to_owned(),
            span: start..start + edit.replacement.len(),
            replacement: old.to_owned(),
        });
        removed += edit.span.len();
        added += edit.replacement.len();
    }
    Ok(Patch { title: format!("undo: {}", patch.title), motif: patch.motif.clone(), edits })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(text: &str) -> SourceTree {
        let mut tree = SourceTree::new();
        tree.insert("a.h", text);
        tree
    }

    proptest! {
        #[test]
        fn a_difference_leads_from_one_text_to_the_other(old in "([ab]{0,2}\n){0,8}[ab]?", new in "([ab]{0,2}\n){0,8}[ab]?") {
            let patch = difference(&tree(&old), &tree(&new), "", "");
            prop_assert_eq!(tree(&old).apply(&patch).unwrap(), tree(&new));
        }

        #[test]
        fn the_inverse_leads_back(text in "[a-d]{12,20}", cuts in proptest::collection::vec(0usize..12, 4), words in proptest::collection::vec("[xyz]{0,4}", 2)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let edits = words.iter().zip(cuts.chunks(2)).map(|(word, cut)| Edit { file: "a.h".into(), span: cut[0]..cut[1], replacement: word.clone() }).collect();
            let patch = Patch { title: String::new(), motif: String::new(), edits };
            let before = tree(&text);
            let after = before.apply(&patch).unwrap();
            prop_assert_eq!(after.apply(&inverse(&before, &patch).unwrap()).unwrap(), before);
        }
    }
}
