//! Mining experience: remove motifs from a strong kernel, one at a time and in chains, and worsen its settings; measure, and keep
//! what hurt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::TunerError;
use super::baseline::follow_baseline;
use super::candidate::Candidate;
use super::evaluation::Outcome;
use super::evaluator::Evaluator;
use super::experience::Pair;
use super::journal::{Entry, Journal, Opened};
use super::plan::Plan;
use super::removal::{Removal, Rewound};
use super::settings::rewound_settings;
use super::trialled::{References, Scope, Trialled};
use super::workspace::Workspace;
use aicore::Profile;
use backend::longest;
use build::Digest;
use events::{RewindStep, RewindYield};
use experience::{Bank, Record, Verdict, judge, rewound_patches, symptoms_of};
use motif::{self, Context, Coverage, LocalMotif, TilingStructure};
use proposer::{Asked, History, Note, Rewinder, Standing};
use source::SourceTree;
use source::facts::KnownValues;
use source::parse::SyntaxForest;

/// What rewinding may do.
#[derive(Clone, Debug, Default)]
pub struct RewindOptions {
    /// Most rewound candidates to evaluate.
    pub evaluations: u64,
    /// Most sites of one motif to rewind in one kernel.
    pub sites: usize,
    /// Motifs that may be missing at the same time: 1 takes each out of the strong kernel only.
    pub chain: u32,
    /// Continue from what an interrupted command left.
    pub resume: bool,
    /// Local motifs beside the catalogue's, by name.
    pub local: Vec<(String, Arc<LocalMotif>)>,
    /// Who takes optimisations out beside them, of the kernel as it stands: it may have a quarter of the evaluations, and what is left.
    pub rewinder: Option<Arc<dyn Rewinder>>,
}

/// What rewinding found.
#[derive(Clone, Debug, Default)]
pub struct RewindReport {
    /// Every removal with what it did.
    pub steps: Vec<RewindStep>,
    /// Records worth keeping: removals that hurt, and motifs that were there and did not matter.
    pub records: Vec<Record>,
    /// What each motif yielded.
    pub yields: Vec<RewindYield>,
    /// What the user should hear.
    pub notes: Vec<Note>,
}

/// A removal that slows more than this shows what nobody would write.
const STRAW_MAN: f64 = 50.0;
/// One of so many evaluations is kept for whoever takes optimisations out beside the motifs.
const SHARE_OF_REWINDER: usize = 4;
/// Kernels with a motif missing that the next links of a chain start from.
const LINKS: usize = 4;

/// A kernel that motifs are taken out of.
#[derive(Clone)]
struct Kernel {
    candidate: Candidate,
    profile: Profile,
    us: f64,
    /// Motifs that are missing already.
    missing: Vec<String>,
}

/// One rewound kernel as it was tried, so that it is not tried twice.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tried {
    key: String,
    /// Objective in microseconds and the longest launch's profile, or why it is not right.
    result: Result<(f64, Profile), String>,
}

impl Entry for Tried {
    fn key(&self) -> String {
        self.key.clone()
    }
}

/// Rewinds the operator as it stands.
pub async fn rewind(workspace: &Workspace, options: &RewindOptions) -> Result<RewindReport, TunerError> {
    let baseline = workspace.baseline()?;
    let (strong, references) = follow_baseline(workspace, &baseline).await?;
    let coverage = Coverage::of(&SyntaxForest::parse(&baseline.sources), &strong.visited);
    let Some(profile) = longest_profile(&strong) else {
        return Err(TunerError::Usage("no case is timed: rewinding has nothing to measure".to_owned()));
    };
    let us = strong.evaluation.objective(&workspace.weights()).unwrap_or(profile.task_us);
    let evaluations = usize::try_from(options.evaluations).unwrap_or(usize::MAX);
    let asked = options.rewinder.as_ref().map_or(0, |rewinder| rewinder.most() as usize);
    let reserved = asked.min((evaluations / SHARE_OF_REWINDER).max(1)).min(evaluations);
    let path = workspace.work_directory.join("rewind.jsonl");
    let (journal, _): (_, Opened) = Journal::open(&path, &inputs(workspace, &baseline), options.resume)
        .map_err(|source| TunerError::Journal { source })?;
    let mut miner = Miner {
        workspace,
        // As many candidates run at once as there are jobs.
        evaluator: workspace.evaluator.against(&strong).with_trials_at_once(1),
        options,
        references: Arc::new(references),
        coverage,
        beside: Arc::new(workspace.included_beside()),
        tiling: workspace.evaluator.tiling_structures(&baseline.plain_plan(workspace.tunables())).await,
        journal: Arc::new(journal),
        left: evaluations - reserved,
        seen: BTreeSet::new(),
        report: RewindReport::default(),
    };
    let strong = Kernel { candidate: baseline, profile, us, missing: Vec::new() };
    miner.worsen_settings(&strong).await?;
    let mut frontier = vec![strong.clone()];
    for _ in 0..options.chain.max(1) {
        let mut next = Vec::new();
        for kernel in &frontier {
            next.extend(miner.screen(kernel).await?);
        }
        // What hurt most is what a first version most likely lacks.
        next.sort_by(|left, right| right.us.total_cmp(&left.us).then_with(|| left.missing.cmp(&right.missing)));
        next.truncate(LINKS);
        frontier = next;
    }
    miner.left += reserved;
    if let Some(rewinder) = &options.rewinder {
        miner.by_asking(&**rewinder, &strong).await?;
    }
    let mut report = miner.report;
    report.yields = yields(&report.steps);
    Ok(report)
}

