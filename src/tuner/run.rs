//! A run from baseline to verified winner. Writing back, lock and report are the caller's.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::candidate::Candidate;
use super::evaluation::{Outcome, geometric_mean};
use super::evaluator::{Evaluator, References, Scope, Trialled};
use super::host_search::HostSearch;
use super::journal::{Journal, Opened};
use super::kernel_stage::{KernelStage, Learned, Rewriting};
use super::progress::Progress;
use super::ranking::SampledCase;
use super::reference::golden_references;
use super::scheduler::{Limits, Scheduler, Turn};
use super::session::{Budget, Session};
use super::settings::expected_settings;
use super::workspace::Workspace;
use super::{CaseTime, TunerError};
use crate::backend::{LaunchProfile, longest};
use crate::build::cache::Digest;
use crate::experience::{Bank, Query, Record, Shingles, features_of, symptoms_of};
use crate::motif::{Context, Coverage};
use crate::proposer::{MotifProposer, Reach};
use crate::report::event::{self, Event, Stage};
use crate::search::StrategyKind;
use crate::source::facts::KnownValues;
use crate::source::parse::SyntaxForest;
use crate::source::tunable::{SiteForm, locate};
use crate::space::{Configuration, SearchSpace, Tunable};

/// What a run may do.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Evaluations to spend.
    pub evaluations: u64,
    /// Time after which no further evaluation is begun.
    pub time_limit: Option<Duration>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Strategy of the host stage.
    pub strategy: StrategyKind,
    /// Stages to use, in the order of the first episode.
    pub stages: Vec<Stage>,
    /// Continue from a journal that fits.
    pub resume: bool,
    /// Experience to ask.
    pub experience: Experience,
    /// How rewrites follow each other.
    pub rewriting: Rewriting,
    /// Motifs that change rounding may be used.
    pub allow_rounding: bool,
    /// Configurations that won before, tried first where the search space still has them.
    pub earlier_winners: Vec<Configuration>,
}

/// Which experience a run may ask.
#[derive(Clone, Debug, Default)]
pub struct Experience {
    /// The bank that ships with the tool.
    pub shipped: bool,
    /// Directories of experience banks, merged in order.
    pub banks: Vec<PathBuf>,
    /// Records of operators and projects with these words in their names are left out.
    pub held_out: Vec<String>,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// The way to the best candidate.
    pub progress: Progress,
    /// Candidate the run began with.
    pub baseline: Candidate,
    /// Times of the baseline.
    pub baseline_times: Vec<CaseTime>,
    /// Launches of the baseline by case.
    pub baseline_profiles: BTreeMap<String, Vec<LaunchProfile>>,
    /// Times of the winner, as verified from clean.
    pub winner_times: Vec<CaseTime>,
    /// Launches of the winner by case.
    pub winner_profiles: BTreeMap<String, Vec<LaunchProfile>>,
    /// Digest over the winner's verified outputs, by case.
    pub verification: BTreeMap<String, String>,
    /// Weights of the timed cases.
    pub weights: Vec<f64>,
    /// Evaluations spent.
    pub evaluations: u64,
    /// How many were rejected.
    pub rejected: u64,
    /// Tunables that had to be compiled in, with reasons.
    pub compiled_in: Vec<(String, String)>,
    /// Large cases: how many of their blocks ran with data in quick trials.
    pub sampled: Vec<SampledCase>,
    /// Why the run ended.
    pub ended: String,
    /// What single motifs did here, for a bank.
    pub records: Vec<Record>,
}

impl RunOutcome {
    /// Weighted geometric mean of the cases' speed-ups.
    pub fn speedup(&self) -> f64 {
        let ratios =
            self.baseline_times.iter().zip(&self.winner_times).map(|(before, after)| before.task_us / after.task_us);
        geometric_mean(ratios, &self.weights)
    }
}

/// Share of the budget that one turn of the host stage may take.
const HOST_TURN: f64 = 0.25;
/// Share of the budget that one turn of the kernel stage may take.
const KERNEL_TURN: f64 = 0.35;
/// A turn ends after so many evaluations without improvement; what a stage has left to propose waits for its next turn.
const PATIENCE: u64 = 16;
/// So many long turns of every stage without improvement end the run.
const IDLE_ROUNDS: usize = 3;
/// With fewer evaluations left it is not worth while to go back and follow another way.
const LEAST_WAY: u64 = 16;
/// Turns shorter than this learn nothing.
const SHORTEST_TURN: u64 = 8;
/// A candidate this near to its own lower bound is left alone.
const AT_BOUND: f64 = 1.01;

