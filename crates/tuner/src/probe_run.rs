//! One candidate on one probe.

use super::TunerError;
use super::evaluator::Evaluator;
use super::known::{KnownFinding, KnownFindings};
use super::noise::{Timing, ToCome};
use super::plan::Plan;
use super::trial_error::Judgeable;
use super::trialled::visit;
use super::workload::{Trial, Workload};
use aicore::HazardKind;
use backend::Execution;
use motif::VisitedLines;
use verify::Rejection;

/// How a run of a probe ended.
pub(super) type Ran = Result<ProbeRun, Rejection>;

/// What a candidate did on one probe.
#[derive(Clone, Debug)]
pub(super) struct ProbeRun {
    /// Its time, in microseconds.
    pub us: f64,
    /// Hazards that did not reject it.
    pub known: KnownFindings,
    /// What it wrote, where it ran with data.
    pub outputs: Option<Vec<Vec<u8>>>,
    /// The kernel has no branch for the case: it starts, and that is all.
    pub writes_nothing: bool,
    /// Where its buffers end in the fullest unified buffer, in bytes.
    pub buffers_end_bytes: u64,
    /// Lines that it came through, where the critical path was followed.
    pub visited: VisitedLines,
}

/// One probe of one candidate, independent of the set.
pub(super) struct Task {
    pub evaluator: Evaluator,
    pub trial: Trial,
    /// Right answers, where they are known.
    pub expected: Option<Vec<Vec<u8>>>,
    pub with_data: bool,
    /// Whether it is small enough to run with data where it cannot do without.
    pub may_have_data: bool,
}

impl ProbeRun {
    /// The hazard by which it leaves part of an output unwritten, where it moves what is no whole block: it does not take such lengths, and
    /// what another operator does with them tells nothing.
    pub fn no_whole_block(&self) -> Option<&str> {
        let first = |kind: HazardKind| self.known.findings.iter().find(|finding| finding.hazard.kind == kind);
        first(HazardKind::UnwrittenOutput).and_then(|_| Some(first(HazardKind::Misaligned)?.hazard.message.as_str()))
    }
}

impl Timing for Task {
    fn time<'a>(&'a self, plan: &'a Plan) -> ToCome<'a> {
        Box::pin(async move {
            let ran = match self.with_data {
                true => self.evaluator.run_trial(plan, &self.trial, false).await.judged()?,
                false => match self.evaluator.time_trial(plan, &self.trial).await.judged()? {
                    Ok(Ok(execution)) => Ok(execution),
                    // Its data were made when it ran for the first time.
                    Ok(Err(_)) => self.evaluator.run_trial(plan, &self.trial, false).await.judged()?,
                    Err(rejection) => Err(rejection),
                },
            };
            Ok(ran.map(|execution| vec![execution.task_us()]))
        })
    }
}

impl Task {
    /// `None` where the data decide what the operator does, and there are too many of them.
    pub async fn run(&self, plan: &Plan) -> Result<Option<Ran>, TunerError> {
        let mut known = KnownFindings::of(&plan.sources);
        if !self.with_data {
            match self.evaluator.time_trial(plan, &self.trial).await.judged()? {
                Err(rejection) => return Ok(Some(Err(rejection))),
                Ok(Ok(execution)) => {
                    let judged = self.evaluator.judge(plan, &self.trial, &execution);
                    return Ok(Some(judged.map(|()| self.read(execution, known, false))));
                }
                Ok(Err(_)) if !self.may_have_data => return Ok(None),
                Ok(Err(_)) => Workload::make_inputs(&self.evaluator.manifest, &self.trial)?,
            }
        }
        let run = self.evaluator.run_judged(plan, &self.trial, self.expected.as_ref(), &mut known).await;
        Ok(Some(run.judged()?.map(|execution| self.read(execution, known, true))))
    }

    fn read(&self, execution: Execution, mut known: KnownFindings, with_data: bool) -> ProbeRun {
        let manifest = &self.evaluator.manifest;
        known.note(&manifest.cases[self.trial.case].name, &execution, &manifest.allow);
        let us = execution.task_us();
        let written: u64 = execution.launches.iter().map(|launch| launch.profile.gm_write_bytes).sum();
        let unwritten = |known: &KnownFinding| known.hazard.kind == HazardKind::UnwrittenOutput;
        let writes_nothing = written == 0 && known.findings.iter().any(unwritten);
        let ends = execution.launches.iter().map(|launch| launch.profile.buffers_end_bytes);
        let buffers_end_bytes = ends.max().unwrap_or(0);
        let mut visited = VisitedLines::new();
        visit(&mut visited, &execution);
        let outputs = with_data.then_some(execution.outputs);
        ProbeRun { us, known, outputs, writes_nothing, buffers_end_bytes, visited }
    }
}
