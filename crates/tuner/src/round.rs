//! One round of a run: the stages in turn on one set of cases, until the budget is spent, nothing is left to find, or a probe
//! says that the best candidate does not hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::baseline::{follow_baseline, lines_of_marked};
use super::candidate::Candidate;
use super::evaluation::Outcome;
use super::evaluator::Evaluator;
use super::head_start::{earlier_winners, rules, settings_of_others};
use super::host_search::HostSearch;
use super::journal::Journal;
use super::kernel_stage::{KernelStage, Learned, Rewriting};
use super::noise::repeat;
use super::opened::brought_along;
use super::probing::floor_of_probes;
use super::progress::Progress;
use super::queue_depths::{Taken, bounds};
use super::run_options::RunOptions;
use super::scheduler::{Limits, Scheduler, Turn};
use super::session::{Budget, Session};
use super::trialled::{References, Trialled, visit_also};
use super::workspace::Workspace;
use super::{CaseTime, TunerError};
use backend::LaunchProfile;
use discovery::init::Brought;
use events::{self, Event, Stage};
use experience::{Bank, Provenance};
use manifest::Case;
use motif::{Coverage, TilingStructure, VisitedLines};
use proposer::{MotifProposer, Proposer, Reach};
use search::geometric_mean;
use source::SourceTree;
use source::parse::SyntaxForest;
use space::SearchSpace;

/// Share of the budget that one turn of the host stage may take.
const HOST_TURN: f64 = 0.25;
/// Share of the budget that one turn of the kernel stage may take.
const KERNEL_TURN: f64 = 0.35;
/// A turn ends after so many evaluations without improvement; what a stage has left to propose waits for its next turn.
const PATIENCE: u64 = 16;
/// So many long turns of every stage without improvement end the run.
const IDLE_ROUNDS: usize = 3;
/// Evaluations without improvement of those who are asked when nobody else has anything left.
const LAST_RESORT: u64 = 8;
/// With fewer evaluations left it is not worth while to go back and follow another way.
const LEAST_WAY: u64 = 16;
/// Turns shorter than this learn nothing.
const SHORTEST_TURN: u64 = 8;
/// A candidate this near to its own lower bound is left alone.
const AT_BOUND: f64 = 1.01;

/// What a round works on: the workspace with the cases of this round, and how the operator as it was stands on them.
pub(super) struct Field {
    /// Workspace.
    pub workspace: Workspace,
    /// The operator as it was, tried.
    pub reference: Trialled,
    /// Right answers by trial.
    pub references: Arc<References>,
    /// Times of the operator as it was.
    pub baseline_times: Vec<CaseTime>,
    /// Its objective.
    pub baseline_us: f64,
    /// Weights of the timed cases.
    pub weights: Vec<f64>,
    /// Standard deviation of one run's objective as a share of it; 0 where times are exact.
    pub noise: f64,
    /// What no case runs, and no probe that is known.
    pub coverage: Coverage,
    /// Lines that probes run.
    probed: VisitedLines,
    /// Lines that the first cases left where blocks were marked.
    marked: VisitedLines,
    /// Files that the sources include beside themselves.
    pub beside: Arc<SourceTree>,
    /// What the host writes for the kernel.
    pub tiling: Vec<TilingStructure>,
    /// Probes among the cases: of them as much is asked as of all other probes.
    joined: Vec<String>,
}

impl Field {
    /// Runs the operator as it is on the cases of the workspace.
    pub async fn survey(workspace: Workspace, baseline: &Candidate) -> Result<Self, TunerError> {
        Self::with_joined(workspace, baseline, Vec::new(), (VisitedLines::new(), None)).await
    }

