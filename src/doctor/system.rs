//! The probe of the real machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::checks::{Environment, Program, SdkState};
use build::Toolkit;
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

    fn has_directory(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }

    fn kernel_headers(&self, directory: &str) -> Option<String> {
        Toolkit::find(Path::new(directory)).ok().map(|toolkit| toolkit.shape.to_string())
    }

    fn processors(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
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
