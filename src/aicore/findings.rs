//! What the search for hazards has found so far.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::profile::{Hazard, HazardKind, Severity};

/// Findings, one per kind and pair of sites, each with the number of those found before it.
#[derive(Default)]
pub(crate) struct Findings(BTreeMap<(HazardKind, u64, u64), Finding>);

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
