//! Kernel-stage proposals: patches ordered by the gain that experience and profile let expect.

mod applied;
mod expectation;
mod gain;
mod history;
mod motif_proposer;
mod patch_files;
mod proposal;
mod seam;

pub use history::{History, Outcome, Seen};
pub use motif_proposer::{MotifProposer, Reach};
pub use patch_files::{PatchFileError, PatchFiles};
pub use proposal::Proposal;
pub use seam::{Asked, Proposer};

#[cfg(test)]
mod tests;
