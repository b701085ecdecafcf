//! `init --cmake`: the module by which plain CMake reads a lock. It is run by CMake alone, on projects that need no compiler.

use std::path::Path;
use std::process::Command;

use super::*;
use lock::{Lock, LockedMotif, bytes_digest};
use space::Value as Setting;

const PROJECT: &str = r#"cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_SOURCE_DIR}/cmake")
find_package(AscendTune REQUIRED)
ascend_tune_entries(LOCK op/ascend.lock)
message(STATUS "LADDER is ${LADDER}, WIDE is ${WIDE}")
add_library(consumer INTERFACE)
ascend_tune_apply(consumer LOCK op/ascend.lock)
"#;

/// A lock with everything that a reader by lines could take for something else.
fn locked() -> Lock {
    let mut lock = Lock {
        files: [("op/k.cpp", "int a[2]; // ;\n"), ("ascend.toml", "[check]\n")]
            .map(|(file, text)| (file.to_owned(), bytes_digest(text.as_bytes())))
            .into(),
        cmake: [("LADDER", "TILE_LENGTH"), ("WIDE", "wide")]
            .map(|(entry, name)| (entry.to_owned(), name.to_owned()))
            .into(),
        ..lock::testing::sample()
    };
    lock.configuration.set("wide", Setting::Bool(true));
    lock.configuration.set("mode", Setting::Text("a \"b\" [c] \\d".to_owned()));
    lock.motifs.push(LockedMotif {
        id: "V01".to_owned(),
        title: "first\n[configuration]\nTILE_LENGTH = 1".to_owned(),
        gain_permille: None,
    });
    lock
}

fn configure(project: &Path, further: &[&str]) -> (bool, String) {
    let mut cmake = Command::new(toolchain::Cmake::find().expect("CMake").program);
    cmake.current_dir(project).args(["-S", ".", "-B", "build"]).args(further);
    let ran = cmake.output().expect("CMake runs");
    let said = [ran.stdout, ran.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned()).concat();
    // Messages are broken into lines by their length.
    (ran.status.success(), said.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn cmake_reads_the_lock_alone_and_refuses_what_it_cannot() {
    require_tools!();
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    let write = |file: &str, text: &str| {
        let path = root.join(file);
        fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs_err::write(path, text).expect("a written file");
    };
    let ended = Ended::new(
        &tool().args(["init", "--cmake", "--message-format", "json", "--project"]).arg(root).output().expect("it runs"),
    );
    assert!(only(&ended.expect(0), "written")["files"][0].to_string().contains("cmake/FindAscendTune.cmake"));
    write("CMakeLists.txt", PROJECT);
    write("op/op/k.cpp", "int a[2]; // ;\n");
    write("op/ascend.toml", "[check]\n");
    let text = locked().to_text().expect("a text");
    write("op/ascend.lock", &text);

    let (configured, said) = configure(root, &[]);
    assert!(configured && said.contains("LADDER is 8192, WIDE is ON"), "{said}");
    let header = fs_err::read_to_string(root.join("build/ascend_tune/consumer/ascend_tune.h")).expect("a header");
    let constants = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("constexpr")).map(str::to_owned);
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        lines
    };
    assert_eq!(constants(&header), constants(&lock::header(&locked()).expect("a header")), "as `lock export` makes it");
    assert!(configure(root, &["-DLADDER=7"]).1.contains("LADDER is 7"), "what somebody gives stays");
    assert!(configure(root, &["-ULADDER"]).1.contains("LADDER is 8192"));
    write("op/ascend.lock", &text.replace("TILE_LENGTH = 8192", "TILE_LENGTH = 4096"));
    assert!(configure(root, &[]).1.contains("LADDER is 4096"), "a lock that changed counts");

    // Another chip's entry has its own values; whose they are is said by its name.
    let several = locked().with_beside(lock::testing::other());
    write("op/ascend.lock", &several.to_text().expect("a text"));
    assert!(configure(root, &[]).1.contains("LADDER is 8192"), "the sources' own comes first");
    let for_chip = PROJECT.replace("LOCK op/ascend.lock", "LOCK op/ascend.lock SOC Ascend910_93:modelled");
    write("CMakeLists.txt", &for_chip);
    let (configured, said) = configure(root, &[]);
    assert!(configured, "{said}");
    let header = fs_err::read_to_string(root.join("build/ascend_tune/consumer/ascend_tune.h")).expect("a header");
    assert_eq!(constants(&header), constants(&lock::header(&lock::testing::other()).expect("a header")));

    let refused = |words: &[&str]| {
        let (configured, said) = configure(root, &[]);
        assert!(!configured, "{said}");
        assert_has(&said, words);
    };
    write("CMakeLists.txt", &for_chip.replace("modelled", "measured"));
    refused(&["there is no entry for Ascend910_93:measured", "run --soc"]);
    write("CMakeLists.txt", PROJECT);
    write("op/ascend.lock", &text);
    write("op/op/k.cpp", "int b;\n");
    refused(&["ascend.lock is stale: op/k.cpp was changed", "`cargo ascend-tune lock accept`"]);
    fs_err::remove_file(root.join("op/op/k.cpp")).expect("it is there");
    refused(&["ascend.lock is stale: op/k.cpp is gone"]);
    write("op/op/k.cpp", "int a[2]; // ;\n");
    write("op/ascend.lock", &text.replace("BUFFER_NUM = 2", "<<<<<<< HEAD\nBUFFER_NUM = 2\n=======\n>>>>>>> other"));
    refused(&["ascend.lock:21:", "a merge left both sides", "`cargo ascend-tune lock accept`"]);
    write("op/ascend.lock", &text.replace("version = 2", "version = 9"));
    refused(&["lock format 9, this module reads up to 3"]);
    write("op/ascend.lock", &text.replace("BUFFER_NUM = 2", "BUFFER_NUM = 2.5"));
    refused(&["BUFFER_NUM has a value that cannot be read here"]);
    write("op/ascend.lock", "[package]\nname = \"p\"\n");
    refused(&["no lock of cargo ascend-tune"]);
    fs_err::remove_file(root.join("op/ascend.lock")).expect("it is there");
    refused(&["no lock file; `cargo ascend-tune run` writes it"]);
}

