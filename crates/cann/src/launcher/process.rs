//! A launcher that runs: requests go in, answers come out, and none of them waits for ever.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::fault::LaunchFailure;
use super::protocol::{Hello, LoadRequest, Nothing, RunRequest, Times, answer, is_answer, line};

/// How a launcher is started.
#[derive(Clone, Debug, Default)]
pub struct ProcessOptions {
    /// The program.
    pub program: PathBuf,
    /// Its environment on top of ours: the toolkit's, and the one device that it is to see.
    pub environment: Vec<(String, String)>,
    /// Working directory: runtimes write logs beside themselves.
    pub directory: PathBuf,
    /// Seconds for starting and for loading.
    pub start_s: f64,
}

/// A launcher on one device.
#[derive(Debug)]
pub struct LauncherProcess {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    errors: PathBuf,
    start_s: f64,
}

/// What is quoted of a launcher that ended.
const QUOTED: usize = 1500;

impl LauncherProcess {
    /// Starts one and asks what its device is.
    ///
    /// # Errors
    /// Where it does not start, or the device does not answer.
    pub async fn start(options: &ProcessOptions) -> Result<(Self, Hello), LaunchFailure> {
        let ended = |error: std::io::Error| LaunchFailure::Ended(error.to_string());
        fs_err::create_dir_all(&options.directory).map_err(ended)?;
        let errors = options.directory.join("launcher.log");
        let log = fs_err::File::create(&errors).map_err(ended)?;
        let mut child = Command::new(&options.program)
            .envs(options.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&options.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.into_parts().0)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| LaunchFailure::Ended(format!("{}: {error}", options.program.display())))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(LaunchFailure::Ended("it has no pipes".to_owned()));
        };
        let output = BufReader::new(output).lines();
        let mut process = Self { child, input, output, errors, start_s: options.start_s };
        let hello = process.ask("hello", None::<&Nothing>, options.start_s).await?;
        Ok((process, hello))
    }

    /// Loads an object.
    ///
    /// # Errors
    /// Where the device refuses it.
    pub async fn load(&mut self, request: &LoadRequest) -> Result<(), LaunchFailure> {
        self.ask::<_, Nothing>("load", Some(request), self.start_s).await.map(|_| ())
    }

    /// Forgets an object.
    ///
    /// # Errors
    /// Where the launcher is gone.
    pub async fn unload(&mut self, id: &str) -> Result<(), LaunchFailure> {
        #[derive(Serialize)]
        struct Unload<'id> {
            id: &'id str,
        }
        self.ask::<_, Nothing>("unload", Some(&Unload { id }), self.start_s).await.map(|_| ())
    }

    /// Runs and times jobs: microseconds of each, in the order in which they were taken.
    ///
    /// # Errors
    /// Where a launch fails, or takes longer than all of it may: `limit_s`.
    pub async fn run(&mut self, request: &RunRequest, limit_s: f64) -> Result<Vec<Vec<f64>>, LaunchFailure> {
        Ok(self.ask::<_, Times>("run", Some(request), limit_s).await?.times_us)
    }

    async fn ask<Request: Serialize, Body: for<'de> Deserialize<'de>>(
        &mut self,
        what: &str,
        request: Option<&Request>,
        limit_s: f64,
    ) -> Result<Body, LaunchFailure> {
        let text = line(what, request)?;
        let asked = async {
            if self.input.write_all(text.as_bytes()).await.is_err() || self.input.flush().await.is_err() {
                return None;
            }
            while let Ok(Some(line)) = self.output.next_line().await {
                if is_answer(&line) {
                    return Some(line);
                }
            }
            None
        };
        match tokio::time::timeout(Duration::from_secs_f64(limit_s), asked).await {
            Ok(Some(line)) => answer(&line),
            Ok(None) => Err(self.gone().await),
            Err(_) => {
                self.kill().await;
                Err(LaunchFailure::TimedOut(limit_s))
            }
        }
    }

    /// Ends it. What it held of the device is freed by that.
    pub async fn kill(&mut self) {
        // Whatever it started goes with it. It may have ended already; either way nothing is left of it.
        if let Some(group) = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.start_kill();
        let _ = tokio::time::timeout(Duration::from_secs(10), self.child.wait()).await;
    }

    /// Why it does not answer.
    async fn gone(&mut self) -> LaunchFailure {
        let status = match tokio::time::timeout(Duration::from_secs(5), self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            _ => "its output is closed".to_owned(),
        };
        LaunchFailure::Ended(format!("{status}{}", last_words(&self.errors)))
    }
}

fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let text = text.trim();
    let from = text.char_indices().rev().nth(QUOTED).map_or(0, |(at, _)| at);
    if text.is_empty() { String::new() } else { format!("; {}", &text[from..]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launcher::fault::DeviceFault;
    use std::os::unix::fs::PermissionsExt;

    /// A launcher that answers as the script says.
    fn scripted(folder: &Path, script: &str) -> ProcessOptions {
        let program = folder.join("launcher.sh");
        fs_err::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        ProcessOptions { program, environment: Vec::new(), directory: folder.join("work"), start_s: 5.0 }
    }

    const HELLO: &str = "echo '[INFO] loaded'; read line; echo '{\"ok\":true,\"soc\":\"Ascend910B2\"}'";

    fn run() -> RunRequest {
        RunRequest {
            jobs: Vec::new(),
            order: vec![],
            warm_up: 0,
            warm_up_us: 0,
            flush_bytes: 0,
            rotate: 1,
            timeout_ms: 100,
        }
    }

    #[tokio::test]
    async fn answers_are_read_past_what_libraries_print() {
        let folder = tempfile::tempdir().unwrap();
        let script =
            format!("{HELLO}; read line; echo noise; echo '{{\"ok\":true,\"times_us\":[[1.5,2]]}}'; read line");
        let (mut process, hello) = LauncherProcess::start(&scripted(folder.path(), &script)).await.unwrap();
        assert_eq!(hello.soc, "Ascend910B2");
        assert_eq!(process.run(&run(), 5.0).await.unwrap(), [vec![1.5, 2.0]]);
    }

    #[tokio::test]
    async fn a_launcher_that_hangs_is_killed_and_one_that_dies_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let (mut process, _) =
            LauncherProcess::start(&scripted(folder.path(), &format!("{HELLO}; sleep 60"))).await.unwrap();
        let failure = process.run(&run(), 0.2).await.unwrap_err();
        assert_eq!((failure.clone(), failure.fault()), (LaunchFailure::TimedOut(0.2), DeviceFault::Hang));
        assert!(matches!(process.run(&run(), 5.0).await, Err(LaunchFailure::Ended(_))), "it is gone");

        let dies = format!("{HELLO}; read line; echo 'HBM gone' >&2; exit 7");
        let (mut process, _) = LauncherProcess::start(&scripted(folder.path(), &dies)).await.unwrap();
        let failure = process.run(&run(), 5.0).await.unwrap_err().to_string();
        assert_eq!(failure, "the launcher ended: exit status: 7; HBM gone");
    }

    #[tokio::test]
    async fn faults_have_codes() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = "{\"ok\":false,\"stage\":\"running the kernel\",\"code\":507054,\"message\":\"ECC\"}";
        let script = format!("{HELLO}; read line; echo '{refusal}'; read line");
        let (mut process, _) = LauncherProcess::start(&scripted(folder.path(), &script)).await.unwrap();
        assert_eq!(process.run(&run(), 5.0).await.unwrap_err().fault(), DeviceFault::Ecc);
        let missing = ProcessOptions { program: folder.path().join("none"), ..scripted(folder.path(), "") };
        let failure = LauncherProcess::start(&missing).await.unwrap_err().to_string();
        assert!(failure.contains("none: "), "{failure}");
    }
}
