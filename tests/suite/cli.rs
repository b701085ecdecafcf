//! Sessions with the binary on copies of the fixtures: what the commands promise to scripts.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::{Ended, Project, python_has_numpy, require_tools, tool};

/// All fixtures.
const FIXTURES: [&str; 4] = ["add_custom", "add_ladder", "gelu_naive", "softmax_rows"];
/// Files of gelu_naive that tuning may edit.
const GELU_SOURCES: [&str; 3] = ["op_host/gelu_naive.cpp", "op_host/gelu_naive_tiling.h", "op_kernel/gelu_naive.cpp"];
const GELU_HOST: &str = GELU_SOURCES[0];
const GELU_KERNEL: &str = GELU_SOURCES[2];

/// Replaces text that must be there.
#[track_caller]
fn edit(project: &Project, file: &str, from: &str, to: &str) {
    let text = project.read(file);
    assert!(text.contains(from), "{file} has no `{from}`:\n{text}");
    project.write(file, &text.replace(from, to));
}

/// gelu_naive on a shape that takes little time.
pub fn small_gelu() -> Project {
    let project = Project::fixture("gelu_naive");
    edit(&project, "ascend.toml", "[1024, 1024]", "[64, 1024]");
    edit(&project, "ascend.toml", "1024x1024", "64x1024");
    project
}

/// `small_gelu` after a run, and the events of that run. Copies of it share one run.
fn tuned() -> &'static (Project, Ended) {
    static TUNED: LazyLock<(Project, Ended)> = LazyLock::new(|| {
        let project = small_gelu();
        let ended = project.run(&["run", "--budget", "12", "--seed", "1", "--jobs", "2"]).expect(0);
        (project, ended)
    });
    &TUNED
}

fn copy_of_tuned() -> Project {
    Project::copy_of(tuned().0.path())
}

fn gelu_files(project: &Project) -> BTreeMap<&'static str, String> {
    GELU_SOURCES.into_iter().chain(["ascend.lock"]).map(|file| (file, project.read(file))).collect()
}

/// The critical path holds the time of the longest core, and names lines of the kernel.
#[track_caller]
fn assert_path_adds_up(profile: &Value) {
    let path = profile["critical_path"].as_array().expect("no block hangs");
    let sum: f64 = path.iter().filter_map(|step| step["time_us"].as_f64()).sum();
    let whole = profile["longest_core_us"].as_f64().expect("a number");
    assert!((sum - whole).abs() < 1e-6 * whole, "{sum} us of {whole} us: {path:#?}");
    let located = path.iter().filter(|step| step["line"].as_u64().is_some_and(|line| line > 0));
    let share: f64 = located.filter_map(|step| step["share"].as_f64()).sum();
    assert!(share > 0.5, "only {share} of the path has a line: {path:#?}");
}

/// The one event of a kind.
#[track_caller]
fn only<'a>(ended: &'a Ended, kind: &str) -> &'a Value {
    let found = ended.named(kind);
    let [event] = found.as_slice() else { panic!("{} events `{kind}` in {:#?}", found.len(), ended.events) };
    event
}

/// The last event, which must be an error with this exit status; gives its message and help.
#[track_caller]
fn failure(ended: &Ended, code: i32) -> String {
    assert_eq!(ended.code, code, "events: {:#?}\nstderr: {}", ended.events, ended.stderr);
    let last = ended.events.last().expect("an event");
    assert_eq!((&last["event"], &last["exit"]), (&"error".into(), &code.into()), "{last}");
    assert_eq!(ended.events[0]["event"], "start", "{:#?}", ended.events);
    format!("{}\n{}", last["message"].as_str().expect("a message"), last["help"].as_str().unwrap_or_default())
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

/// Runs the tool for people, on a project.
fn human(project: &Project, arguments: &[&str]) -> Output {
    tool().args(arguments).arg("--project").arg(project.path()).output().expect("the tool runs")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Line of the first place where a text stands, from 1.
fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).expect("the text is there") + 1
}

mod init {
    use super::*;

