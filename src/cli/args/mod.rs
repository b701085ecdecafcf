//! Arguments of every command. What they mean is decided by the commands; here is only what may be said.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ColorChoice, Parser, Subcommand, ValueEnum};

mod bank;
mod check;
mod init;
mod lock;
mod model;
mod operators;
mod printed;
mod report;
mod soundness;
mod studies;

pub use super::value::{Assignment, Definition};
use super::{Exit, value};
use ::lock::EntryName;
pub use bank::{BankAction, BankArgs};
pub use check::CheckArgs;
pub use init::{CaseCount, CiSystem, InitArgs};
pub use lock::{ApplyArgs, ExportFormat, LockAction, LockArgs, UndoArgs};
pub use model::{McpArgs, ModelArgs};
pub use operators::{Operators, Selection};
pub use printed::{CompletionsArgs, ManArgs, SchemaArgs, SchemaOf};
pub use report::ReportArgs;
use search::StrategyKind;
pub use soundness::SoundnessArgs;
pub use studies::{AblationArgs, CalibrateArgs, FidelityArgs, ReplayArgs, SurveyArgs};

/// Autotuner for Ascend C operators: searches tilings, rewrites kernels, verifies every candidate, locks the winner.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "cargo-ascend-tune",
    bin_name = "cargo ascend-tune",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Run it in the directory of an operator project. First steps:\n  \
                  cargo ascend-tune init      write ascend.toml\n  \
                  cargo ascend-tune run       tune, write back, lock\n  \
                  cargo ascend-tune check     compare with ascend.lock, for CI",
    after_long_help = long_help()
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

fn long_help() -> String {
    format!(
        "Examples:\n  \
         cargo ascend-tune init\n  \
         cargo ascend-tune run --budget 200 --seed 1\n  \
         cargo ascend-tune profile --case large\n  \
         cargo ascend-tune check --message-format json\n\n\
         The latencies of the `sim` backend are modelled, never measured; every output says so.\n\n{}",
        Exit::help()
    )
}

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// For people: status lines on standard error, results on standard output.
    #[default]
    Human,
    /// One JSON object a line on standard output, each with "event".
    Json,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Directory of the operator project; a Cargo package, a CMake project, or one operator of a larger tree.
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub project: PathBuf,
    /// Form of the output.
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t)]
    pub message_format: MessageFormat,
    /// Say only results and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: every evaluation with its reason; twice for the tool's own log.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// What can be asked for.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Read the sources and write a commented ascend.toml.
    Init(InitArgs),
    /// Tune the operator, write the winner back into the sources, write ascend.lock and a report.
    Run(RunArgs),
    /// Run again and fail where outputs or times are not those of ascend.lock, or it has drifted apart.
    Check(CheckArgs),
    /// Compare with an earlier state of the sources on cases that nobody tuned on.
    Compare(CompareArgs),
    /// Make the page of the last run again, or compare two runs.
    Report(ReportArgs),
    /// Show how the project differs from ascend.lock; show, compare, verify, accept, migrate and export locks.
    Lock(LockArgs),
    /// Put sources and ascend.lock back as they were before the last run.
    Undo(UndoArgs),
    /// Apply the result of the last run again, or some of its steps.
    Apply(ApplyArgs),
    /// Build the project with the values of ascend.lock.
    Build(BuildArgs),
    /// Run once and explain where the time goes.
    Profile(ProfileArgs),
    /// Run the operator's own kernel unit tests on the simulated machine.
    Test(TestArgs),
    /// Say what is there, what is missing and how to get it.
    Doctor(DoctorArgs),
    /// Print a script by which a shell completes the words of cargo-ascend-tune.
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command.
    Man(ManArgs),
    /// Print the JSON schema of ascend.toml, ascend.lock or of events.
    Schema(SchemaArgs),
    /// Remove optimisations from a strong kernel one by one and record what each was worth.
    Rewind(RewindArgs),
    /// List, search, merge and prune the records of an experience bank.
    Bank(BankArgs),
    /// Serve profiles, hazards, motifs, records and API facts to coding agents, over standard input and output.
    Mcp(McpArgs),
    /// Walk a tree, try every operator, and say how far each got and what stopped it.
    Survey(SurveyArgs),
    /// Run programs whose times were published and compare the model with the published figures.
    Fidelity(FidelityArgs),
    /// Fit the constants of a machine description to a table of measured figures.
    Calibrate(CalibrateArgs),
    /// Run search strategies on recorded tuning spaces and compare what they find with other tuners.
    Replay(ReplayArgs),
    /// Tune many operators with parts of the tuner taken out, and say what each part is worth.
    Ablation(AblationArgs),
    /// Apply every motif to generated kernels and compare what they do before and after.
    #[command(hide = true)]
    Soundness(SoundnessArgs),
    /// Compare an operator's kernels built against the embedded headers and against a toolkit's.
    #[command(hide = true)]
    Doors(DoorsArgs),
    /// Take one operator through the steps of a survey.
    #[command(name = "__trial", hide = true)]
    Trial(RawArgs),
}

