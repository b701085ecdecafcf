//! From the options that commands share to an opened workspace.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use super::args::{BackendChoice, CaseCount, Common, Target};
use super::entries::entry_for;
use super::output::Output;
use aicore::Origin;
use backend::{LaunchProfile, LocatedHazard};
use build::sdk::SdkOptions;
use events::{Event, HazardReport, Sdk as SdkEvent, SdkStatus, Start};
use lock::{LOCK_FILE, Lock, LockError};
use manifest::{DeviceSettings, FILE_NAME, KernelHeaders};
use project::OperatorProject;
use space::Configuration;
use tuner::{
    BackendKind, DeviceChoice, InputData, InventOptions, Opening, TunerError, Workspace, WorkspaceOptions,
    devices_answer, invent, recover,
};

/// Opens the project that a command works on. Emits `start`, with what the manifest adds to it, and how the SDK came to
/// be there.
pub fn open(
    start: Start,
    common: &Common,
    target: &Target,
    invent_manifest: bool,
    output: &mut Output,
) -> Result<Workspace, TunerError> {
    open_with(start, common, target, invent_manifest, InputData::Made, output)
}

/// The same with or without input files.
pub fn open_with(
    start: Start,
    common: &Common,
    target: &Target,
    invent_manifest: bool,
    data: InputData,
    output: &mut Output,
) -> Result<Workspace, TunerError> {
    let (backend, backend_because) = backend_of(target, &start.command)?;
    let options = WorkspaceOptions {
        directory: common.project.clone(),
        machine: target.machine.clone().or_else(|| modelled_chip(target, &backend)),
        cases: target.cases.clone(),
        cmake: target.definitions.iter().map(|entry| (entry.name.clone(), entry.value.clone())).collect(),
        fixed: fixed_values(target),
        jobs: target.jobs.map_or_else(processors, |jobs| jobs as usize),
        worker_exe: worker_exe()?,
        made_up: if invent_manifest { made_up(common, target)? } else { None },
        sdk: SdkOptions::from_environment(),
        headers: headers(target),
        work_directory: None,
        data,
        seed: target.seed,
        backend: backend.clone(),
    };
    let origin = if matches!(backend, BackendKind::Cann(_)) { Origin::Measured } else { Origin::Modelled };
    Workspace::open(options, &mut |step| match step {
        Opening::Read(manifest, machine) => output.emit(&Event::Start(Start {
            operator: Some(manifest.operator.clone()),
            machine: Some(machine.name.clone()),
            machine_version: Some(machine.version.clone()),
            origin: Some(origin),
            backend: Some(backend.name().to_owned()),
            backend_because: backend_because.clone(),
            ..start.clone()
        })),
        Opening::Prepared(sdk) => output.emit(&Event::Sdk(SdkEvent {
            status: if sdk.built { SdkStatus::Built } else { SdkStatus::Cached },
            path: sdk.root.display().to_string(),
            compiler: sdk.compiler.version.clone(),
            wall_s: sdk.prepare_s,
        })),
        Opening::Attached(attached) => output.emit(&attached.event()),
    })
}

/// The machine description of the chip that is named, where times are modelled; devices say for themselves what they are.
fn modelled_chip(target: &Target, backend: &BackendKind) -> Option<String> {
    let name = target.soc.as_ref().filter(|_| !matches!(backend, BackendKind::Cann(_)))?;
    Some(name.soc.to_ascii_lowercase())
}

/// A workspace for an entry of the lock.
pub struct AsLocked {
    /// The workspace.
    pub workspace: Workspace,
    /// The lock.
    pub whole: Lock,
    /// Its entry that the command is about.
    pub entry: Lock,
}

/// The same for a command that compares with the lock, which `read` reads: its data are those of the run that wrote it.
pub fn open_as_locked(
    start: Start,
    common: &Common,
    target: &Target,
    read: fn(&Path) -> Result<Lock, LockError>,
    output: &mut Output,
) -> Result<AsLocked, TunerError> {
    let project = OperatorProject::find(&common.project)?;
    // A write-back that was cut short has the lock in its plan.
    recover(&project.root, &project.work_directory())?;
    let path = project.root.join(LOCK_FILE);
    let whole = read(&path);
    let entry = whole.as_ref().ok().map(|whole| entry_for(whole, target, &path)).transpose()?;
    let seed = entry.as_ref().map_or(target.seed, |entry| entry.seed);
    // Measured times are compared with measured ones, modelled with modelled.
    let backend = match (target.backend, entry.as_ref().map(|entry| entry.origin)) {
        (BackendChoice::Auto, Some(Origin::Measured)) => BackendChoice::Cann,
        (BackendChoice::Auto, _) => BackendChoice::Sim,
        (asked, _) => asked,
    };
    let mut as_locked = Target { seed, backend, ..target.clone() };
    if let (Ok(whole), Some(entry)) = (&whole, &entry)
        && entry.origin == Origin::Modelled
        && backend != BackendChoice::Cann
    {
        // The sources' own chip is described by what the manifest names, which may be a file.
        let is_beside = entry.key() != whole.key();
        as_locked.soc = None;
        as_locked.machine =
            target.machine.clone().or_else(|| is_beside.then(|| entry.machine.name.to_ascii_lowercase()));
    }
    let workspace = open(start, common, &as_locked, false, output)?;
    let whole = whole?;
    let entry = match entry {
        Some(entry) => entry,
        None => entry_for(&whole, target, &path)?,
    };
    Ok(AsLocked { workspace, whole, entry })
}

