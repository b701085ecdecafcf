//! Counters of a profile that motifs should move down.

use serde::{Deserialize, Serialize};

use aicore::{PathPart, Profile};

/// A counter that a motif should move down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Busy time of the scalar unit.
    ScalarUs,
    /// Busy time of the vector unit.
    VecUs,
    /// Busy time of copies from global memory.
    Mte2Us,
    /// Busy time of copies to global memory.
    Mte3Us,
    /// Time lost in waits, all pipes.
    StallUs,
    /// What the task takes beyond its longest core: the start of all of them.
    LaunchUs,
}

impl Counter {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::ScalarUs, Self::VecUs, Self::Mte2Us, Self::Mte3Us, Self::StallUs, Self::LaunchUs];

    /// Name in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Counter::ScalarUs => "scalar_us",
            Counter::VecUs => "vec_us",
            Counter::Mte2Us => "mte2_us",
            Counter::Mte3Us => "mte3_us",
            Counter::StallUs => "stall_us",
            Counter::LaunchUs => "launch_us",
        }
    }

    /// The counter of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|counter| counter.name() == name)
    }

    /// Share of the critical path that could go with it, at most, of the launch its share of the task; `None` where the
    /// path was not followed.
    ///
    /// Waits are not on the path, only what is waited for: with all waits gone the pipe with the largest share remains.
    pub fn path_share(self, profile: &Profile) -> Option<f64> {
        if profile.critical_path.is_empty() {
            return None;
        }
        let whole: f64 = profile.critical_path.iter().map(|step| step.time_us).sum();
        let of = |pipe: &str| -> f64 {
            let steps = profile.critical_path.iter().filter(|step| step.pipe == pipe && step.part != PathPart::Start);
            steps.map(|step| step.time_us).sum::<f64>() / whole.max(f64::MIN_POSITIVE)
        };
        Some(match self {
            Counter::ScalarUs => of("s"),
            Counter::VecUs => of("v"),
            Counter::Mte2Us => of("mte2"),
            Counter::Mte3Us => of("mte3"),
            Counter::StallUs => {
                let shares = ["s", "v", "mte2", "mte3", "mte1", "m", "fix"].map(of);
                shares.iter().sum::<f64>() - shares.into_iter().fold(0.0, f64::max)
            }
            Counter::LaunchUs => self.read(profile) / profile.task_us.max(f64::MIN_POSITIVE),
        })
    }

    /// Its value in a profile.
    pub fn read(self, profile: &Profile) -> f64 {
        match self {
            Counter::ScalarUs => profile.pipes.scalar_us,
            Counter::VecUs => profile.pipes.vec_us,
            Counter::Mte2Us => profile.pipes.mte2_us,
            Counter::Mte3Us => profile.pipes.mte3_us,
            Counter::StallUs => profile.stalls.iter().map(|stall| stall.time_us).sum(),
            Counter::LaunchUs => (profile.task_us - profile.longest_core_us).max(0.0),
        }
    }
}
