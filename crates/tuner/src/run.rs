//! A run from baseline to verified winner. Writing back, lock and report are the caller's.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::beyond_cases::{widen, widen_at_first};
use super::by_size::{BySizeStep, may_choose};
use super::candidate::Candidate;
use super::claim::{cases_flatter, claimed, flatter, representatives};
use super::evaluation::{Outcome, speedup};
use super::evaluator::Evaluator;
use super::flattered::{AtFirst, drop_what_only_the_cases_gain};
use super::generalisation::Generalisation;
use super::journal::{Journal, Opened};
use super::kernel_stage::context_of;
use super::known::KnownFindings;
use super::last_word::{LastWord, Said};
use super::probe_sizes::case_bytes;
use super::probing::{MUST_HAVE_DATA_BYTES, ProbeSet, WithData};
use super::progress::Progress;
use super::round::{Ended, Field, Round, Standing, at_bound};
use super::run_options::{Experience, RunOptions};
use super::searched::Searched;
use super::session::{Budget, TIME_IS_UP};
use super::settle::{Broken, Doubted, drop_given_up, drop_values_that_nothing_tells_of, restand, settle, simplify};
use super::steps::Steps;
use super::taken_back::TakenBack;
use super::trialled::{References, Trialled};
use super::workspace::{BackendKind, Workspace};
use super::{CaseTime, TunerError};
use backend::{LaunchProfile, longest};
use build::Digest;
use confinement::Layers;
use events::{self, Event, SampledCase, Stage};
use experience::{Bank, Record};
use manifest::Case;
use motif::Context;
use project::AutoSyncOff;
use proposer::PatchFiles;
use search::geometric_mean;
use space::Tunable;

/// A finished run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// The way to the best candidate.
    pub progress: Progress,
    /// Everything that was searched: tunables of the manifest, and constants that rewrites of the way there have brought along.
    pub tunables: Vec<Tunable>,
    /// Candidate the run began with.
    pub baseline: Candidate,
    /// Times of the baseline.
    pub baseline_times: Vec<CaseTime>,
    /// Launches of the baseline by case.
    pub baseline_profiles: BTreeMap<String, Vec<LaunchProfile>>,
    /// Times of the winner, as verified from clean.
    pub winner_times: Vec<CaseTime>,
    /// Standard error of its gain as a share of it, where times are noisy.
    pub error: Option<f64>,
    /// Launches of the winner by case.
    pub winner_profiles: BTreeMap<String, Vec<LaunchProfile>>,
    /// Digest over the winner's verified outputs, by case.
    pub verification: BTreeMap<String, String>,
    /// The same of each output, by case and name.
    pub output_digests: BTreeMap<String, BTreeMap<String, String>>,
    /// Hazards that the operator as it stands was accepted with.
    pub baseline_known: KnownFindings,
    /// Those that the winner still has: none that the operator did not have.
    pub winner_known: KnownFindings,
    /// Weights of the timed cases.
    pub weights: Vec<f64>,
    /// Evaluations spent.
    pub evaluations: u64,
    /// Evaluations beside the budget, of the winner without one of its steps.
    pub beyond: u64,
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
    /// Steps of winners that were taken back, in order.
    pub taken_back: Vec<TakenBack>,
    /// How the winner does on the probes; `None` where nothing was found to be tried.
    pub generalisation: Option<Generalisation>,
}

impl RunOutcome {
    /// Whether no case can be made faster by much.
    pub fn is_at_bound(&self) -> bool {
        at_bound(&self.winner_times)
    }

    /// The speed-up that may be claimed: that on the cases, or that on the probes where it is less.
    pub fn claimed(&self) -> f64 {
        claimed(self.speedup(), self.generalisation.as_ref().and_then(Generalisation::speedup))
    }

    /// Weighted geometric mean of the cases' times as they were, in microseconds.
    pub fn baseline_us(&self) -> f64 {
        geometric_mean(self.baseline_times.iter().map(|time| time.task_us), &self.weights)
    }

    /// Weighted geometric mean of the cases' speed-ups.
    pub fn speedup(&self) -> f64 {
        speedup(&self.baseline_times, &self.winner_times, &self.weights)
    }
}

/// A case of which more is launch and start-up than this share says little of its kernel.
const MOST_FIXED: f64 = 1.0 / 3.0;
/// Rounds after the first: each begins after a winner that did not hold on a probe.
const MORE_ROUNDS: usize = 6;
/// With fewer evaluations left no further round is begun.
const LEAST_ROUND: u64 = 8;

