//! Cases for an operator that brings none: shapes in turn, the first dtypes of its definition, defaults for attributes.
//!
//! Nothing here looks at why a case was refused. The order is what counts: the tiling function is asked a bounded number
//! of times, so every new try should differ in what most likely was wrong with the last ones.

use super::{Candidate, DescribedAttribute, DescribedOp, DescribedTensor, is_dynamic, is_optional, value_range};
use manifest::{Attribute, TensorSpec};

/// Shapes of the leading input, the likeliest first.
const SHAPES: [&[u64]; 14] = [
    &[32, 128],
    &[4, 2],
    &[2, 3, 64],
    &[2, 16, 8, 8],
    &[128],
    &[1, 16, 16, 16],
    &[2, 4, 16, 64],
    &[1, 16, 4, 8, 8],
    &[8, 256],
    &[4, 16, 128],
    &[1],
    &[64, 64],
    &[2, 64, 4, 128],
    &[16, 7168],
];

/// How the other inputs follow the leading one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// By what their names say they are; all alike where those say nothing.
    Named,
    /// All alike.
    Same,
    /// The last dimension, as scales and biases have.
    Last,
    /// The first dimension, as row statistics and indices have.
    First,
    /// The second dimension, as channels have.
    Second,
    /// Everything before the last dimension.
    Rows,
    /// One element.
    One,
}

const OTHERS: [Others; 6] = [Others::Same, Others::Last, Others::First, Others::Second, Others::Rows, Others::One];

/// Dtype combinations that are tried with a shape.
const COMBINATIONS: usize = 3;

/// Cases to try in turn. With and without optional inputs.
pub(super) fn candidates(op: &DescribedOp) -> Vec<Candidate> {
    let required = op.inputs.iter().filter(|input| !is_optional(input)).count();
    let has_optional = op.inputs.len() > required;
    let combinations = combinations(op);
    let mut result: Vec<Candidate> = Vec::new();
    let mut add = |shape: &[u64], others: Others, combination: Option<&usize>, with_optional: bool| {
        let Some(&combination) = combination else { return };
        let case = case(op, shape, others, combination, with_optional);
        if !result.contains(&case) {
            result.push(case);
        }
    };
    let optional = [false, true].into_iter().take(if has_optional { 2 } else { 1 });
    // What names say first, then one rule for all. A shape that is refused in one dtype is mostly refused in all of them,
    // but where a tiling function knows one dtype only it must come up soon.
    for place in 0..COMBINATIONS {
        for shape in SHAPES {
            optional.clone().for_each(|with| add(shape, Others::Named, combinations.get(place), with));
        }
        for others in OTHERS.into_iter().take(if op.inputs.len() > 1 { OTHERS.len() } else { 1 }) {
            for shape in SHAPES.into_iter().take(if place == 0 { SHAPES.len() } else { 4 }) {
                optional.clone().for_each(|with| add(shape, others, combinations.get(place), with));
            }
        }
    }
    result
}

/// A large case of this shape for tuning, in a dtype of the definition: `place` counts those that differ.
pub(super) fn of_shape(op: &DescribedOp, shape: &[u64], place: usize) -> Option<Candidate> {
    combinations(op).get(place).map(|&combination| case(op, shape, Others::Named, combination, false))
}

