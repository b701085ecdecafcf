//! How fast candidates are tried on this machine: how long a strategy thinks, host-stage evaluations without rebuild, and what
//! share of a kernel-stage evaluation is the compiler. `cargo bench --bench evaluations` prints a table.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use build::sdk::SdkOptions;
use search::{Observation, StrategyKind};
use source::SourceTree;
use space::{Binding, Domain, SearchSpace, Tunable, Value};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tuner::{
    Candidate, Evaluator, Injection, Outcome, Plan, References, Scope, Workspace, WorkspaceOptions, establish_baseline,
};

/// Host-stage evaluations timed for each number of jobs.
const HOST_EVALUATIONS: usize = 400;
/// Points that every strategy is asked for. A millisecond each is the target for all but those with a model.
const ASKED: usize = 200;
/// Kernel-stage evaluations timed.
const KERNEL_EVALUATIONS: usize = 12;
const KERNEL: &str = "op_kernel/add_custom.cpp";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    // `cargo test --benches` only asks whether it starts.
    if !std::env::args().any(|word| word == "--bench") {
        return Ok(());
    }
    asking()?;
    let directory = tempfile::tempdir()?;
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/add_custom"), directory.path())?;
    let workspace = Workspace::open(
        WorkspaceOptions {
            directory: directory.path().to_owned(),
            jobs: 2,
            worker_exe: PathBuf::from(env!("CARGO_BIN_EXE_cargo-ascend-tune")),
            sdk: SdkOptions {
                cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")),
                ..SdkOptions::default()
            },
            seed: 1,
            ..WorkspaceOptions::default()
        },
        &mut |_| {},
    )?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&workspace))
}

/// How long every strategy takes for a point, in a space of 6.6 million of which one in two is allowed.
fn asking() -> Result<(), Failure> {
    let tunable = |name: &str, domain: Domain| Tunable {
        name: name.to_owned(),
        domain,
        default: None,
        binding: Binding::Recorded,
        reason: String::new(),
        when: None,
    };
    let range = |max: i64, step: i64| Domain::Range { min: step, max, step };
    let tunables = [tunable("TILE", range(32_768, 16)), tunable("DEPTH", range(4, 1)), tunable("CORES", range(800, 1))];
    let space = SearchSpace::new(&tunables, &[("TILE * DEPTH <= 32768".to_owned(), 0..21)], &[]);
    let space = space.map_err(|errors| format!("{errors:?}"))?;
    for kind in StrategyKind::ALL {
        let mut strategy = kind.build(&space, 1);
        let started = Instant::now();
        for _ in 0..ASKED {
            let Some(configuration) = strategy.ask(1).pop() else { break };
            let value = |name: &str| configuration.get(name).and_then(Value::as_int).unwrap_or(1) as f64;
            let work = 1e6 / value("CORES");
            let us = work / value("TILE") * (300.0 + value("TILE") / 16.0) / value("DEPTH") + value("CORES");
            strategy.tell(&configuration, &Observation::Objective(us));
        }
        println!(
            "  asking {:<13} {:8.2} ms a point",
            kind.name(),
            started.elapsed().as_secs_f64() * 1e3 / ASKED as f64
        );
    }
    Ok(())
}

async fn measure(workspace: &Workspace) -> Result<(), Failure> {
    let baseline = workspace.baseline()?;
    let (_, references) = establish_baseline(workspace, &baseline).await?;
    let references = Arc::new(references);
    println!("add_custom, 8x2048 half, {} evaluations a row", HOST_EVALUATIONS);
    let plans = host_plans(workspace, &baseline).await?;
    for jobs in [1, 2] {
        let wall = try_all(&workspace.evaluator, &plans, &references, jobs).await?;
        let rate = HOST_EVALUATIONS as f64 / wall.as_secs_f64();
        println!("  host stage, no rebuild, {jobs} job(s)   {rate:7.1} evaluations/s");
    }
    kernel_stage(workspace, &baseline, &references).await
}

