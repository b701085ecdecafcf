//! What a tiling function makes of the timed cases, without running a kernel.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::TunerError;
use super::evaluator::Evaluator;
use super::plan::Plan;
use super::trial_error::Judgeable;
use backend::{KernelJob, TilingDecision};

impl Evaluator {
    /// What the tiling function decides of a plan for each timed case, in order; `None` where it refuses one. Kernels are built for so
    /// many cases `at_once`.
    pub(super) async fn decisions(
        &self,
        plan: &Plan,
        at_once: usize,
    ) -> Result<Option<Vec<TilingDecision>>, TunerError> {
        let timed = self.workload.trials.iter().filter(|trial| trial.timed);
        let prepared = timed.map(async |trial| Ok::<_, TunerError>(self.prepare_job(plan, trial).await.judged()?.ok()));
        let jobs: Vec<Option<KernelJob>> = stream::iter(prepared).buffered(at_once.max(1)).try_collect().await?;
        let Some(jobs) = jobs.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        self.backend.foresee(&jobs).await;
        let mut decisions = Vec::new();
        for job in &jobs {
            let Ok((decision, _)) = self.backend.tile(job).await else { return Ok(None) };
            decisions.push(decision);
        }
        Ok(Some(decisions))
    }
}
