//! Arguments of the command that tests motifs on generated kernels.

use std::path::PathBuf;

use motif::Id;

use clap::Args;

/// `soundness`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  \
    cargo ascend-tune soundness --pairs 20000\n  \
    cargo ascend-tune soundness --motif V26 --motif D15 --pairs 500 --seed 7\n\n\
    A pair is one kernel and one application of one motif to it, forwards or backwards. Each is run on the cases of the\n\
    kernel and on probes that no case shows. Exit status 1 where a pair is wrong: the kernels lie in the work directory.")]
pub struct SoundnessArgs {
    /// Pairs to run, at least.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub pairs: u64,
    /// Seed of kernels, data and sites.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Only this motif, by its id; may be repeated.
    #[arg(long, value_name = "ID")]
    pub motif: Vec<Id>,
    /// Sites of one motif in one kernel, in each direction.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub sites: u32,
    /// Groups of kernels at the same time [default: the number of processors].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Directory for programs, figures and what is wrong.
    #[arg(long, value_name = "DIR", default_value = "target/ascend-tune/soundness")]
    pub work: PathBuf,
}
