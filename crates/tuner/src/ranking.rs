//! Quick trials of large cases. They are timed and judged without data, and run with data only by blocks that stand for all,
//! where the trace proves that there are such. That is enough to rank; what could become the best runs in full before it does.

use std::collections::{BTreeMap, BTreeSet};

use super::Champion;
use super::TrialError;
use super::evaluator::{Evaluator, NeedsData};
use super::known::KnownFindings;
use super::plan::Plan;
use super::race::Race;
use super::workload::Trial;
use aicore::BlockSample;
use backend::Execution;
use events::{BlocksRun, CaseBlocks, SampledCase};
use manifest::Layout;
use verify::DType;

impl Evaluator {
    /// Runs one timed trial as far as ranking needs it. Of a large case it also says which blocks ran with data; the execution has
    /// no outputs if these were not all.
    pub(super) async fn rank_trial(
        &self,
        plan: &Plan,
        trial: &Trial,
        expected: Option<&Vec<Vec<u8>>>,
        race: &Race<'_>,
    ) -> Result<(Execution, Option<CaseBlocks>), TrialError> {
        let case = &self.manifest.cases[trial.case].name;
        let Some(right) = expected.filter(|right| self.is_large(trial, right) && !race.whole.contains(case)) else {
            return Ok((self.run_judged(plan, trial, expected, &mut KnownFindings::default()).await?, None));
        };
        let reason = match self.time_trial(plan, trial).await? {
            Err(NeedsData(reason)) => reason,
            Ok(timed) => {
                self.judge(plan, trial, &timed)?;
                match timed.launches.first().and_then(|launch| launch.sample.clone()) {
                    Some(Ok(sample)) => {
                        let ran = BlocksRun::Sampled { blocks: sample.blocks.len() as u32, of: sample.of };
                        match self.run_sample(plan, trial, sample.clone(), right).await {
                            Ok(()) => return Ok((timed, Some(CaseBlocks { case: case.clone(), ran }))),
                            Err(TrialError::Rejected(rejection)) if self.may_have_handed_out_garbage() => {
                                if self.leaving_tensors().run_sample(plan, trial, sample, right).await.is_err() {
                                    return Err(TrialError::Rejected(rejection));
                                }
                                "it leans on what tensors were left with".to_owned()
                            }
                            Err(failure) => return Err(failure),
                        }
                    }
                    Some(Err(reason)) => reason.to_string(),
                    None => "nothing is launched".to_owned(),
                }
            }
        };
        let execution = self.run_judged(plan, trial, expected, &mut KnownFindings::default()).await?;
        Ok((execution, Some(CaseBlocks { case: case.clone(), ran: BlocksRun::All { reason } })))
    }

    /// Times and judges a trial without data, or runs it with data where these decide what the operator does.
    pub(super) async fn run_without_data(
        &self,
        plan: &Plan,
        trial: &Trial,
        known: &mut KnownFindings,
    ) -> Result<Execution, TrialError> {
        if let Ok(execution) = self.time_trial(plan, trial).await? {
            self.judge(plan, trial, &execution)?;
            return Ok(execution);
        }
        self.run_judged(plan, trial, None, known).await
    }

    /// Whether a trial's tensors are so large that leaving blocks out pays.
    fn is_large(&self, trial: &Trial, outputs: &[Vec<u8>]) -> bool {
        let Some(from) = self.manifest.sample_from_bytes.filter(|_| self.manifest.layout != Layout::DirectLaunch)
        else {
            return false;
        };
        let inputs = trial.inputs.iter().map(|input| {
            let bytes = input.dtype.parse::<DType>().map_or(1, |dtype| dtype.size_bytes() as u64);
            input.shape.iter().product::<u64>() * bytes
        });
        inputs.chain(outputs.iter().map(|output| output.len() as u64)).sum::<u64>() >= from
    }

    /// Runs some blocks and compares what they write.
    async fn run_sample(
        &self,
        plan: &Plan,
        trial: &Trial,
        mut sample: BlockSample,
        expected: &[Vec<u8>],
    ) -> Result<(), TrialError> {
        keep_whole_elements(&mut sample, |output| self.output_type(trial, output as usize).1.size_bytes() as u64);
        let mut right = vec![Vec::new(); expected.len()];
        let mut excused = vec![Vec::new(); expected.len()];
        for range in &sample.written {
            let (from, to) = (range.from as usize, (range.from + range.bytes) as usize);
            // What is not there is missing from the right answer, and so the comparison fails.
            let output = range.output as usize;
            if let Some(part) = expected.get(output).and_then(|output| output.get(from..to)) {
                let begin = right[output].len();
                excused[output].extend(self.unwritten_in_baseline(trial, output).iter().filter_map(|unwritten| {
                    let (start, end) = (unwritten.start.max(from), unwritten.end.min(to));
                    (start < end).then(|| begin + start - from..begin + end - from)
                }));
                right[output].extend_from_slice(part);
            }
        }
        let blocks = sample.blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let mut job = self.prepare_job(plan, trial).await?;
        job.trace = false;
        job.sample = Some(sample);
        let execution = self.run_job(plan, trial, &mut job).await?;
        let except = |output: usize| excused.get(output).map_or(&[][..], Vec::as_slice);
        self.agrees_except(trial, &execution, &right, &except).map_err(|mut rejection| {
            rejection.detail.push_str(&format!(" (counted over what blocks {blocks} write)"));
            rejection.into()
        })
    }
}

