//! A language model, or a program of the user's, among those who propose rewrites. Its conversations run beside the evaluations: what is
//! proposed at one moment is the answer to the question of the moment before.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::answer::Change;
use super::chat::Chat;
use super::evidence::Evidence;
use super::ledger::Spent;
use super::lessons::Learned;
use super::local::Rule;
use super::mind::{Errand, Held, Mind, Written, note};
use super::onto::onto;
use super::population::{Fate, Member, Population};
use super::program::{Program, ProgramSettings};
use super::settings::{AT_ONCE, Settings};
use super::state::{Failed, Outcome, State, Subject, diff};
use super::talk::Talk;
use super::templates::Templates;
use super::tools::Toolbox;
use proposer::{Asked, Heard, Note, Proposal, Proposer};
use source::SourceTree;

/// Proposes what somebody says who is asked in conversations.
#[derive(Debug)]
pub struct Collaborator {
    subject: Subject,
    terms: Terms,
    inner: Mutex<Inner>,
}

/// What a collaborator is called, and what it may take.
#[derive(Clone, Debug, PartialEq)]
struct Terms {
    /// `model` or `proposer`: its proposals are called that with a number.
    word: &'static str,
    /// Answers that mend one refused proposal, at most.
    repairs: u32,
    /// Share of the other evaluations before anything was gained.
    share: f64,
    /// Proposals that come of one conversation, at most.
    at_once: usize,
    /// Islands of tiling functions, and answers for them.
    evolve: (usize, u32),
    /// Whether it is asked in the end what was learned, and for rules.
    distil: bool,
    local_motifs: bool,
}

/// What a run has had of a collaborator.
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
    mind: Option<Box<dyn Mind>>,
    running: Option<JoinHandle<(Box<dyn Mind>, Held)>>,
    /// Changes that nothing was heard of yet, with their names.
    waiting: Vec<Offer>,
    /// What became of earlier ones, for when one of them is taken back.
    settled: Vec<Offer>,
    failed: VecDeque<(Failed, u32)>,
    tried: Vec<String>,
    evidence: Evidence,
    notes: Vec<Note>,
    /// Digest of the sources that it has nothing to say about.
    nothing_for: Option<String>,
    count: usize,
    spent: Spent,
    over: Option<String>,
    failure: Option<String>,
    /// Tiling functions that it wrote.
    population: Population,
    /// Conversations about something new.
    turns: u32,
    /// What the last conversation was about.
    last: Option<(State, SourceTree)>,
}

#[derive(Clone, Debug)]
struct Offer {
    name: String,
    written: Written,
    offered: u32,
    /// What the run had gained when it was offered.
    speedup: f64,
    /// What became of it.
    became: String,
    /// Whether it was taken over, and not taken back.
    kept: bool,
}

/// Rules that a model is asked for in the end, at most.
const RULES: usize = 3;
/// How is said what became of a step that did not hold.
const TAKEN_BACK: &str = "taken back: ";
/// Proposals that a model is asked about in the end, the last ones.
const LESSONS: usize = 8;
/// A change that was offered so often, and never became a candidate, is dropped.
const OFFERS: u32 = 8;
/// What is said of a conversation that nobody waits for any more.
const OPEN: &str = "the run was over before its last question was answered, and does not count what that costs";
/// Between what the catalogue promises and what somebody promises who knows the operator.
const EXPECTED_GAIN: f64 = 1.5;

impl Collaborator {
    /// A model that is asked by `chat`.
    pub fn model(subject: Subject, settings: Settings, templates: Templates, chat: Box<dyn Chat>) -> Self {
        Self::model_with_tools(subject, settings, templates, chat, Toolbox::empty())
    }

    /// The same that may use tools.
    pub fn model_with_tools(
        subject: Subject,
        settings: Settings,
        templates: Templates,
        chat: Box<dyn Chat>,
        toolbox: Toolbox,
    ) -> Self {
        let Settings { repairs, share, at_once, distil, local_motifs, .. } = settings;
        let evolve = (settings.islands, settings.evolve);
        let talk = Talk::new(chat, Arc::new(settings), Arc::new(templates), toolbox);
        Self::new(
            subject,
            Terms { word: "model", repairs, share, at_once, evolve, distil, local_motifs },
            Box::new(talk),
        )
    }

    /// A program that is asked over its standard input and output.
    pub fn program(subject: Subject, program: Program) -> Self {
        let ProgramSettings { repairs, share, .. } = *program.settings();
        let terms = Terms {
            word: "proposer",
            repairs,
            share,
            at_once: AT_ONCE,
            evolve: (1, 0),
            distil: false,
            local_motifs: false,
        };
        Self::new(subject, terms, Box::new(program))
    }

    fn new(subject: Subject, terms: Terms, mind: Box<dyn Mind>) -> Self {
        let inner = Inner {
            mind: Some(mind),
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
            population: Population::new(terms.evolve.0, terms.evolve.1),
            turns: 0,
            last: None,
        };
        Self { subject, terms, inner: Mutex::new(inner) }
    }

