//! S04: remainder and quotient of a loop's counter become counters that run along.

use tree_sitter::Node;

use super::code::{assigns, counter_type, edit, functions, squash, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::hoist::before_loop;
use super::steady::steady;
use super::template::{Found, find};
use crate::source::Edit;
use crate::source::facts::Kernel;
use crate::source::parse::{Function, Loop, SyntaxFile};

/// The motif.
pub struct RunningCounter;

impl Motif for RunningCounter {
    fn id(&self) -> &'static str {
        "S04"
    }
    fn title(&self) -> &'static str {
        "remainder and quotient of a counter as running counters"
    }
    fn family(&self) -> Family {
        Family::Scalar
    }
    fn precondition(&self) -> &'static str {
        "a loop that counts up in steps of 1 and asks in its body for counter % n or counter / n, n not a constant; n is the same in every round, also after every call \
         in the loop; the counter is changed by the loop's head alone and no round is cut short by continue"
    }
    fn cost(&self) -> &'static str {
        "a comparison in every round; the division by a constant is left to the compiler"
    }
    fn left_to_verifier(&self) -> &'static str {
        "the divisor is positive and the first number is not negative, where it is not known"
    }
    fn undoing(&self) -> &'static str {
        "remainder and quotient in every round"
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
            for repetition in loops(file, function) {
                let Some(counting) = Counting::of(file, repetition) else { continue };
                for asked in counting.asked() {
                    if is_constant(context, &asked.divisor) {
                        continue;
                    }
                    let note = format!("run along with {} for {}", counting.name, asked.divisor);
                    let edits = counting.running(context, function, kernel, &asked);
                    let mut candidate = Candidate::new(file, &repetition.span, note, edits);
                    if context.facts.known.value(&asked.divisor).is_none_or(|value| value < 1) {
                        candidate = candidate.on_condition(format!("{} is positive", asked.divisor));
                    }
                    let unsigned = counting.type_text.starts_with('u') || counting.type_text == "size_t";
                    if !unsigned && context.facts.known.value(counting.start).is_none_or(|value| value < 0) {
                        candidate = candidate.on_condition(format!("{} is not negative", counting.start));
                    }
                    found.push(candidate);
                }
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, _) in functions(context) {
            for declared in find(file, &function.body, "auto $$rest = $a % $n;") {
                let next = loops(file, function).find(|repetition| repetition.span.start >= declared.span.end);
                let Some(repetition) = next else { continue };
                let Some(edits) = divided(file, repetition, &declared) else { continue };
                let note = format!("divide by {} in every round", declared.hole("n"));
                found.push(Candidate::new(file, &repetition.span, note, Ok(edits)));
            }
        }
        found
    }
}

fn loops<'a>(file: &'a SyntaxFile, function: &Function) -> impl Iterator<Item = &'a Loop> {
    let body = function.body.clone();
    file.loops().iter().filter(move |repetition| body.contains(&repetition.span.start))
}

/// Whether the compiler knows the value and so divides by it without a division.
fn is_constant(context: &Context, divisor: &str) -> bool {
    let upper = |word: &str| word.len() > 1 && !word.bytes().any(|byte| byte.is_ascii_lowercase());
    words(divisor)
        .into_iter()
        .all(|word| upper(word) || word == "sizeof" || context.facts.definitions(word).next().is_some())
}

/// A loop that counts up from any number.
struct Counting<'a> {
    file: &'a SyntaxFile,
    repetition: &'a Loop,
    name: &'a str,
    type_text: &'a str,
    start: &'a str,
}

/// A divisor with the places where the counter is divided by it.
struct Asked {
    divisor: String,
    /// Spans of `counter % divisor`.
    rests: Vec<std::ops::Range<usize>>,
    /// Spans of `counter / divisor`.
    quotients: Vec<std::ops::Range<usize>>,
}

