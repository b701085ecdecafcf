//! What is known of one candidate after it was tried.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use backend::LaunchProfile;
use events::{BlocksRun, CaseBlocks};
use search::geometric_mean;
use verify::Rejection;

/// Time of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseTime {
    /// Name of the case.
    pub name: String,
    /// Task duration in microseconds; for direct launch the sum over launches.
    pub task_us: f64,
    /// Lower bound in microseconds; 0 where there is none, which is where times are measured.
    pub bound_us: f64,
    /// Whether that bound is what the kernel itself has its scalar and vector units do: a rewrite may give them less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bound_by_work: bool,
    /// How it was measured, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredCase>,
}

/// How a time was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredCase {
    /// Standard deviation of one launch as a share of the median.
    pub spread: f64,
    /// Launches.
    pub count: u32,
    /// What the model says of the same, in microseconds.
    pub modelled_us: f64,
    /// Longest time of a core in microseconds, where a profiler told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_us: Option<f64>,
}

impl CaseTime {
    /// Time of a case out of its launches.
    pub(super) fn of(name: &str, launches: &[LaunchProfile]) -> Self {
        let sum = |value: fn(&LaunchProfile) -> f64| launches.iter().map(value).sum::<f64>();
        let device = launches.iter().find_map(|launch| launch.device.as_ref());
        Self {
            name: name.to_owned(),
            task_us: sum(LaunchProfile::task_us),
            // A bound by the model says nothing about a measured time.
            bound_us: if device.is_some() { 0.0 } else { sum(|launch| launch.profile.bound_us) },
            bound_by_work: launches.iter().any(|launch| launch.profile.limiter.is_work()),
            measured: device.map(|device| MeasuredCase {
                spread: device.spread,
                count: device.count,
                modelled_us: sum(|launch| launch.profile.task_us),
                core_us: device.core_us,
            }),
        }
    }
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Right as far as it was checked, with the time of every timed case.
    Valid(Vec<CaseTime>),
    /// Not right, or not even runnable.
    Rejected(Rejection),
}

/// One tried candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Digest of the candidate: sources with the configuration applied, and CMake entries.
    pub digest: String,
    /// Whether all seeds, hostile values and verify-only cases were run, or only the timed cases with the first seed.
    pub thorough: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Set where the first cases were so slow that the others were not run: the objective in microseconds that would follow
    /// if these were as much slower. An estimate, good enough to turn a search away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_us: Option<f64>,
    /// Large cases of a quick trial: which of their blocks ran with data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<CaseBlocks>,
    /// Which cases it was tried on: a run whose cases have grown counts up.
    #[serde(default, skip_serializing_if = "is_first")]
    pub round: u32,
    /// Seconds that it took, building included. In the journal, so that a resumed run goes by the same prices.
    #[serde(default)]
    pub seconds: f64,
    /// Standard error of its times as a share of them, where the backend does not take the same time each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// The longest times of timed cases, by name, on data that is only checked, in microseconds by the model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_data: BTreeMap<String, f64>,
}

/// The best candidate so far, which others race against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Champion {
    /// Its times by case.
    pub times: Vec<CaseTime>,
    /// Its objective in microseconds.
    pub us: f64,
    /// What it is, for duels where times are noisy.
    pub plan: Plan,
}

/// Weighted geometric mean of the speed-ups on the cases of `before`; `after` has these among others. No number where it lacks one.
pub(super) fn speedup(before: &[CaseTime], after: &[CaseTime], weights: &[f64]) -> f64 {
    let now = |name: &str| after.iter().find(|time| time.name == name).map_or(f64::NAN, |time| time.task_us);
    geometric_mean(before.iter().map(|time| time.task_us / now(&time.name)), weights)
}

impl Champion {
    /// How much slower a candidate may be in a case, and over the cases that were run, before it is out of the race.
    const OUT_OF_THE_RACE: f64 = 1.5;

    /// The objective estimated from the first cases, if they leave no hope and there are cases left to save.
    pub fn beats(&self, times: &[CaseTime], weights: &[f64]) -> Option<f64> {
        if times.is_empty() || times.len() >= self.times.len() {
            return None;
        }
        let ratios: Vec<f64> = times.iter().zip(&self.times).map(|(own, best)| own.task_us / best.task_us).collect();
        let slower = geometric_mean(ratios.iter().copied(), weights);
        (slower >= Self::OUT_OF_THE_RACE).then_some(self.us * slower)
    }
}

impl Evaluation {
    /// Key in the journal: a thorough trial is another one than a quick one.
    pub fn key(&self) -> String {
        journal_key(&self.digest, self.thorough, self.round)
    }

    /// Whether some case was ranked by a few of its blocks.
    pub fn is_sampled(&self) -> bool {
        self.blocks.iter().any(|case| matches!(case.ran, BlocksRun::Sampled { .. }))
    }

    /// Weighted geometric mean of the times in microseconds, estimated for a candidate that was out of the race, or `None`
    /// for a rejected candidate.
    pub fn objective(&self, weights: &[f64]) -> Option<f64> {
        match &self.outcome {
            Outcome::Valid(_) if self.estimate_us.is_some() => self.estimate_us,
            Outcome::Valid(times) => Some(geometric_mean(times.iter().map(|time| time.task_us), weights)),
            Outcome::Rejected(_) => None,
        }
    }
}

/// Key of an evaluation in the journal.
pub fn journal_key(digest: &str, thorough: bool, round: u32) -> String {
    let thorough = if thorough { "+" } else { "" };
    if round == 0 { format!("{digest}{thorough}") } else { format!("{digest}{thorough}@{round}") }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(round: &u32) -> bool {
    *round == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_loses_the_first_case_by_far_is_out_of_the_race() {
        let time = |task_us: f64| CaseTime {
            name: String::new(),
            task_us,
            bound_us: 1.0,
            bound_by_work: false,
            measured: None,
        };
        let champion = Champion { times: vec![time(10.0), time(40.0)], us: 20.0, plan: Plan::default() };
        assert_eq!(champion.beats(&[time(16.0)], &[]), Some(32.0));
        assert_eq!(champion.beats(&[time(14.0)], &[]), None, "the second case may make up for it");
        assert_eq!(champion.beats(&[time(90.0), time(90.0)], &[]), None, "nothing is left to save");
        assert_eq!(champion.beats(&[], &[]), None);
        let estimated = Evaluation {
            digest: String::new(),
            thorough: false,
            outcome: Outcome::Valid(vec![time(16.0)]),
            estimate_us: Some(32.0),
            blocks: Vec::new(),
            round: 0,
            seconds: 0.5,
            error: None,
            other_data: BTreeMap::new(),
        };
        assert_eq!(estimated.objective(&[]), Some(32.0));
        let text = serde_json::to_string(&estimated).unwrap();
        assert_eq!(serde_json::from_str::<Evaluation>(&text).unwrap(), estimated);
    }
}
