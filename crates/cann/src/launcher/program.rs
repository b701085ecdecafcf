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

impl LauncherError {
    fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::File { path: path.to_owned(), message: error.to_string() }
    }
}

/// What the launcher is built with.
#[derive(Clone, Debug)]
pub struct LauncherProgram<'toolkit> {
    /// The C++ compiler of this machine.
    pub compiler: &'toolkit Path,
    /// What tells this compiler from another.
    pub compiler_identity: &'toolkit str,
    /// Folders of the toolkit's headers.
    pub includes: &'toolkit [PathBuf],
    /// Folders of its libraries.
    pub libraries: &'toolkit [PathBuf],
    /// What tells this toolkit from another: its folder and its version.
    pub toolkit: &'toolkit str,
}

impl LauncherProgram<'_> {
    /// The program in a folder, built where it is not there yet. What it is linked from is kept in `shared`.
    ///
    /// # Errors
    /// Where there is no header, no compiler, or it does not build.
    pub fn build(&self, folder: &Path, shared: &Path) -> Result<PathBuf, LauncherError> {
        if !self.includes.iter().any(|include| include.join("acl/acl.h").is_file()) {
            let looked: Vec<String> = self.includes.iter().map(|include| include.display().to_string()).collect();
            return Err(LauncherError::NoHeader(looked.join(", ")));
        }
        let place = folder.join(&self.digest()[..16]);
        let program = place.join("launcher");
        if program.is_file() {
            return Ok(program);
        }
        fs_err::create_dir_all(&place).map_err(|error| LauncherError::file(&place, &error))?;
        for (name, text) in SOURCES {
            let path = place.join(name);
            fs_err::write(&path, text).map_err(|error| LauncherError::file(&path, &error))?;
        }
        let source = place.join("launcher.cpp");
        let object = self.object(&source, shared)?;
        // Others may build it at the same time: each writes its own and moves it there whole.
        let own = place.join(format!("launcher.{}", std::process::id()));
        let mut command = Command::new(self.compiler);
        command.arg("-o").arg(&own).arg(object);
        for library in self.libraries {
            command.arg("-L").arg(library).arg(format!("-Wl,-rpath,{}", library.display()));
        }
        // Libraries of the driver are found when it runs; functions are looked up by name in what AscendCL brings.
        command.args(["-Wl,--no-as-needed", "-lascendcl", "-Wl,--allow-shlib-undefined", "-ldl"]);
        self.run(command)?;
        fs_err::rename(&own, &program).map_err(|error| LauncherError::file(&program, &error))?;
        Ok(program)
    }

    /// The compiled source. It is the same for all toolkits whose headers say the same, wherever they lie and whatever operator asks, so it
    /// is kept where projects share.
    fn object(&self, source: &Path, shared: &Path) -> Result<PathBuf, LauncherError> {
        let words = || {
            let mut command = Command::new(self.compiler);
            // What takes its time runs on the device, and compiling takes the user's.
            command.args(["-std=c++17", "-O1"]);
            for include in self.includes {
                command.arg("-isystem").arg(include);
            }
            command
        };
        let mut preprocess = words();
        preprocess.args(["-E", "-P"]).arg(source);
        let text = self.run(preprocess)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.compiler_identity.as_bytes()).update(b"\0").update(&text);
        let object = shared.join(format!("{}.o", &hasher.finalize().to_hex()[..32]));
        if object.is_file() {
            return Ok(object);
        }
        fs_err::create_dir_all(shared).map_err(|error| LauncherError::file(shared, &error))?;
        let own = tempfile::Builder::new()
            .suffix(".o")
            .tempfile_in(shared)
            .map_err(|error| LauncherError::file(shared, &error))?;
        let mut compile = words();
        compile.arg("-c").arg("-o").arg(own.path()).arg(source);
        self.run(compile)?;
        own.persist(&object).map_err(|error| LauncherError::file(&object, &error.error))?;
        Ok(object)
    }

    /// What a compiler writes to its standard output.
    fn run(&self, mut command: Command) -> Result<Vec<u8>, LauncherError> {
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
        Ok(ended.stdout)
    }

    fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, text) in SOURCES {
            hasher.update(name.as_bytes()).update(text.as_bytes());
        }
        hasher.update(self.toolkit.as_bytes()).update(self.compiler_identity.as_bytes());
        for path in self.includes.iter().chain(self.libraries) {
            hasher.update(path.display().to_string().as_bytes()).update(b"\0");
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program<'parts>(
        includes: &'parts [PathBuf],
        toolkit: &'parts str,
        compiler: &'parts str,
    ) -> LauncherProgram<'parts> {
        LauncherProgram { compiler: Path::new("c++"), compiler_identity: compiler, includes, libraries: &[], toolkit }
    }

    #[test]
    fn a_toolkit_without_headers_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let includes = [folder.path().join("include")];
        let error =
            program(&includes, "8.1.RC1", "g++ 12").build(folder.path(), folder.path()).unwrap_err().to_string();
        assert_eq!(error, format!("the launcher needs acl/acl.h; looked for it in {}", includes[0].display()));
    }

    #[test]
    fn another_toolkit_or_compiler_gets_a_launcher_of_its_own() {
        let digest = |toolkit, compiler| program(&[], toolkit, compiler).digest();
        assert_eq!(digest("8.1.RC1", "g++ 12"), digest("8.1.RC1", "g++ 12"));
        assert_ne!(digest("8.1.RC1", "g++ 12"), digest("8.2.RC1", "g++ 12"));
        assert_ne!(digest("8.1.RC1", "g++ 12"), digest("8.1.RC1", "g++ 13"));
    }

    #[test]
    fn a_source_is_compiled_once_for_headers_that_say_the_same() {
        if Command::new("c++").arg("--version").output().is_err() {
            assert!(std::env::var_os("ASCEND_TUNE_TOOLS").is_none(), "c++ is missing");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("shared");
        let object = |toolkit: &str, header: &str| {
            let place = folder.path().join(toolkit);
            fs_err::create_dir_all(&place).unwrap();
            fs_err::write(place.join("acl.h"), header).unwrap();
            let source = place.join("main.cpp");
            fs_err::write(&source, "#include <acl.h>\nint main() { return VALUE; }\n").unwrap();
            program(&[place], toolkit, "c++").object(&source, &shared).unwrap()
        };
        let first = object("one", "#define VALUE 1\n");
        let compiled = fs_err::metadata(&first).unwrap().modified().unwrap();
        assert_eq!(object("two", "// the same\n#define VALUE 1\n"), first);
        assert_eq!(fs_err::metadata(&first).unwrap().modified().unwrap(), compiled);
        assert_ne!(object("three", "#define VALUE 2\n"), first);
    }
}
