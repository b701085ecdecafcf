//! Sessions with the binary on copies of the fixtures: what the commands promise to scripts.

mod build;
mod check;
mod ci;
mod cmake_module;
mod contract;
mod exit_status;
mod golden;
mod init;
mod locks;
mod many;
mod options;
mod pages;

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
    edit(&project, "ascend.toml", "[1024, 1024]", "[32, 1024]");
    edit(&project, "ascend.toml", "1024x1024", "32x1024");
    project
}

/// `small_gelu` after a run, and the events of that run. Copies of it share one run.
fn tuned() -> &'static (Project, Ended) {
    static TUNED: LazyLock<(Project, Ended)> = LazyLock::new(|| {
        let project = small_gelu();
        let ended = project.run(&["run", "--budget", "12", "--seed", "1", "--jobs", "4"]).expect(0);
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
