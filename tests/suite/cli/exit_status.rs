//! Exit statuses, and what is said with them.

use super::*;

#[test]
fn wrong_arguments_are_2() {
    for words in [&["run", "--frobnicate"][..], &["run", "--budget", "none"], &[]] {
        let output = tool().args(words).output().expect("the tool runs");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_broken_manifest_is_2_with_its_place() {
    let project = Project::fixture("gelu_naive");
    let text = project.read("ascend.toml");
    let line = line_of(&text, "domain = { range = [1, 48, 1] }");
    edit(&project, "ascend.toml", "domain = { range = [1, 48, 1] }", "domain = { range = [48, 1, 1] }");
    assert_has(&failure(&project.run(&["run"]), 2), &[&format!("ascend.toml:{line}:")]);
    project.write("ascend.toml", &text.replace("[check]", "[chekc]"));
    assert_has(&failure(&project.run(&["run"]), 2), &[&format!("ascend.toml:{}:", line_of(&text, "[check]"))]);
    project.write("ascend.toml", "[operator\n");
    assert_has(&failure(&project.run(&["profile"]), 2), &["ascend.toml:1:"]);
}

#[test]
fn a_kernel_that_does_not_compile_is_4() {
    require_tools!();
    let project = small_gelu();
    let line = line_of(&project.read(GELU_KERNEL), "AscendC::Exp(poly");
    edit(&project, GELU_KERNEL, "AscendC::Exp(poly", "AscendC::Expo(poly");
    for command in [&["run", "--budget", "2"][..], &["check"], &["build"], &["profile"]] {
        if command[0] == "check" {
            project.write("ascend.lock", &tuned().0.read("ascend.lock"));
        }
        assert_has(&failure(&project.run(command), 4), &[&format!("{GELU_KERNEL}:{line}"), "Expo"]);
    }
}

#[test]
fn host_code_that_does_not_compile_is_4() {
    require_tools!();
    let project = small_gelu();
    let line = line_of(&project.read(GELU_HOST), "tiling.set_tileLength(TILE_LENGTH);");
    edit(&project, GELU_HOST, "tiling.set_tileLength(TILE_LENGTH);", "tiling.set_tileLen(TILE_LENGTH);");
    assert_has(&failure(&project.run(&["run", "--budget", "2"]), 4), &[&format!("{GELU_HOST}:{line}")]);
}

#[test]
fn a_cmake_error_is_4() {
    require_tools!();
    let project = small_gelu();
    let text = project.read("CMakeLists.txt");
    project.write("CMakeLists.txt", &format!("{text}no_such_command()\n"));
    let place = format!("CMakeLists.txt:{}", text.lines().count() + 1);
    assert_has(&failure(&project.run(&["run", "--budget", "2"]), 4), &[&place, "no_such_command"]);
}

#[test]
fn a_baseline_with_a_hazard_is_5() {
    require_tools!();
    let project = small_gelu();
    edit(
        &project,
        GELU_KERNEL,
        "count * sizeof(float)), 0, 0, 0};\n        AscendC::DataCopyPadExt",
        "count * sizeof(float) + 32), 0, 0, 0};\n        AscendC::DataCopyPadExt",
    );
    let line = line_of(&project.read(GELU_KERNEL), "DataCopyPad(xLocal");
    assert_has(&failure(&project.run(&["run", "--budget", "2"]), 5), &[&format!("{GELU_KERNEL}:{line}")]);
    let ended = project.run(&["profile"]).expect(5);
    let profile = only(&ended, "profile");
    assert_eq!(
        (&profile["correct"], &profile["wrong"]),
        (&false.into(), &"it has a hazard that no candidate may have".into())
    );
    assert_eq!((&profile["hazards"][0]["file"], &profile["hazards"][0]["line"]), (&GELU_KERNEL.into(), &line.into()));
}

#[test]
fn a_missing_cmake_is_3_with_the_way_to_get_it() {
    require_tools!();
    let project = small_gelu();
    let fix = ["pip install cmake", "ASCEND_TUNE_CMAKE"];
    let mut named = project.command(&["profile"]);
    named.env("ASCEND_TUNE_CMAKE", "/nonexistent/cmake");
    assert_has(&failure(&Ended::new(&named.output().expect("the tool runs")), 3), &fix);

    // A machine with a compiler and nothing else.
    let bare = tempfile::tempdir().expect("a temporary directory");
    let compiler = Command::new("sh").args(["-c", "command -v c++"]).output().expect("a shell");
    let compiler = String::from_utf8_lossy(&compiler.stdout).trim().to_owned();
    std::os::unix::fs::symlink(compiler, bare.path().join("c++")).expect("a link");
    let mut without = project.command(&["profile"]);
    without.env("PATH", bare.path()).env("HOME", bare.path()).env_remove("ASCEND_TUNE_CMAKE");
    assert_has(&failure(&Ended::new(&without.output().expect("the tool runs")), 3), &fix);
}

#[test]
fn a_dirty_git_tree_is_2() {
    require_tools!();
    let project = small_gelu();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(project.path()).args(["-c", "user.name=t", "-c", "user.email=t@localhost"]);
        command.args(words).output().is_ok_and(|output| output.status.success())
    };
    if !(git(&["init", "-q"]) && git(&["add", "."]) && git(&["commit", "-q", "-m", "start"])) {
        eprintln!("skipped: git cannot be run");
        return;
    }
    let before = project.read(GELU_KERNEL);
    project.write(GELU_KERNEL, &format!("{before}// mine\n"));
    let run = ["run", "--budget", "1", "--stage", "host"];
    assert_has(&failure(&project.run(&run), 2), &[GELU_KERNEL, "--allow-dirty"]);
    // A run that writes nothing may start, and so may one that was told so.
    project.run(&[&run[..], &["--dry-run"]].concat()).expect(0);
    project.run(&[&run[..], &["--allow-dirty"]].concat()).expect(0);
    assert!(project.read(GELU_KERNEL).ends_with("// mine\n"));
    assert!(git(&["commit", "-q", "-a", "-m", "mine"]));
    project.run(&run).expect(0);
}
