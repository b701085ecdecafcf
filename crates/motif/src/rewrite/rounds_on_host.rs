//! Rounds of a kernel as its host code has them: how many there are, and whether what each of them writes is whole blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::arms::called_once;
use crate::analysis::code::{functions_of, is_all_of};
use crate::analysis::host_numbers::{OnHost, on_host};
use crate::analysis::launches::Launch;
use crate::analysis::loops::{counted, loops_around};
use crate::analysis::polynomial::Polynomial;
use crate::context::Context;
use source::constant::fixed_type_bytes;
use source::facts::{Kernel, base_name};
use source::parse::{Call, Function, SyntaxFile};

/// Bytes of a block.
const BLOCK_BYTES: i64 = 32;

/// How many rounds a launch has for a class at most, where the host knows all that this follows from. Functions with rounds are taken for
/// alternatives: where a launch comes through several of them, it has more.
pub(crate) fn number_of_rounds(
    context: &Context,
    launch: &Launch<'_>,
    kernel: &Kernel,
    rounds: &[(&SyntaxFile, Range<usize>)],
) -> Option<OnHost> {
    let mut functions: BTreeMap<(&str, usize), Vec<String>> = BTreeMap::new();
    let mut from = 0;
    for (file, span) in rounds {
        let function = file.enclosing_function(span.start)?;
        called_once(context, function).ok()?;
        let say = |text: &str| on_host(context, launch, kernel, &Polynomial::of(text, &own)?);
        let own = match loops_around(file, function, span.start)[..] {
            [] => match positive(file, span).and_then(say) {
                Some(number) => OnHost { text: format!("({} > 0 ? 1 : 0)", number.text), from: number.from },
                None => OnHost { text: "1".to_owned(), from: 0 },
            },
            [repetition] => say(&counted(file, repetition).ok()?.1)?,
            _ => return None,
        };
        from = from.max(own.from);
        functions.entry((file.name(), function.body.start)).or_default().push(own.text);
    }
    let mut sums: BTreeSet<String> = functions.into_values().map(|numbers| numbers.join(" + ")).collect();
    sums.remove("1");
    let text = sums.into_iter().fold("1".to_owned(), |most, own| format!("std::max<int64_t>({most}, {own})"));
    Some(OnHost { text, from })
}

/// What has to be above 0 for statements to be done that are all of an arm.
fn positive<'a>(file: &'a SyntaxFile, statements: &Range<usize>) -> Option<&'a str> {
    let mut node = file.node_at(statements)?;
    while node.kind() != "if_statement" {
        node = node.parent().filter(|parent| parent.kind() != "function_definition")?;
    }
    let arm = node.child_by_field_name("consequence").filter(|arm| arm.byte_range().contains(&statements.start))?;
    let condition = file.slice(&node.child_by_field_name("condition")?.byte_range());
    let (number, zero) = condition.strip_prefix('(')?.strip_suffix(')')?.split_once('>')?;
    (is_all_of(file, statements, &arm.byte_range()) && matches!(zero.trim(), "0" | "0u" | "0U")).then(|| number.trim())
}

/// Questions of the host whether what lies between the writes of two rounds is whole blocks, where a copy in count form writes and that
/// is understood: where a row ends within a block, the next one begins in it. One core overwrites what it wrote before, two would race.
/// `None` where what the host would have to be asked for is nothing that it has.
pub(crate) fn whole_blocks(
    context: &Context,
    launch: &Launch<'_>,
    kernel: &Kernel,
    rounds: &[(&SyntaxFile, Range<usize>)],
) -> Option<Vec<OnHost>> {
    let found: Vec<(&str, Polynomial)> =
        rounds.iter().flat_map(|(file, span)| pitches(context, kernel, file, span)).collect();
    let written: BTreeSet<&str> = found.iter().map(|(global, _)| *global).collect();
    let mut asked: Vec<OnHost> = Vec::new();
    for (global, pitch) in &found {
        let element = kernel.globals.get(*global).map_or("", |(element, _)| element.as_str());
        let bytes = fixed_type_bytes(element);
        if pitch.constant().is_some_and(|pitch| pitch * bytes.unwrap_or(1) % BLOCK_BYTES == 0) {
            continue;
        }
        let number = on_host(context, launch, kernel, pitch)?;
        let object = launch.set.object.as_deref()?;
        let bytes = match bytes {
            Some(bytes) => format!(" * {bytes}"),
            None if written.len() == 1 => {
                format!(" * ge::GetSizeByDataType({object}->GetOutputDesc(0)->GetDataType())")
            }
            // Of several types nobody says here which is whose.
            None => String::new(),
        };
        let text = format!("{}{bytes} % {BLOCK_BYTES} == 0", number.text);
        if !asked.iter().any(|other| other.text == text) {
            asked.push(OnHost { text, from: number.from });
        }
    }
    Some(asked)
}

/// Global tensors that a round writes by copies in count form, with the elements from one round to the next.
fn pitches<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    round: &Range<usize>,
) -> Vec<(&'a str, Polynomial)> {
    let counter = file.enclosing_loop(round.start).and_then(|repetition| counted(file, repetition).ok());
    let Some((counter, _)) = counter else { return Vec::new() };
    let mut found = Vec::new();
    for stage in file.calls_in(round.clone()).filter(|call| call.is_own()) {
        for (other, function) in functions_of(context, kernel).into_iter().filter(|(_, one)| one.name == stage.name) {
            let copies = other.calls_in(function.body.clone()).filter(|call| call.name == "DataCopy");
            found.extend(copies.filter_map(|copy| {
                let destination = other.argument(copy, 0)?.trim();
                let (global, _) = kernel.globals.get_key_value(base_name(destination))?;
                let at = destination.split_once('[')?.1.strip_suffix(']')?;
                let place = Polynomial::of(at, &|name| given(file, stage, function, name))?;
                let (pitch, _) = place.split(&counter)?;
                (!pitch.is_zero()).then_some((global.as_str(), pitch))
            }));
        }
    }
    found
}

/// What a name of a stage stands for where a round calls it: what it is given, or itself.
fn given(file: &SyntaxFile, call: &Call, function: &Function, name: &str) -> Option<Polynomial> {
    let name = name.strip_prefix("this->").unwrap_or(name);
    match function.parameters.iter().position(|parameter| parameter.name == name) {
        Some(at) => Polynomial::of(file.argument(call, at)?, &own),
        None => own(name),
    }
}

/// A name that stands for itself.
fn own(name: &str) -> Option<Polynomial> {
    Some(Polynomial::atom(name.strip_prefix("this->").unwrap_or(name)))
}
