//! What the tests share: projects to work on, the binary, its events, and one cache for all.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use build::compiler::Compiler;
use build::sdk::{Sdk, SdkOptions};
use serde_json::Value;
use tempfile::TempDir;

/// The binary under test.
pub const TOOL: &str = env!("CARGO_BIN_EXE_cargo-ascend-tune");

/// The crate's directory.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Cache of all tests: the SDK's library is compiled once and stays for the next run.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Where the tests get their SDK from.
pub fn sdk_options() -> SdkOptions {
    SdkOptions { directory: None, cache: Some(cache()), jobs: 0 }
}

/// The SDK, made ready on first use.
pub fn sdk() -> &'static Sdk {
    static SDK: LazyLock<Sdk> =
        LazyLock::new(|| Sdk::prepare(&sdk_options()).unwrap_or_else(|error| panic!("{error}")));
    &SDK
}

/// What keeps a test from running on this machine.
pub fn missing() -> Option<String> {
    static MISSING: LazyLock<Option<String>> = LazyLock::new(|| {
        if let Err(error) = Compiler::find() {
            return Some(error.to_string());
        }
        toolchain::Cmake::find().err().map(|error| error.to_string())
    });
    MISSING.clone()
}

/// Ends the test with a word on standard error where cmake or a C++ compiler is missing. Under `./x test`, which
/// has brought both, and in continuous integration it fails instead.
macro_rules! require_tools {
    () => {
        if let Some(reason) = crate::support::missing() {
            assert!(!crate::support::tools_are_brought(), "{reason}: a test that cannot run has not passed");
            eprintln!("skipped: {reason}");
            return;
        }
    };
}
pub(crate) use require_tools;

/// A private copy of an operator project.
pub struct Project {
    directory: TempDir,
}

impl Project {
    /// A copy of `fixtures/<name>`.
    pub fn as_shipped(name: &str) -> Self {
        Self::copy_of(&root().join("fixtures").join(name))
    }

    /// The same, with one drawn probe for its winners beside those at edges: what most tests are about is the same with few, and takes half the time.
    pub fn fixture(name: &str) -> Self {
        let project = Self::as_shipped(name);
        let manifest = project.read("ascend.toml");
        project.write("ascend.toml", &manifest.replacen("\nseeds = 3\n", "\nseeds = 3\nprobes = 1\n", 1));
        project
    }

    /// A fixture as if it were an operator of another type.
    pub fn renamed(name: &str, names: [(&str, &str); 2]) -> Self {
        let project = Self::fixture(name);
        let to = |text: &str| names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        let files: Vec<_> = walkdir::WalkDir::new(project.path()).into_iter().flatten().collect();
        for entry in files.iter().filter(|entry| entry.file_type().is_file()) {
            let text = fs_err::read_to_string(entry.path()).expect("a text file");
            fs_err::remove_file(entry.path()).expect("a file of ours");
            let name = to(&entry.file_name().to_string_lossy());
            fs_err::write(entry.path().with_file_name(name), to(&text)).expect("a written file");
        }
        project
    }

    /// A copy of a directory, without what builds and runs left in it.
    pub fn copy_of(from: &Path) -> Self {
        let directory = tempfile::Builder::new().prefix("ascend-tune-").tempdir().expect("a temporary directory");
        let entries = walkdir::WalkDir::new(from).into_iter().filter_entry(|entry| entry.file_name() != "target");
        for entry in entries {
            let entry = entry.expect("a readable fixture");
            let relative = entry.path().strip_prefix(from).expect("below the fixture");
            let to = directory.path().join(relative);
            if entry.file_type().is_dir() {
                fs_err::create_dir_all(&to).expect("a directory");
            } else {
                fs_err::copy(entry.path(), &to).expect("a copy");
            }
        }
        Self { directory }
    }

    /// Its root.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Text of a file.
    pub fn read(&self, file: &str) -> String {
        fs_err::read_to_string(self.path().join(file)).expect("a text file")
    }

    /// Writes a file.
    pub fn write(&self, file: &str, text: &str) {
        fs_err::write(self.path().join(file), text).expect("a written file");
    }

    /// Runs the tool with `--project` and JSON lines. `arguments` begin with the command.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        let output = self.command(arguments).output().expect("the tool runs");
        Ended::new(&output)
    }

    /// The command that [`Project::run`] runs, for tests that need the process itself.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = tool();
        command.args(arguments).arg("--project").arg(self.path()).args(["--message-format", "json"]);
        command
    }
}

/// The text with its only `from` made `to`.
pub fn edited(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

/// The tool with the tests' cache and without the developer's own settings.
pub fn tool() -> Command {
    let mut command = Command::new(TOOL);
    command.env("ASCEND_TUNE_CACHE", cache()).env_remove("ASCEND_TUNE_SDK").stdin(Stdio::null());
    // Found once for all, and not once for every process that the tests start.
    if let Ok(cmake) = toolchain::Cmake::find() {
        command.env("ASCEND_TUNE_CMAKE", cmake.program);
    }
    command
}

/// How the tool ended and what it said.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; -1 after a signal.
    pub code: i32,
    /// Events of standard output.
    pub events: Vec<Value>,
    /// Standard error.
    pub stderr: String,
}

impl Ended {
    /// From what the process left.
    pub fn new(output: &Output) -> Self {
        let stdout = String::from_utf8_lossy(&output.stdout);
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in line: {line}"));
        Self {
            code: output.status.code().unwrap_or(-1),
            events: stdout.lines().map(parse).collect(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Demands an exit code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "events: {:#?}\nstderr: {}", self.events, self.stderr);
        self
    }

    /// Events of one kind.
    pub fn named(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == kind).collect()
    }
}

/// Whether whoever runs the tests has brought what they need, so that one that lacks something fails.
pub fn tools_are_brought() -> bool {
    ["ASCEND_TUNE_TOOLS", "CI"].into_iter().any(|name| std::env::var_os(name).is_some())
}

/// Whether references in Python can run: they exchange numpy arrays.
pub fn python_has_numpy() -> bool {
    let mut python = std::process::Command::new("python3");
    let output = python.args(["-c", "import numpy"]).output();
    output.is_ok_and(|output| output.status.success())
}
