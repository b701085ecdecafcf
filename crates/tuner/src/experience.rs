//! Records of what motifs and settings did here: from rewinds, and from the proposals of a run.

use std::collections::BTreeMap;

use super::workspace::Workspace;
use aicore::{Origin, Profile};
use experience::{Provenance, Record, SettingKind, Verdict, features_of, normalise, symptoms_of};
use motif::{Context, Counter, named};
use source::SourceTree;

/// A kernel without a motif and the same with it.
pub struct Pair<'a> {
    /// Without.
    pub slow: &'a Context,
    /// With.
    pub fast: &'a SourceTree,
    /// Objective without, in microseconds.
    pub slow_us: f64,
    /// Objective with.
    pub fast_us: f64,
    /// Profile without.
    pub slow_profile: Option<&'a Profile>,
    /// Profile with, where one was made.
    pub fast_profile: Option<&'a Profile>,
}

impl Pair<'_> {
    /// The record of `motif`, or of a kind of setting, between the two. `avoid_when` says when not to do it, as seen here.
    pub fn record(
        &self,
        provenance: &Provenance,
        motif: &str,
        verdict: Verdict,
        conditions: &[String],
        avoid_when: Vec<String>,
    ) -> Record {
        let relieves = named(motif)
            .map(|motif| motif.metadata().relieves)
            .or(SettingKind::by_id(motif).map(SettingKind::relieves))
            // Of what is in no catalogue, whoever wrote it may say which it is.
            .or(Some(&Counter::ALL));
        let counters = match (relieves, self.slow_profile, self.fast_profile) {
            (Some(relieves), Some(slow), Some(fast)) => {
                let both = |counter: &Counter| (counter.name().to_owned(), [counter.read(slow), counter.read(fast)]);
                relieves.iter().map(both).collect()
            }
            _ => BTreeMap::new(),
        };
        Record {
            motif: motif.to_owned(),
            verdict,
            origin: Origin::Modelled,
            before_us: self.slow_us,
            after_us: self.fast_us,
            before_digest: self.slow.tree.digest(),
            after_digest: self.fast.digest(),
            symptoms: self.slow_profile.map(symptoms_of).unwrap_or_default(),
            avoid_when,
            conditions: conditions.to_vec(),
            provenance: provenance.clone(),
            features: features_of(self.slow),
            counters,
            setting: None,
            diff: normalised_diff(&self.slow.tree, self.fast),
        }
    }
}

/// What the motif changes, on code without names of its own.
fn normalised_diff(slow: &SourceTree, fast: &SourceTree) -> String {
    let mut diffs = String::new();
    for (file, after) in fast.iter() {
        let before = slow.text(file).unwrap_or_default();
        if before != after {
            let (before, after) = (normalise(before), normalise(after));
            diffs.push_str(&source::lines::unified(&before, &after, 2, None));
        }
    }
    diffs
}

impl Workspace {
    /// Where records made here come from.
    pub fn provenance(&self) -> Provenance {
        let project = self.project.root.file_name().map(|name| name.to_string_lossy().into_owned());
        Provenance {
            project: project.unwrap_or_default(),
            operator: self.manifest.operator.clone(),
            licence: self.licence(),
            machine: self.machine.name.clone(),
            machine_version: self.machine.version.clone(),
        }
    }

    /// SPDX identifier that the sources state, `unknown` where they state none.
    pub fn licence(&self) -> String {
        const TAG: &str = "SPDX-License-Identifier:";
        let stated = self.sources.iter().find_map(|(_, text)| {
            let rest = &text[text.find(TAG)? + TAG.len()..];
            rest.lines().next().map(|line| line.trim().trim_end_matches("*/").trim().to_owned())
        });
        stated.unwrap_or_else(|| "unknown".to_owned())
    }
}
