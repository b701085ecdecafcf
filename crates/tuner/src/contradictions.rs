//! Where it is kept that a device contradicts the simulator.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use events::{self, Event};

/// Reports of a run: the first ones tell as much as all of them.
const MOST_REPORTS: usize = 5;
/// Where reports go, and what they say of the machine.
#[derive(Debug)]
pub struct Contradictions {
    folder: PathBuf,
    /// Tool, machine description, toolkit and chip, a line each. No names of hosts, numbers of devices or paths.
    environment: Vec<(&'static str, String)>,
    written: Mutex<Vec<(PathBuf, String)>>,
}

impl Contradictions {
    /// Reports below a folder, which is made with the first of them.
    pub fn below(folder: PathBuf, environment: Vec<(&'static str, String)>) -> Self {
        Self { folder, environment, written: Mutex::default() }
    }

    /// A warning for every report that was written, for the end of a command.
    pub fn events(&self) -> Vec<Event> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let event = |(folder, what): &(PathBuf, String)| {
            Event::Warning(events::Warning {
                code: "device-contradicts-model".to_owned(),
                message: format!("the device computes otherwise than the simulator, which found nothing amiss: {what}"),
                help: Some(format!(
                    "{} has sources, case, outputs and trace: look through it, and send it to the maintainers of this tool",
                    folder.display()
                )),
            })
        };
        written.iter().map(event).collect()
    }

    /// A folder for a report; `None` where there are enough, or one of this candidate.
    pub(super) fn claim(&self, digest: &str, what: &str) -> Option<PathBuf> {
        let name: String = digest.chars().take(16).collect();
        let folder = self.folder.join(name);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let known = written.len() >= MOST_REPORTS || written.iter().any(|(known, _)| *known == folder);
        (!known).then(|| {
            written.push((folder.clone(), what.to_owned()));
            folder
        })
    }

    /// Says in a report's warning that it could not be written.
    pub(super) fn failed(&self, folder: &Path, error: &std::io::Error) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, words)) = written.iter_mut().find(|(known, _)| known == folder) {
            words.push_str(&format!("; the report could not be written: {error}"));
        }
    }

    /// Tool, machine description, toolkit and chip, a line each.
    pub(super) fn environment(&self) -> &[(&'static str, String)] {
        &self.environment
    }
}
