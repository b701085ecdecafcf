//! `survey` on a tree of small operators, each with one thing in its way.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Ended, edited, python_has_numpy, require_tools, root, tool};

/// An operator of the tree: its directory, and what is different from one that works.
struct Made {
    directory: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
    golden: Option<&'static str>,
}

const KERNEL: &str = "op_kernel/add_custom.cpp";
const HOST: &str = "op_host/add_custom.cpp";

/// What never ends sleeps meanwhile: limits are of the clock, and the processor is for the tests beside it.
const HOST_SLEEPS: (&str, &str, &str) = (HOST, "#include \"register/", "#include <unistd.h>\n#include \"register/");
const KERNEL_SLEEPS: (&str, &str, &str) = (KERNEL, "#include \"kernel_", "#include <unistd.h>\n#include \"kernel_");

const TREE: [Made; 9] = [
    Made { directory: "math/works", edits: &[], golden: Some("x + y") },
    Made { directory: "math/missing_name", edits: &[(KERNEL, "AscendC::Add(", "AscendC::AddNowhere(")], golden: None },
    Made {
        directory: "math/missing_header",
        edits: &[(HOST, "#include \"register/", "#include \"nowhere/at_all.h\"\n#include \"register/")],
        golden: None,
    },
    Made { directory: "nn/refuses", edits: &[(HOST, "if (totalLength == 0", "if (totalLength != 0")], golden: None },
    Made {
        directory: "nn/endless_tiling",
        edits: &[
            HOST_SLEEPS,
            (
                HOST,
                "    context->SetBlockDim(",
                "    volatile bool forever = true;\n    while (forever) {\n        usleep(1000);\n    }\n    context->SetBlockDim(",
            ),
        ],
        golden: None,
    },
    Made {
        directory: "nn/hangs",
        edits: &[
            KERNEL_SLEEPS,
            (
                KERNEL,
                "        for (uint32_t tile = 0;",
                "        volatile bool forever = true;\n        while (forever) {\n            usleep(1000);\n        }\n        \
             for (uint32_t tile = 0;",
            ),
        ],
        golden: None,
    },
    Made { directory: "nn/wrong", edits: &[(KERNEL, "AscendC::Add(", "AscendC::Sub(")], golden: Some("x + y") },
    // As if it held tables for 40 cores.
    Made {
        directory: "nn/fewer_cores",
        edits: &[
            KERNEL_SLEEPS,
            (HOST, "#include \"register/", "#include \"tiling/platform/platform_ascendc.h\"\n#include \"register/"),
            (
                HOST,
                "context->SetBlockDim(",
                "const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());\n    \
                 context->SetTilingKey(chip.GetCoreNumAiv());\n    context->SetBlockDim(",
            ),
            (
                KERNEL,
                "    op.Process();",
                "    volatile bool forever = TILING_KEY_IS(48);\n    while (forever) {\n        usleep(1000);\n    }\n    \
                 op.Process();",
            ),
        ],
        golden: Some("x + y"),
    },
    // Adds to what the framework puts into its output.
    Made {
        directory: "math/accumulates",
        edits: &[
            (
                HOST,
                ".Format({ge::FORMAT_ND});\n\n",
                ".Format({ge::FORMAT_ND}).InitValue(ScalarVar(ScalarType::FLOAT16, 1));\n\n",
            ),
            (KERNEL, "AscendC::DataCopy(zGm", "AscendC::SetAtomicAdd<half>();\n        AscendC::DataCopy(zGm"),
            (KERNEL, "outQueueZ.FreeTensor", "AscendC::SetAtomicNone();\n        outQueueZ.FreeTensor"),
        ],
        golden: Some("x + y + 1"),
    },
];

fn tree() -> TempDir {
    let tree = tempfile::Builder::new().prefix("operators-").tempdir().expect("a temporary directory");
    let fixture = root().join("fixtures/add_custom");
    for made in TREE {
        let to = tree.path().join(made.directory);
        for entry in walkdir::WalkDir::new(&fixture).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            let relative = entry.path().strip_prefix(&fixture).expect("below the fixture");
            if relative.starts_with("target") {
                continue;
            }
            let path = to.join(relative);
            fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs_err::copy(entry.path(), &path).expect("a copy");
        }
        for (file, from, with) in made.edits {
            let text = fs_err::read_to_string(to.join(file)).expect("a text file");
            assert!(text.contains(from), "{file} has no `{from}`");
            fs_err::write(to.join(file), text.replacen(from, with, 1)).expect("a written file");
        }
        if let Some(expression) = made.golden {
            let text = format!(
                "import numpy\n\n__golden__ = {{\"kernel\": {{\"add_custom\": \"right\"}}}}\n\n\n\
                 def right(x, y, **kwargs):\n    return {expression}\n"
            );
            fs_err::create_dir_all(to.join("tests/assets")).expect("a directory");
            fs_err::write(to.join("tests/assets/golden.py"), text).expect("a written file");
        }
    }
    tree
}

