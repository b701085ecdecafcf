//! The worker: a process that limits itself and then becomes the program it was asked to run.
//!
//! Kernels are other people's code under edit; they loop, crash and write where they should not. Limits are set after `fork` and
//! before `exec`, by the new process itself, so that no `unsafe` is needed. Where the system offers namespaces there are two of
//! it: the *outer* one makes the namespaces, watches from outside and says how the program ended; the *first* one of the new
//! namespace is what everything in it ends with: it starts the program, with hardly any rights, and waits.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

use confinement::{Reach, TooMuch, Watch, confine, isolate};

/// Limits of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CPU seconds.
    pub cpu_s: u64,
    /// Address space in bytes, and what all its processes may have together.
    pub memory_bytes: u64,
    /// Largest file it may write, in bytes.
    pub file_bytes: u64,
    /// The one directory in which it may write.
    pub writable: PathBuf,
    /// What it may read besides that and the system's own files; `None` for everything.
    pub readable: Option<Vec<PathBuf>>,
}

/// Which of its processes a worker is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Makes the namespaces and waits.
    #[default]
    Outer,
    /// The first process of the namespace, which starts the program.
    First,
}

impl Role {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Role::Outer => "--role=outer",
            Role::First => "--role=first",
        }
    }
}

/// Word of the command line that makes this program a worker.
pub const WORKER: &str = "__worker";
/// Processes that a program may have.
const MOST_PROCESSES: usize = 512;
/// Time between two looks at them.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Exit codes from here on say which signal ended the program, as a shell does.
const BY_SIGNAL: i32 = 128;
/// What the words of a program that found no memory are taken for.
const OUT_OF_MEMORY: &str = "Cannot allocate memory: the processes of one run have more than its limit together";
const TOO_MANY: &str = "Cannot allocate memory: more processes than one run may have";

/// Plays a part of the worker with these words of its command line. Returns how the program ended, if somebody else became it,
/// or why it could not be run.
pub fn become_worker(limits: &Limits, role: Role, own: &[OsString], program: &[OsString]) -> Result<i32, io::Error> {
    // A killed tuner must not leave kernels running.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    match role {
        Role::Outer => {
            limit(limits)?;
            match isolate(&limits.writable) {
                Ok(()) => outer(limits, first(own)?),
                Err(_) => {
                    give_up_rights(limits)?;
                    Err(command(program)?.exec())
                }
            }
        }
        Role::First => {
            // Counted for each user of the namespace; the system's administrator is not.
            let most = Some(MOST_PROCESSES as u64);
            rustix::process::setrlimit(Resource::Nproc, Rlimit { current: most, maximum: most })?;
            Ok(code_of(started(limits, program)?.wait()?))
        }
    }
}

/// Kills this process as the program was killed, so that whoever waits sees how it ended.
pub fn end_as(code: i32) -> Option<Signal> {
    let signal = code.checked_sub(BY_SIGNAL).and_then(Signal::from_named_raw)?;
    // The first one may only take down the handler that Rust has for stack overflows.
    for _ in 0..2 {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    Some(signal)
}

fn limit(limits: &Limits) -> io::Result<()> {
    let hard = |maximum: u64| Rlimit { current: Some(maximum), maximum: Some(maximum) };
    // Who reaches the soft limit dies of SIGXCPU, which tells it apart from a process that the system kills.
    let cpu = Rlimit { current: Some(limits.cpu_s), maximum: Some(limits.cpu_s.saturating_add(5)) };
    rustix::process::setrlimit(Resource::Cpu, cpu)?;
    rustix::process::setrlimit(Resource::As, hard(limits.memory_bytes))?;
    rustix::process::setrlimit(Resource::Fsize, hard(limits.file_bytes))?;
    rustix::process::setrlimit(Resource::Core, hard(0))?;
    Ok(())
}

/// This program as the first process of the namespace.
fn first(own: &[OsString]) -> io::Result<Child> {
    Command::new(std::env::current_exe()?).arg(WORKER).arg(Role::First.word()).args(own).spawn()
}

fn command(program: &[OsString]) -> io::Result<Command> {
    let Some((executable, arguments)) = program.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program to run"));
    };
    let mut command = Command::new(executable);
    command.args(arguments);
    Ok(command)
}

fn outer(limits: &Limits, mut first: Child) -> io::Result<i32> {
    let watch = Watch { process: first.id(), memory_bytes: limits.memory_bytes, processes: MOST_PROCESSES };
    // A process that has made a namespace for others' numbers can have no second thread: it looks between two waits.
    let first_process = Pid::from_child(&first);
    let descriptor = pidfd_open(first_process, PidfdFlags::empty())?;
    loop {
        let ended = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&LOOK_EVERY))? > 0;
        if let Some(found) = (!ended).then(|| watch.look()).flatten() {
            eprintln!("{}", if found == TooMuch::Memory { OUT_OF_MEMORY } else { TOO_MANY });
            // With the first one everything in its namespace ends.
            rustix::process::kill_process(first_process, Signal::KILL)?;
        } else if !ended {
            continue;
        }
        return Ok(code_of(first.wait()?));
    }
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| BY_SIGNAL + signal)).unwrap_or(-1)
}

/// The program, started without the rights that this process keeps: it cannot look into its parent nor signal it. Rights are a
/// thread's, and what a thread starts has no more than it.
fn started(limits: &Limits, program: &[OsString]) -> io::Result<Child> {
    let mut command = command(program)?;
    let start = || give_up_rights(limits).and_then(|()| command.spawn());
    let ended = std::thread::scope(|scope| scope.spawn(start).join());
    ended.unwrap_or_else(|_| Err(io::Error::other("the thread that starts the program panicked")))
}

/// Gives up all rights but those of the limits, for this thread and what it starts.
fn give_up_rights(limits: &Limits) -> io::Result<()> {
    let reach = Reach { writable: vec![limits.writable.clone()], readable: limits.readable.clone(), network: false };
    // An administrator's program would get all of them back with `exec`, and look into other processes.
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    confine(&reach)
}
