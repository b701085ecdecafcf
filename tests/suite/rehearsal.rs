//! A run on the recording: what noise on the times changes, and what it does not.

use serde_json::Value;

use crate::support::{Ended, Project, require_tools};

/// A rehearsal of the host stage with this noise in percent.
fn rehearsed(project: &Project, noise: &str, budget: &str, seed: &str) -> Ended {
    let arguments = ["run", "--budget", budget, "--stage", "host", "--dry-run", "--no-resume", "--seed", seed];
    let backend = ["--backend", "recorded", "--noise", noise];
    project.run(&[arguments.as_slice(), backend.as_slice()].concat()).expect(0)
}

fn summary(ended: &Ended) -> &Value {
    ended.named("summary")[0]
}

/// Sources and manifest: all that a rehearsal must leave as it is.
fn sources(project: &Project) -> String {
    ["ascend.toml", "op_host/add_custom.cpp", "op_kernel/add_custom.cpp"].map(|file| project.read(file)).concat()
}

#[test]
fn without_noise_it_is_the_simulator() {
    require_tools!();
    let project = Project::fixture("add_custom");
    let exact = project.run(&["run", "--budget", "15", "--stage", "host", "--dry-run", "--seed", "4"]).expect(0);
    let recorded = rehearsed(&project, "0", "15", "4");
    for field in ["configuration", "speedup", "cases", "generalisation", "evaluations"] {
        assert_eq!(summary(&exact)[field], summary(&recorded)[field], "{field}");
    }
    assert!(summary(&recorded).get("error").is_none());
}

#[test]
fn with_noise_a_winner_is_really_faster_and_nothing_is_written() {
    require_tools!();
    let project = Project::as_shipped("add_custom");
    // With probes the search ends at the operator as it was for some draws of the noise, and draws change with what is compiled.
    let manifest = project.read("ascend.toml");
    project.write("ascend.toml", &manifest.replace("\n[verify]\n", "\n[verify]\nprobes = 0\n"));
    let before = sources(&project);
    let ended = rehearsed(&project, "5", "30", "7");
    let starts = ended.named("start");
    assert_eq!(starts.last().expect("a start")["backend"], "recorded");
    let said = summary(&ended);
    let (speedup, error) = (said["speedup"].as_f64().expect("a factor"), said["error"].as_f64().expect("an error"));
    assert!(error > 0.0 && error < 0.03, "{said}");
    assert!(before == sources(&project) && !project.path().join("ascend.lock").exists());

    // What the simulator says of the configuration without noise.
    let task_us = |assignments: &[String]| {
        let set = assignments.iter().flat_map(|assignment| ["--set", assignment]);
        let profile = project.run(&["profile"].into_iter().chain(set).collect::<Vec<_>>()).expect(0);
        profile.named("profile")[0]["task_us"].as_f64().expect("a time")
    };
    let configuration = said["configuration"].as_object().expect("values");
    let assignments: Vec<String> = configuration.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let real = task_us(&[]) / task_us(&assignments);
    assert!(real > 1.0, "{real}: {said}");
    assert!((speedup / real - 1.0).abs() < 4.0 * error, "{speedup} is not {real}");
}

#[test]
fn it_only_rehearses() {
    require_tools!();
    let project = Project::fixture("add_custom");
    for arguments in [&["run"][..], &["compare", "--against", "."], &["profile"]] {
        let refused = project.run(&[arguments, &["--backend", "recorded"]].concat());
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
    }
    let nothing_locked = project.run(&["check", "--backend", "recorded"]);
    assert_eq!(nothing_locked.code, 1, "a check rehearses too, against a lock: {}", nothing_locked.stderr);
}
