//! The embedded simulator as a backend.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::execution::{Execution, LaunchProfile, LocatedHazard, Place, RunFailure, Tiled, TilingDecision};
use super::foreseen::Foreseen;
use super::job::{
    Description, KernelJob, ProgramJob, RunnerReply, describe_text, output_file, result_file, trace_file,
};
use super::process::{Ended, ProcessLimits, WorkerCommand};
use super::scratch::ScratchDirectory;
use super::seam::{Answer, Backend, Capabilities, ToCome};
use super::symbols::Symbols;
use super::trace_file::TraceFile;
use aicore::{
    HazardKind, LaunchReport, LaunchStatus, Machine, Options, Origin, Severity, TraceError, Warmth, analyse,
    analyse_source,
};

/// Vector cores of the chips of the family, by their platform files: Ascend910B3 and B4 have the fewer, B2 the more.
pub const VECTOR_CORES: [f64; 2] = [40.0, 48.0];
/// Vector cores beside each cube core.
const VECTOR_CORES_EACH: f64 = 2.0;

/// Runs kernels in worker processes and plays their instruction streams on a machine description.
#[derive(Clone, Debug)]
pub struct SimBackend {
    /// Our own executable.
    pub worker_exe: PathBuf,
    /// The SDK's runner program.
    pub runner: PathBuf,
    /// Directory for private run directories.
    pub scratch: PathBuf,
    /// Machine that streams are played on.
    pub machine: Arc<Machine>,
    /// Limits of one run.
    pub limits: ProcessLimits,
    /// File that an operator's latest trace stays in, for those who look at its instructions.
    pub keep_trace: Option<PathBuf>,
    /// Whether launches are played a second time for their critical path.
    pub critical_path: bool,
    /// Whether the project lets the device compiler insert synchronisation into the kernel.
    pub auto_sync: bool,
    /// What launches find in caches.
    pub warmth: Warmth,
    /// Answers of tiling functions to questions that are still to come.
    pub foreseen: Foreseen,
}

/// A trace that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Its content is not a trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl From<SimError> for RunFailure {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Io(error) => RunFailure::Broken(error.to_string()),
            // Whoever writes the trace says so when the disk is full, so this one was cut short or overwritten by the candidate.
            SimError::Trace(error) => RunFailure::Refused(error.to_string()),
        }
    }
}

/// Seconds for shape inference and a tiling function that are asked alone. They compute a few numbers, in a millisecond.
const TILING_S: u64 = 10;

/// Exit codes of the runner, section "Runner" of the SDK's README.
const RUNNER_BAD_JOB: i32 = 2;
const RUNNER_BAD_LIBRARY: i32 = 3;
const RUNNER_MACHINE: i32 = 4;

