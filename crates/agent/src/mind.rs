//! Conversations: what they are about, and what comes of them.

use std::fmt::Debug;

use super::answer::Change;
use super::ledger::Spent;
use super::lessons::Learned;
use super::population::Brood;
use super::state::{Failed, Outcome, State};
use super::tools::beginning;
use motif::{Counter, LocalForm};
use proposer::Note;
use source::SourceTree;

/// What a conversation is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Errand {
    /// Something new: so many ideas as changes, at most.
    Fresh(usize),
    /// A proposal that was refused, and the answers that tried to mend it so far.
    Repair(Failed, u32),
    /// A tiling function that comes of another.
    Evolve(Brood),
    /// What was learned of what was tried.
    Distil(Vec<Outcome>),
    /// A change that was kept, as a rule.
    Motif(Change),
    /// An optimisation to take out.
    Rewind,
}

/// A change, and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    /// The change.
    pub change: Change,
    /// What it is to do, as planned or as it was before it was mended.
    pub idea: String,
    /// Who wrote it, in words.
    pub author: String,
    /// Answers that it took to mend it.
    pub repairs: u32,
    /// Where it stands in a population of tiling functions, and its text there.
    pub lineage: Option<(Brood, String)>,
}

/// What came of a conversation.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Changes to try.
    pub written: Vec<Written>,
    /// What was learned.
    pub learned: Vec<Learned>,
    /// A rule that makes again what was kept.
    pub form: Option<LocalForm>,
    /// An optimisation taken out, and what should take longer without it.
    pub rewound: Option<(Change, Counter)>,
    /// What the user should hear.
    pub notes: Vec<Note>,
    /// Whether there is nothing to say about these sources.
    pub nothing: bool,
    /// Why there is to be no further conversation.
    pub over: Option<String>,
    /// Why the run must not go on.
    pub failure: Option<String>,
}

/// Who conversations are held with.
pub(super) trait Mind: Debug + Send {
    /// Holds one about these sources.
    fn hold(&mut self, errand: Errand, state: State, sources: &SourceTree) -> Held;

    /// What all of them have cost.
    fn spent(&self) -> Spent;
}

/// So many questions in a row without an answer, and so many conversations without a change, are the last.
pub(super) const PATIENCE: u32 = 3;
/// Bytes of a refusal's message, or of an answer, that are told.
const LONGEST: usize = 3000;

/// A word to the user.
pub(super) fn note(code: &'static str, message: String) -> Note {
    Note { code, message, help: None }
}

/// As much of a text as is told.
pub(super) fn clipped(text: &str) -> String {
    let (told, rest) = text.split_at(beginning(text, LONGEST));
    if rest.is_empty() { text.to_owned() } else { format!("{told} ..") }
}
