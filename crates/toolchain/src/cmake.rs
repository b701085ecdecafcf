//! A CMake that runs, and what it builds with.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

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
    /// Looks in `ASCEND_TUNE_CMAKE`, in `PATH`, and where pip puts programs of the user. What was found once stays for this process.
    ///
    /// # Errors
    /// Where there is none that runs, or nothing that it could build with.
    pub fn find() -> Result<Cmake, ToolError> {
        static FOUND: OnceLock<Cmake> = OnceLock::new();
        match FOUND.get() {
            Some(found) => Ok(found.clone()),
            None => Self::look().map(|found| FOUND.get_or_init(|| found).clone()),
        }
    }

    fn look() -> Result<Cmake, ToolError> {
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
            if let Some((program, version)) = itself(program) {
                return Ok(Cmake { program, version, generator: generator()? });
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

/// The program that runs under this name, and its version. pip and pyenv put scripts into the path that start an interpreter, which
/// starts the program: several times as long as all of configuring a small project without them.
fn itself(name: &Path) -> Option<(PathBuf, String)> {
    let answer = asked(name)?;
    let (version, program) = answer.split_once('\n')?;
    let program = PathBuf::from(program);
    // A program that depends on what its script has prepared answers otherwise, or not at all.
    let program = if asked(&program).as_ref() == Some(&answer) { program } else { name.to_owned() };
    Some((program, version.to_owned()))
}

/// The version of a CMake and its own path, a line each, in its own words.
fn asked(program: &Path) -> Option<String> {
    const QUESTION: &[u8] = b"message(\"${CMAKE_VERSION}\n${CMAKE_COMMAND}\")\n";
    let mut command = Command::new(program);
    command.args(["-P", "/dev/stdin"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    // Whoever does not read it is no CMake, which its answer shows.
    let _ = child.stdin.take().map(|mut input| input.write_all(QUESTION));
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    output.status.success().then_some(text).filter(|text| text.starts_with(|first: char| first.is_ascii_digit()))
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A script that starts another program with its words, after `before`.
    fn script(folder: &Path, name: &str, before: &str, program: &Path) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{before}\nexec '{}' \"$@\"\n", program.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn what_a_script_starts_is_started_without_it_where_it_runs_so() {
        let Ok(cmake) = Cmake::find() else {
            eprintln!("skipped: no CMake on this machine");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let known = Some((cmake.program.clone(), cmake.version.clone()));
        assert_eq!(itself(&cmake.program), known, "it is found as itself");
        assert_eq!(itself(&script(folder.path(), "pip", "", &cmake.program)), known);
        // Stands for one that runs with what its script prepares and not without.
        let inner = script(folder.path(), "inner", "test -n \"$PREPARED\" || exit 1", &cmake.program);
        let says = format!("sed 's|{}|{}|'", cmake.program.display(), inner.display());
        let outer = folder.path().join("outer");
        std::fs::write(
            &outer,
            format!("#!/bin/sh\n{{ PREPARED=1 '{}' \"$@\"; }} 2>&1 | {says} >&2\n", inner.display()),
        )
        .unwrap();
        std::fs::set_permissions(&outer, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(itself(&outer), Some((outer, cmake.version)));
    }

    #[test]
    fn other_programs_are_none() {
        for program in ["/nonexistent/cmake", "true", "false", "cat"] {
            assert_eq!(itself(Path::new(program)), None, "{program}");
        }
    }
}
