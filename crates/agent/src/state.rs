//! What a prompt is made from: plain data about the operator, its profile, and what was tried.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::api::api_brief;
use super::scrub::without_folders;
use super::tiling::Region;
use aicore::{Machine, Profile};
use experience::{OF_A_MODEL, Query, Record, Shingles, Verdict, features_of, symptoms_of};
use motif::{Context, named};
use proposer::Asked;
use source::SourceTree;
use source::facts::api::{Access, argument_access};

/// What does not change in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// Operator type.
    pub operator: String,
    /// Facts about the machine, a few words each.
    pub machine: Vec<String>,
    /// Timed cases, one line each.
    pub cases: Vec<String>,
    /// Hazards of the operator as it stands, one line each.
    pub hazards: Vec<String>,
    /// What says how much calls cost.
    pub costs: Option<Arc<Machine>>,
}

/// What a prompt is made from. Lists are in the order of importance, except for what was tried, which is in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct State {
    operator: String,
    machine: Vec<String>,
    cases: Vec<String>,
    hazards: Vec<String>,
    profile: Option<Figures>,
    stalls: Vec<String>,
    path: Vec<String>,
    hot: Vec<String>,
    records: Vec<String>,
    tried: Vec<String>,
    calls: Vec<String>,
    files: Vec<File>,
    left_out: Vec<String>,
    ideas: usize,
    diagnosis: String,
    idea: String,
    failed: Failed,
    /// Whether answers are JSON by a schema.
    structured: bool,
    tiling: Tiling,
    outcomes: Vec<Outcome>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Figures {
    task_us: String,
    bound_us: String,
    limiter: String,
    cores: u32,
    read_bytes: u64,
    written_bytes: u64,
    pipes: Vec<Pipe>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Pipe {
    name: &'static str,
    us: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct File {
    path: String,
    text: String,
    /// Share of the critical path in it.
    #[serde(skip)]
    share: f64,
}

/// A tiling function to begin with, and others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tiling {
    /// File that it stands in.
    pub file: String,
    /// Its text.
    pub text: String,
    /// What it brings; empty for the one that stands there.
    pub speedup: String,
    /// Others that are right.
    pub others: Vec<Version>,
    /// What was refused, with why.
    pub refused: Vec<String>,
}

/// A tiling function that is right.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Version {
    /// Its text.
    pub text: String,
    /// What it brings.
    pub speedup: String,
}

/// A proposal with what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// What it was to do.
    pub title: String,
    /// What became of it.
    pub became: String,
    /// The change as a diff.
    pub diff: String,
}

/// A proposal that was refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failed {
    /// What it was to do.
    pub title: String,
    /// The change as a diff; what the model said where that was no change.
    pub diff: String,
    /// Why it was refused.
    pub message: String,
}

/// Ideas that a plan may name.
pub const IDEAS: usize = 3;
/// Entries of each list, at most.
const STALLS: usize = 6;
const STEPS: usize = 8;
const LINES: usize = 12;
const RECORDS: usize = 6;
const TRIED: usize = 12;
/// What stays of a list where room is short, until nothing else is left to take away.
const FEW: usize = 3;
/// Share of the critical path from which a line is named.
const WORTH_TELLING: f64 = 0.005;
/// Records less alike say nothing about this kernel.
const ALIKE: f64 = 0.5;

impl State {
    /// What is known at this moment. `tried` says what was tried and what came of it, one line each.
    pub fn of(subject: &Subject, asked: &Asked<'_>, tried: &[String]) -> Self {
        let context = asked.context;
        let profile = asked.profile.or(context.profile.as_ref());
        let share = |path: &str| context.hot.iter().filter(|((file, _), _)| file == path).map(|(_, share)| share).sum();
        let files = context.tree.iter().map(|(path, text)| {
            let (path, text) = (path.to_owned(), text.trim_end().to_owned());
            File { share: share(&path), path, text }
        });
        Self {
            operator: subject.operator.clone(),
            machine: subject.machine.clone(),
            cases: subject.cases.clone(),
            hazards: subject.hazards.iter().map(|hazard| without_folders(hazard)).collect(),
            profile: profile.map(figures),
            stalls: profile.map(stalls).unwrap_or_default(),
            path: profile.map(path).unwrap_or_default(),
            hot: hot(context),
            records: records(asked, profile),
            tried: tried[tried.len().saturating_sub(TRIED)..].iter().map(|line| without_folders(line)).collect(),
            calls: calls(context, subject.costs.as_deref()),
            files: files.collect(),
            left_out: Vec::new(),
            ideas: IDEAS,
            diagnosis: String::new(),
            idea: String::new(),
            failed: Failed::default(),
            structured: false,
            tiling: Tiling::default(),
            outcomes: Vec::new(),
        }
    }

