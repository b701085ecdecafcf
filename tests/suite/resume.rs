//! Runs that are killed at any moment and go on, against one that nobody disturbed.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::standin::{Machine, Style, at_length};
use crate::support::{Ended, Project, require_tools};

/// Runs that are killed. `ASCEND_TUNE_KILLS` asks for more.
const KILLS: u64 = 1;
const RUN: [&str; 7] = ["run", "--budget", "10", "--seed", "1", "--jobs", "2"];
const FILES: [&str; 3] = ["op_host/softmax_rows_tiling.cpp", "op_kernel/softmax_rows.h", "ascend.lock"];

fn project() -> Project {
    let project = Project::as_shipped("softmax_rows");
    let manifest = project.read("ascend.toml");
    assert!(manifest.contains("[1024, 1024]"));
    // Two probes do for a run that is repeated so often.
    let manifest = manifest.replace("[1024, 1024]", "[64, 1024]").replace("seeds = 3", "seeds = 3\nprobes = 2");
    project.write("ascend.toml", &manifest);
    project
}

/// What must not depend on interruptions: files, and the summary without wall time and paths.
fn result(project: &Project, ended: &Ended) -> (BTreeMap<&'static str, String>, Value) {
    let mut summary = ended.events.last().expect("an event").clone();
    assert_eq!(summary["event"], "summary");
    for field in ["wall_s", "lock", "report"] {
        summary.as_object_mut().expect("an object").remove(field);
    }
    (FILES.map(|file| (file, project.read(file))).into(), summary)
}

/// Complete lines of the journal, of which the first is its header.
pub fn journal(project: &Path) -> Vec<String> {
    let text = fs_err::read_to_string(project.join("target/ascend-tune/journal.jsonl")).unwrap_or_default();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
}

/// Starts the run and kills it with all its children a moment after its journal has so many lines. Whether it had ended
/// before.
pub fn run_and_kill(project: &Project, command: Command, lines: usize, moment: Duration) -> bool {
    run_and_kill_when(command, || journal(project.path()).len() >= lines, moment)
}

/// The same a moment after something has come about.
pub fn run_and_kill_when(mut command: Command, is_reached: impl Fn() -> bool, moment: Duration) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().expect("it starts");
    let mut reached = None;
    while reached.is_none_or(|reached: Instant| reached.elapsed() < moment) {
        if child.try_wait().expect("it can be waited for").is_some() {
            return true;
        }
        if reached.is_none() && is_reached() {
            reached = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let group = Pid::from_raw(i32::try_from(child.id()).expect("a process id")).expect("not zero");
    kill_process_group(group, Signal::KILL).expect("it can be killed");
    child.wait().expect("it can be waited for");
    false
}

/// A line of the journal without how long its evaluation took, which no two runs have in common.
fn without_seconds(line: &str) -> String {
    let mut entry: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
    let seconds = entry.as_object_mut().expect("an object").remove("seconds");
    assert!(seconds.is_some_and(|seconds| seconds.as_f64() > Some(0.0)), "{line}");
    entry.to_string()
}

#[test]
fn a_killed_run_goes_on_to_the_same_result() {
    require_tools!();
    let undisturbed = project();
    let ended = undisturbed.run(&RUN).expect(0);
    let expected = result(&undisturbed, &ended);
    let complete = journal(undisturbed.path());
    assert!(complete.len() > 8, "a run that is too short to be interrupted: {complete:?}");

    let kills = std::env::var("ASCEND_TUNE_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(KILLS);
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let (mut interrupted, mut taken_over, mut kill) = (0, 0, 0);
    while interrupted < kills {
        kill += 1;
        assert!(kill <= 3 * kills, "only {interrupted} of {kill} runs could be interrupted");
        let project = project();
        let lines = random.random_range(0..complete.len());
        let moment = Duration::from_millis(random.random_range(0..60));
        let had_ended = run_and_kill(&project, project.command(&RUN), lines, moment);
        let kept = journal(project.path());
        let lock_written = project.path().join("ascend.lock").exists();
        // Once the winner stands in the sources the run is over; what it would do then is another run.
        let ended = project.run(&RUN).expect(0);
        if had_ended || lock_written {
            println!("kill {kill}: ended before it could be killed");
            continue;
        }
        interrupted += 1;
        let resumed = ended.named("warning").into_iter().find(|warning| warning["code"] == "resumed");
        let count = kept.len().saturating_sub(1);
        assert_eq!(resumed.is_some(), count > 0, "{:?}", ended.named("warning"));
        if let Some(warning) = resumed {
            assert!(
                warning["message"].as_str().expect("text").starts_with(&format!("{count} evaluations")),
                "{warning}"
            );
        }
        taken_over += count;
        // The journal only grows: nothing that stood in it was run again, and nothing was run twice.
        let after = journal(project.path());
        assert_eq!(after[..kept.len()], kept[..]);
        let sorted = |lines: &[String]| {
            let mut lines: Vec<String> = lines[1..].iter().map(|line| without_seconds(line)).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&after), sorted(&complete), "evaluations of an interrupted run are those of a whole one");
        assert_eq!(result(&project, &ended), expected, "kill {kill} at {lines} lines");
        println!("kill {kill}: {count} of {} evaluations kept", complete.len() - 1);
    }
    println!("{interrupted} of {kill} runs were interrupted, {taken_over} evaluations taken over");
}

/// What a device has measured is not measured again.
#[test]
fn a_killed_run_on_a_device_goes_on_from_its_journal() {
    require_tools!();
    if !at_length() {
        return;
    }
    let machine = Machine::new(Style::Framework);
    machine.standin.set("noise", "0.02");
    let run = ["run", "--budget", "8", "--stage", "host", "--seed", "5"];
    assert!(!run_and_kill(&machine.project, machine.command(&run), 5, Duration::from_millis(30)), "it was killed");
    let kept = journal(machine.project.path());
    let ended = machine.run(&run).expect(0);
    let resumed = ended.named("warning").into_iter().find(|warning| warning["code"] == "resumed");
    let said = resumed.expect("it says so")["message"].to_string();
    assert!(said.contains(&format!("{} evaluations", kept.len() - 1)), "{said}");
    let after = journal(machine.project.path());
    assert_eq!(after[..kept.len()], kept[..], "what was measured stands");
    let mut candidates: Vec<String> = after[1..].iter().map(|line| without_seconds(line)).collect();
    candidates.sort();
    candidates.dedup();
    assert_eq!(candidates.len(), after.len() - 1, "nothing is evaluated twice");
    assert_eq!(ended.events.last().expect("a summary")["evaluations"], 8);
}
