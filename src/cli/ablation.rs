//! `ablation`: runs the tuner whole and in parts over many operators.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::Exit;
use super::args::AblationArgs;
use super::output::{Output, write_whole};
use super::projects::projects;
use super::target::{processors, worker_exe};
use build::Digest;
use build::sdk::{Sdk, SdkOptions};
use events::ablation::{BestSoFar, Finished, Trial, Variant};
use events::{Event, Stage, Start};
use experience::Bank;
use project::load_machine;
use search::StrategyKind;
use studies::ablation::{render, summarise};
use tuner::{Experience, Rewriting, RunOptions, TunerError, Workspace, WorkspaceOptions, run};

/// One run that is wanted.
struct Wanted {
    /// The directory that was named.
    root: PathBuf,
    /// The project below it.
    project: String,
    variant: Variant,
    seed: u64,
}

/// Executes the command.
pub fn execute(arguments: &AblationArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(Start {
        backend: Some("sim".to_owned()),
        budget: Some(arguments.budget),
        ..Start::new("ablation")
    }));
    let machine = load_machine(&arguments.machine, Path::new("."))?;
    // Once for all, before several want it at the same time.
    Sdk::prepare(&SdkOptions::from_environment())?;
    let wanted = wanted(arguments)?;
    let runner = Runner { arguments, worker_exe: worker_exe()?, bank: bank(arguments)? };
    let next = AtomicUsize::new(0);
    let (results, shown) = (Mutex::new(Vec::new()), Mutex::new(output));
    let jobs = arguments.jobs.map_or_else(processors, |jobs| jobs as usize).min(wanted.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(one) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let trial = runner.trial(one);
                    if let Ok(mut output) = shown.lock() {
                        output.emit(&Event::AblationTrial(Box::new(trial.clone())));
                    }
                    if let Ok(mut results) = results.lock() {
                        results.push(trial);
                    }
                }
            });
        }
    });
    let trials = results.into_inner().map_err(|error| TunerError::Internal(error.to_string()))?;
    let output = shown.into_inner().map_err(|error| TunerError::Internal(error.to_string()))?;
    let report = summarise(&machine.name, &machine.version, arguments.budget, trials);
    if let Some(path) = &arguments.markdown {
        write_whole(path, &render(&report, &command(arguments, path)))?;
    }
    output.emit(&Event::Ablation(Box::new(report)));
    Ok(Exit::Fine)
}

/// Every project with every variant and seed; seeds outermost, so that an interrupted command has all variants of the first.
fn wanted(arguments: &AblationArgs) -> Result<Vec<Wanted>, TunerError> {
    let projects = projects(&arguments.directories, &arguments.only)?;
    let mut wanted = Vec::new();
    for seed in &arguments.seeds {
        for (root, project) in &projects {
            for variant in &arguments.variants {
                wanted.push(Wanted { root: root.clone(), project: project.clone(), variant: *variant, seed: *seed });
            }
        }
    }
    Ok(wanted)
}

/// The bank that trials ask, before anything is held out.
fn bank(arguments: &AblationArgs) -> Result<Bank, TunerError> {
    let mut bank = Bank::shipped();
    for directory in &arguments.bank {
        bank.merge(super::bank::load(directory)?);
    }
    Ok(bank)
}

struct Runner<'a> {
    arguments: &'a AblationArgs,
    worker_exe: PathBuf,
    bank: Bank,
}

