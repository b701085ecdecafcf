//! `lock show|diff|verify|migrate|export|accept`, `undo` and `apply`: no command here builds anything but the last.

use super::*;

fn git(project: &Project, arguments: &[&str]) -> Output {
    let mut git = Command::new("git");
    git.arg("-C").arg(project.path()).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
    git.args(arguments).output().expect("git runs")
}

/// The tuned project with the record of its run, committed.
fn recorded() -> Project {
    let project = copy_of_tuned();
    let record = "target/ascend-tune/result.json";
    fs_err::create_dir_all(project.path().join("target/ascend-tune")).expect("a folder");
    fs_err::copy(tuned().0.path().join(record), project.path().join(record)).expect("the run left a record");
    fs_err::write(project.path().join(".gitignore"), "target\n").expect("a file");
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "tuned"]] {
        assert!(git(&project, arguments).status.success(), "{arguments:?}");
    }
    project
}

fn sources(project: &Project) -> Vec<String> {
    GELU_SOURCES.iter().map(|file| project.read(file)).collect()
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array().expect("a list").iter().filter_map(|one| one[key].as_str()).map(str::to_owned).collect()
}

#[test]
fn locks_are_shown_compared_verified_and_exported() {
    require_tools!();
    let project = recorded();
    let ended = project.run(&["lock", "show"]).expect(0);
    let shown = only(&ended, "lock-shown");
    assert_eq!(
        (&shown["operator"], &shown["version"], &shown["origin"]),
        (&"GeluNaive".into(), &2.into(), &"modelled".into())
    );
    let changed: Vec<&Value> =
        shown["settings"].as_array().expect("a list").iter().filter(|one| one["value"] != one["default"]).collect();
    assert!(!changed.is_empty() || !names(&shown["steps"], "motif").is_empty(), "{shown}");
    assert!(
        shown["cases"]
            .as_array()
            .expect("cases")
            .iter()
            .all(|case| number(&case["tuned_us"]) <= number(&case["baseline_us"]))
    );

    assert_eq!(only(&project.run(&["lock", "diff"]).expect(0), "lock-diff")["differences"], serde_json::json!([]));
    let lock = project.read("ascend.lock");
    let old = lock.replace("version = 2\n", "version = 1\n");
    // Version 1 has nothing of this.
    let old: String = old
        .split("\n\n")
        .filter(|part| !part.starts_with("[defaults]") && !part.starts_with("[files]"))
        .collect::<Vec<_>>()
        .join("\n\n");
    let old: String =
        old.lines().filter(|line| !line.starts_with("gain_permille")).map(|line| format!("{line}\n")).collect();
    project.write("ascend.lock", &old);
    let differences = only(&project.run(&["lock", "diff", "HEAD"]).expect(0), "lock-diff")["differences"].clone();
    assert_eq!(names(&differences, "name"), ["format"], "{differences}");
    let migrated = project.run(&["lock", "migrate"]).expect(0);
    let said = only(&migrated, "lock-migrated");
    assert_eq!((&said["from"], &said["to"], &said["written"]), (&1.into(), &2.into(), &true.into()), "{said}");
    assert_eq!(only(&project.run(&["lock", "migrate"]).expect(0), "lock-migrated")["written"], false, "once");
    let without = |text: &str| {
        text.split("\n\n").filter(|part| !part.starts_with("[defaults]")).map(str::to_owned).collect::<Vec<_>>()
    };
    let again: Vec<String> = without(&lock)
        .iter()
        .map(|part| part.lines().filter(|line| !line.starts_with("gain")).collect::<Vec<_>>().join("\n"))
        .collect();
    let kept: Vec<String> =
        without(&project.read("ascend.lock")).iter().map(|part| part.lines().collect::<Vec<_>>().join("\n")).collect();
    assert_eq!(kept, again, "all but what the old format did not say");

    let verified = only(&project.run(&["lock", "verify"]).expect(0), "lock-verified").clone();
    assert_eq!(verified["verdict"], "same");
    assert_has(verified["proves"].as_str().expect("a sentence"), &["sources (3)", "are those that were locked"]);
    edit(&project, GELU_KERNEL, "0.044715f", "0.05f");
    let verified = only(&project.run(&["lock", "verify"]).expect(1), "lock-verified").clone();
    assert_has(&verified["findings"].to_string(), &[GELU_KERNEL, "was changed"]);

    let header = project.path().join("made/tuned.h");
    project.run(&["lock", "export", "--format", "header", "--out", &header.display().to_string()]).expect(0);
    assert_has(
        &fs_err::read_to_string(&header).expect("a header"),
        &["namespace GeluNaive", "constexpr int64_t TILE_LENGTH = "],
    );
    let bank = ["lock", "export", "--format", "bank", "--key", "rows=x.0", "--key", "kind=x.dtype", "--out"];
    let ended = project.run(&[&bank[..], &[&project.path().display().to_string()]].concat()).expect(0);
    let file = only(&ended, "written")["files"][0].as_str().expect("a path").to_owned();
    assert!(file.ends_with("_24_AiCore_GeluNaive_runtime_kb.json"), "{file}");
    for line in fs_err::read_to_string(&file).expect("a bank").lines() {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        assert!(entry["info_dict"]["rows"].is_u64() && entry["knowledge"]["TILE_LENGTH"].is_u64(), "{entry}");
    }
}

