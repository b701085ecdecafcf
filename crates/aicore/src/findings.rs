//! What the search for hazards has found so far.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::profile::{Hazard, HazardKind, Reach, Severity};

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

    /// Misuse of flags and queues, or an access past the end, that was seen as such: races and unwritten bytes may follow from it.
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
                hazard: Hazard { kind, severity, site, other_site, core, count: 1, message: message(), reach: None },
            });
    }

    /// An access outside of global memory's tensors, of which it is kept how far all of one site reach.
    pub(crate) fn add_reaching(&mut self, what: (HazardKind, Severity), site: u64, core: u32, message: String) {
        let reach = Reach::of(&message);
        // What lies in a tensor is moved all the same, and then meets others where it should not have gone.
        self.insert(what.1 == Severity::Error, what, (site, 0), core, || message);
        let Some(finding) = self.0.get_mut(&(what.0, site, 0)) else { return };
        let known = finding.hazard.reach.take();
        finding.hazard.reach = match finding.hazard.count {
            1 => reach,
            // What is not known of one of them is not known of all.
            _ => known.zip(reach).and_then(|(known, reach)| known.joined(reach)),
        };
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
                // How far those reach nobody has looked.
                finding.hazard.reach = None;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_of_a_site_reach_as_far_as_the_furthest_and_only_where_all_are_known() {
        let reach = |messages: &[&str]| {
            let mut findings = Findings::default();
            for message in messages {
                let what = (HazardKind::OutOfBoundsGm, Severity::Error);
                findings.add_reaching(what, 7, 0, (*message).to_owned());
            }
            findings.into_sorted().remove(0).reach
        };
        let first = "copy_gm_to_ubuf: 64 bytes at offset 96 of input 0, which has 100 bytes";
        let further = "copy_gm_to_ubuf: 32 bytes at offset 160 of input 0, which has 100 bytes";
        let found = reach(&[first, further, first]).expect("all are known");
        assert_eq!((found.tensor.as_str(), found.writes, found.end), ("input 0", false, 192));
        assert_eq!(reach(&[first, &first.replace("input 0", "input 1"), first]), None, "two tensors");
        assert_eq!(reach(&[&first.replace("copy_gm_to_ubuf", "scalar access")]), None, "read or written");
        assert_eq!(reach(&["copy_gm_to_ubuf: 64 bytes at an address that is near no tensor", first]), None);
        assert!(reach(&["copy_ubuf_to_gm: 64 bytes at offset 96 of output 0, which has 100 bytes"]).unwrap().writes);
    }
}
