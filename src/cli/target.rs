//! From the options that commands share to an opened workspace.

use std::num::NonZero;
use std::path::PathBuf;

use super::args::{BackendChoice, CaseCount, Common, Target};
use super::output::Output;
use aicore::Origin;
use backend::{LaunchProfile, LocatedHazard};
use build::sdk::SdkOptions;
use events::{Event, HazardReport, Sdk as SdkEvent, SdkStatus, Start};
use lock::{self, LOCK_FILE, Lock};
use manifest::{FILE_NAME, KernelHeaders};
use project::OperatorProject;
use space::Configuration;
use tuner::{BackendKind, InputData, InventOptions, Opening, TunerError, Workspace, WorkspaceOptions, invent, recover};

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
    let backend = backend_of(target);
    if backend != BackendKind::Sim && start.command != "run" {
        let message = format!("--backend recorded is for `run --dry-run`, not for `{}`", start.command);
        return Err(TunerError::Usage(message));
    }
    let options = WorkspaceOptions {
        directory: common.project.clone(),
        machine: target.machine.clone(),
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
        backend,
    };
    Workspace::open(options, &mut |step| match step {
        Opening::Read(manifest, machine) => output.emit(&Event::Start(Start {
            operator: Some(manifest.operator.clone()),
            machine: Some(machine.name.clone()),
            machine_version: Some(machine.version.clone()),
            origin: Some(Origin::Modelled),
            backend: Some(backend.name().to_owned()),
            ..start.clone()
        })),
        Opening::Prepared(sdk) => output.emit(&Event::Sdk(SdkEvent {
            status: if sdk.built { SdkStatus::Built } else { SdkStatus::Cached },
            path: sdk.root.display().to_string(),
            compiler: sdk.compiler.version.clone(),
            wall_s: sdk.prepare_s,
        })),
    })
}

/// The same for a command that compares with the lock: its data are those of the run that wrote it.
pub fn open_as_locked(
    start: Start,
    common: &Common,
    target: &Target,
    output: &mut Output,
) -> Result<(Workspace, Lock), TunerError> {
    let project = OperatorProject::find(&common.project)?;
    // A write-back that was cut short has the lock in its plan.
    recover(&project.root, &project.work_directory())?;
    let known = lock::read(&project.root.join(LOCK_FILE));
    let seed = known.as_ref().map_or(target.seed, |locked| locked.seed);
    let workspace = open(start, common, &Target { seed, ..target.clone() }, false, output)?;
    Ok((workspace, known?))
}

/// What `--backend` means.
fn backend_of(target: &Target) -> BackendKind {
    match target.backend {
        BackendChoice::Sim => BackendKind::Sim,
        BackendChoice::Recorded => BackendKind::Recorded { noise: target.noise / 100.0 },
    }
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
