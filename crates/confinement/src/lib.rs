//! What foreign code may reach: kernels, tiling functions, scripts of operators, and the tools that build them.
//!
//! Everything here only takes away rights, of the calling thread or process and of what it starts. Where the system has no such
//! layer the rest must do; [`Layers::of_this_machine`] says which there are, and `docs/security.md` what each of them holds.

mod environment;
mod landlock;
mod namespaces;
mod watch;

use std::path::PathBuf;
use std::sync::OnceLock;

pub use environment::kept_environment;
pub use landlock::confine;
pub use namespaces::isolate;
pub use watch::{TooMuch, Watch};

/// Switches namespaces off where they do not work as they should: `off`.
pub const NAMESPACES: &str = "ASCEND_TUNE_NAMESPACES";
/// Lets CMake and the compiler use the network: `on`.
pub const NETWORK: &str = "ASCEND_TUNE_NETWORK";

/// Memory that looks like a directory of files.
const SHARED_MEMORY: &str = "/dev/shm";

/// What is left of the file system and the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Directories that may be written, besides `/dev/null` and its like.
    pub writable: Vec<PathBuf>,
    /// Files and directories that may be read besides those and the system's own; `None` for all.
    pub readable: Option<Vec<PathBuf>>,
    /// Whether TCP ports may be used.
    pub network: bool,
}

/// Layers of confinement that a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Reads and writes are confined to named directories (Landlock, Linux 5.13).
    pub files: bool,
    /// TCP is off (Landlock, Linux 6.7).
    pub tcp: bool,
    /// Other processes cannot be signalled (Landlock, Linux 6.12).
    pub signals: bool,
    /// A network, process numbers and mounts of its own: no sockets to anybody, no process outlives its run, no file outside
    /// changes its mode (user namespaces).
    pub namespaces: bool,
}

impl Layers {
    /// Those of this machine. Found out once: it takes a process.
    pub fn of_this_machine() -> Self {
        static FOUND: OnceLock<Layers> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let landlock::Offered { files, tcp, signals } = landlock::offered();
            Self { files, tcp, signals, namespaces: namespaces::are_possible() }
        })
    }

    /// What nothing holds back here, in words.
    pub fn missing(self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        if !self.files {
            missing.push("reads and writes outside the run's directory");
        }
        if !self.namespaces {
            missing.push(if self.tcp { "UDP and local sockets" } else { "sockets" });
            missing.push("processes that outlive their run, and many of them");
            missing.push("modes of the user's files");
        }
        if !self.signals && !self.namespaces {
            missing.push("signals to other processes");
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_layer_says_what_it_does_not_hold() {
        let all = Layers { files: true, tcp: true, signals: true, namespaces: true };
        assert!(all.missing().is_empty());
        let without = Layers { namespaces: false, ..all }.missing();
        assert!(without.contains(&"UDP and local sockets") && !without.iter().any(|gap| gap.contains("signals")));
        let nothing = Layers { files: false, tcp: false, signals: false, namespaces: false }.missing();
        assert!(nothing.contains(&"sockets") && nothing.iter().any(|gap| gap.contains("signals")));
    }
}
