//! `profile --timing-only`: the same profile without data, or the line that reads some.

use serde_json::Value;

use crate::support::{Project, require_tools, tool};

/// Profiles of the fixture's cases without what is said of their outputs.
fn profiles(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let ended = project.run(&[&["profile"], arguments].concat()).expect(0);
    // That a small case is mostly launch is no matter of data.
    let others: Vec<&Value> =
        ended.named("warning").into_iter().filter(|warning| warning["code"] != "launch-bound").collect();
    assert!(others.is_empty(), "{others:?}");
    let without_verdict = |event: &&Value| {
        let mut event = (*event).clone();
        let fields = event.as_object_mut().expect("an object");
        for verdict in ["correct", "checked", "timing_only", "time"] {
            fields.remove(verdict);
        }
        event
    };
    ended.named("profile").iter().map(without_verdict).collect()
}

#[test]
fn profiles_are_the_same_to_the_bit_without_data() {
    require_tools!();
    for fixture in ["add_custom", "group_quant/careful", "leaky_relu_backward/careful"] {
        let project = Project::fixture(fixture);
        let timed = profiles(&project, &["--timing-only"]);
        assert!(!project.path().join("target/ascend-tune/data").exists(), "{fixture}: no inputs are made");
        assert!(!timed.is_empty());
        assert_eq!(timed, profiles(&project, &[]), "{fixture}");
    }
}

#[test]
fn a_profile_without_data_says_that_nothing_was_verified() {
    require_tools!();
    let project = Project::fixture("add_custom");
    let ended = project.run(&["profile", "--timing-only"]).expect(0);
    let profile = ended.named("profile")[0];
    assert_eq!((&profile["timing_only"], &profile["correct"]), (&Value::Bool(true), &Value::Null));
    let mut people = tool();
    people.args(["profile", "--timing-only", "--project"]).arg(project.path());
    let told = String::from_utf8(people.output().expect("the tool runs").stdout).expect("text");
    assert!(told.contains("outputs were not computed, nothing is verified"), "{told}");
}

/// Runs a kernel that needs data: it is run with data, and the warning names the line with `code` and says `reason`.
fn assert_needs_data(project: &Project, file: &str, code: &str, reason: &str) {
    let ended = project.run(&["profile", "--timing-only"]).expect(0);
    let warning = ended.named("warning")[0];
    assert_eq!(warning["code"], "needs-data");
    let line = project.read(file).lines().position(|line| line.contains(code)).expect("the line is there") + 1;
    let message = warning["message"].as_str().expect("a text");
    assert!(message.ends_with(&format!("{reason} at {file}:{line}")), "{message}");
    for profile in ended.named("profile") {
        assert_eq!((&profile["correct"], &profile["timing_only"]), (&Value::Bool(true), &Value::Null), "with data");
    }
}

#[test]
fn kernels_that_read_data_are_told_the_line_and_run_with_data() {
    require_tools!();
    let project = Project::fixture("gelu_naive");
    let manifest = project.read("ascend.toml").replace("[1024, 1024]", "[64, 1024]");
    project.write("ascend.toml", &manifest);
    assert_needs_data(&project, "op_kernel/gelu_naive.cpp", "GetValue", "the scalar unit reads 4 bytes of UB");
    let project = Project::fixture("transpose/beginner");
    assert_needs_data(&project, "op_kernel/transpose.h", "Gather(", "vgather reads at offsets from memory");
}

#[test]
fn a_tiling_function_that_reads_values_needs_data() {
    require_tools!();
    let project = Project::fixture("add_custom");
    let tiling = project.read("op_host/add_custom.cpp");
    let last = "    context->SetBlockDim(BLOCK_DIM);\n";
    let read = "    if (context->GetInputTensor(0)->GetData<uint16_t>()[0] == 0x7C00) { return ge::GRAPH_FAILED; }\n";
    let reading = tiling.replace(last, &format!("{read}{last}"));
    assert_ne!(reading, tiling);
    project.write("op_host/add_custom.cpp", &reading);
    let ended = project.run(&["profile", "--timing-only"]).expect(0);
    let message = ended.named("warning")[0]["message"].as_str().expect("a text");
    assert!(message.ends_with("data: input 'x' is read while running the tiling function"), "{message}");
    assert_eq!(ended.named("profile")[0]["correct"], true, "with data");
}

#[test]
fn hazards_that_need_no_data_are_found_without() {
    require_tools!();
    let project = Project::fixture("add_custom");
    let kernel = project.read("op_kernel/add_custom.cpp");
    let add = "AscendC::Add(zLocal, xLocal, yLocal, this->tileLength);\n";
    let hand_over = "        outQueueZ.EnQue(zLocal);\n";
    let racing = kernel.replace(&format!("{add}{hand_over}"), &format!("{}\n        {add}", hand_over.trim()));
    assert_ne!(racing, kernel);
    project.write("op_kernel/add_custom.cpp", &racing);
    let with = project.run(&["profile"]);
    let without = project.run(&["profile", "--timing-only"]);
    assert_eq!(without.code, 5, "{without:?}");
    assert_eq!(with.code, 5, "{with:?}");
    assert_eq!(with.named("profile")[0]["hazards"], without.named("profile")[0]["hazards"]);
}
