//! Cases that an operator survives: what `init` chose is run once, so that no command after it starts from a faulty baseline.

use std::collections::BTreeSet;
use std::time::Duration;

use super::TunerError;
use super::faulty_case::FaultyCase;
use super::judgement::rejects;
use aicore::HazardKind;
use backend::{Backend, JobOutput, KernelJob, LocatedHazard, Meter, RunFailure};
use build::{BuildErrorKind, Builder, TilingClass};
use discovery::cases::{Accepted, DescribedOp, traffic_bytes};
use manifest::HazardPolicy;
use project::KernelEntry;
use source::SourceTree;
use verify::{DType, compare, default_tolerance_of};

/// Processor time of runs after which the remaining cases are written as they are. What is found must not depend on what else the
/// machine does, nor on whether a kernel was compiled before.
const PATIENCE: Duration = Duration::from_secs(30);

/// Small cases that are tried where all larger ones took that long and failed.
const LAST_TRIES: usize = 3;

/// Bytes of all tensors up to which a case runs with data: every case that authors wrote is below.
pub(super) const WITH_DATA_BYTES: u64 = 32 << 20;

/// What runs cases of an operator.
pub(super) struct CaseTrial<'call> {
    pub builder: &'call Builder,
    pub backend: &'call dyn Backend,
    pub sources: &'call SourceTree,
    pub op: &'call DescribedOp,
    pub entry: &'call KernelEntry,
    pub tiling_classes: &'call [TilingClass],
    /// What runs and questions have taken.
    pub meter: Meter,
}

/// What became of the cases that were chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tried {
    /// Positions of the cases to write.
    pub chosen: Vec<usize>,
    /// Whether the operator is at fault at every case that was tried.
    pub all_at_fault: bool,
    /// Cases at which the operator is at fault, or they are.
    pub faults: Vec<FaultyCase>,
    /// Why cases are written that were not run.
    pub unrun: Option<String>,
}

/// How a case ended.
enum Ending {
    Fine {
        us: f64,
    },
    Fault(String),
    /// No case with this kernel can be run.
    Unbuilt(String),
}