impl Command {
    /// The word on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::Run(_) => "run",
            Command::Check(_) => "check",
            Command::Compare(_) => "compare",
            Command::Report(_) => "report",
            Command::Lock(_) => "lock",
            Command::Undo(_) => "undo",
            Command::Apply(_) => "apply",
            Command::Build(_) => "build",
            Command::Profile(_) => "profile",
            Command::Test(_) => "test",
            Command::Doctor(_) => "doctor",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Schema(_) => "schema",
            Command::Rewind(_) => "rewind",
            Command::Bank(_) => "bank",
            Command::Mcp(_) => "mcp",
            Command::Survey(_) => "survey",
            Command::Soundness(_) => "soundness",
            Command::Fidelity(_) => "fidelity",
            Command::Replay(_) => "replay",
            Command::Calibrate(_) => "calibrate",
            Command::Ablation(_) => "ablation",
            Command::Doors(_) => "doors",
            Command::Trial(_) => "__trial",
        }
    }
}

/// What executes kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BackendChoice {
    /// `cann` where a toolkit and a device answer, else `sim`; commands that compare with a lock take what that was made with.
    #[default]
    Auto,
    /// The embedded simulator and AI Core model; needs a C++ compiler, no NPU.
    Sim,
    /// A toolkit and its devices: what the simulator finds right is built and measured there.
    Cann,
    /// What the simulator answers, recorded once, with noise on the times: a rehearsal of what is measured, for `run --dry-run`
    /// and `check`.
    Recorded,
}

fn noise_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    if (0.0..=50.0).contains(&percent) { Ok(percent) } else { Err(format!("{percent} does not lie between 0 and 50")) }
}

/// Options of commands that build and run the project.
#[derive(Clone, Debug, Args)]
pub struct Target {
    /// What executes kernels.
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    pub backend: BackendChoice,
    /// The toolkit's folder [default: that of ascend.toml, of ASCEND_HOME_PATH, or an installed one].
    #[arg(long, value_name = "DIR")]
    pub toolkit: Option<PathBuf>,
    /// The chip: its entry of ascend.lock and, where times are modelled, its machine description; of devices the full name (Ascend910B3),
    /// where the driver tells no more than its family. NAME:modelled or NAME:measured where a lock has both.
    #[arg(long, value_name = "NAME")]
    pub soc: Option<EntryName>,
    /// Number of a device to measure on, as the driver counts; may be repeated [default: all that are free].
    #[arg(long = "device", value_name = "N")]
    pub devices: Vec<u32>,
    /// Launches before the first that counts [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=500))]
    pub warm_up: Option<u32>,
    /// Launches that count, at least [default: 10]; more follow while the median is not known to 1 %, five times as many at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub launches: Option<u32>,
    /// Empty the L2 cache before every launch that counts.
    #[arg(long)]
    pub flush_l2: bool,
    /// Copies of the tensors that launches take turns through [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub rotate: Option<u32>,
    /// Standard deviation of the noise of `--backend recorded`, in percent of a time.
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = noise_percent)]
    pub noise: f64,
    /// Machine description: a name such as ascend910b2, or a TOML file [default: that of ascend.toml].
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Select a case of ascend.toml; may be repeated [default: all].
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Fix a tunable; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub assignments: Vec<Assignment>,
    /// Pass a CMake cache entry to the project; may be repeated.
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    pub definitions: Vec<Definition>,
    /// Build kernels against the headers of a toolkit or of a checkout of the open device library instead of the embedded
    /// SDK's; `own` for those in spite of ascend.toml.
    #[arg(long, value_name = "DIR")]
    pub sdk_headers: Option<PathBuf>,
    /// Builds and runs at the same time [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Seed of every random choice; the same seed and inputs give the same result. Commands that choose nothing at random
    /// accept it all the same.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
}

