//! What the kernel stage asks of whoever proposes rewrites.

use std::fmt::Debug;

use super::{History, Proposal};
use aicore::Profile;
use experience::Bank;
use motif::{Context, Counter};
use source::SourceTree;

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
    /// Where the run stands, for whoever has to be worth what is spent on it.
    pub standing: Standing,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Evaluations of the run so far, of whatever origin.
    pub evaluations: u64,
    /// What they have brought: objective of the operator as it was over that of the best candidate.
    pub speedup: f64,
    /// Whether everybody else has nothing left that promises anything.
    pub last_resort: bool,
}

impl Default for Standing {
    fn default() -> Self {
        Self { evaluations: 0, speedup: 1.0, last_resort: false }
    }
}

/// What became of a proposal, for whoever can learn from the words.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// It never became a candidate, and why.
    NotAdmitted(String),
    /// It was tried, and refused.
    Rejected(String),
    /// It was tried and is right: objective before over objective after, and whether it was taken over.
    Right {
        /// Gain.
        gain: f64,
        /// Whether it became the best candidate.
        taken: bool,
    },
}

/// Something that the user should hear of a proposer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Word for programs.
    pub code: &'static str,
    /// What happened, one line.
    pub message: String,
    /// What to do about it, if anything.
    pub help: Option<String>,
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

    /// Whether it is still at work on something, so that asking it once more may bring a proposal where it had none just now.
    fn is_at_work(&self) -> bool {
        false
    }

    /// Hears what became of one of its proposals.
    fn hear(&self, _proposal: &Proposal, _heard: &Heard) {}

    /// Hears that a step of its making was taken back after it had been taken over, and why.
    fn hear_taken_back(&self, _motif: &str, _why: &str) {}

    /// What keeps the run from going on, if anything does.
    fn failure(&self) -> Option<String> {
        None
    }

    /// What the user should hear, once.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
}

/// An optimisation that somebody takes out of a strong kernel, so that it is seen what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Removal {
    /// What is taken out, a few words.
    pub title: String,
    /// The sources without it.
    pub wanted: SourceTree,
    /// What should take longer without it.
    pub relieves: Counter,
}

/// Takes optimisations out of strong kernels. None of it is trusted: it goes through the same gate as any rewrite, both ends have to be right,
/// and what is said to take longer has to.
pub trait Rewinder: Debug + Send + Sync {
    /// The next one for these sources; `Ok(None)` where there is no further one.
    ///
    /// # Errors
    /// What keeps the command from going on.
    fn next(&self, asked: &Asked<'_>) -> Result<Option<Removal>, String>;

    /// Hears what became of the last one, one line.
    fn hear(&self, became: &str);

    /// What the user should hear, once.
    fn notes(&self) -> Vec<Note>;

    /// Removals that it is asked for, at most.
    fn most(&self) -> u32;
}