    /// The same with what a model said of it.
    #[must_use]
    pub fn diagnosed(self, diagnosis: &str) -> Self {
        Self { diagnosis: diagnosis.trim().to_owned(), ..self }
    }

    /// The same with one idea.
    #[must_use]
    pub fn with_idea(self, idea: &str) -> Self {
        Self { idea: idea.to_owned(), ..self }
    }

    /// The same with a proposal that was refused.
    #[must_use]
    pub fn failed(self, failed: &Failed) -> Self {
        Self { failed: Failed { message: without_folders(&failed.message), ..failed.clone() }, ..self }
    }

    /// The same for answers that are JSON by a schema, or plain text.
    #[must_use]
    pub fn structured(self, structured: bool) -> Self {
        Self { structured, ..self }
    }

    /// The same with a tiling function to begin with.
    #[must_use]
    pub fn tiling(self, tiling: Tiling) -> Self {
        Self { tiling, ..self }
    }

    /// The same with the tiling function as it stands, where there is one.
    #[must_use]
    pub fn with_tiling_of(self, sources: &SourceTree) -> Self {
        let Ok(region) = Region::of(sources) else { return self };
        let (file, text) = (region.file.clone(), region.text(sources).to_owned());
        self.tiling(Tiling { file, text, ..Tiling::default() })
    }

    /// The same with what was tried and is over.
    #[must_use]
    pub fn outcomes(self, outcomes: Vec<Outcome>) -> Self {
        let scrubbed = |outcome: Outcome| Outcome { became: without_folders(&outcome.became), ..outcome };
        Self { outcomes: outcomes.into_iter().map(scrubbed).collect(), ..self }
    }

    /// Files whose text it holds.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// The same without what tells least of what it has; `None` where everything is needed.
    pub(super) fn smaller(mut self) -> Option<Self> {
        let cut = |list: &mut Vec<String>, least: usize| (list.len() > least).then(|| list.pop());
        let oldest = |list: &mut Vec<String>, least: usize| (list.len() > least).then(|| list.remove(0));
        let gone = cut(&mut self.records, 0).is_some()
            || cut(&mut self.calls, 0).is_some()
            || cut(&mut self.path, FEW).is_some()
            || cut(&mut self.stalls, FEW).is_some()
            || cut(&mut self.hot, FEW).is_some()
            || oldest(&mut self.tried, FEW).is_some()
            || cut(&mut self.cases, FEW).is_some()
            || cut(&mut self.hazards, FEW).is_some()
            || self.tiling.others.pop().is_some()
            || (self.outcomes.len() > 1 && oldest_outcome(&mut self.outcomes));
        if !gone {
            // The file that the critical path passes least, the longest of several.
            let order = |left: &&File, right: &&File| {
                left.share.total_cmp(&right.share).then(right.text.len().cmp(&left.text.len()))
            };
            let least = self.files.iter().min_by(order).filter(|_| self.files.len() > 1)?.path.clone();
            self.files.retain(|file| file.path != least);
            self.left_out.push(least);
        }
        Some(self)
    }
}

fn oldest_outcome(outcomes: &mut Vec<Outcome>) -> bool {
    outcomes.remove(0);
    true
}

fn us(time_us: f64) -> String {
    format!("{time_us:.2}")
}

fn figures(profile: &Profile) -> Figures {
    let pipes = &profile.pipes;
    let named = [
        ("scalar", pipes.scalar_us),
        ("vector", pipes.vec_us),
        ("MTE2", pipes.mte2_us),
        ("MTE3", pipes.mte3_us),
        ("MTE1", pipes.mte1_us),
        ("cube", pipes.cube_us),
        ("fixpipe", pipes.fixpipe_us),
    ];
    let busy = named.into_iter().filter(|(_, time)| *time > 0.0).map(|(name, time)| Pipe { name, us: us(time) });
    Figures {
        task_us: us(profile.task_us),
        bound_us: us(profile.bound_us),
        limiter: word(&profile.limiter),
        cores: profile.cores,
        read_bytes: profile.gm_read_bytes,
        written_bytes: profile.gm_write_bytes,
        pipes: busy.collect(),
    }
}

