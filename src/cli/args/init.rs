//! Arguments of `init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Definition, Selection};

/// `init`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune init\n  \
    cargo ascend-tune init --project math/is_finite --dry-run\n  \
    cargo ascend-tune init --workspace                  (every operator of the repository that has no manifest)\n  \
    cargo ascend-tune init --ci github                  (a workflow for all operators of the repository)\n  \
    cargo ascend-tune init --ci github --tune           (one that tunes them and opens pull requests)\n  \
    cargo ascend-tune init --hook                       (digests before each commit)\n  \
    cargo ascend-tune init --cmake                      (for find_package(AscendTune))")]
pub struct InitArgs {
    /// Operators to make a manifest of.
    #[command(flatten)]
    pub selection: Selection,
    /// Builds and runs at the same time, of one operator or of several [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Write a workflow that checks every operator of the repository, and nothing else.
    #[arg(long, value_enum, value_name = "SYSTEM", conflicts_with_all = ["paths", "workspace", "exclude", "definitions", "cases", "python"])]
    pub ci: Option<CiSystem>,
    /// Write cmake/FindAscendTune.cmake, by which CMake reads ascend.lock without this tool, and for a project of CMake the preset
    /// `ascend-tune`, and nothing else.
    #[arg(long, conflicts_with_all = ["paths", "workspace", "exclude", "ci", "hook", "definitions", "cases", "python"])]
    pub cmake: bool,
    /// Write a hook by which git compares digests before each commit, and nothing else.
    #[arg(long, conflicts_with_all = ["paths", "workspace", "exclude", "ci", "definitions", "cases", "python"])]
    pub hook: bool,
    /// Write a workflow that tunes every operator instead, on a schedule or when asked to, and opens a pull request with what was gained.
    #[arg(long, requires = "ci")]
    pub tune: bool,
    /// Command by which that workflow installs this tool [default: cargo install of this version].
    #[arg(long, value_name = "COMMAND", requires = "ci")]
    pub install: Option<String>,
    /// Pass a CMake cache entry to the project; may be repeated.
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    pub definitions: Vec<Definition>,
    /// Show the manifest on standard output instead of writing it.
    #[arg(long)]
    pub dry_run: bool,
    /// Replace what is there; of several operators, manifests that are there stay without it.
    #[arg(long)]
    pub force: bool,
    /// Cases to write at most, or `all` that the tiling function accepts.
    #[arg(long, value_name = "N|all", default_value_t)]
    pub cases: CaseCount,
    /// Python for the operator's own scripts that make test data; without its packages they are left out.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,
}

/// Systems of continuous integration that `init` writes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CiSystem {
    /// GitHub Actions.
    Github,
    /// GitLab CI.
    Gitlab,
}

impl CiSystem {
    /// The file, from the top of the repository, of what checks or of what tunes.
    pub fn file(self, tunes: bool) -> &'static str {
        match (self, tunes) {
            (CiSystem::Github, false) => ".github/workflows/ascend-tune.yml",
            (CiSystem::Github, true) => ".github/workflows/ascend-tune-run.yml",
            (CiSystem::Gitlab, false) => ".gitlab/ascend-tune.yml",
            (CiSystem::Gitlab, true) => ".gitlab/ascend-tune-run.yml",
        }
    }
}

/// How many cases `init` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseCount(pub usize);

impl Default for CaseCount {
    fn default() -> Self {
        Self(4)
    }
}

impl std::fmt::Display for CaseCount {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == usize::MAX { formatter.write_str("all") } else { self.0.fmt(formatter) }
    }
}

impl std::str::FromStr for CaseCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<usize>() {
            _ if text == "all" => Ok(Self(usize::MAX)),
            Ok(count) if count > 0 => Ok(Self(count)),
            _ => Err("give a number above 0, or `all`".to_owned()),
        }
    }
}
