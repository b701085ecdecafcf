//! What the kernel stage asks of whoever proposes rewrites.

use std::fmt::Debug;

use super::{History, Proposal};
use aicore::Profile;
use experience::Bank;
use motif::Context;

/// What a proposer is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Sources with everything known about them.
    pub context: &'a Context,
    /// Profile of these sources; that of the context without.
    pub profile: Option<&'a Profile>,
    /// Experience of others.
    pub bank: &'a Bank,
    /// What was proposed in this run, and what came of it.
    pub history: &'a History,
    /// Whether what may be a tunable stays as it is: a stage that varies it has not had a turn yet.
    pub keep_constants: bool,
    /// Whether what promises next to nothing is proposed too, until something is known of it here: where nothing better is
    /// left, an evaluation tells more than the bank.
    pub unlikely: bool,
}

/// Proposes rewrites. None of them is trusted: each goes through the gate ([`Context::admit`]), verification and probes.
pub trait Proposer: Debug + Send + Sync {
    /// All proposals that were not tried before and promise something, best first. The order is the same for the same inputs.
    fn propose(&self, asked: &Asked<'_>) -> Vec<Proposal>;

    /// What to try where the way to the best candidate, `taken` in its order, is doubted for one of its steps: other ways
    /// from these sources without `left_out`.
    fn without(&self, _asked: &Asked<'_>, _taken: &[&str], _left_out: &str) -> Vec<Proposal> {
        Vec::new()
    }
}
