//! Figures of a campaign.

use std::collections::BTreeMap;

use super::generator::Kernel;
use super::judge::{Difference, Failure, Verdict};
use super::pair::{Direction, Offered, Pair};
use motif::{Id, all};

/// Misses of one motif that are kept whole; the others are counted.
const KEPT_MISSES: usize = 12;
/// The same of those on condition.
const KEPT_CONDITIONAL: usize = 3;

/// Figures of one motif in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Kernels that it looked at.
    pub kernels: usize,
    /// Sites it found.
    pub sites: usize,
    /// Places it refused.
    pub refused: usize,
    /// Sites that it offered and then did not edit.
    pub broken: usize,
    /// Applications that a rewind undoes byte for byte.
    pub given_back: usize,
    /// Applications that were run.
    pub pairs: usize,
    /// Launches of changed kernels.
    pub runs: usize,
    /// Pairs with other results, or that do not compile or end.
    pub wrong: usize,
    /// Pairs with a hazard that was not there.
    pub hazards: usize,
    /// Pairs with a condition that a case shows broken.
    pub stopped: usize,
    /// Pairs with a condition that only a probe shows broken.
    pub escaped: usize,
}

/// A pair that is not right.
#[derive(Clone, Debug)]
pub struct Miss {
    /// Id of the motif.
    pub motif: Id,
    /// Which way.
    pub direction: Direction,
    /// Number of the kernel.
    pub kernel: u64,
    /// Line of the site.
    pub line: usize,
    /// What was done.
    pub note: String,
    /// What the site left to the verifier.
    pub conditions: Vec<String>,
    /// How it failed.
    pub failure: Failure,
    /// The kernel.
    pub before: String,
    /// What became of it.
    pub after: String,
}

/// All figures.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By motif and direction, in the order of the catalogue.
    pub rows: BTreeMap<(usize, Direction), Row>,
    /// Kernels that ran without faults.
    pub kernels: usize,
    /// Kernels that were at fault themselves, with the reason of the first ones.
    pub discarded: usize,
    /// These reasons.
    pub reasons: Vec<String>,
    /// Probes on which a kernel ran without faults.
    pub probes: usize,
    /// Probes on which it did not.
    pub faulty_probes: usize,
    /// Pairs that are wrong.
    pub misses: Vec<Miss>,
    /// Pairs whose conditions failed.
    pub conditional: Vec<Miss>,
}

impl Tally {
    /// Nothing yet.
    pub fn new() -> Self {
        let keys = (0..all().len()).flat_map(|motif| [(motif, Direction::Apply), (motif, Direction::Rewind)]);
        Self {
            rows: keys.map(|key| (key, Row::default())).collect(),
            kernels: 0,
            discarded: 0,
            reasons: Vec::new(),
            probes: 0,
            faulty_probes: 0,
            misses: Vec::new(),
            conditional: Vec::new(),
        }
    }

    /// Pairs run.
    pub fn pairs(&self) -> usize {
        self.rows.values().map(|row| row.pairs).sum()
    }

    /// Launches of changed kernels.
    pub fn runs(&self) -> usize {
        self.rows.values().map(|row| row.runs).sum()
    }

    /// Pairs that are wrong or have a new hazard, with no condition that says so.
    pub fn wrong(&self) -> usize {
        self.rows.values().map(|row| row.wrong + row.hazards + row.broken).sum()
    }

    /// Motifs that never applied in a direction.
    pub fn never(&self, direction: Direction) -> Vec<Id> {
        let idle = |(at, _): &(usize, &&'static dyn motif::Motif)| {
            self.rows.get(&(*at, direction)).is_none_or(|row| row.pairs == 0)
        };
        all().iter().enumerate().filter(idle).map(|(_, motif)| motif.id()).collect()
    }

    /// Adds what another group of kernels brought.
    pub fn add(&mut self, other: Tally) {
        for (key, row) in other.rows {
            let sum = self.rows.entry(key).or_default();
            *sum = Row {
                kernels: sum.kernels + row.kernels,
                sites: sum.sites + row.sites,
                refused: sum.refused + row.refused,
                broken: sum.broken + row.broken,
                given_back: sum.given_back + row.given_back,
                pairs: sum.pairs + row.pairs,
                runs: sum.runs + row.runs,
                wrong: sum.wrong + row.wrong,
                hazards: sum.hazards + row.hazards,
                stopped: sum.stopped + row.stopped,
                escaped: sum.escaped + row.escaped,
            };
        }
        self.kernels += other.kernels;
        self.discarded += other.discarded;
        self.probes += other.probes;
        self.faulty_probes += other.faulty_probes;
        self.reasons.extend(other.reasons);
        self.reasons.truncate(KEPT_MISSES);
        let kinds = [
            (&mut self.misses, other.misses, KEPT_MISSES),
            (&mut self.conditional, other.conditional, KEPT_CONDITIONAL),
        ];
        for (kept, new, most) in kinds {
            for miss in new {
                let same = kept.iter().filter(|known| known.motif == miss.motif && known.direction == miss.direction);
                if same.count() < most {
                    kept.push(miss);
                }
            }
        }
    }

    pub(super) fn kernel(&mut self, probes: usize, faulty_probes: usize) {
        self.kernels += 1;
        self.probes += probes;
        self.faulty_probes += faulty_probes;
    }

    pub(super) fn discard(&mut self, kernel: &Kernel, reason: &str) {
        self.discarded += 1;
        self.reasons.push(format!("kernel {}: {reason}", kernel.number));
    }

    pub(super) fn offered(&mut self, motif: Id, direction: Direction, offered: &Offered) {
        let row = self.row(motif, direction);
        row.kernels += 1;
        row.sites += offered.sites;
        row.refused += offered.refused;
        row.broken += offered.broken.len();
        row.given_back += offered.given_back;
        for reason in &offered.broken {
            self.reasons.push(format!("{motif} offers a site and refuses it: {reason}"));
        }
    }

    pub(super) fn judged(&mut self, pair: &Pair, runs: usize, verdict: &Verdict, miss: impl Fn(&Failure) -> Miss) {
        let row = self.row(pair.motif, pair.direction);
        row.pairs += 1;
        row.runs += runs;
        match verdict {
            Verdict::Right => {}
            Verdict::Wrong(failure) => {
                if matches!(failure.what, Difference::Hazard(_)) {
                    row.hazards += 1;
                } else {
                    row.wrong += 1;
                }
                self.misses.push(miss(failure));
            }
            Verdict::Stopped(failure) => {
                row.stopped += 1;
                self.conditional.push(miss(failure));
            }
            Verdict::Escaped(failure) => {
                row.escaped += 1;
                self.conditional.push(miss(failure));
            }
        }
    }

    fn row(&mut self, motif: Id, direction: Direction) -> &mut Row {
        let at = all().iter().position(|known| known.id() == motif).unwrap_or_default();
        self.rows.entry((at, direction)).or_default()
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}