/// A project that says nothing of locks: all of it comes with the preset.
const UNAWARE: &str = "cmake_minimum_required(VERSION 3.16)\nproject(unaware LANGUAGES NONE)\nset(LADDER 1 CACHE STRING \"\")\n\
                       set(WIDE OFF CACHE BOOL \"\")\nmessage(STATUS \"LADDER is ${LADDER}, WIDE is ${WIDE}\")\n";

#[test]
fn a_preset_configures_a_project_with_what_is_locked_and_leaves_presets_of_others_alone() {
    require_tools!();
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    let write = |file: &str, text: &str| {
        let path = root.join(file);
        fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs_err::write(path, text).expect("a written file");
    };
    let preset = |further: &[&str]| {
        let mut cmake = Command::new(toolchain::Cmake::find().expect("CMake").program);
        let ran = cmake.current_dir(root).args(["--preset", "ascend-tune"]).args(further).output().expect("CMake runs");
        let said = [ran.stdout, ran.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned()).concat();
        (ran.status.success(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let init = |further: &[&str]| {
        let mut ran = tool();
        ran.args(["init", "--cmake", "--message-format", "json", "--project"]).arg(root).args(further);
        Ended::new(&ran.output().expect("it runs"))
    };
    write("CMakeLists.txt", UNAWARE);
    write("op/op/k.cpp", "int a[2]; // ;\n");
    write("op/ascend.toml", "[check]\n");
    let ended = init(&[]).expect(0);
    let written = only(&ended, "written");
    assert_has(&written.to_string(), &["FindAscendTune.cmake", "AscendTunePresets.json", "/CMakePresets.json"]);
    let (configured, said) = preset(&[]);
    assert!(configured && said.contains("ascend.lock is not there yet") && said.contains("LADDER is 1, WIDE is OFF"));
    write("op/ascend.lock", &locked().to_text().expect("a text"));
    assert_has(&preset(&["--fresh"]).1, &["LADDER is 8192, WIDE is ON"]);
    assert_has(&preset(&["-DLADDER=7"]).1, &["LADDER is 7", "as it was given; ascend.lock has 8192"]);
    write("op/op/k.cpp", "int b;\n");
    let (configured, said) = preset(&[]);
    assert!(!configured && said.contains("ascend.lock is stale: op/k.cpp was changed"), "{said}");
    assert!(preset(&["-DASCEND_TUNE_STALE=WARNING"]).0);

    // What somebody else has written stays, byte by byte, and what is to be done with it is said.
    let theirs = "{\"version\": 3,\n \"configurePresets\": [{\"name\": \"default\", \"binaryDir\": \"b\", \"generator\": \"Ninja\"}]}\n";
    write("CMakePresets.json", theirs);
    let ended = init(&["--force"]).expect(0);
    let next = only(&ended, "written")["next"].to_string();
    assert_has(&next, &["cmake/AscendTunePresets.json", "into CMakePresets.json", "4 in place of 3"]);
    assert_eq!(fs_err::read_to_string(root.join("CMakePresets.json")).expect("a file"), theirs);
    let included =
        theirs.replace("{\"version\": 3,", "{\"version\": 4, \"include\": [\"cmake/AscendTunePresets.json\"],");
    write("CMakePresets.json", &included);
    let (configured, said) = preset(&["-DASCEND_TUNE_STALE=IGNORE"]);
    assert!(configured, "{said}");
    write("CMakeUserPresets.json", "{\"version\": 4, \"configurePresets\": [{\"name\": \"ascend-tune\"}]}");
    assert_has(&failure(&init(&["--force"]), 2), &["CMakeUserPresets.json", "`ascend-tune`", "another name"]);
    assert_eq!(fs_err::read_to_string(root.join("CMakePresets.json")).expect("a file"), included);
}
