//! S01: the shorter last round, which stands behind the loop, becomes a round of the loop.

use std::ops::Range;

use super::code::{block_of, counter_type, edit, functions, invariant, squash, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::rows::is_name;
use super::siblings::siblings;
use super::steady::steady;
use super::vectorise::counted;
use crate::source::Edit;
use crate::source::facts::Kernel;
use crate::source::parse::{Loop, SyntaxFile, TokenKind, lex};

/// Names of the variables that the edit brings.
const ROUNDS: &str = "rounds";
const EXTENT: &str = "extent";
/// Arguments that may differ in the tail; with more the choices cost more than they save.
const MOST_CHOICES: usize = 3;

/// The motif.
pub struct FoldTail;

impl Motif for FoldTail {
    fn id(&self) -> &'static str {
        "S01"
    }
    fn title(&self) -> &'static str {
        "fold the tail into the loop"
    }
    fn family(&self) -> Family {
        Family::Scalar
    }
    fn precondition(&self) -> &'static str {
        "a loop from 0 to n in steps of 1, then an if without else whose body is the loop's with n for the counter and one other argument; n, the condition and both \
         arguments the same in every round, also after every call in the loop. Alternative to S02: either may win"
    }
    fn cost(&self) -> &'static str {
        "a choice in every round"
    }
    fn left_to_verifier(&self) -> &'static str {
        "the number of rounds is not negative, where its type has a sign"
    }
    fn undoing(&self) -> &'static str {
        "the last round behind the loop"
    }
    fn seen_by_model(&self) -> bool {
        false
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::StallUs, Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.03
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, _) in functions(context) {
            for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
                let Ok((counter, bound)) = counted(file, repetition) else { continue };
                let Some((condition, tail, whole)) = tail_behind(file, repetition) else { continue };
                let place = Place { context, file, kernel, repetition, counter, bound };
                let pairs = place.difference(&tail);
                let Ok(pairs) = pairs else { continue };
                let edits = place.folded(&condition, &pairs, &whole, file.slice(&function.span));
                let signed = !counter_type(file, repetition).contains("uint")
                    && place.context.facts.known.value(&place.bound).is_none();
                let mut candidate = Candidate::new(file, &repetition.span, "the tail as a round of the loop", edits);
                if signed {
                    candidate = candidate.on_condition(format!("{} is not negative", place.bound));
                }
                found.push(candidate);
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, _) in functions(context) {
            for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
                if let Some(edits) = unfolded(file, repetition) {
                    found.push(Candidate::new(file, &repetition.span, "the last round behind the loop", Ok(edits)));
                }
            }
        }
        found
    }
}

/// Condition and body of the `if` right behind a loop, and the whole statement.
fn tail_behind(file: &SyntaxFile, repetition: &Loop) -> Option<(Range<usize>, Range<usize>, Range<usize>)> {
    let next = siblings(file, &repetition.span).into_iter().find(|other| other.start >= repetition.span.end)?;
    let mut node = file.node_at(&next)?;
    while node.byte_range() != next || node.kind() != "if_statement" {
        node = node.parent().filter(|node| node.byte_range().len() <= next.len())?;
    }
    if node.child_by_field_name("alternative").is_some() || file.slice(&next).starts_with("if constexpr") {
        return None;
    }
    let condition = node.child_by_field_name("condition")?.byte_range();
    let condition = condition.start + 1..condition.end - 1;
    Some((condition, node.child_by_field_name("consequence")?.byte_range(), next))
}

struct Place<'a> {
    context: &'a Context,
    file: &'a SyntaxFile,
    kernel: &'a Kernel,
    repetition: &'a Loop,
    counter: String,
    bound: String,
}

/// Arguments of the loop's body with their places and texts, and the text in the tail's place.
type Pairs = Vec<(Range<usize>, String)>;