/// What the results depend on.
fn inputs(workspace: &Workspace, baseline: &Candidate) -> String {
    let parts = [
        env!("CARGO_PKG_VERSION"),
        &baseline.digest(workspace.tunables()),
        &workspace.manifest_text,
        &workspace.sdk.digest,
        &workspace.machine.digest(),
        &format!("{:?}", workspace.cases),
    ];
    Digest::new("rewind 1").texts(parts).finish()
}

struct Miner<'a> {
    workspace: &'a Workspace,
    /// Judges by what the strong kernel has.
    evaluator: Evaluator,
    options: &'a RewindOptions,
    references: Arc<References>,
    coverage: Coverage,
    beside: Arc<SourceTree>,
    tiling: Vec<TilingStructure>,
    journal: Arc<Journal<Tried>>,
    left: usize,
    /// Digests of kernels that were tried: two orders of the same removals are one kernel.
    seen: BTreeSet<String>,
    report: RewindReport,
}

impl Miner<'_> {
    /// Takes every motif out of a kernel, one at a time. Returns the kernels that got slower as they should.
    async fn screen(&mut self, fast: &Kernel) -> Result<Vec<Kernel>, TunerError> {
        let tunables = self.workspace.tunables();
        let context = self.context(fast);
        let catalogue = rewound_patches(&context, motif::all()).into_iter().map(Rewound::of_catalogue);
        let local = self.options.local.iter().flat_map(|(name, motif)| {
            let rewinds = motif.rewinds(&context).into_iter();
            let relieves = motif.form().relieves;
            rewinds.map(|(site, patch)| Rewound::of_local(name, relieves, &site, patch)).collect::<Vec<_>>()
        });
        let rewinds = in_turn(catalogue.chain(local), self.options.sites).into_iter();
        let wanted = rewinds.filter_map(|Rewound { removal, patch }| {
            context.admit(&patch).ok()?;
            let slow = fast.candidate.with_patch(tunables, &patch, "").ok()?;
            Some((removal, slow))
        });
        self.slow_down(&context, fast, wanted).await
    }

    /// What is known of a kernel.
    fn context(&self, kernel: &Kernel) -> Context {
        let (sources, profile) = (kernel.candidate.sources.clone(), kernel.profile.clone());
        Context::new(sources, KnownValues::default(), Some(profile))
            .with_coverage(&self.coverage)
            .with_beside(Arc::clone(&self.beside))
            .with_tiling(self.tiling.clone())
    }

    /// Takes out of the strong kernel what somebody says that may be taken out, one after the other: each is told what became of those
    /// before.
    async fn by_asking(&mut self, rewinder: &dyn Rewinder, strong: &Kernel) -> Result<(), TunerError> {
        let (context, bank, history) = (self.context(strong), Bank::shipped(), History::default());
        let asked = Asked {
            context: &context,
            profile: Some(&strong.profile),
            bank: &bank,
            history: &history,
            keep_constants: false,
            unlikely: false,
            standing: Standing::default(),
        };
        while self.left > 0 {
            let next = rewinder.next(&asked).map_err(TunerError::Usage)?;
            self.report.notes.extend(rewinder.notes());
            let Some(removal) = next else { break };
            let became = match Rewound::of_rewinder(&context, &removal) {
                Err(why) => {
                    self.report.notes.push(not_tried(&removal.title, &why));
                    why
                }
                Ok(Rewound { removal, patch }) => {
                    let slow = strong.candidate.with_patch(self.workspace.tunables(), &patch, "");
                    let before = self.report.steps.len();
                    self.slow_down(&context, strong, slow.ok().map(|slow| (removal, slow)).into_iter()).await?;
                    let step = self.report.steps.get(before);
                    step.map_or_else(|| "the same kernel was tried before".to_owned(), said_of)
                }
            };
            rewinder.hear(&became);
        }
        self.report.notes.extend(rewinder.notes());
        Ok(())
    }

    /// Makes every setting of the strong kernel worse, one at a time.
    async fn worsen_settings(&mut self, strong: &Kernel) -> Result<(), TunerError> {
        let space = self.workspace.space()?;
        let (configuration, machine) = (&strong.candidate.configuration, &self.workspace.machine);
        let filled_bytes = strong.profile.buffers_end_bytes;
        let tunables = self.workspace.tunables();
        let rewinds = rewound_settings(&space, configuration, filled_bytes, machine).into_iter();
        let wanted = rewinds.filter_map(|rewound| {
            let slow = strong.candidate.with_configuration(tunables, &rewound.configuration).ok()?;
            let removal = Removal {
                what: rewound.kind.id().to_owned(),
                place: rewound.tunable,
                conditions: Vec::new(),
                relieves: rewound.kind.relieves().to_vec(),
                setting: Some(rewound.setting),
            };
            Some((removal, slow))
        });
        let context =
            Context::new(strong.candidate.sources.clone(), KnownValues::default(), Some(strong.profile.clone()));
        self.slow_down(&context, strong, wanted).await?;
        Ok(())
    }

    /// Tries what the budget allows of the kernels that should be slower. Returns those that are, as they should.
    async fn slow_down(
        &mut self,
        context: &Context,
        fast: &Kernel,
        wanted: impl Iterator<Item = (Removal, Candidate)>,
    ) -> Result<Vec<Kernel>, TunerError> {
        let (mut trying, mut plans) = (Vec::new(), Vec::new());
        for (removal, slow) in wanted {
            if plans.len() == self.left {
                break;
            }
            let plan = slow.plain_plan(self.workspace.tunables());
            if self.seen.insert(plan.digest.clone()) {
                plans.push(plan);
                trying.push((removal, slow));
            }
        }
        self.left -= plans.len();
        let tried = self.try_all(plans).await?;
        let mut slower = Vec::new();
        for ((removal, slow), tried) in trying.into_iter().zip(tried) {
            let step = self.judge(context, fast, &removal, &slow, &tried.result);
            if let (true, Ok((us, profile))) = (step.kept, tried.result) {
                let missing = fast.missing.iter().cloned().chain([removal.what]).collect();
                slower.push(Kernel { candidate: slow, profile, us, missing });
            }
            self.report.steps.push(step);
        }
        Ok(slower)
    }

    /// What a removal taught.
    fn judge(
        &mut self,
        context: &Context,
        fast: &Kernel,
        removal: &Removal,
        slow: &Candidate,
        result: &Result<(f64, Profile), String>,
    ) -> RewindStep {
        let mut step = RewindStep {
            motif: removal.what.clone(),
            site: removal.place.clone(),
            missing: fast.missing.clone(),
            gain: None,
            kept: false,
            detail: String::new(),
        };
        let (slow_us, profile) = match result {
            Err(reason) => {
                step.detail.clone_from(reason);
                return step;
            }
            Ok((us, profile)) => (*us, profile),
        };
        let gain = slow_us / fast.us;
        step.gain = Some(gain);
        if gain > STRAW_MAN {
            step.detail = format!("{gain:.0}x is a straw man: nobody would write the slow form");
            return step;
        }
        let judgement = judge(gain, profile, &fast.profile, &removal.relieves);
        let pair = Pair {
            slow: &context.after(slow.sources.clone()),
            fast: &fast.candidate.sources,
            slow_us,
            fast_us: fast.us,
            slow_profile: Some(profile),
            fast_profile: Some(&fast.profile),
        };
        let useless = judgement.verdict == Verdict::NoGain;
        let avoid_when = if useless { symptoms_of(&fast.profile) } else { Vec::new() };
        let provenance = self.workspace.provenance();
        let mut record = pair.record(&provenance, &removal.what, judgement.verdict, &removal.conditions, avoid_when);
        record.setting = removal.setting;
        step.kept = judgement.verdict == Verdict::Kept;
        step.detail = format!("{} ({})", record.id(), judgement.reason);
        self.report.records.push(record);
        step
    }

    /// Tries the plans, as many at once as there are jobs; results stand in the order of the plans.
    async fn try_all(&self, plans: Vec<Plan>) -> Result<Vec<Tried>, TunerError> {
        let permits = Arc::new(Semaphore::new(self.workspace.options.jobs.max(1)));
        let mut running: JoinSet<Result<(usize, Tried), TunerError>> = JoinSet::new();
        for (position, plan) in plans.into_iter().enumerate() {
            let (permits, journal) = (Arc::clone(&permits), Arc::clone(&self.journal));
            let (evaluator, references) = (self.evaluator.clone(), Arc::clone(&self.references));
            let weights = self.workspace.weights();
            running.spawn(async move {
                let _permit = permits.acquire().await;
                if let Some(known) = journal.get(&plan.digest) {
                    return Ok((position, known.clone()));
                }
                let result = verified(&evaluator, &plan, &references, &weights).await?;
                let tried = Tried { key: plan.digest, result };
                journal.append(&tried).map_err(|source| TunerError::Journal { source })?;
                Ok((position, tried))
            });
        }
        let mut tried = BTreeMap::new();
        while let Some(joined) = running.join_next().await {
            let (position, one) = joined.map_err(|error| TunerError::Internal(error.to_string()))??;
            tried.insert(position, one);
        }
        Ok(tried.into_values().collect())
    }
}

