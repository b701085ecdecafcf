//! What a winner does on probes, which the search never saw.

use super::TunerError;
use super::plan::Plan;
use super::probing::{Probe, ProbeSet, ProbeVerdict};
use search::geometric_mean;

/// How a winner does where nobody looked.
#[derive(Clone, Debug, PartialEq)]
pub struct Generalisation {
    /// Seed that the probes were drawn by.
    pub seed: u64,
    /// The probes in their order, each with time before over time now; behind them the edges of the winner's rules, which are no
    /// sample of anything.
    pub probes: Vec<(Probe, f64)>,
    /// Probes at which the operator as it was has hazards of its own; the winner has no others there.
    pub at_fault: usize,
    /// Probes at which the operator as it was crashes, hangs or does not build, with the reason.
    pub faulty: Vec<(String, String)>,
    /// Names of the probes on which an earlier winner broke: the search saw these from then on.
    pub joined: Vec<String>,
    /// Names of the probes that were timed with the cases because these flattered: the search saw them from then on.
    pub representing: Vec<String>,
}

impl Generalisation {
    /// Tries a winner on all probes, of which some joined the cases (those that refused, those that represent the rest). It is an
    /// error if it does not hold: then it must not be written.
    pub(super) async fn of(
        (set, edges): (&ProbeSet, &ProbeSet),
        plan: &Plan,
        jobs: usize,
        (joined, representing): (Vec<String>, Vec<String>),
    ) -> Result<Self, TunerError> {
        let mut probes = Vec::new();
        for set in [set, edges] {
            for (place, verdict) in set.check(plan, jobs, false).await? {
                match verdict {
                    ProbeVerdict::Held { speedup } => probes.push((set.probes[place].clone(), speedup)),
                    ProbeVerdict::Slower { speedup } => {
                        let name = &set.probes[place].case.name;
                        return Err(TunerError::Internal(format!("the winner is {speedup:.2}x on probe {name}")));
                    }
                    ProbeVerdict::Wrong(rejection) => return Err(TunerError::Winner(Box::new(rejection))),
                }
            }
        }
        let (at_fault, faulty) = (set.at_fault(), set.faulty.clone());
        Ok(Self { seed: set.seed, probes, at_fault, faulty, joined, representing })
    }

    /// Geometric mean of the speed-ups on probes that were drawn; `None` without any.
    pub fn speedup(&self) -> Option<f64> {
        let drawn = self.probes.iter().filter(|(probe, _)| probe.kind.is_of_the_sample());
        let speedups: Vec<f64> = drawn.map(|(_, speedup)| *speedup).collect();
        (!speedups.is_empty()).then(|| geometric_mean(speedups.into_iter(), &[]))
    }

    /// The probe with the least speed-up.
    pub fn worst(&self) -> Option<&(Probe, f64)> {
        self.probes.iter().min_by(|left, right| left.1.total_cmp(&right.1))
    }
}
