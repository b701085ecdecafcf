//! Compiler and CMake under limits of time and memory, and whose fault it is when they fail.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::error::{ToolError, ToolLimit};
use confinement::{NETWORK, Reach, confine, kept_environment};

/// Limits of one call of the compiler or of CMake.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolLimits {
    /// Wall-clock seconds; the processes that it starts are killed with it.
    pub wall_s: f64,
    /// Address space of each process in bytes.
    pub memory_bytes: u64,
    /// Directories that it may write, for a tool that other people's files tell what to do; empty for no such limit. In the first
    /// of them is what is temporary.
    pub writable: Vec<PathBuf>,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self { wall_s: 600.0, memory_bytes: 4 << 30, writable: Vec::new() }
    }
}

/// What a tool left behind that came to its own end.
#[derive(Clone, Debug)]
pub struct ToolRun {
    /// Whether it succeeded.
    pub success: bool,
    /// Standard error output, then standard output.
    pub output: String,
}

/// Sets limits as the worker does, then becomes the program. A shell does it because limits are set between fork and exec. Who
/// reaches the soft limit of processor time says so; the hard one cannot be told from a kill by the system.
const SCRIPT: &str = r#"ulimit -c 0 2>/dev/null
ulimit -S -t "$ASCEND_TUNE_CPU_S" 2>/dev/null
ulimit -H -t "$((ASCEND_TUNE_CPU_S + 5))" 2>/dev/null
ulimit -v "$ASCEND_TUNE_MEMORY_KIB" 2>/dev/null
unset ASCEND_TUNE_CPU_S ASCEND_TUNE_MEMORY_KIB
exec "$@""#;

/// Words of a machine in trouble: nothing is known of what was to be built.
const TROUBLE: [&str; 20] = [
    "Killed signal",
    "Killed (program",
    "unable to execute command: Killed",
    "Terminated signal",
    "terminated with signal 9",
    "terminated with signal 15",
    // The linker writes through a mapping: on a full disk it gets SIGBUS.
    "terminated with signal 7",
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Too many open files",
    "Input/output error",
    "Resource temporarily unavailable",
    "fork: Cannot allocate memory",
    "cannot execute '",
    "cannot execute ‘",
    "cannot exec",
    "error trying to exec",
    "fatal error: cannot find 'ld'",
    "fatal error: cannot find ‘ld’",
];
/// Words of a tool that its memory limit stopped.
const OUT_OF_MEMORY: [&str; 5] = [
    "out of memory allocating",
    "virtual memory exhausted",
    "Cannot allocate memory",
    "LLVM ERROR: out of memory",
    "std::bad_alloc",
];
/// Words of a tool that its limit of processor time stopped.
const OUT_OF_TIME: [&str; 2] = ["CPU time limit exceeded", "terminated with signal 24"];
/// In these lines the sources speak, not the tool.
const SAID_BY_SOURCES: [&str; 3] = ["#error", "#warning", "static assertion"];

/// Runs a command under limits. `name` stands in messages, `fix` says how to get the program.
///
/// # Errors
/// Where it cannot be run, runs into a limit, or the machine is in trouble. A tool that says no is no error.
pub fn run_tool(command: &Command, limits: &ToolLimits, name: &str, fix: &str) -> Result<ToolRun, ToolError> {
    let trouble = |message: String, fix: &str| ToolError::Trouble { message, fix: fix.to_owned() };
    let (status, output, in_time) = wait(command, limits).map_err(|error| {
        let program = command.get_program().to_string_lossy();
        trouble(format!("{name} {program} cannot be run ({error})"), fix)
    })?;
    if !in_time {
        return Err(ToolError::Limit { tool: name.to_owned(), limit: ToolLimit::Seconds(limits.wall_s) });
    }
    if status.success() {
        return Ok(ToolRun { success: true, output });
    }
    // What the shell says in place of the program.
    if matches!(status.code(), Some(126 | 127)) && output.contains("exec") {
        return Err(trouble(format!("{name} cannot be run ({})", output.trim()), fix));
    }
    match end_of(status, &output) {
        End::Failed => Ok(ToolRun { success: false, output }),
        End::OutOfTime => Err(ToolError::Limit { tool: name.to_owned(), limit: ToolLimit::Seconds(limits.wall_s) }),
        End::OutOfMemory => {
            Err(ToolError::Limit { tool: name.to_owned(), limit: ToolLimit::MemoryMib(limits.memory_bytes >> 20) })
        }
        End::Trouble(line) => Err(trouble(
            format!("{name} could not finish: {line}"),
            "free memory or disk space, or use fewer --jobs; this says nothing about the sources",
        )),
    }
}

/// How a tool that failed ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// It said no.
    Failed,
    /// The limit of processor time.
    OutOfTime,
    /// The limit of memory.
    OutOfMemory,
    /// The machine is at fault, in this line's words.
    Trouble(String),
}

fn end_of(status: ExitStatus, output: &str) -> End {
    const XCPU: i32 = 24;
    const SENT_FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];
    match status.signal() {
        Some(XCPU) => return End::OutOfTime,
        Some(signal) if SENT_FROM_OUTSIDE.contains(&signal) => {
            return End::Trouble(format!("it was killed by signal {signal}, most likely because memory ran out"));
        }
        _ => {}
    }
    let said = || output.lines().filter(|line| !SAID_BY_SOURCES.iter().any(|word| line.contains(word)));
    let has = |words: &[&str]| said().find(|line| words.iter().any(|word| line.contains(word)));
    if let Some(line) = has(&TROUBLE) {
        return End::Trouble(line.trim().to_owned());
    }
    if has(&OUT_OF_TIME).is_some() {
        return End::OutOfTime;
    }
    if has(&OUT_OF_MEMORY).is_some() { End::OutOfMemory } else { End::Failed }
}

