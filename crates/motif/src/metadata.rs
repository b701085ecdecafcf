//! What is known of a motif without any source.

use serde::{Deserialize, Serialize};

use crate::counter::Counter;
use crate::id::Id;

/// Groups of motifs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Movement between memories.
    DataMovement,
    /// Flags, barriers and queues.
    Synchronisation,
    /// Vector instructions.
    Vector,
    /// The scalar unit.
    Scalar,
    /// Launch, cores and what a kernel does once.
    Launch,
}

/// What is known of a motif without any source: for proposals, reports and documentation.
#[derive(Clone, Copy, Debug)]
pub struct Metadata {
    /// Id in the catalogue.
    pub id: Id,
    /// Title, a few words.
    pub title: &'static str,
    /// Group.
    pub family: Family,
    /// What must hold, for the documentation.
    pub precondition: &'static str,
    /// What the source does not prove and the verifier has to check, for the documentation.
    pub left_to_verifier: &'static str,
    /// Counters that should go down, most telling first.
    pub relieves: &'static [Counter],
    /// Speed-up to expect before anything is known: a seed of ours for ordering, not a measurement.
    pub prior_gain: f64,
    /// What it costs, for the documentation.
    pub cost: &'static str,
    /// Tunables that it opens or closes, for the documentation.
    pub tunables: &'static str,
    /// What unmaking it looks like, for the documentation.
    pub undoing: &'static str,
    /// Whether it may change rounding.
    pub rounding_changes: bool,
    /// Whether it puts something else where the value of a tunable stood, which can't be varied any more then.
    pub replaces_constants: bool,
    /// How it goes with other motifs.
    pub company: Company,
}

/// How a motif goes with others in one patch.
#[derive(Clone, Copy, Debug)]
pub struct Company {
    /// Combinations that it begins.
    pub leads: &'static [Combination],
    /// Motifs that undo it or want the same place, and give way to it unless they promise more.
    pub prevails_over: &'static [Id],
    /// When it is applied in a patch of everything.
    pub turn: Turn,
    /// Whether it goes with others only where the source proves its precondition: a condition that only lengths decide must not
    /// spoil the rest of the patch.
    pub proved_only: bool,
}

impl Company {
    /// With any others, by family.
    pub const ANY: Self = Self { leads: &[], prevails_over: &[], turn: Turn::OfFamily, proved_only: false };
}

/// Motifs that pay together although single steps may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// Place among all combinations in the order in which they are proposed, from 1.
    pub rank: usize,
    /// The motifs in the order in which they enable each other; the first is the one that leads it.
    pub motifs: &'static [Id],
}

/// When a motif is applied in a patch of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// With its family.
    OfFamily,
    /// After all families, in this order: it takes loops apart in which others look for their own, or what hides from them which
    /// stage a line belongs to.
    Late(u8),
}
