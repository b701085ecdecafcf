//! Why operators could not be built.

use std::fmt;
use std::path::PathBuf;

/// Why operators could not be built.
#[derive(Debug)]
pub enum Error {
    /// Not in a build script.
    Variable {
        /// The environment variable that Cargo sets there.
        name: &'static str,
    },
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file does not say what it should.
    Content {
        /// The file.
        path: PathBuf,
        /// Line, from 1; 0 if unknown.
        line: usize,
        /// What is wrong, and what to do.
        message: String,
    },
    /// The files are not those that were locked.
    Stale {
        /// The lock.
        lock: PathBuf,
        /// How they differ, one sentence each.
        differences: Vec<String>,
    },
    /// The tool cannot be started.
    NoTool {
        /// What was started.
        program: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The tool failed.
    Tool {
        /// The command.
        command: String,
        /// What it said.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Variable { name } => {
                write!(formatter, "{name} is not set: this is for build scripts, which Cargo runs")
            }
            Error::File { path, source } => write!(formatter, "{}: {source}", path.display()),
            Error::Content { path, line: 0, message } => write!(formatter, "{}: {message}", path.display()),
            Error::Content { path, line, message } => write!(formatter, "{}:{line}: {message}", path.display()),
            Error::Stale { lock, differences } => write!(
                formatter,
                "{} is stale: {}; tune the sources as they are with `cargo ascend-tune run`, or lock them with `cargo ascend-tune lock \
                 accept`",
                lock.display(),
                differences.join("; ")
            ),
            Error::NoTool { program, source } => write!(
                formatter,
                "{program} cannot be started: {source}; install it with `cargo install cargo-ascend-tune`, name it in CARGO_ASCEND_TUNE, or \
                 set `build = false` in [package.metadata.ascend-tune], for constants only"
            ),
            Error::Tool { command, message } => write!(formatter, "`{command}` failed: {message}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source, .. } | Error::NoTool { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl Error {
    /// Says what is wrong and ends the build script. Cargo shows it.
    pub fn end(&self) -> ! {
        println!("cargo::error={}", self.to_string().replace('\n', " "));
        std::process::exit(1)
    }
}
