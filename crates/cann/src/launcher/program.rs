//! Building the launcher on this machine, against this toolkit's headers.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Its sources, by the names that they are written under.
const SOURCES: [(&str, &str); 2] = [
    ("launcher.cpp", include_str!("../../../../templates/cann/launcher.cpp")),
    ("json.h", include_str!("../../../../templates/cann/json.h")),
];

/// A launcher that could not be built.
#[derive(Debug, thiserror::Error)]
pub enum LauncherError {
    /// No header of AscendCL where it could be.
    #[error("the launcher needs acl/acl.h; looked for it in {0}")]
    NoHeader(String),
    /// The compiler cannot be started.
    #[error("{}: {message}", program.display())]
    NoCompiler {
        /// The compiler.
        program: PathBuf,
        /// Why not.
        message: String,
    },
    /// It does not compile or link.
    #[error("the launcher does not build against this toolkit: {0}")]
    Compile(String),
    /// Files cannot be written.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// What the launcher is built with.
#[derive(Clone, Debug)]
pub struct LauncherProgram<'toolkit> {
    /// The C++ compiler of this machine.
    pub compiler: &'toolkit Path,
    /// Folders of the toolkit's headers.
    pub includes: &'toolkit [PathBuf],
    /// Folders of its libraries.
    pub libraries: &'toolkit [PathBuf],
    /// What tells this toolkit from another: its folder and its version.
    pub toolkit: &'toolkit str,
}

impl LauncherProgram<'_> {
    /// The program in a folder, built where it is not there yet.
    ///
    /// # Errors
    /// Where there is no header, no compiler, or it does not build.
    pub fn build(&self, folder: &Path) -> Result<PathBuf, LauncherError> {
        if !self.includes.iter().any(|include| include.join("acl/acl.h").is_file()) {
            let looked: Vec<String> = self.includes.iter().map(|include| include.display().to_string()).collect();
            return Err(LauncherError::NoHeader(looked.join(", ")));
        }
        let place = folder.join(&self.digest()[..16]);
        let program = place.join("launcher");
        if program.is_file() {
            return Ok(program);
        }
        let file = |path: &Path, error: &std::io::Error| LauncherError::File {
            path: path.to_owned(),
            message: error.to_string(),
        };
        fs_err::create_dir_all(&place).map_err(|error| file(&place, &error))?;
        for (name, text) in SOURCES {
            let path = place.join(name);
            fs_err::write(&path, text).map_err(|error| file(&path, &error))?;
        }
        // Others may build it at the same time: each writes its own and moves it there whole.
        let own = place.join(format!("launcher.{}", std::process::id()));
        let mut command = Command::new(self.compiler);
        // What takes its time runs on the device, and compiling takes the user's.
        command.args(["-std=c++17", "-O1", "-o"]).arg(&own).arg(place.join("launcher.cpp"));
        for include in self.includes {
            command.arg("-isystem").arg(include);
        }
        for library in self.libraries {
            command.arg("-L").arg(library).arg(format!("-Wl,-rpath,{}", library.display()));
        }
        // Libraries of the driver are found when it runs; functions are looked up by name in what AscendCL brings.
        command.args(["-Wl,--no-as-needed", "-lascendcl", "-Wl,--allow-shlib-undefined", "-ldl"]);
        let ended = command.output().map_err(|error| LauncherError::NoCompiler {
            program: self.compiler.to_owned(),
            message: error.to_string(),
        })?;
        if !ended.status.success() {
            let text = String::from_utf8_lossy(&ended.stderr);
            let errors: Vec<&str> =
                text.lines().filter(|line| line.contains("error") || line.contains("cannot find")).collect();
            let said = if errors.is_empty() { text.trim().to_owned() } else { errors.join("\n") };
            return Err(LauncherError::Compile(said));
        }
        fs_err::rename(&own, &program).map_err(|error| file(&program, &error))?;
        Ok(program)
    }

    fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, text) in SOURCES {
            hasher.update(name.as_bytes()).update(text.as_bytes());
        }
        hasher.update(self.toolkit.as_bytes());
        for path in self.includes.iter().chain(self.libraries) {
            hasher.update(path.display().to_string().as_bytes()).update(b"\0");
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolkit_without_headers_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let includes = [folder.path().join("include")];
        let program =
            LauncherProgram { compiler: Path::new("c++"), includes: &includes, libraries: &[], toolkit: "8.1.RC1" };
        let error = program.build(folder.path()).unwrap_err().to_string();
        assert_eq!(error, format!("the launcher needs acl/acl.h; looked for it in {}", includes[0].display()));
    }

    #[test]
    fn another_toolkit_gets_a_launcher_of_its_own() {
        let digest =
            |toolkit| LauncherProgram { compiler: Path::new("c++"), includes: &[], libraries: &[], toolkit }.digest();
        assert_eq!(digest("8.1.RC1"), digest("8.1.RC1"));
        assert_ne!(digest("8.1.RC1"), digest("8.2.RC1"));
    }
}