/// Stages of the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StageChoice {
    /// Alternate.
    #[default]
    Both,
    /// Only search over tunables.
    Host,
    /// Only rewrite the kernel.
    Kernel,
}

/// `run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune run\n  \
    cargo ascend-tune run --budget 100 --seed 1 --time-limit 15m\n  \
    cargo ascend-tune run --case large --set BUFFER_NUM=2 --dry-run\n  \
    cargo ascend-tune run --workspace --time-limit 5m    (each operator in its turn)\n\n\
    A run that was interrupted goes on where it stopped, as long as sources, manifest and options are the same.")]
pub struct RunArgs {
    /// Of which operators.
    #[command(flatten)]
    pub operators: Operators,
    /// What to build and run.
    #[command(flatten)]
    pub target: Target,
    /// Evaluations to spend.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub budget: u64,
    /// End the search after this time, such as 90s, 15m or 1h: what has begun is brought to its end, building, the baseline and the probes
    /// come on top, and up to half as much for steps that the winner may do without. A run that is ended by time need not be repeatable.
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub time_limit: Option<Duration>,
    /// Search strategy of the host stage.
    #[arg(long, value_name = "NAME", default_value_t, value_parser = value::strategy())]
    pub strategy: StrategyKind,
    /// Stages to use.
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    pub stage: StageChoice,
    /// Directory of one more experience bank that the kernel stage asks, beside the shipped one and the project's own.
    #[arg(long, value_name = "DIR")]
    pub bank: Option<PathBuf>,
    /// Ask no experience bank, not even the one that ships with the tool.
    #[arg(long, conflicts_with_all = ["bank", "hold_out"])]
    pub no_bank: bool,
    /// Leave out records of operators and projects with this in their names; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub hold_out: Vec<String>,
    /// Operator projects, or directories of them, that a rule which the model states is tried on before it is kept [default: the others of
    /// the git repository]. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub corpus: Vec<PathBuf>,
    /// Continue from the journal of an interrupted run; an error if there is none that fits.
    #[arg(long, overrides_with = "no_resume")]
    pub resume: bool,
    /// Start over, even if an interrupted run could be continued.
    #[arg(long, overrides_with = "resume")]
    pub no_resume: bool,
    /// Allow rewrites that change rounding within the tolerance, such as fused multiply-add.
    #[arg(long)]
    pub allow_rounding: bool,
    /// Write no code that chooses constants of host code by size, as `dispatch = false` in ascend.toml says for every run.
    #[arg(long)]
    pub no_dispatch: bool,
    /// Unified diff to try before all other rewrites, as they are tried; a directory stands for its *.patch and *.diff. May be given
    /// several times.
    #[arg(long, value_name = "PATH")]
    pub patch: Vec<PathBuf>,
    /// Where the operator is wrong as it stands and edits are found that mend it, write them into the sources and tune from there.
    #[arg(long)]
    pub repair: bool,
    /// Write back even if the git tree has uncommitted changes.
    #[arg(long)]
    pub allow_dirty: bool,
    /// Refuse to change ascend.lock.
    #[arg(long)]
    pub locked: bool,
    /// Search and report, but change neither sources nor ascend.lock.
    #[arg(long)]
    pub dry_run: bool,
    /// Write what was gained into this file as Markdown, such as for the text of a pull request; there is none where nothing was gained.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// The language model of ascend.toml.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// What to do with the journal of an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeMode {
    /// Continue if inputs are unchanged, else start over.
    Auto,
    /// Continue or fail.
    Require,
    /// Start over.
    Never,
}

impl RunArgs {
    /// What `--resume` and `--no-resume` say together.
    pub fn resume_mode(&self) -> ResumeMode {
        match (self.resume, self.no_resume) {
            (true, _) => ResumeMode::Require,
            (_, true) => ResumeMode::Never,
            _ => ResumeMode::Auto,
        }
    }
}

/// `compare`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune compare --against HEAD\n  \
    cargo ascend-tune compare --against ../operator.orig --seed 7 --probes 40\n\n\
    Exit status 1 when a probe is wrong, has a hazard that was not there, or is slower than `case-floor` allows.")]
pub struct CompareArgs {
    /// What to build and run.
    #[command(flatten)]
    pub target: Target,
    /// The earlier state: a directory with the operator's files, or a revision of git.
    #[arg(long, value_name = "DIR|REVISION")]
    pub against: String,
    /// Cases to draw: larger and smaller ones, odd lengths, other dtypes and tiling keys, one axis stretched.
    #[arg(long, value_name = "COUNT", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub probes: u32,
}

