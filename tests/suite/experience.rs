//! Experience through the command: what runs and rewinds leave behind, and what it is worth.

use crate::support::{Ended, Project, require_tools, tool};

/// The softmax fixture with rows so few that a run takes seconds.
fn small() -> Project {
    let project = Project::as_shipped("softmax_rows");
    let manifest = project.read("ascend.toml");
    assert!(manifest.contains("[1024, 1024]"));
    project.write(
        "ascend.toml",
        &manifest.replace("[1024, 1024]", "[64, 1024]").replace("seeds = 3", "seeds = 3\nprobes = 2"),
    );
    project
}

#[test]
fn a_run_keeps_what_its_rewrites_did_and_a_bank_can_be_asked() {
    require_tools!();
    let project = small();
    project.run(&["run", "--stage", "kernel", "--budget", "6", "--seed", "1", "--no-bank"]).expect(0);
    let listed = project.run(&["bank", "list"]).expect(0);
    let records = listed.named("bank")[0]["records"].as_array().expect("records").clone();
    assert!(!records.is_empty(), "six rewrites of single motifs teach something");
    assert!(records.iter().all(|record| record["operator"] == "SoftmaxRows"));

    let bank = project.path().join("target/ascend-tune/bank").display().to_string();
    let bank = bank.as_str();
    let stats = project.run(&["bank", "stats", "--bank", bank]).expect(0);
    let of = |name: &str| {
        stats.named("bank")[0]["motifs"]
            .as_array()
            .expect("motifs")
            .iter()
            .map(|motif| motif[name].as_u64().unwrap_or(0))
            .sum::<u64>()
    };
    assert_eq!(of("records"), records.len() as u64);
    assert_eq!(of("kept") + of("no_gain") + of("effect_without_mechanism") + of("rejected"), of("records"));

    let kernel = project.path().join("op_kernel").display().to_string();
    let found = project
        .run(&["bank", "search", "--bank", bank, "--code", &kernel, "--symptom", "waits", "--top", "2"])
        .expect(0);
    let found = found.named("bank")[0]["records"].as_array().expect("records").clone();
    assert!(found.len() <= 2 && found[0]["summary"].as_str().is_some_and(|text| text.contains("% alike")), "{found:?}");

    let page = project.path().join("bank.md").display().to_string();
    project.run(&["bank", "export", "--bank", bank, &page]).expect(0);
    assert!(project.read("bank.md").contains("| motif | records |"));
    let pruned = project.run(&["bank", "prune", "--bank", bank]).expect(0);
    let removed = pruned.named("bank")[0]["removed"].as_u64().expect("a number");
    let left = project.run(&["bank", "list", "--bank", bank]).expect(0);
    assert_eq!(left.named("bank")[0]["records"].as_array().expect("records").len() as u64 + removed, of("records"));
}

#[test]
fn rewinding_a_directory_yields_records_in_chains_and_does_not_try_twice() {
    require_tools!();
    let project = small();
    let before = project.read("op_kernel/softmax_rows.h");
    let bank = project.path().join("mined");
    let (root, bank) = (project.path().display().to_string(), bank.display().to_string());
    let rewind = || {
        let mut command = tool();
        command.args(["rewind", &root, "--bank", &bank, "--budget", "8", "--sites", "1", "--chain", "2"]);
        Ended::new(&command.args(["--message-format", "json"]).output().expect("the tool runs")).expect(0)
    };
    let first = rewind();
    let event = first.named("rewind")[0].clone();
    let steps = event["steps"].as_array().expect("steps").clone();
    assert_eq!(steps.len(), 8);
    let tried: u64 =
        event["yields"].as_array().expect("yields").iter().map(|one| one["tried"].as_u64().unwrap_or(0)).sum();
    assert_eq!(tried, 8);
    assert!(event["yields"].as_array().expect("yields").len() > 3, "a small budget sees several motifs: {event}");
    assert_eq!(project.read("op_kernel/softmax_rows.h"), before, "sources stay as they are");
    let began = std::time::Instant::now();
    assert_eq!(rewind().named("rewind")[0]["steps"], event["steps"], "what was tried is remembered");
    let journal = project.read("target/ascend-tune/rewind.jsonl");
    assert_eq!(
        journal.lines().count(),
        1 + 8,
        "a header and a line for each rewound kernel after {:?}",
        began.elapsed()
    );
}

