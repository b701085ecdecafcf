//! A toolkit and devices for a workspace: found, taken, and made a backend of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::TunerError;
use super::caches::Caches;
use aicore::Machine;
use backend::{
    BuiltOnce, CannBackend, DeviceBuild, DeviceProducts, DeviceSources, Fleet, FleetDevice, FleetOptions, Learned,
    Place, RunFailure, SimBackend,
};
use build::sdk::Sdk;
use cann::launcher::LauncherProgram;
use cann::measure::MeasureOptions;
use cann::{Built, Device, DeviceLock, Devices, Environment, Flow, FlowError, FlowOptions, Soc, System, Toolkit};
use events::{self, Event};
use manifest::{DeviceSettings, Manifest};
use project::OperatorProject;
use source::SourceTree;
use verify::{Reason, Rejection};

/// What the command line says of devices; it wins over the manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceChoice {
    /// The same as in the manifest's table `[cann]`; a folder is relative to where the command runs.
    pub settings: DeviceSettings,
}

/// What is measured on.
#[derive(Clone, Debug)]
pub struct Attached {
    /// The toolkit's version; its folder where no file tells.
    pub toolkit: String,
    /// Full name of the chip.
    pub soc: String,
    /// The devices, in words.
    pub devices: Vec<String>,
    /// How times are taken.
    pub measure: MeasureOptions,
    /// The devices.
    pub fleet: Arc<Fleet>,
    /// What the run has learnt of the model.
    pub learned: Arc<Learned>,
    build: Arc<FlowBuild>,
}

impl Attached {
    /// Builds sources with the toolkit: kernel objects of the operator, and the folder of the package that programs find it by.
    pub fn build(
        &self,
        sources: &SourceTree,
        cmake: &BTreeMap<String, String>,
        operator: &str,
    ) -> Result<Vec<PathBuf>, TunerError> {
        let given = DeviceSources { sources: sources.clone(), cmake: cmake.clone() };
        let built = self.build.built(&given);
        let built = built.map_err(|error| match of_flow(&error) {
            RunFailure::Build { place, message } => {
                let rejection = Rejection::new(Reason::BuildFailed, "", message);
                TunerError::Baseline(Box::new(Rejection { file: place.file, line: place.line, ..rejection }))
            }
            other => TunerError::Device(format!("building with the toolkit: {other}")),
        })?;
        let objects = built.objects.get(operator).into_iter().flatten().map(|object| object.path.clone());
        let package = built.package.map(|package| package.vendor);
        Ok(objects.chain(package).chain(built.program).chain(built.libraries).collect())
    }

    /// What there is to measure on, as an event.
    pub fn event(&self) -> Event {
        let measure = &self.measure;
        Event::Devices(events::Devices {
            toolkit: self.toolkit.clone(),
            soc: self.soc.clone(),
            devices: self.devices.clone(),
            route: self.fleet.route().words(),
            warm_up: measure.warm_up,
            warm_up_us: measure.warm_up_us,
            launches: measure.least,
            most_launches: measure.most,
            flush_l2: measure.flush,
            rotate: measure.rotate,
        })
    }

    /// How far the model was off; `None` where nothing was measured.
    pub fn model_event(&self) -> Option<Event> {
        let error = self.learned.error();
        let (modelled_us, measured_us) = self.learned.means_us()?;
        Some(Event::ModelError(events::ModelError {
            modelled_us,
            measured_us,
            ratio: error.ratio()?,
            deviation: error.deviation(),
            pairs: error.count(),
            lost: self.fleet.losses(),
        }))
    }
}

/// A toolkit and the devices that may be used.
#[derive(Debug)]
pub(super) struct Found {
    toolkit: Toolkit,
    devices: Vec<Device>,
    /// The chip that all of them are.
    pub soc: Soc,
}

/// What the command line and the manifest say together.
fn joined(choice: &DeviceChoice, settings: &DeviceSettings, root: &Path) -> DeviceSettings {
    let own = &choice.settings;
    DeviceSettings {
        // A path of the command line means the current directory, one of the manifest the project's.
        toolkit: own.toolkit.clone().or_else(|| settings.toolkit.as_ref().map(|path| root.join(path))),
        soc: own.soc.clone().or_else(|| settings.soc.clone()),
        devices: if own.devices.is_empty() { settings.devices.clone() } else { own.devices.clone() },
        warm_up: own.warm_up.or(settings.warm_up),
        warm_up_us: own.warm_up_us.or(settings.warm_up_us),
        launches: own.launches.or(settings.launches),
        most_launches: own.most_launches.or(settings.most_launches),
        flush_l2: own.flush_l2.or(settings.flush_l2),
        rotate: own.rotate.or(settings.rotate),
    }
}

