//! Starting a worker, waiting for it, and telling how it ended.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::symbols::Symbols;
use super::worker::WORKER;
use super::{Place, RunFailure};
use confinement::kept_environment;

/// Limits of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessLimits {
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// Seconds of processor time; a process that only waits is ended by the other limit.
    pub cpu_s: u64,
    /// Address space in bytes.
    pub memory_bytes: u64,
    /// Largest file that it may write, which is the trace.
    pub file_bytes: u64,
}

impl ProcessLimits {
    /// Limits with the usual one of traces.
    pub const fn new(wall_s: f64, memory_bytes: u64) -> Self {
        Self { wall_s, cpu_s: wall_s.ceil() as u64 + 1, memory_bytes, file_bytes: TRACE_LIMIT_BYTES }
    }

    /// Limits that do not depend on how busy the machine is: so many seconds of processor time, and a multiple of that on the clock.
    pub const fn of_processor_time(cpu_s: u64, memory_bytes: u64) -> Self {
        let wall_s = (cpu_s * WAITING) as f64;
        Self { wall_s, cpu_s, memory_bytes, file_bytes: TRACE_LIMIT_BYTES }
    }

    /// The same with no more than so many seconds, of processor time where that is what is limited.
    #[must_use]
    pub fn at_most(self, seconds: u64) -> Self {
        let waiting = if self.wall_s > self.cpu_s as f64 { WAITING } else { 1 };
        Self { wall_s: self.wall_s.min((seconds * waiting) as f64), cpu_s: self.cpu_s.min(seconds + 1), ..self }
    }

    /// Seconds after which the processor time is used up, or the patience.
    fn told_s(&self, by_processor_time: bool) -> f64 {
        if by_processor_time { self.wall_s.min(self.cpu_s as f64) } else { self.wall_s }
    }
}

/// A program to run as a worker.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// Our own executable, which offers the hidden worker command.
    pub worker_exe: PathBuf,
    /// Program to become.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Working directory and the one place it may write to.
    pub directory: PathBuf,
    /// What it may read besides that, the program and the system's own files; `None` for everything.
    pub readable: Option<Vec<PathBuf>>,
    /// Environment on top of what is kept of ours.
    pub environment: Vec<(String, String)>,
    /// Limits.
    pub limits: ProcessLimits,
}

/// How a worker that ended by itself ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// The end of standard output and standard error.
    pub output: String,
}

/// Times the processor time that a process may take on the clock, where processor time is what is limited.
const WAITING: u64 = 12;
/// Output beyond this is cut from the front: only the end explains a failure.
const KEPT_OUTPUT_BYTES: usize = 4096;

/// Exit code of a worker that could not become its program.
pub const NOT_STARTED: i32 = 125;
/// What it says then. Programs may end with that code as well.
pub const NOT_STARTED_SIGN: &str = "cargo-ascend-tune: the worker cannot run";
/// What the SDK's library says when the disk is full; see `sdk/README.md`.
const TRACE_CUT_SHORT: &str = "ascend_sim: cannot write the trace";
/// What it says when the trace has reached the largest size of files, before the address of the kernel's instruction and the line of
/// its module.
const TRACE_FULL: &str = "ascend_sim: the trace is full at ";
/// What the runner says when it is ended by a signal, before what it was about.
const RUNNER_CRASHED: &str = "ascend_sim_runner: crashed";
/// Who kills processes that nobody asked to end.
const KILLED: &str = "most likely the system ran out of memory";

/// Numbers of threads of what NumPy and others compute with. Several workers run at once; and what many threads add up depends on how
/// many there are, where a reference has to be the same on every machine. Whoever sets them keeps theirs.
const THREADS: [&str; 3] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"];

/// Largest trace that a worker may write. At some 80 bytes a record this is 50 million records.
const TRACE_LIMIT_BYTES: u64 = 4 << 30;

