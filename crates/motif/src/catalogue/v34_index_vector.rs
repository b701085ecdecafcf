//! V34: numbers in equal steps that scalars write one by one are made by vector instructions.

use crate::analysis::code::{Surroundings, functions, scope};
use crate::analysis::linear::grouped;
use crate::analysis::rows::{Operand, RowLoop, Stepped, row_loops};
use crate::rewrite::edits::edit;
use crate::rewrite::vectorise::Names;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::base_name;
use source::lex::{PieceKind, pieces};
use source::parse::Call;

/// The motif.
pub struct IndexVector;

const METADATA: Metadata = Metadata {
    id: Id::V34,
    title: "numbers in equal steps by vector instructions",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 whose body is one SetValue of a local tensor of int32_t, uint32_t, int16_t, float or half; place and value are \
     start + counter * step with what does not change",
    left_to_verifier: "count at least 1; numbers of float and half are integers that the type holds; the first place is at a boundary of 32 bytes",
    relieves: &[Counter::ScalarUs],
    prior_gain: 2.0,
    cost: "nothing",
    tunables: "none",
    undoing: "scalar loop",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for IndexVector {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for rows in row_loops(file, function) {
                let Ok(rows) = rows else { continue };
                let [call] = rows.calls[..] else { continue };
                let (Some(object), "SetValue", 2) = (call.object.as_deref(), call.name.as_str(), call.arguments.len())
                else {
                    continue;
                };
                let name = base_name(object);
                let Some(tensor) = tensors.tensors.get(name).filter(|_| name == object.trim()) else { continue };
                let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
                let Some(value) = rows.stepped(uncast(argument(1), &tensor.element)) else { continue };
                let edits = progression(&rows, name, &tensor.element, argument(0), &value);
                let mut candidate = Candidate::new(file, &rows.span(), format!("numbers in {name}"), edits)
                    .on_condition(format!("{} is at least 1", rows.rows));
                if matches!(tensor.element.as_str(), "float" | "half") {
                    candidate =
                        candidate.on_condition(format!("the numbers in {name} are integers that the type holds"));
                }
                if rows.stepped(argument(0)).is_some_and(|place| !place.start.is_empty()) {
                    candidate =
                        candidate.on_condition(format!("the first place in {name} is at a boundary of 32 bytes"));
                }
                found.push(candidate);
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for call in file.calls_in(function.body.clone()) {
                let Some(statement) = &call.statement else { continue };
                let place = Surroundings { context, file, function, kernel, tensors: &tensors };
                let Some(text) = scalars(&place, call) else { continue };
                let edits = text.map(|text| vec![edit(file, statement.clone(), text)]);
                found.push(Candidate::new(file, statement, "number by number", edits));
            }
        }
        found
    }
}

/// The value without a cast to the element type around it.
fn uncast<'a>(value: &'a str, element: &str) -> &'a str {
    let inner = value
        .strip_prefix(&format!("static_cast<{element}>("))
        .or_else(|| value.strip_prefix(&format!("({element})(")));
    inner.and_then(|inner| inner.strip_suffix(')')).unwrap_or(value)
}

fn progression(
    rows: &RowLoop<'_>,
    name: &str,
    element: &str,
    place: &str,
    value: &Stepped,
) -> Result<Vec<Edit>, String> {
    rows.replaceable()?;
    if !matches!(element, "int32_t" | "uint32_t" | "int16_t" | "float" | "half") {
        return Err(format!("there is no instruction for numbers of type {element}"));
    }
    let Ok(Operand::Row(_, at)) = rows.operand(&format!("{name}[{place}]")) else {
        return Err(format!("{place} is not start + {}", rows.counter));
    };
    if at.pitch != "1" {
        return Err(format!("the places in {name} are {} apart", at.pitch));
    }
    let target = if at.start.is_empty() { name.to_owned() } else { format!("{name}[{}]", at.start) };
    // Unsigned numbers have the same bits.
    let (target, computed) = match element {
        "uint32_t" => (format!("{target}.ReinterpretCast<int32_t>()"), "int32_t"),
        other => (target, other),
    };
    let start = if value.start.is_empty() { "0" } else { value.start.as_str() };
    let scope = scope(rows.file);
    let text = if value.pitch == "1" {
        format!("{scope}CreateVecIndex({target}, static_cast<{computed}>({start}), {});", rows.rows)
    } else {
        format!(
            "{scope}ArithProgression({target}, static_cast<{computed}>({start}), static_cast<{computed}>({}), static_cast<int32_t>({}));",
            value.pitch, rows.rows
        )
    };
    Ok(vec![edit(rows.file, rows.span(), text)])
}

