//! `check`: its verdicts against the lock, and locking a change on purpose.

use super::*;

fn verdict(ended: &Ended) -> (&Value, &Value) {
    let check = only(ended, "check");
    assert_eq!(ended.events.last(), Some(check));
    (&check["verdict"], &check["cases"][0])
}

fn drift(ended: &Ended) -> String {
    let drift = only(ended, "check")["drift"].as_array().expect("a list").clone();
    drift.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

#[test]
fn it_passes_right_after_a_run() {
    require_tools!();
    let ended = copy_of_tuned().run(&["check"]).expect(0);
    let (verdict, case) = verdict(&ended);
    assert_eq!(verdict, "ok");
    assert_eq!(case["verdict"], "ok");
    assert_eq!(case["now_us"], case["locked_us"]);
    assert_eq!(number(&case["ratio"]), 1.0);
    assert!(ended.named("warning").is_empty(), "{:?}", ended.named("warning"));
}

#[test]
fn an_edited_constant_is_named() {
    require_tools!();
    let project = copy_of_tuned();
    let text = project.read(GELU_HOST);
    let line = text.lines().find(|line| line.contains("TILE_LENGTH =")).expect("a tile constant");
    edit(&project, GELU_HOST, line, "constexpr uint32_t TILE_LENGTH = 64;");
    let ended = project.run(&["check"]).expect(1);
    let (verdict, case) = verdict(&ended);
    assert_eq!((verdict, &case["verdict"]), (&"regressed".into(), &"regressed".into()));
    assert!(number(&case["ratio"]) > 1.03);
    assert_has(&drift(&ended), &[GELU_HOST, "TILE_LENGTH", "64"]);
}

#[test]
fn comments_and_white_space_are_no_drift() {
    require_tools!();
    let project = copy_of_tuned();
    let text = project.read(GELU_KERNEL);
    project.write(GELU_KERNEL, &format!("// why\n\n{text}\n   // the end\n"));
    let manifest = project.read("ascend.toml");
    project.write("ascend.toml", &format!("# ours\n{manifest}\n\n"));
    let ended = project.run(&["check"]).expect(0);
    assert_eq!(only(&ended, "check")["drift"], serde_json::json!([]));
    project.run(&["build", "--locked"]).expect(0);
}

#[test]
fn an_output_that_changes_is_told_with_how_far_it_is_off_and_can_be_locked_on_purpose() {
    require_tools!();
    let project = copy_of_tuned();
    edit(&project, GELU_KERNEL, "0.044715f", "0.05f");
    let ended = project.run(&["check"]).expect(1);
    assert_eq!(only(&ended, "check")["verdict"], "different");
    // What the run kept was not copied, but the lock knows which output it is.
    assert_has(&only(&ended, "check")["differences"].to_string(), &["case 32x1024: output y is not what was locked"]);

    let before = project.read("ascend.lock");
    let shown = project.run(&["lock"]).expect(0);
    assert_eq!(only(&shown, "lock")["written"], false);
    assert_eq!(project.read("ascend.lock"), before);
    let accepted = project.run(&["lock", "--accept"]).expect(0);
    assert_eq!(only(&accepted, "lock")["written"], true);
    assert_has(&only(&accepted, "lock")["changes"].to_string(), &[GELU_KERNEL, "output y"]);
    let after = project.read("ascend.lock");
    let line = |text: &str, key: &str| text.lines().find(|line| line.starts_with(key)).map(str::to_owned);
    assert_eq!(line(&after, "baseline_ps"), line(&before, "baseline_ps"));
    assert_eq!(after.matches("[[motif]]").count(), before.matches("[[motif]]").count());
    assert_has(&after, &["[[accepted]]"]);
    project.run(&["check"]).expect(0);
    let again = project.run(&["lock", "--accept"]).expect(0);
    assert_eq!(only(&again, "lock")["written"], false, "nothing to take over");
    edit(&project, GELU_KERNEL, "0.05f", "0.06f");
    let said = only(&project.run(&["check"]).expect(1), "check")["differences"].to_string();
    assert_has(&said, &["case 32x1024: output y: ", "elements differ, most at index", "was locked, now", "off by"]);
}

#[test]
fn code_without_effect_is_drift_without_regression() {
    require_tools!();
    let project = copy_of_tuned();
    let text = project.read(GELU_KERNEL);
    project.write(GELU_KERNEL, &format!("{text}constexpr int UNUSED = 1;\n"));
    let ended = project.run(&["check"]).expect(1);
    let (verdict, case) = verdict(&ended);
    assert_eq!((verdict, &case["verdict"]), (&"drifted".into(), &"ok".into()));
    assert_eq!(drift(&ended), format!("{GELU_KERNEL} was changed"));
    let ended = project.run(&["build", "--locked"]).expect(1);
    assert_has(only(&ended, "warning")["message"].as_str().expect("text"), &[GELU_KERNEL]);
    assert_has(&failure(&ended, 1), &["ascend.lock is stale", GELU_KERNEL, "lock --accept", "without --locked"]);
    project.run(&["build"]).expect(0);
}

#[test]
fn a_header_that_tuning_may_not_edit_is_part_of_what_is_locked() {
    require_tools!();
    let project = copy_of_tuned();
    fs_err::create_dir(project.path().join("common")).expect("a folder");
    project.write("common/scale.h", "constexpr float SCALE = 0.044715f;\n");
    edit(
        &project,
        GELU_KERNEL,
        "#include \"kernel_operator.h\"",
        "#include \"kernel_operator.h\"\n#include \"../common/scale.h\"",
    );
    edit(&project, GELU_KERNEL, "0.044715f", "SCALE");
    project.run(&["lock", "--accept"]).expect(0);
    assert_has(&project.read("ascend.lock"), &["[included]", "common/scale.h"]);
    project.run(&["check"]).expect(0);
    project.write("common/scale.h", "// Of the approximation.\nconstexpr float SCALE = 0.044715f;\n");
    project.run(&["build", "--locked"]).expect(0);

    project.write("common/scale.h", "constexpr float SCALE = 0.044715f;\nconstexpr int UNUSED = 1;\n");
    let ended = project.run(&["check"]).expect(1);
    assert_eq!((verdict(&ended).0, drift(&ended).as_str()), (&"drifted".into(), "common/scale.h was changed"));
    let ended = project.run(&["build", "--locked"]).expect(1);
    assert_has(only(&ended, "warning")["message"].as_str().expect("text"), &["common/scale.h"]);
    project.write("common/scale.h", "constexpr float SCALE = 0.05f;\n");
    assert_eq!(verdict(&project.run(&["check"]).expect(1)).0, "different");
}

/// Killed while it wrote the winner: whatever command comes next finds the lock.
#[test]
fn a_write_back_that_was_cut_short_is_carried_to_its_end_before_the_lock_is_read() {
    require_tools!();
    for command in [&["check"][..], &["lock"], &["run", "--dry-run", "--budget", "1", "--stage", "host"]] {
        let project = copy_of_tuned();
        let lock = project.read("ascend.lock");
        fs_err::remove_file(project.path().join("ascend.lock")).expect("it is there");
        fs_err::create_dir_all(project.path().join("target/ascend-tune")).expect("a folder");
        let plan = serde_json::json!({ "ascend.lock": { "before": null, "after": lock } });
        project.write("target/ascend-tune/write-back.json", &plan.to_string());
        let ended = project.run(command).expect(0);
        assert_eq!(project.read("ascend.lock"), lock);
        if command[0] == "run" {
            let warning = ended.named("warning").into_iter().find(|warning| warning["code"] == "write-back-completed");
            assert_has(
                &warning.expect("it begins with something else").to_string(),
                &["ascend.lock", "begins with it"],
            );
        }
    }
}

#[test]
fn removed_double_buffering_is_found() {
    require_tools!();
    let project = Project::fixture("add_custom");
    edit(&project, "ascend.toml", "[8, 2048]", "[64, 8192]");
    let fixed = ["--set", "BUFFER_NUM=2", "--set", "TILE_NUM=8"];
    project.run(&[&["run", "--budget", "8", "--seed", "1", "--stage", "host"][..], &fixed].concat()).expect(0);
    project.run(&["check"]).expect(0);
    for (file, kind) in [("op_host/add_custom.cpp", "uint32_t"), ("op_kernel/add_custom.cpp", "int32_t")] {
        edit(&project, file, &format!("{kind} BUFFER_NUM = 2"), &format!("{kind} BUFFER_NUM = 1"));
    }
    // Tiles stay as long as they were; longer ones would hide what is lost.
    edit(&project, "op_host/add_custom.cpp", "TILE_NUM = 8", "TILE_NUM = 16");
    let ended = project.run(&["check"]).expect(1);
    let (_, case) = verdict(&ended);
    assert_eq!(case["verdict"], "regressed", "{case}");
    assert_has(
        &drift(&ended),
        &["op_host/add_custom.cpp", "op_kernel/add_custom.cpp", "BUFFER_NUM was 2 and is now 1"],
    );
}

#[test]
fn a_case_that_crashes_is_wrong_and_the_others_are_checked() {
    require_tools!();
    let project = copy_of_tuned();
    let manifest = project.read("ascend.toml");
    let start = manifest.find("[[case]]").expect("a case");
    let case = manifest[start..].split("\n\n").next().expect("its lines").to_owned();
    let small = format!("{}\n\n", case.replace("32x1024", "32x512").replace("[32, 1024]", "[32, 512]"));
    assert_ne!(small.trim(), case.trim());
    project.write("ascend.toml", &manifest.replacen(&case, &format!("{small}{case}"), 1));
    project.run(&["lock", "--accept"]).expect(0);
    // Only the new one, which runs first, has so few elements.
    edit(
        &project,
        GELU_HOST,
        "tiling.set_totalLength",
        "if (totalLength == 32 * 512) {\n        __builtin_trap();\n    }\n    tiling.set_totalLength",
    );
    let ended = project.run(&["check"]).expect(1);
    let check = only(&ended, "check");
    assert_eq!(check["verdict"], "wrong");
    let verdicts: Vec<_> =
        check["cases"].as_array().expect("a list").iter().map(|case| (&case["name"], &case["verdict"])).collect();
    let row = |name: &str, verdict: &str| (Value::from(name), Value::from(verdict));
    let expected = [row("32x1024", "ok"), row("32x512", "wrong"), row("odd-7x333", "ok")];
    assert!(verdicts.iter().copied().eq(expected.iter().map(|(name, verdict)| (name, verdict))), "{check}");
    assert_eq!(check["differences"], Value::Null, "{check}");
    assert_has(&only(&ended, "warning")["message"].to_string(), &["32x512", "SIGILL"]);
}

#[test]
fn a_lock_that_cannot_be_used_is_explained() {
    require_tools!();
    let project = copy_of_tuned();
    let lock = project.read("ascend.lock");
    project.write("ascend.lock", &lock.replace("[machine]", "?\n[machine]"));
    let place = format!("ascend.lock:{}:", line_of(&lock, "[machine]"));
    assert_has(&failure(&project.run(&["check"]), 1), &[&place, "restore the file"]);
    project.write("ascend.lock", &lock.replace("version = 2\n", "version = 99\n"));
    assert_has(&failure(&project.run(&["check"]), 1), &["99", "update cargo-ascend-tune"]);
    fs_err::remove_file(project.path().join("ascend.lock")).expect("it is there");
    for command in [&["check"][..], &["build", "--locked"]] {
        assert_has(&failure(&project.run(command), 1), &["no lock file", "cargo ascend-tune run"]);
    }
    for command in [&["lock"][..], &["lock", "--accept"]] {
        assert_has(
            &failure(&project.run(command), 2),
            &["there is no lock", "`cargo ascend-tune run` writes the first one"],
        );
    }
}