/// The operator as it stands, run on all trials.
pub struct Surveyed {
    field: Field,
}

impl Surveyed {
    /// Runs it, and follows its critical path.
    pub async fn of(workspace: &Workspace) -> Result<Self, TunerError> {
        Ok(Self { field: Field::survey(workspace.clone(), &workspace.baseline()?).await? })
    }

    /// What is known of it.
    pub fn known(&self) -> &KnownFindings {
        &self.field.reference.known
    }

    /// What tries other sources as the run does: an evaluator that holds the operator's own hazards against nobody, and the right answers.
    pub fn bench(&self) -> (Evaluator, Arc<References>) {
        let Field { workspace, reference, references, .. } = &self.field;
        (workspace.evaluator.against(reference).following(), Arc::clone(references))
    }

    /// What proposers are asked about before anything was tried.
    pub fn context(&self) -> Context {
        let Field { workspace, coverage, beside, tiling, .. } = &self.field;
        let launch = longest(self.field.baseline_profiles().values().flatten());
        context_of(&workspace.sources, launch, (coverage, beside, tiling))
    }
}

/// Tunes. Events go to `emit` as they happen.
pub async fn run(
    workspace: &Workspace,
    options: &RunOptions,
    emit: &mut dyn FnMut(Event),
) -> Result<RunOutcome, TunerError> {
    run_from(workspace, options, Surveyed::of(workspace).await?, emit).await
}

