//! Case lists: CSV and JSON files under an operator's tests, in the forms that test programs of the field take.
//!
//! A CSV file has a column for all inputs' shapes and one for their dtypes, in the notation of Python. A JSON file is a
//! list of objects with `inputs` (tensors and attributes with a name each), or with `input_desc`, `output_desc` and `attr`.

use std::path::{Path, PathBuf};

use serde_json::Value;
use walkdir::WalkDir;

use super::Origin;
use super::call::{Argument, Call, CallTensor};
use super::literal::{csv_records, python_literal};
use manifest::ValueRange;

/// Calls that are taken from one list.
const PER_FILE: usize = 60;
/// A list that is larger is left alone.
const LARGEST_BYTES: u64 = 8 << 20;

/// Calls in the lists of an operator's directory; `operator` is its name as files and cells have it.
pub(super) fn calls(directory: &Path, operator: &str) -> Vec<Call> {
    let mut result: Vec<Call> = Vec::new();
    for path in lists(directory) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let place = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        let calls = match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => of_csv(&text, &place, operator),
            _ => of_json(&text, &place),
        };
        result.extend(calls.into_iter().take(PER_FILE));
    }
    result
}

fn lists(directory: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = WalkDir::new(directory)
        .max_depth(7)
        .into_iter()
        .filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            let skipped = name.starts_with('.') || matches!(name.as_ref(), "op_host" | "op_kernel" | "target");
            entry.depth() == 0 || !(entry.file_type().is_dir() && skipped)
        })
        .flatten()
        .filter(|entry| entry.file_type().is_file() && entry.metadata().is_ok_and(|data| data.len() <= LARGEST_BYTES))
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ending| ending == "csv" || ending == "json"))
        .collect();
    // Lists for another architecture come last: their shapes are cases here all the same.
    found.sort_by_key(|path| (path.to_string_lossy().contains("/arch3"), path.clone()));
    found
}

fn of_csv(text: &str, place: &str, operator: &str) -> Vec<Call> {
    let mut records = csv_records(text).into_iter();
    let Some((_, head)) = records.next() else { return Vec::new() };
    let column = |names: &[&str]| head.iter().position(|name| names.contains(&name.trim()));
    let (Some(shapes), Some(dtypes)) = (column(&["input_shapes"]), column(&["input_dtypes"])) else {
        return Vec::new();
    };
    let (op_name, attributes) = (column(&["op_name"]), column(&["attributes", "attrs"]));
    let (formats, ranges) = (column(&["input_formats"]), column(&["input_data_ranges"]));
    let output_shapes = column(&["output_shapes"]);
    let mut calls = Vec::new();
    for (line, cells) in records {
        let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).map(|cell| cell.trim());
        if cell(op_name).is_some_and(|name| !name.is_empty() && name != operator) {
            continue;
        }
        let list = |at: Option<usize>| match cell(at).and_then(python_literal) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let (dtypes, formats, ranges) = (list(Some(dtypes)), list(formats), list(ranges));
        let pick = |list: &[Value], index: usize| list.get(index).or(list.last()).cloned().unwrap_or(Value::Null);
        let tensor = |(index, shape): (usize, Value)| match &shape {
            Value::Array(items) if items.first().is_some_and(Value::is_array) => Argument::Tensors(
                items.iter().filter_map(|shape| tensor(shape, &pick(&dtypes, index), None, None)).collect(),
            ),
            _ => tensor(&shape, &pick(&dtypes, index), formats.get(index), ranges.get(index))
                .map_or(Argument::Nothing, Argument::Tensor),
        };
        let mut arguments: Vec<(String, Argument)> =
            list(Some(shapes)).into_iter().enumerate().map(|item| (String::new(), tensor(item))).collect();
        if arguments.is_empty() {
            continue;
        }
        if let Some(Value::Object(map)) = cell(attributes).and_then(python_literal) {
            arguments.extend(map.iter().map(|(name, value)| (name.clone(), argument(value))));
        }
        let outputs = list(output_shapes).iter().filter_map(|shape| tensor_of(shape, "")).collect();
        calls.push(Call {
            origin: Origin::CaseList,
            place: format!("{place}:{line}"),
            arguments,
            outputs: Some(outputs),
            outputs_last: false,
        });
    }
    calls
}