    #[test]
    fn what_init_writes_is_usable_as_it_stands() {
        require_tools!();
        for fixture in FIXTURES {
            let project = Project::fixture(fixture);
            fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
            let ended = project.run(&["init"]).expect(0);
            let written = only(&ended, "init");
            assert_eq!(written["written"], true);
            assert!(!written["cases"].as_array().expect("a list").is_empty(), "{written}");
            assert!(!written["tunables"].as_array().expect("a list").is_empty(), "{written}");
            let manifest = project.read("ascend.toml");
            assert!(manifest.contains("reason = "), "{fixture}: tunables come with reasons");

            let ended = project.run(&["profile"]).expect(0);
            assert!(!ended.named("profile").is_empty());
            for profile in ended.named("profile") {
                assert_path_adds_up(profile);
            }
            assert!(ended.named("warning").is_empty(), "{:?}", ended.named("warning"));
            project.run(&["run", "--dry-run", "--budget", "1", "--stage", "host"]).expect(0);
        }
    }

    #[test]
    fn cases_come_from_the_operators_own_lists() {
        require_tools!();
        let project = Project::fixture("add_custom");
        fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
        fs_err::create_dir_all(project.path().join("tests/st")).expect("writable");
        let list = "case,op_name,input_shapes,input_dtypes\n\
                    a,add_custom,\"((3, 5), (3, 5))\",\"('float16', 'float16')\"\n\
                    b,add_custom,\"((16, 4096), (16, 4096))\",\"('float16', 'float16')\"\n";
        project.write("tests/st/cases.csv", list);
        let ended = project.run(&["init"]).expect(0);
        let written = only(&ended, "init");
        let refused = written["refused"].as_array().expect("one case has a remainder");
        assert!(refused[0].as_str().is_some_and(|text| text.contains("tests/st/cases.csv:2")), "{refused:?}");
        let manifest = project.read("ascend.toml");
        let written = "# from tests/st/cases.csv:3; tiling key 0\n[[case]]\nname = \"float16-16x4096\"\n";
        assert!(manifest.contains(written), "{manifest}");
        assert!(manifest.contains("# Refused: 3x5 float16"), "{manifest}");
        // Timed at sizes that say something, each made from the authors' case, which is of such a size itself.
        let sizes = ["made middle (4 MiB of traffic)", "made small (64 KiB of traffic)"];
        assert!(sizes.iter().all(|size| manifest.contains(size)), "{manifest}");
        assert!(!manifest.contains("made large"), "its tiles grow with its data, and would not fit");
        let profile = project.run(&["profile"]).expect(0);
        let timed: Vec<&Value> = profile.named("profile").into_iter().map(|event| &event["case"]).collect();
        assert_eq!(timed, ["float16-176x4096", "float16-16x4096", "float16-4x4096"]);
    }

    #[test]
    fn a_case_that_the_operator_fails_gives_way_to_one_that_it_survives() {
        require_tools!();
        let project = Project::fixture("add_custom");
        fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
        fs_err::create_dir_all(project.path().join("tests/st")).expect("writable");
        let list = "case,op_name,input_shapes,input_dtypes\n\
                    a,add_custom,\"((256, 4096), (256, 4096))\",\"('float16', 'float16')\"\n\
                    b,add_custom,\"((16, 4096), (16, 4096))\",\"('float16', 'float16')\"\n";
        project.write("tests/st/cases.csv", list);
        // The larger case would be chosen, but its tiles have 16 KiB.
        let kernel = project.read("op_kernel/add_custom.cpp");
        let size = "pipe.InitBuffer(outQueueZ, BUFFER_NUM, this->tileLength * sizeof(half));";
        assert!(kernel.contains(size));
        project
            .write("op_kernel/add_custom.cpp", &kernel.replace(size, "pipe.InitBuffer(outQueueZ, BUFFER_NUM, 4096);"));
        let ended = project.run(&["init"]).expect(0);
        let faults = only(&ended, "init")["faults"].as_array().expect("one case overruns its buffer").clone();
        let text = faults[0].as_str().unwrap_or_default();
        assert!(text.starts_with("256x4096 float16") && text.contains("op_kernel/add_custom.cpp:"), "{faults:?}");
        assert_eq!(ended.named("warning")[0]["code"], "faulty-case");
        assert!(project.read("ascend.toml").contains("# The operator is at fault: 256x4096 float16"));
        let profile = project.run(&["profile"]).expect(0);
        assert!(!profile.named("profile").is_empty(), "what is written runs");
    }