/// Tunes an operator that has been run as it stands in this workspace.
pub async fn run_from(
    workspace: &Workspace,
    options: &RunOptions,
    surveyed: Surveyed,
    emit: &mut dyn FnMut(Event),
) -> Result<RunOutcome, TunerError> {
    let tunables = workspace.tunables();
    let baseline = workspace.baseline()?;
    let mut searched = Searched::of(workspace)?;
    let bank = load_banks(&options.experience, emit);
    let inputs = inputs(workspace, options, &baseline, &bank);
    let journal = open_journal(workspace, options, &inputs, emit)?;

    let mut field = surveyed.field;
    let (baseline_profiles, baseline_times) = (field.baseline_profiles().clone(), field.baseline_times.clone());
    let (references, weights) = (Arc::clone(&field.references), field.weights.clone());
    let baseline_known = field.reference.known.clone();
    tell_of_baseline(workspace, &field, emit);

    let budget = Budget { evaluations: options.evaluations, time_limit: options.time_limit };
    let (judging, jobs) = (workspace.evaluator.against(&field.reference), workspace.options.jobs);
    let rewrites = options.stages.contains(&Stage::Kernel);
    let mut standing = Standing::at_first(&field, judging.clone(), journal, &baseline, budget, (jobs, rewrites));

    // Drawn when there is something to try on them, or where nothing is left to try in what the cases run.
    let drawn: OnceCell<ProbeSet> = OnceCell::new();
    let at_first = (&baseline, &baseline_times[..]);
    let draw = async || probes_of(workspace, at_first, options, &inputs).await;
    // Whether the cases have been measured by the probes: that is done once.
    let measured = Cell::new(false);
    let mut doubt = async |progress: &Progress, left: u64| {
        let probes = drawn.get_or_try_init(draw).await?;
        let verdicts = probes.check(&progress.best.plain_plan(tunables), jobs, true).await?;
        let broken = verdicts.iter().find(|(_, verdict)| !verdict.holds());
        if let Some((place, _)) = broken {
            return Ok(Some(format!("probe {} has to be heeded", probes.probes[*place].case.name)));
        }
        let on_cases = progress.baseline_us / progress.best_us;
        let verdicts = probes.of_the_sample(verdicts);
        let flattered = !measured.get() && left >= LEAST_ROUND && flatter(on_cases, &verdicts);
        Ok(flattered.then(|| "the cases flatter: on probes the gain is less than two thirds of theirs".to_owned()))
    };
    let (mut taken_back, mut joined, mut representing) = (Vec::new(), Vec::new(), Vec::new());
    let (mut doubted, mut rounds) = (Doubted::default(), 0);
    emit_if(searched.leave_unreached(&field.coverage, &baseline), emit);
    let mut widened = widen_at_first(&mut field, &standing, options, &baseline, drawn.get_or_try_init(draw)).await?;
    let ended = loop {
        let (first, space) = (standing.turns == 0, &searched.space);
        let round = Round { options, bank: &bank, baseline: &baseline, space, first };
        let Ended { why: mut ended, by_probe, brought } = round.search(&field, &mut standing, &mut doubt, emit).await?;
        if !brought.tunables.is_empty() {
            searched.grow(&brought, (&mut field, &mut standing.progress), &baseline, emit);
            continue;
        }
        // What the cases run comes first: probes take their time, and may run no more than these.
        if !widened && !by_probe && may_go_on_beyond_the_cases(&field, &standing) {
            widened = true;
            // Nobody may ever need these probes: they are drawn in the time that is left, or not at all.
            match standing.session.in_time(drawn.get_or_try_init(draw)).await.transpose()? {
                Some(probes) if widen(&mut field, probes, &baseline).await? => continue,
                Some(_) => {}
                None => TIME_IS_UP.clone_into(&mut ended),
            }
        }
        standing.progress.keep_best();
        if !by_probe {
            taken_back.extend(simplify(&field.workspace, &baseline, &mut standing, emit).await?);
        }
        if standing.progress.best.digest(tunables) == baseline.digest(tunables) {
            break ended;
        }
        let probes = drawn.get_or_try_init(draw).await?;
        let (was, back) = ((&baseline, &baseline_times[..]), (&mut standing, &mut taken_back));
        let Some(broken) = settle_and_tell(options, &field, was, probes, back, emit).await? else {
            // Also where nothing is left to search with: what the cases alone told apart is told by these as well.
            if measured.get() {
                break ended;
            }
            let least = representatives(&field, probes, &standing.progress, &joined).await?;
            if least.is_empty() {
                break ended;
            }
            measured.set(true);
            field = with_least(field, least, &baseline, &mut representing).await?;
            if representing.is_empty() {
                continue;
            }
            emit(cases_flatter(&representing));
            standing.enlarge(&field);
            restand(&field, &baseline, &mut standing, &mut taken_back, emit).await?;
            continue;
        };
        if rounds == MORE_ROUNDS || standing.session.left() < LEAST_ROUND {
            while settle(&field, &baseline, probes, &mut standing, &mut taken_back, emit).await?.is_some() {}
            break no_further_round(ended, rounds, standing.session.left());
        }
        rounds += 1;
        measured.set(measured.get() || rounds == MORE_ROUNDS);
        let given_up = doubted.note(&broken, &mut standing.learned.history);
        drop_given_up(&field, &baseline, &given_up, &mut standing, &mut taken_back, emit).await?;
        searched.leave_alone(given_up, &baseline);
        // Where it cannot be a case the search goes on without: what was tried does not win a second time.
        let Some(next) = with_probe(&field, broken, &baseline, &mut joined).await? else { continue };
        field = next;
        standing.enlarge(&field);
        restand(&field, &baseline, &mut standing, &mut taken_back, emit).await?;
    };

    let last = if may_choose(options, &field) {
        standing.session.in_time(drawn.get_or_try_init(draw)).await.transpose()?
    } else {
        drawn.get()
    };
    let at_first = AtFirst { baseline: &baseline, times: &baseline_times, weights: &weights };
    let now = (&mut field, &mut searched, &mut standing, &mut taken_back);
    after_the_search(options, at_first, last, now, emit).await?;
    tell_of_untried(options, &standing, emit);
    let (judging, references) = (&judging, &references);
    let last_word = LastWord { field: &field, workspace, judging, references, baseline: &baseline };
    let Said { winner, verification, error } =
        last_word.on(&baseline_times, &weights, &mut standing, &mut taken_back, emit).await?;
    let changed = || standing.progress.best.digest(tunables) != baseline.digest(tunables);
    let tried = drawn.get().filter(|_| workspace.manifest.probes > 0 && changed());
    let generalisation = generalised(&field, tried, &baseline, &standing.progress, (joined, representing)).await?;
    let Outcome::Valid(winner_times) = winner.evaluation.outcome else {
        return Err(TunerError::Internal("a rejected winner was verified".to_owned()));
    };
    tell_of_devices(workspace, emit);
    let Standing { session, progress, learned, compiled_in, .. } = standing;
    leave_out_found_again(&mut taken_back, &baseline, &progress, searched.tunables());
    Ok(RunOutcome {
        tunables: searched.tunables().to_vec(),
        baseline,
        baseline_times,
        baseline_profiles,
        baseline_known,
        winner_known: winner.known,
        winner_times,
        error,
        winner_profiles: winner.profiles,
        verification,
        output_digests: workspace.output_digests(&winner.outputs),
        weights,
        evaluations: session.used(),
        beyond: session.beyond(),
        rejected: session.rejected(),
        sampled: session.sampled(),
        compiled_in,
        ended,
        records: learned.records,
        taken_back,
        generalisation,
        progress,
    })
}