/// The word that a value has in every output of the tool.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn stalls(profile: &Profile) -> Vec<String> {
    let said = |stall: &aicore::Stall| format!("{} waits {} us for {}", stall.pipe, us(stall.time_us), stall.reason);
    profile.stalls.iter().take(STALLS).map(said).collect()
}

fn path(profile: &Profile) -> Vec<String> {
    let said = |step: &aicore::PathStep| {
        let opcode = if step.opcode.is_empty() { String::new() } else { format!(" of {}", step.opcode) };
        format!("{} us: {}{opcode} on {}, {} times", us(step.time_us), word(&step.part), step.pipe, step.count)
    };
    profile.critical_path.iter().take(STEPS).map(said).collect()
}

fn hot(context: &Context) -> Vec<String> {
    let mut lines: Vec<_> = context.hot.iter().filter(|(_, share)| **share >= WORTH_TELLING).collect();
    lines.sort_by(|left, right| right.1.total_cmp(left.1).then(left.0.cmp(right.0)));
    let said = |((file, line), share): (&(String, u32), &f64)| {
        let text = context.tree.text(file)?.lines().nth(usize::try_from(*line).ok()?.checked_sub(1)?)?;
        Some(format!("{:.0} % {file}:{line}: {}", share * 100.0, text.trim()))
    };
    lines.into_iter().filter_map(said).take(LINES).collect()
}

fn records(asked: &Asked<'_>, profile: Option<&Profile>) -> Vec<String> {
    let code: String = asked.context.tree.iter().map(|(_, text)| text).collect();
    let query = Query {
        symptoms: profile.map(symptoms_of).unwrap_or_default(),
        features: features_of(asked.context),
        shingles: Shingles::of(&code),
    };
    let mut motifs = BTreeSet::new();
    let alike = asked.bank.search(&query).into_iter().filter(|found| found.likeness >= ALIKE);
    let first = alike.filter_map(|found| Some((done(found.record)?, found.record)));
    let first = first.filter(|(_, record)| motifs.insert(record.motif.clone())).take(RECORDS);
    let said = |(what, record): (&str, &experience::Record)| match record.verdict {
        Verdict::Rejected => format!("{what}: refused by the verifier"),
        _ => format!("{what}: {:.2}x", record.before_us / record.after_us),
    };
    first.map(said).collect()
}

/// What was done, by the catalogue or in the words of a model.
fn done(record: &Record) -> Option<&str> {
    named(&record.motif).map(|motif| motif.metadata().title).or_else(|| record.motif.strip_prefix(OF_A_MODEL))
}

/// What is known of the calls in the sources: which arguments they write and read, for which dtypes they are, what they cost.
fn calls(context: &Context, machine: Option<&Machine>) -> Vec<String> {
    let mut known = BTreeSet::new();
    for call in context.forest.iter().flat_map(|file| file.calls()) {
        let of_the_api = call.object.is_none() && matches!(call.scope.as_str(), "" | "AscendC");
        let access = |index| match argument_access(&call.name, index) {
            Access::Write => Some("w"),
            Access::Read => Some("r"),
            Access::ReadWrite => Some("rw"),
            Access::Release | Access::None | Access::Escape => None,
        };
        if of_the_api && access(0).is_some() {
            let arguments: Vec<&str> =
                (0..call.arguments.len()).map(|index| access(index).unwrap_or("value")).collect();
            let facts = api_brief(&call.name, machine);
            known.insert(format!("{}({}){facts}", call.name, arguments.join(", ")));
        }
    }
    known.into_iter().collect()
}

/// A change as a diff, for a model that is to mend it.
pub(super) fn diff(before: &SourceTree, after: &SourceTree) -> String {
    let mut text = String::new();
    for (file, wanted) in after.iter() {
        let was = before.text(file).unwrap_or_default();
        if was != wanted {
            text.push_str(&format!("--- {file}\n+++ {file}\n{}", source::lines::unified(was, wanted, 3, None)));
        }
    }
    text
}
