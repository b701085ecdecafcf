//! Calls of Python tests, noted without a device: with a small torch of our own in place of the real one.

use std::process::Command;

use crate::support::root;

#[test]
fn calls_of_python_tests_are_noted() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = root().join("tests/suite/data/python");
    let request = serde_json::json!({
        "files": [data.join("test_scale_rows.py")],
        "names": ["scale_rows", "npu_scale_rows"],
        "schemas": { "npu_scale_rows": ["x", "rows", "bias", "mode", "scale"] },
    });
    fs_err::write(directory.path().join("request.json"), request.to_string()).expect("the request is written");
    let ended = Command::new("python3")
        .arg(root().join("crates/discovery/src/cases/reference/record_calls.py"))
        .args(["calls", "request.json"])
        .current_dir(directory.path())
        .env("PYTHONPATH", &data)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("Python runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let answer = fs_err::read(directory.path().join("answer.json")).expect("there is an answer");
    let answer: serde_json::Value = serde_json::from_slice(&answer).expect("it is JSON");
    let calls = answer["calls"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(calls.len(), 5, "two cases by two modes, and one of a class: {answer}");
    let first = serde_json::json!([
        ["x", { "kind": "tensor", "dtype": "float16", "shape": [2, 8], "range": [0.0, 0.0] }],
        ["rows", { "kind": "tensor", "dtype": "int32", "shape": [2], "range": [1.0, 2.0], "values": [1, 2] }],
        ["bias", { "kind": "nothing" }],
        ["mode", { "kind": "text", "value": "a" }],
        ["scale", { "kind": "number", "value": 0.5 }],
    ]);
    assert!(calls.iter().any(|call| call["arguments"] == first), "{answer}");
    assert!(calls.iter().any(|call| call["arguments"][4][1]["value"] == 2.0), "{answer}");
    let of_class = &calls[4]["arguments"];
    assert_eq!(of_class[0][1]["tensors"][0]["shape"], serde_json::json!([5, 1]));
    assert_eq!(of_class[1][1], serde_json::json!({ "kind": "numbers", "values": [1.0, 2.0] }));
    assert!(calls[0]["place"].as_str().is_some_and(|place| place.contains("test_scale_rows.py:")));
}