    #[test]
    fn the_authors_golden_function_becomes_the_reference() {
        require_tools!();
        let project = Project::fixture("add_custom");
        fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
        fs_err::create_dir_all(project.path().join("tests")).expect("writable");
        let golden = "def add_custom_golden(x, y, **facts):\n    return x + y\n";
        project.write("tests/golden.py", golden);
        project.run(&["init"]).expect(0);
        let manifest = project.read("ascend.toml");
        if !python_has_numpy() {
            assert!(manifest.contains("# tests/golden.py is no reference here: the reference needs"), "{manifest}");
            assert!(manifest.contains("reference = \"baseline\""), "{manifest}");
            return;
        }
        assert!(manifest.contains("reference = \"script\"\nscript = \"tests/golden.py\"\n"), "{manifest}");
        let right = project.run(&["profile"]).expect(0);
        assert_eq!(right.named("profile")[0]["checked"], "golden data");
        project.write("tests/golden.py", &golden.replace("x + y", "x - y"));
        let wrong = project.run(&["profile"]).expect(5);
        assert_eq!(wrong.named("profile")[0]["correct"], false);
        project.write("tests/golden.py", &golden.replace("x + y", "None.sum()"));
        assert_has(&failure(&project.run(&["profile"]), 2), &["tests/golden.py failed on case", "NoneType"]);
    }

    #[test]
    fn a_manifest_that_is_there_is_not_replaced_unasked() {
        let project = Project::fixture("gelu_naive");
        project.write("ascend.toml", "mine");
        assert_has(&failure(&project.run(&["init"]), 2), &["ascend.toml", "--force"]);
        assert_eq!(project.read("ascend.toml"), "mine");
        let shown = human(&project, &["init", "--dry-run"]);
        assert!(shown.status.success());
        assert_eq!(project.read("ascend.toml"), "mine");
        project.run(&["init", "--force"]).expect(0);
        assert_eq!(project.read("ascend.toml"), String::from_utf8_lossy(&shown.stdout));
    }

    #[test]
    fn a_directory_without_operator_is_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let project = Project::copy_of(directory.path());
        failure(&project.run(&["init"]), 2);
    }

    #[test]
    fn run_without_manifest_names_init() {
        let project = Project::fixture("add_custom");
        fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
        for command in ["run", "check"] {
            assert_has(&failure(&project.run(&[command]), 2), &["ascend.toml", "cargo ascend-tune init"]);
        }
    }

    #[test]
    fn profile_works_without_manifest() {
        require_tools!();
        let project = Project::fixture("add_custom");
        fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
        let ended = project.run(&["profile"]).expect(0);
        assert_eq!(ended.named("warning")[0]["code"], "no-manifest");
        let profiles = ended.named("profile");
        assert!(profiles.len() > 1 && profiles.iter().all(|profile| profile["operator"] == "AddCustom"));
        assert!(!project.path().join("ascend.toml").exists(), "only init writes it");
    }
}

mod contract {
    use super::*;

