//! Probes of a run: cases that the search never saw, and how a winner does on them beside the operator as it was.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinSet;

use super::evaluator::Evaluator;
use super::journal::{Entry, Journal};
use super::known::KnownFindings;
use super::noise::fight;
use super::plan::Plan;
use super::probe_run::{ProbeRun, Ran, Task};
use super::probe_sizes::case_bytes;
use super::standard::Standard;
use super::trialled::visit_also;
use super::workload::Workload;
use super::{CaseTime, TunerError, Workspace};
use discovery::cases::{Accepted, ProbeKind};
use discovery::init::case_of;
use manifest::{Case, HazardPolicy};
use motif::VisitedLines;
use search::DuelOptions;
use verify::{Reason, Rejection};

/// How large a probe may be, in bytes of all tensors, to run with data; larger ones are judged and timed without, where that is
/// possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithData {
    /// Where one candidate after the other is asked about them.
    Small,
    /// Where two states of an operator are compared once.
    Most,
}

impl WithData {
    pub(super) fn bytes(self) -> u64 {
        match self {
            WithData::Small => 12 << 20,
            WithData::Most => 64 << 20,
        }
    }
}

/// The same where the data decide what the operator does, or where a candidate was wrong.
pub(super) const MUST_HAVE_DATA_BYTES: u64 = 24 << 20;
/// The same for a probe larger than all cases: what a change costs there shows nowhere else.
const LARGER_WITH_DATA_BYTES: u64 = 160 << 20;
/// A case or probe that takes this many times as long as the shortest case is more work.
const MORE_WORK: f64 = 1.5;
/// A case that takes longer than this, in microseconds, is much work for all cores of every machine that is known.
const MUCH_US: f64 = 100.0;
/// Further runs of the operator as it was where a candidate does not hold: some operators read what nobody has set, and do
/// something else each time.
const RUNS_OF_BASELINE: usize = 2;
/// Seconds that the operator as it was may take for a probe, and how often it may take longer before nothing as large is begun any more.
/// A probe that takes so long to simulate does so for every winner that is tried on it.
const PROBE_S: u64 = 15;
const MOST_TOO_LONG: usize = 3;
/// Bytes of all tensors of a probe that takes no time to speak of, and how many of them are run to see what they come through.
const QUICK_BYTES: u64 = 4 << 20;
const MOST_QUICK: usize = 8;
/// Probe data are drawn from seeds that no case uses: those count from zero.
const FIRST_DATA_SEED: u64 = 1 << 20;

/// One probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// What it is for.
    pub kind: ProbeKind,
    /// The case, as a manifest would have it.
    pub case: Case,
    /// Key that the tiling function chose for the operator as it was.
    pub tiling_key: u64,
    /// Whether it runs with data.
    pub with_data: bool,
    /// Seed of its data.
    data_seed: u32,
    /// Its trial in the workload of the set.
    trial: usize,
}

/// The operator as it was, on one probe.
#[derive(Clone, Debug)]
struct Before {
    us: f64,
    /// Hazards that it has there, and bytes that it leaves unwritten: no candidate may have more of it.
    known: Arc<KnownFindings>,
    /// Right outputs; `None` where it was only timed.
    outputs: Option<Vec<Vec<u8>>>,
    /// Lines that it came through, at probes that may take another way than the cases.
    visited: VisitedLines,
}

/// How a candidate did on one probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeVerdict {
    /// Right as far as it can be told, and its speed-up.
    Held {
        /// Time before over time now.
        speedup: f64,
    },
    /// Right, but slower than the floor allows.
    Slower {
        /// Time before over time now.
        speedup: f64,
    },
    /// Wrong, or at fault where the operator as it was is not.
    Wrong(Rejection),
}

impl ProbeVerdict {
    /// Whether the candidate may be written back as far as this probe says.
    pub fn holds(&self) -> bool {
        matches!(self, ProbeVerdict::Held { .. })
    }

