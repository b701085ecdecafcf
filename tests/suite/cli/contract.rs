//! The events and files that scripts read: fields and their types.

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
    let replayed = tool().args(["replay", "--seeds", "2", "--message-format", "json", "--space"]).arg(record).output();
    let replayed = Ended::new(&replayed.expect("the tool runs")).expect(0);
    assert_eq!(only(&replayed, "replay")["spaces"][0]["unit"], "us");
}

#[test]
fn results_depend_on_neither_place_nor_jobs() {
    require_tools!();
    let (project, ended) = tuned();
    let comparable = |ended: &Ended| {
        let kinds = ["baseline", "evaluation", "improvement", "stage-switch"];
        let events = ended.events.iter().filter(|event| kinds.iter().any(|kind| event["event"] == *kind));
        events.cloned().collect::<Vec<_>>()
    };
    // Lines of a journal stand as their evaluations ended, with the time that they took.
    let journal = |project: &Project| {
        let text = project.read("target/ascend-tune/journal.jsonl");
        let result = |line: &str| line.split(",\"seconds\":").next().unwrap_or_default().to_owned();
        let mut lines: Vec<String> = text.lines().map(result).collect();
        lines.sort();
        lines
    };
    // Four jobs have tuned it.
    let other = small_gelu();
    let again = other.run(&["run", "--budget", "12", "--seed", "1", "--jobs", "1"]).expect(0);
    assert_eq!(gelu_files(project), gelu_files(&other));
    assert_eq!(comparable(ended), comparable(&again));
    assert_eq!(journal(project), journal(&other));
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
    // Nor does what it needed turn up in a commit.
    let ignored = project.read("target/ascend-tune/.gitignore");
    assert!(ignored.lines().any(|line| line == "*"), "{ignored}");
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
