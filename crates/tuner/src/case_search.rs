//! The search for cases of a manifest: what the operator's authors wrote, and guesses where they wrote nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::TunerError;
use discovery::cases::{Accepted, Candidate, Finder, MOST_ENDLESS, Reach, Refusal, Sense, Stage, with_inputs_compared};
use discovery::init::unfit;

/// Cases of one source that are tried.
const ATTEMPTS: usize = 150;
/// Elements of all tensors of a case: more take too long to simulate again and again.
const MOST_ELEMENTS: u64 = 1 << 21;
/// Elements of all tensors that a case for tuning should have about, and those below which one is looked for.
const WANTED: u64 = 1 << 20;
const TOO_SMALL: u64 = 1 << 17;
/// Bytes of all tensors of a case that was made larger, at most: what comes out of a product of two vectors is far larger than they are,
/// and nobody knows before shape inference has said it.
const MOST_GROWN_BYTES: u64 = 16 * 4 * WANTED;
/// Small cases of a dtype that are tried to be made larger, and sizes that each is tried at.
const GROWTHS: usize = 12;
const SIZES_OF_A_GROWTH: usize = 3;
/// Shapes of the leading input to guess first.
const LARGE: [&[u64]; 8] = [
    &[1024, 1024],
    &[1 << 20],
    &[16, 256, 256],
    &[16, 64, 32, 32],
    &[4, 16, 16, 32, 32],
    &[512, 2048],
    &[8, 16, 128, 64],
    &[64, 64],
];
/// Accepted cases that are given data by a definition.
const WITH_MEANING: usize = 12;

/// Cases that the definition of the operator's type is asked about, and elements of all of them together.
const WEIGHED: usize = 64;
const WEIGHED_ELEMENTS: u64 = 1 << 22;

/// Cases that the tiling function accepts, and what it was asked.
pub(crate) struct Search<'finder, 'data> {
    pub(crate) finder: &'finder Finder<'data>,
    pub(crate) accepted: Vec<Accepted>,
    pub(crate) refused: Vec<String>,
    pub(crate) note: Option<String>,
    /// A case of odd lengths, where cases are guessed.
    pub(crate) odd: Option<Accepted>,
    /// Cases for which the tiling function did not return.
    endless: usize,
}

impl<'finder, 'data> Search<'finder, 'data> {
    pub(crate) fn new(finder: &'finder Finder<'data>) -> Self {
        Self { finder, accepted: Vec::new(), refused: Vec::new(), note: None, odd: None, endless: 0 }
    }

    /// What the authors wrote, made larger where it is small; guesses only where they wrote nothing that is accepted.
    pub(crate) async fn all(&mut self) -> Result<(), TunerError> {
        for stage in [Stage::Scripts, Stage::Tests, Stage::Lists] {
            let (candidates, reason) = self.finder.candidates(stage).await;
            self.note = self.note.take().or(reason.map(|reason| reason.to_string()));
            let fitting = candidates.into_iter().filter(|candidate| candidate.elements() <= MOST_ELEMENTS);
            for candidate in fitting.take(ATTEMPTS) {
                self.ask(&candidate, true).await?;
            }
        }
        if self.accepted.is_empty() {
            self.guesses().await?;
            self.examples().await?;
        }
        self.grow().await?;
        self.give_meaning().await;
        self.weigh().await;
        self.compare_inputs().await
    }

    /// Tells calls that mean something to the definition of the operator's type from those that do not, where there are both. What was made
    /// larger means what it was made from does.
    async fn weigh(&mut self) {
        let mut small: Vec<usize> = (0..self.accepted.len()).collect();
        small.retain(|&found| self.accepted[found].candidate.data.is_none());
        small.sort_by_key(|&found| self.accepted[found].candidate.elements());
        let mut elements = 0;
        small.retain(|&found| {
            elements += self.accepted[found].candidate.elements();
            elements <= WEIGHED_ELEMENTS
        });
        small.truncate(WEIGHED);
        let calls: Vec<&Accepted> = small.iter().map(|&found| &self.accepted[found]).collect();
        let senses = if calls.len() < 2 { Vec::new() } else { self.finder.senses(&calls).await };
        if !senses.contains(&Sense::Holds) {
            return;
        }
        let weighed: BTreeMap<usize, bool> =
            small.into_iter().zip(senses.iter().map(|sense| *sense == Sense::HoldsNot)).collect();
        let source = |found: &Accepted| found.candidate.place.split(", dimension ").next().map(str::to_owned);
        let outside: BTreeSet<Option<String>> =
            weighed.iter().filter(|(_, outside)| **outside).map(|(&found, _)| source(&self.accepted[found])).collect();
        for (place, found) in self.accepted.iter_mut().enumerate() {
            let like_its_source = || !found.candidate.place.is_empty() && outside.contains(&source(found));
            found.outside = weighed.get(&place).copied().unwrap_or_else(like_its_source);
        }
    }

    /// Calls that the definition of the operator's type is known to hold for, in place of guesses that it does not hold for.
    async fn examples(&mut self) -> Result<(), TunerError> {
        match self.accepted.first() {
            Some(guessed) if self.finder.sense(guessed).await != Sense::HoldsNot => return Ok(()),
            _ => {}
        }
        let guessed = std::mem::take(&mut self.accepted);
        for candidate in self.finder.candidates(Stage::Definition).await.0 {
            if self.ask(&candidate, false).await? {
                let Some(accepted) = self.accepted.pop() else { continue };
                if self.finder.sense(&accepted).await == Sense::Holds {
                    self.accepted.push(accepted);
                }
            }
        }
        match self.accepted.is_empty() {
            true => self.accepted = guessed,
            false => self.odd = None,
        }
        Ok(())
    }

