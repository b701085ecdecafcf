//! Tensors that live longer than a round because every round adds the same to them, made to begin where a core's first round does and to
//! go on by as many rounds as there are cores.

use std::ops::Range;

use crate::analysis::arms::called_once;
use crate::analysis::code::{block_of, functions_of, scope, squash, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::flow::effects::reached;
use crate::context::Context;
use crate::rewrite::edits::insert_after;
use source::Edit;
use source::facts::Kernel;
use source::parse::{Call, Function, SyntaxFile};

/// A function with its file.
type Place<'a> = (&'a SyntaxFile, &'a Function);

/// A class with its rounds, each of which one core is to do.
pub(crate) struct Carrying<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    rounds: &'a [(&'a SyntaxFile, Range<usize>)],
    /// Functions of rounds.
    inside: Vec<Place<'a>>,
}

impl<'a> Carrying<'a> {
    pub(crate) fn of(context: &'a Context, kernel: &'a Kernel, rounds: &'a [(&'a SyntaxFile, Range<usize>)]) -> Self {
        let mut inside: Vec<Place<'a>> = Vec::new();
        for (file, span) in rounds {
            for place in reached(context, kernel, file, span) {
                if !inside.iter().any(|known| same(known, &place)) {
                    inside.push(place);
                }
            }
        }
        Self { context, kernel, rounds, inside }
    }

    /// Edits for every tensor of the class that rounds add to; none where there is no such tensor.
    ///
    /// # Errors
    /// What is not known about one.
    pub(crate) fn edits(&self) -> Result<Vec<Edit>, String> {
        let mut edits = Vec::new();
        for tensor in &self.kernel.tensor_members {
            if let Some((place, step, sum)) = self.sum(tensor) {
                edits.push(self.begun(tensor, step, place, sum)?);
            }
        }
        Ok(edits)
    }

    /// The call by which a round adds a tensor to this one, where it is all that rounds do to it, with that tensor.
    fn sum(&self, tensor: &str) -> Option<(Place<'a>, &'a str, &'a Call)> {
        let mut writes = self.inside.iter().flat_map(|place| writes(place, tensor).map(|call| (*place, call)));
        let (Some((place, call)), None) = (writes.next(), writes.next()) else { return None };
        let operand = |index: usize| place.0.argument(call, index).map(plain).unwrap_or_default();
        if call.name != "Add" || call.arguments.len() != 4 || operand(0) != tensor {
            return None;
        }
        let step = match (operand(1), operand(2)) {
            (own, step) if own == tensor && step != tensor => step,
            (step, own) if own == tensor && step != tensor => step,
            _ => return None,
        };
        self.kernel.tensor_members.contains(step).then_some((place, step, call))
    }

    /// The edit that lets a tensor begin where the core does, behind the statements that made it and its step.
    fn begun(&self, tensor: &str, step: &str, (file, function): Place<'a>, sum: &Call) -> Result<Edit, String> {
        let line = file.line(sum.span.start);
        self.once_a_round((file, function), sum)?;
        let mentions: usize = self
            .inside
            .iter()
            .map(|(file, function)| {
                words(file.slice(&function.body)).into_iter().filter(|word| **word == *step).count()
            })
            .sum();
        if mentions != 1 {
            return Err(format!("line {line}: rounds do something else with {step}, too"));
        }
        let element = self.element(tensor).filter(|element| self.element(step) == Some(*element));
        let element =
            element.ok_or_else(|| format!("line {line}: what {tensor} and {step} are made of is not known"))?;
        let (first, count) = self.made(tensor)?;
        let (second, again) = self.made(step)?;
        if !same(&first.0, &second.0) || squash(count) != squash(again) {
            return Err(format!("{tensor} and {step} are not made together"));
        }
        let (file, function) = first.0;
        let last = if first.1.start < second.1.start { &second.1 } else { &first.1 };
        let earlier = if first.1.start < second.1.start { &first.1 } else { &second.1 };
        let rest = file.slice(&(last.end..function.body.end));
        if let Some(name) = words(rest).into_iter().find(|word| *word == tensor || *word == step) {
            return Err(format!("{name} is used behind what makes it"));
        }
        let between = earlier.end..last.end;
        if words(count).into_iter().any(|word| changes_name(file, &between, word)) {
            return Err(format!("{count} changes"));
        }
        self.comes_before_rounds((file, function))?;
        let api = scope(file);
        let number = |question: &str| match element {
            "half" => format!("static_cast<half>(static_cast<float>({api}{question}()))"),
            _ => format!("static_cast<float>({api}{question}())"),
        };
        let lines = [
            format!("if ({api}GetBlockNum() > 1) {{"),
            format!(
                "    {api}Axpy({tensor}, {step}, {}, {count}); // as the first round of this core finds it",
                number("GetBlockIdx")
            ),
            format!("    {api}Muls({step}, {step}, {}, {count});", number("GetBlockNum")),
            "}".to_owned(),
        ];
        insert_after(file, last, &lines)
            .ok_or_else(|| format!("line {}: the statement shares its line", file.line(last.start)))
    }

    /// Proves that every round does a statement of one of its functions once.
    fn once_a_round(&self, (file, function): Place<'a>, call: &Call) -> Result<(), String> {
        let line = file.line(call.span.start);
        let unclear = || format!("line {line}: a round may do this more than once, or not at all");
        let statement = call.statement.as_ref().ok_or_else(unclear)?;
        let before = file.slice(&(function.body.start..statement.start));
        if block_of(file, statement).as_ref() != Some(&function.body) || words(before).contains(&"return") {
            return Err(unclear());
        }
        let named = |file: &SyntaxFile, span: Range<usize>| {
            file.calls_in(span).filter(|call| call.name == function.name).count()
        };
        let once = self.rounds.iter().all(|(file, span)| named(file, span.clone()) == 1);
        if !once || self.inside.iter().any(|(file, other)| named(file, other.body.clone()) > 0) {
            return Err(unclear());
        }
        Ok(())
    }

    /// The statement outside of rounds that writes a tensor last, with its function, and the number of elements.
    fn made(&self, tensor: &str) -> Result<((Place<'a>, Range<usize>), &'a str), String> {
        let mut found: Option<(Place<'a>, &'a Call)> = None;
        for place in functions_of(self.context, self.kernel) {
            if self.inside.iter().any(|known| same(known, &place)) {
                continue;
            }
            for call in writes(&place, tensor) {
                if found.is_some_and(|(known, _)| !same(&known, &place)) {
                    return Err(format!("several functions make {tensor}"));
                }
                found = Some((place, call));
            }
        }
        let unclear = || format!("what makes {tensor} is not known");
        let (place, call) = found.ok_or_else(unclear)?;
        let (file, function) = place;
        let statement = call.statement.clone().ok_or_else(unclear)?;
        let direct = block_of(file, &statement).as_ref() == Some(&function.body);
        let is_whole = file.argument(call, 0).map(plain) == Some(tensor) && call.object.is_none();
        let count =
            call.arguments.last().filter(|_| call.arguments.len() >= 3 && direct && is_whole).ok_or_else(unclear)?;
        Ok(((place, statement), file.slice(count).trim()))
    }

    /// Proves that a launch calls a function once, before all rounds.
    fn comes_before_rounds(&self, (file, function): Place<'a>) -> Result<(), String> {
        let unclear = || format!("{} may not come before all rounds", function.name);
        called_once(self.context, function)?;
        for (of_round, span) in self.rounds {
            let driver = of_round.enclosing_function(span.start).ok_or_else(unclear)?;
            called_once(self.context, driver)?;
            let is_call = |call: &Call| {
                let direct = call.statement.as_ref().and_then(|statement| block_of(of_round, statement));
                call.is_own()
                    && call.name == function.name
                    && direct.as_ref() == Some(&driver.body)
                    && call.span.end <= span.start
            };
            if of_round.name() != file.name() || !of_round.calls_in(driver.body.clone()).any(is_call) {
                return Err(unclear());
            }
        }
        Ok(())
    }

    /// The type of a tensor's elements, where sums of them are known.
    fn element(&self, tensor: &str) -> Option<&'static str> {
        let classes = self.context.forest.iter().flat_map(SyntaxFile::classes);
        let mut members = classes.filter(|class| class.name == self.kernel.name).flat_map(|class| &class.members);
        let member = members.find(|member| member.name == tensor)?;
        let named = words(&member.type_text);
        ["float", "half"].into_iter().find(|element| named.contains(element))
    }
}

/// Whether two places are one function.
fn same(left: &Place<'_>, right: &Place<'_>) -> bool {
    left.0.name() == right.0.name() && left.1.span == right.1.span
}

/// A tensor by its own name.
fn plain(operand: &str) -> &str {
    let operand = operand.trim();
    operand.strip_prefix("this->").unwrap_or(operand)
}

/// Calls of a function that may write a tensor: it is handed over as the first thing, or asked to set an element.
fn writes<'a>((file, function): &Place<'a>, tensor: &str) -> impl Iterator<Item = &'a Call> {
    let (file, tensor) = (*file, tensor.to_owned());
    file.calls_in(function.body.clone()).filter(move |call| {
        let is_object = call.object.as_deref().map(plain) == Some(tensor.as_str()) && call.name == "SetValue";
        let first = call.arguments.first().map(|argument| words(file.slice(argument)));
        is_object || call.object.is_none() && first.is_some_and(|words| words.contains(&tensor.as_str()))
    })
}
