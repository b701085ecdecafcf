//! Who has the last word on a winner: the whole workload, built from clean, and whether it is worth writing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::candidate::Candidate;
use super::evaluation::{Outcome, speedup};
use super::evaluator::Evaluator;
use super::noise::fight;
use super::round::{Field, Standing};
use super::settle::WORTH_WRITING;
use super::taken_back::{TakenBack, said};
use super::trialled::{References, Scope, Trialled};
use super::workspace::Workspace;
use super::{CaseTime, TunerError};
use events::Event;
use search::{DuelOptions, DuelVerdict};

/// What it takes.
pub(super) struct LastWord<'a> {
    pub field: &'a Field,
    /// The workspace with the cases of the manifest only: what is locked is of these. Probes that joined are timed in front of what is
    /// only checked, so that trials have other numbers in the field's.
    pub workspace: &'a Workspace,
    pub judging: &'a Evaluator,
    pub references: &'a References,
    pub baseline: &'a Candidate,
}

/// What the last word was.
pub(super) struct Said {
    /// Its trials.
    pub winner: Trialled,
    /// What was verified, and how.
    pub verification: BTreeMap<String, String>,
    /// Standard error of the speed-up, where times are not exact.
    pub error: Option<f64>,
}

impl LastWord<'_> {
    /// Verifies the best candidate; the operator as it was takes its place where it is not worth writing.
    pub async fn on(
        &self,
        baseline_times: &[CaseTime],
        weights: &[f64],
        standing: &mut Standing,
        taken_back: &mut Vec<TakenBack>,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Said, TunerError> {
        let (workspace, tunables) = (self.workspace, self.workspace.tunables());
        let (mut winner, mut verification) = self.verified(&standing.progress.best).await?;
        if self.is_baseline(&standing.progress.best) {
            if self.field.noise > 0.0 {
                winner.evaluation.outcome = Outcome::Valid(baseline_times.to_vec());
            }
            return Ok(Said { winner, verification, error: None });
        }
        let mut error = None;
        if self.field.noise > 0.0
            && let Outcome::Valid(times) = &mut winner.evaluation.outcome
        {
            let (own, before) = (standing.progress.best.plain_plan(tunables), self.baseline.plain_plan(tunables));
            let limit = (1.0 / WORTH_WRITING, DuelOptions::FINAL);
            let fought = fight(&workspace.evaluator.on_one_device(), &own, &before, weights, limit).await?;
            let fought = fought.map_err(|rejection| TunerError::Winner(Box::new(rejection)))?;
            // What is not shown to be worth writing is not written.
            let shown = fought.verdict == DuelVerdict::Below;
            let ratios = fought.cases.iter().map(|ratio| if shown { *ratio } else { 1.0 });
            let now = baseline_times.iter().zip(ratios);
            *times = now.map(|(time, ratio)| CaseTime { task_us: time.task_us * ratio, ..time.clone() }).collect();
            error = Some(fought.error);
        }
        let speedup = speedup_over(baseline_times, &winner.evaluation.outcome, weights);
        if speedup < WORTH_WRITING {
            let why = format!("the gain is {:.2} % in all", (speedup - 1.0) * 100.0);
            taken_back.push(said(TakenBack { step: "everything".to_owned(), why }, emit));
            let (us, times) = (self.field.baseline_us, self.field.baseline_times.clone());
            standing.progress.settle(self.baseline.clone(), us, times);
            (winner, verification) = self.verified(self.baseline).await?;
            if error.is_some() {
                winner.evaluation.outcome = Outcome::Valid(baseline_times.to_vec());
            }
        }
        Ok(Said { winner, verification, error })
    }

    fn is_baseline(&self, candidate: &Candidate) -> bool {
        candidate.digest(self.workspace.tunables()) == self.baseline.digest(self.workspace.tunables())
    }

    /// Builds the winner from clean, exactly as it would be written back, and runs everything once more. Of the operator as it was nothing
    /// is written: what the run built of it is what there is.
    async fn verified(&self, winner: &Candidate) -> Result<(Trialled, BTreeMap<String, String>), TunerError> {
        let workspace = self.workspace;
        let mut evaluator = self.judging.following();
        let is_written = !self.is_baseline(winner);
        let folder = || tempfile::Builder::new().prefix("clean-").tempdir_in(&workspace.work_directory);
        let clean = is_written.then(folder).transpose()?;
        if let Some(clean) = &clean {
            evaluator.builder = Arc::new(workspace.evaluator.builder.in_directory(clean.path())?);
        }
        let plan = winner.plain_plan(workspace.tunables());
        let trialled = evaluator.try_plan(&plan, self.references, Scope::All, true).await?;
        if let Outcome::Rejected(rejection) = trialled.evaluation.outcome {
            return Err(TunerError::Winner(Box::new(rejection)));
        }
        let digests = workspace.verification_digests(&trialled.outputs);
        workspace.keep_outputs(&trialled.outputs, &digests)?;
        Ok((trialled, digests))
    }
}

fn speedup_over(before: &[CaseTime], after: &Outcome, weights: &[f64]) -> f64 {
    let Outcome::Valid(after) = after else { return 1.0 };
    speedup(before, after, weights)
}