/// Rewinds in turns over the motifs, so that a small budget sees all of them; at most `sites` of each.
fn in_turn(rewinds: impl Iterator<Item = Rewound>, sites: usize) -> Vec<Rewound> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, Rewound)> = Vec::new();
    for rewound in rewinds {
        let count = counts.entry(rewound.removal.what.clone()).or_default();
        *count += 1;
        if *count <= sites {
            ranked.push((*count, rewound));
        }
    }
    ranked.sort_by_key(|(turn, _)| *turn);
    ranked.into_iter().map(|(_, rewound)| rewound).collect()
}

fn not_tried(title: &str, why: &str) -> Note {
    Note { code: "proposal-refused", message: format!("{title} is not tried: {why}"), help: None }
}

/// What became of a removal, for whoever proposed it.
fn said_of(step: &RewindStep) -> String {
    let times = step.gain.map(|gain| format!("{gain:.2}x as long without it; ")).unwrap_or_default();
    format!("{times}{}{}", if step.kept { "kept: " } else { "" }, step.detail)
}

/// Objective and profile of a kernel, verified like any candidate: a slow version that is wrong teaches nothing.
async fn verified(
    evaluator: &Evaluator,
    plan: &Plan,
    references: &References,
    weights: &[f64],
) -> Result<Result<(f64, Profile), String>, TunerError> {
    let trialled = evaluator.try_plan(plan, references, Scope::All, false).await?;
    Ok(match (&trialled.evaluation.outcome, longest_profile(&trialled)) {
        (Outcome::Rejected(rejection), _) => Err(format!("the rewound kernel is not right: {rejection}")),
        (Outcome::Valid(_), None) => Err("no case is timed".to_owned()),
        (Outcome::Valid(_), Some(mut profile)) => {
            // Long, and nothing asks for it.
            profile.timeline.clear();
            Ok((trialled.evaluation.objective(weights).unwrap_or(profile.task_us), profile))
        }
    })
}

fn yields(steps: &[RewindStep]) -> Vec<RewindYield> {
    let mut by_motif: BTreeMap<&str, RewindYield> = BTreeMap::new();
    for step in steps {
        let one = by_motif
            .entry(&step.motif)
            .or_insert_with(|| RewindYield { motif: step.motif.clone(), ..RewindYield::default() });
        one.tried += 1;
        one.right += u64::from(step.gain.is_some());
        one.kept += u64::from(step.kept);
        one.most = one.most.max(step.gain.filter(|_| step.kept).unwrap_or(0.0));
    }
    by_motif.into_values().collect()
}

fn longest_profile(trialled: &Trialled) -> Option<Profile> {
    longest(trialled.profiles.values().flatten()).map(|launch| launch.profile.clone())
}
