//! Local motifs: what a model states of a rewrite that was kept, and the engine that makes such motifs again without a model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::answer::one_line;
use motif::{Context, Counter, LocalForm, LocalMotif, LocalRecord, TensorsOf};
use proposer::{Asked, Heard, Proposal, Proposer};
use source::SourceTree;
use source::facts::KnownValues;

const HEAD: &str = "<<<<<<< MOTIF";
const BETWEEN: &str = "=======";
const END: &str = ">>>>>>> END";
/// What is less is no gain.
const GAIN: f64 = 1.005;
/// Of the digest of sources.
const DIGITS: usize = 16;
/// What a motif promises that has proved itself once.
const EXPECTED_GAIN: f64 = 1.1;

/// Reads an answer; `Ok(None)` where the model states nothing.
pub fn stated(answer: &str) -> Result<Option<LocalForm>, String> {
    if answer.trim().trim_matches(['`', '.', '"']) == "NOTHING" {
        return Ok(None);
    }
    let mut lines = answer.lines();
    let head = lines.by_ref().find_map(|line| line.trim().strip_prefix(HEAD));
    let title = one_line(head.ok_or("the answer has no line `<<<<<<< MOTIF`")?.trim());
    let mut until = |end: &str| {
        let mut part = String::new();
        for line in lines.by_ref() {
            if line.trim_end() == end {
                return Ok(part);
            }
            part.push_str(line);
            part.push('\n');
        }
        Err(format!("the motif has no `{end}`"))
    };
    let (slow, fast) = (until(BETWEEN)?.trim().to_owned(), until(END)?.trim().to_owned());
    let mut form = LocalForm { title, slow, fast, ..LocalForm::default() };
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    for line in lines {
        if let Some(tensors) = line.trim().strip_prefix("TENSORS:") {
            let (holes, elements) =
                tensors.split_once(':').ok_or("TENSORS has no second colon before the element types")?;
            form.tensors.push(TensorsOf { holes: words(holes), elements: words(elements) });
        } else if let Some(apart) = line.trim().strip_prefix("APART:") {
            let pair = <[String; 2]>::try_from(words(apart)).map_err(|_| "APART does not name two holes")?;
            form.apart.push(pair);
        } else if let Some(fresh) = line.trim().strip_prefix("FRESH:") {
            form.fresh.extend(words(fresh));
        } else if let Some(counter) = line.trim().strip_prefix("RELIEVES:") {
            let known = || format!("RELIEVES names none of {}", Counter::ALL.map(Counter::name).join(", "));
            form.relieves = Some(Counter::named(counter.trim()).ok_or_else(known)?);
        }
    }
    Ok(Some(form))
}

/// A local motif that a model has stated of one of its proposals.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Name of the proposal.
    pub of: String,
    /// The motif, with the places at which it makes the proposal.
    pub form: LocalForm,
}

/// At how many places a motif makes, of the sources as they were, all of a rewrite that was kept; otherwise why it does not hold.
pub fn holds(form: &LocalForm, before: &SourceTree, after: &SourceTree) -> Result<u32, String> {
    let motif = LocalMotif::new(form.clone()).map_err(|error| error.to_string())?;
    let context = Context::new(before.clone(), KnownValues::default(), None);
    let (made, sites) = motif.applied(&context).ok_or("it does not apply to the sources that it comes from")?;
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let differs = after.iter().find(|(file, text)| made.text(file).map(plain) != Some(plain(text)));
    match differs {
        Some((file, _)) => Err(format!("what it makes of {file} is not what was kept")),
        None => Ok(u32::try_from(sites.len()).unwrap_or(u32::MAX)),
    }
}

/// The motif with where it comes from: what was kept of the proposal that it was stated of.
pub fn with_places(form: LocalForm, before: &SourceTree, after: &SourceTree) -> Result<LocalForm, String> {
    let places = holds(&form, before, after)?;
    let from = vec![before.digest()[..DIGITS].to_owned()];
    // The operator that it comes from.
    let record = LocalRecord { searched: 1, matched: 1, held: 1, gained: 1, places, from, ..LocalRecord::default() };
    Ok(LocalForm { record, ..form })
}