#[test]
fn a_run_is_undone_and_applied_by_steps_and_a_merged_lock_is_accepted() {
    require_tools!();
    let project = recorded();
    let (tuned_files, lock) = (sources(&project), project.read("ascend.lock"));
    let undone = project.run(&["undo"]).expect(0);
    let restored = only(&undone, "restored").clone();
    assert_eq!(restored["written"], true);
    let before = small_gelu();
    assert_eq!(sources(&project), sources(&before), "as before the run");
    assert!(!project.path().join("ascend.lock").exists(), "there was none");
    assert_has(&failure(&project.run(&["undo"]), 2), &["there is nothing to undo"]);

    project.run(&["apply"]).expect(0);
    assert_eq!((sources(&project), project.read("ascend.lock")), (tuned_files.clone(), lock.clone()));
    edit(&project, GELU_KERNEL, "0.044715f", "0.05f");
    let mine = sources(&project);
    assert_has(&failure(&project.run(&["undo"]), 2), &[GELU_KERNEL, "changed since the last run, nothing was written"]);
    assert_eq!(sources(&project), mine);
    edit(&project, GELU_KERNEL, "0.05f", "0.044715f");

    let steps = only(&project.run(&["apply", "--dry-run"]).expect(0), "restored")["steps"].clone();
    let alone =
        steps.as_array().expect("steps").iter().find(|step| step["alone"] == true).expect("a step that stands alone");
    let number = alone["number"].to_string();
    let applied = project.run(&["apply", "--only", &number]).expect(0);
    assert_has(&only(&applied, "restored")["next"].to_string(), &["lock accept"]);
    assert_has(&failure(&project.run(&["apply", "--only", "nothing"]), 2), &["`nothing` is no step", "1 "]);

    // As a merge with another tuned branch would leave it.
    let lock = project.read("ascend.lock");
    let line = lock.lines().find(|line| line.starts_with("tuned_ps")).expect("a case");
    let merged = lock.replacen(line, &format!("<<<<<<< HEAD\n{line}\n=======\ntuned_ps = 1\n>>>>>>> other"), 1);
    project.write("ascend.lock", &merged);
    assert_has(
        &failure(&project.run(&["check"]), 1),
        &["a merge of `HEAD` and `other`", "`cargo ascend-tune lock accept`"],
    );
    let accepted = project.run(&["lock", "accept"]).expect(0);
    assert_has(&only(&accepted, "lock")["changes"].to_string(), &["both sides of a merge"]);
    assert_eq!(only(&project.run(&["lock", "verify"]).expect(0), "lock-verified")["verdict"], "same");
}

