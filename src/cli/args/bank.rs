//! Arguments of `bank`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bank`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune bank stats\n  \
    cargo ascend-tune bank search --code op_kernel --symptom waits\n  \
    cargo ascend-tune bank show d01-3f2a\n  \
    cargo ascend-tune bank merge ../other-team/bank")]
pub struct BankArgs {
    /// Directory of the experience bank [default: target/ascend-tune/bank of the project].
    #[arg(long, global = true, value_name = "DIR")]
    pub bank: Option<PathBuf>,
    /// What to do with it.
    #[command(subcommand)]
    pub action: BankAction,
}

/// What to do with a bank.
#[derive(Clone, Debug, Subcommand)]
pub enum BankAction {
    /// List the records.
    List {
        /// Only records of this motif.
        #[arg(long, value_name = "ID")]
        motif: Option<String>,
    },
    /// Show one record with its sources before and after.
    Show {
        /// Name of the record, or an unambiguous beginning.
        record: String,
    },
    /// Rank records by likeness to a kernel and its symptoms.
    Search {
        /// Source file of a kernel, or a directory of them.
        #[arg(long, value_name = "PATH")]
        code: Option<PathBuf>,
        /// Symptom, such as waits or scalar-bound; may be repeated.
        #[arg(long = "symptom", value_name = "NAME")]
        symptoms: Vec<String>,
        /// Records to show.
        #[arg(long, value_name = "N", default_value_t = 10)]
        top: usize,
    },
    /// Say what is known of each motif.
    Stats,
    /// Remove records that teach nothing new.
    Prune {
        /// Say what would be removed.
        #[arg(long)]
        dry_run: bool,
    },
    /// Write all records into one file: a page for .md, else JSON.
    Export {
        /// The file.
        #[arg(value_name = "FILE")]
        out: PathBuf,
    },
    /// Copy records of other banks that this one does not have.
    Merge {
        /// Directories of the other banks.
        #[arg(required = true, value_name = "DIR")]
        sources: Vec<PathBuf>,
        /// Say what would be copied.
        #[arg(long)]
        dry_run: bool,
    },
}
