//! Tests of reading, validating and pointing.

use std::path::Path;

use super::*;
use space::{Binding, Domain};

const GOOD: &str = r#"
[operator]
name = "AddCustom"
layout = "msopgen"
kernel = "add_custom"
tiling = "TilingFunc"
sources = ["op_host/add_custom.cpp", "op_kernel/add_custom.cpp"]

[cmake]
entries = { ENABLE_TEST = false, JOBS = 2 }

[[case]]
name = "8x2048"
inputs = [
    { name = "x", dtype = "float16", shape = [8, 2048], range = [-2, 2] },
    { name = "y", dtype = "float16", shape = [8, 2048] },
]
outputs = [{ name = "z", dtype = "float16" }]
attributes = [{ name = "axes", type = "list_int", value = [0, 1] }, { name = "eps", type = "float", value = 1e-5 }]

[tunable.BLOCK_DIM]
file = "op_host/add_custom.cpp"
constant = "BLOCK_DIM"
domain = { range = [1, 48, 1] }
default = 8
reason = "cores"

[tunable.depth]
file = "op_kernel/add_custom.cpp"
call = "InitBuffer"
first = "inQueueX"
index = 1
domain = { values = [1, 2] }
default = 1

[tunable.TILE]
file = "op_host/add_custom.cpp"
cap = "tileLength"
domain = { power-of-two = [32, 4096] }

[space]
constraints = ["TILE * dtype_bytes * depth <= ub_bytes", "n % BLOCK_DIM == 0"]

[verify]
sample-blocks-from-mib = 3
tolerance.float16 = { absolute = 1e-3, relative = 1e-3 }
"#;

fn parse(text: &str) -> Result<Manifest, InvalidManifest> {
    Manifest::parse(text, Path::new("ascend.toml"))
}

fn findings(text: &str) -> Vec<String> {
    parse(text).expect_err("has mistakes").to_string().lines().map(str::to_owned).collect()
}

#[test]
fn a_good_manifest_is_read() {
    let manifest = parse(GOOD).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert_eq!(manifest.cmake["ENABLE_TEST"], "false");
    assert_eq!(manifest.cases[0].attributes[0].value, "0,1");
    assert_eq!(manifest.cases[0].inputs[0].range, ValueRange { low: -2.0, high: 2.0 });
    assert_eq!(manifest.cases[0].outputs[0].shape, None);
    assert!(manifest.cases[0].hostile);
    assert_eq!(manifest.check_tolerance, 1.03);
    assert_eq!(manifest.sample_from_bytes, Some(3 << 20));
    let sampling =
        |text: &str| parse(&GOOD.replace("sample-blocks-from-mib = 3", text)).expect("is right").sample_from_bytes;
    assert_eq!((sampling(""), sampling("sample-blocks-from-mib = 0")), (Some(64 << 20), None));
    assert_eq!(manifest.tunables.len(), 3);
    let depth = manifest.tunables.iter().find(|tunable| tunable.name == "depth").expect("there");
    assert!(matches!(&depth.binding, Binding::Argument { call, index: 1, .. } if call == "InitBuffer"));
    assert!(matches!(&depth.domain, Domain::List { ordered: true, .. }));
    let (text, span) = &manifest.constraints[0];
    assert_eq!(&GOOD[span.start + 1..span.end - 1], text);
    let facts = manifest.cases[0].facts(48, 196_608);
    assert_eq!((facts.values["n"], facts.values["dtype_bytes"], facts.values["dim1"]), (16_384, 2, 2048));
}

#[test]
fn values_stand_instead_of_a_range() {
    let manifest = parse(&GOOD.replace("range = [-2, 2]", "values = [0, 1]")).expect("valid");
    assert_eq!(manifest.cases[0].inputs[0].values, [0.0, 1.0]);
    let found = findings(&GOOD.replace("range = [-2, 2]", "range = [-2, 2], values = [1]"));
    assert!(found[0].contains("`values` and `range` exclude each other"), "{found:?}");
    let found = findings(&GOOD.replace("range = [-2, 2]", "values = []"));
    assert!(found[0].contains("values []"), "{found:?}");
}

