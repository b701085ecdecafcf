//! Mining experience: remove one motif at a time from a strong kernel, measure, and keep what hurt.

use std::collections::BTreeMap;

use similar::TextDiff;

use super::TunerError;
use super::candidate::Candidate;
use super::evaluation::Outcome;
use super::evaluator::{References, Scope, Trialled};
use super::run::establish_baseline;
use super::workspace::Workspace;
use crate::aicore::Profile;
use crate::backend::longest;
use crate::experience::{
    Judgement, Origin, Provenance, Record, RewoundPatch, Verdict, features_of, judge, normalise, rewound_patches,
    symptoms_of,
};
use crate::motif::{self, Context, Counter, Motif};
use crate::report::event::RewindStep;
use crate::source::SourceTree;

/// What rewinding may do.
#[derive(Clone, Debug)]
pub struct RewindOptions {
    /// Most rewound candidates to evaluate.
    pub evaluations: u64,
}

/// What rewinding found.
#[derive(Clone, Debug, Default)]
pub struct RewindReport {
    /// Every removal with what it did.
    pub steps: Vec<RewindStep>,
    /// Records worth keeping: removals that hurt, and motifs that were there and did not matter.
    pub records: Vec<Record>,
}

/// A removal that slows more than this shows what nobody would write.
const STRAW_MAN: f64 = 50.0;

/// Rewinds the operator as it stands.
pub async fn rewind(workspace: &Workspace, options: &RewindOptions) -> Result<RewindReport, TunerError> {
    let baseline = workspace.baseline()?;
    let (strong, references) = establish_baseline(workspace, &baseline).await?;
    let Some(fast) = longest_profile(&strong) else {
        return Err(TunerError::Usage("no case is timed: rewinding has nothing to measure".to_owned()));
    };
    let weights = workspace.weights();
    let fast_us = strong.evaluation.objective(&weights).unwrap_or(fast.task_us);
    let context = Context::new(baseline.sources.clone(), workspace.known_values(), Some(fast.clone()));
    let mut report = RewindReport::default();
    let limit = usize::try_from(options.evaluations).unwrap_or(usize::MAX);
    for rewound in rewound_patches(&context, motif::all()).into_iter().take(limit) {
        let mut step = RewindStep {
            motif: rewound.motif.clone(),
            site: format!("{}:{}", rewound.site.file, rewound.site.line),
            gain: None,
            kept: false,
            detail: String::new(),
        };
        let Some(motif) = motif::by_id(&rewound.motif) else { continue };
        match slow_profile(workspace, &baseline, &rewound, &references).await {
            Err(reason) => step.detail = reason,
            Ok((slow, trialled)) => {
                let slow_us = trialled.evaluation.objective(&weights).unwrap_or(slow.task_us);
                let gain = slow_us / fast_us;
                step.gain = Some(gain);
                let judgement = judge(&slow, &fast, motif);
                if gain > STRAW_MAN {
                    step.detail = format!("{gain:.0}x is a straw man: nobody would write the slow form");
                } else {
                    let pair = Pair { slow: &slow, fast: &fast, slow_us, fast_us, judgement: &judgement };
                    let record = record_of(workspace, &context, &rewound, motif, &pair);
                    step.kept = judgement.verdict == Verdict::Kept;
                    step.detail = format!("{} ({})", record.id(), judgement.reason);
                    report.records.push(record);
                }
            }
        }
        report.steps.push(step);
    }
    Ok(report)
}

/// Profile of the kernel without the motif, verified like any candidate.
async fn slow_profile(
    workspace: &Workspace,
    baseline: &Candidate,
    rewound: &RewoundPatch,
    references: &References,
) -> Result<(Profile, Trialled), String> {
    let slow = baseline.with_patch(workspace.tunables(), &rewound.patch, "").map_err(|error| error.to_string())?;
    let plan = slow.plain_plan(workspace.tunables());
    let trialled = workspace.evaluator.try_plan(&plan, references, Scope::All, false).await;
    match (&trialled.evaluation.outcome, longest_profile(&trialled)) {
        (Outcome::Rejected(rejection), _) => Err(format!("the rewound kernel is not right: {rejection}")),
        (Outcome::Valid(_), None) => Err("no case is timed".to_owned()),
        (Outcome::Valid(_), Some(profile)) => Ok((profile, trialled)),
    }
}

/// Both ends of a rewind.
struct Pair<'a> {
    slow: &'a Profile,
    fast: &'a Profile,
    slow_us: f64,
    fast_us: f64,
    judgement: &'a Judgement,
}

fn record_of(
    workspace: &Workspace,
    fast: &Context,
    rewound: &RewoundPatch,
    motif: &dyn Motif,
    pair: &Pair<'_>,
) -> Record {
    // The rewind applied already once to find it, so it applies again.
    let slow_tree = fast.tree.apply(&rewound.patch).unwrap_or_else(|_| fast.tree.clone());
    let slow = fast.after(slow_tree);
    let counter = |counter: &Counter| (counter.name().to_owned(), [counter.read(pair.slow), counter.read(pair.fast)]);
    Record {
        motif: rewound.motif.clone(),
        verdict: pair.judgement.verdict,
        origin: Origin::Modelled,
        before_us: pair.slow_us,
        after_us: pair.fast_us,
        before_digest: slow.tree.digest(),
        after_digest: fast.tree.digest(),
        symptoms: symptoms_of(pair.slow),
        avoid_when: if pair.judgement.verdict == Verdict::NoGain { symptoms_of(pair.fast) } else { Vec::new() },
        conditions: rewound.site.conditions.clone(),
        provenance: Provenance {
            project: workspace
                .project
                .root
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            operator: workspace.manifest.operator.clone(),
            licence: workspace.licence(),
            machine: workspace.machine.name.clone(),
            machine_version: workspace.machine.version.clone(),
        },
        features: features_of(&slow),
        counters: motif.relieves().iter().map(counter).collect::<BTreeMap<_, _>>(),
        diff: normalised_diff(&slow.tree, &fast.tree),
    }
}

/// What the motif changes, on code without names of its own.
fn normalised_diff(slow: &SourceTree, fast: &SourceTree) -> String {
    let mut diffs = String::new();
    for (file, after) in fast.iter() {
        let before = slow.text(file).unwrap_or_default();
        if before != after {
            let (before, after) = (normalise(before), normalise(after));
            diffs.push_str(&TextDiff::from_lines(&before, &after).unified_diff().context_radius(2).to_string());
        }
    }
    diffs
}

fn longest_profile(trialled: &Trialled) -> Option<Profile> {
    longest(trialled.profiles.values().flatten()).map(|launch| launch.profile.clone())
}

impl Workspace {
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