impl Place<'_> {
    /// Where the tail's body differs from the loop's, apart from the counter.
    fn difference(&self, tail: &Range<usize>) -> Result<Pairs, String> {
        let (file, unlike) = (self.file, || "the tail is not like a round".to_owned());
        let statements = |body: &Range<usize>| -> Vec<Range<usize>> {
            let Some(node) = file.node_at(body).filter(|node| node.kind() == "compound_statement") else {
                return vec![body.clone()];
            };
            let mut cursor = node.walk();
            let children = node.named_children(&mut cursor).filter(|child| child.kind() != "comment");
            children.map(|child| child.byte_range()).collect()
        };
        let (rounds, last) = (statements(&self.repetition.body), statements(tail));
        if rounds.len() != last.len() {
            return Err(unlike());
        }
        let mut pairs = Pairs::new();
        for (round, last) in rounds.iter().zip(&last) {
            if self.of_tail(file.slice(round)) == squash(file.slice(last)) {
                continue;
            }
            let call =
                |statement: &Range<usize>| file.calls().iter().find(|call| call.statement.as_ref() == Some(statement));
            let (Some(left), Some(right)) = (call(round), call(last)) else { return Err(unlike()) };
            if squash(file.slice(&left.callee)) != squash(file.slice(&right.callee))
                || left.arguments.len() != right.arguments.len()
            {
                return Err(unlike());
            }
            for (left, right) in left.arguments.iter().zip(&right.arguments) {
                if self.of_tail(file.slice(left)) != squash(file.slice(right)) {
                    pairs.push((left.clone(), file.slice(right).to_owned()));
                }
            }
        }
        if pairs.is_empty() { Err(unlike()) } else { Ok(pairs) }
    }

    /// Text of a round as it is in the tail, without blanks.
    fn of_tail(&self, text: &str) -> String {
        squash(&replaced(text, &self.counter, &self.bound))
    }

    fn folded(
        &self,
        condition: &Range<usize>,
        pairs: &Pairs,
        tail: &Range<usize>,
        function: &str,
    ) -> Result<Vec<Edit>, String> {
        let (file, repetition) = (self.file, self.repetition);
        // Each argument that differs, with what stands in its place in the tail.
        let mut choices: Vec<(&str, &str)> = Vec::new();
        for (span, short) in pairs {
            let full = file.slice(span);
            match choices.iter().find(|(known, _)| squash(known) == squash(full)) {
                Some((_, known)) if squash(known) != squash(short) => {
                    return Err(format!("{full} differs from the tail's in another way"));
                }
                Some(_) => {}
                None => choices.push((full, short)),
            }
        }
        if choices.len() > MOST_CHOICES {
            return Err(format!("{} arguments differ", choices.len()));
        }
        if file.locals().iter().any(|local| local.name == self.counter && repetition.body.contains(&local.span.start)) {
            return Err(format!("{} is declared again in the body", self.counter));
        }
        if !is_name(&self.bound) {
            return Err(format!("{} is not a plain bound", self.bound));
        }
        let test = file.slice(condition);
        let both = choices.iter().flat_map(|(full, short)| [*full, *short]);
        for expression in [self.bound.as_str(), test].into_iter().chain(both) {
            if words(expression).contains(&self.counter.as_str()) {
                return Err(format!("{expression} changes with the counter"));
            }
            let plain = expression.replace(['<', '>', '='], "+").replace('!', "+");
            steady(self.context, file, self.kernel, &plain, &repetition.span)
                .map_err(|reason| reason.replace(&plain, expression))?;
        }
        if !invariant(&test.replace(['<', '>', '=', '!'], "+"), "") {
            return Err(format!("{test} may have an effect"));
        }
        let taken = words(function);
        let free = |wanted: &str| {
            let numbered = |number: usize| if number == 0 { wanted.to_owned() } else { format!("{wanted}{number}") };
            (0..100).map(numbered).find(|name| !taken.contains(&name.as_str()))
        };
        let rounds = free(ROUNDS).ok_or_else(|| format!("{ROUNDS} is taken"))?;
        let mut extents: Vec<String> = Vec::new();
        for number in 0..choices.len() {
            let wanted =
                if number == 0 { EXTENT.to_owned() } else { format!("{EXTENT}{}", (b'A' + number as u8) as char) };
            extents.push(free(&wanted).ok_or_else(|| format!("{EXTENT} is taken"))?);
        }
        let body = file.slice(&repetition.body);
        let body_words = words(body);
        if let Some(word) = body_words.iter().find(|word| matches!(**word, "break" | "continue" | "goto" | "return")) {
            return Err(format!("the body holds {word}"));
        }
        let rest = body.strip_prefix("{\n").ok_or("the loop's body does not stand on lines of its own")?;
        let inner = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
        block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        let start = repetition.span.start;
        let line = file.text()[..start].rfind('\n').map_or(0, |end| end + 1);
        if !file.text()[line..start].trim().is_empty() {
            return Err("the loop shares its line".to_owned());
        }
        let bound_at = repetition.condition.clone().ok_or("the loop has no condition")?;
        let shift = file.slice(&bound_at).rfind(self.bound.as_str()).ok_or("the bound is not found")?;
        let bound_at = bound_at.start + shift..bound_at.start + shift + self.bound.len();
        let (counter, bound, type_text) = (&self.counter, &self.bound, counter_type(file, repetition));
        let inside = repetition.body.start + 2;
        let choose = |(name, (full, short)): (&String, &(&str, &str))| {
            format!("{inner}const auto {name} = {counter} < {bound} ? {full} : {short};\n")
        };
        let chosen: String = extents.iter().zip(&choices).map(choose).collect();
        let head = format!("{}const {type_text} {rounds} = {bound} + ({test} ? 1 : 0);\n", file.indentation(start));
        let mut edits = vec![
            edit(file, line..line, head),
            edit(file, bound_at, rounds.as_str()),
            edit(file, inside..inside, chosen),
            edit(file, file.whole_lines(tail).ok_or("the tail shares its lines")?, ""),
        ];
        for (span, _) in pairs {
            let choice = choices.iter().position(|(full, _)| squash(full) == squash(file.slice(span)));
            let name = choice.and_then(|choice| extents.get(choice)).ok_or("an argument is not found again")?;
            edits.push(edit(file, span.clone(), name.as_str()));
        }
        Ok(edits)
    }
}