    /// A field's name and the type that it must have.
    type Field = (&'static str, fn(&Value) -> bool);

    #[track_caller]
    fn assert_object(value: &Value, fields: &[Field]) {
        for (name, is_right) in fields {
            assert!(is_right(&value[name]), "{name} = {} in {value}", value[name]);
        }
    }

    fn is_null_or_string(value: &Value) -> bool {
        value.is_null() || value.is_string()
    }

    #[test]
    fn run_speaks_json_lines() {
        require_tools!();
        let (project, ended) = tuned();
        assert!(ended.events.iter().all(|event| event["event"].is_string()));
        assert_eq!(ended.events[0]["event"], "start");
        assert_eq!(ended.events[0]["format"], 1);
        assert_eq!(only(ended, "start")["operator"], "GeluNaive");
        assert_eq!(ended.events.last().expect("events")["event"], "summary");
        let summary = only(ended, "summary");
        assert_object(
            summary,
            &[
                ("operator", Value::is_string),
                ("speedup", Value::is_f64),
                ("evaluations", Value::is_u64),
                ("rejected", Value::is_u64),
                ("wall_s", Value::is_f64),
                ("machine", Value::is_string),
                ("lock", Value::is_string),
                ("report", Value::is_string),
            ],
        );
        assert_eq!((&summary["operator"], &summary["origin"]), (&"GeluNaive".into(), &"modelled".into()));
        let cases = summary["cases"].as_array().expect("a list");
        assert_eq!(cases.len(), 1, "cases that are only verified have no time");
        for case in cases {
            assert_object(
                case,
                &[
                    ("name", Value::is_string),
                    ("baseline_us", Value::is_f64),
                    ("best_us", Value::is_f64),
                    ("speedup", Value::is_f64),
                ],
            );
        }
        let stages = [&summary["stages"]["host"], &summary["stages"]["kernel"]];
        for stage in stages {
            assert_object(stage, &[("evaluations", Value::is_u64), ("gain", Value::is_f64)]);
        }
        let spent: u64 = stages.iter().filter_map(|stage| stage["evaluations"].as_u64()).sum();
        assert_eq!(summary["evaluations"], spent);
        assert!(spent <= 12);
        let evaluations = ended.named("evaluation").into_iter().filter(|event| event["cached"] == false).count();
        assert_eq!(evaluations as u64, spent);
        let gain: f64 = stages.iter().map(|stage| number(&stage["gain"])).product();
        let speedup = number(&summary["speedup"]);
        assert!(speedup > 1.0 && (gain / speedup - 1.0).abs() < 1e-9, "{gain} and {speedup}");

        let fresh = small_gelu();
        assert!(GELU_SOURCES.iter().any(|file| project.read(file) != fresh.read(file)), "nothing was written back");
        assert_eq!(summary["lock"], project.path().join("ascend.lock").display().to_string());
        assert!(project.path().join("ascend.lock").is_file());
        let report = project.read("target/ascend-tune/report.html");
        assert_eq!(summary["report"], project.path().join("target/ascend-tune/report.html").display().to_string());
        assert_has(&report, &["<svg", "GeluNaive", "modelled"]);

        // The record beside it can be replayed.
        let record = project.path().join("target/ascend-tune/record.json");
        let replayed =
            tool().args(["replay", "--seeds", "2", "--message-format", "json", "--space"]).arg(record).output();
        let replayed = Ended::new(&replayed.expect("the tool runs")).expect(0);
        assert_eq!(only(&replayed, "replay")["spaces"][0]["unit"], "us");
    }

    #[test]
    fn results_depend_on_neither_place_nor_jobs() {
        require_tools!();
        let (project, ended) = tuned();
        let other = small_gelu();
        let again = other.run(&["run", "--budget", "12", "--seed", "1", "--jobs", "1"]).expect(0);
        assert_eq!(gelu_files(project), gelu_files(&other));
        let comparable = |ended: &Ended| {
            let kinds = ["baseline", "evaluation", "improvement", "stage-switch"];
            let events = ended.events.iter().filter(|event| kinds.iter().any(|kind| event["event"] == *kind));
            events.cloned().collect::<Vec<_>>()
        };
        assert_eq!(comparable(ended), comparable(&again));
    }

    #[test]
    fn a_dry_run_changes_nothing() {
        require_tools!();
        let project = small_gelu();
        let before = GELU_SOURCES.map(|file| project.read(file));
        let ended = project.run(&["run", "--budget", "3", "--dry-run"]).expect(0);
        assert!(number(&only(&ended, "summary")["speedup"]) > 1.0);
        assert!(only(&ended, "summary")["lock"].is_null());
        assert_eq!(before, GELU_SOURCES.map(|file| project.read(file)));
        assert!(!project.path().join("ascend.lock").exists());
    }

    #[test]
    fn profile_has_the_fields_that_scripts_read() {
        require_tools!();
        let ended = small_gelu().run(&["profile"]).expect(0);
        assert_eq!(ended.events[0]["format"], 1);
        let profile = only(&ended, "profile");
        assert_object(
            profile,
            &[
                ("operator", Value::is_string),
                ("case", Value::is_string),
                ("task_us", Value::is_f64),
                ("bound_us", Value::is_f64),
                ("limiter", is_null_or_string),
                ("cores", Value::is_u64),
                ("hazards", Value::is_array),
                ("correct", Value::is_boolean),
                ("origin", Value::is_string),
                ("machine", Value::is_string),
            ],
        );
        for pipe in ["scalar_us", "vec_us", "mte1_us", "mte2_us", "mte3_us", "cube_us", "fixpipe_us"] {
            assert!(profile["pipes"][pipe].is_f64(), "{pipe} in {profile}");
        }
        assert!(number(&profile["task_us"]) >= number(&profile["bound_us"]));
    }

    #[test]
    fn the_first_event_is_start_even_if_nothing_begins() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let project = Project::copy_of(directory.path());
        for command in ["init", "run", "check", "build", "profile", "rewind"] {
            let ended = project.run(&[command]).expect(2);
            let kinds: Vec<&Value> = ended.events.iter().map(|event| &event["event"]).collect();
            assert_eq!(kinds, ["start", "error"], "{command}");
            assert_eq!((&ended.events[0]["format"], &ended.events[0]["command"]), (&1.into(), &command.into()));
        }
    }
}