impl WorkerCommand {
    /// Runs the worker to its end or its limits.
    pub async fn run(&self) -> Result<Ended, RunFailure> {
        let mut command = Command::new(&self.worker_exe);
        command
            .arg(WORKER)
            .arg(format!("--cpu-s={}", self.limits.cpu_s))
            .arg(format!("--memory-bytes={}", self.limits.memory_bytes))
            .arg(format!("--file-bytes={}", self.limits.file_bytes))
            .arg("--writable")
            .arg(&self.directory);
        for path in self.readable.iter().flat_map(|paths| paths.iter().chain([&self.program])) {
            command.arg("--readable").arg(path);
        }
        command
            .arg("--")
            .arg(&self.program)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(kept_environment())
            .envs(THREADS.map(|name| (name, std::env::var_os(name).unwrap_or_else(|| "1".into()))))
            .envs(self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| {
            RunFailure::Broken(format!("{}: cannot be started: {error}", self.worker_exe.display()))
        })?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let waited = tokio::time::timeout(Duration::from_secs_f64(self.limits.wall_s), async {
            let (out, err, status) = tokio::join!(tail_of(stdout), tail_of(stderr), child.wait());
            (out + &err, status)
        })
        .await;
        // Whatever the worker started must go with it, also when it ended by itself.
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let Ok((output, status)) = waited else {
            let _ = child.wait().await;
            return Err(RunFailure::TimedOut(self.limits.wall_s));
        };
        let status = status.map_err(|error| RunFailure::Broken(format!("waiting for the worker: {error}")))?;
        self.outcome(status, output)
    }

    fn outcome(&self, status: std::process::ExitStatus, output: String) -> Result<Ended, RunFailure> {
        if status.code() == Some(NOT_STARTED) && output.contains(NOT_STARTED_SIGN) {
            return Err(RunFailure::Broken(output.trim().to_owned()));
        }
        if let Some(line) = output.lines().find(|line| line.contains(TRACE_CUT_SHORT)) {
            return Err(RunFailure::Broken(line.trim().to_owned()));
        }
        let out_of_memory = output.contains("bad_alloc") || output.contains("Cannot allocate memory");
        if let Some(signal) = status.signal() {
            return Err(match signal {
                _ if out_of_memory => RunFailure::OutOfMemory(self.limits.memory_bytes >> 20),
                libc_signal::XCPU => RunFailure::TimedOut(self.limits.told_s(true)),
                libc_signal::XFSZ => self.too_long(&output),
                // Our own limits show as other signals: whoever sent these looked at the machine, not at the candidate.
                libc_signal::KILL | libc_signal::TERM | libc_signal::INT | libc_signal::HUP => {
                    RunFailure::Broken(format!("the worker was killed from outside ({}): {KILLED}", name_of(signal)))
                }
                _ => RunFailure::Crashed(describe(signal, &output)),
            });
        }
        Ok(Ended { code: status.code().unwrap_or(-1), output })
    }

    /// What a worker died of that has written more than it may.
    fn too_long(&self, output: &str) -> RunFailure {
        let limit_mib = self.limits.file_bytes >> 20;
        let Some(words) = output.lines().find_map(|line| line.strip_prefix(TRACE_FULL)) else {
            return RunFailure::Crashed(format!("it wrote a file of more than {limit_mib} MiB"));
        };
        let (site, module) = words.split_once(" in ").unwrap_or((words, ""));
        let place =
            u64::from_str_radix(site, 16).map_or_else(|_| Place::default(), |site| Symbols::new(module).place(site));
        RunFailure::EndlessTrace { limit_mib, place }
    }
}

/// Signal numbers of Linux that a dying kernel shows.
mod libc_signal {
    pub const HUP: i32 = 1;
    pub const INT: i32 = 2;
    pub const ILL: i32 = 4;
    pub const ABRT: i32 = 6;
    pub const BUS: i32 = 7;
    pub const FPE: i32 = 8;
    pub const KILL: i32 = 9;
    pub const SEGV: i32 = 11;
    pub const TERM: i32 = 15;
    pub const XCPU: i32 = 24;
    pub const XFSZ: i32 = 25;
}

