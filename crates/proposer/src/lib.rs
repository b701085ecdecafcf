//! Kernel-stage proposals: patches ordered by the gain that experience and profile let expect.

mod applied;
mod expectation;
mod gain;
mod history;
mod motif_proposer;
mod patch_files;
mod proposal;
mod seam;
pub mod workers;

pub use history::{Effect, History, Seen};
pub use motif_proposer::{MotifProposer, Reach};
pub use patch_files::{PatchFileError, PatchFiles, carried_over};
pub use proposal::{Part, Proposal};
pub use seam::{Asked, Heard, Note, Proposer, Removal, Rewinder, Standing};

#[cfg(test)]
mod tests;
