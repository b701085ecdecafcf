//! Ranking large cases by blocks that stand for all: where it happens, what it finds, and that nothing becomes best by it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use events::{BlocksRun, CaseBlocks};
use serde_json::Value;
use source::SourceTree;
use tuner::{Budget, Champion, Journal, Outcome, Plan, Race, Session, Workspace, WorkspaceOptions, establish_baseline};
use verify::Reason;

use crate::support::{Project, TOOL, require_tools, sdk_options};

/// Tensors of 3 MiB, of which cases are sampled from `mib` on.
fn project(mib: u32) -> Project {
    let project = Project::as_shipped("add_custom");
    let manifest = project.read("ascend.toml");
    let large = manifest.replace("[8, 2048]", "[8, 65536]");
    let sampled = large.replace("[verify]\n", &format!("[verify]\nprobes = 2\nsample-blocks-from-mib = {mib}\n"));
    assert!(large != manifest && sampled != large);
    project.write("ascend.toml", &sampled);
    project
}

#[test]
fn a_sampled_run_finds_what_a_full_one_finds_and_says_so() {
    require_tools!();
    let run = |mib: u32, budget: &str| {
        let project = project(mib);
        let ended = project
            .run(&["run", "--budget", budget, "--seed", "1", "--stage", "host", "--jobs", "1", "--dry-run"])
            .expect(0);
        let mut summary = ended.events.last().expect("an event").clone();
        let fields = summary.as_object_mut().expect("an object");
        for field in ["wall_s", "lock", "report"] {
            fields.remove(field);
        }
        let sampled = fields.remove("sampled");
        let evaluations: Vec<(Value, Value)> = ended
            .named("evaluation")
            .iter()
            .map(|event| (event["configuration"].clone(), event["objective_us"].clone()))
            .collect();
        let blocks = ended.named("evaluation").iter().filter(|event| !event["blocks"].is_null()).count();
        (summary, evaluations, blocks, sampled)
    };
    let (sampled, whole, below) = (run(1, "6"), run(0, "6"), run(4, "2"));
    assert_eq!((&sampled.0, &sampled.1), (&whole.0, &whole.1), "the same candidates, times and winner");
    assert_eq!((whole.2, whole.3), (0, None), "0 switches it off");
    assert_eq!((below.2, below.3), (0, None), "small cases are left alone");
    let case = &sampled.3.expect("something was sampled")[0];
    assert!(sampled.2 > 0 && case["sampled"].as_u64().expect("a number") > 0, "{case}");
    assert_eq!((&case["name"], &case["blocks"]), (&Value::from("8x2048"), &Value::from(2)), "{case}");
}

/// The kernel with another text in place of `before`.
fn changed(sources: &SourceTree, before: &str, after: &str) -> SourceTree {
    let file = "op_kernel/add_custom.cpp";
    let text = sources.text(file).expect("the kernel");
    assert!(text.contains(before), "{before}");
    let mut changed = sources.clone();
    changed.insert(file, text.replace(before, after));
    changed
}

#[test]
fn what_only_unsampled_blocks_do_wrong_is_found_before_it_counts() {
    require_tools!();
    let project = project(1);
    let options = WorkspaceOptions {
        directory: project.path().to_owned(),
        jobs: 1,
        worker_exe: PathBuf::from(TOOL),
        sdk: sdk_options(),
        ..WorkspaceOptions::default()
    };
    let workspace = Workspace::open(options, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let baseline = workspace.baseline().expect("a baseline");
    let plain = baseline.plain_plan(workspace.tunables());
    let (_, references) = runtime.block_on(establish_baseline(&workspace, &baseline)).expect("it is right");

    let plan = |name: &str, before: &str, after: &str| Plan {
        digest: name.to_owned(),
        sources: changed(&plain.sources, before, after),
        ..plain.clone()
    };
    let own = "(__gm__ half *)x + offset";
    // The first block reads what the second one should, or only the fourth does: all addresses keep their distances.
    let other =
        |block: u32| format!("(__gm__ half *)x + (AscendC::GetBlockIdx() == {block} ? offset + blockLength : offset)");
    let first = plan("first", own, &other(0));
    let fourth = plan("fourth", own, &other(3));
    // One block computes with another scalar: it is like no other.
    let scaled = plan(
        "scaled",
        "AscendC::Add(zLocal, xLocal, yLocal, this->tileLength);",
        "AscendC::Muls(xLocal, xLocal, half(AscendC::GetBlockIdx() == 3 ? 2.0f : 1.0f), this->tileLength);\n        \
         AscendC::PipeBarrier<PIPE_V>();\n        AscendC::Add(zLocal, xLocal, yLocal, this->tileLength);",
    );
    let reading = plan(
        "reading",
        "outQueueZ.EnQue(zLocal);",
        "AscendC::PipeBarrier<PIPE_ALL>();\n        if (float(xLocal.GetValue(0)) == 7.0f) { return; }\n        outQueueZ.EnQue(zLocal);",
    );

    let champion = Champion { us: 1e9, ..Champion::default() };
    let none = BTreeSet::new();
    let race = Race { champion: &champion, weights: &[], whole: &none };
    let rank = |plan: &Plan| {
        runtime.block_on(workspace.evaluator.race(plan, &references, &race)).expect("a machine that works").evaluation
    };
    let sampled = |blocks| vec![CaseBlocks { case: "8x2048".to_owned(), ran: BlocksRun::Sampled { blocks, of: 8 } }];
    let reason = |outcome: &Outcome| match outcome {
        Outcome::Rejected(rejection) => Some((rejection.reason, rejection.detail.clone())),
        Outcome::Valid(_) => None,
    };

    let right = rank(&plain);
    assert_eq!((reason(&right.outcome), &right.blocks), (None, &sampled(2)));
    let (why, detail) = reason(&rank(&first).outcome).expect("a sampled block is wrong");
    assert_eq!(why, Reason::WrongResult);
    assert!(detail.ends_with("(counted over what blocks 0, 7 write)"), "{detail}");
    let quick = rank(&fourth);
    assert_eq!((reason(&quick.outcome), &quick.blocks), (None, &sampled(2)), "nobody looked at the fourth block");
    assert_eq!(reason(&rank(&scaled).outcome).expect("the fourth block runs as well").0, Reason::WrongResult);
    let whole = rank(&reading);
    let [CaseBlocks { ran: BlocksRun::All { reason: why }, .. }] = &whole.blocks[..] else { panic!("{whole:?}") };
    assert!(why.starts_with("the scalar unit reads 2 bytes of UB"), "{why}");
    assert!(matches!(&whole.outcome, Outcome::Valid(_)));

    // All are promising against this champion, so that all of the case runs: with the wrong block.
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (journal, _) = Journal::open(&directory.path().join("journal.jsonl"), "test", false).expect("a journal");
    let budget = Budget { evaluations: 10, time_limit: None };
    let references = Arc::new(references.clone());
    let evaluator = workspace.evaluator.clone();
    let mut session = Session::new(evaluator, Arc::new(journal), references, budget, 1, Vec::new());
    let judged =
        runtime.block_on(session.evaluate(vec![plain.clone(), fourth], &champion)).expect("they are evaluated");
    let judged: Vec<_> = judged.into_iter().map(|judged| judged.expect("there is budget").evaluation).collect();
    assert!(judged[0].thorough && reason(&judged[0].outcome).is_none());
    assert_eq!(reason(&judged[1].outcome).expect("it is wrong").0, Reason::WrongResult);
    assert_eq!(session.sampled()[0].sampled, 2);
}
