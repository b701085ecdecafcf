//! One device: the launcher on it, what is loaded there, and what its faults mean.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::cann::launcher::{DeviceFault, Hello, LaunchFailure, LauncherProcess, LoadRequest, ProcessOptions, RunRequest};
use ::cann::measure::{MeasureOptions, Samples};
use ::cann::profiler::{KernelLaunch, OpProfile, PrivateFolder, ProfilerError};
use tokio::process::Command;

use super::super::execution::{DeviceTime, RunFailure};
use super::child::ended_within;
use super::launch::DeviceLaunch;
use super::options::{FleetDevice, FleetOptions, Route, Told};
use super::program::{ProgramFailure, ProgramLaunch, ProgramRun};

/// Objects that stay loaded.
const LOADED: usize = 64;
/// Seconds for starting a launcher and for loading an object.
const START_S: f64 = 60.0;
/// Seconds for a run of the profiler, which runs a kernel several times and writes files.
const PROFILER_S: f64 = 300.0;
/// Runs of the profiler in which a device may come up to its clock.
const CLOCK_TRIES: u32 = 3;
/// Runs of the profiler for one time: each is a process, and takes seconds.
const REPLAYS: MeasureOptions =
    MeasureOptions { warm_up: 5, warm_up_us: 0, least: 3, most: 9, precision: 0.01, flush: false, rotate: 1 };

/// Why a device gave no answer.
#[derive(Debug)]
pub(super) enum SlotFailure {
    /// The launch is at fault.
    Launch(RunFailure),
    /// The device is: nothing is known of the launch.
    Device(String),
    /// This route does not lead to any device of this machine.
    Route(String),
}

/// One device.
#[derive(Debug)]
pub(super) struct Slot {
    device: FleetDevice,
    options: Arc<FleetOptions>,
    process: Option<(LauncherProcess, Hello)>,
    loaded: Vec<String>,
    /// Whether a launcher has answered here before.
    answered: bool,
}

impl Slot {
    /// Nothing is started yet.
    pub fn new(device: FleetDevice, options: Arc<FleetOptions>) -> Self {
        Self { device, options, process: None, loaded: Vec::new(), answered: false }
    }

    /// What the device is called.
    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// Runs a launch. A fault is seen twice before it is one: the first may be what another left behind.
    pub async fn run(&mut self, launch: &DeviceLaunch, route: &Route, profiled: bool) -> Result<Told, SlotFailure> {
        if let Route::Replay(_) = route {
            return self.replayed(launch).await;
        }
        let mut first = None;
        loop {
            let failure = match self.launched(launch).await {
                Ok(mut told) => {
                    if profiled && self.options.profiler.is_some() {
                        // The breakdown is an extra: times and outputs are there without it. The clock is not.
                        told.profile = self.profiled(launch).await?;
                    }
                    return Ok(told);
                }
                Err(failure) => failure,
            };
            let fault = match failure {
                Failed::Launch(failure) => failure,
                Failed::Other(failure) => return Err(failure),
            };
            let meaning = fault.fault();
            if meaning.spoils_process() {
                self.stop().await;
            }
            if meaning.takes_device_out() {
                return Err(SlotFailure::Device(fault.to_string()));
            }
            if first.replace(meaning).is_some() || meaning == DeviceFault::Refused {
                return Err(SlotFailure::Launch(verdict(&fault)));
            }
        }
    }

    /// Runs a program: as its user would, for what it says of itself, and under the profiler. What goes wrong is seen twice before it is
    /// the program's, and only where the device answers others.
    pub async fn run_program(&mut self, launch: &ProgramLaunch) -> Result<Vec<DeviceTime>, SlotFailure> {
        // A launcher holds the device; a program may want it for itself.
        self.stop().await;
        let mut failed = false;
        loop {
            let run = ProgramRun { launch, options: &self.options, environment: self.environment() };
            let ended = match run.plain().await {
                Ok(()) => run.timed().await,
                Err(failure) => Err(failure),
            };
            let failure = match ended {
                Ok(times) => return Ok(times),
                Err(ProgramFailure::Program(failure)) => failure,
                Err(ProgramFailure::Profiler(message)) => RunFailure::NoDevice(message),
            };
            self.answers().await?;
            if std::mem::replace(&mut failed, true) {
                return Err(SlotFailure::Launch(failure));
            }
        }
    }

    /// Whether the device answers somebody else, where there is a launcher to ask it.
    async fn answers(&mut self) -> Result<(), SlotFailure> {
        let asked = self.launcher().await.map(|_| ());
        self.stop().await;
        match asked {
            Err(SlotFailure::Device(why)) => Err(SlotFailure::Device(why)),
            _ => Ok(()),
        }
    }

    async fn stop(&mut self) {
        self.loaded.clear();
        if let Some((mut process, _)) = self.process.take() {
            process.kill().await;
        }
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.options.environment.iter().chain(&self.device.environment).cloned().collect()
    }