/// Cuts what is written to whole elements of each output.
fn keep_whole_elements(sample: &mut BlockSample, element_bytes: impl Fn(u32) -> u64) {
    for range in &mut sample.written {
        let size = element_bytes(range.output).max(1);
        let end = (range.from + range.bytes) / size * size;
        range.from = range.from.next_multiple_of(size);
        range.bytes = end.saturating_sub(range.from);
    }
    sample.written.retain(|range| range.bytes > 0);
}

/// Trials of a case that may run every block one after the other before sampling it is given up. Most of them find out early that
/// it needs data; finding out that blocks differ takes a tenth of a run.
const PATIENCE: u64 = 4;

/// What quick trials of large cases have shown so far. Depends on the evaluations alone, not on how many run at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampling {
    cases: BTreeMap<String, SampledCase>,
    /// Trials that ran every block since the last that did not, by case.
    misses: BTreeMap<String, u64>,
    /// Objective of the best when they were counted.
    against_us: f64,
}

impl Sampling {
    /// Cases that are not worth another try, until there is a new best candidate.
    pub(super) fn whole(&mut self, champion: &Champion) -> BTreeSet<String> {
        if champion.us.to_bits() != self.against_us.to_bits() {
            self.misses.clear();
            self.against_us = champion.us;
        }
        let given_up = self.misses.iter().filter(|(_, misses)| **misses >= PATIENCE);
        given_up.map(|(case, _)| case.clone()).collect()
    }

    /// Takes an evaluation into account.
    pub(super) fn note(&mut self, blocks: &[CaseBlocks]) {
        for CaseBlocks { case, ran } in blocks {
            let known = self.cases.entry(case.clone()).or_insert_with(|| SampledCase {
                name: case.clone(),
                blocks: 0,
                of: 0,
                sampled: 0,
                whole: 0,
                reason: None,
            });
            match ran {
                BlocksRun::Sampled { blocks, of } => {
                    (known.blocks, known.of) = (*blocks, *of);
                    known.sampled += 1;
                    self.misses.remove(case);
                }
                BlocksRun::All { reason } => {
                    known.whole += 1;
                    known.reason = Some(reason.clone());
                    *self.misses.entry(case.clone()).or_default() += 1;
                }
            }
        }
    }

    /// Large cases by name.
    pub(super) fn cases(&self) -> Vec<SampledCase> {
        self.cases.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aicore::WrittenRange;

    fn sampled() -> CaseBlocks {
        CaseBlocks { case: "big".to_owned(), ran: BlocksRun::Sampled { blocks: 2, of: 48 } }
    }

    fn whole() -> CaseBlocks {
        CaseBlocks { case: "big".to_owned(), ran: BlocksRun::All { reason: "cores wait for one another".to_owned() } }
    }

    #[test]
    fn a_case_is_given_up_until_there_is_a_new_champion() {
        let champion = |us: f64| Champion { us, ..Champion::default() };
        let mut sampling = Sampling::default();
        assert!(sampling.whole(&champion(10.0)).is_empty());
        sampling.note(&[sampled()]);
        for _ in 0..3 {
            sampling.note(&[whole()]);
        }
        assert!(sampling.whole(&champion(10.0)).is_empty());
        sampling.note(&[sampled()]);
        for _ in 0..4 {
            assert!(sampling.whole(&champion(10.0)).is_empty(), "one that could be sampled starts the count anew");
            sampling.note(&[whole()]);
        }
        assert_eq!(sampling.whole(&champion(10.0)), BTreeSet::from(["big".to_owned()]));
        assert!(sampling.whole(&champion(9.0)).is_empty());
        let [case] = &sampling.cases()[..] else { panic!("one case") };
        assert_eq!((case.blocks, case.of, case.sampled, case.whole), (2, 48, 2, 7));
        assert_eq!(case.reason.as_deref(), Some("cores wait for one another"));
    }

    #[test]
    fn journal_lines_say_which_blocks_ran() {
        let text = serde_json::to_string(&[sampled(), whole()]).unwrap();
        let expected = r#"[{"case":"big","sampled":{"blocks":2,"of":48}},{"case":"big","all":{"reason":"cores wait for one another"}}]"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Vec<CaseBlocks>>(&text).unwrap(), [sampled(), whole()]);
    }

    #[test]
    fn ranges_are_cut_to_whole_elements() {
        let range = |output, from, bytes| WrittenRange { output, from, bytes };
        let written = vec![range(0, 2, 31), range(0, 49, 2), range(1, 3, 5)];
        let mut sample = BlockSample { blocks: vec![0], of: 2, written };
        keep_whole_elements(&mut sample, |output| if output == 0 { 4 } else { 1 });
        assert_eq!(sample.written, [range(0, 4, 28), range(1, 3, 5)]);
    }
}