/// Tunes. Events go to `emit` as they happen.
pub async fn run(
    workspace: &Workspace,
    options: &RunOptions,
    emit: &mut dyn FnMut(Event),
) -> Result<RunOutcome, TunerError> {
    let tunables = workspace.tunables();
    let baseline = workspace.baseline()?;
    let space = workspace.space()?;
    let bank = load_banks(&options.experience, emit);
    let journal = open_journal(workspace, options, &baseline, &bank, emit)?;

    let (reference, references) = follow_baseline(workspace, &baseline).await?;
    let Outcome::Valid(baseline_times) = reference.evaluation.outcome.clone() else {
        return Err(TunerError::Internal("a rejected baseline was taken for a reference".to_owned()));
    };
    let weights = workspace.weights();
    let baseline_us = geometric_mean(baseline_times.iter().map(|time| time.task_us), &weights);
    emit(baseline_event(workspace, &baseline_times, &reference, baseline_us));

    let budget = Budget { evaluations: options.evaluations, time_limit: options.time_limit };
    let evaluator = workspace.evaluator.against(&reference);
    let references = Arc::new(references);
    let jobs = workspace.options.jobs;
    let mut session =
        Session::new(evaluator, Arc::new(journal), Arc::clone(&references), budget, jobs, weights.clone());
    session.remember(reference.evaluation.clone());
    let mut progress =
        Progress::new(baseline.clone(), baseline_us, baseline_times.clone(), workspace.manifest.case_floor);
    let mut learned = Learned::default();
    let provenance = workspace.provenance();
    let coverage = Coverage::of(&SyntaxForest::parse(&baseline.sources), &reference.visited);
    if options.stages.contains(&Stage::Kernel) {
        tracing::debug!(silent = ?coverage.silent(), visited = ?reference.visited, "what no case runs");
    }
    let proposer = MotifProposer {
        allow_rounding: options.allow_rounding || workspace.manifest.allow_rounding_changes,
        keep_constants: false,
        unlikely: false,
        reach: if options.rewriting == Rewriting::OneByOne { Reach::Single } else { Reach::Together },
    };

    let mut earlier = Vec::new();
    if options.stages.contains(&Stage::Host) {
        earlier.extend(earlier_winners(options, &baseline, &space));
        earlier.extend(settings_of_others(workspace, &bank, &space, &baseline, &reference));
    }
    let mut scheduler = Scheduler::new(&options.stages);
    // What the lock and the bank know is tried before anything else, and is no evidence of what a search would bring.
    let why = "configurations that the lock or the bank knows";
    let mut known_first = (!earlier.is_empty()).then(|| Turn::of_known(Stage::Host, why, earlier.len() as u64));
    let mut search = HostSearch::new(&space, tunables, &baseline, options.strategy, options.seed, earlier);
    let mut last_stage = None;
    let mut idle_turns = 0;
    let mut host_had_turn = false;
    let mut gone_back = None;
    let mut turns = 0_u64;
    let ended = loop {
        if session.left() == 0 {
            break "the budget is spent".to_owned();
        }
        if at_bound(&progress.best_times) {
            break "every case is within 1 % of its modelled bound".to_owned();
        }
        if idle_turns >= IDLE_ROUNDS * options.stages.len() {
            let may_go_back = options.rewriting == Rewriting::Successive && session.left() >= LEAST_WAY;
            let Some(motif) = may_go_back.then(|| progress.go_back()).flatten() else {
                break "neither stage finds an improvement any more".to_owned();
            };
            host_had_turn |= scheduler.had_turn(Stage::Host);
            scheduler = Scheduler::new(&options.stages);
            idle_turns = 0;
            gone_back = Some(format!("back to before {motif}: another way may lead further"));
        }
        let of_scheduler = known_first.is_none();
        let Some(turn) = known_first.take().or_else(|| scheduler.next(session.scarce())) else {
            break "there is no stage to use".to_owned();
        };
        let stage = turn.stage;
        let went_back = gone_back.take();
        if last_stage != Some(stage) || went_back.is_some() {
            let reason = went_back.unwrap_or_else(|| turn.reason.clone());
            emit(Event::StageSwitch(event::StageSwitch { from: last_stage, to: stage, reason }));
        }
        last_stage = Some(stage);
        let (before_us, spent) = (progress.best_us, session.spent());
        let share = |share: f64| ((options.evaluations as f64 * share) as u64).max(SHORTEST_TURN);
        // With a single stage there is nobody to hand over to.
        let alone = options.stages.len() == 1;
        let limits = |turn_share, patience| {
            if alone { Limits::alone(patience) } else { turn.limits(share(turn_share), PATIENCE) }
        };
        match stage {
            Stage::Host if space.dimensions() > 0 => {
                let before = session.used();
                search.turn(turns, &mut session, &mut progress, limits(HOST_TURN, PATIENCE), emit).await?;
                if session.used() == before && alone {
                    break "the search space is exhausted".to_owned();
                }
            }
            Stage::Host => {}
            Stage::Kernel => {
                let had_turn = host_had_turn || scheduler.had_turn(Stage::Host);
                let host_waits = options.stages.contains(&Stage::Host) && !had_turn;
                let proposer = MotifProposer { keep_constants: host_waits, ..proposer };
                let kernel = KernelStage {
                    tunables,
                    bank: &bank,
                    proposer: &proposer,
                    coverage: &coverage,
                    rewriting: options.rewriting,
                    baseline: (&baseline, baseline_us),
                    provenance: &provenance,
                };
                let limits = limits(KERNEL_TURN, u64::MAX);
                kernel.run(&mut session, &mut progress, &mut learned, limits, emit).await?;
            }
        }
        if of_scheduler {
            scheduler.learn(stage, before_us / progress.best_us, session.spent().since(spent));
        }
        idle_turns = if progress.best_us < before_us { 0 } else { idle_turns + usize::from(turn.is_long()) };
        turns += 1;
    };

    progress.keep_best();
    let compiled_in = search.compiled_in();
    let (winner, verification) = verify_winner(workspace, &progress.best, &references).await?;
    let Outcome::Valid(winner_times) = winner.evaluation.outcome else {
        return Err(TunerError::Internal("a rejected winner was verified".to_owned()));
    };
    Ok(RunOutcome {
        baseline,
        baseline_times,
        baseline_profiles: reference.profiles,
        winner_times,
        winner_profiles: winner.profiles,
        verification,
        weights,
        evaluations: session.used(),
        rejected: session.rejected(),
        sampled: session.sampled(),
        compiled_in,
        ended,
        records: learned.records,
        progress,
    })
}