    /// Ranges of values that mean something to the definition of the operator's type. A definition that says nothing of the first case
    /// says nothing of the others.
    async fn give_meaning(&mut self) {
        for (place, found) in self.accepted.iter_mut().enumerate().take(WITH_MEANING) {
            let given = self.finder.with_meaning(found.clone(), Reach::AnySize).await;
            if place == 0 && given.candidate == found.candidate {
                break;
            }
            *found = given;
        }
    }

    /// What an operator that defines no output does, it does to its inputs. The tiling function is asked again: it may look at outputs.
    async fn compare_inputs(&mut self) -> Result<(), TunerError> {
        for found in std::mem::take(&mut self.accepted) {
            if !found.candidate.outputs.is_empty() {
                self.accepted.push(found);
            } else if self.ask(&with_inputs_compared(found.candidate), true).await?
                && let Some(asked) = self.accepted.last_mut()
            {
                asked.outside = found.outside;
            }
        }
        if let Some(odd) = self.odd.take_if(|odd| odd.candidate.outputs.is_empty()) {
            self.odd = self.finder.ask(&with_inputs_compared(odd.candidate)).await.ok();
        }
        Ok(())
    }

    pub(crate) async fn guesses(&mut self) -> Result<(), TunerError> {
        for place in 0..3 {
            for shape in LARGE {
                let Some(candidate) = self.finder.guess_of_shape(shape, place) else { continue };
                if candidate.elements() <= 2 * MOST_ELEMENTS && self.ask(&candidate, place == 0).await? {
                    break;
                }
            }
        }
        self.odd = self.odd_lengths().await?;
        if self.accepted.is_empty() {
            for candidate in self.finder.candidates(Stage::Guesses).await.0 {
                if candidate.elements() <= MOST_ELEMENTS && self.ask(&candidate, false).await? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// A case whose lengths have no factor in common with blocks and tiles, to be checked only.
    async fn odd_lengths(&self) -> Result<Option<Accepted>, TunerError> {
        let Some(large) = self.accepted.first() else { return Ok(None) };
        let leading = large.candidate.inputs.first().and_then(|input| input.shape.clone()).unwrap_or_default();
        let odd: Vec<u64> = match leading.len() {
            0 => return Ok(None),
            1 => vec![2357],
            rank => (0..rank)
                .map(|axis| {
                    if axis == 0 {
                        7
                    } else if axis + 1 == rank {
                        333
                    } else {
                        3
                    }
                })
                .collect(),
        };
        let Some(candidate) = self.finder.guess_of_shape(&odd, 0) else { return Ok(None) };
        match self.finder.ask(&candidate).await {
            Ok(accepted) => Ok(Some(accepted)),
            Err(Refusal::Io(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// Adds a large case of every dtype of which only small ones are known.
    async fn grow(&mut self) -> Result<(), TunerError> {
        let dtype_of = |candidate: &Candidate| candidate.inputs.first().map(|input| input.dtype.clone());
        // Dtypes with a case of use already.
        let mut dtypes: Vec<Option<String>> = self
            .accepted
            .iter()
            .map(|found| &found.candidate)
            .filter(|candidate| candidate.elements() >= TOO_SMALL)
            .map(dtype_of)
            .collect();
        let mut small: Vec<Candidate> = self.accepted.iter().map(|found| found.candidate.clone()).collect();
        small.sort_by_key(|candidate| std::cmp::Reverse(candidate.elements()));
        let mut tries: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for candidate in small {
            let dtype = dtype_of(&candidate);
            let tries = tries.entry(dtype.clone()).or_default();
            *tries += 1;
            if *tries > GROWTHS {
                continue;
            }
            if dtypes.contains(&dtype) {
                continue;
            }
            if self.ask_larger(&candidate).await? {
                dtypes.push(dtype);
            }
        }
        Ok(())
    }

    /// Whether the tiling function accepts a case made larger, as far as what comes out of it is no larger than a case may be.
    async fn ask_larger(&mut self, candidate: &Candidate) -> Result<bool, TunerError> {
        let mut wanted = WANTED;
        for _ in 0..SIZES_OF_A_GROWTH {
            let mut too_large = None;
            for larger in candidate.larger(wanted) {
                if !self.ask(&larger, false).await? {
                    continue;
                }
                let bytes = self.accepted.last().map_or(0, Accepted::bytes);
                if bytes <= MOST_GROWN_BYTES {
                    return Ok(true);
                }
                self.accepted.pop();
                too_large = too_large.or(Some(bytes));
            }
            let Some(bytes) = too_large else { break };
            wanted /= bytes.div_ceil(MOST_GROWN_BYTES) + 1;
        }
        Ok(false)
    }

    /// Whether the tiling function accepts a case; it is remembered either way, a refusal if `told`.
    async fn ask(&mut self, candidate: &Candidate, told: bool) -> Result<bool, TunerError> {
        if let Some(reason) = unfit(candidate) {
            self.refused.push(format!("{}: {reason}", self.title(candidate)));
            return Ok(false);
        }
        if self.endless >= MOST_ENDLESS {
            return Ok(false);
        }
        match self.finder.ask(candidate).await {
            Ok(accepted) => {
                self.accepted.push(accepted);
                Ok(true)
            }
            Err(Refusal::Io(error)) => Err(error.into()),
            Err(refusal) => {
                self.endless += usize::from(refusal.is_endless());
                if told || refusal.is_endless() {
                    self.refused.push(format!("{}: {refusal}", self.title(candidate)));
                }
                Ok(false)
            }
        }
    }

    fn title(&self, candidate: &Candidate) -> String {
        match candidate.place.as_str() {
            "" => candidate.title(),
            place => format!("{} from {place}", candidate.title()),
        }
    }
}