mod check {
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
        assert_has(
            &only(&ended, "check")["differences"].to_string(),
            &["case 64x1024: output y is not what was locked"],
        );

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
        assert_has(&said, &["case 64x1024: output y: ", "elements differ, most at index", "was locked, now", "off by"]);
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
        for command in ["check", "lock"] {
            let project = copy_of_tuned();
            let lock = project.read("ascend.lock");
            fs_err::remove_file(project.path().join("ascend.lock")).expect("it is there");
            fs_err::create_dir_all(project.path().join("target/ascend-tune")).expect("a folder");
            let plan = serde_json::json!({ "ascend.lock": { "before": null, "after": lock } });
            project.write("target/ascend-tune/write-back.json", &plan.to_string());
            project.run(&[command]).expect(0);
            assert_eq!(project.read("ascend.lock"), lock);
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
    fn a_lock_that_cannot_be_used_is_explained() {
        require_tools!();
        let project = copy_of_tuned();
        let lock = project.read("ascend.lock");
        project.write("ascend.lock", &lock.replace("[machine]", "<<<<<<< ours\n[machine]"));
        let place = format!("ascend.lock:{}:", line_of(&lock, "[machine]"));
        assert_has(&failure(&project.run(&["check"]), 1), &[&place, "restore the file"]);
        project.write("ascend.lock", &lock.replace("version = 1\n", "version = 99\n"));
        assert_has(&failure(&project.run(&["check"]), 1), &["99", "update cargo-ascend-tune"]);
        fs_err::remove_file(project.path().join("ascend.lock")).expect("it is there");
        for command in [&["check"][..], &["build", "--locked"]] {
            assert_has(&failure(&project.run(command), 1), &["no lock file", "cargo ascend-tune run"]);
        }
    }
}

mod build {
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
    fn run_locked_leaves_another_lock_alone() {
        require_tools!();
        let project = copy_of_tuned();
        let before = gelu_files(&project);
        let ended = project.run(&["run", "--locked", "--budget", "2"]);
        assert_has(&failure(&ended, 1), &["ascend.lock", "--locked"]);
        assert_eq!(gelu_files(&project), before);
    }
}

mod exit_status {
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
        assert_eq!(profile["correct"], false);
        assert_eq!(
            (&profile["hazards"][0]["file"], &profile["hazards"][0]["line"]),
            (&GELU_KERNEL.into(), &line.into())
        );
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
}

mod golden {
    use super::*;