impl<'a> Counting<'a> {
    fn of(file: &'a SyntaxFile, repetition: &'a Loop) -> Option<Self> {
        let initializer = file.slice(repetition.initializer.as_ref()?).trim().trim_end_matches(';');
        let (declared, start) = initializer.split_once('=')?;
        let name = declared.trim().rsplit([' ', '\t']).next()?;
        let type_text = counter_type(file, repetition);
        let update = squash(file.slice(repetition.update.as_ref()?));
        let steps = update == format!("{name}++") || update == format!("++{name}");
        let condition = file.slice(repetition.condition.as_ref()?);
        let plain = !type_text.is_empty() && !start.contains(',') && words(condition).contains(&name);
        (steps && plain).then(|| Self { file, repetition, name, type_text, start: start.trim() })
    }

    fn asked(&self) -> Vec<Asked> {
        let mut found: Vec<Asked> = Vec::new();
        let Some(body) = self.file.node_at(&self.repetition.body) else { return found };
        each(body, &mut |node| {
            let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            else {
                return;
            };
            let operator = node.child_by_field_name("operator").map_or("", |operator| operator.kind());
            if node.kind() != "binary_expression"
                || !matches!(operator, "%" | "/")
                || left.kind() != "identifier"
                || self.file.slice(&left.byte_range()) != self.name
            {
                return;
            }
            let divisor = self.file.slice(&right.byte_range());
            let known = found.iter().position(|asked| squash(&asked.divisor) == squash(divisor));
            let at = known.unwrap_or_else(|| {
                found.push(Asked { divisor: divisor.to_owned(), rests: Vec::new(), quotients: Vec::new() });
                found.len() - 1
            });
            let places = if operator == "%" { &mut found[at].rests } else { &mut found[at].quotients };
            places.push(node.byte_range());
        });
        found
    }

    /// Edits that let counters run along.
    fn running(
        &self,
        context: &Context,
        function: &Function,
        kernel: &Kernel,
        asked: &Asked,
    ) -> Result<Vec<Edit>, String> {
        let Self { file, repetition, name, type_text, start } = *self;
        let divisor = asked.divisor.as_str();
        let whole = file.slice(&repetition.span);
        let body = file.slice(&repetition.body);
        if assigns(body, name) {
            return Err(format!("{name} is changed in the loop"));
        }
        if words(divisor).contains(&name) {
            return Err(format!("{divisor} changes with {name}"));
        }
        steady(context, file, kernel, divisor, &repetition.span)?;
        for (at, _) in whole.match_indices("continue") {
            let place = repetition.span.start + at;
            if file.enclosing_loop(place).is_some_and(|inner| inner.span == repetition.span) {
                return Err("continue would leave the counters behind".to_owned());
            }
        }
        if words(body).contains(&"goto") {
            return Err("goto stands in the loop".to_owned());
        }
        let taken = words(file.slice(&function.span));
        let free = |end: &str| {
            let names =
                std::iter::once(format!("{name}{end}")).chain((2..10).map(|number| format!("{name}{end}{number}")));
            names
                .into_iter()
                .find(|name| !taken.contains(&name.as_str()))
                .ok_or_else(|| format!("{name}{end} is taken"))
        };
        let (rest, quotient) = (free("Rest")?, free("Quotient")?);
        let first =
            if type_text == "auto" { format!("({start})") } else { format!("static_cast<{type_text}>({start})") };
        let before = before_loop(file, repetition)?;
        let indentation = file.indentation(repetition.span.start);
        let divided = !asked.quotients.is_empty();
        let mut lines = format!("{indentation}auto {rest} = {first} % {divisor};\n");
        if divided {
            lines += &format!("{indentation}auto {quotient} = {first} / {divisor};\n");
        }
        let close = repetition.body.end - 1;
        let line = file.text()[..close].rfind('\n').map_or(0, |end| end + 1);
        if !body.starts_with('{') || !file.text()[line..close].trim().is_empty() || line <= repetition.body.start {
            return Err("the loop's body does not end on a line of its own".to_owned());
        }
        let mut edits = vec![edit(file, before..before, lines)];
        let places = asked.rests.iter().map(|place| (place, &rest));
        for (place, name) in places.chain(asked.quotients.iter().map(|place| (place, &quotient))) {
            edits.push(edit(file, place.clone(), name.as_str()));
        }
        let step = if divided { format!("{indentation}        ++{quotient};\n") } else { String::new() };
        edits.push(edit(
            file,
            line..line,
            format!(
                "{indentation}    if (++{rest} == {divisor}) {{\n{indentation}        {rest} = 0;\n{step}{indentation}    }}\n"
            ),
        ));
        edits.sort_by_key(|edit| edit.span.start);
        Ok(edits)
    }
}

