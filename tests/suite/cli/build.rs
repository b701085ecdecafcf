//! What `build` lists, leaves and refuses.

use super::*;

#[test]
fn it_lists_what_it_made() {
    require_tools!();
    for fixture in FIXTURES {
        let project = Project::fixture(fixture);
        let ended = project.run(&["build"]).expect(0);
        let built = only(&ended, "build");
        assert_eq!(built["locked"], false);
        let artifacts = built["artifacts"].as_array().expect("a list");
        assert!(!artifacts.is_empty(), "{fixture}: {built}");
        for artifact in artifacts {
            assert!(Path::new(artifact.as_str().expect("a path")).is_file(), "{fixture}: {artifact}");
        }
    }
}

#[test]
fn locked_values_are_built() {
    require_tools!();
    let project = copy_of_tuned();
    let ended = project.run(&["build", "--locked"]).expect(0);
    let built = only(&ended, "build");
    assert_eq!(built["locked"], true);
    assert_eq!(built["configuration"], only(&tuned().1, "summary")["configuration"]);
    let lock = project.read("ascend.lock");
    // Another value is built in a copy: sources and lock stay.
    let ended = project.run(&["build", "--set", "BLOCK_DIM=3"]).expect(0);
    assert_eq!(only(&ended, "build")["configuration"]["BLOCK_DIM"], 3);
    assert_eq!(project.read("ascend.lock"), lock);
    assert_eq!(gelu_files(&project), gelu_files(&tuned().0));
}

#[test]
fn what_won_before_is_tried_first() {
    require_tools!();
    let project = Project::fixture("add_custom");
    edit(&project, "ascend.toml", "[8, 2048]", "[64, 8192]");
    let files = ["op_host/add_custom.cpp", "op_kernel/add_custom.cpp"];
    let before = files.map(|file| project.read(file));
    let tuned = project.run(&["run", "--budget", "8", "--seed", "1", "--stage", "host"]).expect(0);
    let winner = &only(&tuned, "summary")["configuration"];
    assert_ne!(files.map(|file| project.read(file)), before, "something better was found");
    // The sources are what they were; the lock knows better.
    for (file, text) in files.iter().zip(&before) {
        project.write(file, text);
    }
    let again = project.run(&["run", "--budget", "1", "--seed", "2", "--stage", "host", "--dry-run"]).expect(0);
    assert_eq!(&only(&again, "summary")["configuration"], winner);
    fs_err::remove_file(project.path().join("ascend.lock")).expect("a lock");
    let blind = project.run(&["run", "--budget", "1", "--seed", "2", "--stage", "host", "--dry-run"]).expect(0);
    assert_ne!(&only(&blind, "summary")["configuration"], winner);
}

#[test]
fn a_run_that_has_nothing_to_rewrite_names_the_headers_that_do_the_work() {
    require_tools!();
    let project = small_gelu();
    let kernel = project.read(GELU_KERNEL);
    let (body, entry) = kernel.split_at(kernel.find("extern \"C\"").expect("the entry"));
    let manifest = project.read("ascend.toml");
    let start = manifest.find("[tunable.").expect("tunables");
    let end = manifest.find("[space]").expect("what follows them");
    project.write("ascend.toml", &format!("{}{}", &manifest[..start], &manifest[end..]));
    for (folder, help) in [("common", "init --force"), ("op_kernel", "add op_kernel/gelu_body.h to `sources`")] {
        fs_err::create_dir_all(project.path().join(folder)).expect("a folder");
        project.write(&format!("{folder}/gelu_body.h"), body);
        project.write(GELU_KERNEL, &format!("#include \"../{folder}/gelu_body.h\"\n{entry}"));
        let ended = project.run(&["run", "--budget", "4", "--seed", "1", "--dry-run"]).expect(0);
        assert_eq!(only(&ended, "summary")["evaluations"], 0);
        let warnings = ended.named("warning");
        let told: Vec<_> = warnings.iter().filter(|warning| warning["code"] == "kernel-left-alone").collect();
        let [told] = told[..] else { panic!("{warnings:?}") };
        assert_has(&told["message"].to_string(), &[&format!("{folder}/gelu_body.h")]);
        assert_has(&told["help"].to_string(), &[help]);
    }
}

#[test]
fn run_locked_leaves_another_lock_alone() {
    require_tools!();
    let project = copy_of_tuned();
    // The same sources with another time: what the run finds is another lock.
    let lock = project.read("ascend.lock");
    let line = lock.lines().find(|line| line.starts_with("tuned_ps = ")).expect("a case");
    project.write("ascend.lock", &lock.replace(line, "tuned_ps = 1"));
    let before = gelu_files(&project);
    let ended = project.run(&["run", "--locked", "--budget", "2"]);
    assert_has(&failure(&ended, 1), &["ascend.lock", "--locked"]);
    assert_eq!(gelu_files(&project), before);
}
