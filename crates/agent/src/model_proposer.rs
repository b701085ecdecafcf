//! A language model among those who propose rewrites. Its conversations run beside the evaluations: what is proposed at one moment is the
//! answer to the question of the moment before.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::chat::Chat;
use super::evidence::Evidence;
use super::ledger::Spent;
use super::settings::Settings;
use super::state::{Failed, State, Subject, diff};
use super::talk::{Errand, Held, Talk, Written, note};
use super::templates::Templates;
use proposer::{Asked, Heard, Note, Proposal, Proposer, carried_over};

/// Proposes what a model says.
#[derive(Debug)]
pub struct ModelProposer {
    subject: Subject,
    settings: Arc<Settings>,
    inner: Mutex<Inner>,
}

/// What a run has had of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// What it cost.
    pub spent: Spent,
    /// Evaluations that were made of what it proposed.
    pub evaluations: u64,
    /// Why no further question was asked, where that is so.
    pub over: Option<String>,
}

#[derive(Debug)]
struct Inner {
    /// Here unless a conversation is held.
    talk: Option<Talk>,
    running: Option<JoinHandle<(Talk, Held)>>,
    /// Changes that nothing was heard of yet, with their names.
    waiting: Vec<Offer>,
    /// What became of earlier ones, for when one of them is taken back.
    settled: Vec<Offer>,
    failed: VecDeque<(Failed, u32)>,
    tried: Vec<String>,
    evidence: Evidence,
    notes: Vec<Note>,
    /// Digest of the sources that the model has nothing to say about.
    nothing_for: Option<String>,
    count: usize,
    spent: Spent,
    over: Option<String>,
    failure: Option<String>,
}

#[derive(Clone, Debug)]
struct Offer {
    name: String,
    written: Written,
    offered: u32,
}

/// A change that was offered so often, and never became a candidate, is dropped.
const OFFERS: u32 = 8;
/// Between what the catalogue promises and what somebody promises who knows the operator.
const EXPECTED_GAIN: f64 = 1.5;

impl ModelProposer {
    /// A model that is asked by `chat`.
    pub fn new(subject: Subject, settings: Settings, templates: Templates, chat: Box<dyn Chat>) -> Self {
        let settings = Arc::new(settings);
        let talk = Talk::new(chat, Arc::clone(&settings), Arc::new(templates));
        let inner = Inner {
            talk: Some(talk),
            running: None,
            waiting: Vec::new(),
            settled: Vec::new(),
            failed: VecDeque::new(),
            tried: Vec::new(),
            evidence: Evidence::default(),
            notes: Vec::new(),
            nothing_for: None,
            count: 0,
            spent: Spent::default(),
            over: None,
            failure: None,
        };
        Self { subject, settings, inner: Mutex::new(inner) }
    }