impl SimBackend {
    /// Runs a framework operator once: tiling, all blocks, outputs.
    pub async fn run_operator(&self, job: &KernelJob) -> Result<Execution, RunFailure> {
        let directory = ScratchDirectory::below(&self.scratch)?;
        let path = directory.path();
        let job_file = path.join("job.txt");
        fs_err::write(&job_file, job.text("run", path, self.platform_of_job()))
            .map_err(|error| RunFailure::Broken(error.to_string()))?;
        let environment = knob_environment(&job.knobs);
        let mut command = self.command(&self.runner, vec![job_file.into_os_string()], path, environment);
        command.readable.get_or_insert_default().extend(job.library_folders());
        let ended = command.run().await?;
        let reply: Option<RunnerReply> =
            fs_err::read(result_file(path)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(reply) = reply else { return Err(self.without_reply(&ended)) };
        match reply.status.as_str() {
            "ok" => {}
            "kernel_missing" => return Err(RunFailure::KernelMissing(reply.tiling_key)),
            "tiling_failed" => {
                let log = reply.log.join("; ");
                return Err(RunFailure::Tiling(if log.is_empty() { reply.message } else { log }));
            }
            "needs_data" => {
                let place = Symbols::new(&reply.modules).place(reply.site);
                return Err(RunFailure::NeedsData { reason: reply.message, place });
            }
            _ => return Err(self.refusal(ended.code, reply.message)),
        }
        let written = if job.timing_only { 0 } else { job.outputs.len() };
        let outputs = (0..written)
            .map(|index| fs_err::read(output_file(path, index)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| RunFailure::Broken(error.to_string()))?;
        let launches =
            if job.trace { self.analyse_file(&trace_file(path), job.timing_only).await?.0 } else { Vec::new() };
        if job.trace {
            whole(&launches)?;
        }
        if let Some(kept) = self.keep_trace.as_ref().filter(|_| job.trace) {
            fs_err::rename(trace_file(path), kept).map_err(|error| RunFailure::Broken(error.to_string()))?;
        }
        let (tiling, call) = (reply.decision(), reply.call());
        Ok(Execution { launches, outputs, tiling, knobs_read: Some(reply.knobs_read), call })
    }

    /// Runs only shape inference and the tiling function: what was decided, and the dimensions of every output.
    pub async fn tile(&self, job: &KernelJob) -> Result<Tiled, RunFailure> {
        if let Some(foreseen) = self.foreseen.take(&self.question(job)) {
            return Ok(foreseen);
        }
        let directory = ScratchDirectory::below(&self.scratch)?;
        let path = directory.path();
        let job_file = path.join("job.txt");
        fs_err::write(&job_file, job.text("tile", path, self.platform_of_job()))
            .map_err(|error| RunFailure::Broken(error.to_string()))?;
        let environment = knob_environment(&job.knobs);
        let libraries = job.library_folders();
        let command = self.tiling_command(vec![job_file.into_os_string()], path, libraries, environment);
        let ended = command.run().await.map_err(|failure| match failure {
            RunFailure::TimedOut(wall_s) => RunFailure::TilingTimedOut(wall_s),
            other => other,
        })?;
        let reply: Option<RunnerReply> =
            fs_err::read(result_file(path)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(reply) = reply else { return Err(self.without_reply(&ended)) };
        match reply.status.as_str() {
            "ok" => {}
            "tiling_failed" => {
                let log = reply.log.join("; ");
                return Err(RunFailure::Tiling(if log.is_empty() { reply.message } else { log }));
            }
            _ => return Err(self.refusal(ended.code, reply.message)),
        }
        Ok(reply.tiled())
    }

    /// The runner on files with questions for tiling functions.
    pub(super) fn tiling_command(
        &self,
        files: Vec<OsString>,
        directory: &Path,
        libraries: impl IntoIterator<Item = PathBuf>,
        environment: Vec<(String, String)>,
    ) -> WorkerCommand {
        let mut command = self.command(&self.runner, files, directory, environment);
        command.readable.get_or_insert_default().extend(libraries);
        command.limits = command.limits.at_most(TILING_S);
        command
    }

    /// What a host library registers.
    pub async fn describe(&self, host: &Path) -> Result<Description, RunFailure> {
        let directory = ScratchDirectory::below(&self.scratch)?;
        let path = directory.path();
        let job_file = path.join("job.txt");
        fs_err::write(&job_file, describe_text(host, path)).map_err(|error| RunFailure::Broken(error.to_string()))?;
        let mut command = self.command(&self.runner, vec![job_file.into_os_string()], path, Vec::new());
        command.readable.get_or_insert_default().extend(host.parent().map(Path::to_owned));
        let ended = command.run().await?;
        let reply = fs_err::read(result_file(path)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        reply.ok_or_else(|| match ended.code {
            RUNNER_MACHINE => self.without_reply(&ended),
            _ => RunFailure::Refused(format!("the host library cannot be described: {}", ended.output.trim())),
        })
    }

    /// Whose fault it is that the runner ended by itself and left no result.
    fn without_reply(&self, ended: &Ended) -> RunFailure {
        let what = match ended.code {
            RUNNER_BAD_JOB => "the runner refused its job",
            RUNNER_BAD_LIBRARY => "a built library could not be loaded",
            _ => "the runner left no result",
        };
        self.refusal(ended.code, format!("{what}: {}", ended.output.trim()))
    }

    /// Whose fault a job is that the runner ended with this code. What is built is the candidate's: a library that does not load, an
    /// operator that is not registered, a workspace of petabytes.
    fn refusal(&self, code: i32, message: String) -> RunFailure {
        match code {
            RUNNER_MACHINE => RunFailure::Broken(message),
            RUNNER_BAD_JOB if message.contains("out of memory") => {
                RunFailure::OutOfMemory(self.limits.memory_bytes >> 20)
            }
            RUNNER_BAD_JOB => RunFailure::Misfit(message),
            _ => RunFailure::Refused(message),
        }
    }

    /// Runs a direct-launch program once.
    pub async fn run_program(&self, job: &ProgramJob<'_>) -> Result<Execution, RunFailure> {
        let ProgramJob { program, arguments, project, knobs, dump, .. } = *job;
        let directory = ScratchDirectory::below(&self.scratch)?;
        let path = directory.path();
        link_project(project, path).map_err(|error| RunFailure::Broken(error.to_string()))?;
        let trace = trace_file(path);
        let mut environment = vec![
            ("ASCEND_SIM_TRACE".to_owned(), trace.display().to_string()),
            ("ASCEND_SIM_HOST_FILL".to_owned(), "1".to_owned()),
        ];
        environment.extend(self.platform_environment());
        environment.extend(knob_environment(knobs));
        if dump {
            environment.push(("ASCEND_SIM_DUMP".to_owned(), "1".to_owned()));
        }
        let arguments = arguments.iter().map(OsString::from).collect();
        let mut command = self.command(program, arguments, path, environment);
        // Its files are links into the project.
        command.readable.get_or_insert_default().push(project.to_owned());
        let ended = command.run().await?;
        let failed = || RunFailure::Program { code: ended.code, output: ended.output.trim().to_owned() };
        if !trace.exists() {
            return Err(match ended.code {
                0 => RunFailure::Refused("the program launched no kernel".to_owned()),
                _ => failed(),
            });
        }
        let (launches, outputs) = self.analyse_file(&trace, false).await?;
        // A program that finds its own results wrong knows less about the reason than the hazards of its kernels.
        let mut hazards = launches.iter().flat_map(|launch| &launch.hazards);
        if ended.code != 0 && !hazards.any(|hazard| hazard.severity == Severity::Error) {
            return Err(failed());
        }
        if ended.code == 0 {
            whole(&launches)?;
        }
        Ok(Execution { launches, outputs, tiling: TilingDecision::default(), knobs_read: None, ..Execution::default() })
    }

    /// Runs a direct-launch program and leaves the trace of its launches in a file; nothing is judged.
    pub async fn record_program(
        &self,
        program: &Path,
        arguments: &[String],
        project: &Path,
        trace: &Path,
    ) -> Result<(), RunFailure> {
        let directory = ScratchDirectory::below(&self.scratch)?;
        let path = directory.path();
        let broken = |error: std::io::Error| RunFailure::Broken(error.to_string());
        link_project(project, path).map_err(broken)?;
        let written = trace_file(path);
        let mut environment = vec![
            ("ASCEND_SIM_TRACE".to_owned(), written.display().to_string()),
            ("ASCEND_SIM_HOST_FILL".to_owned(), "1".to_owned()),
        ];
        environment.extend(self.platform_environment());
        let arguments = arguments.iter().map(OsString::from).collect();
        let mut command = self.command(program, arguments, path, environment);
        // Its files are links into the project.
        command.readable.get_or_insert_default().push(project.to_owned());
        let ended = command.run().await?;
        if ended.code != 0 {
            return Err(RunFailure::Program { code: ended.code, output: ended.output.trim().to_owned() });
        }
        if !written.exists() {
            return Err(RunFailure::Refused("the program launched no kernel".to_owned()));
        }
        fs_err::rename(&written, trace).map_err(broken)
    }

    pub(super) fn command(
        &self,
        program: &Path,
        arguments: Vec<OsString>,
        directory: &Path,
        environment: Vec<(String, String)>,
    ) -> WorkerCommand {
        WorkerCommand {
            worker_exe: self.worker_exe.clone(),
            program: program.to_owned(),
            arguments,
            directory: directory.to_owned(),
            readable: Some(self.readable(program)),
            environment,
            limits: self.limits.clone(),
        }
    }

    /// What a kernel's process may read: the work directory with libraries and data, the simulator, and its program's neighbours.
    fn readable(&self, program: &Path) -> Vec<PathBuf> {
        let of_work = self.scratch.parent().unwrap_or(&self.scratch);
        [Some(of_work), self.runner.parent(), program.parent()].into_iter().flatten().map(Path::to_owned).collect()
    }

    /// What a job says of the machine, and the variable of the same meaning.
    fn platform(&self) -> [(&'static str, &'static str, Value); 5] {
        let parameters = &self.machine.parameters;
        [
            ("soc", "ASCEND_SIM_SOC", json!(self.machine.name)),
            ("cores_aiv", "ASCEND_SIM_CORES", json!(parameters.aiv_cores as u64)),
            ("cores_aic", "ASCEND_SIM_CORES_AIC", json!(parameters.aic_cores as u64)),
            ("ub_bytes", "ASCEND_SIM_UB", json!(parameters.ub_bytes as u64)),
            ("l2_bytes", "ASCEND_SIM_L2", json!(parameters.l2_bytes as u64)),
        ]
    }

    pub(super) fn platform_of_job(&self) -> Value {
        self.platform().into_iter().map(|(key, _, value)| (key, value)).collect()
    }

    pub(super) fn platform_environment(&self) -> impl Iterator<Item = (String, String)> {
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.platform().into_iter().map(move |(_, variable, value)| (variable.to_owned(), text(value)))
    }

    /// `sample` asks which blocks stand for all.
    pub(super) async fn analyse_file(
        &self,
        trace: &Path,
        sample: bool,
    ) -> Result<(Vec<LaunchProfile>, Vec<Vec<u8>>), RunFailure> {
        let machine = Arc::clone(&self.machine);
        let trace = trace.to_owned();
        let options = Options {
            critical_path: self.critical_path,
            auto_sync: self.auto_sync,
            warmth: self.warmth,
            sample,
            ..Options::default()
        };
        let analysed = tokio::task::spawn_blocking(move || analyse_and_locate(&trace, &machine, options)).await;
        match analysed {
            Ok(result) => Ok(result?),
            Err(error) => Err(RunFailure::Broken(format!("analysing the trace: {error}"))),
        }
    }
}

impl Backend for SimBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities { origin: Origin::Modelled, exact: true, devices: 0 }
    }

    fn run_operator<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Execution> {
        Box::pin(self.run_operator(job))
    }

    fn tile<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Tiled> {
        Box::pin(self.tile(job))
    }

    fn foresee<'a>(&'a self, jobs: &'a [KernelJob]) -> ToCome<'a, ()> {
        Box::pin(self.foresee(jobs))
    }

    fn describe<'a>(&'a self, host: &'a Path) -> Answer<'a, Description> {
        Box::pin(self.describe(host))
    }

    fn run_program<'a>(&'a self, job: &'a ProgramJob<'a>) -> Answer<'a, Execution> {
        Box::pin(self.run_program(job))
    }