/// Positions in the dtype lists, those with plain floats first: every tool and test knows them.
pub(super) fn combinations(op: &DescribedOp) -> Vec<usize> {
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
    all.sort_by_key(|position| (rank(position), op.private_formats(*position)));
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

fn case(op: &DescribedOp, shape: &[u64], others: Others, combination: usize, with_optional: bool) -> Candidate {
    let mut inputs: Vec<TensorSpec> = Vec::new();
    for input in &op.inputs {
        if is_optional(input) && !with_optional {
            continue;
        }
        let spec = tensor(input, combination);
        let own = match others {
            _ if inputs.is_empty() => shape.to_vec(),
            Others::Named => by_name_shape(shape, &input.name, &spec.dtype),
            others => follow(shape, others),
        };
        for _ in 0..if is_dynamic(input) { 2 } else { 1 } {
            inputs.push(TensorSpec { shape: Some(own.clone()), ..spec.clone() });
        }
    }
    let mut outputs = Vec::new();
    for output in &op.outputs {
        for _ in 0..if is_dynamic(output) { 2 } else { 1 } {
            outputs.push(tensor(output, combination));
        }
    }
    let output_shapes = vec![shape.to_vec(); outputs.len()];
    let attributes = op.attrs.iter().filter_map(|found| attribute_for(found, shape)).collect();
    Candidate::guessed(inputs, outputs, output_shapes, attributes)
}

/// Shape of an input by its name and dtype, beside a leading input of a shape.
pub(super) fn by_name_shape(shape: &[u64], name: &str, dtype: &str) -> Vec<u64> {
    let own = follow(shape, by_name(name));
    match dtype.starts_with("int") || dtype.starts_with("uint") {
        true => whole_numbers(shape, own, name),
        false => own,
    }
}

fn follow(shape: &[u64], others: Others) -> Vec<u64> {
    match others {
        Others::Named | Others::Same => shape.to_vec(),
        Others::Last => vec![shape[shape.len() - 1]],
        Others::First => vec![shape[0]],
        Others::Second => vec![*shape.get(1).unwrap_or(&shape[0])],
        Others::Rows => shape[..shape.len().saturating_sub(1).max(1)].to_vec(),
        Others::One => vec![1],
    }
}

/// What an input's name says about its shape: weights of a normalisation run along the last dimension, statistics have one
/// value a row.
fn by_name(name: &str) -> Others {
    let words: Vec<String> =
        project::snake_case(name).split('_').map(|word| word.trim_end_matches(char::is_numeric).to_owned()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if has(&["grad", "dy", "dx"]) && !has(&["gamma", "beta", "bias", "scale"]) {
        return Others::Same;
    }
    if has(&["power", "lr", "epsilon", "eps", "alpha", "momentum", "step", "num", "k", "seed"]) {
        return Others::One;
    }
    if has(&["gamma", "beta", "bias", "weight", "weights", "scale", "scales", "smooth", "zero", "offset", "offsets"]) {
        return Others::Last;
    }
    if has(&["mean", "rstd", "invstd", "variance", "var", "sum"]) {
        return Others::Rows;
    }
    Others::Same
}

/// Indices and positions: one for each row; sizes and axes: one for each dimension, or one.
fn whole_numbers(shape: &[u64], own: Vec<u64>, name: &str) -> Vec<u64> {
    let words = project::snake_case(name);
    let has = |list: &[&str]| words.split('_').any(|word| list.iter().any(|part| word.starts_with(part)));
    if has(&["ind", "idx", "label", "target", "slot", "pos", "row", "expert", "seq", "ids", "batch"]) {
        return vec![shape[0]];
    }
    if has(&["ax", "dim"]) {
        return vec![1];
    }
    if has(&["size", "shape", "pad", "perm", "begin", "end", "stride", "multiples"]) {
        return vec![shape.len() as u64];
    }
    own
}

pub(super) fn tensor(found: &DescribedTensor, combination: usize) -> TensorSpec {
    let pick = |list: &[String]| list.get(combination).or_else(|| list.first()).cloned();
    let dtype = pick(&found.dtypes).unwrap_or_else(|| "float16".to_owned());
    let format = pick(&found.formats).unwrap_or_else(|| "ND".to_owned());
    let range = value_range(&found.name, &dtype);
    TensorSpec { name: found.name.clone(), dtype, format, shape: None, range, values: Vec::new() }
}

/// An attribute with its default, or with the plainest value of its type where it must be given.
pub(super) fn attribute_for(found: &DescribedAttribute, shape: &[u64]) -> Option<Attribute> {
    let kind = found.kind.to_ascii_lowercase();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let value = match &found.default {
        // The runner fills in defaults by itself.
        _ if !found.required => return None,
        serde_json::Value::Array(items) if !items.is_empty() => items.iter().map(text).collect::<Vec<_>>().join(","),
        serde_json::Value::Bool(value) => value.to_string(),
        serde_json::Value::String(value) if !value.is_empty() => value.clone(),
        // Zero is also what is there where the definition says nothing.
        serde_json::Value::Number(value) if value.as_f64() != Some(0.0) => value.to_string(),
        _ => match kind.as_str() {
            "bool" => "false".to_owned(),
            "float" => "1.0".to_owned(),
            "string" => String::new(),
            "list_float" => "1.0,1.0".to_owned(),
            "list_bool" => "false".to_owned(),
            "list_list_int" => "[[1,1],[1,1]]".to_owned(),
            "list_int" => numbers(&found.name, shape),
            _ if found.name.contains("ax") || found.name.contains("dim") => "0".to_owned(),
            _ => "1".to_owned(),
        },
    };
    Some(Attribute { name: found.name.clone(), kind, value })
}

/// A list of whole numbers that goes with a shape: sizes and paddings have one for each dimension in space.
pub(super) fn numbers(name: &str, shape: &[u64]) -> String {
    let name = name.to_ascii_lowercase();
    let space = &shape[shape.len().min(2)..];
    let list: Vec<u64> = if name.contains("ax") || name.contains("dim") {
        vec![0]
    } else if name.contains("input") || name.contains("shape") || name.contains("orig") {
        shape.to_vec()
    } else if name.contains("size") && !space.is_empty() {
        space.to_vec()
    } else if name.contains("pad") {
        vec![0; 2 * space.len().max(1)]
    } else {
        vec![1; space.len().max(2)]
    };
    list.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_normalisation_follow_the_last_dimension() {
        let tensor = |name: &str, param: &str| serde_json::json!({ "name": name, "param": param, "dtypes": ["float16"], "formats": ["ND"] });
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "Norm",
            "inputs": [tensor("x1", "required"), tensor("x2", "required"), tensor("gamma", "required"), tensor("beta", "optional")],
            "outputs": [tensor("y", "required")], "attrs": [],
        }))
        .unwrap();
        let found = candidates(&op);
        let shapes =
            |case: &Candidate| case.inputs.iter().map(|input| input.shape.clone().unwrap()).collect::<Vec<_>>();
        assert_eq!(shapes(&found[0]), [vec![32, 128], vec![32, 128], vec![128]]);
        assert_eq!(shapes(&found[1]), [vec![32, 128], vec![32, 128], vec![128], vec![128]]);
    }

    #[test]
    fn an_attribute_that_must_be_given_takes_the_default_of_its_definition() {
        let value = |kind: &str, default: serde_json::Value| {
            let found = serde_json::json!({ "name": "mode", "type": kind, "required": true, "default": default });
            attribute_for(&serde_json::from_value(found).unwrap(), &[2, 3]).unwrap().value
        };
        assert_eq!(value("string", "bilinear".into()), "bilinear");
        assert_eq!(value("int", 3.into()), "3");
        assert_eq!(value("int", 0.into()), "1", "which is also what a definition without a default has");
        assert_eq!(value("string", "".into()), "");
    }
}