/// Whether rewriting goes on where there is code that no case runs.
fn may_go_on_beyond_the_cases(field: &Field, standing: &Standing) -> bool {
    standing.rewrites
        && !field.coverage.silent().is_empty()
        && standing.session.used_up().is_none()
        && standing.session.left() >= LEAST_ROUND
}

/// Probes of a run, with what became of candidates on them before it was interrupted.
async fn probes_of(
    workspace: &Workspace,
    (baseline, times): (&Candidate, &[CaseTime]),
    options: &RunOptions,
    inputs: &str,
) -> Result<ProbeSet, TunerError> {
    let count = workspace.manifest.probes as usize;
    let drawn = ProbeSet::draw(workspace, baseline, times, count, WithData::Small, options.seed).await?;
    let path = workspace.work_directory.join("probes.jsonl");
    let (journal, _) = Journal::open(&path, inputs, options.resume).map_err(|source| TunerError::Journal { source })?;
    Ok(drawn.with_margin().with_journal(journal))
}

/// What is done with a winner before the last word: what gains on the cases only goes, and what differs by size is chosen by size.
async fn after_the_search(
    options: &RunOptions,
    at_first: AtFirst<'_>,
    probes: Option<&ProbeSet>,
    (field, searched, standing, taken_back): (&mut Field, &mut Searched, &mut Standing, &mut Vec<TakenBack>),
    emit: &mut dyn FnMut(Event),
) -> Result<(), TunerError> {
    let Some(probes) = probes else { return Ok(()) };
    drop_what_only_the_cases_gain(field, at_first, probes, standing, taken_back, emit).await?;
    if may_choose(options, field) {
        BySizeStep { at_first, probes }.take(field, searched, standing, taken_back, emit).await?;
    }
    Ok(())
}

/// What was taken back and found again with others, on which it holds, is there.
fn leave_out_found_again(
    taken_back: &mut Vec<TakenBack>,
    baseline: &Candidate,
    progress: &Progress,
    tunables: &[Tunable],
) {
    let steps = Steps::of(baseline, &progress.best, &progress.milestones, tunables);
    taken_back.retain(|taken| (0..steps.list.len()).all(|place| steps.title(place) != taken.step));
}

/// How the winner does on the probes and at the edges of its rules; `None` without any.
async fn generalised(
    field: &Field,
    probes: Option<&ProbeSet>,
    baseline: &Candidate,
    progress: &Progress,
    joined: (Vec<String>, Vec<String>),
) -> Result<Option<Generalisation>, TunerError> {
    let Some(probes) = probes else { return Ok(None) };
    let (workspace, best) = (&field.workspace, &progress.best);
    let edges = probes.at_edges(&field.workspace, &field.baseline_times, baseline, best).await?;
    let plan = best.plain_plan(workspace.tunables());
    Generalisation::of((probes, &edges), &plan, workspace.options.jobs, joined).await.map(Some)
}