    /// What the run has had of it so far.
    pub fn used(&self) -> Used {
        let inner = self.inner();
        let open = || inner.running.is_some().then(|| OPEN.to_owned());
        let over = inner.over.clone().or_else(open);
        Used { spent: inner.spent, evaluations: inner.evidence.evaluations(), over }
    }

    /// Tiling functions that it wrote, in the order in which they came.
    pub fn population(&self) -> Vec<Member> {
        self.inner().population.members().to_vec()
    }

    /// Asks what was learned of what was tried, at the end of a run: where that is wanted, and there is something to learn from.
    pub fn distil(&self) -> Vec<Learned> {
        let mut inner = self.inner();
        if !self.terms.distil || inner.settled.is_empty() {
            return Vec::new();
        }
        let outcome = |offer: &Offer| {
            let Written { change, .. } = &offer.written;
            let (title, became) = (change.title.clone(), offer.became.clone());
            Outcome { name: offer.name.clone(), title, became, diff: diff(&change.base, &change.wanted) }
        };
        let first = inner.settled.len().saturating_sub(LESSONS);
        let outcomes = inner.settled[first..].iter().map(outcome).collect();
        let Some(held) = inner.hold_now(Errand::Distil(outcomes), self.terms.word) else { return Vec::new() };
        let gone = |name: &str| {
            let offer = inner.settled.iter().find(|offer| offer.name == name);
            offer.and_then(|offer| offer.became.strip_prefix(TAKEN_BACK)).map(str::to_owned)
        };
        held.learned.into_iter().map(|one| Learned { taken_back: gone(&one.name), ..one }).collect()
    }

    /// Asks for rules that make again what was kept, at the end of a run, where that is wanted.
    pub fn state_motifs(&self) -> Vec<Rule> {
        let mut inner = self.inner();
        let kept = |offer: &&Offer| offer.kept && offer.written.lineage.is_none();
        let named = |offer: &Offer| (offer.name.clone(), offer.written.change.clone());
        let kept: Vec<(String, Change)> = inner.settled.iter().filter(kept).map(named).collect();
        let wanted = if self.terms.local_motifs { RULES } else { 0 };
        let rule = |(of, change)| {
            let form = inner.hold_now(Errand::Motif(change), self.terms.word)?.form?;
            Some(Rule { of, form })
        };
        kept.into_iter().rev().take(wanted).filter_map(rule).collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What a thread that panicked left is whole: it works on what it was given.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Waits for the conversation that is held, if one is, and takes what came of it.
    fn listen(&mut self, digest: &str, word: &str) {
        let Some(running) = self.running.take() else { return };
        let Ok((mind, held)) = running.join() else {
            self.failure = Some(format!("a conversation with the {word} ended in a bug of this program"));
            return;
        };
        self.spent = mind.spent();
        self.mind = Some(mind);
        self.notes.extend(held.notes);
        if held.nothing {
            self.nothing_for = Some(digest.to_owned());
        }
        for written in held.written {
            self.count += 1;
            let name = format!("{word}-{}", self.count);
            if let Some((brood, text)) = written.lineage.clone() {
                self.population.born(Member {
                    name: name.clone(),
                    title: written.change.title.clone(),
                    parent: brood.parent.map(|(parent, ..)| parent),
                    island: brood.island,
                    generation: brood.generation,
                    fate: Fate::Open,
                    text,
                });
            }
            self.waiting.push(Offer { name, written, offered: 0, speedup: 1.0, became: String::new(), kept: false });
        }
        if let (Some(over), None) = (&held.over, &self.over) {
            self.notes.push(note("proposer-ended", format!("the {word} is asked no further: {over}")));
        }
        self.over = self.over.take().or(held.over);
        self.failure = self.failure.take().or(held.failure);
    }

    /// Holds a conversation while everybody waits; `None` where there is nobody to talk to.
    fn hold_now(&mut self, errand: Errand, word: &str) -> Option<Held> {
        self.listen("", word);
        if self.over.is_some() || self.failure.is_some() {
            return None;
        }
        let (state, sources) = self.last.clone()?;
        let mut mind = self.mind.take()?;
        let mut held = mind.hold(errand, state, &sources);
        self.spent = mind.spent();
        self.mind = Some(mind);
        self.notes.append(&mut held.notes);
        self.over = held.over.take();
        self.failure = held.failure.take();
        Some(held)
    }

    /// Begins a conversation about what is asked, where there is one to begin.
    fn speak(&mut self, subject: &Subject, asked: &Asked<'_>, (digest, allowed, at_once): (&str, usize, usize)) {
        let nothing = self.nothing_for.as_deref() == Some(digest);
        let evolves = self.population.goes_on();
        let silent = nothing && self.failed.is_empty() && !evolves;
        if self.over.is_some() || self.failure.is_some() || silent || !self.waiting.is_empty() {
            return;
        }
        let Some(mut mind) = self.mind.take() else { return };
        let errand = match self.failed.pop_front() {
            Some((failed, repairs)) => Errand::Repair(failed, repairs),
            None => {
                self.turns += 1;
                // Ideas and tiling functions take turns.
                let brood = (evolves && (nothing || self.turns.is_multiple_of(2))).then(|| self.population.next());
                brood.flatten().map_or_else(|| Errand::Fresh(allowed.clamp(1, at_once)), Errand::Evolve)
            }
        };
        let state = State::of(subject, asked, &self.tried);
        let sources = asked.context.tree.clone();
        self.last = Some((state.clone(), sources.clone()));
        self.running = Some(std::thread::spawn(move || {
            let held = mind.hold(errand, state, &sources);
            (mind, held)
        }));
    }

    /// Proposals of what waits, on the sources of the context.
    fn offers(&mut self, asked: &Asked<'_>, most: usize) -> Vec<Proposal> {
        let now = &asked.context.tree;
        let mut proposals = Vec::new();
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        for mut offer in std::mem::take(&mut self.waiting) {
            let Written { change, idea, author, lineage, .. } = &offer.written;
            let made = onto(change, now).and_then(|wanted| {
                let why = format!("proposed by {author}: {idea}");
                let made = Proposal::written(asked.context, &wanted, (&offer.name, &change.title), why, EXPECTED_GAIN)?;
                Some(Proposal { brings_constants: lineage.is_some(), ..made })
            });
            match made.filter(|proposal| !asked.history.contains(&proposal.key) && offer.offered < OFFERS) {
                Some(proposal) => {
                    if proposals.len() < most {
                        offer.offered += 1;
                        offer.speedup = asked.standing.speedup;
                        proposals.push(proposal);
                    }
                    kept.push(offer);
                }
                None => {
                    let why = "not tried, the same or the same lines were rewritten since";
                    lost.push(format!("{}: {why}", change.title));
                    self.population.judged(&offer.name, Fate::Refused { why: why.to_owned() });
                }
            }
        }
        self.waiting = kept;
        self.tried.extend(lost);
        proposals
    }

    fn learn(&mut self, mut offer: Offer, repairs_at_most: u32, what: &str, refused: Option<&str>) {
        what.clone_into(&mut offer.became);
        offer.kept &= refused.is_none();
        let Written { change, repairs, lineage, .. } = &offer.written;
        self.tried.push(format!("{}: {what}", change.title));
        if let Some(why) = refused {
            self.population.judged(&offer.name, Fate::Refused { why: why.to_owned() });
        }
        // What is wrong with a tiling function the next one of its island is told.
        if let Some(message) = refused.filter(|_| *repairs < repairs_at_most && lineage.is_none()) {
            let diff = diff(&change.base, &change.wanted);
            let failed = Failed { title: change.title.clone(), diff, message: message.to_owned() };
            self.failed.push_back((failed, *repairs));
        }
        self.settled.push(offer);
    }
}

impl Proposer for Collaborator {
    fn propose(&self, asked: &Asked<'_>) -> Vec<Proposal> {
        let mut inner = self.inner();
        let digest = asked.context.tree.digest();
        inner.listen(&digest, self.terms.word);
        let allowed = inner.evidence.allowed(self.terms.share, &asked.standing);
        let proposals = inner.offers(asked, allowed);
        inner.speak(&self.subject, asked, (&digest, allowed, self.terms.at_once.max(1)));
        proposals
    }

