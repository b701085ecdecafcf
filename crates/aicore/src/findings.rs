//! What the search for hazards has found so far.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::profile::{Hazard, HazardKind, Severity};

/// Findings, one per kind and pair of sites, each with the number of those found before it.
#[derive(Default)]
pub(crate) struct Findings(BTreeMap<(HazardKind, u64, u64), Finding>);

/// How often something was found, by kind and pair of sites.
pub(crate) type Counts = Vec<((HazardKind, u64, u64), u64)>;

struct Finding {
    order: usize,
    /// Misuse that the rest may follow from.
    cause: bool,
    hazard: Hazard,
}

impl Findings {
    pub(crate) fn add(
        &mut self,
        what: (HazardKind, Severity),
        sites: (u64, u64),
        core: u32,
        message: impl FnOnce() -> String,
    ) {
        self.insert(false, what, sites, core, message);
    }

    /// Misuse of flags and queues that was seen as such: races and unwritten bytes may follow from it.
    pub(crate) fn add_cause(
        &mut self,
        what: (HazardKind, Severity),
        sites: (u64, u64),
        core: u32,
        message: impl FnOnce() -> String,
    ) {
        self.insert(true, what, sites, core, message);
    }

    fn insert(
        &mut self,
        cause: bool,
        (kind, severity): (HazardKind, Severity),
        (site, other_site): (u64, u64),
        core: u32,
        message: impl FnOnce() -> String,
    ) {
        let order = self.0.len();
        self.0
            .entry((kind, site, other_site))
            .and_modify(|finding| {
                finding.hazard.count += 1;
                finding.hazard.severity = finding.hazard.severity.max(severity);
            })
            .or_insert_with(|| Finding {
                order,
                cause,
                hazard: Hazard { kind, severity, site, other_site, core, count: 1, message: message() },
            });
    }

    /// How often each was found so far.
    pub(crate) fn counts(&self) -> Counts {
        self.0.iter().map(|(key, finding)| (*key, finding.hazard.count)).collect()
    }

    /// What was found since `before`.
    pub(crate) fn added(&self, before: &Counts) -> Counts {
        let known = |key| before.binary_search_by(|(other, _)| other.cmp(&key)).map_or(0, |at| before[at].1);
        let added = self.0.iter().map(|(key, finding)| (*key, finding.hazard.count - known(*key)));
        added.filter(|(_, count)| *count > 0).collect()
    }

    /// What has been found is found again so often.
    pub(crate) fn repeat(&mut self, counts: &Counts) {
        for (key, count) in counts {
            if let Some(finding) = self.0.get_mut(key) {
                finding.hazard.count += count;
            }
        }
    }

    /// Errors first, of these what others may follow from; of one kind what goes wrong first, which often brings the rest
    /// about.
    pub(crate) fn into_sorted(self) -> Vec<Hazard> {
        let mut findings: Vec<Finding> = self.0.into_values().collect();
        findings.sort_by_key(|finding| {
            (Reverse(finding.hazard.severity), !finding.cause, finding.hazard.kind, finding.order)
        });
        findings.into_iter().map(|finding| finding.hazard).collect()
    }
}