/// Runs the operator as it stands over all trials. Its outputs are the reference, except where the user gave golden data.
pub async fn establish_baseline(
    workspace: &Workspace,
    baseline: &Candidate,
) -> Result<(Trialled, References), TunerError> {
    reference_run(workspace, &workspace.evaluator, baseline).await
}

/// The same, and follows the critical path: what the report shows and what is known of the code that runs.
pub async fn follow_baseline(
    workspace: &Workspace,
    baseline: &Candidate,
) -> Result<(Trialled, References), TunerError> {
    reference_run(workspace, &following(&workspace.evaluator), baseline).await
}

/// An evaluator that also follows the critical path, for what the report shows.
fn following(evaluator: &Evaluator) -> Evaluator {
    let mut following = evaluator.clone();
    following.backend.critical_path = true;
    following
}

async fn reference_run(
    workspace: &Workspace,
    evaluator: &Evaluator,
    baseline: &Candidate,
) -> Result<(Trialled, References), TunerError> {
    let golden = golden_references(workspace).await?;
    let plan = baseline.plain_plan(workspace.tunables());
    let trialled = evaluator.try_plan(&plan, &golden, Scope::All, true).await;
    if let Outcome::Rejected(rejection) = trialled.evaluation.outcome {
        return Err(TunerError::Baseline(Box::new(rejection)));
    }
    let mut references = trialled.outputs.clone();
    references.extend(golden);
    Ok((trialled, references))
}

/// Builds the winner from clean, exactly as it would be written back, and runs everything once more.
async fn verify_winner(
    workspace: &Workspace,
    winner: &Candidate,
    references: &References,
) -> Result<(Trialled, BTreeMap<String, String>), TunerError> {
    let clean = tempfile::Builder::new().prefix("clean-").tempdir_in(&workspace.work_directory)?;
    let mut evaluator = following(&workspace.evaluator);
    evaluator.builder = Arc::new(workspace.evaluator.builder.in_directory(clean.path())?);
    let plan = winner.plain_plan(workspace.tunables());
    let trialled = evaluator.try_plan(&plan, references, Scope::All, true).await;
    if let Outcome::Rejected(rejection) = trialled.evaluation.outcome {
        return Err(TunerError::Winner(Box::new(rejection)));
    }
    let digests = workspace.verification_digests(&trialled.outputs);
    Ok((trialled, digests))
}

fn at_bound(times: &[CaseTime]) -> bool {
    !times.is_empty() && times.iter().all(|time| time.task_us <= time.bound_us * AT_BOUND)
}

/// Winners of before as configurations of this space: what they do not say stays as it is.
fn earlier_winners(options: &RunOptions, baseline: &Candidate, space: &SearchSpace) -> Vec<Configuration> {
    let merged = options.earlier_winners.iter().map(|winner| {
        let mut configuration = baseline.configuration.clone();
        for tunable in space.tunables() {
            if let Some(value) = winner.get(&tunable.name) {
                configuration.set(&tunable.name, value.clone());
            }
        }
        configuration
    });
    let possible = merged.filter(|configuration| {
        *configuration != baseline.configuration
            && space.point(configuration).is_some()
            && space.check(configuration).is_ok()
    });
    possible.collect()
}

