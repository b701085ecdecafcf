//! A conversation: from a diagnosis over a plan to a change, or from a refusal to a change that may not be refused.

use std::collections::VecDeque;
use std::sync::Arc;

use super::answer::{AnswerError, Change, change, ideas};
use super::chat::{CallError, Chat, Request};
use super::ledger::Ledger;
use super::prompt::{Prompt, PromptError};
use super::role::Role;
use super::settings::Settings;
use super::state::{Failed, IDEAS, State};
use super::templates::Templates;
use proposer::Note;
use source::SourceTree;

/// What a conversation is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Errand {
    /// Something new: so many ideas as changes, at most.
    Fresh(usize),
    /// A proposal that was refused, and the answers that tried to mend it so far.
    Repair(Failed, u32),
}

/// A change, and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    /// The change.
    pub change: Change,
    /// What it is to do, as planned or as it was before it was mended.
    pub idea: String,
    /// Who wrote it.
    pub model: String,
    /// Answers that it took to mend it.
    pub repairs: u32,
}

/// What came of a conversation.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Changes to try.
    pub written: Vec<Written>,
    /// What the user should hear.
    pub notes: Vec<Note>,
    /// Whether the model has nothing to say about these sources.
    pub nothing: bool,
    /// Why there is to be no further conversation.
    pub over: Option<String>,
    /// Why the run must not go on.
    pub failure: Option<String>,
}

/// What lasts longer than a conversation.
#[derive(Debug)]
pub(super) struct Talk {
    chat: Box<dyn Chat>,
    /// What it has cost.
    pub ledger: Ledger,
    settings: Arc<Settings>,
    templates: Arc<Templates>,
    /// Digest of the sources that it is about, and what was said.
    diagnosis: Option<(String, String)>,
    ideas: VecDeque<String>,
    /// Questions in a row that got no answer.
    unanswered: u32,
    /// Conversations in a row that led to no change.
    barren: u32,
}

/// So many questions in a row without an answer, and so many conversations without a change, are the last.
const PATIENCE: u32 = 3;
/// Bytes of a refusal's message, or of an answer, that a model is told.
const LONGEST: usize = 3000;

/// Why a conversation ends early.
enum Stop {
    /// The budget.
    Spent(String),
    /// The call.
    Call(CallError),
    /// The prompt.
    Prompt(PromptError),
}

impl Talk {
    /// Before the first conversation.
    pub fn new(chat: Box<dyn Chat>, settings: Arc<Settings>, templates: Arc<Templates>) -> Self {
        let ledger = Ledger::new(settings.budget);
        let (diagnosis, ideas) = (None, VecDeque::new());
        Self { chat, ledger, settings, templates, diagnosis, ideas, unanswered: 0, barren: 0 }
    }

    /// Holds a conversation about these sources.
    pub fn hold(&mut self, errand: Errand, state: State, sources: &SourceTree) -> Held {
        let mut held = Held::default();
        let result = match errand {
            Errand::Fresh(most) => self.fresh(state, sources, most, &mut held),
            Errand::Repair(failed, repairs) => self.mended(&state, sources, failed, repairs, &mut held),
        };
        match result {
            Ok(()) => {
                self.unanswered = 0;
                self.barren = if held.written.is_empty() { self.barren + 1 } else { 0 };
            }
            Err(Stop::Spent(what)) => held.over = Some(what),
            Err(Stop::Prompt(error)) => held.over = Some(error.to_string()),
            Err(Stop::Call(error)) if error.is_fatal() => held.failure = Some(error.to_string()),
            Err(Stop::Call(error)) => {
                self.unanswered += 1;
                held.notes.push(note("model-no-answer", error.to_string()));
            }
        }
        if self.unanswered >= PATIENCE {
            held.over = Some(format!("{PATIENCE} questions in a row got no answer"));
        } else if self.barren >= PATIENCE {
            held.over = Some(format!("{PATIENCE} conversations in a row led to no change"));
        }
        held
    }

    fn fresh(&mut self, state: State, sources: &SourceTree, most: usize, held: &mut Held) -> Result<(), Stop> {
        let digest = sources.digest();
        let known = self.diagnosis.clone().filter(|(of, _)| *of == digest);
        let diagnosis = match known {
            Some((_, diagnosis)) => diagnosis,
            None => {
                let diagnosis = self.ask(Role::Diagnose, &state)?;
                self.diagnosis = Some((digest, diagnosis.clone()));
                self.ideas.clear();
                diagnosis
            }
        };
        let state = state.diagnosed(&diagnosis);
        if self.ideas.is_empty() {
            self.ideas = ideas(&self.ask(Role::Plan, &state)?, IDEAS).into();
            held.nothing = self.ideas.is_empty();
        }
        while held.written.len() < most {
            let Some(idea) = self.ideas.pop_front() else { break };
            let state = state.clone().with_idea(&idea);
            let answer = self.ask(Role::Propose, &state)?;
            match change(&answer, sources) {
                Ok(change) => held.written.push(self.written(Role::Propose, change, idea, 0)),
                Err(AnswerError::Nothing) => {}
                Err(error) => {
                    held.notes.push(note("model-answer-unusable", format!("an answer for propose: {error}")));
                    let failed = Failed { title: idea, diff: clipped(&answer), message: error.to_string() };
                    self.mended(&state, sources, failed, 0, held)?;
                }
            }
        }
        Ok(())
    }

    fn mended(
        &mut self,
        state: &State,
        sources: &SourceTree,
        failed: Failed,
        repairs: u32,
        held: &mut Held,
    ) -> Result<(), Stop> {
        let mut failed = Failed { message: clipped(&failed.message), ..failed };
        for repairs in repairs + 1..=self.settings.repairs {
            let answer = self.ask(Role::Repair, &state.clone().failed(&failed))?;
            match change(&answer, sources) {
                Ok(change) => {
                    held.written.push(self.written(Role::Repair, change, failed.title, repairs));
                    break;
                }
                Err(AnswerError::Nothing) => break,
                Err(error) => {
                    held.notes.push(note("model-answer-unusable", format!("an answer for repair: {error}")));
                    failed = Failed { diff: clipped(&answer), message: error.to_string(), ..failed };
                }
            }
        }
        Ok(())
    }

    fn written(&self, role: Role, change: Change, idea: String, repairs: u32) -> Written {
        Written { change, idea, model: self.settings.model(role).to_owned(), repairs }
    }

    fn ask(&mut self, role: Role, state: &State) -> Result<String, Stop> {
        let settings = &self.settings;
        let prompt = Prompt::build(&self.templates, role, state, settings.prompt_tokens).map_err(Stop::Prompt)?;
        let allowed = self.ledger.answer_tokens(prompt.tokens(), settings.answer_tokens).map_err(Stop::Spent)?;
        let request = Request::new(&prompt, settings.model(role), settings.temperature, allowed);
        match self.chat.ask(&request) {
            Ok(reply) => {
                self.ledger.answered(reply.usage, reply.seconds);
                Ok(reply.text)
            }
            Err(error) => {
                self.ledger.failed();
                Err(Stop::Call(error))
            }
        }
    }
}

/// A word to the user.
pub(super) fn note(code: &'static str, message: String) -> Note {
    Note { code, message, help: None }
}

/// As much of a text as a model is told.
fn clipped(text: &str) -> String {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end < text.len() { format!("{} ..", &text[..end]) } else { text.to_owned() }
}
