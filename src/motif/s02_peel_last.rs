//! S02: the last round, which a branch in every round tells from the others, stands behind the loop.

use std::ops::Range;

use super::code::{assigns, block_of, counter_type, edit, functions, squash, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::siblings::siblings;
use super::steady::steady;
use super::vectorise::counted;
use crate::source::Edit;
use crate::source::facts::Kernel;
use crate::source::parse::{Loop, SyntaxFile};

/// The motif.
pub struct PeelLast;

impl Motif for PeelLast {
    fn id(&self) -> &'static str {
        "S02"
    }
    fn title(&self) -> &'static str {
        "peel the last round off a loop"
    }
    fn family(&self) -> Family {
        Family::Scalar
    }
    fn precondition(&self) -> &'static str {
        "a loop from 0 to n in steps of 1 whose body chooses a value by i == n - 1 ? a : b, without break and continue; n the same in every round, also after every \
         call in the loop; the counter is not changed. Alternative to S01: either may win"
    }
    fn cost(&self) -> &'static str {
        "the body stands twice: more instructions to fetch"
    }
    fn undoing(&self) -> &'static str {
        "the branch back into the loop"
    }
    fn seen_by_model(&self) -> bool {
        false
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.02
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, _) in functions(context) {
            for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
                let Ok((counter, bound)) = counted(file, repetition) else { continue };
                let rounds = Rounds { context, file, kernel, repetition, counter, bound };
                let choices = rounds.choices();
                if choices.is_empty() {
                    continue;
                }
                let note = format!("peel the round {} == {} - 1", rounds.counter, rounds.bound);
                found.push(Candidate::new(file, &repetition.span, note, rounds.peeled(&choices)));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, _) in functions(context) {
            for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
                if let Some(edits) = joined(file, repetition) {
                    found.push(Candidate::new(file, &repetition.span, "the last round in the loop", Ok(edits)));
                }
            }
        }
        found
    }
}

/// `i == n - 1 ? last : other` in a loop's body.
struct Choice {
    span: Range<usize>,
    last: String,
    other: String,
}

struct Rounds<'a> {
    context: &'a Context,
    file: &'a SyntaxFile,
    kernel: &'a Kernel,
    repetition: &'a Loop,
    counter: String,
    bound: String,
}

impl Rounds<'_> {
    /// Choices by the last round, in text order.
    fn choices(&self) -> Vec<Choice> {
        let mut found = Vec::new();
        let Some(body) = self.file.node_at(&self.repetition.body) else { return found };
        let wanted = squash(&format!("{}=={}-1", self.counter, self.bound));
        let mirrored = squash(&format!("{}-1=={}", self.bound, self.counter));
        let mut pending = vec![body];
        while let Some(node) = pending.pop() {
            if node.kind() == "conditional_expression"
                && let (Some(condition), Some(last), Some(other)) = (
                    node.child_by_field_name("condition"),
                    node.child_by_field_name("consequence"),
                    node.child_by_field_name("alternative"),
                )
            {
                let text = squash(self.file.slice(&condition.byte_range()));
                let plain = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(&text);
                if plain == wanted || plain == mirrored {
                    found.push(Choice {
                        span: node.byte_range(),
                        last: self.file.slice(&last.byte_range()).to_owned(),
                        other: self.file.slice(&other.byte_range()).to_owned(),
                    });
                    continue;
                }
            }
            let mut cursor = node.walk();
            pending.extend(node.named_children(&mut cursor));
        }
        found.sort_by_key(|choice| choice.span.start);
        found
    }

    fn peeled(&self, choices: &[Choice]) -> Result<Vec<Edit>, String> {
        let (file, repetition) = (self.file, self.repetition);
        let body = file.slice(&repetition.body);
        check_body(file, repetition)?;
        let again = |local: &&crate::source::parse::Local| {
            local.name == self.counter && repetition.body.contains(&local.span.start)
        };
        if file.locals().iter().find(again).is_some() {
            return Err(format!("{} is declared again in the body", self.counter));
        }
        if assigns(body, &self.counter) {
            return Err(format!("the body changes {}", self.counter));
        }
        steady(self.context, file, self.kernel, &self.bound, &repetition.span)?;
        if !is_plain(&self.bound) {
            return Err(format!("{} is not a plain bound", self.bound));
        }
        block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        let condition = repetition.condition.clone().ok_or("the loop has no condition")?;
        let type_text = counter_type(file, repetition);
        let indentation = file.indentation(repetition.span.start);
        let inner = inner_indentation(file, repetition);
        let mut edits = vec![edit(file, condition, format!("{} + 1 < {}", self.counter, self.bound))];
        edits.extend(choices.iter().map(|choice| edit(file, choice.span.clone(), choice.other.as_str())));
        // The body once more, with the other arms.
        let mut last = String::new();
        let mut from = repetition.body.start + 2;
        for choice in choices {
            last.push_str(file.slice(&(from..choice.span.start)));
            last.push_str(&choice.last);
            from = choice.span.end;
        }
        let end = repetition.body.end - 1;
        last.push_str(file.slice(&(from..end)));
        let block = format!(
            "{indentation}if ({bound} > 0) {{\n{inner}const {type_text} {counter} = {bound} - 1;\n{last}}}\n",
            bound = self.bound,
            counter = self.counter,
        );
        let behind = line_end(file, repetition.span.end)?;
        edits.push(edit(file, behind..behind, block));
        Ok(edits)
    }
}

