//! V34: numbers in equal steps that scalars write one by one are made by vector instructions.

use crate::analysis::code::{Surroundings, is_name, words};
use crate::analysis::linear::grouped;
use crate::analysis::rows::{Operand, RowLoop, Stepped, row_loops};
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::exchange::{Exchange, Form, FoundForm, Guard, Spot, Texts, Way};
use crate::rewrite::vectorise::Names;
use crate::{Company, Counter, Family, Id, Metadata};
use source::Edit;
use source::facts::api::is_copy;
use source::facts::{base_name, element_type};
use source::lex::{PieceKind, pieces};

/// The motif.
pub const INDEX_VECTOR: Declared = Declared { metadata: &METADATA, rules: Rules::Exchanges(&[STEPS_OF_ONE, STEPS]) };

const METADATA: Metadata = Metadata {
    id: Id::V34,
    title: "numbers in equal steps by vector instructions",
    family: Family::Vector,
    precondition: "a loop from 0 in steps of 1 whose body is one SetValue of a local tensor of int32_t, uint32_t, int16_t, float or half, or of a member that no copy touches; place and value are \
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

const STEPS_OF_ONE: Exchange = Exchange {
    slow: SLOW,
    fast: Form::Code("@CreateVecIndex($y, static_cast<$$c>($s), $n);"),
    make: MAKE.resembling(|place| place.hole("step") == "1"),
    unmake: Some(UNMAKE.choosing(|place| one_by_one(place, "1"))),
};
const STEPS: Exchange = Exchange {
    slow: SLOW,
    fast: Form::Code("@ArithProgression($y, static_cast<$$c>($s), static_cast<$$c>($step), static_cast<int32_t>($n));"),
    make: MAKE,
    unmake: Some(UNMAKE.choosing(|place| one_by_one(place, place.hole("step")))),
};
const SLOW: Form = Form::Asked(
    progressions,
    "for (uint32_t i = 0; i < $n; i++) {
    $t.SetValue($at, static_cast<$e>($v));
}",
);
const MAKE: Way = Way::new("numbers in $t", &[]).with(progression).on_conditions(|place| {
    let tensor = place.hole("t");
    let mut conditions = vec![format!("{} is at least 1", place.hole("n"))];
    if element_of(&place.around, tensor).is_some_and(|element| matches!(element.as_str(), "float" | "half")) {
        conditions.push(format!("the numbers in {tensor} are integers that the type holds"));
    }
    if !place.hole("from").is_empty() {
        conditions.push(format!("the first place in {tensor} is at a boundary of 32 bytes"));
    }
    conditions
});
const UNMAKE: Way = Way::new("number by number", &[Guard::Holds(whole_numbers)]);

/// Loops over one SetValue of numbers in equal steps.
fn progressions(around: &Surroundings<'_>) -> Vec<Spot> {
    let file = around.file;
    let mut found = Vec::new();
    for rows in row_loops(file, around.function).into_iter().flatten() {
        let [call] = rows.calls[..] else { continue };
        let (Some(object), "SetValue", 2) = (call.object.as_deref(), call.name.as_str(), call.arguments.len()) else {
            continue;
        };
        let name = base_name(object);
        let is_all = name == object.trim() || object.trim().strip_prefix("this->") == Some(name);
        let Some(element) = element_of(around, name).filter(|_| is_all) else { continue };
        let argument = |index: usize| file.argument(call, index).unwrap_or_default().trim();
        let Some(value) = rows.stepped(uncast(argument(1), &element)) else { continue };
        let from = rows.stepped(argument(0)).map(|Stepped { start, .. }| start).unwrap_or_default();
        let start = if value.start.is_empty() { "0" } else { value.start.as_str() };
        let holes = [
            ("t", name),
            ("n", rows.rows.as_str()),
            ("place", argument(0)),
            ("from", &from),
            ("s", start),
            ("step", &value.pitch),
        ];
        found.push(Spot::new(file, &rows.span(), &holes));
    }
    found
}

/// Element type of a tensor of the function, or of one that is a member of the class: what is made is what was there, so that it is no matter
/// how long it lives.
fn element_of(around: &Surroundings<'_>, name: &str) -> Option<String> {
    if let Some(tensor) = around.tensors.tensors.get(name) {
        return Some(tensor.element.clone());
    }
    let kernel = around.kernel;
    if !kernel.tensor_members.contains(name) {
        return None;
    }
    let classes = around.context.forest.iter().flat_map(|file| file.classes());
    let mut members = classes.filter(|class| class.name == kernel.name).flat_map(|class| &class.members);
    element_type(&members.find(|member| member.name == name)?.type_text)
}