fn describe(signal: i32, output: &str) -> String {
    let name = name_of(signal);
    // Where the runner says that it crashed, what was said before may say why.
    let lines: Vec<&str> = output.trim().lines().collect();
    match lines.as_slice() {
        [.., before, last] if last.starts_with(RUNNER_CRASHED) => format!("{name}; last words: {before}; {last}"),
        [.., last] => format!("{name}; last words: {last}"),
        [] => name,
    }
}

fn name_of(signal: i32) -> String {
    let name = match signal {
        libc_signal::HUP => "SIGHUP",
        libc_signal::INT => "SIGINT",
        libc_signal::KILL => "SIGKILL",
        libc_signal::TERM => "SIGTERM",
        libc_signal::ILL => "illegal instruction (SIGILL)",
        libc_signal::ABRT => "abort (SIGABRT)",
        libc_signal::BUS => "bus error (SIGBUS)",
        libc_signal::FPE => "arithmetic error such as division by zero (SIGFPE)",
        libc_signal::SEGV => "invalid memory access (SIGSEGV)",
        _ => "",
    };
    if name.is_empty() { format!("signal {signal}") } else { name.to_owned() }
}

async fn tail_of(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut kept: Vec<u8> = Vec::new();
    let mut chunk = [0_u8; 4096];
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..count]);
        if kept.len() > 2 * KEPT_OUTPUT_BYTES {
            kept.drain(..kept.len() - KEPT_OUTPUT_BYTES);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(signal: i32, output: &str) -> RunFailure {
        let command = WorkerCommand {
            worker_exe: PathBuf::new(),
            program: PathBuf::new(),
            arguments: Vec::new(),
            directory: PathBuf::new(),
            readable: None,
            environment: Vec::new(),
            limits: ProcessLimits { file_bytes: 64 << 20, ..ProcessLimits::new(1.0, 1 << 30) },
        };
        command.outcome(std::process::ExitStatus::from_raw(signal), output.to_owned()).expect_err("a failure")
    }

    #[test]
    fn processor_time_is_limited_whatever_the_clock_says() {
        let limits = ProcessLimits::of_processor_time(10, 1 << 30);
        assert_eq!((limits.cpu_s, limits.wall_s), (10, 120.0));
        assert_eq!(limits.told_s(true), 10.0);
        let shorter = limits.at_most(5);
        assert_eq!((shorter.cpu_s, shorter.wall_s), (6, 60.0));
        let by_clock = ProcessLimits::new(60.0, 1 << 30).at_most(10);
        assert_eq!((by_clock.cpu_s, by_clock.wall_s), (11, 10.0));
        assert_eq!(outcome(24, ""), RunFailure::TimedOut(1.0));
    }

    #[test]
    fn what_was_said_before_a_crash_is_part_of_its_last_words() {
        let words = "one\noptiling::IsOld() is called\nascend_sim_runner: crashed while running the tiling function\n";
        let crashed = outcome(6, words).to_string();
        let wanted =
            "last words: optiling::IsOld() is called; ascend_sim_runner: crashed while running the tiling function";
        assert!(crashed.ends_with(wanted), "{crashed}");
        assert!(outcome(6, "one\ntwo").to_string().ends_with("last words: two"));
    }

    #[test]
    fn a_trace_beyond_its_limit_is_no_crash() {
        let failure = outcome(25, "ascend_sim: the trace is full at 7f01 in 7000 8000 /none/kernel.so\nlast words\n");
        assert_eq!(failure, RunFailure::EndlessTrace { limit_mib: 64, place: Place::default() });
        assert_eq!(
            failure.to_string(),
            "the kernel does not end, or does far too much: its trace reached the limit of 64 MiB"
        );
        // Programs write other files too.
        let failure = outcome(25, "writing table.bin\n");
        assert_eq!(failure.to_string(), "the worker crashed: it wrote a file of more than 64 MiB");
    }
}