/// The field with the probe that a winner broke on; `None` where it cannot be one of the cases.
async fn with_probe(
    field: &Field,
    broken: Broken,
    baseline: &Candidate,
    joined: &mut Vec<String>,
) -> Result<Option<Field>, TunerError> {
    let without_data = case_bytes(&broken.case) > MUST_HAVE_DATA_BYTES;
    let name = broken.case.name.clone();
    // One that joined to be right is timed when it turns out to be slower as well.
    let case = Case { verify_only: broken.wrong && !without_data && !joined.contains(&name), ..broken.case };
    match field.joined_by(case, without_data, baseline).await {
        Ok(next) => {
            if !joined.contains(&name) {
                joined.push(name);
            }
            Ok(Some(next))
        }
        // With other data than the probe's the operator as it was is at fault there.
        Err(TunerError::Baseline(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why a run ends whose winner had to be taken back.
fn no_further_round(ended: String, rounds: usize, left: u64) -> String {
    match left {
        0 => ended,
        _ if rounds == MORE_ROUNDS => format!("{ended}, after {MORE_ROUNDS} rounds that ended like that"),
        _ => format!("{ended}, and {left} evaluations are too few for another round"),
    }
}

/// The field with the probes that gain least among its timed cases.
async fn with_least(
    mut field: Field,
    least: Vec<Case>,
    baseline: &Candidate,
    representing: &mut Vec<String>,
) -> Result<Field, TunerError> {
    for case in least {
        let broken = Broken { case, wrong: false, tunables: Vec::new(), motifs: Vec::new() };
        field = with_probe(&field, broken, baseline, representing).await?.unwrap_or(field);
    }
    Ok(field)
}

/// What is said before anything is tried.
fn tell_of_baseline(workspace: &Workspace, field: &Field, emit: &mut dyn FnMut(Event)) {
    emit(baseline_event(workspace, &field.baseline_times, &field.reference, field.baseline_us));
    emit_if(mostly_fixed(field.baseline_profiles()), emit);
    field.reference.known.warnings().into_iter().for_each(&mut *emit);
    emit_if(workspace.auto_sync_off.as_ref().map(without_auto_sync), emit);
    emit_if(not_confined(&Layers::of_this_machine().missing()), emit);
}

/// Takes back what nothing tells of and what does not hold, and says to whoever proposed a step what became of it: it may be mended.
async fn settle_and_tell(
    options: &RunOptions,
    field: &Field,
    (baseline, baseline_times): (&Candidate, &[CaseTime]),
    probes: &ProbeSet,
    (standing, taken_back): (&mut Standing, &mut Vec<TakenBack>),
    emit: &mut dyn FnMut(Event),
) -> Result<Option<Broken>, TunerError> {
    drop_values_that_nothing_tells_of(field, baseline, probes, baseline_times, standing, taken_back, emit).await?;
    let before = taken_back.len();
    let broken = settle(field, baseline, probes, standing, taken_back, emit).await?;
    for taken in &taken_back[before..] {
        let motif = taken.step.split(" (").next().unwrap_or_default();
        options.further.iter().for_each(|proposer| proposer.hear_taken_back(motif, &taken.why));
    }
    Ok(broken)
}

/// What measuring has shown of the model.
fn tell_of_devices(workspace: &Workspace, emit: &mut dyn FnMut(Event)) {
    emit_if(workspace.attached.as_ref().and_then(|attached| attached.model_event()), emit);
    workspace.contradictions().into_iter().for_each(emit);
}

/// Patches of the user that found no place.
fn tell_of_untried(options: &RunOptions, standing: &Standing, emit: &mut dyn FnMut(Event)) {
    let names = options.patches.iter().flat_map(PatchFiles::names);
    let untried = names.filter(|name| standing.learned.history.seen(name).is_none());
    untried.map(not_tried).for_each(&mut *emit);
}

/// A warning where every case is mostly launch and start-up.
pub fn mostly_fixed(profiles: &BTreeMap<String, Vec<LaunchProfile>>) -> Option<Event> {
    let share = |launches: &Vec<LaunchProfile>| {
        let sum = |value: fn(&LaunchProfile) -> f64| launches.iter().map(value).sum::<f64>();
        sum(|launch| launch.profile.fixed_us) / sum(|launch| launch.profile.task_us).max(f64::MIN_POSITIVE)
    };
    let least = profiles.values().map(share).fold(f64::INFINITY, f64::min);
    (least.is_finite() && least > MOST_FIXED).then(|| {
        Event::Warning(events::Warning {
            code: "launch-bound".to_owned(),
            message: format!(
                "launch and start-up are {:.0} % and more of every case: they say little of the kernel",
                least * 100.0
            ),
            help: Some("add larger cases to ascend.toml, of shapes that the operator is used with".to_owned()),
        })
    })
}

fn not_tried(patch: &str) -> Event {
    Event::Warning(events::Warning {
        code: "patch-not-tried".to_owned(),
        message: format!("{patch} was not tried: its lines are as it wants them, or have been changed otherwise"),
        help: None,
    })
}

fn without_auto_sync(place: &AutoSyncOff) -> Event {
    Event::Warning(events::Warning {
        code: "auto-sync-off".to_owned(),
        message: format!("{place} switches the compiler's automatic synchronisation off"),
        help: Some("the kernel is judged without it: every barrier and flag that is missing is a race".to_owned()),
    })
}

fn not_confined(missing: &[&str]) -> Option<Event> {
    (!missing.is_empty()).then(|| {
        Event::Warning(events::Warning {
            code: "not-confined".to_owned(),
            message: format!("this machine does not hold the operator's code back from: {}", missing.join("; ")),
            help: Some("tune only sources that you trust here; see docs/security.md".to_owned()),
        })
    })
}

fn emit_if(event: Option<Event>, emit: &mut dyn FnMut(Event)) {
    if let Some(event) = event {
        emit(event);
    }
}

fn load_banks(experience: &Experience, emit: &mut dyn FnMut(Event)) -> Bank {
    let mut bank = if experience.shipped { Bank::shipped() } else { Bank::new() };
    for directory in &experience.banks {
        match Bank::load(directory) {
            Ok(more) => bank.merge(more),
            Err(error) => emit(Event::Warning(events::Warning {
                code: "bank-unreadable".to_owned(),
                message: error.to_string(),
                help: Some("the run goes on without these records".to_owned()),
            })),
        }
    }
    experience.held_out.iter().fold(bank, |bank, pattern| bank.without(pattern))
}

/// Digest of all that the evaluations of a run depend on.
fn inputs(workspace: &Workspace, options: &RunOptions, baseline: &Candidate, bank: &Bank) -> String {
    let parts = [
        env!("CARGO_PKG_VERSION"),
        &baseline.digest(workspace.tunables()),
        &workspace.manifest_text,
        &workspace.sdk.digest,
        &workspace.machine.digest(),
        &format!("{:?}", workspace.cases),
        &format!("{:?} {}", workspace.manifest.cmake, workspace.auto_sync_off.is_none()),
        &workspace.options.fixed.to_string(),
        &format!("{} {:?} {:?} {}", options.seed, options.strategy, options.stages, options.allow_rounding),
        &format!("{:?} {:?}", options.rewriting, options.earlier_winners),
        &bank.digest(),
        &match (&workspace.options.backend, &workspace.attached) {
            (BackendKind::Sim, _) => String::new(),
            // The same chip and toolkit, whichever of the devices: times of other ones are not taken over.
            (_, Some(attached)) => format!("cann {} {} {:?}", attached.toolkit, attached.soc, attached.measure),
            (other, None) => format!("{other:?}"),
        },
        &options.patches.as_ref().map(PatchFiles::digest).unwrap_or_default(),
        &options.further_digest,
    ];
    Digest::new("run 1").texts(parts).finish()
}

fn open_journal(
    workspace: &Workspace,
    options: &RunOptions,
    inputs: &str,
    emit: &mut dyn FnMut(Event),
) -> Result<Journal, TunerError> {
    let path = workspace.work_directory.join("journal.jsonl");
    let (journal, opened) =
        Journal::open(&path, inputs, options.resume).map_err(|source| TunerError::Journal { source })?;
    match opened {
        Opened::Resumed(count) if count > 0 => emit(Event::Warning(events::Warning {
            code: "resumed".to_owned(),
            message: format!(
                "{count} evaluations are taken over from an interrupted or earlier run on the same inputs"
            ),
            help: Some("give --no-resume to start over".to_owned()),
        })),
        Opened::InputsChanged => emit(Event::Warning(events::Warning {
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
            Some(events::BaselineCase { name: time.name.clone(), us: time.task_us, bound_us: time.bound_us, limiter })
        })
        .collect();
    Event::Baseline(events::Baseline { operator: workspace.manifest.operator.clone(), cases, objective_us })
}

impl Workspace {
    /// Digest of the outputs of each case over all its trials.
    pub fn verification_digests(&self, outputs: &References) -> BTreeMap<String, String> {
        let mut hashers: BTreeMap<String, blake3::Hasher> = BTreeMap::new();
        for (index, trial) in self.evaluator.workload.trials.iter().enumerate() {
            let Some(outputs) = outputs.get(&index) else { continue };
            let hasher = hashers.entry(self.manifest.cases[trial.case].name.clone()).or_default();
            for output in outputs {
                hasher.update(&(output.len() as u64).to_le_bytes());
                hasher.update(output);
            }
        }
        hashers.into_iter().map(|(name, hasher)| (name, hasher.finalize().to_hex()[..32].to_owned())).collect()
    }
}