fn survey(tree: &Path, work: &Path, more: &[&str]) -> Ended {
    let output = tool()
        .arg("survey")
        .arg(tree)
        .args(["--message-format", "json", "--run-timeout-s", "3", "--jobs", "2", "--work"])
        .arg(work)
        .args(more)
        .output()
        .expect("the tool runs");
    Ended::new(&output)
}

/// State of a step of an operator, with its cause as `kind: name`.
fn step(ended: &Ended, operator: &str, step: &str) -> (String, String) {
    let outcomes = ended.named("surveyed");
    let outcome = outcomes.iter().find(|outcome| outcome["operator"] == operator).expect("the operator was tried");
    let steps = outcome["steps"].as_array().expect("steps");
    let found = steps.iter().find(|one| one["step"] == step).unwrap_or_else(|| panic!("{operator}: {steps:#?}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let cause = &found["cause"];
    (text(&found["state"]), format!("{}: {}", text(&cause["kind"]), text(&cause["name"])))
}

#[test]
fn operators_are_tried_grouped_and_remembered() {
    require_tools!();
    let (tree, work) = (tree(), tempfile::tempdir().expect("a temporary directory"));
    let first = survey(tree.path(), work.path(), &["--only", "math/*"]).expect(0);
    assert_eq!(first.named("surveyed").len(), 4);
    let journal = work.path().join("journal.jsonl");
    let lines = || fs_err::read_to_string(&journal).expect("a journal").lines().count();
    assert_eq!(lines(), 4);

    // The rest: what is known already is not tried again, also where the last line was cut off by a kill.
    let text = fs_err::read_to_string(&journal).expect("a journal");
    fs_err::write(&journal, &text[..text.len() - 9]).expect("a written file");
    let page = work.path().join("survey.html");
    let markdown = work.path().join("coverage.md");
    let pages = ["--html", page.to_str().expect("UTF-8"), "--markdown", markdown.to_str().expect("UTF-8")];
    let all = survey(tree.path(), work.path(), &[&["--resume"][..], &pages].concat()).expect(0);
    assert_eq!((all.named("surveyed").len(), lines()), (9, 9));

    let failed = "failed".to_owned();
    let name = "missing-name: AscendC::AddNowhere".to_owned();
    assert_eq!(step(&all, "math/missing_name", "kernel"), (failed.clone(), name));
    let header = "missing-header: nowhere/at_all.h".to_owned();
    assert_eq!(step(&all, "math/missing_header", "host"), (failed.clone(), header));
    let (state, cause) = step(&all, "nn/refuses", "tiling");
    assert!(state == failed && cause.starts_with("tiling-refused: "), "{cause}");
    assert_eq!(
        step(&all, "nn/endless_tiling", "tiling"),
        (failed.clone(), "time-out: the tiling function does not return".to_owned())
    );
    let (state, cause) = step(&all, "nn/hangs", "run");
    assert!(state == failed && cause.starts_with("time-out: "), "{cause}");
    for clean in ["math/works", "math/accumulates", "nn/fewer_cores"] {
        assert_eq!(step(&all, clean, "hazards").0, "passed", "{clean}");
    }
    let (state, cause) = step(&all, "nn/fewer_cores", "run");
    assert!(state == "passed" && cause.starts_with("time-out: "), "on another chip: {state}, {cause}");
    // Without a Python that can run references nothing is right and nothing is wrong.
    let (right, wrong) = (step(&all, "math/works", "verify"), step(&all, "nn/wrong", "verify"));
    if python_has_numpy() {
        assert_eq!((right.0.as_str(), wrong.0.as_str()), ("passed", "failed"));
        assert!(wrong.1.starts_with("wrong-result: "), "{}", wrong.1);
        // Its output began with ones, which its authors know and the definition of its type does not.
        let (state, cause) = step(&all, "math/accumulates", "verify");
        assert_eq!(
            (state.as_str(), cause.as_str()),
            ("unknown", "witnesses-disagree: right by its authors' reference alone")
        );
        let counts = &all.named("survey")[0]["rows"][0]["witnesses"];
        let count = |name: &str| counts[name].as_u64().unwrap_or(0);
        assert_eq!(["authors_right", "authors_wrong", "both_right", "disagree"].map(count), [3, 1, 2, 1]);
        assert_eq!(["definition_right", "definition_wrong"].map(count), [2, 2]);
    } else {
        assert_eq!((right.0.as_str(), wrong.0.as_str()), ("unknown", "unknown"));
        assert!(wrong.1.starts_with("no-reference: "), "{}", wrong.1);
    }

    let survey = all.named("survey")[0];
    let row = &survey["rows"][0];
    assert_eq!((&row["operators"], &row["class"]), (&Value::from(9), &Value::from("vector")));
    let passed = |step: &str| row["passed"][step].as_u64().unwrap_or(0);
    assert_eq!([passed("host"), passed("tiling"), passed("kernel"), passed("run")], [8, 6, 5, 4]);
    let groups = survey["groups"].as_array().expect("groups");
    let missing = groups.iter().find(|group| group["cause"]["name"] == "AscendC::AddNowhere").expect("a group");
    assert!(missing["operators"][0].as_str().is_some_and(|name| name.ends_with("math/missing_name")));
    assert!(fs_err::read_to_string(&page).expect("a page").contains("AscendC::AddNowhere"));
    let markdown = fs_err::read_to_string(&markdown).expect("a page");
    assert!(markdown.contains("| kernel | unknown name: AscendC::AddNowhere |"));
    assert!(markdown.contains("the kernel does not end (ran at the second try)"), "{markdown}");
}

/// A case list whose second input is too short, which the tiling function does not look at; it takes no case of few elements.
const SENSELESS: &str = r#"[{"inputs": [
    {"name": "x", "type": "tensor", "dtype": "fp16", "shape": [2, 2048]},
    {"name": "y", "type": "tensor", "dtype": "fp16", "shape": [5]}
]}]"#;

