//! A CMake that runs, and what it builds with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::ToolError;

/// How to get CMake.
pub const CMAKE_FIX: &str = "install it with `pip install cmake` or `apt-get install cmake`, or name it in the environment variable ASCEND_TUNE_CMAKE";

/// A cmake that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cmake {
    /// The program.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// Generator to use with it.
    pub generator: String,
}

impl Cmake {
    /// Looks in `ASCEND_TUNE_CMAKE`, in `PATH`, and where pip puts programs of the user.
    pub fn find() -> Result<Cmake, ToolError> {
        let mut candidates: Vec<PathBuf> = Vec::new();
        match std::env::var_os("ASCEND_TUNE_CMAKE").filter(|value| !value.is_empty()) {
            Some(named) => candidates.push(named.into()),
            None => {
                candidates.push("cmake".into());
                if let Some(home) = std::env::var_os("HOME") {
                    candidates.push(Path::new(&home).join(".local/bin/cmake"));
                }
                candidates.extend(python_user_base().map(|base| base.join("bin/cmake")));
            }
        }
        for program in &candidates {
            if let Some(version) = version_of(program) {
                return Ok(Cmake { program: program.clone(), version, generator: generator()? });
            }
        }
        let named = candidates.first().filter(|_| candidates.len() == 1);
        Err(ToolError::Trouble {
            message: match named {
                Some(program) => format!("ASCEND_TUNE_CMAKE={} cannot be run", program.display()),
                None => "cmake was not found in PATH nor in Python's user directory".to_owned(),
            },
            fix: CMAKE_FIX.to_owned(),
        })
    }
}

fn version_of(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.lines().next()?.strip_prefix("cmake version ")?;
    output.status.success().then(|| version.to_owned())
}

fn python_user_base() -> Option<PathBuf> {
    let output = Command::new("python3").args(["-m", "site", "--user-base"]).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then(|| text.into())
}

/// CMake compiles a small program while it looks at the compiler, so it needs something that builds.
fn generator() -> Result<String, ToolError> {
    for (program, generator) in [("ninja", "Ninja"), ("make", "Unix Makefiles")] {
        let outcome = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if outcome.is_ok_and(|status| status.success()) {
            return Ok(generator.to_owned());
        }
    }
    Err(ToolError::Trouble {
        message: "neither ninja nor make was found, and cmake needs one of them".to_owned(),
        fix: "install one with `pip install ninja` or `apt-get install make`".to_owned(),
    })
}
