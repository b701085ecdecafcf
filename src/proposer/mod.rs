//! Kernel-stage proposals: patches ordered by the gain that experience and profile let expect.

mod gain;
mod motif_proposer;

pub use motif_proposer::{History, MotifProposer, Proposal};
