//! What was proposed in a run, and what came of it.

use std::collections::{BTreeMap, BTreeSet};

use super::Proposal;

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// It verified; objective before over objective after.
    Gain(f64),
    /// The verifier refused it.
    Rejected,
}

/// What a run has seen of one motif.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Gains of proposals that held this motif alone.
    pub gains: Vec<f64>,
    /// Proposals with this motif alone that the verifier refused.
    pub rejected: usize,
    /// Those of them that held several of its sites.
    pub rejected_at_several: usize,
    /// Refused proposals that held it among others, each shared out evenly.
    pub suspicion: f64,
}

/// What was proposed before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    tried: BTreeSet<String>,
    seen: BTreeMap<String, Seen>,
    /// Motifs with the code around the places where they were refused alone.
    refused: BTreeSet<(String, String)>,
    /// Motifs that are not proposed again.
    given_up: BTreeSet<String>,
}

impl History {
    /// Remembers a proposal as tried, without an outcome: it led to sources that were known already.
    pub fn record(&mut self, proposal: &Proposal) {
        self.tried.insert(proposal.key.clone());
    }

    /// Remembers a proposal with what came of it.
    pub fn learn(&mut self, proposal: &Proposal, outcome: Effect) {
        self.record(proposal);
        let members = proposal.motifs.len();
        for motif in &proposal.motifs {
            let seen = self.seen.entry(motif.clone()).or_default();
            match outcome {
                Effect::Gain(gain) if members == 1 => seen.gains.push(gain),
                // The gain of several at once cannot be told apart; that they verify clears all of them.
                Effect::Gain(_) => seen.suspicion = 0.0,
                Effect::Rejected if members == 1 => {
                    seen.rejected += 1;
                    match proposal.surroundings.as_slice() {
                        [place] => {
                            self.refused.insert((motif.clone(), place.clone()));
                        }
                        _ => seen.rejected_at_several += 1,
                    }
                }
                Effect::Rejected => seen.suspicion += 1.0 / members as f64,
            }
        }
    }

    /// Whether a key was tried.
    pub fn contains(&self, key: &str) -> bool {
        self.tried.contains(key)
    }

    /// Leaves a motif alone from here on, wherever it would stand.
    pub fn give_up(&mut self, motif: &str) {
        self.given_up.insert(motif.to_owned());
    }

    /// Whether a motif was given up, or refused alone in these surroundings. What is rewritten elsewhere seldom changes that: mostly
    /// a length does not divide.
    pub fn refused(&self, motif: &str, surroundings: &str) -> bool {
        self.given_up.contains(motif) || self.refused.contains(&(motif.to_owned(), surroundings.to_owned()))
    }

    /// What was seen of a motif.
    pub fn seen(&self, motif: &str) -> Option<&Seen> {
        self.seen.get(motif)
    }
}
