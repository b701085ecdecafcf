//! Kernel-stage proposals: patches ordered by the gain that experience and profile let expect.

mod applied;
mod gain;
mod history;
mod motif_proposer;
mod proposal;

pub use history::{History, Outcome, Seen};
pub use motif_proposer::{MotifProposer, Reach};
pub use proposal::Proposal;

#[cfg(test)]
mod tests;
