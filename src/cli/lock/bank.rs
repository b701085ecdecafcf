//! A lock as entries of the toolkit's runtime knowledge bank: one JSON object a line for each case, with the fields by which an operator's
//! tiling function asks and those that it is answered with.
//!
//! Which fields an operator asks by is the operator's own choice (the struct that it relates with its type), so that they are given on the
//! command line. Without a word they are called as the manifest calls the tensors.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value as Json, json};

use lock::{Lock, identifier};
use manifest::{Case, TensorSpec};
use space::Value;

/// Numbers by which the toolkit tells element types apart in such fields.
const DTYPES: [(&str, u32); 15] = [
    ("float32", 0),
    ("float16", 1),
    ("int8", 2),
    ("int32", 3),
    ("uint8", 4),
    ("int16", 6),
    ("uint16", 7),
    ("uint32", 8),
    ("int64", 9),
    ("uint64", 10),
    ("float64", 11),
    ("bool", 12),
    ("complex64", 16),
    ("bfloat16", 27),
    ("int4", 29),
];

/// The name under which the toolkit looks for the file.
pub(super) fn file_name(locked: &Lock, cube_cores: u32) -> String {
    let soc = locked.device.as_ref().map_or_else(|| soc_name(&locked.machine.name), |device| device.soc.clone());
    format!("{soc}_{cube_cores}_AiCore_{}_runtime_kb.json", locked.operator)
}

/// The full name of a chip from that of its machine description: after the family's name, letters are large.
fn soc_name(machine: &str) -> String {
    let head = machine.chars().take_while(char::is_ascii_alphabetic).count();
    let (family, rest) = machine.split_at(head);
    let mut letters = family.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(rest.to_ascii_uppercase().chars()).collect()
}

/// The lines, by case.
pub(super) fn lines(locked: &Lock, cases: &[Case], keys: &[String]) -> Result<String, String> {
    let mut knowledge = Map::new();
    for (name, value) in locked.configuration.iter() {
        let value = match value {
            Value::Int(value) => json!(value),
            Value::Bool(value) => json!(u8::from(*value)),
            Value::Text(text) => json!(text),
        };
        if knowledge.insert(identifier(name), value).is_some() {
            return Err(format!("two tunables would be the field {}", identifier(name)));
        }
    }
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    let mut text = String::new();
    for locked_case in &locked.cases {
        let case = cases.iter().find(|case| case.name == locked_case.name);
        let case = case.ok_or_else(|| format!("case {} is in ascend.lock and not in ascend.toml", locked_case.name))?;
        let info = if keys.is_empty() { every_field(case) } else { asked_fields(case, keys)? };
        let key = Json::Object(info.clone()).to_string();
        // Two cases that the operator cannot tell apart are one entry: the values are the same.
        if said.insert(key.clone(), case.name.clone()).is_some() {
            continue;
        }
        let line = json!({
            "id": number_of(&key),
            "info_dict": info,
            "knowledge": knowledge,
            "op": locked.operator,
            "version": 0,
        });
        text.push_str(&line.to_string());
        text.push('\n');
    }
    Ok(text)
}