fn of_json(text: &str, place: &str) -> Vec<Call> {
    let Ok(Value::Array(items)) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else {
        return Vec::new();
    };
    // Every object has one of these once; where they stand is where the case stands.
    let lines: Vec<usize> = ["\"inputs\"", "\"input_desc\""]
        .iter()
        .flat_map(|key| text.match_indices(key))
        .map(|(at, _)| text[..at].matches('\n').count() + 1)
        .collect();
    let mut calls = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let line = lines.get(index).copied().unwrap_or(1);
        let alone = lines.iter().filter(|other| **other == line).count() < 2;
        // A list may stand on one line.
        let place = match alone {
            true => format!("{place}:{line}"),
            false => format!("{place}:{line} (case {} of {})", index + 1, items.len()),
        };
        let call = |arguments, outputs| Call {
            origin: Origin::CaseList,
            place: place.clone(),
            arguments,
            outputs: Some(outputs),
            outputs_last: false,
        };
        if let Some(inputs) = item["inputs"].as_array() {
            calls.push(call(inputs.iter().map(named_argument).collect(), Vec::new()));
        } else if let Some(inputs) = item["input_desc"].as_array() {
            let variants = inputs.iter().filter_map(|input| input["type"].as_array()).map(Vec::len).max().unwrap_or(1);
            for variant in 0..variants.min(4) {
                let mut arguments: Vec<(String, Argument)> = inputs
                    .iter()
                    .map(|input| {
                        let name = input["name"].as_str().unwrap_or_default().to_owned();
                        (name, described(input, variant).map_or(Argument::Nothing, Argument::Tensor))
                    })
                    .collect();
                for attribute in item["attr"].as_array().into_iter().flatten() {
                    let name = attribute["name"].as_str().unwrap_or_default().to_owned();
                    arguments.push((name, argument(&attribute["value"])));
                }
                let outputs = item["output_desc"].as_array().into_iter().flatten();
                calls.push(call(arguments, outputs.filter_map(|output| described(output, variant)).collect()));
            }
        }
    }
    calls
}

/// `{ "name": .., "type": "tensor", "dtype": "fp32", "shape": [..], "range_values": [..] }`, or a list of them that is one
/// argument. Names of attributes end in their type (`outputSize_int`).
fn named_argument(input: &Value) -> (String, Argument) {
    if let Value::Array(items) = input {
        let mut items = items.iter().map(named_argument);
        let Some((name, first)) = items.next() else { return (String::new(), Argument::Unknown) };
        let all = match first {
            Argument::Tensor(tensor) => {
                let others =
                    items.filter_map(|(_, item)| if let Argument::Tensor(tensor) = item { Some(tensor) } else { None });
                Argument::Tensors(std::iter::once(tensor).chain(others).collect())
            }
            Argument::Number(value) => {
                let others =
                    items.filter_map(|(_, item)| if let Argument::Number(value) = item { Some(value) } else { None });
                Argument::Numbers(std::iter::once(value).chain(others).collect())
            }
            other => other,
        };
        return (name, all);
    }
    let name = input["name"].as_str().unwrap_or_default();
    let typed = ["_int", "_double", "_float", "_bool", "_string"];
    let name = typed.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name).to_owned();
    let list = |shapes: &[Value]| {
        shapes.iter().filter_map(|shape| tensor(shape, &input["dtype"], None, None)).collect::<Vec<_>>()
    };
    let value = match (input["type"].as_str().unwrap_or_default(), &input["shape"]) {
        (kind, Value::Array(shape)) if kind.starts_with("tensor") => match shape.first() {
            Some(Value::Array(_)) => Argument::Tensors(list(shape)),
            _ => tensor(&input["shape"], &input["dtype"], None, Some(&input["range_values"]))
                .map_or(Argument::Nothing, Argument::Tensor),
        },
        (kind, _) if kind.starts_with("tensor") => Argument::Nothing,
        _ => argument(&input["range_values"]),
    };
    (name, value)
}

/// `{ "type": ["float", "float16"], "shape": [32], "format": ["ND"], "value_range": [[0, 1]], "name": .. }`
fn described(input: &Value, variant: usize) -> Option<CallTensor> {
    let pick = |key: &str| match &input[key] {
        Value::Array(items) => items.get(variant).or(items.last()).cloned().unwrap_or(Value::Null),
        value => value.clone(),
    };
    let shape = match &input["shape"] {
        Value::Array(items) if items.first().is_some_and(Value::is_array) => pick("shape"),
        shape => shape.clone(),
    };
    let mut found = tensor(&shape, &pick("type"), Some(&pick("format")), Some(&pick("value_range")))?;
    if let Some(values) = input["value"].as_array() {
        found.values = values.iter().filter_map(Value::as_f64).collect();
        // Who writes down all numbers of a list gives its length as well, whatever else is said of that.
        if found.shape.len() == 1 && found.values.len() as u64 > found.shape[0] {
            found.shape = vec![found.values.len() as u64];
        }
    }
    Some(found)
}

fn tensor(shape: &Value, dtype: &Value, format: Option<&Value>, range: Option<&Value>) -> Option<CallTensor> {
    let mut found = tensor_of(shape, dtype.as_str().unwrap_or_default())?;
    found.format = format.and_then(Value::as_str).unwrap_or_default().to_owned();
    found.range = range.and_then(value_range);
    Some(found)
}