/// Proves that the body stands between braces on lines of its own and is left at its end alone.
fn check_body(file: &SyntaxFile, repetition: &Loop) -> Result<(), String> {
    let body = file.slice(&repetition.body);
    if !body.starts_with("{\n") || !body.ends_with('}') || body.contains("\n#") {
        return Err("the loop's body does not stand on lines of its own".to_owned());
    }
    match words(body).into_iter().find(|word| matches!(*word, "break" | "continue" | "goto" | "static")) {
        Some(word) => Err(format!("the body holds {word}")),
        None => Ok(()),
    }
}

/// A name, maybe of a member, or a number.
fn is_plain(text: &str) -> bool {
    super::rows::is_name(text)
}

fn inner_indentation<'a>(file: &'a SyntaxFile, repetition: &Loop) -> &'a str {
    let rest = &file.text()[repetition.body.start + 2..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// End of the line on which something ends, if nothing follows there.
fn line_end(file: &SyntaxFile, byte: usize) -> Result<usize, String> {
    let rest = &file.text()[byte..];
    let end = rest.find('\n').ok_or("the file ends in the loop's line")?;
    if rest[..end].trim().is_empty() { Ok(byte + end + 1) } else { Err("the loop's end shares its line".to_owned()) }
}

/// The loop and the block behind it that [`Rounds::peeled`] would have made of one loop.
fn joined(file: &SyntaxFile, repetition: &Loop) -> Option<Vec<Edit>> {
    let condition = repetition.condition.clone()?;
    let (counter, bound) = file.slice(&condition).split_once(" + 1 < ")?;
    let type_text = counter_type(file, repetition);
    check_body(file, repetition).ok()?;
    if !is_plain(bound) {
        return None;
    }
    let next = siblings(file, &repetition.span).into_iter().find(|other| other.start >= repetition.span.end)?;
    let head = format!(
        "if ({bound} > 0) {{\n{}const {type_text} {counter} = {bound} - 1;\n",
        inner_indentation(file, repetition)
    );
    let last = file.slice(&next).strip_prefix(head.as_str())?.strip_suffix('}')?;
    let body = file.slice(&repetition.body);
    let body = body.strip_prefix("{\n")?.strip_suffix('}')?;
    let mut edits = vec![edit(file, condition, format!("{counter} < {bound}"))];
    let mut at = repetition.body.start + 2;
    let (own, other): (Vec<&str>, Vec<&str>) = (body.split('\n').collect(), last.split('\n').collect());
    if own.len() != other.len() {
        return None;
    }
    let mut changed = 0;
    for (own, other) in own.iter().zip(&other) {
        if own != other {
            // One stretch of the line differs.
            let front = own.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count();
            let (own_rest, other_rest) = (&own.as_bytes()[front..], &other.as_bytes()[front..]);
            let back =
                own_rest.iter().rev().zip(other_rest.iter().rev()).take_while(|(left, right)| left == right).count();
            let (front, back) = word_borders(own, front, back);
            let (mine, theirs) = (own.get(front..own.len() - back)?, other.get(front..other.len() - back)?);
            if mine.trim().is_empty() || theirs.trim().is_empty() {
                return None;
            }
            let choice = format!("{counter} == {bound} - 1 ? {theirs} : {mine}");
            edits.push(edit(file, at + front..at + own.len() - back, choice));
            changed += 1;
        }
        at += own.len() + 1;
    }
    let lines = file.whole_lines(&next)?;
    edits.push(edit(file, lines, ""));
    (changed > 0).then_some(edits)
}

/// Widens a stretch that differs to the whole expression: back to `=`, `(` or `,`, on to `;`, `)` or `,`.
fn word_borders(line: &str, front: usize, back: usize) -> (usize, usize) {
    let start = line.get(..front).and_then(|text| text.rfind(['=', '(', ','])).map_or(0, |at| at + 1);
    let blanks = line[start..].len() - line[start..].trim_start().len();
    let end = line.len() - back;
    let stop = line.get(end..).and_then(|text| text.find([';', ')', ','])).map_or(line.len(), |at| end + at);
    ((start + blanks).min(front), line.len() - stop)
}