    /// What the run has had of it so far.
    pub fn used(&self) -> Used {
        let inner = self.inner();
        Used { spent: inner.spent, evaluations: inner.evidence.evaluations(), over: inner.over.clone() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What a thread that panicked left is whole: it works on what it was given.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Waits for the conversation that is held, if one is, and takes what came of it.
    fn listen(&mut self, digest: &str) {
        let Some(running) = self.running.take() else { return };
        let Ok((talk, held)) = running.join() else {
            self.failure = Some("a conversation with the model ended in a bug of this program".to_owned());
            return;
        };
        self.spent = talk.ledger.spent();
        self.talk = Some(talk);
        self.notes.extend(held.notes);
        if held.nothing {
            self.nothing_for = Some(digest.to_owned());
        }
        for written in held.written {
            self.count += 1;
            self.waiting.push(Offer { name: format!("model-{}", self.count), written, offered: 0 });
        }
        if let (Some(over), None) = (&held.over, &self.over) {
            self.notes.push(note("model-ended", format!("the model is asked no further: {over}")));
        }
        self.over = self.over.take().or(held.over);
        self.failure = self.failure.take().or(held.failure);
    }

    /// Begins a conversation about what is asked, where there is one to begin.
    fn speak(&mut self, subject: &Subject, asked: &Asked<'_>, (digest, allowed, at_once): (&str, usize, usize)) {
        let silent = self.nothing_for.as_deref() == Some(digest) && self.failed.is_empty();
        if self.over.is_some() || self.failure.is_some() || silent || !self.waiting.is_empty() {
            return;
        }
        let Some(mut talk) = self.talk.take() else { return };
        let errand = match self.failed.pop_front() {
            Some((failed, repairs)) => Errand::Repair(failed, repairs),
            None => Errand::Fresh(allowed.clamp(1, at_once)),
        };
        let state = State::of(subject, asked, &self.tried);
        let sources = asked.context.tree.clone();
        self.running = Some(std::thread::spawn(move || {
            let held = talk.hold(errand, state, &sources);
            (talk, held)
        }));
    }

    /// Proposals of what waits, on the sources of the context.
    fn offers(&mut self, asked: &Asked<'_>, most: usize) -> Vec<Proposal> {
        let now = &asked.context.tree;
        let mut proposals = Vec::new();
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        for mut offer in std::mem::take(&mut self.waiting) {
            let Written { change, idea, model, .. } = &offer.written;
            let made = carried_over(&change.base, &change.wanted, now).and_then(|wanted| {
                let why = format!("proposed by the model {model}: {idea}");
                Proposal::written(asked.context, &wanted, (&offer.name, &change.title), why, EXPECTED_GAIN)
            });
            match made.filter(|proposal| !asked.history.contains(&proposal.key) && offer.offered < OFFERS) {
                Some(proposal) => {
                    if proposals.len() < most {
                        offer.offered += 1;
                        proposals.push(proposal);
                    }
                    kept.push(offer);
                }
                None => {
                    lost.push(format!("{}: not tried, the same or the same lines were rewritten since", change.title))
                }
            }
        }
        self.waiting = kept;
        self.tried.extend(lost);
        proposals
    }

    fn learn(&mut self, offer: Offer, repairs_at_most: u32, what: &str, refused: Option<&str>) {
        let Written { change, repairs, .. } = &offer.written;
        self.tried.push(format!("{}: {what}", change.title));
        if let Some(message) = refused.filter(|_| *repairs < repairs_at_most) {
            let diff = diff(&change.base, &change.wanted);
            let failed = Failed { title: change.title.clone(), diff, message: message.to_owned() };
            self.failed.push_back((failed, *repairs));
        }
        self.settled.push(offer);
    }
}

impl Proposer for ModelProposer {
    fn propose(&self, asked: &Asked<'_>) -> Vec<Proposal> {
        let mut inner = self.inner();
        let digest = asked.context.tree.digest();
        inner.listen(&digest);
        let allowed = inner.evidence.allowed(self.settings.share, &asked.standing);
        let proposals = inner.offers(asked, allowed);
        inner.speak(&self.subject, asked, (&digest, allowed, self.settings.at_once.max(1)));
        proposals
    }

    fn is_at_work(&self) -> bool {
        self.inner().running.is_some()
    }

    fn hear(&self, proposal: &Proposal, heard: &Heard) {
        let mut inner = self.inner();
        let [name] = proposal.motifs.as_slice() else { return };
        let Some(place) = inner.waiting.iter().position(|offer| offer.name == *name) else { return };
        let offer = inner.waiting.remove(place);
        let most = self.settings.repairs;
        match heard {
            Heard::NotAdmitted(why) => {
                inner.notes.push(note("model-refused", format!("{name} is not tried: {why}")));
                inner.learn(offer, most, &format!("not admitted: {why}"), Some(why));
            }
            Heard::Rejected(why) => {
                inner.evidence.note(1.0);
                inner.learn(offer, most, &format!("refused: {why}"), Some(why));
            }
            Heard::Right { gain, taken } => {
                inner.evidence.note(if *taken { *gain } else { 1.0 });
                let taken = if *taken { "taken over" } else { "not taken over" };
                inner.learn(offer, most, &format!("right, {gain:.2}x, {taken}"), None);
            }
        }
    }

    fn hear_taken_back(&self, motif: &str, why: &str) {
        let mut inner = self.inner();
        let Some(place) = inner.settled.iter().position(|offer| offer.name == motif) else { return };
        let offer = inner.settled.remove(place);
        let most = self.settings.repairs;
        inner.learn(offer, most, &format!("taken back: {why}"), Some(why));
    }

    fn failure(&self) -> Option<String> {
        self.inner().failure.clone()
    }

    fn notes(&self) -> Vec<Note> {
        std::mem::take(&mut self.inner().notes)
    }
}