/// A number for an entry that its key decides.
fn number_of(key: &str) -> u32 {
    let digest = blake3::hash(key.as_bytes());
    let bytes = digest.as_bytes();
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn every_field(case: &Case) -> Map<String, Json> {
    let mut fields = Map::new();
    for input in &case.inputs {
        let name = identifier(&input.name);
        for (place, dimension) in input.shape.iter().flatten().enumerate() {
            fields.insert(format!("{name}_dim{place}"), json!(dimension));
        }
        fields.insert(format!("{name}_dtype"), dtype(input));
    }
    for attribute in &case.attributes {
        fields.insert(identifier(&attribute.name), plain(&attribute.value));
    }
    fields
}

fn asked_fields(case: &Case, keys: &[String]) -> Result<Map<String, Json>, String> {
    let mut fields = Map::new();
    for key in keys {
        let refuse = |why: &str| format!("--key {key}: {why}");
        let (field, source) = key.split_once('=').ok_or_else(|| refuse("give FIELD=SOURCE"))?;
        if field.is_empty() {
            return Err(refuse("the field has no name"));
        }
        let value = if let Ok(number) = source.parse::<i64>() {
            json!(number)
        } else if let Some(name) = source.strip_prefix("attr.") {
            let attribute = case.attributes.iter().find(|attribute| attribute.name == name);
            plain(&attribute.ok_or_else(|| refuse(&format!("case {} has no attribute {name}", case.name)))?.value)
        } else {
            let (name, part) = source.rsplit_once('.').ok_or_else(|| refuse("give INPUT.DIMENSION or INPUT.dtype"))?;
            let input = case.inputs.iter().find(|input| input.name == name);
            let input = input.ok_or_else(|| refuse(&format!("case {} has no input {name}", case.name)))?;
            if part == "dtype" {
                dtype(input)
            } else {
                let shape = input.shape.as_deref().unwrap_or_default();
                let place = part.parse::<usize>().ok().filter(|place| *place < shape.len());
                let place = place.ok_or_else(|| {
                    refuse(&format!(
                        "{name} of case {} has dimensions 0 to {}",
                        case.name,
                        shape.len().saturating_sub(1)
                    ))
                })?;
                json!(shape[place])
            }
        };
        if fields.insert(field.to_owned(), value).is_some() {
            return Err(refuse("this field is given twice"));
        }
    }
    Ok(fields)
}

fn dtype(tensor: &TensorSpec) -> Json {
    let name = tensor.dtype.to_string();
    let number = DTYPES.iter().find(|(known, _)| *known == name);
    number.map_or_else(|| json!(name), |(_, number)| json!(number))
}

/// A value of an attribute: a number where it is one, 0 or 1 for a switch.
fn plain(text: &str) -> Json {
    match text {
        "true" => json!(1),
        "false" => json!(0),
        _ => text.parse::<Number>().map_or_else(|_| json!(text), Json::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::Manifest;
    use std::path::Path;

    fn cases() -> Vec<Case> {
        let text = "[operator]\nname = \"GeluNaive\"\nlayout = \"in-tree\"\nkernel = \"gelu\"\nsources = [\"k.cpp\"]\n[machine]\nname = \"m\"\n\
             [[case]]\nname = \"large\"\ninputs = [{ name = \"x\", dtype = \"float16\", shape = [64, 4096] }]\noutputs = [{ name = \"y\", dtype = \"float16\" }]\n\
             attributes = [{ name = \"eps\", type = \"float\", value = 0.5 }, { name = \"wide\", type = \"bool\", value = true }]\n\
             [[case]]\nname = \"small\"\ninputs = [{ name = \"x\", dtype = \"bfloat16\", shape = [8, 4096] }]\noutputs = [{ name = \"y\", dtype = \"bfloat16\" }]\n\
             attributes = [{ name = \"eps\", type = \"float\", value = 0.5 }, { name = \"wide\", type = \"bool\", value = true }]\n";
        Manifest::parse(text, Path::new("ascend.toml")).unwrap().cases
    }

    #[test]
    fn a_case_is_an_entry() {
        let mut locked = lock::testing::sample();
        locked.cases.sort_by(|left, right| left.name.cmp(&right.name));
        insta::assert_snapshot!(lines(&locked, &cases(), &[]).unwrap(), @r#"
        {"id":1015488792,"info_dict":{"eps":0.5,"wide":1,"x_dim0":64,"x_dim1":4096,"x_dtype":1},"knowledge":{"BUFFER_NUM":2,"TILE_LENGTH":8192,"mode":"wide"},"op":"GeluNaive","version":0}
        {"id":930343397,"info_dict":{"eps":0.5,"wide":1,"x_dim0":8,"x_dim1":4096,"x_dtype":27},"knowledge":{"BUFFER_NUM":2,"TILE_LENGTH":8192,"mode":"wide"},"op":"GeluNaive","version":0}
        "#);
        let keys = ["m=x.0", "k=x.1", "a_dtype=x.dtype", "wide=attr.wide", "reserved=0"].map(str::to_owned);
        insta::assert_snapshot!(lines(&locked, &cases(), &keys).unwrap(), @r#"
        {"id":2463555726,"info_dict":{"a_dtype":1,"k":4096,"m":64,"reserved":0,"wide":1},"knowledge":{"BUFFER_NUM":2,"TILE_LENGTH":8192,"mode":"wide"},"op":"GeluNaive","version":0}
        {"id":3116250361,"info_dict":{"a_dtype":27,"k":4096,"m":8,"reserved":0,"wide":1},"knowledge":{"BUFFER_NUM":2,"TILE_LENGTH":8192,"mode":"wide"},"op":"GeluNaive","version":0}
        "#);
        assert_eq!(lines(&locked, &cases(), &["k=x.1".to_owned()]).unwrap().lines().count(), 1, "one key, one entry");
        assert_eq!(file_name(&locked, 24), format!("{}_24_AiCore_GeluNaive_runtime_kb.json", soc_name("ascend910b2")));
        assert_eq!(soc_name("chip12b3"), "Chip12B3");
    }

    #[test]
    fn keys_that_say_nothing_are_refused() {
        let locked = lock::testing::sample();
        let refused = |keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            lines(&locked, &cases(), &keys).unwrap_err()
        };
        let said = [
            refused(&["m"]),
            refused(&["m=y.0"]),
            refused(&["m=x.2"]),
            refused(&["m=attr.no"]),
            refused(&["m=x.0", "m=x.1"]),
            lines(&locked, &[], &[]).unwrap_err(),
        ];
        insta::assert_snapshot!(said.join("\n"), @"
        --key m: give FIELD=SOURCE
        --key m=y.0: case small has no input y
        --key m=x.2: x of case small has dimensions 0 to 1
        --key m=attr.no: case small has no attribute no
        --key m=x.1: this field is given twice
        case small is in ascend.lock and not in ascend.toml
        ");
    }
}