    /// The launcher of this device, started where it does not run.
    async fn launcher(&mut self) -> Result<&mut LauncherProcess, SlotFailure> {
        if self.process.is_none() {
            let program = self.options.launcher.clone().map_err(SlotFailure::Route)?;
            let options = ProcessOptions {
                program,
                environment: self.environment(),
                directory: self.options.scratch.join("launcher").join(self.device.name.replace(['/', ' ', ':'], "-")),
                start_s: START_S,
            };
            // What the last one left may take a moment to go.
            let mut tried = 0;
            let (process, hello) = loop {
                match LauncherProcess::start(&options).await {
                    Ok(started) => break started,
                    Err(failure) if failure.fault().takes_device_out() || tried == 2 => {
                        let is_route =
                            !self.answered && matches!(failure.fault(), DeviceFault::Refused | DeviceFault::Exception);
                        let why = failure.to_string();
                        return Err(if is_route { SlotFailure::Route(why) } else { SlotFailure::Device(why) });
                    }
                    Err(_) => tokio::time::sleep(Duration::from_millis(200 << tried)).await,
                }
                tried += 1;
            };
            let wanted = &self.options.soc;
            if !wanted.is_empty() && !hello.soc.is_empty() && !hello.soc.eq_ignore_ascii_case(wanted) {
                let other = format!(
                    "{} is a {}, and the tiling function decides for a {wanted}: pass --machine with the description of that chip",
                    self.device.name, hello.soc
                );
                return Err(SlotFailure::Launch(RunFailure::NoDevice(other)));
            }
            self.answered = true;
            self.process = Some((process, hello));
        }
        match &mut self.process {
            Some((process, _)) => Ok(process),
            None => Err(SlotFailure::Device("the launcher is gone".to_owned())),
        }
    }

    async fn launched(&mut self, launch: &DeviceLaunch) -> Result<Told, Failed> {
        let measure = self.options.measure;
        let wall_s = self.options.wall_s;
        let id = launch.id();
        let known = self.loaded.iter().position(|loaded| *loaded == id);
        let oldest = (known.is_none() && self.loaded.len() >= LOADED).then(|| self.loaded.remove(0));
        let process = self.launcher().await?;
        if let Some(oldest) = oldest {
            process.unload(&oldest).await?;
        }
        if known.is_none() {
            process.load(&LoadRequest::of(id.clone(), &launch.object, launch.tiling_key)).await?;
        }
        match known {
            Some(place) => {
                let latest = self.loaded.remove(place);
                self.loaded.push(latest);
            }
            None => self.loaded.push(id),
        }
        let l2_bytes = self.process.as_ref().map_or(0, |(_, hello)| hello.l2_bytes).max(self.options.l2_bytes);
        let mut samples = Samples::default();
        let mut outputs = None;
        while samples.wanted(&measure) > 0 {
            let first = outputs.is_none();
            let request = RunRequest {
                jobs: vec![launch.job()],
                order: vec![0; samples.wanted(&measure) as usize],
                warm_up: measure.warm_up,
                warm_up_us: measure.warm_up_us,
                flush_bytes: if measure.flush { 2 * l2_bytes } else { 0 },
                rotate: measure.rotate,
                timeout_ms: limit_ms(wall_s),
            };
            let times = self.launcher().await?.run(&request, wall_s).await?;
            samples.extend(times.into_iter().flatten());
            if first {
                outputs = Some(launch.outputs().map_err(SlotFailure::Launch)?);
            }
        }
        Ok(Told { outputs: outputs.unwrap_or_default(), time: samples.measured(), profile: None })
    }

    /// Times and outputs by the profiler alone.
    async fn replayed(&mut self, launch: &DeviceLaunch) -> Result<Told, SlotFailure> {
        if let Some(why) = launch.not_replayable() {
            let message = format!("the profiler cannot replay this kernel: {why}; it takes the launcher");
            return Err(SlotFailure::Launch(RunFailure::NoDevice(message)));
        }
        let mut samples = Samples::default();
        let mut told = Told::default();
        while samples.wanted(&REPLAYS) > 0 {
            let (profile, outputs) = self.replay_once(launch).await?;
            if told.outputs.is_empty() {
                told.outputs = outputs;
            }
            match profile.basic.task_us {
                Some(us) if !profile.basic.clock.is_some_and(|clock| clock.is_off()) => samples.extend([us]),
                _ => samples.discard(),
            }
            told.profile = Some(profile);
        }
        told.time = samples.measured();
        if told.time.is_none() {
            let clock = told.profile.as_ref().and_then(|profile| profile.basic.clock);
            let clock = clock.map_or_else(String::new, |clock| {
                format!(" (clock {} MHz of {} MHz)", clock.current_mhz, clock.rated_mhz)
            });
            return Err(SlotFailure::Device(format!(
                "no time counted in {} runs of the profiler{clock}",
                2 * REPLAYS.most
            )));
        }
        Ok(told)
    }

