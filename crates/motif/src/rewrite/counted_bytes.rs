//! Sums of the bytes that buffers take, written where buffers are initialised: terms found, added and taken out.

use std::ops::Range;

use crate::analysis::machine::BLOCK_BYTES;
use crate::rewrite::edits::{edit, insert_after};
use source::Edit;
use source::facts::parse_integer;
use source::parse::SyntaxFile;

/// Ends of the generated names.
pub(crate) const SLOTS: &str = "Slots";
pub(crate) const LENGTH: &str = "Length";
pub(crate) const BYTES: &str = "Bytes";
pub(crate) const TAKEN: &str = "Taken";
pub(crate) const ROUNDS: &str = "Rounds";

/// One buffer in the sum of the bytes that are taken.
pub(crate) fn term(sum: &str, buffer: &str, bytes: &str) -> String {
    format!("{sum} += {bytes}; // {buffer}")
}

/// Places of the number of buffers of a queue in sums of taken bytes, where it is written as this number.
pub(crate) fn counted(file: &SyntaxFile, queue: &str, number: i64) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (line, text) in terms_of(file, queue) {
        let Some((before, after)) = text.split_once(" += ") else { continue };
        let literal = number.to_string();
        if after.strip_prefix(&literal).is_some_and(|rest| rest.starts_with(" * ")) {
            let start = line.start + before.len() + " += ".len();
            found.push(start..start + literal.len());
        }
    }
    found
}

/// Edits that add a buffer to the sums of taken bytes of a file.
pub(crate) fn counted_in(file: &SyntaxFile, buffers: &[(String, String)]) -> Vec<Edit> {
    let sums = file.locals().iter().filter(|local| local.name.starts_with("keep") && local.name.ends_with(TAKEN));
    sums.filter_map(|local| {
        let lines: Vec<String> = buffers.iter().map(|(name, size)| term(&local.name, name, &padded(size))).collect();
        insert_after(file, &local.span, &lines)
    })
    .collect()
}

/// Whether a file has sums of taken bytes.
pub(crate) fn counts(file: &SyntaxFile) -> bool {
    file.locals().iter().any(|local| local.name.starts_with("keep") && local.name.ends_with(TAKEN))
}

/// Edits that take a buffer out of the sums of taken bytes.
pub(crate) fn counted_out(file: &SyntaxFile, buffer: &str) -> Vec<Edit> {
    terms_of(file, buffer).into_iter().map(|(line, _)| edit(file, line, "")).collect()
}

fn terms_of<'a>(file: &'a SyntaxFile, buffer: &str) -> Vec<(Range<usize>, &'a str)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in file.text().split_inclusive('\n') {
        let text = line.trim();
        let sum = text.split(' ').next().unwrap_or_default();
        if sum.starts_with("keep") && sum.ends_with(TAKEN) && text.ends_with(&format!("; // {buffer}")) {
            found.push((start..start + line.len(), line));
        }
        start += line.len();
    }
    found
}

/// Size in whole blocks of 32 bytes.
pub(crate) fn padded(size: &str) -> String {
    let whole = parse_integer(size).is_some_and(|bytes| bytes % BLOCK_BYTES == 0);
    if whole || (size.contains(SLOTS) && size.ends_with(BYTES)) {
        return size.to_owned();
    }
    let simple = !size.contains(['+', '-', '?', '|', '&', '<', '>']);
    if simple { format!("({size} + 31) / 32 * 32") } else { format!("(({size}) + 31) / 32 * 32") }
}
