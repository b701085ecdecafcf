//! Cases for an operator that brings none: shapes in turn, the first dtypes of its definition, defaults for attributes.

use crate::init::{DescribedAttribute, DescribedOp, DescribedTensor};
use crate::manifest::{Attribute, TensorSpec, ValueRange};

/// A case of which nobody knows yet whether the tiling function accepts it.
#[derive(Clone, Debug, PartialEq)]
pub struct GuessedCase {
    /// Short name: shapes and dtype of the inputs.
    pub name: String,
    /// Inputs, one for each instance.
    pub inputs: Vec<TensorSpec>,
    /// Outputs; without a shape where inference decides.
    pub outputs: Vec<TensorSpec>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
}

/// Shapes of the leading input, the likeliest first.
const SHAPES: [&[u64]; 9] = [
    &[32, 128],
    &[4, 2],
    &[2, 3, 64],
    &[2, 16, 8, 8],
    &[128],
    &[1, 16, 16, 16],
    &[2, 4, 16, 64],
    &[1, 16, 4, 8, 8],
    &[1],
];

/// How the other inputs follow the leading one.
#[derive(Clone, Copy)]
enum Others {
    /// All alike.
    Same,
    /// The last dimension, as scales and biases have.
    Last,
    /// The first dimension, as row statistics and indices have.
    First,
    /// The second dimension, as channels have.
    Second,
    /// One element.
    One,
}

const OTHERS: [Others; 5] = [Others::Same, Others::Last, Others::First, Others::Second, Others::One];

/// Dtype combinations that are tried with every shape.
const COMBINATIONS: usize = 3;

/// Cases to try in turn. With and without optional inputs.
pub fn cases(op: &DescribedOp) -> Vec<GuessedCase> {
    let required = op.inputs.iter().filter(|input| !is_optional(input)).count();
    let combinations = combinations(op);
    let mut result: Vec<GuessedCase> = Vec::new();
    let optional = [false, true].into_iter().take(if op.inputs.len() > required { 2 } else { 1 });
    for with_optional in optional {
        for others in OTHERS.into_iter().take(if with_optional || required > 1 { OTHERS.len() } else { 1 }) {
            for shape in SHAPES {
                for &combination in combinations.iter().take(COMBINATIONS) {
                    let case = case(op, shape, others, combination, with_optional);
                    if !result.contains(&case) {
                        result.push(case);
                    }
                }
            }
        }
    }
    result
}

/// Positions in the dtype lists, those with plain floats first: every tool and test knows them.
fn combinations(op: &DescribedOp) -> Vec<usize> {
    let length = op.inputs.iter().map(|input| input.dtypes.len()).max().unwrap_or(0).max(1);
    let first = op.inputs.first().map(|input| input.dtypes.as_slice()).unwrap_or_default();
    let rank = |position: &usize| match first.get(*position).map(String::as_str) {
        Some("float32") => 0,
        Some("float16") => 1,
        Some("bfloat16") => 2,
        Some("int32") => 3,
        _ => 4,
    };
    let mut all: Vec<usize> = (0..length).collect();
    all.sort_by_key(rank);
    // One of each leading dtype before a second of the same.
    let mut seen = Vec::new();
    let (fresh, rest): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|position| {
        let dtype = first.get(*position);
        let new = !seen.contains(&dtype);
        seen.push(dtype);
        new
    });
    fresh.into_iter().chain(rest).collect()
}

fn case(op: &DescribedOp, shape: &[u64], others: Others, combination: usize, with_optional: bool) -> GuessedCase {
    let mut inputs = Vec::new();
    for input in &op.inputs {
        if is_optional(input) && !with_optional {
            continue;
        }
        let own = if inputs.is_empty() { shape.to_vec() } else { follow(shape, others) };
        let instances = if input.param.eq_ignore_ascii_case("dynamic") { 2 } else { 1 };
        for _ in 0..instances {
            inputs.push(tensor(input, Some(own.clone()), combination));
        }
    }
    let mut outputs = Vec::new();
    for output in &op.outputs {
        let instances = if output.param.eq_ignore_ascii_case("dynamic") { 2 } else { 1 };
        for _ in 0..instances {
            outputs.push(tensor(output, None, combination));
        }
    }
    let name = inputs.iter().map(|input| format!("{} {}", dimensions(input), input.dtype)).collect::<Vec<_>>();
    GuessedCase { name: name.join(", "), inputs, outputs, attributes: op.attrs.iter().filter_map(attribute).collect() }
}

fn dimensions(tensor: &TensorSpec) -> String {
    let shape = tensor.shape.as_deref().unwrap_or_default();
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

fn follow(shape: &[u64], others: Others) -> Vec<u64> {
    match others {
        Others::Same => shape.to_vec(),
        Others::Last => vec![shape[shape.len() - 1]],
        Others::First => vec![shape[0]],
        Others::Second => vec![*shape.get(1).unwrap_or(&shape[0])],
        Others::One => vec![1],
    }
}

fn is_optional(tensor: &DescribedTensor) -> bool {
    tensor.param.eq_ignore_ascii_case("optional")
}

fn tensor(found: &DescribedTensor, shape: Option<Vec<u64>>, combination: usize) -> TensorSpec {
    let pick = |list: &[String]| list.get(combination).or_else(|| list.first()).cloned();
    let dtype = pick(&found.dtypes).unwrap_or_else(|| "float16".to_owned());
    let format = pick(&found.formats).unwrap_or_else(|| "ND".to_owned());
    let range = value_range(&found.name, &dtype);
    TensorSpec { name: found.name.clone(), dtype, format, shape, range }
}

/// Values that do no harm: integers may be indices, positions or counts.
pub fn value_range(name: &str, dtype: &str) -> ValueRange {
    let name = name.to_ascii_lowercase();
    let is_index = ["ind", "idx", "offset", "axis", "axes", "pos", "table", "slot", "len", "dim", "map", "label"]
        .iter()
        .any(|part| name.contains(part));
    match dtype {
        "bool" => ValueRange { low: 0.0, high: 2.0 },
        dtype if dtype.starts_with("float") || dtype.starts_with("bfloat") || dtype.starts_with("double") => {
            ValueRange { low: -2.0, high: 2.0 }
        }
        _ if is_index => ValueRange { low: 0.0, high: 2.0 },
        _ => ValueRange { low: 0.0, high: 8.0 },
    }
}

/// An attribute with its default, or with the plainest value of its type where it must be given.
fn attribute(found: &DescribedAttribute) -> Option<Attribute> {
    let kind = found.kind.to_ascii_lowercase();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let value = match &found.default {
        serde_json::Value::Null if !found.required => return None,
        // The runner fills in defaults by itself.
        value if !value.is_null() && !found.required => {
            let _ = value;
            return None;
        }
        serde_json::Value::Array(items) if !items.is_empty() => items.iter().map(text).collect::<Vec<_>>().join(","),
        serde_json::Value::Bool(value) => value.to_string(),
        _ => match kind.as_str() {
            "bool" => "false".to_owned(),
            "float" => "1.0".to_owned(),
            "string" => String::new(),
            "list_float" => "1.0,1.0".to_owned(),
            "list_bool" => "false".to_owned(),
            "list_list_int" => "[[1,1],[1,1]]".to_owned(),
            "list_int" if found.name.contains("ax") || found.name.contains("dim") => "0".to_owned(),
            "list_int" => "1,1".to_owned(),
            _ if found.name.contains("ax") || found.name.contains("dim") => "0".to_owned(),
            _ => "1".to_owned(),
        },
    };
    Some(Attribute { name: found.name.clone(), kind, value })
}