/// The loop for a call as this motif writes it; an error where it would make other numbers.
fn scalars(place: &Surroundings<'_>, call: &Call) -> Option<Result<String, String>> {
    let file = place.file;
    let argument = |index: usize| file.argument(call, index).map(str::trim);
    let name = base_name(argument(0)?);
    let element = place.tensors.tensors.get(name)?.element.as_str();
    let computed = if element == "uint32_t" { "int32_t" } else { element };
    let target = argument(0)?;
    let target = if element == "uint32_t" { target.strip_suffix(".ReinterpretCast<int32_t>()")? } else { target };
    let cast =
        |text: &str| Some(text.strip_prefix(&format!("static_cast<{computed}>("))?.strip_suffix(')')?.to_owned());
    let start = cast(argument(1)?)?;
    let (step, count) = match (call.name.as_str(), call.arguments.len()) {
        ("CreateVecIndex", 3) => ("1".to_owned(), argument(2)?.to_owned()),
        ("ArithProgression", 4) => {
            (cast(argument(2)?)?, argument(3)?.strip_prefix("static_cast<int32_t>(")?.strip_suffix(')')?.to_owned())
        }
        _ => return None,
    };
    for number in [&start, &step] {
        if let Err(reason) = whole_number(place, number, matches!(element, "float" | "half")) {
            return Some(Err(reason));
        }
    }
    let at = match target.split_once('[') {
        None => "i".to_owned(),
        Some((_, start)) => format!("{} + i", start.strip_suffix(']')?),
    };
    let term = if step == "1" { "i".to_owned() } else { format!("i * {}", grouped(&step)) };
    let value = if start == "0" { term } else { format!("{start} + {term}") };
    let (count, indentation) = (grouped(&count), file.indentation(call.span.start));
    Some(Ok(format!(
        "for (uint32_t i = 0; i < {count}; i++) {{\n{indentation}    {name}.SetValue({at}, static_cast<{element}>({value}));\n{indentation}}}"
    )))
}

/// Proves that a cast of the number may as well stand around the sum: it is made of integers, and where the cast does not
/// take every integer modulo a power of two, of such without sign.
fn whole_number(place: &Surroundings<'_>, number: &str, without_sign: bool) -> Result<(), String> {
    let unsigned = |kind: &str| matches!(kind, "uint64_t" | "uint32_t" | "uint16_t" | "uint8_t" | "size_t");
    let signed = |kind: &str| matches!(kind, "int64_t" | "int32_t" | "int16_t" | "int8_t" | "int");
    for token in pieces(number) {
        let text = &number[token.span.clone()];
        let fits = match token.kind {
            PieceKind::Number => text.bytes().all(|byte| byte.is_ascii_digit()),
            PieceKind::Word => place.scalar_type(text).is_some_and(|kind| {
                let kind = kind.trim_start_matches("const ").trim_start_matches("constexpr ").trim();
                unsigned(kind) || (signed(kind) && !without_sign)
            }),
            PieceKind::Punctuation => matches!(text, "+" | "*" | "(" | ")") || (text == "-" && !without_sign),
            _ => false,
        };
        if !fits {
            return Err(format!("{text} in {number} is not known to be an integer that the cast keeps"));
        }
    }
    Ok(())
}
