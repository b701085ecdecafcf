//! Optimisation motifs: each finds its sites in a kernel, proves or states its precondition, and edits in both directions.
//!
//! One file a motif, in `catalogue`. A motif computes *candidates*, a place with either a patch or the reason why there is none; the
//! trait's provided methods turn them into sites, refusals and checked patches. `analysis` has what many motifs ask of the code,
//! `rewrite` what many do to it; each room knows only those named after it.

mod analysis;
mod by_room;
mod catalogue;
mod context;
mod counter;
mod id;
mod metadata;
mod motif;
pub mod repair;
mod rewrite;
mod site;

pub use by_room::{BY_ROOM, by_room};
pub use catalogue::{all, by_id, named};
pub use context::coverage::Coverage;
pub use context::tiling::{TilingMember, TilingStructure};
pub use context::unified_buffer::CutLines;
pub use context::visited::VisitedLines;
pub use context::{Context, HotLines};
pub use counter::Counter;
pub use id::{Id, UnknownId};
pub use metadata::{Combination, Company, Family, Metadata, Turn};
pub use motif::Motif;
pub use rewrite::local::{LocalForm, LocalFormError, LocalMotif, LocalRecord, TensorsOf};
pub use site::{Candidate, Findings, Refusal, Refused, Site};

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;