    /// The profiler's breakdown of a launch, where it can replay it. A device that does not come up to its clock is none to
    /// measure on.
    async fn profiled(&mut self, launch: &DeviceLaunch) -> Result<Option<KernelLaunch>, SlotFailure> {
        let mut off = None;
        for _ in 0..CLOCK_TRIES {
            let Ok((profile, _)) = self.replay_once(launch).await else { return Ok(None) };
            match profile.basic.clock.filter(|clock| clock.is_off()) {
                None => return Ok(Some(profile)),
                Some(clock) => off = Some(clock),
            }
        }
        Err(SlotFailure::Device(off.map_or_else(String::new, |clock| {
            format!("its clock stays at {} MHz of {} MHz: no time of it counts", clock.current_mhz, clock.rated_mhz)
        })))
    }

    async fn replay_once(&self, launch: &DeviceLaunch) -> Result<(KernelLaunch, Vec<Vec<u8>>), SlotFailure> {
        let broken = |message: String| SlotFailure::Launch(RunFailure::Broken(message));
        let Some((program, words)) = &self.options.profiler else {
            return Err(SlotFailure::Route("the toolkit has no msprof".to_owned()));
        };
        let folder = PrivateFolder::below(&self.options.scratch).map_err(|error| broken(error.to_string()))?;
        let replay = launch.replay(folder.path()).map_err(SlotFailure::Launch)?;
        let text = replay
            .text(&launch.object)
            .map_err(|error| SlotFailure::Launch(RunFailure::NoDevice(error.to_string())))?;
        let config = folder.path().join("case.json");
        let output = folder.path().join("profile");
        let private = std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&output);
        private.and_then(|()| std::fs::write(&config, text)).map_err(|error| broken(error.to_string()))?;
        let mut command = Command::new(program);
        command
            .args(words)
            .arg(format!("--config={}", config.display()))
            .arg(format!("--output={}", output.display()))
            .arg(format!("--warm-up={}", REPLAYS.warm_up))
            .arg("--aic-metrics=PipeUtilization,ResourceConflictRatio")
            .envs(self.environment())
            .current_dir(folder.path());
        let ended = ended_within(&mut command, PROFILER_S).await;
        let ended = ended.map_err(|error| SlotFailure::Route(format!("{}: {error}", program.display())))?;
        let ended = ended.ok_or(SlotFailure::Launch(RunFailure::TimedOut(PROFILER_S)))?;
        let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
        let code = ended.status.code().unwrap_or(-1);
        let read = read_profile(code, &said, &output, &launch.object.kernel_name);
        let profile = read.map_err(|error| SlotFailure::Launch(of_profiler(&error, &said)))?;
        let outputs = replay.outputs().map_err(broken)?;
        Ok((profile, outputs))
    }
}

fn read_profile(code: i32, said: &str, folder: &Path, kernel: &str) -> Result<KernelLaunch, ProfilerError> {
    let profile = OpProfile::of(code, said, folder)?;
    let launches = profile.of_kernel(kernel, folder)?;
    let first = launches
        .first()
        .ok_or_else(|| ProfilerError::NoFile { folder: folder.to_owned(), file: "OpBasicInfo_*.csv".to_owned() })?;
    Ok((*first).clone())
}

/// What it means that the profiler failed: the run time's codes are in what it says.
fn of_profiler(error: &ProfilerError, said: &str) -> RunFailure {
    match error {
        ProfilerError::ExitStatus { .. } | ProfilerError::NoSuccess { .. } => {
            if said.contains("507014") {
                RunFailure::TimedOut(PROFILER_S)
            } else if said.contains("507015") || said.contains("Aicore Kernel Exec Failed") {
                RunFailure::Crashed(error.to_string())
            } else {
                RunFailure::NoDevice(error.to_string())
            }
        }
        _ => RunFailure::NoDevice(error.to_string()),
    }
}

/// Why a launch through the launcher gave nothing.
enum Failed {
    Launch(LaunchFailure),
    Other(SlotFailure),
}

impl From<LaunchFailure> for Failed {
    fn from(failure: LaunchFailure) -> Self {
        Self::Launch(failure)
    }
}

impl From<SlotFailure> for Failed {
    fn from(failure: SlotFailure) -> Self {
        Self::Other(failure)
    }
}

/// What a fault that was seen twice says of a candidate.
fn verdict(failure: &LaunchFailure) -> RunFailure {
    match failure.fault() {
        DeviceFault::Hang => match failure {
            LaunchFailure::TimedOut(wall_s) => RunFailure::TimedOut(*wall_s),
            _ => RunFailure::Crashed(format!("on the device the kernel does not end: {failure}")),
        },
        DeviceFault::Exception => RunFailure::Crashed(format!("on the device: {failure}")),
        DeviceFault::OutOfMemory => RunFailure::Refused(format!("the device has not that much memory: {failure}")),
        DeviceFault::Ecc | DeviceFault::Lost => RunFailure::NoDevice(failure.to_string()),
        DeviceFault::Refused => RunFailure::Refused(format!("the device: {failure}")),
    }
}

/// Milliseconds that one launch may take: kernels take microseconds, and the whole request has its own limit.
fn limit_ms(wall_s: f64) -> u32 {
    ((wall_s * 500.0) as u32).clamp(100, 5000)
}
