//! Mining experience: remove one motif at a time from a strong kernel, measure, and keep what hurt.

use std::sync::Arc;

use super::candidate::Candidate;
use super::evaluation::{Outcome, geometric_mean};
use super::evaluator::{Evaluator, References, Scope, Trialled};
use super::run::establish_baseline;
use super::workspace::Workspace;
use super::TunerError;
use crate::aicore::Profile;
use crate::experience::{Judgement, Provenance, Record, RecordDraft, judge, rewound};
use crate::motif::Context;
use crate::report::event::RewindStep;

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

/// Rewinds the operator as it stands.
pub async fn rewind(workspace: &Workspace, options: &RewindOptions) -> Result<RewindReport, TunerError> {
    let tunables = workspace.tunables();
    let baseline = workspace.baseline()?;
    let (strong, references) = establish_baseline(workspace, &baseline).await?;
    let references = Arc::new(references);
    let Some(fast) = longest(&strong) else {
        return Err(TunerError::Usage("no case is timed: rewinding has nothing to measure".to_owned()));
    };
    let weights = workspace.weights();
    let fast_us = objective(&strong, &weights).unwrap_or(fast.task_us);
    let context = Context::new(baseline.sources.clone(), workspace.known_values(), Some(fast.clone()));
    let mut report = RewindReport::default();
    for candidate in rewound(&context).into_iter().take(usize::try_from(options.evaluations).unwrap_or(usize::MAX)) {
        let mut step = RewindStep {
            motif: candidate.motif.clone(),
            site: format!("{}:{}", candidate.site.file, candidate.site.line),
            gain: None,
            kept: false,
            detail: String::new(),
        };
        let trialled = match baseline.with_patch(tunables, &candidate.patch) {
            Ok(slow) => try_slow(&workspace.evaluator, &slow, workspace, &references).await,
            Err(error) => {
                step.detail = error.to_string();
                report.steps.push(step);
                continue;
            }
        };
        match (&trialled.evaluation.outcome, longest(&trialled)) {
            (Outcome::Rejected(rejection), _) => step.detail = format!("the rewound kernel is not right: {rejection}"),
            (Outcome::Valid(_), None) => step.detail = "no profile".to_owned(),
            (Outcome::Valid(_), Some(slow)) => {
                let slow_us = objective(&trialled, &weights).unwrap_or(slow.task_us);
                step.gain = Some(slow_us / fast_us);
                let judgement = judge(&slow, &fast, &candidate.motif);
                step.kept = matches!(judgement, Judgement::Kept);
                let record = Record::from_draft(RecordDraft {
                    context: &context,
                    rewound: &candidate,
                    slow: &slow,
                    fast: &fast,
                    slow_us,
                    fast_us,
                    judgement: judgement.clone(),
                    provenance: Provenance {
                        operator: workspace.manifest.operator.clone(),
                        machine: workspace.machine.name().to_owned(),
                        machine_version: workspace.machine.version().to_owned(),
                        origin: "modelled".to_owned(),
                        licence: workspace.licence(),
                    },
                });
                step.detail = match &judgement {
                    Judgement::Kept => record.id.clone(),
                    Judgement::Rejected(reason) => reason.clone(),
                };
                report.records.push(record);
            }
        }
        report.steps.push(step);
    }
    Ok(report)
}

async fn try_slow(evaluator: &Evaluator, slow: &Candidate, workspace: &Workspace, references: &References) -> Trialled {
    evaluator.try_plan(&slow.plain_plan(workspace.tunables()), references, Scope::All, false).await
}

fn objective(trialled: &Trialled, weights: &[f64]) -> Option<f64> {
    match &trialled.evaluation.outcome {
        Outcome::Valid(times) => Some(geometric_mean(times.iter().map(|time| time.task_us), weights)),
        Outcome::Rejected(_) => None,
    }
}

fn longest(trialled: &Trialled) -> Option<Profile> {
    let launches = trialled.profiles.values().flatten();
    launches.map(|launch| launch.profile.clone()).max_by(|left, right| left.task_us.total_cmp(&right.task_us))
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
