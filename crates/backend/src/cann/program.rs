//! A program with a main of its own on a device: run as its user would run it, and under the profiler for its times.

use std::path::{Path, PathBuf};
use std::process::Output;

use ::cann::measure::{MeasureOptions, Samples};
use ::cann::profiler::{PrivateFolder, SummaryRow, is_kernel, read_summary};
use tokio::process::Command;

use super::super::execution::{DeviceTime, RunFailure};
use super::super::sim::link_project;
use super::child::ended_within;
use super::options::FleetOptions;

/// Runs under the profiler for one time: each is a process, and takes seconds.
const RUNS: MeasureOptions =
    MeasureOptions { warm_up: 0, warm_up_us: 0, least: 3, most: 9, precision: 0.01, flush: false, rotate: 1 };
/// Seconds that the profiler may take beyond the program itself: it writes files and starts services.
const PROFILER_S: f64 = 120.0;
/// The end of what a program printed that is kept.
const KEPT_BYTES: usize = 2000;

/// A program on a device.
#[derive(Clone, Debug)]
pub(super) struct ProgramLaunch {
    /// The program.
    pub program: PathBuf,
    /// Folders of libraries that it is linked with.
    pub library_folders: Vec<PathBuf>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The project whose data it sees.
    pub project: PathBuf,
    /// Kernels that it launches, one after the other.
    pub kernels: Vec<String>,
}

/// Why a program gave no times.
#[derive(Debug)]
pub(super) enum ProgramFailure {
    /// It ended otherwise than well.
    Program(RunFailure),
    /// The profiler did, or does not say what is needed.
    Profiler(String),
}

/// A program with where and how it is run.
pub(super) struct ProgramRun<'a> {
    /// The program.
    pub launch: &'a ProgramLaunch,
    /// What a fleet is made with.
    pub options: &'a FleetOptions,
    /// The toolkit's environment, and what binds a child to the device.
    pub environment: Vec<(String, String)>,
}

impl ProgramRun<'_> {
    /// Runs it as its user would: what it says of itself is its exit code.
    pub async fn plain(&self) -> Result<(), ProgramFailure> {
        let folder = self.folder()?;
        let mut command = Command::new(&self.launch.program);
        command.args(&self.launch.arguments);
        let ended = self.ended(command, folder.path(), self.options.wall_s).await?;
        let output = end_of(&ended);
        match (ended.status.code(), std::os::unix::process::ExitStatusExt::signal(&ended.status)) {
            (Some(0), _) => Ok(()),
            (Some(code), _) => Err(ProgramFailure::Program(RunFailure::Program { code, output })),
            (None, signal) => {
                let signal = signal.unwrap_or_default();
                let message = format!("on the device the program was killed by signal {signal}: {output}");
                Err(ProgramFailure::Program(RunFailure::Crashed(message)))
            }
        }
    }

    /// Times of its launches, in their order.
    pub async fn timed(&self) -> Result<Vec<DeviceTime>, ProgramFailure> {
        let mut of_launches = vec![Samples::default(); self.launch.kernels.len()];
        let mut core_us = vec![None; self.launch.kernels.len()];
        // There are enough of them when the sum is known well.
        let mut together = Samples::default();
        while together.wanted(&RUNS) > 0 {
            let tasks = self.profiled_once().await?;
            let times: Vec<Option<f64>> = tasks.iter().map(|task| task.task_us).collect();
            let Some(times) = times.into_iter().collect::<Option<Vec<f64>>>() else {
                together.discard();
                continue;
            };
            together.extend([times.iter().sum()]);
            for (place, us) in times.into_iter().enumerate() {
                of_launches[place].extend([us]);
                core_us[place] = tasks[place].core_us;
            }
        }
        let times = of_launches.iter().zip(core_us).map(|(samples, core_us)| {
            let time = samples.measured()?;
            let (task_us, spread, count) = (time.median_us, time.spread, time.count);
            Some(DeviceTime { task_us, spread, count, core_us, pipes: None })
        });
        times.collect::<Option<_>>().ok_or_else(|| {
            ProgramFailure::Profiler(format!("the profiler tells no task duration in {} runs", 2 * RUNS.most))
        })
    }

    async fn profiled_once(&self) -> Result<Vec<SummaryRow>, ProgramFailure> {
        let Some(profiler) = &self.options.task_profiler else {
            return Err(ProgramFailure::Profiler("the toolkit has no msprof, which times programs".to_owned()));
        };
        let folder = self.folder()?;
        let output = folder.path().join("profile");
        let private = std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&output);
        private.map_err(|error| broken(&error))?;
        let mut command = Command::new(profiler);
        let words = std::iter::once(self.launch.program.display().to_string());
        let words: Vec<String> = words.chain(self.launch.arguments.iter().cloned()).collect();
        // It cuts the application at its spaces.
        if let Some(word) = words.iter().find(|word| word.is_empty() || word.contains(char::is_whitespace)) {
            return Err(ProgramFailure::Profiler(format!("msprof takes no application with {word:?} among its words")));
        }
        command.arg(format!("--application={}", words.join(" "))).arg(format!("--output={}", output.display())).args([
            "--task-time=l1",
            "--aic-mode=task-based",
            "--aic-metrics=PipeUtilization",
        ]);
        let ended = self.ended(command, folder.path(), self.options.wall_s + PROFILER_S).await?;
        if !ended.status.success() {
            return Err(ProgramFailure::Profiler(format!("msprof ended with {}: {}", ended.status, end_of(&ended))));
        }
        let rows = read_summary(&output).map_err(|error| ProgramFailure::Profiler(error.to_string()))?;
        of_kernels(rows, &self.launch.kernels).map_err(ProgramFailure::Profiler)
    }

    /// A folder of its own that looks like the project's.
    fn folder(&self) -> Result<PrivateFolder, ProgramFailure> {
        let folder = PrivateFolder::below(&self.options.scratch).map_err(|error| broken(&error))?;
        link_project(&self.launch.project, folder.path()).map_err(|error| broken(&error))?;
        Ok(folder)
    }

    /// Runs a command in a folder.
    async fn ended(&self, mut command: Command, folder: &Path, wall_s: f64) -> Result<Output, ProgramFailure> {
        let libraries = self.launch.library_folders.iter().map(|folder| folder.display().to_string());
        let known = self.environment.iter().find(|(name, _)| name == "LD_LIBRARY_PATH").map(|(_, value)| value.clone());
        let path: Vec<String> = libraries.chain(known).collect();
        let name = command.as_std().get_program().to_string_lossy().into_owned();
        command.envs(self.environment.iter().cloned()).env("LD_LIBRARY_PATH", path.join(":")).current_dir(folder);
        let ended = ended_within(&mut command, wall_s).await;
        ended
            .map_err(|error| ProgramFailure::Profiler(format!("{name}: {error}")))?
            .ok_or(ProgramFailure::Program(RunFailure::TimedOut(wall_s)))
    }
}

