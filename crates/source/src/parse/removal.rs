//! What goes with a statement that is deleted: its lines, and comments that are about nothing else.

use std::ops::Range;

use super::file::SyntaxFile;

/// What to delete so that a statement is gone and nothing speaks of it any more: its whole lines with a comment behind it, and the
/// comment right above where that can be about nothing else: what follows the statement is an empty line, another comment or the end
/// of the block. A statement that shares its line goes alone.
pub fn removal_with_comments(file: &SyntaxFile, statement: &Range<usize>) -> Range<usize> {
    let text = file.text();
    let start = line_start(text, statement.start);
    let end = line_end(text, statement.end);
    let alone = text[start..statement.start].trim().is_empty();
    let behind = text[statement.end..end].trim();
    if !alone || !(behind.is_empty() || is_comment(file, statement.end, end)) {
        return statement.clone();
    }
    let column = |line: usize, at: usize| text[line..at].chars().count();
    let follows = trimmed(file, end, line_end(text, end));
    let next = &text[follows.clone()];
    let comment = trimmed(file, statement.end, end).start;
    if !behind.is_empty() && next.starts_with("//") && column(end, follows.start) == column(start, comment) {
        // It goes on in the next line, and may have left the statement by then.
        return statement.clone();
    }
    let ends = next.is_empty() || next.starts_with('}') || next.starts_with("//") || next.starts_with("/*");
    // Whoever writes behind the statement has said it there.
    let above = if ends && behind.is_empty() { comment_above(file, start) } else { None };
    above.unwrap_or(start)..end
}

/// Where the comment begins whose last line is right above this line, if it stands alone and nothing suggests that it is about more.
fn comment_above(file: &SyntaxFile, line: usize) -> Option<usize> {
    let text = file.text();
    let mut first = line;
    while first > 0 {
        let start = line_start(text, first - 1);
        let Some(comment) = comment_at(file, start, first) else { break };
        // A comment over several lines begins further up, and nothing stands before it.
        let begin = line_start(text, comment.start);
        if !text[begin..comment.start].trim().is_empty() {
            return None;
        }
        first = begin;
    }
    let said = &text[first..line];
    let before = text[..first].lines().next_back().unwrap_or_default();
    // The comment of the line above may go on here.
    let goes_on = before.contains("//") || before.contains("*/");
    (first < line && !goes_on && !is_of_others(said)).then_some(first)
}

/// Whether a comment is about more than what follows, or is what others read: a heading between lines of signs, a word to a program
/// (`clang-format`), or a marker in capitals that a line begins with or that a colon or bracket follows, as what is left to be done,
/// licences and switches of linters have.
fn is_of_others(said: &str) -> bool {
    let of_signs = |letter: char| matches!(letter, '/' | '*' | '!' | '<') || letter.is_whitespace();
    let is_marked = |words: &str, begins: bool| {
        let end = words.find(|letter: char| !letter.is_ascii_uppercase()).unwrap_or(words.len());
        let ends = !words[end..].starts_with(|letter: char| letter.is_ascii_alphanumeric());
        end > 3 && ends && (begins || words[end..].starts_with([':', '(']))
    };
    let has_marker = |line: &str| {
        let line = line.trim_start_matches(of_signs);
        is_marked(line, true) || line.split_whitespace().any(|word| is_marked(word, false))
    };
    let is_heading = ["---", "===", "***"].iter().any(|signs| said.contains(signs));
    is_heading || said.contains("clang-format") || said.lines().any(has_marker)
}

/// The comment that a line consists of, or ends.
fn comment_at(file: &SyntaxFile, start: usize, end: usize) -> Option<Range<usize>> {
    is_comment(file, start, end).then(|| file.node_at(&trimmed(file, start, end)).map(|node| node.byte_range()))?
}

/// Whether there is nothing but one comment here.
fn is_comment(file: &SyntaxFile, start: usize, end: usize) -> bool {
    let inner = trimmed(file, start, end);
    !inner.is_empty() && file.node_at(&inner).is_some_and(|node| node.kind() == "comment")
}

fn trimmed(file: &SyntaxFile, start: usize, end: usize) -> Range<usize> {
    let text = &file.text()[start..end];
    let from = start + text.len() - text.trim_start().len();
    from..from + text.trim().len()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::MacroNames;

    /// The text without its first barrier.
    fn without(body: &str) -> String {
        let text = format!("void F()\n{{\n    Add(a);\n{body}}}\n");
        let file = SyntaxFile::parse("k.cpp", &text, &MacroNames::default()).unwrap();
        let call = file.calls_named("Barrier").next().expect("a barrier");
        let span = removal_with_comments(&file, call.statement.as_ref().expect("a statement"));
        let left = format!("{}{}", &text[..span.start], &text[span.end..]);
        left.strip_prefix("void F()\n{\n    Add(a);\n").unwrap().strip_suffix("}\n").unwrap().to_owned()
    }

    #[test]
    fn a_comment_that_is_about_the_statement_alone_goes_with_it() {
        for (body, left) in [
            ("    Barrier();\n    Mul(a);\n", "    Mul(a);\n"),
            ("    Barrier(); // wait for the copy\n    Mul(a);\n", "    Mul(a);\n"),
            ("    Barrier(); /* wait */\n    Mul(a);\n", "    Mul(a);\n"),
            ("    // wait for the copy\n    Barrier();\n\n    Mul(a);\n", "\n    Mul(a);\n"),
            ("    // wait for\n    // the copy\n    Barrier();\n", ""),
            ("    // MTE3 waits for V\n    Barrier();\n", ""),
            (
                "\n    /* wait for\n       the copy */\n    Barrier();\n    // product\n    Mul(a);\n",
                "\n    // product\n    Mul(a);\n",
            ),
            ("    // wait\n    Barrier();\n    // wait more\n    Barrier();\n", "    // wait more\n    Barrier();\n"),
        ] {
            assert_eq!(without(body), left, "{body}");
        }
    }

    #[test]
    fn a_comment_that_may_be_about_more_stays() {
        for (body, left) in [
            // About both statements.
            ("    // then the product\n    Barrier();\n    Mul(a);\n", "    // then the product\n    Mul(a);\n"),
            ("    // apart\n\n    Barrier();\n", "    // apart\n\n"),
            ("    // ---- product ----\n    Barrier();\n\n    Mul(a);\n", "    // ---- product ----\n\n    Mul(a);\n"),
            ("    // NOLINT(x): faster\n    Barrier();\n", "    // NOLINT(x): faster\n"),
            ("    // one day, HACK: faster\n    Barrier();\n", "    // one day, HACK: faster\n"),
            ("    /* HACK of mine */\n    Barrier();\n", "    /* HACK of mine */\n"),
            // It goes on with what stands behind the statement above.
            (
                "    Sub(a); // minus\n            // one\n    Barrier();\n",
                "    Sub(a); // minus\n            // one\n",
            ),
            ("    // the copy\n    Barrier(); // waits\n", "    // the copy\n"),
            ("    Barrier(); Mul(a); // both\n", "     Mul(a); // both\n"),
            ("    Barrier(); // one\n               // two\n", "     // one\n               // two\n"),
        ] {
            assert_eq!(without(body), left, "{body}");
        }
    }
}
