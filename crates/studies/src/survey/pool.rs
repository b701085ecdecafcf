//! Many trials at a time, each in a process of its own with a time limit.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;

use super::discover::Found;
use super::trial::{Progress, Task};
use events::survey::{Cause, CauseKind, State, StepOutcome, SurveyStep, Surveyed};

/// Settings that all trials of a survey share.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Our own executable, which offers the hidden trial command.
    pub exe: PathBuf,
    /// Arguments of the hidden command that come before the task.
    pub words: Vec<String>,
    /// Trials at a time.
    pub jobs: usize,
    /// Wall-clock limit of a trial.
    pub timeout: Duration,
}

/// Runs trials and hands every outcome to `done` as soon as it is there. `done` may stop the pool with an error.
pub async fn run_all<Error>(
    options: &PoolOptions,
    trials: Vec<(Found, Task)>,
    mut done: impl FnMut(usize, Surveyed) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut running: JoinSet<(usize, Surveyed)> = JoinSet::new();
    let mut waiting = trials.into_iter().enumerate();
    loop {
        while running.len() < options.jobs.max(1) {
            let Some((index, (found, task))) = waiting.next() else { break };
            let options = options.clone();
            running.spawn(async move { (index, run_one(&options, &found, &task).await) });
        }
        match running.join_next().await {
            None => return Ok(()),
            Some(Ok((index, outcome))) => done(index, outcome)?,
            // A trial that panics here is a bug of ours, and the others are worth having all the same.
            Some(Err(error)) => tracing::error!(%error, "a trial was lost"),
        }
    }
}

/// Runs one trial to its end or its limit.
async fn run_one(options: &PoolOptions, found: &Found, task: &Task) -> Surveyed {
    let started = Instant::now();
    let mut outcome = Surveyed {
        repository: found.repository.clone(),
        operator: found.operator.clone(),
        shape: found.shape,
        class: found.class,
        op_type: String::new(),
        case: String::new(),
        steps: Vec::new(),
        witnesses: Vec::new(),
        tiling_tests: None,
        kernel_tests: None,
        wall_s: 0.0,
    };
    let mut open: Option<(SurveyStep, Instant)> = None;
    let ended = tokio::time::timeout(options.timeout, follow(options, task, &mut outcome, &mut open)).await;
    let stop = match ended {
        Ok(Ok(None)) => None,
        Ok(Ok(Some(message))) => {
            Some(Cause::new(CauseKind::Machine, super::cause::general(&message))).map(|cause| (cause, message))
        }
        Ok(Err(error)) => {
            Some((Cause::new(CauseKind::Machine, super::cause::general(&error.to_string())), error.to_string()))
        }
        Err(_) => {
            let detail = format!("not ready after {} s", options.timeout.as_secs());
            Some((Cause::new(CauseKind::TimeOut, "the whole trial"), detail))
        }
    };
    if let Some((cause, detail)) = stop {
        let (step, since) = open.unwrap_or((SurveyStep::Discover, started));
        outcome.steps.push(StepOutcome {
            step,
            state: State::Failed,
            wall_s: since.elapsed().as_secs_f64(),
            cause: Some(cause),
            detail,
        });
    }
    outcome.wall_s = started.elapsed().as_secs_f64();
    outcome
}

/// Ends a trial's process group when the trial is dropped, as a time limit does.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Starts the trial and takes down what it says. Text of a failure where it ended by itself without being ready.
async fn follow(
    options: &PoolOptions,
    task: &Task,
    outcome: &mut Surveyed,
    open: &mut Option<(SurveyStep, Instant)>,
) -> std::io::Result<Option<String>> {
    fs_err::create_dir_all(&task.work_directory)?;
    let errors = log_file(&task.work_directory)?;
    let mut child = Command::new(&options.exe)
        .args(&options.words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let group = Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&serde_json::to_vec(task)?).await?;
    }
    if let Some(output) = child.stdout.take() {
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await? {
            match serde_json::from_str::<Progress>(&line) {
                Ok(Progress::Begins { step }) => *open = Some((step, Instant::now())),
                Ok(Progress::Operator { op_type }) => outcome.op_type = op_type,
                Ok(Progress::Case { case }) => outcome.case = case,
                Ok(Progress::Witness(testimony)) => outcome.witnesses.push(testimony),
                Ok(Progress::TilingTests(counts)) => outcome.tiling_tests = Some(counts),
                Ok(Progress::KernelTests(counts)) => outcome.kernel_tests = Some(counts),
                Ok(Progress::Ended(step)) => {
                    *open = None;
                    outcome.steps.push(step);
                }
                Err(error) => tracing::debug!(%error, line, "a line that is no progress"),
            }
        }
    }
    let status = child.wait().await?;
    drop(group);
    if status.success() {
        return Ok(None);
    }
    let log = std::fs::read_to_string(task.work_directory.join(LOG)).unwrap_or_default();
    let last = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(Some(format!("the trial ended with {status}: {last}")))
}

const LOG: &str = "trial.log";

fn log_file(directory: &Path) -> std::io::Result<Stdio> {
    Ok(std::fs::File::create(directory.join(LOG))?.into())
}