    /// Time before over time now; `None` for a wrong one.
    pub fn speedup(&self) -> Option<f64> {
        match self {
            ProbeVerdict::Held { speedup } | ProbeVerdict::Slower { speedup } => Some(*speedup),
            ProbeVerdict::Wrong(_) => None,
        }
    }
}

/// A line of the journal of probes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TriedProbe {
    /// Digest of the candidate.
    candidate: String,
    /// Name of the probe.
    probe: String,
    /// How it did; `None` where it cannot be told.
    verdict: Option<ProbeVerdict>,
}

impl Entry for TriedProbe {
    fn key(&self) -> String {
        format!("{} {}", self.candidate, self.probe)
    }
}

/// Probes of an operator, with how it stood on them before anything was changed.
pub struct ProbeSet {
    /// The probes.
    pub probes: Vec<Probe>,
    /// Probes at which the operator as it was crashes, hangs or does not build, with the reason: nothing can be compared there.
    pub faulty: Vec<(String, String)>,
    /// Dtypes of the definition that no probe can have.
    pub untried_dtypes: Vec<String>,
    /// Bytes of all tensors of the largest case or probe, where the operator takes more than [`Self::draw`] could run and one core's
    /// unified buffer holds all of this: nobody has seen a second tile then.
    pub unreached_beyond: Option<u64>,
    /// Whether the operator takes rows of whole blocks of 32 bytes alone, so that probes have no others.
    pub(super) whole_blocks: bool,
    before: Vec<Before>,
    pub(super) evaluator: Evaluator,
    pub(super) data: PathBuf,
    pub(super) seed: u64,
    pub(super) floor: f64,
    /// Verdicts by candidate and probe: the same candidate is looked at after a turn, and again before it is written.
    known: Mutex<BTreeMap<(String, usize), Option<ProbeVerdict>>>,
    /// The operator as it was, and at which probes it does the same each time, where that was of interest.
    pub(super) plan: Option<Plan>,
    steady: Mutex<BTreeMap<usize, bool>>,
    /// Where verdicts are kept for a run that resumes.
    journal: Option<Journal<TriedProbe>>,
    /// Digest of the candidate whose edges were looked for last, and what was found.
    pub(super) edges: Mutex<Option<(String, Arc<ProbeSet>)>>,
    /// Calls with the longest rows that the operator as it was has room for.
    pub(super) longest_rows: OnceCell<Vec<Accepted>>,
}

impl ProbeSet {
    /// The verdicts that tell what is gained on average.
    pub(super) fn of_the_sample(&self, mut verdicts: Vec<(usize, ProbeVerdict)>) -> Vec<(usize, ProbeVerdict)> {
        verdicts.retain(|(place, _)| self.probes[*place].kind.is_of_the_sample());
        verdicts
    }

    /// A set without probes.
    pub(super) fn empty(workspace: &Workspace, data: PathBuf, seed: u64) -> Self {
        let evaluator = workspace.evaluator.clone();
        Self {
            probes: Vec::new(),
            faulty: Vec::new(),
            untried_dtypes: Vec::new(),
            unreached_beyond: None,
            whole_blocks: false,
            before: Vec::new(),
            evaluator,
            data,
            seed,
            floor: workspace.manifest.case_floor,
            known: Mutex::default(),
            plan: None,
            steady: Mutex::default(),
            journal: None,
            edges: Mutex::default(),
            longest_rows: OnceCell::new(),
        }
    }