    async fn with_joined(
        workspace: Workspace,
        baseline: &Candidate,
        joined: Vec<String>,
        (probed, marked): (VisitedLines, Option<VisitedLines>),
    ) -> Result<Self, TunerError> {
        let (mut reference, references) = follow_baseline(&workspace, baseline).await?;
        let Outcome::Valid(mut baseline_times) = reference.evaluation.outcome.clone() else {
            return Err(TunerError::Internal("a rejected baseline was taken for a reference".to_owned()));
        };
        let weights = workspace.weights();
        let mut noise = 0.0;
        if !workspace.evaluator.backend.capabilities().exact {
            let plan = baseline.plain_plan(workspace.tunables());
            let repeated = repeat(&workspace.evaluator, &plan, &weights).await?;
            baseline_times.iter_mut().zip(repeated.us).for_each(|(time, us)| time.task_us = us);
            noise = repeated.deviation;
        }
        let baseline_us = geometric_mean(baseline_times.iter().map(|time| time.task_us), &weights);
        let uncertain = covered(baseline, &reference, &probed);
        // What fewer cases have shown is as true with more of them.
        let marked = match marked {
            Some(known) => known,
            None => lines_of_marked(&workspace, baseline, &uncertain).await?,
        };
        visit_also(&mut reference.visited, &marked);
        let coverage = if marked.is_empty() { uncertain } else { covered(baseline, &reference, &probed) };
        let references = Arc::new(references);
        let beside = Arc::new(workspace.included_beside());
        let tiling = workspace.evaluator.tiling_structures(&baseline.plain_plan(workspace.tunables())).await;
        Ok(Self {
            workspace,
            reference,
            references,
            baseline_times,
            baseline_us,
            weights,
            noise,
            coverage,
            probed,
            marked,
            beside,
            tiling,
            joined,
        })
    }

    /// The same with a probe among the cases.
    pub async fn joined_by(&self, case: Case, without_data: bool, baseline: &Candidate) -> Result<Self, TunerError> {
        let joined = self.joined.iter().chain([&case.name]).cloned().collect();
        let known = (self.probed.clone(), Some(self.marked.clone()));
        Self::with_joined(self.workspace.with_case(case, without_data)?, baseline, joined, known).await
    }

    /// Lines that probes run may be changed as well from now on, since every winner is tried on these. Returns whether these are more.
    pub fn widen(&mut self, probed: VisitedLines, baseline: &Candidate) -> bool {
        let before = self.coverage.silent();
        self.coverage = covered(baseline, &self.reference, &probed);
        self.probed = probed;
        self.coverage.silent() != before
    }

    /// Ratios by which the timed cases may end slower than they began.
    pub fn floors(&self) -> Vec<f64> {
        let floor = self.workspace.manifest.case_floor;
        let of = |time: &CaseTime| if self.joined.contains(&time.name) { floor_of_probes(floor) } else { floor };
        self.baseline_times.iter().map(of).collect()
    }

    /// Launches of the operator as it was, by case.
    pub fn baseline_profiles(&self) -> &BTreeMap<String, Vec<LaunchProfile>> {
        &self.reference.profiles
    }
}

fn covered(baseline: &Candidate, reference: &Trialled, probed: &VisitedLines) -> Coverage {
    let forest = SyntaxForest::parse(&baseline.sources);
    let of_cases = Coverage::of(&forest, &reference.visited);
    if probed.is_empty() {
        return of_cases;
    }
    let mut visited = reference.visited.clone();
    visit_also(&mut visited, probed);
    of_cases.widened(&forest, &visited)
}

/// Everything that lasts longer than a round.
pub(super) struct Standing {
    /// Evaluations.
    pub session: Session,
    /// Where the run stands.
    pub progress: Progress,
    /// What rewriting has taught.
    pub learned: Learned,
    /// Turns of all rounds.
    pub turns: u64,
    /// Tunables that had to be compiled in, with reasons.
    pub compiled_in: Vec<(String, String)>,
    /// Whether kernels may be rewritten.
    pub rewrites: bool,
}

impl Standing {
    /// Before the first evaluation that counts.
    pub fn at_first(
        field: &Field,
        evaluator: Evaluator,
        journal: Journal,
        baseline: &Candidate,
        budget: Budget,
        (jobs, rewrites): (usize, bool),
    ) -> Self {
        let references = Arc::clone(&field.references);
        let mut session = Session::new(evaluator, Arc::new(journal), references, budget, jobs, field.weights.clone())
            .with_noise(field.noise);
        session.remember(field.reference.evaluation.clone());
        let progress = Progress::new(baseline.clone(), field.baseline_us, field.baseline_times.clone(), field.floors());
        Standing { session, progress, learned: Learned::default(), turns: 0, compiled_in: Vec::new(), rewrites }
    }

    /// Goes on with the cases of another field.
    pub fn enlarge(&mut self, field: &Field) {
        let evaluator = field.workspace.evaluator.against(&field.reference);
        self.session.enlarge(evaluator, Arc::clone(&field.references), field.weights.clone());
    }
}

/// How a round ended.
pub(super) struct Ended {
    /// Why.
    pub why: String,
    /// Whether the best candidate does not hold on a probe, or is not worth as much there.
    pub by_probe: bool,
    /// What the best candidate has brought along that is to be searched too.
    pub brought: Brought,
}

