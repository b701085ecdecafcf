//! Asking a program, within a time. A trait, so that tests answer in its place.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// What a program said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it succeeded.
    pub success: bool,
    /// How it ended, in words.
    pub status: String,
    /// Its output, errors last.
    pub output: String,
}

/// Why it said nothing.
#[derive(Debug)]
pub enum AskError {
    /// It cannot be started.
    Missing(std::io::Error),
    /// It did not end in time.
    Late,
}

/// Who can be asked.
pub trait Ask {
    /// Runs a program with these arguments and waits for its answer, for no longer than the limit.
    ///
    /// # Errors
    /// Where it cannot be started or does not end in time.
    fn ask(&self, program: &Path, arguments: &[&str], limit: Duration) -> Result<Answer, AskError>;
}

/// The programs of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Ask for System {
    fn ask(&self, program: &Path, arguments: &[&str], limit: Duration) -> Result<Answer, AskError> {
        let mut command = Command::new(program);
        command.args(arguments).env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(AskError::Missing)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (said, hear) = mpsc::channel();
        // Who waits in the kernel for a device does not die when it is told to, so nobody here waits for its end or its pipes.
        if let (Some(mut output), Some(mut errors)) = (child.stdout.take(), child.stderr.take()) {
            let more = std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = errors.read_to_end(&mut bytes);
                bytes
            });
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = output.read_to_end(&mut bytes);
                bytes.extend(more.join().unwrap_or_default());
                let _ = said.send((bytes, child.wait()));
            });
        }
        match hear.recv_timeout(limit) {
            Ok((bytes, Ok(status))) => Ok(Answer {
                success: status.success(),
                status: status.to_string(),
                output: String::from_utf8_lossy(&bytes).into_owned(),
            }),
            Ok((_, Err(error))) => Err(AskError::Missing(error)),
            Err(_) => {
                if let Some(group) = group {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                Err(AskError::Late)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn programs_answer_or_are_late() {
        let shell = Path::new("/bin/sh");
        let long = Duration::from_secs(20);
        let answer = System.ask(shell, &["-c", "echo no >&2; echo yes; exit 3"], long).unwrap();
        assert_eq!((answer.success, answer.output.as_str()), (false, "yes\nno\n"));
        assert!(answer.status.contains('3'), "{}", answer.status);
        let before = Instant::now();
        let late = System.ask(shell, &["-c", "sleep 30 & wait"], Duration::from_millis(200));
        assert!(matches!(late, Err(AskError::Late)));
        assert!(before.elapsed() < Duration::from_secs(10));
        assert!(matches!(System.ask(Path::new("/nonexistent/npu-smi"), &[], long), Err(AskError::Missing(_))));
    }
}