/// Text with every word of a name replaced.
fn replaced(text: &str, name: &str, by: &str) -> String {
    let (mut result, mut from) = (String::new(), 0);
    for token in
        lex(text).into_iter().filter(|token| token.kind == TokenKind::Word && text[token.span.clone()] == *name)
    {
        result.push_str(&text[from..token.span.start]);
        result.push_str(by);
        from = token.span.end;
    }
    result.push_str(&text[from..]);
    result
}

/// The loop that [`Place::folded`] would have made, taken apart again.
fn unfolded(file: &SyntaxFile, repetition: &Loop) -> Option<Vec<Edit>> {
    let (counter, bound) = counted(file, repetition).ok()?;
    let body = file.slice(&repetition.body);
    let name = bound;
    if !name.starts_with(ROUNDS) || words(body).contains(&name.as_str()) {
        return None;
    }
    let rounds = file.locals().iter().find(|local| {
        local.name == name
            && local.span.end <= repetition.span.start
            && file.slice(&(local.span.end..repetition.span.start)).trim().is_empty()
    })?;
    let (bound, test) = file.slice(rounds.value.as_ref()?).strip_suffix(" ? 1 : 0)")?.split_once(" + (")?;
    let mut choices: Vec<(&str, &str, &str)> = Vec::new();
    let mut lines = repetition.body.start + 2..repetition.body.start + 2;
    for local in file.locals().iter().filter(|local| repetition.body.contains(&local.span.start)) {
        let own = file.whole_lines(&local.span).filter(|own| own.start == lines.end && local.name.starts_with(EXTENT));
        let value = local.value.as_ref().map(|value| file.slice(value)).unwrap_or_default();
        let choice = value.strip_prefix(&format!("{counter} < {bound} ? ")).and_then(|rest| rest.split_once(" : "));
        let (Some(own), Some((full, short))) = (own, choice) else { break };
        choices.push((local.name.as_str(), full, short));
        lines.end = own.end;
    }
    if choices.is_empty() {
        return None;
    }
    let bound_at = repetition.condition.clone()?;
    let shift = file.slice(&bound_at).rfind(name.as_str())?;
    let rest = file.slice(&(lines.end..repetition.body.end));
    let mut tail = rest.to_owned();
    for (extent, _, short) in &choices {
        tail = replaced(&tail, extent, short);
    }
    let tail = replaced(&tail, &counter, bound);
    let behind = file.whole_lines(&(repetition.span.end - 1..repetition.span.end)).map(|lines| lines.end)?;
    let mut edits = vec![
        edit(file, file.whole_lines(&rounds.span)?, ""),
        edit(file, bound_at.start + shift..bound_at.start + shift + name.len(), bound),
        edit(file, lines.clone(), ""),
        edit(file, behind..behind, format!("{}if ({test}) {{\n{tail}\n", file.indentation(repetition.span.start))),
    ];
    for token in lex(rest) {
        if let Some((_, full, _)) = choices.iter().find(|(extent, _, _)| rest[token.span.clone()] == **extent) {
            edits.push(edit(file, lines.end + token.span.start..lines.end + token.span.end, *full));
        }
    }
    Some(edits)
}