/// `build`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune build\n  \
    cargo ascend-tune build --locked -D CMAKE_BUILD_TYPE=Release")]
pub struct BuildArgs {
    /// Of which operators.
    #[command(flatten)]
    pub operators: Operators,
    /// What to build.
    #[command(flatten)]
    pub target: Target,
    /// Refuse to build where ascend.lock is missing or stale; never touch it.
    #[arg(long)]
    pub locked: bool,
    /// Show the commands instead of running them.
    #[arg(long)]
    pub dry_run: bool,
}

/// `profile`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune profile\n  \
    cargo ascend-tune profile --case large --set TILE_LENGTH=4096\n  \
    cargo ascend-tune profile --trace target/trace.json      (open it in Perfetto)\n  \
    cargo ascend-tune profile --timing-only                  (large shapes; nothing is verified)\n\n\
    Works without ascend.toml wherever `init` would. A direct-launch project gives one profile for each launch.")]
pub struct ProfileArgs {
    /// Of which operators.
    #[command(flatten)]
    pub operators: Operators,
    /// What to build and run.
    #[command(flatten)]
    pub target: Target,
    /// Write the timeline as Chrome trace JSON.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "workspace"])]
    pub trace: Option<PathBuf>,
    /// Compute nothing: record and judge the instructions without data, which must not decide what the kernel does.
    #[arg(long)]
    pub timing_only: bool,
}

/// `test`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune test --project norm/rms_norm\n  \
    cargo ascend-tune test float16\n\n\
    Tests are the programs below tests/ut/op_kernel that launch the kernel with ICPU_RUN_KF. A test is right only where an\n\
    assertion or a script looked at results. Exit status 5 when a test is wrong or shows a hazard.")]
pub struct TestArgs {
    /// Only tests whose names contain this text.
    pub filter: Option<String>,
    /// Machine description: a name such as ascend910b2, or a TOML file [default: ascend910b1].
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Seconds that one test may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub timeout_s: f64,
}

/// `doctor`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  cargo ascend-tune doctor\n\nExit status 3 when something needed is missing.")]
pub struct DoctorArgs {}

/// `rewind`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune rewind\n  \
    cargo ascend-tune rewind ops/ --bank bank --chain 2\n\n\
    Sources stay as they are. A command that was interrupted goes on where it stopped.")]
pub struct RewindArgs {
    /// Operator projects, or directories of them [default: the project of --project].
    #[arg(value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Only projects whose path contains this; may be repeated.
    #[arg(long, value_name = "TEXT", requires = "directories")]
    pub only: Vec<String>,
    /// What to build and run.
    #[command(flatten)]
    pub target: Target,
    /// Directory of the experience bank that records go to [default: target/ascend-tune/bank of the project].
    #[arg(long, value_name = "DIR")]
    pub bank: Option<PathBuf>,
    /// Evaluations to spend on each operator.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub budget: u64,
    /// Most places at which one motif is taken out of one kernel.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub sites: u32,
    /// Motifs that may be missing at the same time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub chain: u32,
    /// Try everything again, even what an interrupted command has tried.
    #[arg(long)]
    pub no_resume: bool,
    /// Measure and report, but write no record.
    #[arg(long)]
    pub dry_run: bool,
    /// Have the language model of ascend.toml take optimisations out as well: as many as `rewind` of [model] says, or four.
    #[arg(long = "model", conflicts_with = "no_model")]
    pub ask_model: bool,
    /// The language model of ascend.toml.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// `doors`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  \
    cargo ascend-tune doors --sdk-headers /usr/local/Ascend/ascend-toolkit/latest\n\n\
    Exit status 5 when outputs or instructions differ.")]
pub struct DoorsArgs {
    /// What to build and run; its headers are those of the second build.
    #[command(flatten)]
    pub target: Target,
    /// Core whose instructions are compared, by its number in the trace.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub core: u32,
    /// Differences to print for each case.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub most: usize,
}

/// Arguments that the hidden commands read by themselves.
#[derive(Clone, Debug, Args)]
pub struct RawArgs {
    /// Everything after the command's name.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// The same arguments whether cargo called (`cargo-ascend-tune ascend-tune run`) or a person (`cargo-ascend-tune run`).
pub fn normalise(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| first == "ascend-tune") {
        arguments.remove(1);
    }
    arguments
}
