//! What a run may do.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::kernel_stage::Rewriting;
use events::Stage;
use proposer::{PatchFiles, Proposer};
use search::StrategyKind;
use space::Configuration;

/// What a run may do.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Evaluations to spend.
    pub evaluations: u64,
    /// Time after which no further evaluation is begun.
    pub time_limit: Option<Duration>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Strategy of the host stage.
    pub strategy: StrategyKind,
    /// Stages to use, in the order of the first episode.
    pub stages: Vec<Stage>,
    /// Continue from a journal that fits.
    pub resume: bool,
    /// Experience to ask.
    pub experience: Experience,
    /// Whether the tiling function may be made to choose values by size.
    pub dispatch: bool,
    /// How rewrites follow each other.
    pub rewriting: Rewriting,
    /// Motifs that change rounding may be used.
    pub allow_rounding: bool,
    /// Rewrites that somebody wrote, to be tried before all others.
    pub patches: Option<PatchFiles>,
    /// Who proposes rewrites beside the catalogue of motifs.
    pub further: Vec<Arc<dyn Proposer>>,
    /// What evaluations depend on of these, in words; empty without any.
    pub further_digest: String,
    /// Configurations that won before, tried first where the search space still has them.
    pub earlier_winners: Vec<Configuration>,
}

/// Which experience a run may ask.
#[derive(Clone, Debug, Default)]
pub struct Experience {
    /// The bank that ships with the tool.
    pub shipped: bool,
    /// Directories of experience banks, merged in order.
    pub banks: Vec<PathBuf>,
    /// Records of operators and projects with these words in their names are left out.
    pub held_out: Vec<String>,
}
