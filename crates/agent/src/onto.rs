//! A change on sources that others have rewritten since it was asked for.

use super::answer::Change;
use proposer::carried_over;
use source::SourceTree;

/// Lines that a change has to replace so that it counts as another version of the files, rather than an edit in them.
const VERSION_LINES: usize = 8;

/// The sources with a change. Where it replaces lines that were rewritten since, an edit has lost its place; another version of the whole
/// file is one all the same: it stands in the place of its half, and its evaluation tells whether it is worth more than what it drops.
pub fn onto(change: &Change, now: &SourceTree) -> Option<SourceTree> {
    let Change { base, wanted, .. } = change;
    if let Some(carried) = carried_over(base, wanted, now) {
        return Some(carried);
    }
    let only = |file: &str, text: &str| [(file, text)].into_iter().collect::<SourceTree>();
    let mut tree = now.clone();
    let (mut versions, mut lost) = (Vec::new(), 0);
    for (file, text) in wanted.iter() {
        let was = base.text(file)?;
        if was == text {
            continue;
        }
        lost += lost_lines(was, text);
        match carried_over(&only(file, was), &only(file, text), &only(file, now.text(file)?)) {
            Some(carried) => tree.insert(file, carried.text(file)?),
            None => versions.push(folder(file)),
        }
    }
    if lost < VERSION_LINES {
        return None;
    }
    // Files of a half stand together: what others changed in one of them may lean on what the version does not have.
    for (file, text) in wanted.iter().filter(|(file, _)| versions.contains(&folder(file))) {
        tree.insert(file, text);
    }
    Some(tree)
}

/// The folder of a file: a half of an operator.
fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Lines with code that one text has and the other has not, each as often as it is missing.
fn lost_lines(was: &str, is: &str) -> usize {
    let lines = |text: &str| {
        let mut lines: Vec<String> =
            text.lines().map(|line| line.trim().to_owned()).filter(|line| line.len() > 1).collect();
        lines.sort();
        lines
    };
    let (was, is) = (lines(was), lines(is));
    let mut rest = is.into_iter().peekable();
    let missing = was.into_iter().filter(|line| {
        while rest.next_if(|next| next < line).is_some() {}
        rest.next_if(|next| next == line).is_none()
    });
    missing.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "op_kernel/k.cpp";
    const ENTRY: &str = "op_kernel/entry.cpp";
    const HOST: &str = "op_host/t.cpp";

    fn tree(kernel: &str, host: &str) -> SourceTree {
        [(KERNEL, kernel), (ENTRY, "Init(x);"), (HOST, host)].into_iter().collect()
    }

    fn change(wanted: (&str, &str), base: (&str, &str)) -> Change {
        Change { title: "x".to_owned(), base: tree(base.0, base.1), wanted: tree(wanted.0, wanted.1) }
    }

    #[test]
    fn another_version_of_a_file_stands_where_an_edit_has_lost_its_place() {
        let lines = |words: &[&str]| words.iter().map(|word| format!("{word}();\n")).collect::<String>();
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let kernel = lines(&names);
        let rewritten = kernel.replace("c();", "c(1);");
        let mut now = tree(&rewritten, "int more;\nint x;\nint tile = 8;\n");
        now.insert(ENTRY, "Init(&pipe, x);");
        let host = ("int x;\nint tile = 8;\n", "int x;\nint tile = 16;\n");

        let edit = kernel.replace("c();", "c(2);");
        assert!(onto(&change((&edit, host.1), (&kernel, host.0)), &now).is_none(), "one line of ten");
        let other = format!("j();\n{}", lines(&["u", "v", "w"]));
        let made = onto(&change((&other, host.1), (&kernel, host.0)), &now).unwrap();
        assert_eq!(made.text(KERNEL).unwrap(), other);
        assert_eq!(made.text(ENTRY).unwrap(), "Init(x);", "as the version knows it");
        assert_eq!(made.text(HOST).unwrap(), "int more;\nint x;\nint tile = 16;\n", "what can be merged is");
    }

    #[test]
    fn lines_are_lost_as_often_as_they_are_missing() {
        assert_eq!(lost_lines("ab;\nab;\ncd;\n}\n", "  ab;\nef;\n"), 2);
        assert_eq!(lost_lines("", "ab;"), 0);
    }
}
