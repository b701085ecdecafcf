//! Experience: what motifs and settings brought, kept as readable records that can be merged and searched.

mod bank;
mod features;
mod local;
mod query;
mod record;
mod rewind;
mod setting;
mod shingles;
mod upkeep;

pub use bank::{Bank, BankError};
pub use features::{Features, features_of, normalise, symptoms_of};
pub use local::{
    Stated, add_to_local_motif, drop_local_motif, keep_stated, local_motifs, local_name, refused_local_motif,
};
pub use query::{Expected, Match, Query};
pub use record::{OF_A_MODEL, Provenance, Record, Verdict};
pub use rewind::{Judgement, RewoundPatch, judge, rewound_patches};
pub use setting::{Setting, SettingKind};
pub use shingles::Shingles;

#[cfg(test)]
mod tests;