fn tensor_of(shape: &Value, dtype: &str) -> Option<CallTensor> {
    let shape = shape.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>()?;
    Some(CallTensor { dtype: dtype_of(dtype), shape, ..CallTensor::default() })
}

fn value_range(range: &Value) -> Option<ValueRange> {
    let (low, high) = match range.as_array()?.as_slice() {
        [low, high] => (low.as_f64()?, high.as_f64()?),
        _ => return None,
    };
    (low <= high).then_some(ValueRange { low, high })
}

fn argument(value: &Value) -> Argument {
    match value {
        Value::Null | Value::Object(_) => Argument::Unknown,
        Value::Bool(value) => Argument::Bool(*value),
        Value::Number(number) => number.as_f64().map_or(Argument::Unknown, Argument::Number),
        Value::String(text) => Argument::Text(text.clone()),
        Value::Array(items) => {
            let numbers =
                items.iter().map(|item| item.as_f64().or(item.as_bool().map(|value| f64::from(u8::from(value)))));
            numbers.collect::<Option<Vec<f64>>>().map_or(Argument::Unknown, Argument::Numbers)
        }
    }
}

/// Short names of dtypes as manifests have them.
fn dtype_of(name: &str) -> String {
    match name {
        "fp16" | "half" | "float16" => "float16",
        "fp32" | "float" | "float32" => "float32",
        "fp64" | "double" | "float64" => "float64",
        "bf16" | "bfloat16" => "bfloat16",
        "int4" => "DT_INT4",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_cases_is_read() {
        let text = "testcase_name,op_name,input_shapes,input_dtypes,attributes,input_data_ranges\n\
                    a,other,\"((1,),)\",\"('float16',)\",{},\n\
                    b,take,\"((64, 32), (2,), None)\",\"('float16', 'int64')\",{'axis': -1},\"((0, 5), (1, 1))\"\n";
        let calls = of_csv(text, "tests/st/take.csv", "take");
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].place, "tests/st/take.csv:3");
        let arguments = &calls[0].arguments;
        assert!(
            matches!(&arguments[0].1, Argument::Tensor(tensor) if tensor.shape == [64, 32] && tensor.dtype == "float16")
        );
        let one = ValueRange { low: 1.0, high: 1.0 };
        assert!(matches!(&arguments[1].1, Argument::Tensor(tensor) if tensor.range == Some(one)));
        assert_eq!(arguments[2].1, Argument::Nothing);
        assert_eq!(arguments[3], ("axis".to_owned(), Argument::Number(-1.0)));
    }

    #[test]
    fn lists_of_objects_are_read() {
        let text = r#"[{"name": "n", "inputs": [
            {"name": "input", "type": "tensor", "dtype": "fp32", "shape": [1, 9], "range_values": [-1, 1]},
            {"name": "mode", "type": "attr", "dtype": "int", "shape": null, "range_values": 2},
            [{"name": "size_int", "type": "attrs", "range_values": 4}, {"name": "size_int", "type": "attrs", "range_values": 6}]
            ]}]"#;
        let calls = of_json(text, "list.json");
        assert_eq!(calls[0].arguments[1], ("mode".to_owned(), Argument::Number(2.0)));
        assert_eq!(calls[0].arguments[2], ("size".to_owned(), Argument::Numbers(vec![4.0, 6.0])));
        let text = r#"[{"op": "Lerp", "input_desc": [{"format": ["ND"], "type": ["float", "float16"], "shape": [32],
            "name": "start"}], "output_desc": [{"type": ["float", "float16"], "shape": [32]}], "attr": []}]"#;
        let dtypes: Vec<String> = of_json(text, "list.json")
            .iter()
            .map(|call| match &call.arguments[0].1 {
                Argument::Tensor(tensor) => tensor.dtype.clone(),
                _ => String::new(),
            })
            .collect();
        assert_eq!(dtypes, ["float32", "float16"]);
    }

    #[test]
    fn numbers_that_are_written_down_are_all_there() {
        let text = r#"[{"op": "Fill", "input_desc": [{"type": ["int64"], "shape": [1], "value": [1, 2, 3, 4], "name": "dims"},
            {"type": ["int64"], "shape": [3], "value": [7], "name": "more"}], "output_desc": [], "attr": []}]"#;
        let shapes: Vec<_> = of_json(text, "list.json")[0]
            .arguments
            .iter()
            .map(|(_, argument)| match argument {
                Argument::Tensor(tensor) => (tensor.shape.clone(), tensor.values.len()),
                _ => (Vec::new(), 0),
            })
            .collect();
        assert_eq!(shapes, [(vec![4], 4), (vec![3], 1)], "one number for all three is a short hand");
    }
}