fn measure_options(settings: &DeviceSettings) -> MeasureOptions {
    let usual = MeasureOptions::default();
    let least = settings.launches.unwrap_or(usual.least);
    MeasureOptions {
        warm_up: settings.warm_up.unwrap_or(usual.warm_up),
        warm_up_us: settings.warm_up_us.unwrap_or(usual.warm_up_us),
        least,
        most: settings.most_launches.unwrap_or(usual.most).max(least),
        precision: usual.precision,
        flush: settings.flush_l2.unwrap_or(usual.flush),
        rotate: settings.rotate.unwrap_or(usual.rotate),
    }
}

/// Whether a toolkit and a device answer: both in words, or what was looked for and is not there.
///
/// # Errors
/// Where one of them is missing.
pub fn devices_answer(choice: &DeviceChoice) -> Result<String, String> {
    let environment = Environment::of_this_process();
    let toolkit = Toolkit::find(choice.settings.toolkit.as_deref(), &environment).map_err(|error| error.to_string())?;
    let devices = Devices::ask(&System, &environment).map_err(|error| error.to_string())?;
    let names: Vec<String> = devices.devices.iter().map(ToString::to_string).collect();
    Ok(format!("toolkit {toolkit}; {}", names.join(", ")))
}

/// Finds toolkit and devices. Nothing is taken yet.
pub(super) fn find(
    choice: &DeviceChoice,
    manifest: &Manifest,
    root: &Path,
) -> Result<(Found, DeviceSettings), TunerError> {
    let fail = |message: String| TunerError::Device(format!("--backend cann: {message}"));
    let settings = joined(choice, &manifest.devices, root);
    let environment = Environment::of_this_process();
    let toolkit = Toolkit::find(settings.toolkit.as_deref(), &environment).map_err(|error| fail(error.to_string()))?;
    let asked = Devices::ask(&System, &environment).map_err(|error| fail(error.to_string()))?;
    let known = || asked.devices.iter().map(|device| device.driver_id.to_string()).collect::<Vec<_>>().join(", ");
    let mut devices = Vec::new();
    for number in &settings.devices {
        let device = asked.devices.iter().find(|device| device.driver_id == *number);
        let device = device.ok_or_else(|| fail(format!("there is no device {number}; there are {}", known())))?;
        devices.push(device.clone());
    }
    let mut refused = Vec::new();
    if settings.devices.is_empty() {
        for device in &asked.devices {
            match device.in_use(&[]) {
                None => devices.push(device.clone()),
                Some(why) => refused.push(format!("{device}: {why}")),
            }
        }
        if devices.is_empty() {
            return Err(fail(format!(
                "no device is free: {}; name one with --device to use it all the same",
                refused.join("; ")
            )));
        }
    }
    let platforms = toolkit.platform_folder();
    let mut soc: Option<Soc> = None;
    let mut alike = Vec::new();
    for device in devices {
        let own = match &settings.soc {
            Some(name) => Soc::named(name, platforms.as_deref()),
            None => asked.soc(&System, &device, platforms.as_deref()),
        };
        let own = own.map_err(|error| fail(format!("{device}: {error}")))?;
        match &soc {
            // Times of different chips are not compared.
            Some(first) if *first != own && !settings.devices.is_empty() => {
                let message = format!("the devices named are of different chips: {} and {}", first.name, own.name);
                return Err(fail(message));
            }
            Some(first) if *first != own => {}
            _ => {
                soc = Some(own);
                alike.push(device);
            }
        }
    }
    let soc = soc.ok_or_else(|| fail("there is no device".to_owned()))?;
    Ok((Found { toolkit, devices: alike, soc }, settings))
}

/// What it takes to make a backend of what was found.
pub(super) struct Attachment<'a> {
    pub found: Found,
    pub settings: &'a DeviceSettings,
    pub project: &'a OperatorProject,
    pub manifest: &'a Manifest,
    pub machine: &'a Machine,
    pub sdk: &'a Sdk,
    pub simulator: SimBackend,
    pub work_directory: &'a Path,
    pub jobs: usize,
}

