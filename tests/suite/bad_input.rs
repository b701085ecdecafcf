//! What a user may get wrong, and what must not be read over: an error that names it, before anything is built.

use crate::support::{Ended, Project, require_tools};

/// Runs a command on GeluNaive with an edit of its manifest.
fn with_manifest(from: &str, to: &str, arguments: &[&str]) -> Ended {
    let project = Project::fixture("gelu_naive");
    let manifest = project.read("ascend.toml");
    assert!(manifest.contains(from), "{from}");
    let small = manifest.replacen(from, to, 1).replace("[1024, 1024]", "[32, 1024]");
    project.write("ascend.toml", &small);
    project.run(arguments)
}

/// All that a command said.
fn said(ended: &Ended) -> String {
    let events: Vec<String> = ended.events.iter().map(ToString::to_string).collect();
    format!("{}{}", ended.stderr, events.join("\n"))
}

fn refuses(from: &str, to: &str, what: &str) {
    let ended = with_manifest(from, to, &["run", "--budget", "2", "--dry-run"]);
    assert_eq!(ended.code, 2, "{to}: {}", said(&ended));
    assert!(said(&ended).contains(what), "{to}: {}", said(&ended));
}

#[test]
fn names_that_are_paths_are_refused() {
    refuses("name = \"1024x1024\"", "name = \"../outside\"", "`../outside` cannot be a name");
    refuses("name = \"1024x1024\"", "name = \"/abs\"", "`/abs` cannot be a name");
    refuses("{ name = \"x\"", "{ name = \"../../x\"", "`../../x` cannot be a name");
}

#[test]
fn what_nobody_can_wait_for_is_refused() {
    refuses("run-timeout-s = 60.0", "run-timeout-s = 1e300", "at most 86400");
}

#[test]
fn a_kernel_that_is_not_there_is_not_replaced_by_another() {
    refuses("kernel = \"gelu_naive\"", "kernel = \"gelu_fast\"", "there is no kernel `gelu_fast`; found: gelu_naive");
}

#[test]
fn constraints_that_nothing_fulfils_are_no_exhausted_space() {
    require_tools!();
    for (constraint, what) in [("1 == 2", "`1 == 2` does not hold"), ("1 / 0 == 1", "division by zero")] {
        let project = Project::fixture("gelu_naive");
        let manifest = project.read("ascend.toml").replace("[1024, 1024]", "[32, 1024]");
        let space = format!("[space]\nconstraints = [\"{constraint}\"]\n");
        let manifest = match manifest.contains("[space]") {
            true => manifest.replacen("[space]\n", &space, 1).replacen("\nconstraints = []", "", 1),
            false => format!("{manifest}\n{space}"),
        };
        project.write("ascend.toml", &manifest);
        let ended = project.run(&["run", "--budget", "2", "--dry-run"]);
        assert_eq!(ended.code, 2, "{constraint}: {}", said(&ended));
        assert!(said(&ended).contains("no configuration fulfils the constraints"), "{}", said(&ended));
        assert!(said(&ended).contains(what), "{}", said(&ended));
    }
}

#[test]
fn a_tunable_whose_constant_is_gone_is_named() {
    require_tools!();
    let run = ["run", "--budget", "1", "--dry-run", "--stage", "host"];
    let ended = with_manifest("constant = \"TILE_LENGTH\"", "constant = \"TILE_LENGHT\"", &run).expect(0);
    let named = |event: &&serde_json::Value| {
        event["code"] == "tunable-missing" && event["message"].as_str().is_some_and(|text| text.contains("TILE_LENGHT"))
    };
    assert!(ended.named("warning").iter().any(named), "{:?}", ended.named("warning"));
}

#[test]
fn a_manifest_that_is_no_text_and_a_trace_that_goes_nowhere() {
    let project = Project::fixture("gelu_naive");
    std::fs::write(project.path().join("ascend.toml"), [0xff, 0xfe, 0x00]).expect("written");
    let ended = project.run(&["profile"]);
    assert_eq!(ended.code, 2, "{}", said(&ended));

    let project = Project::fixture("gelu_naive");
    let ended = project.run(&["profile", "--trace", "nowhere/at/all.json"]);
    assert_eq!(ended.code, 2, "{}", said(&ended));
    assert!(said(&ended).contains("there is no folder"), "{}", said(&ended));
}
