//! Motifs that are nothing but declarations: how they are made and how they are unmade is the same text read in two directions.

use crate::context::Context;
use crate::metadata::Metadata;
use crate::motif::Motif;
use crate::rewrite::exchange::{self, Exchange};
use crate::rewrite::motion::{Hoist, Shift};
use crate::rewrite::peephole::{Rule, fused, split};
use crate::site::Candidate;

/// A motif that is nothing but rules.
pub struct Declared {
    /// What is known of it.
    pub(crate) metadata: &'static Metadata,
    /// How it is made and unmade.
    pub(crate) rules: Rules,
}

/// The kinds of rules; of those of one motif the first that fits is taken.
pub(crate) enum Rules {
    /// Two neighbouring vector calls and the one that does the same.
    Pairs(&'static [Rule]),
    /// One piece of code and another.
    Exchanges(&'static [Exchange]),
    /// One statement at two places of its block.
    Shift(&'static Shift),
    /// One declaration in a loop and before it.
    Hoist(&'static Hoist),
}

impl Motif for Declared {
    fn metadata(&self) -> &'static Metadata {
        self.metadata
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        match self.rules {
            Rules::Pairs(rules) => fused(context, rules),
            Rules::Exchanges(exchanges) => exchange::made(context, exchanges),
            Rules::Shift(shift) => shift.made(context),
            Rules::Hoist(hoist) => hoist.made(context),
        }
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        match self.rules {
            Rules::Pairs(rules) => split(context, rules),
            Rules::Exchanges(exchanges) => exchange::unmade(context, exchanges),
            Rules::Shift(shift) => shift.unmade(context),
            Rules::Hoist(hoist) => hoist.unmade(context),
        }
    }
}