/// A run's fixed parts.
pub(super) struct Round<'a> {
    /// What the run may do.
    pub options: &'a RunOptions,
    /// Experience.
    pub bank: &'a Bank,
    /// The operator as it was.
    pub baseline: &'a Candidate,
    /// Search space over the cases of the manifest.
    pub space: &'a SearchSpace,
    /// Whether this is the first round, which begins with what lock and bank know.
    pub first: bool,
}

impl Round<'_> {
    /// Searches. `doubt` is asked about the best candidate after every turn that changed it, with the evaluations that are left; what
    /// it answers ends the round.
    pub async fn search(
        &self,
        field: &Field,
        standing: &mut Standing,
        doubt: &mut impl AsyncFnMut(&Progress, u64) -> Result<Option<String>, TunerError>,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Ended, TunerError> {
        let Self { options, bank, baseline, space, first } = *self;
        let workspace = &field.workspace;
        let tunables = workspace.tunables();
        let Standing { session, progress, learned, turns, compiled_in, .. } = standing;
        let provenance = workspace.provenance();
        if options.stages.contains(&Stage::Kernel) {
            tracing::debug!(silent = ?field.coverage.silent(), visited = ?field.reference.visited, "what no case runs");
        }
        let proposer = MotifProposer {
            allow_rounding: options.allow_rounding || workspace.manifest.allow_rounding_changes,
            reach: if options.rewriting == Rewriting::OneByOne { Reach::Single } else { Reach::Together },
            at_once: workspace.options.jobs,
        };

        let mut earlier = Vec::new();
        let mut why = "configurations that the lock or the bank knows";
        if first && options.stages.contains(&Stage::Host) {
            earlier.extend(earlier_winners(options, baseline, space));
            let rules = rules(space, baseline);
            if !rules.is_empty() {
                why = "configurations that the lock or the bank knows, and rules for all sizes";
            }
            earlier.extend(rules);
            earlier.extend(settings_of_others(workspace, bank, space, baseline, &field.reference));
        }
        let mut scheduler = Scheduler::new(&options.stages);
        // What the lock and the bank know is tried before anything else, and is no evidence of what a search would bring.
        let mut known_first = (!earlier.is_empty()).then(|| Turn::of_known(Stage::Host, why, earlier.len() as u64));
        let launches: Vec<Taken<'_>> = field.baseline_profiles().values().flatten().map(Taken::by).collect();
        let ub_bytes = workspace.machine.parameters.ub_bytes as u64;
        let mut search = HostSearch::new(space, tunables, baseline, options.strategy, options.seed, earlier)
            .within(&bounds(space, baseline, &launches, ub_bytes));
        let host_may_search = options.stages.contains(&Stage::Host) && space.dimensions() > 0;
        let given = options.patches.as_ref().map(|patches| patches as &dyn Proposer);
        let rewrites = options.stages.contains(&Stage::Kernel);
        let further: Vec<&dyn Proposer> =
            options.further.iter().filter(|_| rewrites).map(|proposer| &**proposer as &dyn Proposer).collect();
        let proposers: Vec<&dyn Proposer> =
            given.into_iter().chain(further.iter().copied()).chain([&proposer as &dyn Proposer]).collect();
        let mut asked_last = BTreeSet::new();
        let mut last_stage = None;
        let mut idle_turns = 0;
        let mut host_had_turn = false;
        let mut gone_back = None;
        let mut tried_beside = BTreeSet::new();
        let mut doubted = progress.best.digest(tunables);
        let mut by_probe = false;
        let mut brought = Brought::default();
        let why = loop {
            if let Some(used_up) = session.used_up() {
                break used_up.to_owned();
            }
            if at_bound(&progress.best_times) {
                break "every case is within 1 % of its modelled bound".to_owned();
            }
            let idle = idle_turns >= IDLE_ROUNDS * options.stages.len();
            let beside = if idle && host_may_search && tried_beside.insert(progress.best.digest(tunables)) {
                search.try_beside(progress)
            } else {
                0
            };
            if beside > 0 {
                idle_turns -= options.stages.len();
                let why = "other values beside the best, one tunable at a time";
                known_first = Some(Turn::of_known(Stage::Host, why, beside));
            } else if idle {
                let may_go_back = options.rewriting == Rewriting::Successive && session.left() >= LEAST_WAY;
                let Some(motif) = may_go_back.then(|| progress.go_back()).flatten() else {
                    progress.keep_best();
                    if asked_last.insert(progress.best.digest(tunables)) {
                        let kernel = self.kernel_stage(field, &further, false, &provenance, progress.baseline_us);
                        if last_resort(kernel, session, progress, learned, emit).await? {
                            idle_turns = 0;
                            continue;
                        }
                    }
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
                emit(Event::StageSwitch(events::StageSwitch { from: last_stage, to: stage, reason }));
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
                    search.turn(*turns, session, progress, limits(HOST_TURN, PATIENCE), emit).await?;
                    if session.used() == before && alone {
                        break "the search space is exhausted".to_owned();
                    }
                }
                Stage::Host => {}
                Stage::Kernel => {
                    let had_turn = host_had_turn || scheduler.had_turn(Stage::Host);
                    let host_waits = options.stages.contains(&Stage::Host) && !had_turn;
                    let kernel = self.kernel_stage(field, &proposers, host_waits, &provenance, progress.baseline_us);
                    let limits = limits(KERNEL_TURN, u64::MAX);
                    kernel.run(session, progress, learned, limits, emit).await?;
                }
            }
            if of_scheduler {
                scheduler.learn(stage, before_us / progress.best_us, session.spent().since(spent));
            }
            idle_turns = if progress.best_us < before_us { 0 } else { idle_turns + usize::from(turn.is_long()) };
            *turns += 1;
            let best = progress.best.digest(tunables);
            // Another way than the best is looked at when it has led to something better.
            if best != doubted && session.left() > 0 && progress.is_best_of_all() {
                doubted = best;
                if let Some(reason) = doubt(progress, session.left()).await? {
                    by_probe = true;
                    break reason;
                }
                progress.note_held();
            }
            if options.stages.contains(&Stage::Host) && !learned.opened.is_empty() {
                brought = brought_along(workspace, progress, std::mem::take(&mut learned.opened));
                if !brought.tunables.is_empty() {
                    break "a rewrite brought constants along".to_owned();
                }
            }
        };
        *compiled_in = search.compiled_in();
        Ok(Ended { why, by_probe, brought })
    }

    /// The kernel stage on this field.
    fn kernel_stage<'stage>(
        &'stage self,
        field: &'stage Field,
        proposers: &'stage [&'stage dyn Proposer],
        keep_constants: bool,
        provenance: &'stage Provenance,
        baseline_us: f64,
    ) -> KernelStage<'stage> {
        KernelStage {
            tunables: field.workspace.tunables(),
            bank: self.bank,
            proposers,
            keep_constants,
            coverage: &field.coverage,
            beside: &field.beside,
            tiling: &field.tiling,
            rewriting: self.options.rewriting,
            baseline: (self.baseline, baseline_us),
            provenance,
            last_resort: false,
        }
    }
}

