//! What a person who drives a toolkit for the first time falls into, one after the other, against the stand-in.

use std::os::unix::fs::PermissionsExt;

use crate::standin::{Machine, Style};
use crate::support::{edited, require_tools};

/// Names of what lies in a folder.
fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs_err::read_dir(folder).expect("a folder").filter_map(Result::ok);
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// One machine and one built project for everything that a profile can go wrong by.
#[test]
fn profiles_hold_against_what_profilers_do() {
    require_tools!();
    let machine = Machine::new(Style::Framework);
    let standin = &machine.standin;
    // Its own script would wipe the tree and install into the toolkit, and a broken plug-in would end the build.
    machine.project.write("build.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/script-ran\"\nexit 1\n");
    fs_err::create_dir_all(machine.project.path().join("build_out")).expect("a folder");
    machine.project.write("build_out/mine", "of the user");
    let plugin = "framework/tf_plugin/tensorflow_scale_add_plugin.cc";
    machine.project.write(plugin, "#include \"not/there.h\"\n");
    let vendors = names(&standin.home().join("opp/vendors"));
    let others = "/nowhere/vendors/another";
    let ended = Machine::command(&machine, &["profile"]).env("ASCEND_CUSTOM_OPP_PATH", others).output();
    let ended = crate::support::Ended::new(&ended.expect("the tool runs")).expect(0);
    let profile = ended.named("profile")[0];
    assert_eq!((&profile["origin"], &profile["correct"]), (&"measured".into(), &true.into()), "{profile}");
    let us = profile["task_us"].as_f64().expect("a time");
    assert!(!machine.project.path().join("script-ran").exists());
    assert_eq!(machine.project.read("build_out/mine"), "of the user");
    assert_eq!(names(&standin.home().join("opp/vendors")), vendors, "nothing is installed for others");
    for packages in standin.packages() {
        assert!(packages.split(':').any(|package| package == others), "others need theirs: {packages}");
    }
    let near = |other: f64| assert!((other / us - 1.0).abs() < 0.02, "{other} us, and {us} us before");

    // Names and spellings of tables, and an older table of the same name.
    for (knob, value) in [
        ("columns", "documents"),
        ("columns", "block-num"),
        ("columns", "older"),
        ("missing", "N/A"),
        ("csv_stamp", "off"),
    ] {
        standin.set(knob, value);
        near(machine.profiled_us(&[]));
    }
    standin.set("csv_stamp", "on");
    standin.set("stale_csv", "0.001");
    near(machine.profiled_us(&[]));

    // A folder of projects that the group may write to.
    fs_err::set_permissions(machine.project.path(), std::fs::Permissions::from_mode(0o775)).expect("a mode");
    near(machine.profiled_us(&[]));

    // A clock that never comes up to what it should be: no time of such a device is taken for one.
    standin.set("clock_mhz", "1200");
    let ended = machine.run(&["profile"]);
    let said = format!("{:?}{}", ended.events, ended.stderr).to_lowercase();
    assert!(said.contains("clock") || said.contains("freq") || said.contains("mhz"), "{said}");
}