#[test]
fn another_chip_has_its_values_in_the_lock_alone() {
    require_tools!();
    let project = recorded();
    let (before, own) = (sources(&project), project.read("ascend.lock"));
    let ended = project.run(&["run", "--soc", "ascend910b4", "--budget", "6", "--allow-dirty"]).expect(0);
    assert!(ended.named("warning").iter().any(|warning| warning["code"] == "other-chip"));
    assert_eq!(sources(&project), before, "they are of the chip that ascend.toml names");
    let several = project.read("ascend.lock");
    assert_has(&several, &["version = 3\n", "\n[[other]]\n", "\n[other.machine]\nname = \"Ascend910B4\"\n"]);
    assert_has(&failure(&project.run(&["run", "--soc", "ascend910b4", "--stage", "kernel"]), 2), &["--stage kernel"]);

    // Both are checked, each on its own machine, and a build takes the values of the one that is named.
    let checked = project.run(&["check"]).expect(0);
    let machines: Vec<Value> = checked.named("check").iter().map(|check| check["machine"].clone()).collect();
    assert_eq!(machines, ["Ascend910B2", "Ascend910B4"]);
    let rows = only(&checked, "checks")["operators"].clone();
    assert_eq!(names(&rows, "soc"), ["ascend910b2:modelled", "ascend910b4:modelled"]);
    let build = ["build", "--locked", "--dry-run", "--soc", "Ascend910B4"];
    let built = only(&project.run(&build).expect(0), "build")["configuration"].clone();
    let locked = lock::read(&project.path().join("ascend.lock")).expect("a lock");
    let entry = locked.named(Some(&"ascend910b4".parse().expect("a name")), project.path()).expect("an entry");
    assert_eq!(built, serde_json::to_value(&entry.configuration).expect("values"));
    assert_has(
        &failure(&project.run(&["build", "--locked", "--soc", "ascend910b1"]), 1),
        &["no entry for ascend910b1"],
    );
    let shown = project.run(&["lock", "show", "--soc", "ascend910b4"]).expect(0);
    assert_has(
        &only(&shown, "lock-shown")["others"].to_string(),
        &["ascend910b2:modelled, whose values the sources hold"],
    );

    // A rehearsal of measured times: the same is the same, as far as pairs of runs can tell.
    let noisy = project.run(&["check", "--soc", "ascend910b2", "--backend", "recorded", "--noise", "2"]).expect(0);
    let check = only(&noisy, "check").clone();
    let mut timed =
        check["cases"].as_array().expect("cases").iter().filter(|case| !case["locked_us"].is_null()).peekable();
    assert!(timed.peek().is_some() && timed.all(|case| number(&case["pairs"]) >= 15.0), "{check}");
    assert_has(&check["timed"].to_string(), &["2.0 % of noise", "against the locked times"]);
    // What is slower is run in turn with what was locked, which git has.
    let fresh = Project::fixture("gelu_naive");
    for file in GELU_SOURCES {
        project.write(file, &fresh.read(file));
    }
    let noisy = project.run(&["check", "--soc", "ascend910b2", "--backend", "recorded", "--noise", "2"]).expect(1);
    let check = only(&noisy, "check");
    assert_has(&check["timed"].to_string(), &["in turn with the sources that were locked, as they were committed"]);
    assert!(names(&check["cases"], "verdict").contains(&"regressed".to_owned()), "{check}");
    GELU_SOURCES.iter().zip(&before).for_each(|(file, tuned)| project.write(file, tuned));

    project.run(&["undo"]).expect(0);
    assert_eq!((project.read("ascend.lock"), sources(&project)), (own, before));
    project.write("ascend.lock", &several);
    edit(&project, GELU_KERNEL, "0.044715f", "0.05f");
    let verified = project.run(&["lock", "verify"]).expect(1);
    let verdicts: Vec<Value> = verified.named("lock-verified").iter().map(|one| one["verdict"].clone()).collect();
    assert_eq!(verdicts, ["drifted", "drifted"]);
}

#[test]
fn the_hook_stops_a_commit_of_what_drifted() {
    require_tools!();
    let project = recorded();
    let ended = project.run(&["init", "--hook"]).expect(0);
    assert_has(&only(&ended, "written")["files"].to_string(), &["hooks/pre-commit"]);
    let programs = project.path().join("target/programs");
    fs_err::create_dir_all(&programs).expect("a folder");
    std::os::unix::fs::symlink(crate::support::TOOL, programs.join("cargo-ascend-tune")).expect("a link");
    let commit = || {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut git = Command::new("git");
        git.arg("-C").arg(project.path()).args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
        ]);
        git.args(["commit", "-q", "-a", "-m", "more"]).env("PATH", format!("{}:{path}", programs.display()));
        git.output().expect("git runs")
    };
    let text = project.read(GELU_KERNEL);
    project.write(GELU_KERNEL, &format!("// why\n{text}"));
    let ran = commit();
    assert!(ran.status.success(), "a comment is no drift: {ran:?}");
    edit(&project, GELU_KERNEL, "0.044715f", "0.05f");
    let ran = commit();
    assert!(!ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains(GELU_KERNEL), "{ran:?}");
    project.write(".git/hooks/pre-commit", "#!/bin/sh\n# mine\n");
    assert_has(&failure(&project.run(&["init", "--hook"]), 2), &["is there already", "--force"]);
}
