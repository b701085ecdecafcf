//! The record of a finished run: all that a report needs, as data that can be stored and rendered again.

use std::collections::{BTreeMap, BTreeSet};

use aicore::{Origin, Profile};
use events::{CaseTime, Generalisation, KnownHazard, PathReport, Stage, Stages, Status, TakenBack, TilingVersion};
use serde::{Deserialize, Serialize};
use source::SourceTree;
use space::Configuration;

/// Version of the record's format.
pub const RECORD_FORMAT: u32 = 1;

/// The machine that latencies are for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// Name of the description.
    pub name: String,
    /// Version of the description.
    pub version: String,
    /// Digest of the description.
    pub digest: String,
    /// What else is worth knowing, by label: cores, bandwidth, clock.
    pub facts: BTreeMap<String, String>,
}

/// One case before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// Name of the case.
    pub name: String,
    /// Shapes, dtypes and attributes in words.
    pub description: String,
    /// Weight in the geometric mean.
    pub weight: f64,
    /// Latency of the unmodified operator in microseconds; nothing for a case that is only checked for being right.
    pub baseline_us: Option<f64>,
    /// Latency of the winner in microseconds.
    pub best_us: Option<f64>,
    /// A published latency of the unmodified operator in microseconds.
    pub published_us: Option<f64>,
    /// Profile of the unmodified operator.
    pub before: Option<Profile>,
    /// Profile of the winner.
    pub after: Option<Profile>,
    /// Critical path of the unmodified operator by source line, largest first.
    #[serde(default)]
    pub path_before: Vec<PathReport>,
    /// Critical path of the winner by source line, largest first.
    #[serde(default)]
    pub path_after: Vec<PathReport>,
}

/// One evaluated candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationRecord {
    /// Number of the evaluation, from 1.
    pub index: u64,
    /// Digest of the candidate.
    pub candidate: String,
    /// Stage that made it.
    pub stage: Stage,
    /// Values of the tunables.
    pub configuration: Configuration,
    /// Catalogue id of the motif tried.
    pub motif: Option<String>,
    /// What became of it.
    pub status: Status,
    /// Why it was rejected.
    pub reason: Option<String>,
    /// Latencies of the cases that ran.
    pub cases: Vec<CaseTime>,
    /// Weighted geometric mean of the latencies in microseconds.
    pub objective_us: Option<f64>,
    /// Whether it had been evaluated before.
    pub cached: bool,
}

/// A change of one file as a unified diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// File, relative to the operator's root.
    pub file: String,
    /// The diff.
    pub unified: String,
}

impl FileDiff {
    /// The unified diff of two texts, nothing where they are the same.
    pub fn between(file: &str, before: &str, after: &str) -> Option<Self> {
        if before == after {
            return None;
        }
        let unified = source::lines::unified(before, after, 3, Some((&format!("a/{file}"), &format!("b/{file}"))));
        Some(Self { file: file.to_owned(), unified })
    }

    /// Diffs of all files that differ, by name.
    pub fn of_trees(before: &SourceTree, after: &SourceTree) -> Vec<Self> {
        let mut names: Vec<&str> = before.iter().chain(after.iter()).map(|(file, _)| file).collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .filter_map(|file| {
                Self::between(file, before.text(file).unwrap_or_default(), after.text(file).unwrap_or_default())
            })
            .collect()
    }
}

/// One change that is part of the winner, in order of application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeRecord {
    /// Stage that found it.
    pub stage: Stage,
    /// What it does, one line.
    pub title: String,
    /// Catalogue id of the motif; nothing for a configuration.
    pub motif: Option<String>,
    /// What it brought and why, a sentence.
    pub effect: String,
    /// Objective before over objective after.
    pub gain: f64,
    /// The files it changes, against the change before it.
    pub diffs: Vec<FileDiff>,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`RECORD_FORMAT`].
    pub format: u32,
    /// Version of the tool.
    pub tool: String,
    /// Operator.
    pub operator: String,
    /// Kernel entry function.
    pub kernel: String,
    /// Shape of the project in words.
    pub layout: String,
    /// Backend: `sim`.
    pub backend: String,
    /// Where the latencies come from.
    pub origin: Origin,
    /// The machine that latencies are for.
    pub machine: MachineRecord,
    /// What the run was made with, by label: compiler, cmake, SDK, operating system.
    pub environment: BTreeMap<String, String>,
    /// Seed of the search.
    pub seed: u64,
    /// Evaluations that could be spent.
    pub budget: u64,
    /// Seconds that the run took.
    pub wall_s: f64,
    /// Weighted geometric mean of the cases' speed-ups.
    pub speedup: f64,
    /// What may be claimed: the same, or the speed-up on probes where that is less.
    pub claimed: f64,
    /// Objective of the unmodified operator in microseconds.
    pub baseline_objective_us: f64,
    /// Objective at the lower bound in microseconds, where every case has one.
    pub bound_objective_us: Option<f64>,
    /// What each stage spent and brought.
    pub stages: Stages,
    /// Values of the tunables in the sources as they were.
    pub baseline_configuration: Configuration,
    /// Values of the tunables that won.
    pub configuration: Configuration,
    /// Names of the tunables that are upper limits, or least shares of a core: 0 limits nothing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub caps: BTreeSet<String>,
    /// Cases in manifest order.
    pub cases: Vec<CaseRecord>,
    /// Evaluations in order.
    pub evaluations: Vec<EvaluationRecord>,
    /// Changes that are part of the winner.
    pub changes: Vec<ChangeRecord>,
    /// Everything that was changed in the sources, all changes together.
    pub diffs: Vec<FileDiff>,
    /// Source lines by instruction site, for stalls and timelines: `file:line`.
    #[serde(default)]
    pub sites: BTreeMap<u64, String>,
    /// How the winner does on cases that the search never saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalisation: Option<Generalisation>,
    /// Steps of winners that were taken back, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_back: Vec<TakenBack>,
    /// Tiling functions that a language model wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<TilingVersion>,
    /// Hazards that the operator had before the run; the winner has no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownHazard>,
}
