//! A conversation: from a diagnosis over a plan to a change, or from a refusal to a change that may not be refused.

use std::collections::VecDeque;
use std::sync::Arc;

use super::answer::{AnswerError, Change, change, ideas};
use super::chat::{CallError, Chat, Request};
use super::ledger::{Ledger, Spent};
use super::mind::{Errand, Held, Mind, PATIENCE, Written, clipped, note};
use super::prompt::{Prompt, PromptError};
use super::role::Role;
use super::settings::Settings;
use super::state::{Failed, IDEAS, State};
use super::structured::{as_text, response_format};
use super::templates::Templates;
use proposer::Note;
use source::SourceTree;

/// What lasts longer than a conversation.
#[derive(Debug)]
pub(super) struct Talk {
    chat: Box<dyn Chat>,
    ledger: Ledger,
    settings: Arc<Settings>,
    templates: Arc<Templates>,
    /// Digest of the sources that it is about, and what was said.
    diagnosis: Option<(String, String)>,
    ideas: VecDeque<String>,
    /// Questions in a row that got no answer.
    unanswered: u32,
    /// Conversations in a row that led to no change.
    barren: u32,
    /// Whether answers are asked for as JSON by a schema, and no refusal of that was heard.
    structured: bool,
    /// What the user should hear of the conversation.
    notes: Vec<Note>,
}

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
        let (diagnosis, ideas, notes) = (None, VecDeque::new(), Vec::new());
        let structured = settings.structured;
        Self { chat, ledger, settings, templates, diagnosis, ideas, unanswered: 0, barren: 0, structured, notes }
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
        Written { change, idea, author: format!("the model {}", self.settings.model(role)), repairs }
    }

    fn ask(&mut self, role: Role, state: &State) -> Result<String, Stop> {
        let mut broken = 0;
        loop {
            let format = response_format(role).filter(|_| self.structured);
            let structured = format.is_some();
            let state = state.clone().structured(structured);
            let settings = &self.settings;
            let prompt = Prompt::build(&self.templates, role, &state, settings.prompt_tokens).map_err(Stop::Prompt)?;
            let allowed = self.ledger.answer_tokens(prompt.tokens(), settings.answer_tokens).map_err(Stop::Spent)?;
            let request = Request::new(&prompt, settings.model(role), settings.temperature, allowed);
            let request = format.into_iter().fold(request, Request::formatted);
            match self.chat.ask(&request) {
                Ok(reply) => {
                    self.ledger.answered(reply.usage, reply.seconds);
                    return Ok(if structured { as_text(role, &reply.text) } else { reply.text });
                }
                Err(error) if structured && error.is_about_the_request() => {
                    self.structured = false;
                    let message = format!("answers are not asked for by a schema any more: {error}");
                    self.notes.push(note("model-without-schema", message));
                }
                Err(error) => {
                    self.ledger.failed(error.usage());
                    broken += 1;
                    if !matches!(error, CallError::Cut { .. }) || broken == PATIENCE {
                        return Err(Stop::Call(error));
                    }
                }
            }
        }
    }
}

impl Mind for Talk {
    fn hold(&mut self, errand: Errand, state: State, sources: &SourceTree) -> Held {
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
        held.notes.append(&mut self.notes);
        if self.unanswered >= PATIENCE {
            held.over = Some(format!("{PATIENCE} questions in a row got no answer"));
        } else if self.barren >= PATIENCE {
            held.over = Some(format!("{PATIENCE} conversations in a row led to no change"));
        }
        held
    }

    fn spent(&self) -> Spent {
        self.ledger.spent()
    }
}