/// Host code is compiled when CMake configures; its errors are the project's, at their lines.
#[test]
fn errors_of_every_compiler_are_found_at_their_lines() {
    require_tools!();
    let machine = Machine::new(Style::Framework);
    let host = machine.project.read("op_host/scale_add.cpp");
    machine.project.write("op_host/scale_add.cpp", &edited(&host, "length == 0 ||", "length == ||"));
    let line = host.lines().position(|line| line.contains("length == 0 ||")).expect("a line") + 1;
    let ended = machine.run(&["profile"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    let said = format!("{:?}{}", ended.events, ended.stderr);
    assert!(
        said.contains(&format!("op_host/scale_add.cpp:{line}")) || said.contains(&format!("Number({line})")),
        "{said}"
    );
    machine.project.write("op_host/scale_add.cpp", &host);

    let kernel = machine.project.read("op_kernel/scale_add.cpp");
    machine.project.write("op_kernel/scale_add.cpp", &edited(&kernel, "AscendC::Muls(", "AscendC::Mulz("));
    let line = kernel.lines().position(|line| line.contains("AscendC::Muls(")).expect("a line") + 1;
    let ended = machine.run(&["profile"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    let said = format!("{:?}{}", ended.events, ended.stderr);
    assert!(
        said.contains(&format!("op_kernel/scale_add.cpp:{line}")) || said.contains(&format!("Number({line})")),
        "{said}"
    );
    machine.project.write("op_kernel/scale_add.cpp", &kernel);

    // A compiler that says that all is well and leaves nothing.
    machine.standin.set("kernel_compile", "silent");
    let ended = machine.run(&["profile"]);
    assert_eq!(ended.code, 4, "{ended:?}");
}

/// Profilers run a kernel several times: what it changes in place is launched, and where it cannot be it is refused.
#[test]
fn kernels_that_change_an_input_are_not_judged_by_a_replay() {
    require_tools!();
    let in_place = || {
        let machine = Machine::new(Style::Framework);
        for (file, from, to) in [
            ("op_host/scale_add.cpp", "Output(\"y\")", "Output(\"z\")"),
            ("ascend.toml", "outputs = [{ name = \"y\"", "outputs = [{ name = \"z\""),
        ] {
            machine.project.write(file, &edited(&machine.project.read(file), from, to));
        }
        machine
    };
    in_place().profiled_us(&[]);
    // Where no launcher can be built, replaying is all there is.
    let machine = in_place();
    machine.standin.without_acl_header();
    let ended = machine.run(&["profile"]);
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(format!("{:?}", ended.events).contains("changes an input in place"), "{ended:?}");
}

/// What others installed of the same operator, or a shell names, is not what is measured.
#[test]
fn stale_packages_shadow_no_candidate() {
    require_tools!();
    let machine = Machine::new(Style::Framework);
    let named = machine.standin.root().join("named/vendors");
    for vendors in [machine.standin.home().join("opp/vendors"), named.clone()] {
        let kernels = vendors.join("stale/op_impl/ai_core/tbe/kernel/ascend910b/scale_add");
        fs_err::create_dir_all(&kernels).expect("a folder");
        fs_err::write(kernels.join("ScaleAdd_0.o"), "of last year").expect("an object");
        fs_err::write(vendors.join("config.ini"), "load_priority=stale\n").expect("a priority");
    }
    let mut command = machine.command(&["profile"]);
    command.env("ASCEND_CUSTOM_OPP_PATH", named.join("stale"));
    crate::support::Ended::new(&command.output().expect("the tool runs")).expect(0);
    let loaded = machine.standin.loaded();
    let own = machine.project.path().display().to_string();
    assert!(!loaded.is_empty() && loaded.iter().all(|object| object.starts_with(&own)), "{loaded:?}");
}

/// `find_package(ASC)` reads variables that have to be there before it.
#[test]
fn variables_stand_before_the_package_that_reads_them() {
    require_tools!();
    let machine = Machine::new(Style::Package);
    let text = machine.project.read("CMakeLists.txt");
    let own = text.lines().find(|line| line.starts_with("set(ASCEND_COMPUTE_UNIT")).expect("the project's own");
    let check = "if(NOT ASCEND_COMPUTE_UNIT STREQUAL ascend910b)\n  message(FATAL_ERROR \"not yet\")\nendif()\n";
    let text = edited(&edited(&text, own, ""), "find_package(ASC", &format!("{check}find_package(ASC"));
    machine.project.write("CMakeLists.txt", &text);
    machine.profiled_us(&[]);
}

/// A chip has three names; one of them says which it is.
#[test]
fn chips_are_named_in_full() {
    require_tools!();
    let machine = Machine::new(Style::Framework);
    machine.profiled_us(&["--soc", "ascend910b2"]);
    for (name, said) in [
        ("ascend910b", "is a family of chips; name one of them with --soc: "),
        ("dav-2201", "is no chip that is known"),
    ] {
        let ended = machine.run(&["profile", "--soc", name]).expect(3);
        let error = ended.named("error")[0].to_string();
        assert!(error.contains(said), "{name}: {error}");
    }
}