#[test]
fn a_run_begins_with_settings_that_the_bank_knows_of_others() {
    require_tools!();
    let project = small();
    std::fs::create_dir(project.path().join("known")).expect("a directory");
    project.write(
        "known/cores.toml",
        r#"
motif = "cores"
verdict = "kept"
origin = "modelled"
before-us = 20.0
after-us = 11.0
before-digest = "00"
after-digest = "11"
symptoms = []
diff = ""
setting = { slow = 1.0, fast = 0.5 }
provenance = { project = "mine", operator = "Other", licence = "MIT", machine = "Ascend910B2", machine-version = "4" }
features = { dtypes = ["float"], input-queues = 1, output-queues = 1, scratch-buffers = 1, buffers = 1, scalar-loops = 0, full-barriers = 0, vector-calls = 9, copies = 2 }
"#,
    );
    let bank = project.path().join("known").display().to_string();
    let run = |arguments: &[&str]| {
        // What ships with the tool stays out of it.
        let shipped = ["--hold-out", "careful", "--hold-out", "softmax", "--hold-out", "add_custom"];
        let common =
            [["run", "--budget", "2", "--seed", "1", "--no-resume", "--dry-run"].as_slice(), &shipped].concat();
        let ended = project.run(&[&common[..], arguments].concat()).expect(0);
        let cores = |at: usize| ended.named("evaluation")[at]["configuration"]["MAX_CORES"].as_i64();
        [cores(0), cores(1)]
    };
    // Twenty is what the sources have. All cores are tried in any case, and then what the bank knows of others.
    assert_eq!(run(&["--bank", &bank]), [Some(48), Some(24)]);
    // What it knows of the operator itself may be held out: another stage goes on with the best.
    assert_eq!(run(&["--bank", &bank, "--hold-out", "other"]), [Some(48), Some(48)]);
}

#[test]
fn an_ablation_compares_parts_at_equal_budgets_and_goes_on_where_it_stopped() {
    require_tools!();
    let project = small();
    let before = project.read("op_kernel/softmax_rows.h");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (root, work) = (project.path().display().to_string(), folder.path().display().to_string());
    let page = project.path().join("page.md").display().to_string();
    let ablation = |variants: &str| {
        let mut command = tool();
        command.args([
            "ablation",
            &root,
            "--work",
            &work,
            "--variants",
            variants,
            "--budget",
            "4",
            "--markdown",
            &page,
        ]);
        Ended::new(&command.args(["--message-format", "json"]).output().expect("the tool runs")).expect(0)
    };
    let first = ablation("full,no-kernel");
    let report = first.named("ablation")[0].clone();
    let trials = report["trials"].as_array().expect("trials").clone();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        let finished = &trial["result"]["Ok"];
        assert!(finished["evaluations"].as_u64().is_some_and(|spent| spent <= 4), "{trial}");
        assert!(finished["speedup"].as_f64().is_some_and(|speedup| speedup >= 1.0), "{trial}");
    }
    assert_eq!(trials[1]["variant"], "no-kernel");
    assert_eq!(trials[1]["result"]["Ok"]["motifs"].as_array().map(Vec::len), Some(0));
    assert_eq!(project.read("op_kernel/softmax_rows.h"), before, "sources stay as they are");
    assert!(project.read("page.md").contains("| full | 1 | 0 |"));
    // Finished runs are taken from their files, wall time and all; the new variant is added.
    let second = ablation("full,no-kernel,best-of-n");
    let again = second.named("ablation")[0]["trials"].as_array().expect("trials").clone();
    assert_eq!((&again[0], &again[1]), (&trials[0], &trials[1]));
    assert_eq!(again[2]["variant"], "best-of-n");

    let none = tool().args(["ablation", &work, "--only", "nothing"]).output().expect("the tool runs");
    assert_eq!(none.status.code(), Some(2));
}
