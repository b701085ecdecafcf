//! What a queue hands out holds anything at all, on a device whatever an earlier tensor left there. A candidate runs with garbage in it, so
//! that it cannot lean on that; where the operator as it stands does, a candidate may as well.

use super::TrialError;
use super::evaluator::Evaluator;
use super::plan::Plan;
use super::standard::{LeansOnTensors, Standard};
use super::workload::Trial;
use backend::Execution;
use verify::{Reason, Rejection};

impl Evaluator {
    /// Whether queues hand out garbage: the simulator's, to candidates, unless the operator as it stands needs what is there. On a device
    /// nobody can.
    pub(super) fn hands_out_garbage(&self) -> bool {
        self.may_have_handed_out_garbage() && !self.leans_on_tensors.is_seen()
    }

    /// Whether a run that has ended may have had garbage in its tensors. That the operator as it stands leans on them may have become known
    /// beside it.
    pub(super) fn may_have_handed_out_garbage(&self) -> bool {
        let of_candidate = matches!(self.standard, Standard::Candidate(_)) && !self.is_pristine_unknown();
        of_candidate && self.backend.capabilities().devices == 0 && !self.leans_on_tensors.is_always()
    }

    /// The same with tensors as earlier ones left them.
    pub(super) fn leaving_tensors(&self) -> Self {
        let mut leaving = self.clone();
        leaving.leans_on_tensors = LeansOnTensors::always();
        leaving
    }

    /// Runs a candidate that was wrong once more, with tensors as earlier ones left them: `None` if that changes nothing. If it is
    /// right then, the operator as it stands has to be one that needs it.
    pub(super) async fn run_as_tensors_were_left(
        &self,
        plan: &Plan,
        trial: &Trial,
        right: &(dyn Fn(&Execution) -> Result<(), Rejection> + Sync),
    ) -> Result<Option<Execution>, TrialError> {
        if !self.may_have_handed_out_garbage() {
            return Ok(None);
        }
        let kept = self.leaving_tensors().run_trial(plan, trial, true).await?;
        if right(&kept).is_err() {
            return Ok(None);
        }
        if self.leans_on_tensors.is_seen() {
            return Ok(Some(kept));
        }
        let own = self.run_trial(&self.pristine_plan(plan), trial, true).await?;
        if right(&own).is_ok() {
            let label = trial.label(&self.manifest.cases);
            let detail =
                "the result depends on what a tensor that AllocTensor hands out was left with, which nobody promises";
            return Err(Rejection::new(Reason::WrongResult, &label, detail).into());
        }
        self.leans_on_tensors.see();
        Ok(Some(kept))
    }
}