#[test]
fn a_definition_as_reference_has_its_python() {
    let text = |more: &str| format!("{GOOD}reference = {more}\n");
    let python = |more: &str| match Manifest::parse(&text(more), Path::new("ascend.toml")).map(|read| read.reference) {
        Ok(Reference::Definition { python }) => python.display().to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(python("\"definition\""), "python3");
    assert_eq!(python("\"definition\"\npython = \"/opt/python\""), "/opt/python");
    let [unknown] = &findings(&text("\"definitions\""))[..] else { panic!("one finding") };
    assert!(unknown.contains("unknown reference `definitions`"), "{unknown}");
}

#[test]
fn unknown_keys_are_all_found() {
    let text = GOOD.replace("tiling =", "tilling =").replace("power-of-two", "power_of_two");
    let text = text.replace("range = [-2, 2]", "rnge = [-2, 2]");
    assert_eq!(
        findings(&text),
        [
            "ascend.toml:6:1: unknown key `tilling` in [operator]; did you mean `tiling`?",
            "ascend.toml:15:57: unknown key `rnge` in [case.inputs]; did you mean `range`?",
            "ascend.toml:39:12: unknown key `power_of_two` in [tunable.*.domain]; did you mean `power-of-two`?",
        ]
    );
}

#[test]
fn mistakes_are_all_found_and_point_at_the_value() {
    let text = GOOD
        .replace("[-2, 2]", "[2, -2]")
        .replacen("float16", "flot16", 1)
        .replace("default = 8", "default = 64")
        .replace("ub_bytes\"", "ub_byte\"")
        .replace("value = 1e-5", "value = \"small\"")
        .replace("op_kernel/add_custom.cpp\"]", "../add_custom.cpp\"]")
        .replace("power-of-two = [32, 4096]", "power-of-two = [48, 4096]");
    let found = findings(&text);
    let expected = [
        "ascend.toml:7:38: `../add_custom.cpp` is not a source file's path",
        "ascend.toml:15:27: unknown dtype `flot16`; did you mean `float16`?",
        "ascend.toml:15:64: range [2.0, -2.0]; write [lowest, highest]",
        "ascend.toml:19:109: attribute `eps` of type float cannot be `small`",
        "ascend.toml:25:11: default 64 of `BLOCK_DIM` is outside its domain",
        "ascend.toml:39:10: tunable `TILE`: [48, 4096] are not two powers of two",
        "ascend.toml:42:17: constraint",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}

#[test]
fn bindings_and_domains_are_one_kind() {
    let found = findings(&GOOD.replace("cap = \"tileLength\"", "cap = \"tileLength\"\nconstant = \"TILE\""));
    assert!(found[0].contains("must say in one way where it lives"), "{found:?}");
    let found = findings(&GOOD.replace("{ values = [1, 2] }", "{ values = [1, 2], range = [1, 2] }"));
    assert!(found[0].contains("is not one kind of domain"), "{found:?}");
    let found = findings(&GOOD.replace("cap = \"tileLength\"", "cap = \"tileLength\"\nindex = 2"));
    assert!(found[0].contains("`index` does not belong"), "{found:?}");
    let found = findings(&GOOD.replace("default = 8\n", ""));
    assert!(found[0].contains("`BLOCK_DIM` has no `default`"), "{found:?}");
}

#[test]
fn syntax_and_types_are_reported() {
    assert!(findings("[operator\n")[0].starts_with("ascend.toml:1:"));
    let found = findings(&GOOD.replace("default = 8", "default = 8.5"));
    assert!(found[0].starts_with("ascend.toml:25:11: ") && found[0].contains("expected an integer"), "{found:?}");
    let found = findings(&GOOD.replace("\"msopgen\"", "\"msopgn\""));
    assert!(found[0].starts_with("ascend.toml:4:10: unknown variant"), "{found:?}");
    assert!(findings("")[0].contains("missing field `operator`"));
}

#[test]
fn rendering_shows_the_line() {
    let error = parse(&GOOD.replace("tiling =", "tilling =")).expect_err("unknown key");
    let text = error.render(false);
    assert!(text.contains("error: unknown key `tilling` in [operator]"), "{text}");
    assert!(
        text.contains("ascend.toml:6:1") && text.contains("^^^^^^^") && text.contains("did you mean `tiling`?"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}') && error.render(true).contains('\u{1b}'));
}

#[test]
fn cases_are_required_and_unique() {
    let case = &GOOD[GOOD.find("[[case]]").expect("there")..GOOD.find("[tunable.BLOCK").expect("there")];
    let found = findings(&GOOD.replace(case, ""));
    assert!(found[0].contains("there is no [[case]]"), "{found:?}");
    let found = findings(&GOOD.replace(case, &format!("{case}\n{case}")));
    assert!(found[0].contains("case `8x2048` is there twice"), "{found:?}");
}