/// Configurations of the two tunables that can be given at run time.
async fn host_plans(workspace: &Workspace, baseline: &Candidate) -> Result<Vec<Plan>, Failure> {
    let tunables = workspace.tunables();
    let injection = Injection::find_out(&workspace.evaluator, baseline, tunables, 1).await?;
    println!("  injected at run time: {}", injection.names().join(", "));
    let mut plans = Vec::new();
    for (block_dim, tile_num) in (0..6).flat_map(|cores| (0..7).map(move |tiles| (1_i64 << cores, 1_i64 << tiles))) {
        if block_dim * tile_num > 512 {
            continue;
        }
        let mut configuration = baseline.configuration.clone();
        configuration.set("BLOCK_DIM", Value::Int(block_dim));
        configuration.set("TILE_NUM", Value::Int(tile_num));
        let candidate = baseline.with_configuration(tunables, &configuration)?;
        plans.push(injection.plan(&candidate, tunables)?);
    }
    Ok(plans)
}

/// Tries the plans in turn until there were enough evaluations. The first round, which may compile, is not counted.
async fn try_all(
    evaluator: &Evaluator,
    plans: &[Plan],
    references: &Arc<References>,
    jobs: usize,
) -> Result<Duration, Failure> {
    try_one(evaluator, &plans[0], references).await?;
    let permits = Arc::new(Semaphore::new(jobs));
    let mut running = JoinSet::new();
    let started = Instant::now();
    for plan in plans.iter().cycle().take(HOST_EVALUATIONS) {
        let (evaluator, plan) = (evaluator.clone(), plan.clone());
        let (references, permits) = (Arc::clone(references), Arc::clone(&permits));
        running.spawn(async move {
            let _permit = permits.acquire().await;
            try_one(&evaluator, &plan, &references).await.map_err(|failure| failure.to_string())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(started.elapsed())
}

async fn try_one(evaluator: &Evaluator, plan: &Plan, references: &References) -> Result<(), Failure> {
    match evaluator
        .try_plan(plan, references, Scope::Timed, false)
        .await
        .expect("a machine that works")
        .evaluation
        .outcome
    {
        Outcome::Valid(_) => Ok(()),
        Outcome::Rejected(rejection) => Err(rejection.to_string().into()),
    }
}

/// Kernels that differ in their text: each is tried when it has to be compiled, and again when it has not.
async fn kernel_stage(workspace: &Workspace, baseline: &Candidate, references: &References) -> Result<(), Failure> {
    let (mut first, mut again) = (Duration::ZERO, Duration::ZERO);
    for number in 0..KERNEL_EVALUATIONS {
        let mut sources = SourceTree::new();
        for (file, text) in baseline.sources.iter() {
            let text = if file == KERNEL { format!("{text}// rewrite {number}\n") } else { text.to_owned() };
            sources.insert(file.to_owned(), text);
        }
        let candidate = Candidate { sources, ..baseline.clone() };
        let plan = candidate.plain_plan(workspace.tunables());
        for total in [&mut first, &mut again] {
            let started = Instant::now();
            try_one(&workspace.evaluator, &plan, references).await?;
            *total += started.elapsed();
        }
    }
    let mean_ms = |total: Duration| total.as_secs_f64() * 1e3 / KERNEL_EVALUATIONS as f64;
    let (first_ms, again_ms) = (mean_ms(first), mean_ms(again));
    let share = 100.0 * (1.0 - again_ms / first_ms);
    println!("  kernel stage, 1 job                  {:7.1} evaluations/s", 1e3 / first_ms);
    println!(
        "  of {first_ms:.0} ms the compiler takes {:.0} ms ({share:.0} %), run and analysis {again_ms:.0} ms",
        first_ms - again_ms
    );
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    for entry in walkdir::WalkDir::new(from).into_iter().filter_entry(|entry| entry.file_name() != "target") {
        let entry = entry?;
        let target = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs_err::create_dir_all(&target)?;
        } else {
            fs_err::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
