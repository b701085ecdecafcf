//! A conversation: from a diagnosis over a plan to a change, or from a refusal to a change that may not be refused.

use std::collections::VecDeque;
use std::sync::Arc;

use super::answer::{AnswerError, Change, change, ideas};
use super::chat::{CallError, Chat, Request, ToolCall};
use super::ledger::{Ledger, Spent};
use super::lessons::lessons;
use super::local::{stated, with_places};
use super::mind::{Errand, Held, Mind, PATIENCE, Written, clipped, note};
use super::population::Brood;
use super::prompt::{Prompt, PromptError};
use super::removal::{UNUSABLE, removal};
use super::role::Role;
use super::scrub::without_folders;
use super::settings::Settings;
use super::state::{Failed, IDEAS, Outcome, State, Tiling, Version, diff};
use super::structured::{as_text, response_format};
use super::templates::Templates;
use super::tiling::Region;
use super::tokens::tokens;
use super::tools::Toolbox;
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
    /// Whether tools are offered, and no refusal of that was heard.
    tools: bool,
    toolbox: Toolbox,
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
    pub fn new(chat: Box<dyn Chat>, settings: Arc<Settings>, templates: Arc<Templates>, toolbox: Toolbox) -> Self {
        let ledger = Ledger::new(settings.budget);
        let (diagnosis, ideas, notes) = (None, VecDeque::new(), Vec::new());
        let structured = settings.structured;
        let (unanswered, barren, tools) = (0, 0, true);
        Self {
            chat,
            ledger,
            settings,
            templates,
            diagnosis,
            ideas,
            unanswered,
            barren,
            structured,
            tools,
            toolbox,
            notes,
        }
    }

    fn fresh(&mut self, state: State, sources: &SourceTree, most: usize, held: &mut Held) -> Result<(), Stop> {
        let digest = sources.digest();
        let known = self.diagnosis.clone().filter(|(of, _)| *of == digest);
        let diagnosis = match known {
            Some((_, diagnosis)) => diagnosis,
            None => {
                let diagnosis = self.ask(Role::Diagnose, &state, sources)?;
                self.diagnosis = Some((digest, diagnosis.clone()));
                self.ideas.clear();
                diagnosis
            }
        };
        let state = state.diagnosed(&diagnosis);
        if self.ideas.is_empty() {
            self.ideas = ideas(&self.ask(Role::Plan, &state, sources)?, IDEAS).into();
            held.nothing = self.ideas.is_empty();
        }
        while held.written.len() < most {
            let Some(idea) = self.ideas.pop_front() else { break };
            let state = state.clone().with_idea(&idea);
            let answer = self.ask(Role::Propose, &state, sources)?;
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

    /// A tiling function that comes of another one.
    fn evolved(&mut self, state: State, sources: &SourceTree, brood: Brood, held: &mut Held) -> Result<(), Stop> {
        let region = match Region::of(sources) {
            Ok(region) => region,
            Err(why) => {
                held.notes.push(note("tiling-not-evolved", why));
                return Ok(());
            }
        };
        let said = |speedup: f64| format!("{speedup:.3}");
        let version = |(text, speedup): &(String, f64)| Version { text: text.clone(), speedup: said(*speedup) };
        let (text, speedup) = match &brood.parent {
            Some((_, text, speedup)) => (text.clone(), said(*speedup)),
            None => (region.text(sources).to_owned(), String::new()),
        };
        let others = brood.others.iter().map(version).collect();
        let refused = brood.refused.iter().map(|why| without_folders(why)).collect();
        let state = state.tiling(Tiling { file: region.file.clone(), text, speedup, others, refused });
        let answer = self.ask(Role::Evolve, &state, sources)?;
        match region.change(&answer, sources) {
            Ok((change, text)) => {
                let title = change.title.clone();
                let written = self.written(Role::Evolve, change, title, 0);
                held.written.push(Written { lineage: Some((brood, text)), ..written });
            }
            Err(AnswerError::Nothing) => {}
            Err(error) => held.notes.push(note("model-answer-unusable", format!("an answer for evolve: {error}"))),
        }
        Ok(())
    }

    /// A rule for what was kept: one that does not make just that is none.
    fn stated(&mut self, state: State, sources: &SourceTree, kept: &Change, held: &mut Held) -> Result<(), Stop> {
        let diff = diff(&kept.base, &kept.wanted);
        let failed = Failed { title: kept.title.clone(), diff, message: String::new() };
        let answer = self.ask(Role::Motif, &state.failed(&failed), sources)?;
        let form =
            stated(&answer).and_then(|form| form.map(|form| with_places(form, &kept.base, &kept.wanted)).transpose());
        match form {
            Ok(form) => held.form = form,
            Err(why) => held.notes.push(note("local-motif-not-kept", format!("{}: {why}", kept.title))),
        }
        Ok(())
    }

    /// Something to take out.
    fn rewound(&mut self, state: State, sources: &SourceTree, held: &mut Held) -> Result<(), Stop> {
        let answer = self.ask(Role::Rewind, &state, sources)?;
        match removal(&answer, sources) {
            Ok(removal) => held.rewound = Some(removal),
            Err(AnswerError::Nothing) => held.nothing = true,
            Err(error) => held.notes.push(note(UNUSABLE, format!("an answer for rewind: {error}"))),
        }
        Ok(())
    }

    fn distilled(
        &mut self,
        state: State,
        sources: &SourceTree,
        outcomes: Vec<Outcome>,
        held: &mut Held,
    ) -> Result<(), Stop> {
        let names: Vec<String> = outcomes.iter().map(|outcome| outcome.name.clone()).collect();
        let answer = self.ask(Role::Distil, &state.outcomes(outcomes), sources)?;
        held.learned = lessons(&answer, &names);
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
            let answer = self.ask(Role::Repair, &state.clone().failed(&failed), sources)?;
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
        let author = format!("the model {}", self.settings.model(role));
        Written { change, idea, author, repairs, lineage: None }
    }

    fn ask(&mut self, role: Role, state: &State, sources: &SourceTree) -> Result<String, Stop> {
        let mut broken = 0;
        // What was said so far, and what tools brought: it ends with an answer that calls none.
        let mut used: Vec<(String, Vec<(ToolCall, String)>)> = Vec::new();
        loop {
            let format = response_format(role).filter(|_| self.structured);
            let (structured, tools) = (format.is_some(), self.tools && !self.toolbox.is_empty());
            let state = state.clone().structured(structured);
            let settings = &self.settings;
            let prompt = Prompt::build(&self.templates, role, &state, settings.prompt_tokens).map_err(Stop::Prompt)?;
            let of_tools: u64 = used.iter().flat_map(|(_, results)| results).map(|(_, result)| tokens(result)).sum();
            let length = prompt.tokens() + of_tools;
            let allowed = self.ledger.answer_tokens(length, settings.answer_tokens).map_err(Stop::Spent)?;
            let request = Request::new(&prompt, settings.model(role), settings.temperature, allowed);
            let mut request = format.into_iter().fold(request, Request::formatted);
            let calls: usize = used.iter().map(|(_, results)| results.len()).sum();
            let left = (self.toolbox.most_calls as usize).saturating_sub(calls);
            if tools {
                request = request.with_tools(self.toolbox.listed(), left == 0);
            }
            for (text, results) in &used {
                request = request.with_results(text, results);
            }
            match self.chat.ask(&request) {
                Ok(reply) if tools && left > 0 && !reply.calls.is_empty() => {
                    self.ledger.answered(reply.usage, reply.seconds);
                    let results = self.used(reply.calls, left, sources)?;
                    used.push((reply.text, results));
                }
                Ok(reply) => {
                    self.ledger.answered(reply.usage, reply.seconds);
                    return Ok(if structured { as_text(role, &reply.text) } else { reply.text });
                }
                Err(error) if structured && error.is_about_the_request() => {
                    self.structured = false;
                    let message = format!("answers are not asked for by a schema any more: {error}");
                    self.notes.push(note("model-without-schema", message));
                }
                Err(error) if tools && error.is_about_the_request() => {
                    self.tools = false;
                    used.clear();
                    let message = format!("no tools are offered any more: {error}");
                    self.notes.push(note("model-without-tools", message));
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

    /// What calls bring; those beyond what is `left` bring a word about that.
    fn used(
        &mut self,
        calls: Vec<ToolCall>,
        left: usize,
        sources: &SourceTree,
    ) -> Result<Vec<(ToolCall, String)>, Stop> {
        let mut results = Vec::new();
        for (place, call) in calls.into_iter().enumerate() {
            let toolbox = &mut self.toolbox;
            let mut run = || match place < left {
                true => toolbox.used(&call, sources),
                false => "Error: no more calls for this answer".to_owned(),
            };
            let result = self.chat.tool(&call, &mut run).map_err(Stop::Call)?;
            results.push((call, result));
        }
        Ok(results)
    }
}

impl Mind for Talk {
    fn hold(&mut self, errand: Errand, state: State, sources: &SourceTree) -> Held {
        let mut held = Held::default();
        let result = match errand {
            Errand::Fresh(most) => self.fresh(state, sources, most, &mut held),
            Errand::Repair(failed, repairs) => self.mended(&state, sources, failed, repairs, &mut held),
            Errand::Evolve(brood) => self.evolved(state, sources, brood, &mut held),
            Errand::Distil(outcomes) => self.distilled(state, sources, outcomes, &mut held),
            Errand::Motif(kept) => self.stated(state, sources, &kept, &mut held),
            Errand::Rewind => self.rewound(state, sources, &mut held),
        };
        match result {
            Ok(()) => {
                self.unanswered = 0;
                let came = !held.written.is_empty() || held.rewound.is_some();
                self.barren = if came { 0 } else { self.barren + 1 };
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
