//! The worker: a process that limits itself and then becomes the program it was asked to run.
//!
//! Kernels are other people's code under edit; they loop, crash and write where they should not. Limits are set
//! after `fork` and before `exec`, by the new process itself, so that no `unsafe` is needed.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus,
};
use rustix::process::{Resource, Rlimit, Signal};

/// Limits of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CPU seconds.
    pub cpu_s: u64,
    /// Address space in bytes.
    pub memory_bytes: u64,
    /// Largest file it may write, in bytes.
    pub file_bytes: u64,
    /// The one directory in which it may write.
    pub writable: PathBuf,
}

/// Sets the limits on this process and replaces it by the program. Returns only if that fails.
pub fn become_worker(limits: &Limits, program: &[OsString]) -> io::Error {
    match try_become(limits, program) {
        Ok(error) | Err(error) => error,
    }
}

fn try_become(limits: &Limits, program: &[OsString]) -> Result<io::Error, io::Error> {
    let (executable, arguments) =
        program.split_first().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no program to run"))?;
    // A killed tuner must not leave kernels running.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let hard = |maximum: u64| Rlimit { current: Some(maximum), maximum: Some(maximum) };
    // Who reaches the soft limit dies of SIGXCPU, which tells it apart from a process that the system kills.
    let cpu = Rlimit { current: Some(limits.cpu_s), maximum: Some(limits.cpu_s.saturating_add(5)) };
    rustix::process::setrlimit(Resource::Cpu, cpu)?;
    rustix::process::setrlimit(Resource::As, hard(limits.memory_bytes))?;
    rustix::process::setrlimit(Resource::Fsize, hard(limits.file_bytes))?;
    rustix::process::setrlimit(Resource::Core, hard(0))?;
    confine_writes(&limits.writable)?;
    Ok(Command::new(executable).args(arguments).exec())
}

/// Forbids writing outside `directory` where the kernel offers Landlock; elsewhere the other limits must do.
fn confine_writes(directory: &Path) -> io::Result<()> {
    restrict(directory).map(drop).map_err(io::Error::other)
}

fn restrict(directory: &Path) -> Result<RulesetStatus, Box<dyn std::error::Error + Send + Sync>> {
    let abi = ABI::V3;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(abi))?
        .create()?;
    ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(directory)?, AccessFs::from_write(abi)))?;
    for device in ["/dev/null", "/dev/shm", "/dev/tty"] {
        if let Ok(descriptor) = PathFd::new(device) {
            ruleset = ruleset.add_rule(PathBeneath::new(descriptor, AccessFs::from_write(abi)))?;
        }
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// Whether this system can confine a worker's writes, found out in a thread of its own.
pub fn can_confine_writes() -> bool {
    // Landlock applies to the calling thread and what it starts, so the probe must not be the main thread.
    std::thread::spawn(|| restrict(Path::new("/")))
        .join()
        .is_ok_and(|status| matches!(status, Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced)))
}