/// Starts the command behind the script and waits. Says whether it ended in time.
fn wait(command: &Command, limits: &ToolLimits) -> io::Result<(ExitStatus, String, bool)> {
    let mut limited = Command::new("/bin/sh");
    limited.arg("-c").arg(SCRIPT).arg("sh").arg(command.get_program()).args(command.get_args());
    if let Some(first) = limits.writable.first() {
        let temporary = first.join("tmp");
        std::fs::create_dir_all(&temporary)?;
        limited.env_clear().envs(kept_environment()).env("TMPDIR", temporary);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        limited.current_dir(directory);
    }
    // A second more: who loops is told from who waits, and both from a kill by the system.
    limited.env("ASCEND_TUNE_CPU_S", (limits.wall_s.ceil() as u64 + 1).to_string());
    limited.env("ASCEND_TUNE_MEMORY_KIB", (limits.memory_bytes >> 10).to_string());
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = spawn(limited, &limits.writable)?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let late = end.recv_timeout(Duration::from_secs_f64(limits.wall_s)) == Err(mpsc::RecvTimeoutError::Timeout);
            if let Some(group) = group.filter(|_| late) {
                // Gone already if it ended at this very moment.
                let _ = kill_process_group(group, Signal::KILL);
            }
            !late
        });
        let output = child.wait_with_output();
        drop(ended);
        let in_time = watch.join().unwrap_or(true);
        let output = output?;
        let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stdout));
        Ok((output.status, text, in_time))
    })
}

/// Starts a tool that can write nowhere but in these directories, and use no network unless that is asked for; anywhere if there
/// are none.
fn spawn(mut command: Command, writable: &[PathBuf]) -> io::Result<Child> {
    if writable.is_empty() {
        return command.spawn();
    }
    let network = std::env::var_os(NETWORK).is_some_and(|value| value == "on");
    let writable = writable.iter().filter(|directory| directory.is_dir()).cloned().collect();
    let reach = Reach { writable, readable: None, network };
    // Rights are given up by a thread, and by what it starts.
    std::thread::spawn(move || confine(&reach).and_then(|()| command.spawn()))
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it ended")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use confinement::Layers;

    fn shell(script: &str, limits: &ToolLimits) -> Result<ToolRun, ToolError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        run_tool(&command, limits, "the C++ compiler", "install one")
    }

    fn limits(wall_s: f64, memory_mib: u64) -> ToolLimits {
        ToolLimits { wall_s, memory_bytes: memory_mib << 20, ..ToolLimits::default() }
    }

    #[test]
    fn output_and_success_come_back() {
        let said = shell("echo yes; echo no >&2", &ToolLimits::default()).unwrap();
        assert_eq!((said.success, said.output.as_str()), (true, "no\nyes\n"));
        assert!(!shell("exit 1", &ToolLimits::default()).unwrap().success);
    }

    #[test]
    fn a_tool_that_waits_for_ever_is_killed_with_what_it_started() {
        let started = std::time::Instant::now();
        let error = shell("sleep 60 & wait", &limits(0.3, 512)).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(20));
        assert!(matches!(&error, ToolError::Limit { limit: ToolLimit::Seconds(_), .. }), "{error}");
        assert!(error.to_string().contains("compile-timeout-s"), "{error}");
    }

    #[test]
    fn a_killed_or_missing_tool_is_the_machines_fault() {
        for script in [
            "kill -9 $$",
            "echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1",
            "echo 'a.s: fatal error: error writing to a.o: No space left on device'; exit 1",
            "exec /nonexistent/g++ a.cpp",
        ] {
            let error = shell(script, &ToolLimits::default()).unwrap_err();
            assert!(matches!(error, ToolError::Trouble { .. }), "{script}: {error}");
        }
        let missing =
            run_tool(&Command::new("/nonexistent/g++"), &ToolLimits::default(), "the C++ compiler", "install one");
        let error = missing.unwrap_err();
        assert!(matches!(error, ToolError::Trouble { .. }), "{error}");
        assert!(error.to_string().contains("install one"), "{error}");
    }

    #[test]
    fn what_the_sources_say_is_no_trouble() {
        let said = shell("echo 'a.cpp:1:2: error: #error No space left on device'; exit 1", &ToolLimits::default());
        assert!(!said.unwrap().success);
    }

    #[test]
    fn a_tool_that_needs_too_much_memory_is_told_its_limit() {
        let words = "echo 'cc1plus: out of memory allocating 9 bytes after a total of 3 bytes'; exit 1";
        let error = shell(words, &limits(60.0, 64)).unwrap_err();
        assert!(error.to_string().contains("64 MiB"), "{error}");
        assert!(error.to_string().contains("compile-memory-mib"), "{error}");
        // The limit is there, and what a tool starts has it too.
        assert_eq!(shell("sh -c 'ulimit -v'", &limits(60.0, 64)).unwrap().output.trim(), "65536");
    }

    /// A tool does what the files that it reads tell it to.
    #[test]
    fn files_outside_stay_as_they_are_and_secrets_are_not_told() {
        if !Layers::of_this_machine().files {
            return;
        }
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = outside.path().join("source.cpp");
        std::fs::write(&file, "mine").unwrap();
        let limits = ToolLimits { writable: vec![inside.path().to_owned()], ..limits(10.0, 1024) };
        let script = format!("echo theirs > {}; echo done > {}/log", file.display(), inside.path().display());
        let run = shell(&script, &limits).unwrap();
        assert!(run.success, "{}", run.output);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert!(inside.path().join("log").exists());
        // Cargo tells tests, and nobody else, where they come from.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert!(shell("test -z \"$CARGO_MANIFEST_DIR\"", &limits).unwrap().success);
    }
}
