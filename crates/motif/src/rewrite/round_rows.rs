//! Another number of rows a round, where the code takes several already.

use crate::analysis::code::words;
use crate::analysis::round_names::{CHOICES, ROWS};
use crate::context::Context;
use crate::context::unified_buffer::UNIFIED_BUFFER_BYTES;
use crate::rewrite::edits::edit;
use crate::site::Candidate;
use source::facts::{InitBuffer, Kernel, parse_integer};

/// One candidate for every larger number of rows, or for every smaller one. A larger number is for a kernel that has run with
/// the present one: a patch of many motifs must not raise what it has just set.
pub(crate) fn other_rows(context: &Context, larger: bool) -> Vec<Candidate> {
    let mut found = Vec::new();
    if larger && !context.unified_buffer.launched() {
        return found;
    }
    for kernel in context.facts.kernels.values() {
        for file in context.forest.iter() {
            for class in file.classes().iter().filter(|class| class.name == kernel.name) {
                for member in class.members.iter().filter(|member| member.name.starts_with(ROWS)) {
                    let text = file.slice(&member.span);
                    let Some(start) = text.rfind('=').map(|at| at + 1) else { continue };
                    let literal = text[start..].trim_end_matches(';');
                    let Some(present) = parse_integer(literal.trim()) else { continue };
                    let start = member.span.start + start + (literal.len() - literal.trim_start().len());
                    let place = start..start + literal.trim().len();
                    for (rows, word) in
                        CHOICES.iter().filter(|(rows, _)| (*rows > present) == larger && *rows != present)
                    {
                        let edits = fits(context, kernel, &member.name, present, *rows)
                            .map(|()| vec![edit(file, place.clone(), rows.to_string())]);
                        let note = format!("{word} rows a round instead of {present}");
                        let candidate = Candidate::new(file, &member.span, note, edits);
                        found.push(candidate.on_condition("the buffers fit the unified buffer"));
                    }
                }
            }
        }
    }
    found
}

/// Refuses what a launch left no room for.
fn fits(context: &Context, kernel: &Kernel, constant: &str, from: i64, to: i64) -> Result<(), String> {
    let rows: Vec<&InitBuffer> =
        kernel.init_buffers.iter().filter(|init| words(&init.size).contains(&constant)).collect();
    match context.unified_buffer.with_numbers(kernel, &rows, from, to) {
        Some(bytes) if to > from && bytes > UNIFIED_BUFFER_BYTES => {
            Err(format!("{bytes} bytes of buffers, and the unified buffer has {UNIFIED_BUFFER_BYTES}"))
        }
        _ => Ok(()),
    }
}