    fn following(&self) -> Arc<dyn Backend> {
        Arc::new(Self { critical_path: true, ..self.clone() })
    }

    fn keeping_trace(&self, file: PathBuf) -> Arc<dyn Backend> {
        Arc::new(Self { keep_trace: Some(file), ..self.clone() })
    }

    fn with_other_cores(&self) -> Option<Arc<dyn Backend>> {
        let mut machine = Machine::clone(&self.machine);
        let [few, many] = VECTOR_CORES;
        let cores = if machine.parameters.aiv_cores > few { few } else { many };
        machine.parameters.aiv_cores = cores;
        machine.parameters.aic_cores = cores / VECTOR_CORES_EACH;
        Some(Arc::new(Self { machine: Arc::new(machine), ..self.clone() }))
    }

    fn at_most(&self, seconds: u64) -> Option<Arc<dyn Backend>> {
        Some(Arc::new(Self { limits: self.limits.clone().at_most(seconds), ..self.clone() }))
    }
}

/// Refuses the trace of a program that ended well and of which it does not have the end: nothing would be known of what ran later.
fn whole(launches: &[LaunchProfile]) -> Result<(), RunFailure> {
    let fault = match launches {
        [] => "the program ended without launching a kernel",
        _ if launches.iter().all(|launch| launch.finished) => return Ok(()),
        _ => "the kernel's trace ends before its launch does: somebody closed it",
    };
    Err(RunFailure::Refused(fault.to_owned()))
}

