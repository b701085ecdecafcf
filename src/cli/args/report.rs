//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args;

/// `report`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune report                                  (the page of the last run, once more)\n  \
    cargo ascend-tune report --compare                        (the last run with the one before it)\n  \
    cargo ascend-tune report --compare ../other/checkout/op   (with the last run of another checkout)\n  \
    cargo ascend-tune report --compare old.json --html diff.html\n\n\
    Every run leaves target/ascend-tune/record.json, and keeps that of the run before it as record.before.json.")]
pub struct ReportArgs {
    /// Record to show [default: target/ascend-tune/record.json of the project].
    #[arg(long, value_name = "FILE|DIR")]
    pub record: Option<PathBuf>,
    /// Compare with another run: its record, or the directory of an operator that has one [without a value: the run before].
    #[arg(long, value_name = "FILE|DIR", num_args = 0..=1)]
    pub compare: Option<Option<PathBuf>>,
    /// Where the page goes [default: report.html or comparison.html beside the record].
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
