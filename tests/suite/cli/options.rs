//! Options that several commands share.

use super::*;

fn task_us(ended: &Ended) -> f64 {
    number(&only(ended, "profile")["task_us"])
}

#[test]
fn set_fixes_a_tunable() {
    require_tools!();
    let project = small_gelu();
    let before = task_us(&project.run(&["profile"]).expect(0));
    let after = task_us(&project.run(&["profile", "--set", "BLOCK_DIM=8"]).expect(0));
    assert!(after < before / 4.0, "{after} after {before}");
    let ended = project.run(&["run", "--budget", "4", "--stage", "host", "--set", "BLOCK_DIM=8"]).expect(0);
    assert!(ended.named("evaluation").iter().all(|event| event["configuration"]["BLOCK_DIM"] == 8));
    assert_has(&project.read(GELU_HOST), &["BLOCK_DIM = 8;"]);
    assert_has(&failure(&project.run(&["profile", "--set", "BLOKC_DIM=8"]), 2), &["BLOKC_DIM", "BLOCK_DIM"]);
}

#[test]
fn case_selects() {
    require_tools!();
    let project = small_gelu();
    let second = "[[case]]\nname = \"second\"\ninputs = [{ name = \"x\", dtype = \"float32\", shape = [300], range = [0.0, 1.0] }]\noutputs = [{ name = \"y\", dtype = \"float32\" }]\n\n[[case]]\nname = \"odd-7x333\"";
    edit(&project, "ascend.toml", "[[case]]\nname = \"odd-7x333\"", second);
    assert_eq!(project.run(&["profile"]).expect(0).named("profile").len(), 2);
    assert_eq!(only(&project.run(&["profile", "--case", "second"]).expect(0), "profile")["case"], "second");
    let message = failure(&project.run(&["profile", "--case", "third"]), 2);
    assert_has(&message, &["third", "second", "odd-7x333"]);
}

#[test]
fn definitions_reach_cmake() {
    require_tools!();
    let project = small_gelu();
    let text = project.read("CMakeLists.txt");
    let demand = "if(NOT FLAVOUR STREQUAL \"sweet\")\n  message(FATAL_ERROR \"FLAVOUR is ${FLAVOUR}\")\nendif()\n";
    project.write("CMakeLists.txt", &format!("{text}{demand}"));
    assert_has(&failure(&project.run(&["profile"]), 4), &["FLAVOUR is"]);
    project.run(&["profile", "-D", "FLAVOUR=sweet"]).expect(0);
}

#[test]
fn the_machine_is_a_name_or_a_file() {
    require_tools!();
    let project = small_gelu();
    let profile = |machine: &str| project.run(&["profile", "--machine", machine, "--set", "BLOCK_DIM=48"]);
    let named = profile("ascend910b1").expect(0);
    assert_eq!(only(&named, "profile")["machine"], "Ascend910B1");
    project.write("slow.toml", "extends = \"ascend910b2\"\nname = \"Slow\"\nversion = \"7\"\n");
    let extended = profile("slow.toml").expect(0);
    assert_eq!(
        (&only(&extended, "start")["machine"], &only(&extended, "start")["machine_version"]),
        (&"Slow".into(), &"7".into())
    );
    failure(&profile("ascend310"), 2);
    project.write("slow.toml", "extends = \"ascend910b2\"\nname = \n");
    assert_has(&failure(&profile("slow.toml"), 2), &["slow.toml:2"]);
    failure(&profile("absent.toml"), 2);
}

#[test]
fn colour_is_a_choice() {
    require_tools!();
    let project = small_gelu();
    let has_escapes = |words: &[&str]| {
        let output = human(&project, words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].concat().contains(&0x1b)
    };
    assert!(has_escapes(&["profile", "--color", "always"]));
    assert!(!has_escapes(&["profile", "--color", "never"]));
    assert!(!has_escapes(&["profile"]), "a pipe is no terminal");
}

#[test]
fn quiet_says_only_results_and_errors() {
    require_tools!();
    let project = small_gelu();
    let output = human(&project, &["profile", "-q"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_has(&String::from_utf8_lossy(&output.stdout), &["32x1024", "modelled"]);
    let refused = human(&project, &["profile", "-q", "--case", "none"]);
    assert_eq!(refused.status.code(), Some(2));
    assert_has(&String::from_utf8_lossy(&refused.stderr), &["error", "none"]);
}

#[test]
fn patches_are_tried_before_all_others_and_the_user_hears_what_became_of_them() {
    require_tools!();
    let project = small_gelu();
    fs_err::create_dir_all(project.path().join("patches")).expect("writable");
    let kernel = project.read("op_kernel/gelu_naive.cpp");
    let line = "        AscendC::Add(poly, poly, ones, count);";
    let number = kernel.lines().position(|text| text == line).expect("the addition") + 1;
    let patch = |name: &str, instead: &str| {
        let file = "op_kernel/gelu_naive.cpp";
        let text = format!("--- a/{file}\n+++ b/{file}\n@@ -{number} +{number} @@\n-{line}\n+{instead}\n");
        project.write(&format!("patches/{name}.patch"), &text);
    };
    patch("useless", "        AscendC::Adds(poly, poly, 1.0f, count);");
    patch("broken", "        AscendC::Adds(poly, poly, 1.0f, count;");
    patch("wrong", "        AscendC::Adds(poly, poly, 2.0f, count);");
    let run = ["run", "--dry-run", "--stage", "kernel", "--budget", "2"];
    let patches = project.path().join("patches").display().to_string();
    let ended = project.run(&[&run[..], &["--patch", &patches]].concat()).expect(0);
    let tried: Vec<&str> = ended.named("evaluation").iter().filter_map(|event| event["motif"].as_str()).collect();
    assert_eq!(tried, ["useless.patch", "wrong.patch"]);
    let told = |name: &str| {
        let of_name = |event: &&Value| event["message"].as_str().is_some_and(|text| text.starts_with(name));
        let found = ended.named("warning").into_iter().find(of_name);
        found.map(|event| (event["code"].as_str().unwrap_or_default().to_owned(), event["message"].to_string()))
    };
    let (code, message) = told("broken.patch").expect("it does not parse");
    assert!(code == "patch-refused" && message.contains("code that does not parse"), "{message}");
    let (code, message) = told("wrong.patch").expect("its results are wrong");
    assert!(code == "patch-refused" && message.contains("wrong result"), "{message}");
    let (code, message) = told("useless.patch").expect("the loop before it takes the time");
    assert!(code == "patch-not-taken" && message.contains("1.00x"), "{message}");

    project.write("patches/wrong.patch", "nothing");
    let refused = failure(&project.run(&[&run[..], &["--patch", &patches]].concat()), 2);
    assert_has(&refused, &["wrong.patch", "not a unified diff"]);
}