fn analyse_and_locate(
    trace: &Path,
    machine: &Machine,
    options: Options,
) -> Result<(Vec<LaunchProfile>, Vec<Vec<u8>>), SimError> {
    let file = TraceFile::open(trace)?;
    let reports = match file.small()? {
        Some(bytes) => analyse(&bytes, machine, &options)?,
        None => analyse_source(&file, machine, &options)?,
    };
    let mut outputs = Vec::new();
    let mut launches = Vec::with_capacity(reports.len());
    for mut report in reports {
        outputs.extend(std::mem::take(&mut report.data).into_iter().map(|region| region.bytes));
        launches.push(locate(report));
    }
    Ok((launches, outputs))
}

fn locate(report: LaunchReport) -> LaunchProfile {
    let mut symbols = Symbols::new(&report.modules);
    let mut hazards: Vec<LocatedHazard> = report
        .hazards
        .into_iter()
        .map(|hazard| LocatedHazard {
            kind: hazard.kind,
            severity: hazard.severity,
            place: symbols.place(hazard.site),
            other: symbols.place(hazard.other_site),
            count: hazard.count,
            message: hazard.message,
            reach: hazard.reach,
            // The judge puts it where a race has its other access.
            output: (hazard.kind == HazardKind::UnwrittenOutput)
                .then(|| u32::try_from(hazard.other_site).ok())
                .flatten(),
        })
        .collect();
    // Stable: hazards of one kind stay in the order in which the kernel ran into them.
    hazards.sort_by_key(|hazard| (hazard.severity == Severity::Warning, is_consequence(hazard.kind), hazard.kind));
    let stall_places = report.profile.stalls.iter().map(|stall| symbols.place(stall.site)).collect();
    let path_places = report.profile.critical_path.iter().map(|step| symbols.place(step.site)).collect();
    let buffer_places = report.profile.buffers.iter().map(|buffer| symbols.place(buffer.site)).collect();
    let mut visited: BTreeMap<Place, u64> = BTreeMap::new();
    for (site, count) in report.sites {
        let place = symbols.place(site);
        if place.line > 0 {
            // Several instructions may stand in one line: each of them ran as often as its own records say.
            let known = visited.entry(place).or_default();
            *known = count.max(*known);
        }
    }
    let finished = report.status != LaunchStatus::Unfinished;
    let (profile, sample) = (report.profile, report.sample);
    LaunchProfile {
        finished,
        profile,
        hazards,
        stall_places,
        path_places,
        buffer_places,
        visited,
        sample,
        device: None,
    }
}