    /// Makes cases and trials of accepted probes.
    pub(super) fn admit(&mut self, accepted: Vec<(ProbeKind, Accepted)>, most_bytes: u64) -> Result<(), TunerError> {
        // Where no case has hostile values they mean nothing to the operator.
        let may_be_hostile = self.evaluator.manifest.cases.iter().any(|case| case.hostile);
        for (place, (kind, found)) in accepted.into_iter().enumerate() {
            let bytes = found.bytes();
            let with_data = bytes <= most_bytes;
            // One in two of those that are small enough for all its outputs to be looked at, and all where it is not their size that
            // tells: a term beside the data shows where these are small.
            let wanted = place % 2 == 1 || kind == ProbeKind::OtherAttribute;
            let hostile = may_be_hostile && wanted && bytes <= WithData::Small.bytes();
            let mut case = case_of(&found);
            let suffix = if hostile { "-hostile" } else { "" };
            case.name = self.free_name(&format!("{}-{}{suffix}", kind.word(), case.name));
            case.hostile = hostile;
            let seed = FIRST_DATA_SEED + self.seed.wrapping_mul(31) % FIRST_DATA_SEED + place as u64;
            let data_seed = u32::try_from(seed).unwrap_or(u32::MAX);
            self.probes.push(Probe { kind, case, tiling_key: found.tiling_key, with_data, data_seed, trial: place });
        }
        self.prepare()
    }

    fn free_name(&self, wanted: &str) -> String {
        let taken = |name: &str| {
            let known = self.probes.iter().map(|probe| &probe.case).chain(&self.evaluator.manifest.cases);
            known.into_iter().any(|case| case.name == name)
        };
        if !taken(wanted) {
            return wanted.to_owned();
        }
        (2..).map(|number| format!("{wanted}-{number}")).find(|name| !taken(name)).unwrap_or_default()
    }

    /// Trials of the probes as they stand, with data where they run with data.
    fn prepare(&mut self) -> Result<(), TunerError> {
        let mut manifest = (*self.evaluator.manifest).clone();
        manifest.cases = self.probes.iter().map(|probe| probe.case.clone()).collect();
        // What the operator has anyway is no reason to look away where it has it.
        manifest.hazards = HazardPolicy::Known;
        let with_data: Vec<bool> = self.probes.iter().map(|probe| probe.with_data).collect();
        let seeds: Vec<u32> = self.probes.iter().map(|probe| probe.data_seed).collect();
        let workload = Workload::of_probes(&manifest, &self.data, &seeds, &with_data)?;
        self.evaluator.manifest = Arc::new(manifest);
        self.evaluator.workload = Arc::new(workload);
        Ok(())
    }

    /// Runs the operator as it is on the probes until `count` of them say something about a winner, and keeps those. Returns the bytes
    /// of all tensors of the largest one that was run, whatever came of it.
    pub(super) async fn establish(
        &mut self,
        plan: &Plan,
        jobs: usize,
        count: usize,
        most_us: f64,
    ) -> Result<Option<u64>, TunerError> {
        let (mut kept, mut tried_bytes) = (Vec::new(), None);
        let mut too_long_bytes: Vec<u64> = Vec::new();
        for mut group in groups(self.probes.len()) {
            if kept.len() >= count {
                break;
            }
            if too_long_bytes.len() >= MOST_TOO_LONG {
                let least = too_long_bytes.iter().min().copied().unwrap_or(u64::MAX);
                group.retain(|place| case_bytes(&self.probes[*place].case) < least);
            }
            tried_bytes = tried_bytes.max(group.iter().map(|place| case_bytes(&self.probes[*place].case)).max());
            for (place, run) in self.run_places(plan, jobs, group).await? {
                let probe = self.probes[place].clone();
                match run {
                    Some(Ok(run)) if run.writes_nothing => {
                        self.faulty.push((probe.case.name, "nothing is written to any output".to_owned()));
                    }
                    Some(Ok(run)) if run.no_whole_block().is_some() => {
                        let hazard = run.no_whole_block().unwrap_or_default();
                        self.faulty.push((probe.case.name, format!("no whole blocks: {hazard}")));
                    }
                    Some(Ok(run)) if run.us <= most_us => {
                        let ProbeRun { us, known, outputs, visited, .. } = run;
                        kept.push((probe, Before { us, known: Arc::new(known), outputs, visited }));
                    }
                    // What is refused, or takes longer than anybody waits, shows no fault.
                    Some(Err(Rejection { reason, .. })) if reason.is_limit() => {
                        too_long_bytes.push(case_bytes(&probe.case));
                    }
                    Some(Err(Rejection { reason: Reason::TilingFailed, .. })) => {}
                    Some(Err(rejection)) => {
                        self.faulty.push((probe.case.name, rejection.to_string()));
                    }
                    _ => {}
                }
            }
        }
        kept.truncate(count);
        (self.probes, self.before) = kept.into_iter().unzip();
        Ok(tried_bytes)
    }

