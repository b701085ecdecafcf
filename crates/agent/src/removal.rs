//! An answer that takes an optimisation out of a strong kernel.

use super::answer::{AnswerError, Change, change, one_line};
use motif::Counter;
use source::SourceTree;

/// How the line begins that names a counter.
pub(super) const COUNTER: &str = "COUNTER:";
/// The word for an answer that is no change.
pub(super) const UNUSABLE: &str = "model-answer-unusable";

/// What an answer takes out, and what should take longer without it.
pub(super) fn removal(answer: &str, sources: &SourceTree) -> Result<(Change, Counter), AnswerError> {
    let change = change(answer, sources)?;
    let said = answer.lines().find_map(|line| line.trim().strip_prefix(COUNTER)).map(str::trim);
    let counter = said.and_then(Counter::named).ok_or_else(|| AnswerError::Counter {
        said: one_line(said.unwrap_or_default()),
        known: Counter::ALL.map(Counter::name).join(", "),
    })?;
    Ok((change, counter))
}
