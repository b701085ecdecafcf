//! Running a kernel, and a second try where it does not run as it was tried first.
//!
//! Some operators hold tables for as many cores as the chip of their authors has; on one with more they run past the end. Some
//! examples have data that the kernel was not made for. Both run, though not at the first try, and the survey says how.

use std::sync::Arc;

use super::case::{self, Accepted, POISONS};
use super::stop::{Stop, fault};
use aicore::Machine;
use backend::{Execution, SimBackend};
use build::{Builder, KernelVariant, TilingClass};
use discovery::cases::{DescribedOp, Finder};
use project::KernelEntry;
use source::SourceTree;

/// What runs of one operator share.
pub(super) struct Runs<'data> {
    pub tree: &'data SourceTree,
    pub builder: &'data Builder,
    pub op: &'data DescribedOp,
    pub entry: &'data KernelEntry,
    pub classes: &'data [TilingClass],
    pub finder: &'data Finder<'data>,
}

/// A run that came to its end.
pub(super) struct Ran {
    pub accepted: Accepted,
    pub execution: Execution,
    /// What ran it.
    pub backend: SimBackend,
    /// How it differs from the first try, in words.
    pub how: String,
}

impl Runs<'_> {
    /// The kernel of a case.
    pub fn variant(&self, accepted: &Accepted) -> KernelVariant {
        self.op.variant(self.entry.clone(), &accepted.job, accepted.tiling_key, self.classes.to_vec())
    }

    /// Runs a case to its end.
    pub async fn run(&self, accepted: &mut Accepted, backend: &SimBackend) -> Result<Execution, Stop> {
        let kernel = self.builder.kernel(self.tree, &self.variant(accepted)).map_err(|error| Stop::build(&error))?;
        let job = &mut accepted.job;
        job.add_kernel(Some(accepted.tiling_key), kernel);
        job.trace = true;
        job.poison = POISONS[0];
        let execution = backend.run_operator(job).await.map_err(|failure| Stop::run(&failure))?;
        match fault(&execution) {
            Some(stop) => Err(stop),
            None => Ok(execution),
        }
    }

    /// The same on a chip of the family with fewer vector cores, then another case on the first chip.
    pub async fn again(&self, backend: &SimBackend) -> Option<Ran> {
        if let Some(machine) = with_fewer_cores(&backend.machine) {
            let how = format!("on {} with its {} vector cores", machine.name, machine.parameters.aiv_cores);
            let smaller = SimBackend { machine: Arc::new(machine), ..backend.clone() };
            let finder = Finder { backend: &smaller, ..self.finder.clone() };
            if let Some((accepted, execution)) = self.first_or_none(&finder, 0, &smaller).await {
                return Some(Ran { accepted, execution, backend: smaller, how });
            }
        }
        let (accepted, execution) = self.first_or_none(self.finder, 1, backend).await?;
        let how = "with another case".to_owned();
        Some(Ran { accepted, execution, backend: backend.clone(), how })
    }

    async fn first_or_none(
        &self,
        finder: &Finder<'_>,
        skipped: usize,
        backend: &SimBackend,
    ) -> Option<(Accepted, Execution)> {
        let mut accepted = case::find(finder, skipped).await.ok()?;
        let execution = self.run(&mut accepted, backend).await.ok()?;
        Some((accepted, execution))
    }
}

/// The chip of the same family that has the most vector cores below this one's; the first of those that are equal.
fn with_fewer_cores(machine: &Machine) -> Option<Machine> {
    let family = |name: &str| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_ascii_lowercase();
    let siblings = Machine::names().into_iter().filter(|name| family(name) == family(&machine.name));
    let fewer = siblings
        .filter_map(|name| Machine::named(name).ok())
        .filter(|other| other.parameters.aiv_cores < machine.parameters.aiv_cores);
    fewer.reduce(|best, other| if other.parameters.aiv_cores > best.parameters.aiv_cores { other } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_smaller_chip_of_the_family() {
        let smaller = |name: &str| with_fewer_cores(&Machine::named(name).unwrap()).map(|machine| machine.name);
        assert_eq!(smaller("ascend910b2").as_deref(), Some("Ascend910B3"));
        assert_eq!(smaller("ascend910b3"), None);
    }
}