/// Buffers that did not fit, queues used wrongly and lengths that a division by zero left bring accesses to wrong places in their wake:
/// causes are named first.
fn is_consequence(kind: HazardKind) -> bool {
    !matches!(kind, HazardKind::UbOverflow | HazardKind::QueueMisuse | HazardKind::DivisionByZero)
}

/// How a process is told the values of knobs.
pub(super) fn knob_environment(knobs: &BTreeMap<String, i64>) -> Vec<(String, String)> {
    let list = knobs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";");
    if knobs.is_empty() { Vec::new() } else { vec![("ASCEND_SIM_KNOBS".to_owned(), list)] }
}

/// Makes the project's top-level entries visible in `directory`, except those that a run writes or that are ours.
pub(super) fn link_project(project: &Path, directory: &Path) -> std::io::Result<()> {
    const WRITTEN: [&str; 6] = ["output", "out", "target", "build", "build_out", ".git"];
    for entry in fs_err::read_dir(project)? {
        let entry = entry?;
        let name = entry.file_name();
        if WRITTEN.iter().any(|written| name == *written) {
            continue;
        }
        std::os::unix::fs::symlink(entry.path(), directory.join(&name))?;
    }
    for writable in ["output", "out"] {
        fs_err::create_dir_all(directory.join(writable))?;
    }
    Ok(())
}
