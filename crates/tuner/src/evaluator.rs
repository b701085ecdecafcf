//! From a candidate to a verdict: build, run every trial, compare, judge.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;

use super::contradictions::Contradictions;
use super::known::KnownFindings;
use super::known_data::{Usual, note};
use super::measurements::Measurements;
use super::memory::most_kept_bytes;
use super::plan::Plan;
use super::race::Race;
use super::standard::{LeansOnTensors, Standard};
use super::trial_error::{Judgeable, TrialError};
use super::trialled::{References, Scope, Trialled, visit};
use super::workload::{Trial, Workload};
use super::{CaseTime, Outcome, TunerError};
use backend::{Backend, Description, Execution, KernelJob, ProgramJob, RunFailure};
use build::{BuildError, Builder, KernelLibraries, KernelVariant, TensorBinding, TilingClass, TilingField};
use discovery::cases::{DescribedOp, DescribedOps};
use events::CaseBlocks;
use manifest::{Layout, Manifest};
use motif::{TilingMember, TilingStructure};
use source::SourceTree;
use verify::{Draw, Reason, Rejection};

/// Why a trial cannot be timed without data: what reads which, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedsData(pub String);

/// How trials are run.
struct Asked<'race> {
    scope: Scope,
    keep_outputs: bool,
    /// What to stop against, where that is enough.
    race: Option<&'race Race<'race>>,
    /// Whether a case that does not count ends all of it.
    by_case: bool,
}

/// One trial, run.
struct Ran {
    execution: Execution,
    /// Blocks that ran with data, where not all did.
    blocks: Option<CaseBlocks>,
    /// What a baseline leaves unwritten in it.
    known: KnownFindings,
}