    /// The same with a journal that knows verdicts of an interrupted run and takes up those to come.
    #[must_use]
    pub(super) fn with_journal(self, journal: Journal<TriedProbe>) -> Self {
        let key = |tried: &TriedProbe| {
            let place = self.probes.iter().position(|probe| probe.case.name == tried.probe)?;
            Some(((tried.candidate.clone(), place), tried.verdict.clone()))
        };
        let known = journal.entries().filter_map(key).collect();
        Self { known: Mutex::new(known), journal: Some(journal), ..self }
    }

    /// The same by the floor that a run asks for (`floor_of_probes`).
    #[must_use]
    pub fn with_margin(self) -> Self {
        Self { floor: floor_of_probes(self.floor), ..self }
    }

    /// Time of the operator as it was on a probe, in microseconds.
    pub fn before_us(&self, place: usize) -> f64 {
        self.before[place].us
    }

    /// Whether larger tensors are no more work for the operator, neither from case to case nor at a probe: what decides on its
    /// work no probe changes then. An operator that takes nothing larger has no more work to be slower at.
    pub fn say_nothing_of_work(&self, times: &[CaseTime]) -> bool {
        let shortest_us = times.iter().map(|time| time.task_us).fold(f64::INFINITY, f64::min);
        let cases = times.iter().map(|time| time.task_us);
        let of_sizes = self.probes.iter().zip(&self.before).filter(|(probe, _)| !probe.kind.has_tensors_of_a_case());
        let probes = of_sizes.map(|(_, before)| before.us);
        let longest_us = cases.clone().chain(probes).fold(0.0, f64::max);
        let larger = |probe: &Probe| probe.kind == ProbeKind::Larger;
        cases.fold(0.0, f64::max) <= MUCH_US && self.probes.iter().any(larger) && longest_us <= shortest_us * MORE_WORK
    }

    /// Lines that the operator as it was came through at probes of other dtypes and the like, whose outputs are compared: what becomes of
    /// these lines is looked at before anything is written.
    pub(super) fn visited(&self) -> VisitedLines {
        let mut visited = VisitedLines::new();
        let compared = self.before.iter().filter(|before| before.outputs.is_some());
        compared.for_each(|before| visit_also(&mut visited, &before.visited));
        visited
    }

    /// Lines that a plan comes through at some of these probes, small ones of all sizes that there are.
    pub(super) async fn lines_of(&self, plan: &Plan) -> Result<VisitedLines, TunerError> {
        let bytes = |place: &usize| case_bytes(&self.probes[*place].case);
        let is_quick = |place: &usize| self.before[*place].outputs.is_some() && bytes(place) <= QUICK_BYTES;
        let mut places: Vec<usize> = (0..self.probes.len()).filter(is_quick).collect();
        places.sort_by_key(bytes);
        let mut visited = VisitedLines::new();
        for place in places.iter().step_by(places.len().div_ceil(MOST_QUICK).max(1)) {
            let mut task = self.task(*place);
            task.evaluator.backend = task.evaluator.backend.following();
            if let Some(Ok(run)) = task.run(plan).await? {
                visit_also(&mut visited, &run.visited);
            }
        }
        Ok(visited)
    }

    /// Number of probes at which the operator as it was has hazards of its own.
    pub fn at_fault(&self) -> usize {
        self.before.iter().filter(|before| !before.known.findings.is_empty()).count()
    }