impl Attachment<'_> {
    /// Takes the devices, builds the launcher, and makes a backend of it all.
    pub fn attach(self) -> Result<(CannBackend, Attached), TunerError> {
        let Self { found, settings, project, manifest, machine, sdk, simulator, work_directory, jobs } = self;
        let fail = |message: String| TunerError::Device(format!("--backend cann: {message}"));
        let work = work_directory.join("cann");
        let toolkit = &found.toolkit;
        let what = format!("cargo ascend-tune in {}", project.root.display());
        let mut devices = Vec::new();
        let mut taken = Vec::new();
        for device in &found.devices {
            match DeviceLock::take(DeviceLock::usual_folder(), &device.bus, &what) {
                Ok(lock) => devices.push(FleetDevice {
                    name: format!("device {} ({}, {})", device.driver_id, found.soc.name, device.bus),
                    environment: device.environment().into_iter().collect(),
                    lock: Some(Arc::new(lock)),
                }),
                Err(error) => taken.push(error.to_string()),
            }
        }
        if devices.is_empty() {
            return Err(fail(taken.join("; ")));
        }
        let version =
            toolkit.version.as_ref().map_or_else(|| toolkit.home.display().to_string(), |known| known.0.clone());
        let includes = toolkit.include_folders();
        let mut libraries = toolkit.library_folders();
        libraries.extend(toolkit.stub_folder());
        let identity = format!("{} {version}", toolkit.home.display());
        let program = LauncherProgram {
            compiler: sdk.compiler.program(),
            compiler_identity: &sdk.compiler.identity,
            includes: &includes,
            libraries: &libraries,
            toolkit: &identity,
        };
        let shared = sdk.cache().unwrap_or(&work).join("launcher");
        let profiler = toolkit.program("msprof").map(|program| (program, vec!["op".to_owned()]));
        let names: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        let measure = measure_options(settings);
        let options = FleetOptions {
            devices,
            launcher: program.build(&work.join("launcher"), &shared).map_err(|error| error.to_string()),
            task_profiler: toolkit.program("msprof"),
            profiler: profiler.or_else(|| toolkit.program("msopprof").map(|program| (program, Vec::new()))),
            environment: toolkit.environment().into_iter().collect(),
            scratch: work.clone(),
            measure,
            l2_bytes: machine.parameters.l2_bytes as u64,
            soc: found.soc.name.clone(),
            wall_s: manifest.run_timeout_s,
        };
        let fleet = Arc::new(Fleet::new(options).map_err(|error| fail(error.to_string()))?);
        let build = Arc::new(FlowBuild {
            project: project.clone(),
            toolkit: toolkit.clone(),
            soc: found.soc.clone(),
            work,
            jobs,
            limits_wall_s: manifest.compile_timeout_s.max(1800.0),
        });
        let objects = BuiltOnce::new(Arc::clone(&build) as Arc<dyn DeviceBuild>);
        // What is modelled beside what is measured finds the same in the caches.
        let simulator = SimBackend { warmth: Caches::of(manifest.layout, &measure).modelled(), ..simulator };
        let backend = CannBackend::new(simulator, Arc::clone(&fleet), objects);
        let learned = backend.learned();
        let soc = found.soc.name.clone();
        Ok((backend, Attached { toolkit: version, soc, devices: names, measure, fleet, learned, build }))
    }
}

/// Device objects by the project's own build.
#[derive(Debug)]
struct FlowBuild {
    project: OperatorProject,
    toolkit: Toolkit,
    soc: Soc,
    work: PathBuf,
    jobs: usize,
    limits_wall_s: f64,
}

impl FlowBuild {
    fn built(&self, sources: &DeviceSources) -> Result<Built, FlowError> {
        let mut options = FlowOptions::new(self.work.join("flow"));
        options.entries.clone_from(&sources.cmake);
        options.jobs = self.jobs.max(1);
        options.limits.wall_s = self.limits_wall_s;
        let flow = Flow::new(self.project.clone(), self.toolkit.clone(), self.soc.clone(), options)?;
        flow.build(&sources.sources)
    }
}

impl DeviceBuild for FlowBuild {
    fn build(&self, sources: &DeviceSources) -> Result<DeviceProducts, RunFailure> {
        let built = self.built(sources).map_err(|error| of_flow(&error))?;
        Ok(DeviceProducts { objects: built.objects, program: built.program, libraries: built.libraries })
    }
}

/// What it means that the toolkit's build failed so.
fn of_flow(error: &FlowError) -> RunFailure {
    if !error.is_of_sources() {
        return RunFailure::NoDevice(error.to_string());
    }
    let place = error.findings().iter().find(|finding| !finding.file.is_empty());
    let place = place.map_or_else(Place::default, |finding| Place { file: finding.file.clone(), line: finding.line });
    RunFailure::Build { place, message: format!("it does not build with the toolkit: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_over_the_manifest_and_defaults_fill_the_rest() {
        let manifest = DeviceSettings {
            toolkit: Some("cann".into()),
            devices: vec![1],
            launches: Some(60),
            flush_l2: Some(true),
            ..DeviceSettings::default()
        };
        let choice = DeviceChoice { settings: DeviceSettings { devices: vec![3], ..DeviceSettings::default() } };
        let both = joined(&choice, &manifest, Path::new("/project"));
        assert_eq!((both.toolkit.as_deref(), &both.devices[..]), (Some(Path::new("/project/cann")), &[3][..]));
        let measure = measure_options(&both);
        assert_eq!((measure.warm_up, measure.least, measure.most, measure.flush), (5, 60, 60, true));
        let choice = DeviceChoice {
            settings: DeviceSettings { toolkit: Some("/opt/cann".into()), ..DeviceSettings::default() },
        };
        assert_eq!(joined(&choice, &manifest, Path::new("/project")).toolkit.as_deref(), Some(Path::new("/opt/cann")));
    }
}