/// Where both stages are through: whoever proposes rewrites beside the catalogue goes on alone for a while. Returns whether that was
/// faster.
async fn last_resort(
    kernel: KernelStage<'_>,
    session: &mut Session,
    progress: &mut Progress,
    learned: &mut Learned,
    emit: &mut dyn FnMut(Event),
) -> Result<bool, TunerError> {
    let before_us = progress.best_us;
    let kernel = KernelStage { last_resort: true, ..kernel };
    if !kernel.proposers.is_empty() {
        kernel.run(session, progress, learned, Limits::alone(LAST_RESORT), emit).await?;
    }
    Ok(progress.best_us < before_us)
}

/// Whether nothing can make a case faster by much. A kernel is always as slow as its own instructions; that these are fewer is what
/// rewrites are for.
pub(super) fn at_bound(times: &[CaseTime]) -> bool {
    let is_at = |time: &CaseTime| !time.bound_by_work && time.task_us <= time.bound_us * AT_BOUND;
    !times.is_empty() && times.iter().all(is_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_its_own_keep_no_kernel_from_becoming_faster() {
        let time = |task_us: f64, bound_by_work: bool| CaseTime {
            name: String::new(),
            task_us,
            bound_us: 10.0,
            bound_by_work,
            measured: None,
        };
        assert!(at_bound(&[time(10.05, false)]));
        assert!(!at_bound(&[time(10.05, false), time(10.05, true)]), "scalar loops over elements are at their bound");
        assert!(!at_bound(&[time(10.2, false)]) && !at_bound(&[]));
    }
}