/// Commands that know what to do with devices.
const MEASURING: [&str; 6] = ["run", "check", "lock", "profile", "build", "compare"];
/// Commands that can be rehearsed on noise.
const REHEARSING: [&str; 2] = ["run", "check"];
/// Commands for which a device is found out, where nobody says what to take.
const BY_ITSELF: [&str; 2] = ["run", "profile"];

/// What `--backend` means to a command, and why, where it was not asked for.
fn backend_of(target: &Target, command: &str) -> Result<(BackendKind, Option<String>), TunerError> {
    let choice = device_choice(target);
    let refuse = |message: String| Err(TunerError::Usage(message));
    // Who names an entry says with it where its times come from.
    let asked = match (target.backend, target.soc.as_ref().and_then(|name| name.origin)) {
        (BackendChoice::Auto, Some(Origin::Modelled)) => BackendChoice::Sim,
        (BackendChoice::Auto, Some(Origin::Measured)) => BackendChoice::Cann,
        (asked, _) => asked,
    };
    match asked {
        BackendChoice::Sim => Ok((BackendKind::Sim, None)),
        BackendChoice::Recorded if !REHEARSING.contains(&command) => {
            refuse(format!("--backend recorded is for `run --dry-run` and `check`, not for `{command}`"))
        }
        BackendChoice::Recorded => Ok((BackendKind::Recorded { noise: target.noise / 100.0 }, None)),
        BackendChoice::Cann if !MEASURING.contains(&command) => {
            refuse(format!("--backend cann is for {}, not for `{command}`", MEASURING.join(", ")))
        }
        BackendChoice::Cann => Ok((BackendKind::Cann(choice), None)),
        BackendChoice::Auto if !BY_ITSELF.contains(&command) => Ok((BackendKind::Sim, None)),
        BackendChoice::Auto => Ok(match devices_answer(&choice) {
            Ok(found) => (BackendKind::Cann(choice), Some(found)),
            // Nobody asked for devices, and where there are none all is as it would be without any.
            Err(_) => (BackendKind::Sim, None),
        }),
    }
}

/// What the command line says of devices.
fn device_choice(target: &Target) -> DeviceChoice {
    let settings = DeviceSettings {
        toolkit: target.toolkit.clone(),
        soc: target.soc.as_ref().map(|name| name.soc.clone()),
        devices: target.devices.clone(),
        warm_up: target.warm_up,
        warm_up_us: None,
        launches: target.launches,
        most_launches: target.launches.map(|least| 5 * least),
        flush_l2: target.flush_l2.then_some(true),
        rotate: target.rotate,
    };
    DeviceChoice { settings }
}

/// The manifest that `init` would write, where there is none.
fn made_up(common: &Common, target: &Target) -> Result<Option<String>, TunerError> {
    let project = OperatorProject::find(&common.project)?;
    if project.root.join(FILE_NAME).exists() {
        return Ok(None);
    }
    let options = InventOptions {
        worker_exe: worker_exe()?,
        sdk: SdkOptions { jobs: processors(), ..SdkOptions::from_environment() },
        python: PathBuf::from("python3"),
        most_cases: CaseCount::default().0,
        cmake: target.definitions.iter().map(|entry| (entry.name.clone(), entry.value.clone())).collect(),
    };
    Ok(Some(runtime()?.block_on(invent(&project, &options, &mut |_| {}))?.text))
}

/// Choice of `--sdk-headers`.
pub fn headers(target: &Target) -> Option<KernelHeaders> {
    let path = target.sdk_headers.as_ref()?;
    Some(if path.as_os_str() == "own" { KernelHeaders::Own } else { KernelHeaders::Toolkit(Some(path.clone())) })
}

/// Values of `--set`.
pub fn fixed_values(target: &Target) -> Configuration {
    target.assignments.iter().map(|assignment| (assignment.name.clone(), assignment.value.clone())).collect()
}

/// Hazards of a launch as every command reports them.
pub fn hazard_reports(launch: &LaunchProfile) -> Vec<HazardReport> {
    let report = |hazard: &LocatedHazard| HazardReport {
        kind: hazard.kind,
        file: hazard.place.file.clone(),
        line: hazard.place.line,
        message: hazard.message.clone(),
        severity: hazard.severity,
    };
    launch.hazards.iter().map(report).collect()
}

/// A runtime for a command's asynchronous work.
pub fn runtime() -> Result<tokio::runtime::Runtime, TunerError> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// One job per processor.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// This program, which workers are started as.
pub fn worker_exe() -> Result<PathBuf, TunerError> {
    Ok(std::env::current_exe()?)
}
