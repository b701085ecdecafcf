//! The host C++ compiler: found through `cc`, identified once, run with captured output.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cache::Digest;
use super::error::BuildError;
pub use toolchain::ToolRun as CompilerRun;
use toolchain::{ToolLimits, run_tool};

/// Who made the compiler; the two differ in a few flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompilerFamily {
    /// GCC.
    Gnu,
    /// clang.
    Clang,
}

/// The host C++ compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    /// Who made it.
    pub family: CompilerFamily,
    /// First line of `--version`.
    pub version: String,
    /// Digest over program, version and processor, for caches.
    pub identity: String,
    quick_linker: Option<&'static str>,
    limits: ToolLimits,
}

/// A linker that takes a third of the time of the usual one for a library of one object, and the word that asks for it. It is part of
/// many systems' binutils.
const QUICK_LINKER: (&str, &str) = ("ld.gold", "-fuse-ld=gold");

const FIX: &str =
    "install one with `apt-get install g++` (or `dnf install gcc-c++`), or name one in the environment variable CXX";

impl Compiler {
    /// The compiler that `cc` chooses, which honours `CXX`.
    pub fn find() -> Result<Compiler, BuildError> {
        let target = env!("ASCEND_TUNE_TARGET");
        let tool = cc::Build::new()
            .cpp(true)
            .target(target)
            .host(target)
            .opt_level(1)
            .debug(false)
            .cargo_metadata(false)
            .cargo_warnings(false)
            .cargo_output(false)
            .warnings(false)
            .try_get_compiler()
            .map_err(|error| missing(&format!("no C++ compiler was found ({error})")))?;
        // Only the program is taken over: the flags that cc adds are for code that is linked into Rust.
        Self::identify(tool.path().to_owned())
    }

    fn identify(program: PathBuf) -> Result<Compiler, BuildError> {
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| missing(&format!("the C++ compiler {} cannot be run ({error})", program.display())))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || text.is_empty() {
            return Err(missing(&format!(
                "{} --version fails, so it is no C++ compiler that works",
                program.display()
            )));
        }
        let family = if text.contains("clang") { CompilerFamily::Clang } else { CompilerFamily::Gnu };
        let version = text.lines().next().unwrap_or_default().to_owned();
        let (name, word) = QUICK_LINKER;
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let quick_linker = std::env::split_paths(&folders).any(|folder| folder.join(name).is_file()).then_some(word);
        // Not which linker: what they make does the same.
        let identity =
            Digest::new("compiler 1").text(&program.to_string_lossy()).text(&text).text(&processor()).finish();
        Ok(Compiler { program, family, version, identity, quick_linker, limits: ToolLimits::default() })
    }

    /// The program itself.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The word for a linker that is quicker than the usual one, where there is one. What it refuses the usual one has to refuse as well:
    /// only that one's words are understood.
    pub(crate) fn quick_linker(&self) -> Option<&'static str> {
        self.quick_linker
    }

    #[cfg(test)]
    pub(crate) fn with_quick_linker(self, word: &'static str) -> Self {
        Self { quick_linker: Some(word), ..self }
    }

    /// The same compiler under other limits.
    #[must_use]
    pub fn with_limits(self, limits: ToolLimits) -> Self {
        Self { limits, ..self }
    }

    /// Limits of each call, and of CMake, which calls it.
    pub fn limits(&self) -> &ToolLimits {
        &self.limits
    }

    /// A command ready to take arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::null()).env("LC_ALL", "C");
        command
    }

    /// Runs the compiler in a directory. An error says nothing about the sources, except [`BuildError::Limit`].
    pub fn run<Argument: AsRef<OsStr>>(
        &self,
        directory: &Path,
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Result<CompilerRun, BuildError> {
        let mut command = self.command();
        command.args(arguments).current_dir(directory);
        Ok(run_tool(&command, &self.limits, "the C++ compiler", FIX)?)
    }

    /// Flags that make the output easy to read by a program.
    pub(crate) fn output_flags(&self) -> Vec<String> {
        let of_the_family: &[&str] = match self.family {
            CompilerFamily::Gnu => {
                &["-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-fdiagnostics-format=text"]
            }
            CompilerFamily::Clang => &["-fno-caret-diagnostics", "-fno-color-diagnostics"],
        };
        ["-fmessage-length=0"].iter().chain(of_the_family).map(|&flag| flag.to_owned()).collect()
    }
}

fn missing(message: &str) -> BuildError {
    BuildError::Environment { message: message.to_owned(), fix: FIX.to_owned() }
}

/// What `-march=native` depends on.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features"));
    lines.take(2).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_is_found_and_has_an_identity() {
        let Ok(compiler) = Compiler::find() else {
            eprintln!("skipped: no C++ compiler on this machine");
            return;
        };
        assert!(!compiler.version.is_empty());
        assert_eq!(compiler.identity, Compiler::find().unwrap().identity);
    }

    #[test]
    fn every_compiler_takes_the_flags_of_its_family() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.cpp"), "int main() { return 0; }\n").unwrap();
        for program in ["g++", "clang++"] {
            let Ok(compiler) = Compiler::identify(PathBuf::from(program)) else {
                eprintln!("skipped: {program} is not on this machine");
                continue;
            };
            let mut words = compiler.output_flags();
            words.extend(["-Werror", "-fsyntax-only", "a.cpp"].map(str::to_owned));
            let run = compiler.run(directory.path(), &words).unwrap();
            assert!(run.success, "{program}: {}", run.output);
        }
    }

    #[test]
    fn a_missing_compiler_names_the_fix() {
        let error = Compiler::identify(PathBuf::from("/nonexistent/g++")).unwrap_err().to_string();
        assert!(error.contains("apt-get install g++"), "{error}");
    }
}
