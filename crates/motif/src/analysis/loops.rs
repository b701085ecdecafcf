//! Loops of a function: which stand around a place, what they count with and up to.

use crate::analysis::code::{squash, words};
use source::parse::{Function, Loop, SyntaxFile};

/// Loops of a function around a byte, innermost first.
pub(crate) fn loops_around<'a>(file: &'a SyntaxFile, function: &Function, byte: usize) -> Vec<&'a Loop> {
    let body = function.body.clone();
    let mut loops: Vec<&Loop> = file
        .loops()
        .iter()
        .filter(|repetition| body.contains(&repetition.span.start) && repetition.span.contains(&byte))
        .collect();
    loops.reverse();
    loops
}

/// Type of the counter that a loop declares, as written.
pub(crate) fn counter_type<'a>(file: &'a SyntaxFile, repetition: &Loop) -> &'a str {
    let initializer = repetition.initializer.clone().unwrap_or_default();
    let declared = file.slice(&initializer).split('=').next().unwrap_or_default().trim_end();
    declared.rsplit_once([' ', '\t']).map_or("", |(type_text, _)| type_text.trim())
}

/// Counter and bound of `for (T i = 0; i < n; i++)`.
pub(crate) fn counted(file: &SyntaxFile, repetition: &Loop) -> Result<(String, String), String> {
    let shape = || "not a loop that counts from 0 in steps of 1".to_owned();
    let (Some(initializer), Some(condition), Some(update)) =
        (&repetition.initializer, &repetition.condition, &repetition.update)
    else {
        return Err(shape());
    };
    let initializer = squash_spaces(file.slice(initializer));
    let (declared, zero) = initializer.trim_end_matches(';').split_once('=').ok_or_else(shape)?;
    let counter = declared.split_whitespace().last().ok_or_else(shape)?.to_owned();
    if declared.contains(',')
        || !matches!(zero.trim(), "0" | "0u" | "0U" | "0UL" | "0ul")
        || declared.split_whitespace().count() < 2
    {
        return Err(shape());
    }
    let condition = file.slice(condition);
    let bound = condition
        .trim()
        .strip_prefix(&counter)
        .map(str::trim_start)
        .and_then(|rest| rest.strip_prefix("!=").or_else(|| rest.strip_prefix('<')));
    let bound = bound.filter(|bound| !bound.starts_with(['=', '<'])).map(str::trim).ok_or_else(shape)?;
    if words(bound).contains(&counter.as_str()) || bound.contains("&&") || bound.contains("||") || bound.contains('?') {
        return Err(shape());
    }
    let update = squash(file.slice(update));
    if ![format!("{counter}++"), format!("++{counter}"), format!("{counter}+=1")].contains(&update) {
        return Err(shape());
    }
    Ok((counter, bound.to_owned()))
}

fn squash_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
