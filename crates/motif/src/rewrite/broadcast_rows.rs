//! A binary instruction whose repeats are rows, as a loop over them.

use crate::analysis::linear::bound;
use crate::analysis::machine::BLOCK_BYTES;
use source::facts::api::{Shape, vector_shape};
use source::facts::{KnownValues, TensorFacts};
use source::parse::{Call, SyntaxFile};

/// The loop for a call with one repeat a row, rows close together; `None` where the call is something else.
pub(crate) fn broadcast_by_row(
    file: &SyntaxFile,
    call: &Call,
    tensors: &TensorFacts,
    known: &KnownValues,
) -> Option<String> {
    if vector_shape(&call.name) != Some(Shape::Binary) || call.arguments.len() != 6 || call.template_arguments.is_some()
    {
        return None;
    }
    let argument = |index: usize| file.slice(&call.arguments[index]).trim();
    let (mask, repeats) = (argument(3), argument(4));
    let strides: Vec<i64> = argument(5)
        .strip_prefix('{')?
        .strip_suffix('}')?
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect::<Option<_>>()?;
    let [1, 1, 1, target, left, right] = strides[..] else { return None };
    let operands: Vec<&str> = (0..3).map(argument).collect();
    let element = tensors.tensors.get(operands[0])?.element.as_str();
    let width = known.value(mask)?;
    let stride = width.checked_mul(known.type_bytes(element)?)? / BLOCK_BYTES;
    let packed = target == stride && [left, right].iter().all(|other| *other == stride || *other == 0);
    if !packed || left == right || stride == 0 || !operands.iter().all(|name| tensors.tensors.contains_key(*name)) {
        return None;
    }
    let rows = repeats.strip_prefix("static_cast<uint8_t>(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(repeats);
    let rows = bound(rows);
    let stepped: Vec<String> = operands
        .iter()
        .zip([target, left, right])
        .map(|(name, stride)| if stride == 0 { (*name).to_owned() } else { format!("{name}[row * {mask}]") })
        .collect();
    let indentation = file.indentation(call.span.start);
    Some(format!(
        "for (uint32_t row = 0; row < {rows}; row++) {{\n{indentation}    {}({}, {mask});\n{indentation}}}",
        file.slice(&call.callee),
        stepped.join(", ")
    ))
}
