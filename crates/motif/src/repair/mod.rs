//! Edits that may mend an operator that is wrong. They are no motifs: they are not to make anything faster, change what is computed,
//! and are only tried where something is known to be wrong. Whether one mends anything is for whoever tries it to find out.

mod early_free;
mod element_count;
mod mend;
mod missing_wait;

pub use early_free::early_frees;
pub use element_count::element_counts;
pub use mend::{Mend, MendKind};
pub use missing_wait::missing_waits;

#[cfg(test)]
mod testing;
