//! Experience: what motifs brought, kept as readable records that can be merged and searched.

mod bank;
mod features;
mod record;
mod rewind;

pub use bank::{Bank, BankError, GainQuantiles, Match};
pub use features::{Features, features_of, normalise, symptoms_of};
pub use record::{Origin, Provenance, Record, Verdict};
pub use rewind::{Judgement, RewoundPatch, judge, rewound_patches};