fn broken(error: &impl std::fmt::Display) -> ProgramFailure {
    ProgramFailure::Program(RunFailure::Broken(error.to_string()))
}

/// The end of what a program printed.
fn end_of(ended: &Output) -> String {
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    let said = said.trim();
    let from = (said.len().saturating_sub(KEPT_BYTES)..said.len()).find(|at| said.is_char_boundary(*at));
    said[from.unwrap_or(0)..].to_owned()
}

/// Tasks of these kernels in the order in which they ran. Frameworks launch helpers of their own, which have other names.
fn of_kernels(rows: Vec<SummaryRow>, kernels: &[String]) -> Result<Vec<SummaryRow>, String> {
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let mut tasks: Vec<SummaryRow> =
        rows.into_iter().filter(|row| kernels.iter().any(|kernel| is_kernel(&row.name, kernel))).collect();
    tasks.sort_by(|left, right| left.start_us.unwrap_or(0.0).total_cmp(&right.start_us.unwrap_or(0.0)));
    let in_order =
        tasks.len() == kernels.len() && tasks.iter().zip(kernels).all(|(task, kernel)| is_kernel(&task.name, kernel));
    if in_order {
        return Ok(tasks);
    }
    Err(format!(
        "the program launches {} in the simulator, and the profiler saw on the device: {}",
        kernels.join(", "),
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, start_us: f64, task_us: f64) -> SummaryRow {
        SummaryRow {
            name: name.to_owned(),
            task_us: Some(task_us),
            core_us: None,
            blocks: None,
            start_us: Some(start_us),
        }
    }

    #[test]
    fn tasks_are_those_of_the_kernels_in_the_order_of_launches() {
        let kernels = ["add".to_owned(), "mul".to_owned(), "add".to_owned()];
        let rows = vec![row("add_1", 5.0, 3.0), row("Cast", 0.0, 9.0), row("mul", 3.0, 2.0), row("add_1", 1.0, 1.0)];
        let times: Vec<_> = of_kernels(rows, &kernels).unwrap().iter().map(|task| task.task_us).collect();
        assert_eq!(times, [Some(1.0), Some(2.0), Some(3.0)]);
        let refused = of_kernels(vec![row("Cast", 0.0, 9.0)], &kernels).unwrap_err();
        assert!(refused.contains("launches add, mul, add") && refused.contains("on the device: Cast"), "{refused}");
        // As many, but others in between.
        let rows = vec![row("add", 1.0, 1.0), row("add", 2.0, 1.0), row("mul", 3.0, 1.0)];
        assert!(of_kernels(rows, &kernels).is_err());
    }
}