    /// Tries a candidate on all probes, in their order; with `until_broken` none is begun after those beside the first failure.
    pub async fn check(
        &self,
        plan: &Plan,
        jobs: usize,
        until_broken: bool,
    ) -> Result<Vec<(usize, ProbeVerdict)>, TunerError> {
        let mut verdicts = Vec::new();
        for group in groups(self.probes.len()) {
            let unknown = group.iter().copied().filter(|place| self.known_verdict(plan, *place).is_none()).collect();
            for (place, run) in self.run_places(plan, jobs, unknown).await? {
                self.take_note(plan, place, run).await?;
            }
            verdicts.extend(group.into_iter().filter_map(|place| Some((place, self.known_verdict(plan, place)??))));
            if until_broken && verdicts.iter().any(|(_, verdict)| !verdict.holds()) {
                break;
            }
        }
        Ok(verdicts)
    }

    /// Tries a candidate on one probe; `None` where it cannot be told.
    pub async fn check_one(&self, plan: &Plan, place: usize) -> Result<Option<ProbeVerdict>, TunerError> {
        if let Some(known) = self.known_verdict(plan, place) {
            return Ok(known);
        }
        let run = self.task(place).run(plan).await?;
        self.take_note(plan, place, run).await
    }

    /// Weighs a run and remembers the verdict. Where the operator as it was does not do the same twice, nothing can be told.
    async fn take_note(&self, plan: &Plan, place: usize, run: Option<Ran>) -> Result<Option<ProbeVerdict>, TunerError> {
        let mut verdict = match run {
            Some(Ok(_)) if !self.is_exact() => Some(self.fought(plan, place).await?),
            run => run.map(|run| self.verdict(place, &run)),
        };
        if verdict.as_ref().is_some_and(|verdict| !verdict.holds()) && !self.is_steady(place).await? {
            verdict = None;
        }
        self.remember(plan, place, verdict.clone())?;
        Ok(verdict)
    }

    /// Whether the operator as it was does the same each time on a probe.
    async fn is_steady(&self, place: usize) -> Result<bool, TunerError> {
        let known = self.steady.lock().unwrap_or_else(PoisonError::into_inner).get(&place).copied();
        if let Some(steady) = known {
            return Ok(steady);
        }
        let mut steady = true;
        if let Some(before) = &self.plan {
            for _ in 0..RUNS_OF_BASELINE {
                let again = self.task(place).run(before).await?;
                // Where times are noisy, only what is wrong is no chance.
                let wrong = |run: Ran| matches!(self.verdict(place, &run), ProbeVerdict::Wrong(_));
                steady &= match again {
                    Some(run) if !self.is_exact() => !wrong(run),
                    run => run.map(|run| self.verdict(place, &run)) == Some(ProbeVerdict::Held { speedup: 1.0 }),
                };
            }
        }
        self.steady.lock().unwrap_or_else(PoisonError::into_inner).insert(place, steady);
        Ok(steady)
    }