    fn is_at_work(&self) -> bool {
        self.inner().running.is_some()
    }

    fn hear(&self, proposal: &Proposal, heard: &Heard) {
        let mut inner = self.inner();
        let [name] = proposal.motifs.as_slice() else { return };
        let Some(place) = inner.waiting.iter().position(|offer| offer.name == *name) else { return };
        let mut offer = inner.waiting.remove(place);
        offer.kept = matches!(heard, Heard::Right { taken: true, .. });
        let most = self.terms.repairs;
        match heard {
            Heard::NotAdmitted(why) => {
                inner.notes.push(note("proposal-refused", format!("{name} is not tried: {why}")));
                inner.learn(offer, most, &format!("not admitted: {why}"), Some(why));
            }
            Heard::Rejected(why) => {
                inner.evidence.note(1.0);
                inner.learn(offer, most, &format!("refused: {why}"), Some(why));
            }
            Heard::Right { gain, taken } => {
                inner.evidence.note(if *taken { *gain } else { 1.0 });
                let speedup = offer.speedup * gain;
                inner.population.judged(name, Fate::Right { speedup });
                let taken = if *taken { "taken over" } else { "not taken over" };
                inner.learn(offer, most, &format!("right, {gain:.2}x, {taken}"), None);
            }
        }
    }

    fn hear_taken_back(&self, motif: &str, why: &str) {
        let mut inner = self.inner();
        let Some(place) = inner.settled.iter().position(|offer| offer.name == motif) else { return };
        let offer = inner.settled.remove(place);
        let most = self.terms.repairs;
        inner.learn(offer, most, &format!("{TAKEN_BACK}{why}"), Some(why));
    }

    fn failure(&self) -> Option<String> {
        self.inner().failure.clone()
    }

    fn notes(&self) -> Vec<Note> {
        std::mem::take(&mut self.inner().notes)
    }
}
