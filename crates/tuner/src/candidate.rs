//! Candidates: sources with a configuration applied and the patches that led there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use proposer::Part;
use source::tunable::{TunableError, instrument, present_value, realize};
use source::{EditError, Patch, SourceTree};
use space::{Binding, Configuration, NO_LIMIT, Tunable, Value, domain_values};

/// A patch that a candidate has taken over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedPatch {
    /// Catalogue id of the motif, such as `D01`; several joined by `+`.
    pub motif: String,
    /// What it does, one line.
    pub title: String,
    /// Why it was proposed, one sentence.
    pub why: String,
    /// Objective before over objective after; 1.0 until it was evaluated.
    pub gain: f64,
    /// What each of several motifs did, in their order; empty for a single one.
    #[serde(skip)]
    pub parts: Vec<Part>,
}

/// A point of the joint space of configurations and rewrites. The sources always have the configuration applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Sources as they would be written back.
    pub sources: SourceTree,
    /// Values of the tunables that can be found in these sources.
    pub configuration: Configuration,
    /// Rewrites taken so far.
    pub patches: Vec<AppliedPatch>,
}

/// Why a candidate could not be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CandidateError {
    /// A tunable's place was not found or has an unexpected form.
    #[error(transparent)]
    Tunable(#[from] TunableError),
    /// Edits do not fit the sources.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl Candidate {
    /// The operator as it stands.
    pub fn baseline(sources: SourceTree, tunables: &[Tunable]) -> Self {
        let configuration = read_configuration(&sources, tunables, &Configuration::new());
        Self { sources, configuration, patches: Vec::new() }
    }

    /// Values that the search begins with: those of these sources, and of what a rewrite has brought along those that it came with.
    pub(super) fn at_first(&self, tunables: &[Tunable]) -> Configuration {
        let value = |tunable: &Tunable| {
            let value = self.configuration.get(&tunable.name).or(tunable.default.as_ref())?;
            Some((tunable.name.clone(), value.clone()))
        };
        tunables.iter().filter_map(value).collect()
    }

    /// The same with the values of these tunables as its sources have them.
    pub(super) fn read_again(&mut self, tunables: &[Tunable]) {
        self.configuration = read_configuration(&self.sources, tunables, &self.configuration);
    }

    /// This candidate with other values of the tunables.
    pub fn with_configuration(
        &self,
        tunables: &[Tunable],
        configuration: &Configuration,
    ) -> Result<Self, CandidateError> {
        let values = values_of(tunables, configuration);
        let patch = realize(&self.sources, &values)?;
        Ok(Self {
            sources: self.sources.apply(&patch)?,
            configuration: configuration.clone(),
            patches: self.patches.clone(),
        })
    }

    /// This candidate with a rewrite. A rewrite may change what a tunable stands at, so values are read anew.
    pub fn with_patch(&self, tunables: &[Tunable], patch: &Patch, why: &str) -> Result<Self, CandidateError> {
        let sources = self.sources.apply(patch)?;
        let configuration = read_configuration(&sources, tunables, &self.configuration);
        let mut patches = self.patches.clone();
        patches.push(AppliedPatch {
            motif: patch.motif.clone(),
            title: patch.title.clone(),
            why: why.to_owned(),
            gain: 1.0,
            parts: Vec::new(),
        });
        Ok(Self { sources, configuration, patches })
    }

    /// The same with other sources, for which these rewrites were taken.
    pub(super) fn with_sources(&self, tunables: &[Tunable], sources: SourceTree, patches: Vec<AppliedPatch>) -> Self {
        let configuration = read_configuration(&sources, tunables, &self.configuration);
        Self { sources, configuration, patches }
    }

    /// Digest of what would be built: sources and CMake entries.
    pub fn digest(&self, tunables: &[Tunable]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.sources.digest().as_bytes());
        for (variable, value) in cmake_entries(tunables, &self.configuration) {
            hasher.update(format!("\0{variable}={value}").as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Compiles exactly what would be written back.
    pub fn plain_plan(&self, tunables: &[Tunable]) -> Plan {
        Plan {
            digest: self.digest(tunables),
            sources: self.sources.clone(),
            knobs: BTreeMap::new(),
            cmake: cmake_entries(tunables, &self.configuration),
            written: None,
        }
    }

    /// Motifs of its rewrites, in order.
    pub fn rewrites(&self) -> Vec<String> {
        self.patches.iter().map(|patch| patch.motif.clone()).collect()
    }

    /// Compiles with the tunables `injectable` read at run time, so that candidates that differ only in those share
    /// one compilation.
    pub fn injected_plan(&self, tunables: &[Tunable], injectable: &[Tunable]) -> Result<Plan, CandidateError> {
        if injectable.is_empty() {
            return Ok(self.plain_plan(tunables));
        }
        // A common spelling for all candidates: injectable tunables stand at their first value before instrumenting.
        let anchor: Vec<(Tunable, Value)> = injectable.iter().filter_map(at_first_value).collect();
        let anchored = self.sources.apply(&realize(&self.sources, &anchor)?)?;
        let sources = anchored.apply(&instrument(&anchored, injectable, tunables)?)?;
        let knobs = injectable
            .iter()
            .filter_map(|tunable| {
                let value = self.configuration.get(&tunable.name)?.as_int()?;
                Some((tunable.name.clone(), value))
            })
            .collect();
        let cmake = cmake_entries(tunables, &self.configuration);
        let written = Some(self.sources.clone());
        Ok(Plan { digest: self.digest(tunables), sources, knobs, cmake, written })
    }
}

/// A tunable with the value that stands for all of its values: the first one, or no limit.
pub(super) fn at_first_value(tunable: &Tunable) -> Option<(Tunable, Value)> {
    let value = match tunable.binding {
        Binding::Cap { .. } | Binding::Share { .. } | Binding::Portion { .. } => NO_LIMIT,
        _ => domain_values(tunable).ok()?.into_iter().next()?,
    };
    Some((tunable.clone(), value))
}

fn values_of(tunables: &[Tunable], configuration: &Configuration) -> Vec<(Tunable, Value)> {
    tunables.iter().filter_map(|tunable| Some((tunable.clone(), configuration.get(&tunable.name)?.clone()))).collect()
}

fn read_configuration(sources: &SourceTree, tunables: &[Tunable], known: &Configuration) -> Configuration {
    tunables
        .iter()
        .filter_map(|tunable| {
            let value = match tunable.binding {
                Binding::Cmake { .. } => known.get(&tunable.name).cloned().or_else(|| tunable.default.clone()),
                _ => present_value(sources, &tunable.binding).ok().flatten(),
            };
            Some((tunable.name.clone(), value?))
        })
        .collect()
}

fn cmake_entries(tunables: &[Tunable], configuration: &Configuration) -> BTreeMap<String, String> {
    tunables
        .iter()
        .filter_map(|tunable| match &tunable.binding {
            Binding::Cmake { variable } => Some((variable.clone(), configuration.get(&tunable.name)?.to_string())),
            _ => None,
        })
        .collect()
}
