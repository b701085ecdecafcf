//! The checks, over what a probe says.

use std::path::PathBuf;

use confinement::Layers;
use events::{CheckState, Doctor, DoctorCheck};

use super::cann::{self, CannFacts, check};

/// Oldest CMake whose File API and presets the tool relies on.
const CMAKE_MINIMUM: (u64, u64) = (3, 19);
/// Oldest g++ that compiles the SDK.
const GCC_MINIMUM: u64 = 9;
/// Oldest clang++ that compiles the SDK.
const CLANG_MINIMUM: u64 = 10;

/// A program that answers `--version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// First line of its version output.
    pub version: String,
}

/// State of the simulator's SDK in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SdkState {
    /// Built and usable.
    Built(PathBuf),
    /// Not built yet; the first command that runs a kernel builds it here.
    NotBuilt(PathBuf),
}

/// What can be asked of the machine.
pub trait Environment {
    /// The C++ compiler that builds would use, or why there is none.
    fn compiler(&self) -> Result<Program, String>;
    /// CMake, or why there is none.
    fn cmake(&self) -> Result<Program, String>;
    /// git, or why there is none.
    fn git(&self) -> Result<Program, String>;
    /// The cache directory if it can be written, or why not.
    fn cache(&self) -> Result<PathBuf, String>;
    /// The simulator's SDK.
    fn sdk(&self) -> SdkState;
    /// What holds back the code of operators.
    fn layers(&self) -> Layers;
    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// Kernel headers of a toolkit in a directory, in words; `None` if there are none.
    fn kernel_headers(&self, directory: &str) -> Option<String>;
    /// Processors that may be used.
    fn processors(&self) -> usize;
    /// A real toolkit and its devices.
    fn cann(&self) -> CannFacts;
}

/// Runs every check.
pub fn examine(environment: &dyn Environment) -> Doctor {
    let mut checks = vec![
        compiler(environment),
        cmake(environment),
        cache(environment),
        sdk(environment),
        confinement(environment),
        git(environment),
        headers(environment),
        processors(environment),
    ];
    checks.extend(cann::checks(&environment.cann()));
    Doctor { ok: checks.iter().all(|check| check.state != CheckState::Missing), checks }
}

fn described(program: &Program) -> String {
    format!("{} ({})", program.version, program.path.display())
}

fn compiler(environment: &dyn Environment) -> DoctorCheck {
    const FIX: &str = "install g++ 9 or newer, such as `apt-get install g++`, or set CXX to a compiler";
    let name = "c++-compiler";
    match environment.compiler() {
        Err(reason) => check(name, CheckState::Missing, reason, Some(FIX)),
        Ok(program) => {
            let minimum = if program.version.contains("clang") { CLANG_MINIMUM } else { GCC_MINIMUM };
            match version_number(&program.version) {
                Some((major, _)) if major < minimum => check(name, CheckState::Missing, described(&program), Some(FIX)),
                _ => check(name, CheckState::Found, described(&program), None),
            }
        }
    }
}

fn cmake(environment: &dyn Environment) -> DoctorCheck {
    const FIX: &str = "install CMake 3.19 or newer: `apt-get install cmake` or `pip install cmake`";
    let name = "cmake";
    match environment.cmake() {
        Err(reason) => check(name, CheckState::Missing, reason, Some(FIX)),
        Ok(program) => match version_number(&program.version) {
            Some(version) if version < CMAKE_MINIMUM => {
                check(name, CheckState::Missing, described(&program), Some(FIX))
            }
            _ => check(name, CheckState::Found, described(&program), None),
        },
    }
}

fn cache(environment: &dyn Environment) -> DoctorCheck {
    match environment.cache() {
        Ok(path) => check("cache", CheckState::Found, path.display().to_string(), None),
        Err(reason) => check(
            "cache",
            CheckState::Missing,
            reason,
            Some("make the directory writable, or set ASCEND_TUNE_CACHE to one that is"),
        ),
    }
}

fn sdk(environment: &dyn Environment) -> DoctorCheck {
    match environment.sdk() {
        SdkState::Built(path) => check("simulator", CheckState::Found, path.display().to_string(), None),
        SdkState::NotBuilt(path) => check(
            "simulator",
            CheckState::Absent,
            format!("not built yet, will be in {}", path.display()),
            Some("nothing to do: the first command that runs a kernel builds it, once per machine"),
        ),
    }
}

fn confinement(environment: &dyn Environment) -> DoctorCheck {
    const FIX: &str = "use Linux 6.12 or newer with Landlock (`lsm=landlock,..`), allow user namespaces (in a container too), and see \
                       docs/security.md";
    let missing = environment.layers().missing();
    if missing.is_empty() {
        let detail = "kernels see their own directory, no network and no other process";
        return check("confinement", CheckState::Found, detail, None);
    }
    let detail = format!("code of operators is not held back from: {}", missing.join("; "));
    check("confinement", CheckState::Absent, detail, Some(FIX))
}

fn git(environment: &dyn Environment) -> DoctorCheck {
    match environment.git() {
        Ok(program) => check("git", CheckState::Found, described(&program), None),
        Err(reason) => check(
            "git",
            CheckState::Absent,
            reason,
            Some("without git, `run` cannot see uncommitted changes and wants --allow-dirty to write back"),
        ),
    }
}

/// Variables that name an installed toolkit.
const VARIABLES: [&str; 3] = ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_CANN_PACKAGE_PATH"];
/// Where toolkits are installed by default.
const USUAL: &str = "/usr/local/Ascend/ascend-toolkit/latest";

/// Which header sets kernels can be built against.
fn headers(environment: &dyn Environment) -> DoctorCheck {
    let named = VARIABLES.into_iter().filter_map(|name| environment.variable(name));
    let found = named
        .chain(std::iter::once(USUAL.to_owned()))
        .find_map(|path| environment.kernel_headers(&path).map(|words| (path, words)));
    match found {
        Some((path, words)) => {
            check("headers", CheckState::Found, format!("own, and --sdk-headers {path}: {words}"), None)
        }
        None => check(
            "headers",
            CheckState::Found,
            "own; --sdk-headers takes those of a toolkit or of a checkout of the open device library",
            None,
        ),
    }
}

fn processors(environment: &dyn Environment) -> DoctorCheck {
    let count = environment.processors();
    check("processors", CheckState::Found, format!("{count}; --jobs sets how many are used"), None)
}

/// Major and minor of the last word of a version line that looks like a version: `g++ (Debian 12.2.0-14) 12.2.0`.
fn version_number(line: &str) -> Option<(u64, u64)> {
    line.split_whitespace().rev().find_map(|word| {
        let mut parts = word.split(|one: char| !one.is_ascii_digit());
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        Some((major, minor))
    })
}
