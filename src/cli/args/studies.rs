//! Arguments of the commands that study many operators, programs or recorded spaces.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::value;
use events::ablation::Variant;
use events::survey::SurveyStep;
use search::StrategyKind;
use source::arch::TARGET;
use studies::fidelity::micro_programs;
use studies::survey::OwnTests;

/// `survey`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune survey ops-math\n  \
    cargo ascend-tune survey ops-math ops-nn --vector-only --sample 40 --seed 7\n  \
    cargo ascend-tune survey ops-math --only 'math/*' --steps kernel --html survey.html\n\n\
    Every operator is tried in a process of its own. A survey that was stopped goes on where it was, as long as operators,\n\
    tool and options are the same.")]
pub struct SurveyArgs {
    /// Trees to walk.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Only operators whose REPOSITORY/DIRECTORY contains this text, or fits it where it has a `*`; may be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Try this many operators, chosen at random.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub sample: Option<u64>,
    /// Seed of the sample.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Only operators that need nothing but vector cores.
    #[arg(long, conflicts_with = "mix_only")]
    pub vector_only: bool,
    /// Only operators that need cube cores.
    #[arg(long)]
    pub mix_only: bool,
    /// The last step to try.
    #[arg(long, value_enum, value_name = "STEP", default_value = "hazards")]
    pub steps: SurveyStep,
    /// Run the operators' own unit tests too, where the host library is built; kernel tests take much longer.
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub tests: Option<OwnTests>,
    /// Operators at the same time [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Wall-clock limit for one operator, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout_s: u64,
    /// Wall-clock limit for one run of a kernel, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub run_timeout_s: u64,
    /// Machine description: a name, or a TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = TARGET.machine)]
    pub machine: String,
    /// Python for the operators' own references; those whose packages it lacks count as having none.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,
    /// Build kernels against the headers of a toolkit or of a checkout of the open device library instead of the embedded
    /// SDK's.
    #[arg(long, value_name = "DIR")]
    pub sdk_headers: Option<PathBuf>,
    /// Directory for builds, runs and the journal.
    #[arg(long, value_name = "DIR", default_value = "target/ascend-tune/survey")]
    pub work: PathBuf,
    /// Write the page of results.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the figures as Markdown.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Continue from the journal of an interrupted survey; an error if there is none.
    #[arg(long, overrides_with = "no_resume")]
    pub resume: bool,
    /// Start over, even if an interrupted survey could be continued.
    #[arg(long, overrides_with = "resume")]
    pub no_resume: bool,
}

/// `fidelity`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune fidelity --cases benches/fidelity/cases.csv --markdown docs/fidelity.md\n  \
    cargo ascend-tune fidelity --cases mine.csv --sources ../kernels --message-format json\n\n\
    Columns of the table: case, program, machine, metric, published, unit; and, where wanted, kernel,\n\
    level, category, role, defines, arguments, launch, minus, warm, scale, fit, compare, note.\n\
    Exit status 5 when a case has no figure.")]
pub struct FidelityArgs {
    /// Table of published figures and of the programs that do the same work.
    #[arg(long, value_name = "FILE")]
    pub cases: PathBuf,
    /// Directory of the programs [default: that of the table].
    #[arg(long, value_name = "DIR")]
    pub sources: Option<PathBuf>,
    /// Only cases whose name contains this; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Write the report as Markdown.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Plays at the same time [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
}

/// `replay`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune replay --space gemm.toml --strategy hybrid,random --budget 25,50,100,200\n  \
    cargo ascend-tune replay --space spaces/ --peers peers.csv --markdown search.md\n  \
    cargo ascend-tune replay --space target/ascend-tune/record.json --export mine/\n\n\
    A space is NAME.toml beside NAME.csv or NAME.csv.gz, a cache file of Kernel Tuner, results in T4 form,\n\
    or the record.json that every run leaves beside its report; a folder stands for all of those in it.")]
