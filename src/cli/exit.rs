//! Exit statuses: a contract with scripts.

use std::fmt;
use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// A check failed.
    CheckFailed = 1,
    /// Wrong arguments or manifest.
    Usage = 2,
    /// Something on this machine is missing or unusable.
    Environment = 3,
    /// The project does not build as it is.
    BuildFailed = 4,
    /// The unmodified operator is wrong, or no valid candidate was found.
    NothingValid = 5,
    /// A bug in this program.
    Bug = 101,
}

impl Exit {
    /// Every status, in order.
    pub const ALL: [Exit; 7] = [
        Exit::Fine,
        Exit::CheckFailed,
        Exit::Usage,
        Exit::Environment,
        Exit::BuildFailed,
        Exit::NothingValid,
        Exit::Bug,
    ];

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// How a command on several operators ends: the highest of their numbers counts.
    pub fn highest(codes: impl Iterator<Item = u8>) -> Self {
        let highest = codes.max().unwrap_or(Exit::Fine.code());
        Self::ALL.into_iter().find(|known| known.code() == highest).unwrap_or(Exit::Bug)
    }

    /// What it means, one line.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Fine => "fine",
            Exit::CheckFailed => "a check failed: a case regressed, an output changed, or ascend.lock is stale",
            Exit::Usage => "wrong arguments, or ascend.toml is missing or invalid",
            Exit::Environment => "something on this machine is missing; `doctor` says what",
            Exit::BuildFailed => "the project does not build as it is",
            Exit::NothingValid => "the unmodified operator is wrong, or nothing valid was found",
            Exit::Bug => "a bug in cargo-ascend-tune",
        }
    }

    /// The list as it stands in `--help`.
    pub fn help() -> String {
        let mut text = String::from("Exit status:\n");
        for exit in Self::ALL {
            text.push_str(&format!("  {:>3}  {}\n", exit.code(), exit.meaning()));
        }
        text
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.code(), self.meaning())
    }
}