/// What is to be said of the counter that a motif is said to relieve, where the profiles without and with it, by name, do not agree.
pub fn disagrees(form: &LocalForm, counters: &BTreeMap<String, [f64; 2]>) -> Option<String> {
    let counter = form.relieves?.name();
    match counters.get(counter) {
        Some([before, after]) if *before > 0.0 && *after < before / GAIN => None,
        Some([before, after]) => Some(format!("{counter} went from {before:.3} us to {after:.3} us with it")),
        None => Some(format!("nothing is known of {counter} with it and without")),
    }
}

/// Proposes local motifs of banks, wherever they apply.
#[derive(Debug, Default)]
pub struct LocalMotifs {
    motifs: Vec<(String, LocalMotif)>,
    refused: Mutex<BTreeSet<String>>,
    /// Those that were proposed, and what became of them at best: whether they were right, and by how much faster.
    seen: Mutex<BTreeMap<String, Option<f64>>>,
}

impl LocalMotifs {
    /// These, by name.
    pub fn new(motifs: Vec<(String, LocalMotif)>) -> Self {
        Self { motifs, refused: Mutex::default(), seen: Mutex::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.motifs.is_empty()
    }

    /// What a run depends on of them.
    pub fn digest(&self) -> String {
        self.motifs.iter().map(|(name, _)| format!("{name} ")).collect()
    }

    /// Names of those that were refused, or taken back: they do not hold.
    pub fn refused(&self) -> Vec<String> {
        self.lost().iter().cloned().collect()
    }

    /// What became of each on the operator of the run.
    pub fn records(&self) -> Vec<(String, LocalRecord)> {
        let seen = self.seen();
        let record = |(name, _): &(String, LocalMotif)| {
            let (gain, matched) = (seen.get(name).copied().flatten(), seen.contains_key(name));
            let (held, gained) = (gain.is_some(), gain.is_some_and(|gain| gain > GAIN));
            let [matched, held, gained] = [matched, held, gained].map(u32::from);
            (name.clone(), LocalRecord { searched: 1, matched, held, gained, ..LocalRecord::default() })
        };
        self.motifs.iter().map(record).collect()
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, Option<f64>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lost(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, name: &str) {
        if self.motifs.iter().any(|(known, _)| known == name) {
            self.lost().insert(name.to_owned());
        }
    }
}

impl Proposer for LocalMotifs {
    fn propose(&self, asked: &Asked<'_>) -> Vec<Proposal> {
        let lost = self.lost().clone();
        let proposal = |(name, motif): &(String, LocalMotif)| {
            let (wanted, sites) = motif.applied(asked.context)?;
            let title = motif.form().title.as_str();
            let places = sites.iter().map(|site| format!("{}:{}", site.file, site.line)).collect::<Vec<_>>();
            self.seen().entry(name.clone()).or_default();
            let why = format!("a local motif of the bank: {title}, at {}", places.join(", "));
            Proposal::written(asked.context, &wanted, (name, title), why, EXPECTED_GAIN)
        };
        let known = self.motifs.iter().filter(|(name, _)| !lost.contains(name));
        known.filter_map(proposal).filter(|proposal| !asked.history.contains(&proposal.key)).collect()
    }

    fn hear(&self, proposal: &Proposal, heard: &Heard) {
        let [name] = proposal.motifs.as_slice() else { return };
        match heard {
            Heard::Rejected(_) => self.lose(name),
            Heard::Right { gain, .. } => {
                if let Some(best) = self.seen().get_mut(name) {
                    *best = Some(best.map_or(*gain, |best| best.max(*gain)));
                }
            }
            Heard::NotAdmitted(_) => {}
        }
    }

    fn hear_taken_back(&self, motif: &str, _why: &str) {
        self.lose(motif);
    }
}
