//! Configurations of which the tiling function makes the same: their kernels run on the same tiling data, and one evaluation does for
//! all of them.

use std::collections::BTreeMap;

use super::TunerError;
use super::evaluator::Evaluator;
use super::injection::Injection;
use super::plan::Plan;
use backend::TilingDecision;
use search::Observation;

/// All that a configuration is to the timed cases.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Made {
    sources: String,
    /// Values that a kernel may read.
    knobs: BTreeMap<String, i64>,
    decisions: Vec<TilingDecision>,
}

impl Made {
    /// What the tiling function makes of a plan, so many cases `at_once`; `None` where it refuses a case, or no tunable is the tiling
    /// function's alone.
    pub async fn by(
        evaluator: &Evaluator,
        injection: &Injection,
        plan: &Plan,
        at_once: usize,
    ) -> Result<Option<Self>, TunerError> {
        if injection.of_host.is_empty() || !plan.cmake.is_empty() {
            return Ok(None);
        }
        let Some(decisions) = evaluator.decisions(plan, at_once).await? else { return Ok(None) };
        let of_kernel = plan.knobs.iter().filter(|(name, _)| !injection.of_host.contains(*name));
        let knobs = of_kernel.map(|(name, value)| (name.clone(), *value)).collect();
        Ok(Some(Self { sources: plan.sources.digest(), knobs, decisions }))
    }
}

/// What came of configurations, by what the tiling function makes of them.
#[derive(Debug, Default)]
pub(super) struct Twins(Vec<(Made, Observation)>);

impl Twins {
    /// What came of a configuration of which the same was made.
    pub fn outcome(&self, made: Option<&Made>) -> Option<&Observation> {
        let made = made?;
        self.0.iter().find(|(known, _)| known == made).map(|(_, outcome)| outcome)
    }

    /// Takes up what came of a configuration.
    pub fn note(&mut self, made: Option<Made>, outcome: Observation) {
        if let Some(made) = made.filter(|made| self.outcome(Some(made)).is_none()) {
            self.0.push((made, outcome));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(cores: u32, depth: i64) -> Option<Made> {
        let decisions = vec![TilingDecision { block_dim: cores, ..TilingDecision::default() }];
        Some(Made { sources: "s".to_owned(), knobs: BTreeMap::from([("DEPTH".to_owned(), depth)]), decisions })
    }

    #[test]
    fn a_twin_is_one_in_what_the_host_decides_and_in_what_the_kernel_reads() {
        let mut twins = Twins::default();
        twins.note(made(8, 1), Observation::Objective(3.0));
        twins.note(None, Observation::Objective(1.0));
        let outcome = |cores, depth| twins.outcome(made(cores, depth).as_ref());
        assert_eq!(outcome(8, 1), Some(&Observation::Objective(3.0)));
        assert_eq!((outcome(8, 2), outcome(9, 1), twins.outcome(None)), (None, None, None));
    }
}