impl Runner<'_> {
    /// The trial, from its file if it was run before on the same inputs.
    fn trial(&self, wanted: &Wanted) -> Trial {
        let path = self.directory(wanted).join("trial.json");
        let mut trial = Trial {
            inputs: String::new(),
            operator: String::new(),
            project: wanted.project.clone(),
            variant: wanted.variant,
            seed: wanted.seed,
            budget: self.arguments.budget,
            result: Err(String::new()),
        };
        let failed = |trial: Trial, error: TunerError| Trial { result: Err(error.to_string()), ..trial };
        let workspace = match self.open(wanted) {
            Ok(workspace) => workspace,
            Err(error) => return failed(trial, error),
        };
        trial.operator = workspace.manifest.operator.clone();
        trial.inputs = self.inputs(&workspace, wanted);
        let known = std::fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Trial>(&text).ok());
        if let Some(known) = known.filter(|known| known.inputs == trial.inputs && !self.arguments.no_resume) {
            return known;
        }
        match self.run(&workspace, wanted) {
            Ok(finished) => {
                trial.result = Ok(finished);
                // A trial that cannot be kept is run again next time.
                let _ = write_whole(&path, &serde_json::to_string_pretty(&trial).unwrap_or_default());
                trial
            }
            Err(error) => failed(trial, error),
        }
    }

    /// Everything of a trial: journal, builds, result.
    fn directory(&self, wanted: &Wanted) -> PathBuf {
        let plain = |text: &str| text.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_', "-");
        // Two roots may hold projects of the same name.
        let root = blake3::hash(wanted.root.display().to_string().as_bytes()).to_hex()[..6].to_owned();
        let project = format!("{}-{root}", plain(&wanted.project));
        self.arguments.work.join(project).join(format!("{}-{}", wanted.variant.name(), wanted.seed))
    }

    fn open(&self, wanted: &Wanted) -> Result<Workspace, TunerError> {
        let options = WorkspaceOptions {
            directory: wanted.root.join(&wanted.project),
            machine: Some(self.arguments.machine.clone()),
            // Trials run side by side; each of them evaluates in turn.
            jobs: 1,
            worker_exe: self.worker_exe.clone(),
            sdk: SdkOptions::from_environment(),
            work_directory: Some(std::path::absolute(self.directory(wanted))?),
            seed: wanted.seed,
            ..WorkspaceOptions::default()
        };
        Workspace::open(options, &mut |_| {})
    }

    fn inputs(&self, workspace: &Workspace, wanted: &Wanted) -> String {
        let parts = [
            env!("CARGO_PKG_VERSION"),
            &workspace.sources.digest(),
            &workspace.manifest_text,
            &workspace.sdk.digest,
            &workspace.machine.digest(),
            &self.bank.digest(),
            &format!("{} {} {}", wanted.variant.name(), wanted.seed, self.arguments.budget),
            &format!("{} {:?}", self.arguments.allow_rounding, self.arguments.hold_out),
        ];
        Digest::new("ablation 1").texts(parts).finish()
    }

    fn options(&self, workspace: &Workspace, wanted: &Wanted) -> RunOptions {
        let (host, kernel) = (Stage::Host, Stage::Kernel);
        let (stages, rewriting) = match wanted.variant {
            Variant::Full | Variant::NoBank => (vec![kernel, host], Rewriting::Successive),
            Variant::NoKernel => (vec![host], Rewriting::Successive),
            Variant::NoHost => (vec![kernel], Rewriting::Successive),
            Variant::BestOfN => (vec![kernel], Rewriting::FromBaseline),
            Variant::Greedy => (vec![kernel, host], Rewriting::OneByOne),
        };
        // A bank that contains the answer proves nothing.
        let mut held_out = self.arguments.hold_out.clone();
        held_out.push(workspace.manifest.operator.clone());
        let experience = if wanted.variant == Variant::NoBank {
            Experience::default()
        } else {
            Experience { shipped: true, banks: self.arguments.bank.clone(), held_out }
        };
        RunOptions {
            evaluations: self.arguments.budget,
            time_limit: self.arguments.time_limit,
            seed: wanted.seed,
            strategy: StrategyKind::default(),
            stages,
            resume: !self.arguments.no_resume,
            experience,
            // What it tries counts beside the budget, and variants are compared by that.
            dispatch: false,
            rewriting,
            allow_rounding: self.arguments.allow_rounding,
            patches: None,
            further: Vec::new(),
            further_digest: String::new(),
            // A variant must not learn from another one's result.
            earlier_winners: Vec::new(),
        }
    }

    fn run(&self, workspace: &Workspace, wanted: &Wanted) -> Result<Finished, TunerError> {
        let started = Instant::now();
        let mut steps = Vec::new();
        let outcome =
            super::target::runtime()?.block_on(run(workspace, &self.options(workspace, wanted), &mut |event| {
                if let Event::Improvement(improvement) = event {
                    let wall_s = started.elapsed().as_secs_f64();
                    steps.push(BestSoFar { evaluations: improvement.index, wall_s, speedup: improvement.speedup });
                }
            }))?;
        Ok(Finished {
            baseline_us: outcome.progress.baseline_us,
            best_us: outcome.progress.best_us,
            speedup: outcome.speedup(),
            evaluations: outcome.evaluations,
            rejected: outcome.rejected,
            wall_s: started.elapsed().as_secs_f64(),
            steps,
            host_gain: outcome.progress.tally(Stage::Host).gain,
            kernel_gain: outcome.progress.tally(Stage::Kernel).gain,
            motifs: outcome.progress.best.patches.iter().map(|patch| patch.motif.clone()).collect(),
            ended: outcome.ended,
        })
    }
}

/// The command that makes a page again.
fn command(arguments: &AblationArgs, page: &Path) -> String {
    let variants: Vec<&str> = arguments.variants.iter().map(|variant| variant.name()).collect();
    let seeds: Vec<String> = arguments.seeds.iter().map(ToString::to_string).collect();
    format!(
        "cargo ascend-tune ablation OPERATORS --budget {} --variants {} --seeds {} --markdown {}",
        arguments.budget,
        variants.join(","),
        seeds.join(","),
        page.display()
    )
}