impl CaseTrial<'_> {
    /// Runs the cases that `choose` picks, and picks others for those at which the operator is at fault. Where it is at
    /// fault in every case, the first choice stands: the user has to see it.
    pub async fn select(
        &self,
        accepted: &[Accepted],
        choose: impl Fn(&[Accepted]) -> Vec<usize>,
    ) -> Result<Tried, TunerError> {
        let before = self.meter.spent();
        let mut tried = Tried::default();
        let first = choose(accepted);
        let mut left: Vec<usize> = (0..accepted.len()).collect();
        let mut fine: Vec<usize> = Vec::new();
        loop {
            let rest: Vec<Accepted> = left.iter().map(|&found| accepted[found].clone()).collect();
            let chosen: Vec<usize> = choose(&rest).into_iter().map(|position| left[position]).collect();
            if chosen.is_empty() {
                return Ok(Tried { chosen: first, all_at_fault: true, ..tried });
            }
            let Some(&next) = chosen.iter().find(|found| !fine.contains(found)) else {
                return Ok(Tried { chosen, ..tried });
            };
            if self.meter.spent().saturating_sub(before) > PATIENCE {
                return self.out_of_patience(accepted, left, chosen, &fine, tried).await;
            }
            match self.run(&accepted[next], false, &BTreeSet::new()).await? {
                Ending::Fine { .. } => fine.push(next),
                Ending::Fault(reason) => {
                    tried.faults.push(FaultyCase::new(&accepted[next], &reason));
                    left.retain(|found| *found != next);
                }
                Ending::Unbuilt(reason) => {
                    tried.unrun = Some(format!("the cases were not run: {reason}"));
                    return Ok(Tried { chosen, ..tried });
                }
            }
        }
    }

    /// Of the cases that were chosen those that were run; where none was, the smallest ones that run.
    async fn out_of_patience(
        &self,
        accepted: &[Accepted],
        mut left: Vec<usize>,
        chosen: Vec<usize>,
        fine: &[usize],
        mut tried: Tried,
    ) -> Result<Tried, TunerError> {
        let mut kept: Vec<usize> = chosen.iter().copied().filter(|found| fine.contains(found)).collect();
        if kept.is_empty() {
            left.sort_by_key(|found| traffic_bytes(&accepted[*found].candidate));
            for found in left.into_iter().take(LAST_TRIES) {
                match self.run(&accepted[found], false, &BTreeSet::new()).await? {
                    Ending::Fine { .. } => kept.push(found),
                    Ending::Fault(reason) => tried.faults.push(FaultyCase::new(&accepted[found], &reason)),
                    Ending::Unbuilt(_) => {}
                }
            }
        }
        let count = chosen.iter().filter(|found| !kept.contains(found)).count();
        let all_at_fault = kept.is_empty();
        let what = if all_at_fault { "and it is not known whether they run" } else { "and are left out" };
        tried.unrun = Some(format!("{count} cases were not run {what}: others took {PATIENCE:?}"));
        Ok(Tried { chosen: if all_at_fault { chosen } else { kept }, all_at_fault, ..tried })
    }

    /// What is wrong with the operator at a case, or why nobody can know.
    pub async fn fault(&self, accepted: &Accepted) -> Result<Option<FaultyCase>, TunerError> {
        Ok(match self.run(accepted, false, &BTreeSet::new()).await? {
            Ending::Fine { .. } => None,
            Ending::Fault(reason) | Ending::Unbuilt(reason) => Some(FaultyCase::new(accepted, &reason)),
        })
    }

    /// Kinds of hazards that a case shows as it is, if it runs to its end with them.
    pub async fn hazards(&self, accepted: &Accepted) -> Result<BTreeSet<HazardKind>, TunerError> {
        let Ok(job) = self.job(accepted, false)? else { return Ok(BTreeSet::new()) };
        let Ok(execution) = self.meter.measure(self.backend.run_operator(&job)).await else {
            return Ok(BTreeSet::new());
        };
        let all = execution.launches.iter().flat_map(|launch| &launch.hazards);
        let kinds = all.filter(|hazard| rejects(hazard, HazardPolicy::Errors)).map(|hazard| hazard.kind);
        // What stops the machine leaves nothing to tune.
        Ok(kinds.filter(|kind| !matches!(kind, HazardKind::Deadlock | HazardKind::Unsupported)).collect())
    }

    /// Modelled time of a case in microseconds, if the operator runs on it without a fault but those of the kinds that are
    /// `known` of it. A large one runs without data where that is possible, and is no case where it is not: it would take too
    /// long.
    pub async fn time_us(&self, accepted: &Accepted, known: &BTreeSet<HazardKind>) -> Result<Option<f64>, TunerError> {
        let large = traffic_bytes(&accepted.candidate) > WITH_DATA_BYTES;
        Ok(match self.run(accepted, large, known).await? {
            Ending::Fine { us } => Some(us),
            Ending::Fault(_) | Ending::Unbuilt(_) => None,
        })
    }

    /// The job of a case with its kernel; why no kernel can be built otherwise.
    fn job(&self, accepted: &Accepted, timing_only: bool) -> Result<Result<KernelJob, String>, TunerError> {
        let mut job = accepted.job.clone();
        job.timing_only = timing_only;
        let key = accepted.tiling_key;
        let variant = self.op.variant(self.entry.clone(), &job, key, self.tiling_classes.to_vec());
        let kernel = match self.builder.kernel(self.sources, &variant) {
            Ok(kernel) => kernel,
            Err(error) if error.kind() == BuildErrorKind::Environment => return Err(error.into()),
            Err(error) => return Ok(Err(first_line(&error.to_string()))),
        };
        job.add_kernel(Some(key), kernel);
        job.trace = true;
        Ok(Ok(job))
    }

    async fn run(
        &self,
        accepted: &Accepted,
        timing_only: bool,
        known: &BTreeSet<HazardKind>,
    ) -> Result<Ending, TunerError> {
        let job = match self.job(accepted, timing_only)? {
            Ok(job) => job,
            Err(reason) => return Ok(Ending::Unbuilt(reason)),
        };
        match self.meter.measure(self.judged(job, known)).await {
            Ok(ending) => Ok(ending),
            Err(source) if source.is_of_machine() => Err(TunerError::Run { case: accepted.candidate.title(), source }),
            Err(failure) => Ok(Ending::Fault(first_line(&failure.to_string()))),
        }
    }

    async fn judged(&self, job: KernelJob, known: &BTreeSet<HazardKind>) -> Result<Ending, RunFailure> {
        let execution = self.backend.run_operator(&job).await?;
        let hazards = || execution.launches.iter().flat_map(|launch| &launch.hazards);
        let left = left_alone(&execution.outputs, job.poison);
        // Of an output whose shape is computed only as much is written as there is of it.
        let partly = execution.call.writes_shapes;
        let is_left = |hazard: &LocatedHazard| {
            let of_left = partly || hazard.output.is_some_and(|output| left.contains(&output));
            hazard.kind == HazardKind::UnwrittenOutput && of_left
        };
        let is_fault = |hazard: &&LocatedHazard| {
            rejects(hazard, HazardPolicy::Errors) && !known.contains(&hazard.kind) && !is_left(hazard)
        };
        if let Some(hazard) = hazards().find(is_fault) {
            let (file, line) = (&hazard.place.file, hazard.place.line);
            let place = if file.is_empty() { String::new() } else { format!("{file}:{line}: ") };
            return Ok(Ending::Fault(format!("{place}{}", hazard.message)));
        }
        let may_depend = |hazard: &LocatedHazard| {
            hazard.kind == HazardKind::UninitialisedRead || rejects(hazard, HazardPolicy::Errors)
        };
        let unwritten: Vec<usize> =
            hazards().filter_map(|hazard| hazard.output).map(|output| output as usize).collect();
        if job.timing_only && hazards().any(may_depend) {
            let fault = "results may depend on memory that nobody wrote, and it is too large to find out".to_owned();
            return Ok(Ending::Fault(fault));
        }
        if hazards().any(may_depend)
            && let Some(fault) = self.spoilt_by_garbage(job, &unwritten).await?
        {
            return Ok(Ending::Fault(fault));
        }
        Ok(Ending::Fine { us: execution.task_us() })
    }

    /// Runs a job with two patterns in unwritten memory and its blocks in both orders: what is wrong with its outputs, but for
    /// those of which some bytes stay unwritten.
    async fn spoilt_by_garbage(&self, job: KernelJob, unwritten: &[usize]) -> Result<Option<String>, RunFailure> {
        let first = KernelJob { poison: 0xA5, trace: false, ..job };
        let second = KernelJob { poison: 0x5A, blocks_reversed: true, ..first.clone() };
        let (one, other) = (self.backend.run_operator(&first).await?, self.backend.run_operator(&second).await?);
        let untouched = |outputs: &[Vec<u8>], poison: u8| outputs.iter().flatten().all(|byte| *byte == poison);
        let has_bytes = one.outputs.iter().any(|output| !output.is_empty());
        if has_bytes && untouched(&one.outputs, first.poison) && untouched(&other.outputs, second.poison) {
            return Ok(Some("no byte of any output is written".to_owned()));
        }
        let pairs = first.outputs.iter().zip(one.outputs.iter().zip(&other.outputs)).enumerate();
        let mut outputs = pairs.filter(|(place, _)| !unwritten.contains(place)).map(|(_, pair)| pair);
        let differs = |(tensor, (one, other)): &(&JobOutput, (&Vec<u8>, &Vec<u8>))| {
            let Ok(dtype) = tensor.dtype.parse::<DType>() else { return one != other };
            one != other && compare(other, one, dtype, default_tolerance_of(dtype, one)).is_err()
        };
        let found = outputs.find(differs).map(|(tensor, _)| &tensor.name);
        Ok(found
            .map(|output| format!("output {output} depends on memory that nobody wrote, or on the order of blocks")))
    }
}

/// Outputs of which no byte was written, where others were: this call does not ask for them, such as for a second result without the inputs
/// that it is made of.
fn left_alone(outputs: &[Vec<u8>], poison: u8) -> Vec<u32> {
    let untouched = |output: &Vec<u8>| output.iter().all(|byte| *byte == poison);
    let left: Vec<u32> = (0..).zip(outputs).filter(|(_, output)| untouched(output)).map(|(place, _)| place).collect();
    if left.len() < outputs.len() { left } else { Vec::new() }
}

pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_left_alone_where_others_are_written() {
        assert_eq!(left_alone(&[vec![1, 205], vec![205, 205], vec![205]], 205), [1, 2]);
        // Where nothing is written at all the operator does nothing.
        assert_eq!(left_alone(&[vec![205], vec![205, 205]], 205), [0_u32; 0]);
        assert_eq!(left_alone(&[vec![0, 0]], 205), [0_u32; 0]);
    }
}
