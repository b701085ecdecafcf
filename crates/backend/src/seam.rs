//! What the tuner asks of whatever runs candidates.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use super::execution::{Execution, RunFailure, Tiled};
use super::job::{Description, KernelJob, ProgramJob};
use aicore::Origin;

/// An answer to come.
pub type Answer<'a, T> = ToCome<'a, Result<T, RunFailure>>;
/// What is there some time later.
pub type ToCome<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a backend is, as far as others decide by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether its times are modelled or measured.
    pub origin: Origin,
    /// Whether a run takes the same time each time. Where it does not, what is faster is found out by duels.
    pub exact: bool,
    /// Devices that it measures on; 0 where there are none. Each runs one candidate at a time.
    pub devices: usize,
}

impl Capabilities {
    /// Whether what the model says beside is the same each time: always where a device is measured, and never in a rehearsal, which lays
    /// noise on the model's own times.
    pub fn model_is_exact(self) -> bool {
        self.exact || self.origin == Origin::Measured
    }
}

/// Runs candidates.
pub trait Backend: Debug + Send + Sync {
    /// What it is.
    fn capabilities(&self) -> Capabilities;

    /// Runs a framework operator once: tiling, all blocks, outputs.
    fn run_operator<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Execution>;

    /// Runs only shape inference and the tiling function: what was decided, and the dimensions of every output.
    fn tile<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Tiled>;

    /// Prepares for these questions, all of which [`Backend::tile`] is going to be asked: together they take less time. What each is
    /// answered does not change.
    fn foresee<'a>(&'a self, jobs: &'a [KernelJob]) -> ToCome<'a, ()>;

    /// What a host library registers.
    fn describe<'a>(&'a self, host: &'a Path) -> Answer<'a, Description>;

    /// Runs a direct-launch program once.
    fn run_program<'a>(&'a self, job: &'a ProgramJob<'a>) -> Answer<'a, Execution>;

    /// The same that also follows the critical path of every launch.
    fn following(&self) -> Arc<dyn Backend>;

    /// The same that leaves an operator's latest instruction streams in a file.
    fn keeping_trace(&self, file: PathBuf) -> Arc<dyn Backend>;

    /// The same that keeps to one device, for times that are compared with one another; `None` where there is nothing to keep to.
    fn pinned(&self) -> Option<Arc<dyn Backend>> {
        None
    }

    /// The same on a chip of the family with another number of cores; `None` where there is only the one at hand.
    fn with_other_cores(&self) -> Option<Arc<dyn Backend>> {
        None
    }

    /// The same that ends a run after so many seconds, if not before; `None` where runs take as long as they take.
    fn at_most(&self, _seconds: u64) -> Option<Arc<dyn Backend>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rehearsal_says_of_the_model_is_noisy_and_what_stands_beside_a_measurement_is_not() {
        let of = |origin, exact| Capabilities { origin, exact, devices: 0 }.model_is_exact();
        assert!(of(Origin::Modelled, true) && of(Origin::Measured, false));
        assert!(!of(Origin::Modelled, false));
    }
}