#[test]
fn a_case_that_means_nothing_gives_way_to_one_of_the_definition() {
    require_tools!();
    let (tree, work) = (tree(), tempfile::tempdir().expect("a temporary directory"));
    let list = tree.path().join("nn/wrong/tests/cases.json");
    let tried = |text: &str| {
        fs_err::create_dir_all(list.parent().expect("a folder")).expect("a directory");
        fs_err::write(&list, text).expect("a written file");
        let ended = survey(tree.path(), work.path(), &["--only", "nn/wrong"]).expect(0);
        ended.named("surveyed")[0]["case"].as_str().expect("a case").to_owned()
    };
    let sensible = SENSELESS.replace("[5]", "[2, 2048]");
    assert_eq!(tried(&sensible), "2x2048 float16, 2x2048 float16 (its own case list)");
    let taken = tried(SENSELESS);
    match python_has_numpy() {
        true => assert!(taken.ends_with("(an example of its definition at another size)"), "{taken}"),
        false => assert_eq!(taken, "2x2048 float16, 5 float16 (its own case list)"),
    }
}

/// What it adds to is for its callers to clear: right with outputs of zeros, if a witness says so.
#[test]
fn an_operator_that_adds_to_its_output_is_judged_where_that_is_clear() {
    require_tools!();
    let (tree, work) = (tree(), tempfile::tempdir().expect("a temporary directory"));
    let kernel = tree.path().join("math/works").join(KERNEL);
    let edit = |from: &str, with: &str| {
        let text = fs_err::read_to_string(&kernel).expect("a kernel");
        fs_err::write(&kernel, edited(&text, from, with)).expect("a written file");
    };
    let verified = || {
        let ended = survey(tree.path(), work.path(), &["--only", "math/works", "--no-resume"]).expect(0);
        let steps = ended.named("surveyed")[0]["steps"].as_array().expect("steps").clone();
        steps.into_iter().find(|one| one["step"] == "verify").expect("it ran")
    };
    edit("AscendC::DataCopy(zGm", "AscendC::SetAtomicAdd<half>();\n        AscendC::DataCopy(zGm");
    edit("outQueueZ.FreeTensor", "AscendC::SetAtomicNone();\n        outQueueZ.FreeTensor");
    let adds = verified();
    match python_has_numpy() {
        true => assert!(
            adds["state"] == "passed" && adds["detail"].to_string().contains("zero before the launch"),
            "{adds}"
        ),
        false => assert_eq!(adds["cause"]["kind"], "unstable-result", "{adds}"),
    }
    // Of what is wrong with zeros as well it stays known that it is unstable.
    edit("AscendC::Add(", "AscendC::Sub(");
    let wrong = verified();
    assert_eq!((&wrong["state"], &wrong["cause"]["kind"]), (&"failed".into(), &"unstable-result".into()), "{wrong}");
}

