//! A model that takes optimisations out of strong kernels, so that it is seen what they are worth.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer::Change;
use super::chat::Chat;
use super::ledger::Spent;
use super::mind::{Errand, Held, Mind, note};
use super::removal::UNUSABLE;
use super::settings::Settings;
use super::state::{State, Subject};
use super::talk::Talk;
use super::templates::Templates;
use super::tools::Toolbox;
use proposer::{Asked, Note, Removal, Rewinder};

/// Asks a model.
#[derive(Debug)]
pub struct ModelRewinder {
    subject: Subject,
    most: u32,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    mind: Box<dyn Mind>,
    asked: u32,
    /// What was taken out, and what became of it.
    tried: Vec<String>,
    /// The title of the one that nothing was heard of yet.
    open: Option<String>,
    notes: Vec<Note>,
    over: Option<String>,
}

impl ModelRewinder {
    /// A model that is asked by `chat`, for `most` removals.
    pub fn new(subject: Subject, settings: Settings, templates: Templates, chat: Box<dyn Chat>, most: u32) -> Self {
        let talk = Talk::new(chat, Arc::new(settings), Arc::new(templates), Toolbox::empty());
        let (tried, notes) = (Vec::new(), Vec::new());
        let inner = Inner { mind: Box::new(talk), asked: 0, tried, open: None, notes, over: None };
        Self { subject, most, inner: Mutex::new(inner) }
    }

    /// What it has cost.
    pub fn spent(&self) -> Spent {
        self.inner().mind.spent()
    }

    /// Why it was asked no further before it had been asked for all.
    pub fn over(&self) -> Option<String> {
        self.inner().over.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What a thread that panicked left is whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The answer to one question.
    fn question(&mut self, subject: &Subject, asked: &Asked<'_>) -> Held {
        let state = State::of(subject, asked, &self.tried);
        let (mind, sources) = (&mut self.mind, &asked.context.tree);
        // The client must not be called on a thread that runs tasks.
        let held = std::thread::scope(|scope| scope.spawn(|| mind.hold(Errand::Rewind, state, sources)).join());
        held.unwrap_or_else(|_| Held {
            failure: Some("a conversation with the model ended in a bug of this program".to_owned()),
            ..Held::default()
        })
    }
}

impl Rewinder for ModelRewinder {
    fn next(&self, asked: &Asked<'_>) -> Result<Option<Removal>, String> {
        let mut inner = self.inner();
        while inner.over.is_none() && inner.asked < self.most {
            inner.asked += 1;
            let held = inner.question(&self.subject, asked);
            // What is wrong with an answer the next question tells.
            inner.tried.extend(held.notes.iter().filter(|note| note.code == UNUSABLE).map(|note| note.message.clone()));
            inner.notes.extend(held.notes);
            if let Some(failure) = held.failure {
                return Err(failure);
            }
            if let Some(over) = held.over {
                inner.notes.push(note("proposer-ended", format!("the model is asked no further: {over}")));
                inner.over = Some(over);
            }
            if let Some((Change { title, wanted, .. }, relieves)) = held.rewound {
                inner.open = Some(title.clone());
                return Ok(Some(Removal { title, wanted, relieves }));
            }
            if held.nothing {
                break;
            }
        }
        Ok(None)
    }

    fn hear(&self, became: &str) {
        let mut inner = self.inner();
        if let Some(title) = inner.open.take() {
            inner.tried.push(format!("{title}: {became}"));
        }
    }

    fn notes(&self) -> Vec<Note> {
        std::mem::take(&mut self.inner().notes)
    }

    fn most(&self) -> u32 {
        self.most
    }
}
