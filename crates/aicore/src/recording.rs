//! A trace that is played on many machines.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::alike::{Likeness, Steps};
use super::analyse::start;
use super::machine::Machine;
use super::options::Warmth;
use super::profile::Profile;
use super::source::Source;
use super::summary;
use super::timing::{self, Manner};
use super::trace::{Launch, Trace};
use super::trace_error::TraceError;

/// A trace in memory, read and checked once. Which blocks of a launch are alike is remembered as well: few machines differ in what
/// that depends on.
pub struct Recording<'a> {
    launches: Vec<Launch<'a>>,
    likenesses: Mutex<BTreeMap<(usize, Steps), Arc<Likeness>>>,
}

impl<'a> Recording<'a> {
    /// Reads a trace.
    ///
    /// # Errors
    /// Where it is damaged.
    pub fn of(trace: &'a [u8]) -> Result<Self, TraceError> {
        let trace = Trace::parse(&Arc::new(Source::from(trace)))?;
        Ok(Self { launches: trace.launches, likenesses: Mutex::default() })
    }

    /// Number of launches.
    pub fn launches(&self) -> usize {
        self.launches.len()
    }

    /// Timing of some launches, by their numbers from 0; what is not there is missing in the answer.
    pub fn profiles(&self, machine: &Machine, wanted: &[usize], warmth: Warmth) -> BTreeMap<usize, Profile> {
        let mut found = BTreeMap::new();
        let mut left = None;
        for (number, launch) in self.launches.iter().enumerate() {
            let asked = wanted.contains(&number);
            // Those before it only count where they leave something.
            if warmth != Warmth::Kept && !asked {
                continue;
            }
            let likeness = self.likeness(number, machine);
            let (before, warm) = start(launch, machine, warmth, left.take(), &likeness);
            let manner = Manner { followed: &|_| false, likeness: &likeness, shortcuts: true, warm };
            let played = timing::play::<f64>(launch, machine, before, &manner);
            if asked {
                found.insert(number, summary::profile(launch, machine, &played));
            }
            left = Some(played.l2);
        }
        found
    }

    fn likeness(&self, number: usize, machine: &Machine) -> Arc<Likeness> {
        let key = (number, Steps::of(&machine.parameters));
        let known = |likenesses: &BTreeMap<_, Arc<Likeness>>| likenesses.get(&key).cloned();
        let lock = || self.likenesses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(likeness) = known(&lock()) {
            return likeness;
        }
        // Without the lock: who computes it meanwhile as well finds the same.
        let likeness = Arc::new(Likeness::of(&self.launches[number], &machine.parameters));
        lock().insert(key, Arc::clone(&likeness));
        likeness
    }
}