/// Of an operator that defines no output what its definition gives is compared with the inputs that it changes.
#[test]
fn an_operator_without_outputs_is_judged_by_the_inputs_that_it_changes() {
    require_tools!();
    let (tree, work) = (tree(), tempfile::tempdir().expect("a temporary directory"));
    let operator = tree.path().join("math/works");
    let write = |file: &str, text: &str| fs_err::write(operator.join(file), text).expect("a written file");
    let header = "op_host/add_custom_tiling.h";
    for file in ["op_kernel/CMakeLists.txt", header] {
        let text = fs_err::read_to_string(operator.join(file)).expect("a text file");
        write(file, &text.replace("AddCustom", "StoreKVBlock"));
    }
    fs_err::remove_dir_all(operator.join("tests")).expect("golden data of another operator");
    let kernel = include_str!("survey/stored_rows_kernel.cpp");
    write(HOST, include_str!("survey/stored_rows_host.cpp"));
    let verified = |kernel: &str| {
        write(KERNEL, kernel);
        let ended = survey(tree.path(), work.path(), &["--only", "math/works", "--no-resume"]).expect(0);
        step(&ended, "math/works", "verify")
    };
    let (state, cause) = verified(kernel);
    if !python_has_numpy() {
        assert_eq!(cause, "no-reference: the operator has none");
        return;
    }
    assert_eq!((state.as_str(), cause.as_str()), ("passed", ": "));
    // One row too far, and a row too few.
    for (from, with) in [
        ("cache[(targets.GetValue(group) + at) * width]", "cache[(targets.GetValue(group) + at + 1) * width]"),
        ("int32_t at = 0; at", "int32_t at = 1; at"),
    ] {
        let (state, cause) = verified(&edited(kernel, from, with));
        assert!(state == "failed" && cause.starts_with("wrong-result"), "{with}: {state}, {cause}");
    }
}

#[test]
fn a_trial_that_takes_too_long_is_ended() {
    require_tools!();
    let (tree, work) = (tree(), tempfile::tempdir().expect("a temporary directory"));
    let options = ["--only", "nn/hangs", "--timeout-s", "1"];
    let ended = survey(tree.path(), work.path(), &options).expect(0);
    let outcome = ended.named("surveyed")[0];
    let steps = outcome["steps"].as_array().expect("steps");
    let last = steps.last().expect("a step");
    assert_eq!((&last["state"], &last["cause"]["kind"]), (&Value::from("failed"), &Value::from("time-out")));
}

#[test]
fn a_sample_is_the_same_for_the_same_seed() {
    require_tools!();
    let (tree, work) = (tree(), tempfile::tempdir().expect("a temporary directory"));
    let names = |seed: &str| {
        let options = ["--sample", "2", "--seed", seed, "--steps", "discover", "--no-resume"];
        let ended = survey(tree.path(), work.path(), &options).expect(0);
        let mut names: Vec<String> =
            ended.named("surveyed").iter().map(|one| one["operator"].as_str().unwrap_or_default().to_owned()).collect();
        names.sort();
        assert_eq!(ended.named("survey")[0]["left_out"], 7);
        names
    };
    assert_eq!(names("3"), names("3"));
    assert!((1..9).any(|seed| names(&seed.to_string()) != names("3")));
}

#[test]
fn a_tree_without_operators_is_a_usage_error() {
    let empty = tempfile::tempdir().expect("a temporary directory");
    let ended = survey(empty.path(), empty.path(), &[]).expect(2);
    assert!(ended.named("error")[0]["message"].as_str().is_some_and(|text| text.contains("op_kernel")));
}