fn each<'t>(node: Node<'t>, judge: &mut impl FnMut(Node<'t>)) {
    judge(node);
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        each(child, judge);
    }
}

/// Edits that divide again, where counters run along as this motif writes it.
fn divided(file: &SyntaxFile, repetition: &Loop, declared: &Found) -> Option<Vec<Edit>> {
    let counting = Counting::of(file, repetition)?;
    let (rest, first, divisor) = (declared.hole("rest"), declared.hole("a"), declared.hole("n"));
    let between = declared.span.end..repetition.span.start;
    let mut quotients = find(file, &between, "auto $$quotient = $a / $n;").into_iter();
    let quotient = quotients.find(|found| found.hole("a") == first && found.hole("n") == divisor);
    let rest_of_between = quotient.as_ref().map_or(between.clone(), |found| found.span.end..repetition.span.start);
    if !file.slice(&rest_of_between).trim().is_empty() && quotient.is_some() {
        return None;
    }
    let close = repetition.body.end - 1;
    let step = match &quotient {
        Some(found) => format!("if (++{rest} == $n) {{ {rest} = 0; ++{}; }}", found.hole("quotient")),
        None => format!("if (++{rest} == $n) {{ {rest} = 0; }}"),
    };
    let end = find(file, &repetition.body, &step).pop().filter(|end| squash(end.hole("n")) == squash(divisor))?;
    if !file.slice(&(end.span.end..close)).trim().is_empty() || end.commented {
        return None;
    }
    let mut edits = vec![edit(file, file.removal_span(&declared.span), "")];
    if let Some(found) = &quotient {
        edits.push(edit(file, file.removal_span(&found.span), ""));
    }
    let mut plain = true;
    each(file.node_at(&repetition.body)?, &mut |node| {
        let text = file.slice(&node.byte_range());
        let is_quotient = quotient.as_ref().is_some_and(|found| found.hole("quotient") == text);
        if node.kind() != "identifier" || end.span.contains(&node.start_byte()) || (text != rest && !is_quotient) {
            return;
        }
        let operator = if is_quotient { '/' } else { '%' };
        let spelled = format!("{} {operator} {divisor}", counting.name);
        let spelled = if binds_looser(node, file) { spelled } else { format!("({spelled})") };
        plain &= !assigns(text, rest);
        edits.push(edit(file, node.byte_range(), spelled));
    });
    edits.push(edit(file, file.removal_span(&end.span), ""));
    plain.then_some(edits)
}

/// Whether what stands around a name binds looser than a division, or comes after it.
fn binds_looser(node: Node<'_>, file: &SyntaxFile) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "binary_expression" => {
            let operator = parent.child_by_field_name("operator").map_or("", |operator| operator.kind());
            let left = parent.child_by_field_name("left").is_some_and(|left| left.byte_range() == node.byte_range());
            left || !matches!(operator, "*" | "/" | "%")
        }
        "unary_expression" | "pointer_expression" | "cast_expression" | "field_expression" => false,
        _ => !file.slice(&parent.byte_range()).starts_with('-'),
    }
}
