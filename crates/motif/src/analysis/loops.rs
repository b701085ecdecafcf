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

/// A loop over a range in steps of 1, in parts as written.
pub(crate) struct Ranged {
    /// Type of the counter.
    pub(crate) type_text: String,
    pub(crate) counter: String,
    /// What it begins with.
    pub(crate) first: String,
    /// What it stays below.
    pub(crate) end: String,
    pub(crate) update: String,
}

/// The parts of `for (T i = first; i < end; i++)`.
pub(crate) fn ranged(file: &SyntaxFile, repetition: &Loop) -> Result<Ranged, String> {
    let shape = || "not a loop that counts up in steps of 1".to_owned();
    let (Some(initializer), Some(condition), Some(update)) =
        (&repetition.initializer, &repetition.condition, &repetition.update)
    else {
        return Err(shape());
    };
    let (declared, first) = file.slice(initializer).trim_end_matches(';').split_once('=').ok_or_else(shape)?;
    let (type_text, counter) = declared.trim().rsplit_once([' ', '\t']).ok_or_else(shape)?;
    let end = file.slice(condition).trim().strip_prefix(counter).map(str::trim_start);
    let end =
        end.and_then(|rest| rest.strip_prefix('<')).filter(|end| !end.starts_with(['=', '<'])).ok_or_else(shape)?;
    let update = file.slice(update).trim();
    let stepped = [format!("{counter}++"), format!("++{counter}"), format!("{counter}+=1")].contains(&squash(update));
    let is_one = |text: &str| !["&&", "||", "?", ","].iter().any(|sign| text.contains(sign));
    if !stepped || !is_one(end) || !is_one(first) || declared.contains(',') || words(end).contains(&counter) {
        return Err(shape());
    }
    Ok(Ranged {
        type_text: type_text.trim().to_owned(),
        counter: counter.to_owned(),
        first: first.trim().to_owned(),
        end: end.trim().to_owned(),
        update: update.to_owned(),
    })
}