    fn known_verdict(&self, plan: &Plan, place: usize) -> Option<Option<ProbeVerdict>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(plan.digest.clone(), place)).cloned()
    }

    fn remember(&self, plan: &Plan, place: usize, verdict: Option<ProbeVerdict>) -> Result<(), TunerError> {
        if let Some(journal) = &self.journal {
            let (candidate, probe) = (plan.digest.clone(), self.probes[place].case.name.clone());
            let tried = TriedProbe { candidate, probe, verdict: verdict.clone() };
            journal.append(&tried).map_err(|source| TunerError::Journal { source })?;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((plan.digest.clone(), place), verdict);
        Ok(())
    }

    /// The same where times are noisy: the candidate and the operator as it was run in turn.
    async fn fought(&self, plan: &Plan, place: usize) -> Result<ProbeVerdict, TunerError> {
        let before = self.plan.as_ref();
        let before = before.ok_or_else(|| TunerError::Internal("probes without the operator as it was".to_owned()))?;
        let limit = (self.floor, DuelOptions::STEP);
        let mut task = self.task(place);
        task.evaluator = task.evaluator.on_one_device();
        Ok(match fight(&task, plan, before, &[], limit).await? {
            Err(rejection) => ProbeVerdict::Wrong(rejection),
            Ok(fought) if self.is_too_slow(place, fought.ratio) => ProbeVerdict::Slower { speedup: 1.0 / fought.ratio },
            Ok(fought) => ProbeVerdict::Held { speedup: 1.0 / fought.ratio },
        })
    }

    fn verdict(&self, place: usize, run: &Ran) -> ProbeVerdict {
        let before_us = self.before[place].us;
        match run {
            Err(rejection) => ProbeVerdict::Wrong(rejection.clone()),
            Ok(run) if self.is_too_slow(place, run.us / before_us) => {
                ProbeVerdict::Slower { speedup: before_us / run.us }
            }
            Ok(run) => ProbeVerdict::Held { speedup: before_us / run.us },
        }
    }

    /// Whether so many times the time of the operator as it was is more than the floor allows.
    fn is_too_slow(&self, place: usize, ratio: f64) -> bool {
        self.probes[place].kind != ProbeKind::OtherCores && ratio > self.floor
    }

    fn is_exact(&self) -> bool {
        self.evaluator.backend.capabilities().exact
    }

    /// Runs some probes, `jobs` at once.
    pub(super) async fn run_places(
        &self,
        plan: &Plan,
        jobs: usize,
        places: Vec<usize>,
    ) -> Result<BTreeMap<usize, Option<Ran>>, TunerError> {
        let permits = Arc::new(Semaphore::new(jobs.max(1)));
        let mut running = JoinSet::new();
        for place in places {
            let (task, plan, permits) = (self.task(place), plan.clone(), Arc::clone(&permits));
            running.spawn(async move {
                let _permit = permits.acquire().await;
                (place, task.run(&plan).await)
            });
        }
        let mut runs = BTreeMap::new();
        while let Some(joined) = running.join_next().await {
            let (place, run) = joined.map_err(|error| TunerError::Internal(error.to_string()))?;
            runs.insert(place, run?);
        }
        Ok(runs)
    }

    fn task(&self, place: usize) -> Task {
        let probe = &self.probes[place];
        let trial = self.evaluator.workload.trials[probe.trial].clone();
        let mut evaluator = self.evaluator.of_baseline();
        if probe.kind == ProbeKind::OtherCores {
            evaluator.backend = evaluator.backend.with_other_cores().unwrap_or(evaluator.backend);
        }
        let before = self.before.get(place).cloned();
        if let Some(before) = &before {
            evaluator.standard = Standard::Candidate(Arc::clone(&before.known));
        } else {
            evaluator.backend = evaluator.backend.at_most(PROBE_S).unwrap_or(evaluator.backend);
            if probe.kind.may_take_another_way() {
                evaluator.backend = evaluator.backend.following();
            }
        }
        let expected = before.and_then(|before| before.outputs);
        let most = if probe.kind == ProbeKind::Larger { LARGER_WITH_DATA_BYTES } else { MUST_HAVE_DATA_BYTES };
        let may_have_data = case_bytes(&probe.case) <= most;
        Task { evaluator, trial, expected, with_data: probe.with_data, may_have_data }
    }
}

/// The floor that a run's own probes are held to: half of what `case-floor` allows, for so many draws leave room for others that
/// do a little worse.
pub(super) fn floor_of_probes(case_floor: f64) -> f64 {
    1.0 + (case_floor - 1.0) / 2.0
}

/// Places in groups that run beside each other. Fixed ones, so that where it ends does not depend on which is the quicker.
fn groups(places: usize) -> impl Iterator<Item = Vec<usize>> {
    const GROUP: usize = 4;
    (0..places).step_by(GROUP).map(move |first| (first..(first + GROUP).min(places)).collect())
}
