//! Arguments of `check`.

use clap::Args;

use super::{Operators, Target};
use crate::cli::check::ReportTo;

/// `check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune check\n  \
    cargo ascend-tune check --tolerance 1.05 --message-format json\n  \
    cargo ascend-tune check --workspace --report github --report junit=target/check.xml\n  \
    cargo ascend-tune check 'ops/*' --changed-since origin/main --report markdown=summary.md\n  \
    cargo ascend-tune check --workspace --drift            (digests only, for a commit hook)\n\n\
    Exit status 1 when a case regressed, an output changed or the lock is stale, so that it can stand\n\
    in CI as it is. A change of comments or white space is none. Of several operators the highest\n\
    exit status counts.\n\n\
    An operator that passed on this machine with exactly these files, tool, SDK, compiler and CMake is\n\
    not built and run again, as long as nothing else can have a part in it; --fresh does so all the same.")]
pub struct CheckArgs {
    /// Of which operators.
    #[command(flatten)]
    pub operators: Operators,
    /// Compare the digests of ascend.lock with sources, included headers, ascend.toml, machine description and version of the tool, and do
    /// nothing else: no build, no run, and so no word on outputs, times and hazards.
    #[arg(long, conflicts_with_all = ["fresh", "tolerance", "cases", "assignments"])]
    pub drift: bool,
    /// Build and run what passed before, too.
    #[arg(long)]
    pub fresh: bool,
    /// Write the result in another form as well: junit, sarif, github, gitlab or markdown; on standard output where no file is given. May be
    /// repeated.
    #[arg(long, value_name = "FORM[=FILE]")]
    pub report: Vec<ReportTo>,
    /// What to build and run.
    #[command(flatten)]
    pub target: Target,
    /// Ratio up to which a case is not slower, such as 1.05 for 5 % [default: that of ascend.toml].
    #[arg(long, value_name = "RATIO", value_parser = tolerance)]
    pub tolerance: Option<f64>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(ratio) if (1.0..=100.0).contains(&ratio) => Ok(ratio),
        _ => Err("not a ratio of at least 1, such as 1.03 for 3 %".to_owned()),
    }
}
