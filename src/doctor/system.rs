//! The probe of the real machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cann::{CannFacts, DeviceFacts, ToolkitFacts};
use super::checks::{Environment, Program, SdkState};
use build::Toolkit;
use cann::{Device, Devices, System, chips_in};
use confinement::Layers;

/// The machine that this process runs on.
#[derive(Clone, Debug)]
pub struct SystemEnvironment {
    cache: PathBuf,
    sdk: PathBuf,
}

impl SystemEnvironment {
    /// `cache` is the tool's cache directory, `sdk` the file that is there once the simulator is built.
    pub fn new(cache: impl Into<PathBuf>, sdk: impl Into<PathBuf>) -> Self {
        Self { cache: cache.into(), sdk: sdk.into() }
    }
}

impl Environment for SystemEnvironment {
    fn compiler(&self) -> Result<Program, String> {
        let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let compiler = cc::Build::new()
            .cpp(true)
            .cargo_metadata(false)
            .cargo_warnings(false)
            .target(&triple)
            .host(&triple)
            .opt_level(0)
            .debug(false)
            .try_get_compiler()
            .map_err(|error| format!("no C++ compiler: {error}"))?;
        version_of(compiler.path())
    }

    fn cmake(&self) -> Result<Program, String> {
        version_of(Path::new("cmake"))
    }

    fn git(&self) -> Result<Program, String> {
        version_of(Path::new("git"))
    }

    fn cache(&self) -> Result<PathBuf, String> {
        let failed = |error: std::io::Error| format!("{} cannot be written: {error}", self.cache.display());
        std::fs::create_dir_all(&self.cache).map_err(failed)?;
        tempfile::tempfile_in(&self.cache).map_err(failed)?;
        Ok(self.cache.clone())
    }

    fn sdk(&self) -> SdkState {
        let path = self.sdk.clone();
        if path.is_file() { SdkState::Built(path) } else { SdkState::NotBuilt(path) }
    }

    fn layers(&self) -> Layers {
        Layers::of_this_machine()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn kernel_headers(&self, directory: &str) -> Option<String> {
        Toolkit::find(Path::new(directory)).ok().map(|toolkit| toolkit.shape.to_string())
    }

    fn processors(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    fn cann(&self) -> CannFacts {
        let surroundings = cann::Environment::of_this_process();
        let toolkit = cann::Toolkit::find(None, &surroundings);
        let platforms = toolkit.as_ref().ok().and_then(cann::Toolkit::platform_folder);
        let devices = Devices::ask(&System, &surroundings).map_err(|error| error.to_string()).map(|found| {
            let facts = found.devices.iter().map(|device| facts_of(&found, device, platforms.as_deref())).collect();
            (facts, found.remarks.clone())
        });
        CannFacts { toolkit: toolkit.as_ref().map(facts_of_toolkit).map_err(ToString::to_string), devices }
    }
}

fn facts_of_toolkit(toolkit: &cann::Toolkit) -> ToolkitFacts {
    // The kernel compiler of framework projects has had two names.
    let opc = toolkit.program("asc_opc").or_else(|| toolkit.program("opc"));
    let place = |path: PathBuf| path.display().to_string();
    let named = |name: &'static str| (name, toolkit.program(name).map(place));
    let header =
        toolkit.include_folders().into_iter().map(|folder| folder.join("acl/acl.h")).find(|file| file.is_file());
    let has_library = toolkit
        .library_folders()
        .iter()
        .any(|folder| ["libascendcl.so", "libacl_rt.so"].iter().any(|library| folder.join(library).is_file()));
    ToolkitFacts {
        shown: toolkit.to_string(),
        programs: vec![named("bisheng"), named("op_build"), ("asc_opc", opc.map(place)), named("msprof")],
        ascendcl: header.filter(|_| has_library).map(place),
        modules: toolkit.cmake_folder().map(place),
        platforms: toolkit.platform_folder().map(|folder| (folder.display().to_string(), chips_in(&folder).len())),
    }
}

fn facts_of(devices: &Devices, device: &Device, platforms: Option<&Path>) -> DeviceFacts {
    let soc = devices.soc(&System, device, platforms);
    let platform = soc.as_ref().ok().zip(platforms).and_then(|(soc, folder)| soc.platform(folder));
    let cores = platform.and_then(|platform| {
        let (cube, vector, clock) = (platform.cube_cores()?, platform.vector_cores()?, platform.clock_mhz()?);
        Some(format!("{cube} cube and {vector} vector cores at {clock} MHz"))
    });
    DeviceFacts {
        shown: device.to_string(),
        soc: soc.map(|soc| soc.name).map_err(|error| error.to_string()),
        cores,
        in_use: device.in_use(&[]),
    }
}

/// Asks a program for its version.
fn version_of(program: &Path) -> Result<Program, String> {
    let shown = program.display();
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{shown} --version` does not run: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown} --version` fails: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().next().unwrap_or_default().trim().to_owned();
    Ok(Program { path: program.to_owned(), version })
}