/// A trial that runs, with its place in the workload.
type RunningTrial<'a> = BoxFuture<'a, (&'a Trial, usize, Result<Ran, TrialError>)>;

/// Builds and runs candidates. Shared by all evaluations of a run.
#[derive(Clone)]
pub struct Evaluator {
    /// Compiles, with a cache.
    pub builder: Arc<Builder>,
    /// Runs.
    pub backend: Arc<dyn Backend>,
    /// Manifest of the project.
    pub manifest: Arc<Manifest>,
    /// Trials.
    pub workload: Arc<Workload>,
    /// Operator's root: direct-launch programs see its data files.
    pub root: PathBuf,
    /// Cases that are timed and judged without data where that is possible: large ones that joined a run.
    pub(super) without_data: Arc<BTreeSet<String>>,
    /// What it judges by.
    pub(super) standard: Standard,
    pub(super) pristine: Arc<SourceTree>, // the operator as it stands; empty where nothing is held against it
    described: Arc<Mutex<BTreeMap<PathBuf, Description>>>,
    /// Digests of sources, with their host libraries, that were seen to keep the operator's interface: every one of their trials asks.
    pub(super) faithful: Arc<Mutex<BTreeSet<(String, PathBuf)>>>,
    /// Tiling keys that cases were seen to take last.
    keys: Arc<Mutex<BTreeMap<String, u64>>>,
    configured: Arc<Mutex<BuilderByEntries>>,
    /// Bytes that unwritten memory is filled with: results that depend on it differ between the two.
    garbage: (u8, u8),
    /// What candidates may lean on, because the operator as it stands does.
    pub(super) leans_on_tensors: LeansOnTensors,
    /// What data makes of the times of the operator as it stands.
    pub(super) usual: Usual,
    /// Trials of one candidate that run at the same time.
    trials_at_once: usize,
    /// Whether no device is asked even where there is one.
    pub(super) model_alone: bool,
    /// Where it is written down that a device contradicts the simulator; where one is measured on.
    pub(super) contradictions: Option<Arc<Contradictions>>,
    /// Where times are kept with what they are of; where a device takes them.
    measurements: Option<Arc<Measurements>>,
}

/// Builders of differently configured trees, by their CMake entries.
type BuilderByEntries = BTreeMap<BTreeMap<String, String>, Arc<Builder>>;

impl Evaluator {
    /// An evaluator over these parts.
    pub fn new(
        builder: Arc<Builder>,
        backend: Arc<dyn Backend>,
        manifest: Arc<Manifest>,
        workload: Arc<Workload>,
        root: PathBuf,
    ) -> Self {
        Self {
            builder,
            backend,
            manifest,
            workload,
            root,
            without_data: Arc::default(),
            standard: Standard::Alone,
            pristine: Arc::default(),
            described: Arc::default(),
            faithful: Arc::default(),
            keys: Arc::default(),
            configured: Arc::default(),
            garbage: Draw::default().garbage(),
            leans_on_tensors: LeansOnTensors::default(),
            usual: Usual::default(),
            trials_at_once: 1,
            model_alone: false,
            contradictions: None,
            measurements: None,
        }
    }

    /// The same that reports what a device computes otherwise than the simulator.
    #[must_use]
    pub(super) fn reporting(self, contradictions: Option<Arc<Contradictions>>) -> Self {
        Self { contradictions, ..self }
    }

    /// The same that keeps what a device measures of which candidate.
    #[must_use]
    pub(super) fn keeping(self, measurements: Option<Arc<Measurements>>) -> Self {
        Self { measurements, ..self }
    }

    /// The same that runs so many trials of a candidate at the same time. Nothing but time depends on it.
    #[must_use]
    pub fn with_trials_at_once(self, trials: usize) -> Self {
        // Where times are measured, whoever runs beside is measured too.
        let trials = if self.backend.capabilities().exact { trials } else { 1 };
        Self { trials_at_once: trials.max(1), ..self }
    }

    /// The same that also follows the critical path, for what the report shows.
    #[must_use]
    pub fn following(&self) -> Self {
        Self { backend: self.backend.following(), ..self.clone() }
    }

    /// The same that keeps to one device, for times that are compared with one another.
    #[must_use]
    pub(super) fn on_one_device(&self) -> Self {
        match self.backend.pinned() {
            Some(backend) => Self { backend, ..self.clone() },
            None => self.clone(),
        }
    }

    /// The same with other bytes in unwritten memory.
    #[must_use]
    pub fn with_garbage(self, garbage: (u8, u8)) -> Self {
        Self { garbage, ..self }
    }

    /// What unwritten memory holds when a trial runs, and when it runs again.
    pub(super) fn garbage(&self, trial: &Trial) -> (u8, u8) {
        let (first, second) = self.garbage;
        if trial.seed.is_multiple_of(2) { (first, second) } else { (second, first) }
    }

    /// An evaluator of the operator as it stands: what it has of hazards is taken up where the manifest does not refuse it.
    #[must_use]
    pub fn of_baseline(&self) -> Self {
        Self { standard: Standard::Baseline, ..self.clone() }
    }

    /// An evaluator of candidates for a baseline: they may have no more hazards than it.
    #[must_use]
    pub fn against(&self, baseline: &Trialled) -> Self {
        // Times that are noisy themselves differ from data to data by chance.
        let is_told = self.backend.capabilities().model_is_exact();
        let usual = if is_told { Usual::of(&baseline.evaluation) } else { Usual::default() };
        Self { standard: Standard::Candidate(Arc::new(baseline.known.clone())), usual, ..self.clone() }
    }

    /// Tries a candidate. `references` is empty for the baseline, whose outputs are the reference then.
    pub async fn try_plan(
        &self,
        plan: &Plan,
        references: &References,
        scope: Scope,
        keep_outputs: bool,
    ) -> Result<Trialled, TunerError> {
        self.try_trials(plan, references, Asked { scope, keep_outputs, race: None, by_case: false }).await
    }

    /// Runs all trials. A case that does not count is noted as that, and the others are run all the same.
    pub async fn try_each_case(&self, plan: &Plan, references: &References) -> Result<Trialled, TunerError> {
        let asked = Asked { scope: Scope::All, keep_outputs: true, race: None, by_case: true };
        self.try_trials(plan, references, asked).await
    }

    /// Runs the timed cases one after the other, until those that were run leave no hope against the champion.
    /// Large ones run with data as far as ranking needs it.
    pub async fn race(&self, plan: &Plan, references: &References, race: &Race<'_>) -> Result<Trialled, TunerError> {
        let asked = Asked { scope: Scope::Timed, keep_outputs: false, race: Some(race), by_case: false };
        self.try_trials(plan, references, asked).await
    }

    async fn try_trials(&self, plan: &Plan, references: &References, asked: Asked<'_>) -> Result<Trialled, TunerError> {
        let Asked { scope, keep_outputs, race, by_case } = asked;
        let mut trialled = Trialled::of(plan, scope);
        let mut times = Vec::new();
        let mut kept_bytes = 0;
        let mut waiting: VecDeque<(usize, RunningTrial<'_>)> = VecDeque::new();
        for (index, trial) in self.workload.trials.iter().enumerate() {
            let wanted = match scope {
                Scope::Timed => trial.timed,
                Scope::Checks => !trial.timed,
                Scope::All => true,
            };
            if wanted {
                let run = async move { (trial, index, self.run_one(plan, index, trial, references, race).await) };
                waiting.push_back((trial.case, Box::pin(run)));
            }
        }
        // Looked at in their order, whoever ends first: what becomes of a candidate does not depend on how many run at once. The
        // first compiles what all of them need.
        let mut running = FuturesOrdered::new();
        running.extend(waiting.pop_front().map(|(_, run)| run));
        while let Some((trial, index, result)) = running.next().await {
            let case = &self.manifest.cases[trial.case];
            let result = result.judged()?;
            // What does not build for one case is no matter of cases.
            let of_case = |rejection: &Rejection| by_case && rejection.reason != Reason::BuildFailed;
            if result.as_ref().is_err_and(of_case) {
                waiting.retain(|(other, _)| *other != trial.case);
            }
            let free = self.trials_at_once.saturating_sub(running.len()).min(waiting.len());
            running.extend(waiting.drain(..free).map(|(_, run)| run));
            let execution = match result {
                Ok(Ran { execution, blocks, known }) => {
                    trialled.evaluation.blocks.extend(blocks);
                    trialled.known.join_unwritten(known);
                    execution
                }
                Err(rejection) if of_case(&rejection) => {
                    trialled.rejected.entry(case.name.clone()).or_insert(rejection);
                    continue;
                }
                Err(rejection) => {
                    trialled.evaluation.outcome = Outcome::Rejected(rejection);
                    return Ok(trialled);
                }
            };
            visit(&mut trialled.visited, &execution);
            trialled.known.note(&case.name, &execution, &self.manifest.allow);
            let of_case = (case.name.as_str(), case.verify_only);
            note(&mut trialled.evaluation.other_data, trial, of_case, &execution.launches);
            if trial.timed {
                times.push(CaseTime::of(&case.name, &execution.launches));
                if let Some(measurements) = &self.measurements {
                    let noted = measurements.note(plan, case, &execution.launches);
                    noted.map_err(|source| TunerError::Journal { source })?;
                }
                trialled.profiles.insert(case.name.clone(), execution.launches);
                if let Some(us) = race.and_then(|race| race.champion.beats(&times, race.weights)) {
                    trialled.evaluation.estimate_us = Some(us);
                    break;
                }
            }
            if keep_outputs {
                kept_bytes += execution.outputs.iter().map(|output| output.len() as u64).sum::<u64>();
                if kept_bytes > most_kept_bytes() {
                    return Err(TunerError::TooMuchOutput { case: case.name.clone(), bytes: kept_bytes });
                }
                trialled.outputs.insert(index, execution.outputs);
            }
        }
        if let Some(flattered) = self.usual.refuses(&times, &trialled.evaluation.other_data) {
            trialled.evaluation.outcome = Outcome::Rejected(flattered);
            return Ok(trialled);
        }
        Ok(trialled.ended(times, |index| self.manifest.cases[self.workload.trials[index].case].name.clone()))
    }

    /// Runs one trial as its case is run in this scope.
    async fn run_one(
        &self,
        plan: &Plan,
        index: usize,
        trial: &Trial,
        references: &References,
        race: Option<&Race<'_>>,
    ) -> Result<Ran, TrialError> {
        let mut known = KnownFindings::default();
        let expected = references.get(&index).or_else(|| self.workload.golden.get(&index));
        let (execution, blocks) = match race {
            _ if self.without_data.contains(&self.manifest.cases[trial.case].name) => {
                (self.run_without_data(plan, trial, &mut known).await?, None)
            }
            Some(race) => self.rank_trial(plan, trial, expected, race).await?,
            None => (self.run_judged(plan, trial, expected, &mut known).await?, None),
        };
        Ok(Ran { execution, blocks, known })
    }

    /// Runs one trial with the other pattern in unwritten memory and the blocks in the other order. Results that depend on
    /// one of them differ.
    pub async fn run_with_other_garbage(&self, plan: &Plan, trial: &Trial) -> Result<Execution, TrialError> {
        self.run_trial(plan, &Trial { seed: trial.seed + 1, ..trial.clone() }, true).await
    }

    /// Runs one trial without judging it, without data where its case goes without. `outputs` of a direct launch are large
    /// and only read where they are compared.
    pub async fn run_trial(&self, plan: &Plan, trial: &Trial, outputs: bool) -> Result<Execution, TrialError> {
        let case = &self.manifest.cases[trial.case];
        if self.manifest.layout == Layout::DirectLaunch {
            let program = self.build_direct(plan, &case.name).await?;
            let device = self.device_sources(plan);
            let job = ProgramJob {
                device: device.as_ref(),
                program: &program,
                arguments: &case.arguments,
                project: &self.root,
                knobs: &plan.knobs,
                dump: outputs,
            };
            return self.backend.run_program(&job).await.map_err(|failure| TrialError::of_run(failure, &case.name));
        }
        if self.without_data.contains(&case.name) {
            if let Ok(execution) = self.time_trial(plan, trial).await? {
                return Ok(execution);
            }
            let made = Workload::make_inputs(&self.manifest, trial);
            made.map_err(|error| TrialError::Machine(Box::new(error.into())))?;
        }
        let mut job = self.prepare_job(plan, trial).await?;
        self.run_job(plan, trial, &mut job).await
    }

    /// Runs one trial without data: its instructions are recorded and judged, and nothing is computed. `Err(NeedsData)` where
    /// the data decide what the operator does; then only a run with data can tell how long it takes.
    pub async fn time_trial(&self, plan: &Plan, trial: &Trial) -> Result<Result<Execution, NeedsData>, TrialError> {
        let case = &self.manifest.cases[trial.case].name;
        if self.manifest.layout == Layout::DirectLaunch {
            return Ok(Err(NeedsData("a program with its own main makes its data itself".to_owned())));
        }
        let mut job = self.prepare_job(plan, trial).await?;
        job.timing_only = true;
        match self.try_job(plan, trial, &mut job).await? {
            Err(RunFailure::NeedsData { reason, place }) => Ok(Err(NeedsData(format!("{reason}{}", place.suffix())))),
            other => other.map(Ok).map_err(|failure| TrialError::of_run(failure, case)),
        }
    }

    /// Libraries that the trials need, host library first, or the program of a direct launch.
    pub async fn artifacts(&self, plan: &Plan) -> Result<Vec<PathBuf>, TrialError> {
        let mut artifacts = Vec::new();
        for trial in &self.workload.trials {
            let found = if self.manifest.layout == Layout::DirectLaunch {
                vec![self.build_direct(plan, &self.manifest.cases[trial.case].name).await?]
            } else {
                let mut job = self.prepare_job(plan, trial).await?;
                if job.kernels.is_empty() && job.cube_kernels.is_empty() {
                    // Only the tiling function knows the key, so the kernel is run to learn it.
                    self.run_job(plan, trial, &mut job).await?;
                }
                let kernels = job.kernels.into_values().chain(job.cube_kernels.into_values());
                std::iter::once(job.host).chain(kernels).collect()
            };
            artifacts.extend(found.into_iter().filter(|path| !artifacts.contains(path)).collect::<Vec<_>>());
        }
        Ok(artifacts)
    }

    /// A trial as its operator's definition and a job whose outputs have shapes, for references that compute on both.
    pub(super) async fn described_job(
        &self,
        plan: &Plan,
        trial: &Trial,
    ) -> Result<(DescribedOp, KernelJob), TrialError> {
        let case = &self.manifest.cases[trial.case].name;
        let mut job = self.prepare_job(plan, trial).await?;
        let failed = |failure: RunFailure| TrialError::of_run(failure, case);
        let description = self.description(&job.host).await.map_err(failed)?;
        let op = DescribedOps::of(&description.ops).ops.into_iter().find(|op| op.kind == self.manifest.operator);
        let op = op.ok_or_else(|| {
            let detail = format!("the host library registers no operator {}", self.manifest.operator);
            TrialError::from(Rejection::new(Reason::BuildFailed, case, detail))
        })?;
        let (_, dims) = self.backend.tile(&job).await.map_err(failed)?;
        for (output, dims) in job.outputs.iter_mut().zip(dims) {
            output.shape = Some(dims);
        }
        Ok((op, job))
    }

    /// The structures that the host writes for the kernel of a candidate; none where the host's library does not build or say.
    pub(super) async fn tiling_structures(&self, plan: &Plan) -> Vec<TilingStructure> {
        if self.manifest.layout == Layout::DirectLaunch {
            return Vec::new();
        }
        let built = self.build(plan, "", |builder, plan| builder.host(&plan.sources).map(|artifact| artifact.path));
        let Ok(host) = built.await else { return Vec::new() };
        let Ok(description) = self.description(&host).await else { return Vec::new() };
        let operator = self.manifest.operator.as_str();
        let member = |field: TilingField| TilingMember { name: field.name, kind: field.kind, is_array: field.is_array };
        let structure = |class: TilingClass| TilingStructure {
            name: class.class,
            of_operator: class.op == operator,
            fields: class.fields.into_iter().map(member).collect(),
        };
        description.tiling_classes.into_iter().map(structure).collect()
    }

    /// Builds what is known to be needed before the tiling function ran.
    pub(super) async fn prepare_job(&self, plan: &Plan, trial: &Trial) -> Result<KernelJob, TrialError> {
        let case = &self.manifest.cases[trial.case];
        let host = self
            .build(plan, &case.name, |builder, plan| builder.host(&plan.sources).map(|artifact| artifact.path))
            .await?;
        self.keeps_interface(plan, &host, &case.name).await?;
        let variant = self.variant(&host, trial).await?;
        let mut job = KernelJob {
            operator: self.manifest.operator.clone(),
            host,
            inputs: trial.inputs.clone(),
            outputs: trial.outputs.clone(),
            attributes: case.attributes.clone(),
            knobs: plan.knobs.clone(),
            trace: true,
            poison: self.garbage(trial).0,
            // The order of blocks is nobody's promise: with two seeds, both directions are tried.
            blocks_reversed: !trial.seed.is_multiple_of(2),
            fresh_tensors: self.hands_out_garbage(),
            device: self.device_sources(plan),
            ..KernelJob::default()
        };
        // One kernel may serve every tiling key. Where it does not, the key is only known after tiling, and most likely the one
        // of the last time; if not, the runner says which kernel it misses.
        let all_keys = self.builder.kernel_serves_all_keys(&plan.sources, &variant);
        let key = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(&case.name).copied();
        if all_keys || key.is_some() {
            let key = key.filter(|_| !all_keys);
            let variant = KernelVariant { tiling_key: key.unwrap_or(0), ..variant };
            let kernel = self.kernel_of(plan, variant, &case.name).await?;
            job.add_kernel(key, kernel);
        }
        Ok(job)
    }

    /// Builds a kernel that keeps no more between launches than that of the operator as it stands.
    async fn kernel_of(&self, plan: &Plan, variant: KernelVariant, case: &str) -> Result<KernelLibraries, TrialError> {
        let wanted = variant.clone();
        let kernel = self.build(plan, case, move |builder, plan| builder.kernel(&plan.sources, &wanted)).await?;
        self.kernel_keeps_habits(plan, &variant, &kernel, case).await?;
        Ok(kernel)
    }

    /// Runs a job, and once more with the kernel that it missed.
    pub(super) async fn run_job(
        &self,
        plan: &Plan,
        trial: &Trial,
        job: &mut KernelJob,
    ) -> Result<Execution, TrialError> {
        let case = &self.manifest.cases[trial.case].name;
        self.try_job(plan, trial, job).await?.map_err(|failure| TrialError::of_run(failure, case))
    }

    async fn try_job(
        &self,
        plan: &Plan,
        trial: &Trial,
        job: &mut KernelJob,
    ) -> Result<Result<Execution, RunFailure>, TrialError> {
        let case = &self.manifest.cases[trial.case];
        match self.backend.run_operator(job).await {
            Err(RunFailure::KernelMissing(key)) => {
                let variant = KernelVariant { tiling_key: key, ..self.variant(&job.host, trial).await? };
                let kernel = self.kernel_of(plan, variant, &case.name).await?;
                job.add_kernel(Some(key), kernel);
                self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(case.name.clone(), key);
                Ok(self.backend.run_operator(job).await)
            }
            other => Ok(other),
        }
    }

    /// The kernel of a trial with tiling key 0.
    async fn variant(&self, host: &std::path::Path, trial: &Trial) -> Result<KernelVariant, TrialError> {
        let case = &self.manifest.cases[trial.case];
        let description = self.description(host).await.map_err(|failure| TrialError::of_run(failure, &case.name))?;
        let project = self.builder.project();
        let Some(entry) = project.entry_named(&self.manifest.kernel).cloned() else {
            let detail = format!("there is no kernel {} in the sources", self.manifest.kernel);
            return Err(Rejection::new(Reason::BuildFailed, &case.name, detail).into());
        };
        let binding = |name: &String, dtype: &String, format: &String| TensorBinding {
            name: name.clone(),
            dtype: dtype.clone(),
            format: format.clone(),
        };
        // A kernel knows the dtypes of inputs that a case leaves out, too.
        let ops = DescribedOps::of(&description.ops).ops;
        let (inputs, outputs) = match ops.iter().find(|op| op.kind == self.manifest.operator) {
            Some(op) if !op.inputs.is_empty() || !op.outputs.is_empty() => op.bindings(&trial.inputs, &trial.outputs),
            _ => (
                trial.inputs.iter().map(|tensor| binding(&tensor.name, &tensor.dtype, &tensor.format)).collect(),
                trial.outputs.iter().map(|tensor| binding(&tensor.name, &tensor.dtype, &tensor.format)).collect(),
            ),
        };
        Ok(KernelVariant {
            op_type: self.manifest.operator.clone(),
            entry,
            inputs,
            outputs,
            tiling_key: 0,
            tiling_classes: description.tiling_classes,
        })
    }

    /// What a host library registers, asked once per library.
    pub(super) async fn description(&self, host: &std::path::Path) -> Result<Description, RunFailure> {
        let known = |map: &Mutex<BTreeMap<PathBuf, Description>>| {
            map.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
        };
        if let Some(description) = known(&self.described) {
            return Ok(description);
        }
        let description = self.backend.describe(host).await?;
        self.described.lock().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), description.clone());
        Ok(description)
    }

    async fn build_direct(&self, plan: &Plan, case: &str) -> Result<PathBuf, TrialError> {
        self.build(plan, case, |builder, plan| builder.direct(&plan.sources).map(|artifact| artifact.path)).await
    }

    /// Compilation blocks, so it goes to a thread of its own.
    pub(super) async fn build<F, Built>(&self, plan: &Plan, case: &str, compile: F) -> Result<Built, TrialError>
    where
        F: FnOnce(&Builder, &Plan) -> Result<Built, BuildError> + Send + 'static,
        Built: Send + 'static,
    {
        let evaluator = self.clone();
        let plan = plan.clone();
        let built = tokio::task::spawn_blocking(move || {
            let builder = evaluator.builder_for(&plan.cmake)?;
            compile(&builder, &plan)
        });
        match built.await {
            Ok(Ok(built)) => Ok(built),
            Ok(Err(error)) => Err(TrialError::of_build(error, case)),
            Err(error) => Err(TrialError::Machine(Box::new(TunerError::Internal(error.to_string())))),
        }
    }

    /// The builder for CMake entries that a candidate sets: other entries need another configured tree.
    fn builder_for(&self, entries: &BTreeMap<String, String>) -> Result<Arc<Builder>, BuildError> {
        if entries.is_empty() {
            return Ok(Arc::clone(&self.builder));
        }
        let mut configured = self.configured.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(builder) = configured.get(entries) {
            return Ok(Arc::clone(builder));
        }
        let builder = Arc::new(self.builder.with_entries(entries)?);
        configured.insert(entries.clone(), Arc::clone(&builder));
        Ok(builder)
    }
}
