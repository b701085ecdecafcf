//! Definitions against results that were computed without NumPy and without them (`tests/definitions/make_known.py`), and what they
//! must not be taken for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use verify::DType;

use super::{Defined, DefinedOutput, Definition};
use crate::cases::packed;

fn python() -> PathBuf {
    std::env::var_os("ASCEND_TUNE_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

/// Whether there is NumPy. Where the tools were brought along, it must be there.
fn numpy_is_here() -> bool {
    let found =
        Command::new(python()).args(["-c", "import numpy"]).output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("ASCEND_TUNE_TOOLS").is_none(), "{} has no NumPy", python().display());
    found
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/definitions")
}

/// Answers to requests, in a directory that they are left in.
fn answers(directory: &Path, requests: &[Value]) -> Vec<Value> {
    for (name, text) in packed::programs() {
        fs_err::write(directory.join(name), text).unwrap();
    }
    let calls = directory.join("calls.json");
    fs_err::write(&calls, serde_json::to_string(requests).unwrap()).unwrap();
    let output = Command::new(python())
        .args([folder().join("driver.py").as_path(), directory, &calls])
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = |number| fs_err::read(directory.join(format!("{number}.json"))).unwrap();
    (0..requests.len()).map(|number| serde_json::from_slice(&answer(number)).unwrap()).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// A known call as a request, its inputs written to files.
fn request_of(directory: &Path, number: usize, call: &Value) -> Value {
    let inputs: Vec<Value> = array(&call["inputs"])
        .iter()
        .map(|input| {
            let instances: Vec<Value> = array(&input[1])
                .iter()
                .enumerate()
                .map(|(place, tensor)| {
                    let file = directory.join(format!("in-{number}-{}-{place}.bin", text(&input[0])));
                    fs_err::write(&file, bytes_of(text(&tensor["hex"]))).unwrap();
                    let format = tensor.get("format").cloned().unwrap_or_else(|| json!("ND"));
                    json!({ "file": file, "dtype": tensor["dtype"], "shape": tensor["shape"], "format": format })
                })
                .collect();
            json!({ "name": input[0], "dynamic": input[2], "instances": instances })
        })
        .collect();
    let attributes: Vec<Value> =
        array(&call["attributes"]).iter().map(|one| json!({ "name": one[0], "value": one[1] })).collect();
    let outputs: Vec<Value> = array(&call["outputs"]).iter().map(output_of).collect();
    json!({ "operator": call["operator"], "inputs": inputs, "attributes": attributes, "outputs": outputs })
}

fn output_of(output: &Value) -> Value {
    let tolerance = verify::default_tolerance(text(&output[1]["dtype"]).parse().unwrap());
    json!({
        "name": output[0], "dtype": output[1]["dtype"], "shape": output[1]["shape"], "format": "ND",
        "tolerance": { "relative": tolerance.relative, "absolute": tolerance.absolute },
    })
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Bit pattern of a float on a line where neighbours are one apart.
fn place_on_line(bytes: &[u8]) -> i64 {
    let bits = bytes.iter().rev().fold(0_i64, |bits, byte| bits << 8 | i64::from(*byte));
    let sign = 1_i64 << (8 * bytes.len() - 1);
    if bits & sign == 0 { bits } else { sign - bits }
}

/// Where two outputs differ by more than units in the last place.
fn difference(got: &[u8], want: &[u8], dtype: DType, ulps: i64) -> Option<usize> {
    if got.len() != want.len() {
        return Some(got.len().min(want.len()) / dtype.size_bytes());
    }
    let pairs = got.chunks_exact(dtype.size_bytes()).zip(want.chunks_exact(dtype.size_bytes()));
    let mut pairs = pairs.enumerate();
    let differs = |(_, (got, want)): &(usize, (&[u8], &[u8]))| {
        if !dtype.is_float() {
            return got != want;
        }
        let both_nan = dtype.decode(got).is_nan() && dtype.decode(want).is_nan();
        !both_nan && (place_on_line(got) - place_on_line(want)).abs() > ulps
    };
    pairs.find(differs).map(|(index, _)| index)
}

#[test]
fn definitions_give_what_exact_arithmetic_gives() {
    if !numpy_is_here() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let known: Vec<Value> = serde_json::from_slice(&fs_err::read(folder().join("known.json")).unwrap()).unwrap();
    let requests: Vec<Value> =
        known.iter().enumerate().map(|(number, call)| request_of(directory.path(), number, call)).collect();
    let mut wrong = Vec::new();
    for (number, (call, answer)) in known.iter().zip(answers(directory.path(), &requests)).enumerate() {
        let operator = text(&call["operator"]);
        let Some(outputs) = answer.get("outputs").and_then(Value::as_array) else {
            wrong.push(format!("{operator}: {answer}"));
            continue;
        };
        for (expected, given) in array(&call["outputs"]).iter().zip(outputs) {
            if given.is_null() && expected[1]["silent"] == true {
                continue;
            }
            let dtype: DType = text(&expected[1]["dtype"]).parse().unwrap();
            let file = directory.path().join(number.to_string()).join(text(&given["file"]));
            let (got, want) = (fs_err::read(file).unwrap(), bytes_of(text(&expected[1]["hex"])));
            let ulps = expected[1].get("ulps").and_then(Value::as_i64).unwrap_or(0);
            if let Some(index) = difference(&got, &want, dtype, ulps) {
                let value = |bytes: &[u8]| dtype.elements(bytes).get(index).copied();
                let (name, got, want) = (text(&expected[0]), value(&got), value(&want));
                wrong.push(format!("{operator} {dtype}, {name}[{index}]: {got:?} and not {want:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    // No definition without a call whose results are known.
    let operators: BTreeSet<&str> = known.iter().map(|call| text(&call["operator"])).collect();
    let functions: Vec<Vec<String>> =
        serde_json::from_slice(&fs_err::read(directory.path().join("functions.json")).unwrap()).unwrap();
    let is_known = |names: &Vec<String>| names.iter().any(|name| operators.contains(name.as_str()));
    let untried: Vec<_> = functions.iter().filter(|names| !is_known(names)).collect();
    assert!(untried.is_empty() && functions.len() > 200, "of {} functions: {untried:?}", functions.len());
}

/// A call of `Sub` on two singles, with one thing changed.
fn changed(change: impl Fn(&mut Value)) -> Value {
    let tensor = json!({ "file": "none", "dtype": "float32", "shape": [4], "format": "ND" });
    let input = |name: &str| json!({ "name": name, "dynamic": false, "instances": [tensor] });
    let tolerance = json!({ "relative": 0.0, "absolute": 0.0 });
    let output = json!({ "name": "z", "dtype": "float32", "shape": [4], "format": "ND", "tolerance": tolerance });
    let mut request = json!({
        "mode": "match", "operator": "Sub", "inputs": [input("x1"), input("x2")], "attributes": [], "outputs": [output],
    });
    change(&mut request);
    request
}

#[test]
fn a_definition_that_does_not_fit_in_every_particular_is_none() {
    if !numpy_is_here() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let instance = |request: &mut Value, place: usize, key: &str, value: &str| {
        request["inputs"][place]["instances"][0][key] = json!(value);
    };
    let cases: [(Value, &str); 10] = [
        (changed(|request| request["operator"] = json!("SubSomethingElse")), "no definition of SubSomethingElse"),
        (changed(|request| instance(request, 1, "dtype", "float16")), "inputs are float32 and float16"),
        (changed(|request| instance(request, 0, "dtype", "float64")), "does not hold for float64"),
        (changed(|request| instance(request, 0, "format", "FRACTAL_NZ")), "has the format FRACTAL_NZ"),
        (changed(|request| request["outputs"][0]["dtype"] = json!("float16")), "output z is float16"),
        (changed(|request| request["attributes"] = json!([{ "name": "alpha", "value": 1.0 }])), "the attribute alpha"),
        (changed(|request| request["inputs"][1]["name"] = json!("first")), "no input is called"),
        (changed(|request| request["inputs"][1]["instances"] = json!([])), "input x2 is not given"),
        (
            changed(|request| {
                let third = json!({ "name": "bias", "dynamic": false, "instances": request["inputs"][0]["instances"] });
                request["inputs"].as_array_mut().unwrap().push(third);
            }),
            "does not know the input bias",
        ),
        (
            changed(|request| {
                let second = request["outputs"][0].clone();
                request["outputs"].as_array_mut().unwrap().push(second);
                request["outputs"][1]["name"] = json!("mean");
            }),
            "gives 1 outputs, and the operator 2",
        ),
    ];
    let mut requests: Vec<Value> = cases.iter().map(|(request, _)| request.clone()).collect();
    requests.push(changed(|_| ()));
    let answers = answers(directory.path(), &requests);
    for ((_, reason), answer) in cases.iter().zip(&answers) {
        // A type that is not defined at all is told apart from a call that its definition says nothing of.
        let word = if reason.starts_with("no definition") { "undefined" } else { "unmatched" };
        let said = answer[word].as_str().unwrap_or_default();
        assert!(said.contains(reason), "{reason}: {answer}");
    }
    let fitting = &answers[cases.len()]["definition"];
    assert_eq!((text(&fitting["operator"]), text(&fitting["file"])), ("Sub", "elementwise.py"));
    assert_eq!(text(&fitting["formula"]), "z = x - y");
}

#[test]
fn what_is_computed_from_data_that_mean_nothing_is_not_taken() {
    if !numpy_is_here() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let known: Vec<Value> = serde_json::from_slice(&fs_err::read(folder().join("known.json")).unwrap()).unwrap();
    let find = |operator: &str| known.iter().find(|call| call["operator"] == operator).unwrap().clone();
    // An index that points beyond its tensor; an output of another shape; a scale that is not that of the sizes.
    let mut gather = find("GatherV3");
    gather["inputs"][1][1][0]["hex"] = json!("0900000000000000");
    let mut add = find("Add");
    add["outputs"][0][1]["shape"] = json!([5, 3]);
    let mut nearest = find("UpsampleNearest");
    nearest["attributes"][1][1] = json!(3.0);
    let calls = [gather, add, nearest];
    let requests: Vec<Value> =
        calls.iter().enumerate().map(|(number, call)| request_of(directory.path(), number, call)).collect();
    let answers = answers(directory.path(), &requests);
    let reasons = ["an index is not below 3", "has the shape", "a scale of 3.0 for 3 to 7"];
    for (answer, reason) in answers.iter().zip(reasons) {
        assert!(answer["unmatched"].as_str().unwrap_or_default().contains(reason), "{answer}");
    }
}

#[test]
fn bounds_follow_the_terms_and_leave_open_what_is_not_specified() {
    if !numpy_is_here() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let tensor = |values: [f32; 3]| {
        let hex: String =
            values.iter().flat_map(|value| value.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect();
        json!({ "dtype": "float32", "shape": [3], "hex": hex })
    };
    let call = |operator: &str, inputs: Value| json!({ "operator": operator, "inputs": inputs, "attributes": [], "outputs": [["y", tensor([0.0; 3])]] });
    let (x, y) = (tensor([1.0, 1000.0, f32::NAN]), tensor([0.0, -1000.0, 2.0]));
    let calls = [
        call("FusedMulAdd", json!([["x1", [x], false], ["x2", [tensor([1.0; 3])], false], ["x3", [y], false]])),
        call("Maximum", json!([["x1", [x], false], ["x2", [y], false]])),
    ];
    let requests: Vec<Value> =
        calls.iter().enumerate().map(|(number, call)| request_of(directory.path(), number, call)).collect();
    let answers = answers(directory.path(), &requests);
    let bounds = |number: usize| {
        let file = text(&answers[number]["outputs"][0]["bounds"]);
        super::singles(&fs_err::read(directory.path().join(number.to_string()).join(file)).unwrap())
    };
    // 1000 - 1000 may be off by what 1000 may be, and 1 by what 1 may be.
    let sums = bounds(0);
    assert!((1e-4..1e-3).contains(&sums[0]) && (0.05..0.5).contains(&sums[1]), "{sums:?}");
    assert_eq!(sums[2], 0.0, "what is NaN must be that");
    assert_eq!(bounds(1), [0.0, 0.0, f32::INFINITY]);
    assert_eq!(answers[1]["outputs"][0]["unspecified"], 1);
}

#[test]
fn data_that_mean_something_are_what_definitions_take() {
    if !numpy_is_here() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let tensor = |dtype: &str, shape: &[usize]| {
        let bytes = shape.iter().product::<usize>() * dtype.parse::<DType>().unwrap().size_bytes();
        json!({ "dtype": dtype, "shape": shape, "hex": "00".repeat(bytes) })
    };
    let call = |operator: &str, inputs: &[(&str, &str, &[usize])], output: (&str, &str, &[usize])| {
        let inputs: Vec<Value> =
            inputs.iter().map(|(name, dtype, shape)| json!([name, [tensor(dtype, shape)], false])).collect();
        json!({ "operator": operator, "inputs": inputs, "attributes": [], "outputs": [[output.0, tensor(output.1, output.2)]] })
    };
    // Zeros are no such data: no boxes, no regions, one place for all updates, no targets.
    let calls = [
        call("NMSWithMask", &[("x1", "float32", &[6, 4]), ("x2", "float32", &[6])], ("y", "uint8", &[6])),
        call(
            "ScatterElementsV2",
            &[("var", "float32", &[3, 4]), ("indices", "int32", &[2, 3]), ("updates", "float32", &[2, 3])],
            ("var", "float32", &[3, 4]),
        ),
        call("KLDivV2", &[("x", "float32", &[3, 5]), ("target", "float32", &[3, 5])], ("y", "float32", &[])),
    ];
    // Stages of one computation, whose data belong together.
    let known: Vec<Value> = serde_json::from_slice(&fs_err::read(folder().join("known.json")).unwrap()).unwrap();
    let staged = known.into_iter().filter(|call| {
        let operator = text(&call["operator"]);
        operator.starts_with("K2q") || operator == "StoreKVBlock" || operator == "CompressorMetadata"
    });
    let calls: Vec<Value> = calls.into_iter().chain(staged).collect();
    let mut requests: Vec<Value> =
        calls.iter().enumerate().map(|(number, call)| request_of(directory.path(), number, call)).collect();
    for request in &mut requests {
        request["mode"] = json!("data");
    }
    let meant = answers(directory.path(), &requests);
    let again = tempfile::tempdir().unwrap();
    for (request, answer) in requests.iter_mut().zip(&meant) {
        request["mode"] = json!("compute");
        assert!(!array(&answer["data"]).is_empty(), "{answer}");
        for data in array(&answer["data"]) {
            let input = array(&request["inputs"]).iter().find(|input| input["name"] == data["tensor"]);
            // What is there before the launch a definition does not see.
            let Some(input) = input else { continue };
            let instance = &input["instances"][0];
            let count = array(&instance["shape"]).iter().map(|size| size.as_u64().unwrap() as usize).product();
            let between = || vec![(data["low"].as_f64().unwrap() + data["high"].as_f64().unwrap()) / 2.0];
            let values = data["values"]
                .as_array()
                .map_or_else(between, |values| values.iter().map(|value| value.as_f64().unwrap()).collect());
            let dtype: DType = text(&instance["dtype"]).parse().unwrap();
            let mut bytes = Vec::new();
            values.iter().cycle().take(count).for_each(|value| dtype.encode(*value, &mut bytes));
            fs_err::write(text(&instance["file"]), bytes).unwrap();
        }
    }
    for answer in answers(again.path(), &requests) {
        assert!(answer["outputs"].as_array().is_some_and(|outputs| !outputs.is_empty()), "{answer}");
    }
}

#[test]
fn an_operator_without_outputs_changes_the_inputs_that_its_definition_gives() {
    if !numpy_is_here() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let known: Vec<Value> = serde_json::from_slice(&fs_err::read(folder().join("known.json")).unwrap()).unwrap();
    let operators = ["StoreKVBlock", "TransposeKvCacheByBlock", "Add"];
    let calls = operators.map(|operator| known.iter().find(|call| call["operator"] == operator).unwrap());
    let mut requests: Vec<Value> =
        calls.iter().enumerate().map(|(number, call)| request_of(directory.path(), number, call)).collect();
    for request in &mut requests {
        request["mode"] = json!("data");
        request["outputs"] = json!([]);
    }
    let answers = answers(directory.path(), &requests);
    assert_eq!(answers[0]["changed"], json!(["keyCacheIn"]));
    assert_eq!(answers[1]["changed"], json!(["KCache", "VCache"]));
    assert!(text(&answers[2]["unmatched"]).contains("gives 1 outputs, and the operator 0"), "{}", answers[2]);
}

#[test]
fn what_a_definition_says_nothing_of_may_stay_as_it_was() {
    let output = |bounds| Some(DefinedOutput { bytes: vec![0; 8], bounds, relative: 1e-4, unspecified: 0 });
    let definition = Definition { operator: "X".into(), file: "x.py".into(), formula: "y".into() };
    let some = Defined { definition, outputs: vec![output(Some(vec![0.5, f32::INFINITY])), output(None), None] };
    let silent = |output, element| some.says_nothing_of(output, element);
    assert_eq!(
        [silent(0, 0), silent(0, 1), silent(1, 0), silent(2, 0), silent(3, 0)],
        [false, true, false, true, false]
    );
    let nothing = Defined { outputs: vec![None, None], ..some };
    assert!(!nothing.says_nothing_of(0, 0));
}