/// Why a member is not for the vector unit to fill: what nobody waits for.
fn only_vectors(place: &FoundForm<'_>, name: &str) -> Result<(), String> {
    let around = &place.around;
    if around.tensors.tensors.contains_key(name) {
        return Ok(());
    }
    for (file, _, call) in around.kernel.calls(&around.context.forest) {
        let line = || file.line(call.span.start);
        let named = |span: &std::ops::Range<usize>| words(file.slice(span)).contains(&name);
        if is_copy(&call.name) && call.arguments.iter().any(named) {
            return Err(format!("{}:{}: {} touches {name}", file.name(), line(), call.name));
        }
        if matches!(call.name.as_str(), "EnQue" | "FreeTensor") && call.arguments.iter().any(named) {
            return Err(format!("{}:{}: {name} goes through a queue", file.name(), line()));
        }
    }
    Ok(())
}

/// The value without a cast to the element type around it.
fn uncast<'a>(value: &'a str, element: &str) -> &'a str {
    // `(float)i`, which casts nothing but the name.
    if let Some(name) = value.strip_prefix(&format!("({element})")).map(str::trim).filter(|name| is_name(name)) {
        return name;
    }
    let inner = value
        .strip_prefix(&format!("static_cast<{element}>("))
        .or_else(|| value.strip_prefix(&format!("({element})(")));
    inner.and_then(|inner| inner.strip_suffix(')')).unwrap_or(value)
}

/// Where the numbers go, and as what they are computed.
fn progression(place: &mut FoundForm<'_>) -> Result<Vec<Edit>, String> {
    let around = place.around;
    let element = element_of(&around, place.hole("t")).unwrap_or_default();
    only_vectors(place, place.hole("t"))?;
    let here = |rows: &RowLoop<'_>| rows.span() == *place.span();
    let rows = row_loops(around.file, around.function).into_iter().flatten().find(here);
    let rows = rows.ok_or("the loop is not understood")?;
    rows.replaceable()?;
    if !matches!(element.as_str(), "int32_t" | "uint32_t" | "int16_t" | "float" | "half") {
        return Err(format!("there is no instruction for numbers of type {element}"));
    }
    let (name, index) = (place.hole("t"), place.hole("place"));
    let Ok(Operand::Row(_, at)) = rows.operand(&format!("{name}[{index}]")) else {
        return Err(format!("{index} is not start + {}", rows.counter));
    };
    if at.pitch != "1" {
        return Err(format!("the places in {name} are {} apart", at.pitch));
    }
    let target = if at.start.is_empty() { name.to_owned() } else { format!("{name}[{}]", at.start) };
    // Unsigned numbers have the same bits.
    let (target, computed) = match element.as_str() {
        "uint32_t" => (format!("{target}.ReinterpretCast<int32_t>()"), "int32_t".to_owned()),
        _ => (target, element),
    };
    place.fill("y", target);
    place.fill("c", computed);
    Ok(Vec::new())
}

/// The holes of the loop for a call as this motif writes it.
fn one_by_one(place: &FoundForm<'_>, step: &str) -> Vec<Texts> {
    let texts = || {
        let name = base_name(place.hole("y"));
        let element = element_of(&place.around, name)?;
        let (computed, suffix) =
            if element == "uint32_t" { ("int32_t", ".ReinterpretCast<int32_t>()") } else { (element.as_str(), "") };
        let target = place.hole("y").strip_suffix(suffix).filter(|_| place.hole("c") == computed)?;
        let at = match target.split_once('[') {
            None => "i".to_owned(),
            Some((_, start)) => format!("{} + i", start.strip_suffix(']')?),
        };
        let term = if step == "1" { "i".to_owned() } else { format!("i * {}", grouped(step)) };
        let start = place.hole("s");
        let value = if start == "0" { term } else { format!("{start} + {term}") };
        Some(vec![
            ("t", name.to_owned()),
            ("e", element.clone()),
            ("at", at),
            ("v", value),
            ("step", step.to_owned()),
            ("n", grouped(place.hole("n"))),
        ])
    };
    texts().into_iter().collect()
}

fn whole_numbers(place: &FoundForm<'_>) -> Result<(), String> {
    let without_sign = matches!(place.element("t"), "float" | "half");
    ["s", "step"].iter().try_for_each(|hole| whole_number(&place.around, place.hole(hole), without_sign))
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
