//! Comments that an edit may have made untrue: they stand beside what changed and speak of what it was.

use std::collections::BTreeSet;

use super::SourceTree;
use super::lex::{PieceKind, pieces};
use super::lines::{lines, runs};

/// Lines above and below a changed one whose comments are read.
const LINES_ABOVE: usize = 2;
const LINES_BELOW: usize = 1;
/// Words for small numbers, as comments on buffers and stages have them. Not `one`, which is an article more often than a number
/// ("elements of one tile").
const NUMBER_WORDS: [(&str, &str); 8] = [
    ("single", "1"),
    ("double", "2"),
    ("two", "2"),
    ("ping", "2"),
    ("pingpong", "2"),
    ("triple", "3"),
    ("three", "3"),
    ("four", "4"),
];

/// A comment that names a number which no longer stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldComment {
    /// File, as the tree names it.
    pub file: String,
    /// Line in the changed text, from 1.
    pub line: usize,
    /// The comment as it stands there.
    pub text: String,
}

/// Comments of `before` that `after` still has beside a change, and that name a number (in digits, or as `double` and the like)
/// which the change took away. It is for people to say whether they are still true.
pub fn of_what_was(before: &SourceTree, after: &SourceTree) -> Vec<OldComment> {
    let mut found = Vec::new();
    for (file, now) in after.iter() {
        let Some(old) = before.text(file).filter(|old| *old != now) else { continue };
        let comments = comments(now);
        for gone in changes(old, now) {
            for comment in &comments {
                // What stands behind code speaks of that line alone.
                let (above, below) = if comment.is_behind_code { (0, 0) } else { (LINES_ABOVE, LINES_BELOW) };
                let beside = comment.line + above >= gone.lines.0 && comment.line <= gone.lines.1 + below;
                let speaks = !numbers(comment.text, true).is_disjoint(&gone.numbers);
                let known = found.iter().any(|known: &OldComment| known.file == file && known.line == comment.line);
                if beside && speaks && !known && old.contains(comment.text) {
                    let text = comment.text.to_owned();
                    found.push(OldComment { file: file.to_owned(), line: comment.line, text });
                }
            }
        }
    }
    found
}

/// A change: its lines in the new text, first and last, and the numbers that it took away.
struct Change {
    lines: (usize, usize),
    numbers: BTreeSet<String>,
}

fn changes(old: &str, now: &str) -> Vec<Change> {
    let numbers_of =
        |lines: &[&str]| -> BTreeSet<String> { lines.iter().flat_map(|line| numbers(&code_of(line), false)).collect() };
    let (old, now) = (lines(old), lines(now));
    let changed = runs(&old, &now).into_iter().filter(|run| !run.same && !run.old.is_empty());
    changed
        .map(|run| {
            let (before, after) = (numbers_of(&old[run.old]), numbers_of(&now[run.new.clone()]));
            let first = run.new.start + 1;
            Change { lines: (first, run.new.end.max(first)), numbers: before.difference(&after).cloned().collect() }
        })
        .collect()
}

/// A line without its comments.
fn code_of(line: &str) -> String {
    let parts = pieces(line).into_iter().filter(|piece| piece.kind != PieceKind::Comment);
    parts.map(|piece| line[piece.span].split("//").next().unwrap_or_default().to_owned() + " ").collect()
}

struct Comment<'a> {
    line: usize,
    text: &'a str,
    is_behind_code: bool,
}

/// Comments of a text, those behind directives too.
fn comments(text: &str) -> Vec<Comment<'_>> {
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    let comment = |piece: super::lex::Piece| match piece.kind {
        PieceKind::Comment => Some(piece.span),
        PieceKind::Directive => text[piece.span.clone()].find("//").map(|at| piece.span.start + at..piece.span.end),
        _ => None,
    };
    let spans = pieces(text).into_iter().filter_map(comment);
    spans
        .map(|span| {
            let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
            let is_behind_code = !text[start..span.start].trim().is_empty();
            Comment { line: line(span.start), text: text[span].trim_end(), is_behind_code }
        })
        .collect()
}

/// Numbers of a text, in digits; those of words too where `words` asks for them.
fn numbers(text: &str, words: bool) -> BTreeSet<String> {
    let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let number = |part: &str| {
        let digits = part.trim_end_matches(['u', 'U', 'l', 'L']);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(digits.to_owned());
        }
        let lower = part.to_ascii_lowercase();
        let word = NUMBER_WORDS.iter().find(|(word, _)| words && *word == lower);
        word.map(|(_, number)| (*number).to_owned())
    };
    parts.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old(before: &str, after: &str) -> Vec<(usize, String)> {
        let tree = |text: &str| [("op_kernel/a.cpp", text)].into_iter().collect::<SourceTree>();
        of_what_was(&tree(before), &tree(after)).into_iter().map(|found| (found.line, found.text)).collect()
    }

    #[test]
    fn a_comment_on_two_buffers_is_named_where_there_are_three() {
        let before = "// queues\nconstexpr int32_t BUFFER_NUM = 2; // double buffer\nint x;\n";
        assert_eq!(old(before, &before.replace("= 2", "= 3")), [(2, "// double buffer".to_owned())]);
        let above = "// 2 tiles in flight\nconstexpr int32_t BUFFER_NUM = 2;\n";
        assert_eq!(old(above, &above.replace("= 2", "= 4")), [(1, "// 2 tiles in flight".to_owned())]);
        let define = "#define BUFFER_NUM 2 // two of each\n";
        assert_eq!(old(define, &define.replace("NUM 2", "NUM 1")), [(1, "// two of each".to_owned())]);
    }

    #[test]
    fn what_says_nothing_of_the_number_is_left_alone() {
        let before = "// tiles of a core\nconstexpr int32_t TILES = 8; // see below, 16 bytes\nint y = 2; // two\n";
        assert_eq!(old(before, &before.replace("= 8", "= 4")), []);
        let next = "int cores = 1; // all\nint tile = 8; // elements of one tile, 1 of 4\n";
        assert_eq!(old(next, &next.replace("= 1;", "= 48;")), [], "a comment behind code is about its own line");
        let far = "// 8 tiles\n\n\n\n\nconstexpr int32_t TILES = 8;\n";
        assert_eq!(old(far, &far.replace("= 8", "= 4")), []);
    }

    #[test]
    fn a_comment_that_came_with_the_change_is_new() {
        let before = "constexpr int32_t TILES = 8;\n";
        assert_eq!(old(before, "// no longer 8\nconstexpr int32_t TILES = 4;\n"), []);
    }
}