pub struct ReplayArgs {
    /// Recorded space, or a folder of them; may be repeated.
    #[arg(long, value_name = "PATH", required = true)]
    pub space: Vec<PathBuf>,
    /// Strategies to run.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "hybrid,random", value_parser = value::strategy())]
    pub strategy: Vec<StrategyKind>,
    /// Evaluations at which the best found is given.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "25,50,100,200", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Vec<u32>,
    /// Runs of each strategy on each space.
    #[arg(long, value_name = "K", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Configurations in flight at a time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub batch: u32,
    /// Measured times are off by chance with this standard deviation, in percent of the recorded ones. The winner is named
    /// at the largest budget; figures are recorded times of winners.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = noise)]
    pub noise: f64,
    /// Believe every noisy time, instead of measuring again where chance could have put the wrong one first.
    #[arg(long)]
    pub measure_once: bool,
    /// Results of other tuners, in the columns that --out writes.
    #[arg(long, value_name = "FILE")]
    pub peers: Option<PathBuf>,
    /// Write the results as CSV.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a page with tables, and convergence plots beside it.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Instead of comparing strategies, try N settings of the default one on every second space and report the best of them on
    /// the others.
    #[arg(long, value_name = "N", conflicts_with_all = ["strategy", "out", "markdown"])]
    pub search_settings: Option<u32>,
    /// Write every space read as CSV with a sidecar.
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Runs at the same time [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
}

fn noise(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok().filter(|percent| (0.0..=20.0).contains(percent));
    percent.ok_or_else(|| format!("`{text}` is no noise; give a number from 0 to 20, percent of a time"))
}

/// `ablation`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune ablation fixtures --budget 230\n  \
    cargo ascend-tune ablation ops/ --only norm --variants full,no-bank --seeds 1,2,3 --markdown ablation.md\n\n\
    A directory stands for every project with an ascend.toml in it and below. Nothing is written there; a command that\n\
    was interrupted goes on where it stopped. Records of the operator under test are held out of the bank.")]
pub struct AblationArgs {
    /// Operator projects, or directories of them.
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// Only projects whose path contains this; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Evaluations of each run.
    #[arg(long, value_name = "N", default_value_t = 230, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub budget: u64,
    /// Variants: full, no-bank, no-kernel, no-host, best-of-n, greedy.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "full,no-bank,no-kernel,no-host,best-of-n,greedy"
    )]
    pub variants: Vec<Variant>,
    /// Seeds.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1")]
    pub seeds: Vec<u64>,
    /// End the search of a run after this time, such as 90s or 15m; then the result need not be repeatable.
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub time_limit: Option<Duration>,
    /// Directory of one more experience bank; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub bank: Vec<PathBuf>,
    /// Leave out more records: of operators and projects with this in their names; may be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub hold_out: Vec<String>,
    /// Allow rewrites that change rounding within the tolerance.
    #[arg(long)]
    pub allow_rounding: bool,
    /// Machine description: a name, or a TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = TARGET.machine)]
    pub machine: String,
    /// Runs at the same time [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Directory for journals, builds and results.
    #[arg(long, value_name = "DIR", default_value = "target/ascend-tune/ablation")]
    pub work: PathBuf,
    /// Write the tables as Markdown.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Run everything again, even what is finished.
    #[arg(long)]
    pub no_resume: bool,
}

/// `calibrate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune calibrate --device --out mine.toml\n  \
    cargo ascend-tune calibrate --device --as-if other.toml --out back.toml\n  \
    cargo ascend-tune calibrate --from-journal --out mine.toml\n  \
    cargo ascend-tune calibrate --cases mine.csv --out mine.toml\n  \
    cargo ascend-tune calibrate --cases mine.csv --constant hbm_write_weight --out mine.toml\n\n\
    Only rows with `yes` under `fit` count, and only constants that are inferred or fitted move. The\n\
    columns of the table are those of `fidelity`. With `--device` the rows are launches of micro-kernels\n\
    that come with the tool, measured by the toolkit on a device of this machine. With `--from-journal` they\n\
    are what runs with `--backend cann` measured of this project's candidates.")]
#[command(group = clap::ArgGroup::new("rows").required(true).args(["cases", "device", "from_journal"]))]
pub struct CalibrateArgs {
    /// Table of measured figures and of the programs that do the same work.
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// Measure micro-kernels on a device, in place of a table.
    #[arg(long)]
    pub device: bool,
    /// Take what `run --backend cann` measured of the candidates of this project.
    #[arg(long)]
    pub from_journal: bool,
    /// With `--device`: play them with this description instead, to see what they tell of its constants.
    #[arg(long, value_name = "NAME|FILE", requires = "device")]
    pub as_if: Option<String>,
    /// With `--device`: the toolkit's folder.
    #[arg(long, value_name = "DIR", requires = "device")]
    pub toolkit: Option<PathBuf>,
    /// With `--device`: keep what was measured there, as a table with its programs.
    #[arg(long, value_name = "DIR", requires = "device")]
    pub keep: Option<PathBuf>,
    /// With `--device`: only this program of micro-kernels; may be repeated [default: all].
    #[arg(long, value_name = "PROGRAM", requires = "device", value_parser = clap::builder::PossibleValuesParser::new(micro_programs()))]
    pub only: Vec<String>,
    /// Directory of the programs [default: that of the table].
    #[arg(long, value_name = "DIR", requires = "cases")]
    pub sources: Option<PathBuf>,
    /// Machine description to start from: a name, or a TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = TARGET.machine)]
    pub machine: String,
    /// Fit this constant; may be repeated [default: those that the rows determine].
    #[arg(long = "constant", value_name = "NAME")]
    pub constants: Vec<String>,
    /// Description to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Plays at the same time [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
}
