//! Cases that an operator survives: what `init` chose is run once, so that no command after it starts from a faulty baseline.

use std::time::{Duration, Instant};

use super::TunerError;
use super::judgement::rejects;
use crate::aicore::HazardKind;
use crate::backend::{Backend, JobOutput, KernelJob};
use crate::build::{BuildErrorKind, Builder, TilingClass};
use crate::cases::{Accepted, DescribedOp, traffic_bytes};
use crate::manifest::HazardPolicy;
use crate::project::KernelEntry;
use crate::source::SourceTree;
use crate::verify::{DType, compare, default_tolerance_of};

/// Wall-clock time after which the remaining cases are written as they are.
const PATIENCE: Duration = Duration::from_secs(90);

/// Bytes of all tensors up to which a case runs with data.
const WITH_DATA_BYTES: u64 = 16 << 20;

/// What runs cases of an operator.
pub(super) struct CaseTrial<'call> {
    pub builder: &'call Builder,
    pub backend: &'call dyn Backend,
    pub sources: &'call SourceTree,
    pub op: &'call DescribedOp,
    pub entry: &'call KernelEntry,
    pub tiling_classes: &'call [TilingClass],
}

/// What became of the cases that were chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tried {
    /// Positions of the cases to write.
    pub chosen: Vec<usize>,
    /// Cases at which the operator is at fault, with the reason.
    pub faults: Vec<String>,
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
        let started = Instant::now();
        let mut tried = Tried::default();
        let first = choose(accepted);
        let mut left: Vec<usize> = (0..accepted.len()).collect();
        let mut fine: Vec<usize> = Vec::new();
        loop {
            let rest: Vec<Accepted> = left.iter().map(|&found| accepted[found].clone()).collect();
            let chosen: Vec<usize> = choose(&rest).into_iter().map(|position| left[position]).collect();
            if chosen.is_empty() {
                return Ok(Tried { chosen: first, ..tried });
            }
            let Some(&next) = chosen.iter().find(|found| !fine.contains(found)) else {
                return Ok(Tried { chosen, ..tried });
            };
            if started.elapsed() > PATIENCE {
                let count = chosen.len() - chosen.iter().filter(|found| fine.contains(found)).count();
                tried.unrun = Some(format!("{count} of the cases were not run: the others took {PATIENCE:?}"));
                return Ok(Tried { chosen, ..tried });
            }
            match self.run(&accepted[next], false).await? {
                Ending::Fine { .. } => fine.push(next),
                Ending::Fault(reason) => {
                    tried.faults.push(format!("{}: {reason}", title(&accepted[next])));
                    left.retain(|found| *found != next);
                }
                Ending::Unbuilt(reason) => {
                    tried.unrun = Some(format!("the cases were not run: {reason}"));
                    return Ok(Tried { chosen, ..tried });
                }
            }
        }
    }

    /// Modelled time of a case in microseconds, if the operator runs on it without a fault. A large one runs without data where
    /// that is possible, and is no case where it is not: it would take too long.
    pub async fn time_us(&self, accepted: &Accepted) -> Result<Option<f64>, TunerError> {
        let large = traffic_bytes(&accepted.candidate) > WITH_DATA_BYTES;
        Ok(match self.run(accepted, large).await? {
            Ending::Fine { us } => Some(us),
            Ending::Fault(_) | Ending::Unbuilt(_) => None,
        })
    }

    async fn run(&self, accepted: &Accepted, timing_only: bool) -> Result<Ending, TunerError> {
        let mut job = accepted.job.clone();
        job.timing_only = timing_only;
        let key = accepted.tiling_key;
        let variant = self.op.variant(self.entry.clone(), &job, key, self.tiling_classes.to_vec());
        let kernel = match self.builder.kernel(self.sources, &variant) {
            Ok(kernel) => kernel,
            Err(error) if error.kind() == BuildErrorKind::Environment => return Err(error.into()),
            Err(error) => return Ok(Ending::Unbuilt(first_line(&error.to_string()))),
        };
        job.add_kernel(Some(key), kernel);
        job.trace = true;
        let execution = match self.backend.run_operator(&job).await {
            Ok(execution) => execution,
            Err(source) if source.is_of_machine() => return Err(TunerError::Run { case: title(accepted), source }),
            Err(failure) => return Ok(Ending::Fault(first_line(&failure.to_string()))),
        };
        let hazards = || execution.launches.iter().flat_map(|launch| &launch.hazards);
        let reads_garbage = hazards().any(|hazard| hazard.kind == HazardKind::UninitialisedRead);
        let is_fine = !hazards().any(|hazard| rejects(hazard, HazardPolicy::Errors));
        if is_fine
            && reads_garbage
            && !timing_only
            && let Some(fault) = self.depends_on_garbage(&mut job).await
        {
            return Ok(Ending::Fault(fault));
        }
        Ok(match hazards().find(|hazard| rejects(hazard, HazardPolicy::Errors)) {
            None => Ending::Fine { us: execution.launches.iter().map(|launch| launch.profile.task_us).sum() },
            Some(hazard) => {
                let (file, line) = (&hazard.place.file, hazard.place.line);
                let place = if file.is_empty() { String::new() } else { format!("{file}:{line}: ") };
                Ending::Fault(format!("{place}{}", hazard.message))
            }
        })
    }

    /// Runs a job with two patterns in unwritten memory and its blocks in both orders: what the first output that differs is called.
    async fn depends_on_garbage(&self, job: &mut KernelJob) -> Option<String> {
        let mut runs = Vec::new();
        for (poison, reversed) in [(0xA5, false), (0x5A, true)] {
            (job.poison, job.blocks_reversed, job.trace) = (poison, reversed, false);
            runs.push(self.backend.run_operator(job).await.ok()?.outputs);
        }
        let (second, first) = (runs.pop()?, runs.pop()?);
        let differs = |(output, (first, second)): &(&JobOutput, (Vec<u8>, Vec<u8>))| {
            let Ok(dtype) = output.dtype.parse::<DType>() else { return first != second };
            first != second && compare(second, first, dtype, default_tolerance_of(dtype, first)).is_err()
        };
        let (output, _) = job.outputs.iter().zip(first.into_iter().zip(second)).find(differs)?;
        Some(format!("output {} depends on memory that nobody wrote, or on the order of blocks", output.name))
    }
}

fn title(accepted: &Accepted) -> String {
    accepted.candidate.title()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
