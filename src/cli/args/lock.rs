//! Arguments of `lock`, `undo` and `apply`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Target;
use ::lock::EntryName;

/// `lock`.
#[derive(Clone, Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    cargo ascend-tune lock             # run, and say what differs; nothing is written\n  \
    cargo ascend-tune lock accept      # run, and lock sources, outputs and times of today\n  \
    cargo ascend-tune lock verify      # digests only\n  \
    cargo ascend-tune lock diff HEAD~3\n  \
    cargo ascend-tune lock export --format header --out ascend_tune.h\n\n\
    The times of the unmodified operator and what was taken over before stay in ascend.lock."
)]
pub struct LockArgs {
    /// What to do with the lock.
    #[command(subcommand)]
    pub action: Option<LockAction>,
    /// What to build and run.
    #[command(flatten)]
    pub target: Target,
    /// As `lock accept`.
    #[arg(long)]
    pub accept: bool,
}

/// What to do with a lock.
#[derive(Clone, Debug, Subcommand)]
pub enum LockAction {
    /// Show what the lock says.
    Show {
        /// Of this chip [default: the one whose values the sources hold].
        #[arg(long, value_name = "NAME")]
        soc: Option<EntryName>,
    },
    /// Show what two locks differ in: settings, latencies, steps.
    #[command(after_help = "Examples:\n  \
        cargo ascend-tune lock diff                 # since the last commit\n  \
        cargo ascend-tune lock diff main\n  \
        cargo ascend-tune lock diff main feature\n  \
        cargo ascend-tune lock diff old.lock ascend.lock")]
    Diff {
        /// The earlier lock: a file, a directory, or a revision of git.
        #[arg(value_name = "BEFORE", default_value = "HEAD")]
        before: String,
        /// The later one [default: ascend.lock as it is].
        #[arg(value_name = "AFTER")]
        after: Option<String>,
        /// Of this chip alone [default: all].
        #[arg(long, value_name = "NAME")]
        soc: Option<EntryName>,
    },
    /// Compare the lock's digests with what is there, and say what that proves.
    #[command(after_help = "Exit status 1 when something drifted. Nothing is built or run: `check` does that.")]
    Verify {
        /// Machine description: a name or a TOML file [default: that of ascend.toml].
        #[arg(long, value_name = "NAME|FILE")]
        machine: Option<String>,
        /// Of this chip alone [default: all].
        #[arg(long, value_name = "NAME")]
        soc: Option<EntryName>,
    },
    /// Run the operator as it is and, where it is verified, lock sources, outputs and times.
    #[command(
        after_help = "After an intended change, and after a merge that left both sides in ascend.lock: what the side that was\n\
        there knows of before stays. An operator that fails verification is not locked."
    )]
    Accept {
        /// What to build and run.
        #[command(flatten)]
        target: Box<Target>,
    },
    /// Write the lock in the format of this version of the tool.
    #[command(
        after_help = "Nothing is built or run; what the old format does not say stays unsaid until the next run.\n\
        In a lock of the newest format the digests of bytes, which CMake reads, are renewed where nothing but comments changed."
    )]
    Migrate {
        /// Say what would be written.
        #[arg(long)]
        dry_run: bool,
    },
    /// Write the locked values for other readers.
    #[command(after_help = "Examples:\n  \
        cargo ascend-tune lock export --format header --out include/ascend_tune.h\n  \
        cargo ascend-tune lock export --format cmake --out tuned.cmake      (cmake -C tuned.cmake ..)\n  \
        cargo ascend-tune lock export --format bank --key m=x1.0 --key k=x1.1 --key n=x2.1 --key a_dtype=x1.dtype")]
    Export {
        /// Form.
        #[arg(long, value_enum, value_name = "FORM")]
        format: ExportFormat,
        /// The file; of a bank, the directory also, in which the file is called as the toolkit looks for it [default: standard output].
        #[arg(long, value_name = "PATH")]
        out: Option<PathBuf>,
        /// Field of the bank's key: FIELD=INPUT.DIMENSION, FIELD=INPUT.dtype, FIELD=attr.NAME or FIELD=NUMBER; may be repeated [default: every
        /// dimension, dtype and attribute by its own name].
        #[arg(long = "key", value_name = "FIELD=SOURCE")]
        keys: Vec<String>,
        /// Of this chip [default: the one whose values the sources hold].
        #[arg(long, value_name = "NAME")]
        soc: Option<EntryName>,
    },
}

/// Forms that a lock is exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A C++ header with a constant for each tunable.
    Header,
    /// A CMake script: cache entries and variables.
    Cmake,
    /// JSON Lines of the toolkit's runtime knowledge bank, one for each case.
    Bank,
}

/// `undo`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Sources that were changed since the run are not written over: then nothing is written at all.\n\
    `cargo ascend-tune apply` does the run's result again."
)]
pub struct UndoArgs {
    /// Say what would be written.
    #[arg(long)]
    pub dry_run: bool,
}

/// `apply`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune run --dry-run && cargo ascend-tune apply\n  \
    cargo ascend-tune apply --dry-run                 # the steps, and nothing is written\n  \
    cargo ascend-tune apply --only D01 --only TILE_LENGTH\n\n\
    With --only the sources are those of before the run with these steps. What was not tried alone is not locked:\n\
    `cargo ascend-tune lock accept` verifies, times and locks it.")]
pub struct ApplyArgs {
    /// Apply this step and no other: its number, its motif or its tunable; may be repeated.
    #[arg(long, value_name = "STEP")]
    pub only: Vec<String>,
    /// Show the steps and what would be written.
    #[arg(long)]
    pub dry_run: bool,
}
