//! General reductions: their forms, and the elements of one repeat.

use crate::analysis::code::{is_float, is_name};
use crate::analysis::machine::REPEAT_BYTES;
use source::facts::{TensorFacts, base_name, fixed_type_bytes};
use source::parse::{Call, SyntaxFile};

/// Elements of one repeat, where all operands are tensors, or parts of them, of one floating-point type.
pub(crate) fn lanes_of(file: &SyntaxFile, call: &Call, tensors: &TensorFacts) -> Result<i64, String> {
    let mut lanes = None;
    for index in 0..3 {
        let name = file.argument(call, index).unwrap_or_default().trim();
        let base = if name.ends_with(']') { base_name(name) } else { name };
        let tensor = tensors.tensors.get(base).ok_or_else(|| format!("{name} is not a tensor of the function"))?;
        let element = tensor.element.as_str();
        let bytes = fixed_type_bytes(element)
            .filter(|_| is_float(element) == Some(true))
            .ok_or_else(|| format!("{name} holds {element}, not half or float"))?;
        if *lanes.get_or_insert(REPEAT_BYTES / bytes) != REPEAT_BYTES / bytes {
            return Err("the operands differ in type".to_owned());
        }
    }
    lanes.ok_or_else(|| "no operand".to_owned())
}

pub(crate) fn uncast(count: &str) -> &str {
    let count = count.trim();
    let inner = count.strip_prefix("static_cast<").and_then(|rest| rest.split_once(">(")).map(|(_, rest)| rest);
    inner.and_then(|inner| inner.strip_suffix(')')).filter(|inner| is_name(inner)).unwrap_or(count)
}

/// The text as the left operand of a division: a name, a number or one cast as it is, anything else in parentheses.
pub(crate) fn as_operand(text: &str) -> String {
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let cast = text.strip_prefix("static_cast<").and_then(|rest| rest.split_once(">(")).is_some_and(|(_, inside)| {
        let mut open = 1;
        let end = inside.find(|c| {
            open += i32::from(c == '(') - i32::from(c == ')');
            open == 0
        });
        end == Some(inside.len() - 1)
    });
    if plain(text) || cast { text.to_owned() } else { format!("({text})") }
}