    const SHAPE: &str = "[8, 2048]";

    /// add_custom with right answers: all ones plus all twos.
    fn with_npy(sum: u16) -> Project {
        let project = Project::fixture("add_custom");
        edit(&project, "ascend.toml", "reference = \"baseline\"", "reference = \"npy\"\ngolden = \"golden\"");
        fs_err::create_dir_all(project.path().join("golden/8x2048")).expect("a directory");
        for (name, half) in [("x", 0x3C00), ("y", 0x4000), ("z", sum)] {
            fs_err::write(project.path().join(format!("golden/8x2048/{name}.npy")), npy(half)).expect("a file");
        }
        project
    }

    fn npy(half: u16) -> Vec<u8> {
        let header = "{'descr': '<f2', 'fortran_order': False, 'shape': (8, 2048), }";
        let padded = format!("{header:<117}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((padded.len() as u16).to_le_bytes());
        file.extend(padded.bytes());
        file.extend(std::iter::repeat_n(half.to_le_bytes(), 8 * 2048).flatten());
        file
    }

    #[test]
    fn npy_files_are_compared() {
        require_tools!();
        let right = with_npy(0x4200);
        assert_eq!(only(&right.run(&["profile"]).expect(0), "profile")["correct"], true);
        right.run(&["run", "--budget", "2", "--stage", "host", "--dry-run"]).expect(0);

        let wrong = with_npy(0x4201);
        edit(
            &wrong,
            "ascend.toml",
            "# tolerance.float16 = { absolute = 1e-3, relative = 1e-3 }",
            "tolerance.float16 = { absolute = 0.0, relative = 0.0 }",
        );
        assert_eq!(only(&wrong.run(&["profile"]).expect(5), "profile")["correct"], false);
        assert_has(&failure(&wrong.run(&["run", "--budget", "2"]), 5), &["8x2048", "output z", "3"]);
    }

    #[test]
    fn a_command_answers() {
        require_tools!();
        // With zeros for y the right answer is x itself.
        let with_command = |source: &str| {
            let project = Project::fixture("add_custom");
            let y = |range: &str| format!("name = \"y\", dtype = \"float16\", shape = {SHAPE}, range = {range}");
            edit(&project, "ascend.toml", &y("[-1.0, 1.0]"), &y("[0.0, 0.0]"));
            edit(&project, "ascend.toml", "name = \"8x2048\"", "name = \"8x2048\"\nhostile = false");
            let command =
                format!("reference = \"command\"\ncommand = [\"cp\", \"{{input:{source}}}\", \"{{output:z}}\"]");
            edit(&project, "ascend.toml", "reference = \"baseline\"", &command);
            project
        };
        let right = with_command("x");
        assert_eq!(only(&right.run(&["profile"]).expect(0), "profile")["correct"], true);
        right.run(&["run", "--budget", "2", "--stage", "host", "--dry-run"]).expect(0);
        let wrong = with_command("y");
        assert_eq!(only(&wrong.run(&["profile"]).expect(5), "profile")["correct"], false);
        assert_has(&failure(&wrong.run(&["run", "--budget", "2"]), 5), &["output z"]);
        let broken = with_command("x");
        edit(&broken, "ascend.toml", "\"cp\"", "\"false\"");
        assert_has(&failure(&broken.run(&["run", "--budget", "2"]), 2), &["reference command", "8x2048"]);
    }
}

mod options {
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
        assert_has(&String::from_utf8_lossy(&output.stdout), &["64x1024", "modelled"]);
        let refused = human(&project, &["profile", "-q", "--case", "none"]);
        assert_eq!(refused.status.code(), Some(2));
        assert_has(&String::from_utf8_lossy(&refused.stderr), &["error", "none"]);
    }
}
