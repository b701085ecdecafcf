//! Calls that the definition of an operator's type is known to hold for: what they mean is sure, whoever wrote the operator.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use super::Origin;
use super::call::{Argument, Call, CallTensor};
use super::packed;
use manifest::ValueRange;

/// Made by `tests/definitions/make_known.py` from the calls that the definitions are tested with.
const EXAMPLES: &str = "examples.json";

#[derive(Clone, Debug, Deserialize)]
struct Tensor {
    dtype: String,
    /// An empty one may be left out at the end, as everything behind it.
    #[serde(default)]
    shape: Vec<u64>,
    /// Whole numbers, as far as they are few.
    #[serde(default)]
    values: Vec<f64>,
    /// Smallest and largest value, where the values are not there.
    #[serde(default)]
    range: Option<(f64, f64)>,
    #[serde(default)]
    format: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Input {
    name: String,
    tensors: Vec<Tensor>,
    #[serde(default)]
    is_list: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct Example {
    inputs: Vec<Input>,
    outputs: Vec<Tensor>,
    attributes: Vec<(String, Value)>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Entry {
    Own(Vec<Example>),
    /// Those of another type with the same definition.
    Of(String),
}

/// Examples of an operator type; none of a type without definition.
pub(super) fn calls(operator: &str) -> Vec<Call> {
    static TABLE: OnceLock<BTreeMap<String, Entry>> = OnceLock::new();
    // The file is ours and there is a test that reads it.
    let table = TABLE.get_or_init(|| serde_json::from_str(packed::text(EXAMPLES)).unwrap_or_default());
    let entry = match table.get(operator) {
        Some(Entry::Of(other)) => table.get(other),
        own => own,
    };
    let Some(Entry::Own(examples)) = entry else { return Vec::new() };
    examples.iter().map(call).collect()
}

fn call(example: &Example) -> Call {
    let inputs = example.inputs.iter().map(|input| {
        let mut given: Vec<CallTensor> = input.tensors.iter().map(tensor).collect();
        let argument = match input.is_list {
            false if given.len() == 1 => Argument::Tensor(given.remove(0)),
            _ => Argument::Tensors(given),
        };
        (input.name.clone(), argument)
    });
    let attributes = example.attributes.iter().map(|(name, value)| (name.clone(), argument(value)));
    Call {
        origin: Origin::Definition,
        place: Origin::Definition.words().to_owned(),
        arguments: inputs.chain(attributes).collect(),
        outputs: Some(example.outputs.iter().map(tensor).collect()),
        outputs_last: false,
    }
}

fn tensor(found: &Tensor) -> CallTensor {
    CallTensor {
        dtype: found.dtype.clone(),
        shape: found.shape.clone(),
        format: found.format.clone(),
        values: found.values.clone(),
        range: found.range.map(|(low, high)| ValueRange { low, high }),
    }
}

fn argument(value: &Value) -> Argument {
    match value {
        Value::Bool(value) => Argument::Bool(*value),
        Value::Number(value) => Argument::Number(value.as_f64().unwrap_or_default()),
        Value::String(value) => Argument::Text(value.clone()),
        Value::Array(values) => Argument::Numbers(values.iter().filter_map(Value::as_f64).collect()),
        Value::Null => Argument::Nothing,
        Value::Object(_) => Argument::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_can_be_read_and_have_what_a_call_needs() {
        let table: BTreeMap<String, Entry> = serde_json::from_str(packed::text(EXAMPLES)).unwrap();
        assert!(table.len() > 700 && table.keys().all(|operator| (1..=2).contains(&calls(operator).len())));
        let layer_norm = calls("LayerNormV4");
        let Argument::Tensor(shape) = &layer_norm[0].arguments[1].1 else { panic!("{layer_norm:?}") };
        let Argument::Tensor(x) = &layer_norm[0].arguments[0].1 else { panic!("{layer_norm:?}") };
        // What is normalised are the last dimensions of what there is.
        let lengths: Vec<f64> = x.shape[x.shape.len() - shape.values.len()..].iter().map(|&size| size as f64).collect();
        assert_eq!(shape.values, lengths);
        assert!(calls("NobodyKnowsThis").is_empty());
    }
}