/// Configurations that the settings of operators in the bank make of this one.
fn settings_of_others(
    workspace: &Workspace,
    bank: &Bank,
    space: &SearchSpace,
    baseline: &Candidate,
    reference: &Trialled,
) -> Vec<Configuration> {
    let launches = || reference.profiles.values().flatten();
    let symptoms = longest(launches()).map(|launch| symptoms_of(&launch.profile)).unwrap_or_default();
    let context = Context::new(baseline.sources.clone(), KnownValues::default(), None);
    let query = Query { symptoms, features: features_of(&context), shingles: Shingles::default() };
    let filled_bytes = launches().map(|launch| launch.profile.buffers_end_bytes).max().unwrap_or(0);
    let asks = |tunable: &&Tunable| {
        let sites = locate(&baseline.sources, &tunable.binding).unwrap_or_default();
        sites.iter().any(|site| matches!(site.form, SiteForm::Asked { .. }))
    };
    let asked = workspace.tunables().iter().filter(asks).map(|tunable| tunable.name.as_str()).collect();
    expected_settings(space, bank, &query, &baseline.configuration, &asked, filled_bytes, &workspace.machine)
}

fn load_banks(experience: &Experience, emit: &mut dyn FnMut(Event)) -> Bank {
    let mut bank = if experience.shipped { Bank::shipped() } else { Bank::new() };
    for directory in &experience.banks {
        match Bank::load(directory) {
            Ok(more) => bank.merge(more),
            Err(error) => emit(Event::Warning(event::Warning {
                code: "bank-unreadable".to_owned(),
                message: error.to_string(),
                help: Some("the run goes on without these records".to_owned()),
            })),
        }
    }
    experience.held_out.iter().fold(bank, |bank, pattern| bank.without(pattern))
}

fn open_journal(
    workspace: &Workspace,
    options: &RunOptions,
    baseline: &Candidate,
    bank: &Bank,
    emit: &mut dyn FnMut(Event),
) -> Result<Journal, TunerError> {
    let parts = [
        env!("CARGO_PKG_VERSION"),
        &baseline.digest(workspace.tunables()),
        &workspace.manifest_text,
        &workspace.sdk.digest,
        &workspace.machine.digest(),
        &format!("{:?}", workspace.cases),
        &format!("{:?}", workspace.manifest.cmake),
        &workspace.options.fixed.to_string(),
        &format!("{} {:?} {:?} {}", options.seed, options.strategy, options.stages, options.allow_rounding),
        &format!("{:?} {:?}", options.rewriting, options.earlier_winners),
        &bank.digest(),
    ];
    let inputs = Digest::new("run 1").texts(parts).finish();
    let path = workspace.work_directory.join("journal.jsonl");
    let (journal, opened) =
        Journal::open(&path, &inputs, options.resume).map_err(|source| TunerError::Journal { source })?;
    match opened {
        Opened::Resumed(count) if count > 0 => emit(Event::Warning(event::Warning {
            code: "resumed".to_owned(),
            message: format!(
                "{count} evaluations are taken over from an interrupted or earlier run on the same inputs"
            ),
            help: Some("give --no-resume to start over".to_owned()),
        })),
        Opened::InputsChanged => emit(Event::Warning(event::Warning {
            code: "journal-put-aside".to_owned(),
            message: "the journal belongs to other sources or options; starting over".to_owned(),
            help: None,
        })),
        Opened::Fresh | Opened::Resumed(_) => {}
    }
    Ok(journal)
}

fn baseline_event(workspace: &Workspace, times: &[CaseTime], reference: &Trialled, objective_us: f64) -> Event {
    let cases = times
        .iter()
        .filter_map(|time| {
            let limiter = longest(reference.profiles.get(&time.name)?)?.profile.limiter;
            Some(event::BaselineCase { name: time.name.clone(), us: time.task_us, bound_us: time.bound_us, limiter })
        })
        .collect();
    Event::Baseline(event::Baseline { operator: workspace.manifest.operator.clone(), cases, objective_us })
}

impl Workspace {
    /// Digest of the outputs of each case over all its trials.
    pub fn verification_digests(&self, outputs: &References) -> BTreeMap<String, String> {
        let mut hashers: BTreeMap<String, blake3::Hasher> = BTreeMap::new();
        for (index, trial) in self.evaluator.workload.trials.iter().enumerate() {
            let hasher = hashers.entry(self.manifest.cases[trial.case].name.clone()).or_default();
            for output in outputs.get(&index).into_iter().flatten() {
                hasher.update(&(output.len() as u64).to_le_bytes());
                hasher.update(output);
            }
        }
        hashers.into_iter().map(|(name, hasher)| (name, hasher.finalize().to_hex()[..32].to_owned())).collect()
    }
}
