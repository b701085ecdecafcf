//! An installed toolkit: where it is, which version, and what is where in it.

mod release;
mod root;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::version::Version;

pub use root::FoundBy;

/// A toolkit on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolkit {
    /// Its root: what `ASCEND_HOME_PATH` is.
    pub home: PathBuf,
    /// What led to it.
    pub found_by: FoundBy,
    /// The processor that it runs on, as folders name it: `aarch64` or `x86_64`.
    pub processor: String,
    /// Its version, where a file says it.
    pub version: Option<Version>,
    /// The number of the build behind the version (`7.7.0.1.238`), where a file says it.
    pub inner_version: Option<String>,
    surroundings: Environment,
}

/// One place that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Why there: `--toolkit`, a variable, or that it is where installers put it.
    pub because: String,
    /// The folder; empty where a variable is not set.
    pub folder: Option<PathBuf>,
    /// What was wrong with it.
    pub outcome: String,
}

impl fmt::Display for Looked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.folder {
            Some(folder) => write!(formatter, "{} ({}): {}", folder.display(), self.because, self.outcome),
            None => write!(formatter, "{}: {}", self.because, self.outcome),
        }
    }
}

/// Why there is no toolkit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolkitError {
    /// The one that was named is none.
    #[error("{} is no toolkit: {outcome}; name the folder that holds opp/ and compiler/, such as /usr/local/Ascend/ascend-toolkit/latest", folder.display())]
    Named {
        /// The folder named.
        folder: PathBuf,
        /// What is wrong with it.
        outcome: String,
    },
    /// None is where one would be.
    #[error("no toolkit was found; looked at {}; {}", list(looked), advice(elsewhere.as_deref()))]
    NotFound {
        /// Everywhere that was looked, in order.
        looked: Vec<Looked>,
        /// One that belongs to others on this machine and was therefore not taken.
        elsewhere: Option<PathBuf>,
    },
}

fn list(looked: &[Looked]) -> String {
    looked.iter().map(Looked::to_string).collect::<Vec<_>>().join("; ")
}

fn advice(elsewhere: Option<&Path>) -> String {
    match elsewhere {
        Some(home) => format!(
            "{} is another user's installation and is not taken silently: `source {}/set_env.sh`, or set ASCEND_HOME_PATH to it",
            home.display(),
            home.display()
        ),
        None => "`source <root of the toolkit>/set_env.sh`, or set ASCEND_HOME_PATH to that root".to_owned(),
    }
}

impl Toolkit {
    /// Looks where the toolkit's own scripts look: what was named, `ASCEND_CANN_PACKAGE_PATH`, `ASCEND_HOME_PATH`,
    /// `ASCEND_TOOLKIT_HOME`, above `ASCEND_OPP_PATH`, then where installers put it for this user.
    ///
    /// # Errors
    /// Where what was named is no toolkit, or none of the places has one: all of them are told.
    pub fn find(explicit: Option<&Path>, environment: &Environment) -> Result<Toolkit, ToolkitError> {
        let found = root::find(explicit, environment)?;
        let processor = root::processor_of(&found.home);
        let release = release::read(&found.home, &processor);
        Ok(Toolkit {
            home: found.home,
            found_by: found.by,
            processor,
            version: release.version,
            inner_version: release.inner,
            surroundings: environment.clone(),
        })
    }

    /// The folder of what is for this processor; the root itself in trees that have none.
    pub fn arch(&self) -> PathBuf {
        let folder = self.home.join(format!("{}-linux", self.processor));
        if folder.is_dir() { folder } else { self.home.clone() }
    }

    /// A program of the toolkit, or of this name in `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        // `msprof` is a tool of its own in some trees, and of the profiler's folder in others.
        const FOLDERS: [&str; 9] = [
            "bin",
            "compiler/ccec_compiler/bin",
            "tools/ccec_compiler/bin",
            "tools/profiler/bin",
            "tools/msopt/bin",
            "tools/msopprof/bin",
            "tools/opbuild",
            "compiler/bin",
            "toolkit/bin",
        ];
        let own = [self.home.clone(), self.arch()]
            .into_iter()
            .flat_map(|root| FOLDERS.iter().map(move |folder| root.join(folder)))
            .chain([self.home.join("python/site-packages/bin")]);
        let path = self.surroundings.variable("PATH").unwrap_or_default().split(':').map(PathBuf::from);
        own.chain(path).map(|folder| folder.join(name)).find(|program| is_program(program))
    }

    /// Folders of headers that AscendCL programs are compiled with, those that are there.
    pub fn include_folders(&self) -> Vec<PathBuf> {
        let arch = self.arch();
        let folders = [
            self.home.join("include"),
            arch.join("include"),
            self.home.join("runtime/include"),
            self.home.join("compiler/include"),
            arch.join("pkg_inc"),
            arch.join("include/experiment/runtime"),
        ];
        distinct(folders.into_iter().filter(|folder| folder.is_dir()))
    }

    /// Folders of libraries that they are linked and run with, those that are there; stubs of the driver come last, for machines
    /// that build and have no device.
    pub fn library_folders(&self) -> Vec<PathBuf> {
        let arch = self.arch();
        let folders = [
            self.home.join("lib64"),
            arch.join("lib64"),
            self.home.join("runtime/lib64"),
            self.home.join("compiler/lib64"),
            self.home.join("lib64/device/lib64"),
        ];
        distinct(folders.into_iter().filter(|folder| folder.is_dir()))
    }

    /// Where a linker finds what only the driver's installation has at run time.
    pub fn stub_folder(&self) -> Option<PathBuf> {
        let arch = self.arch();
        let folders = [arch.join("devlib"), self.home.join("runtime/lib64/stub"), self.home.join("devlib")];
        folders.into_iter().find(|folder| folder.is_dir())
    }

    /// The folder with `ASCConfig.cmake` or `asc-config.cmake`; older toolkits have none.
    pub fn cmake_folder(&self) -> Option<PathBuf> {
        let arch = self.arch();
        let folders = [
            arch.join("lib64/cmake"),
            arch.join("lib64/cmake/asc"),
            arch.join("tikcpp/ascendc_kernel_cmake"),
            self.home.join("compiler/tikcpp/ascendc_kernel_cmake"),
            self.home.join("lib64/cmake"),
        ];
        let is_package =
            |folder: &PathBuf| ["asc-config.cmake", "ASCConfig.cmake"].iter().any(|file| folder.join(file).is_file());
        folders.into_iter().find(is_package)
    }

    /// Folder of the modules that kernel-launch projects include (`ascendc.cmake`).
    pub fn kernel_cmake_folder(&self) -> Option<PathBuf> {
        let arch = self.arch();
        let folders = [
            self.home.join("tools/tikcpp/ascendc_kernel_cmake"),
            self.home.join("compiler/tikcpp/ascendc_kernel_cmake"),
            self.home.join("ascendc_devkit/tikcpp/samples/cmake"),
            arch.join("tikcpp/ascendc_kernel_cmake"),
        ];
        folders.into_iter().find(|folder| folder.join("ascendc.cmake").is_file())
    }

    /// The folder of platform files, one a chip.
    pub fn platform_folder(&self) -> Option<PathBuf> {
        let folders = [
            self.arch().join("data/platform_config"),
            self.home.join("data/platform_config"),
            self.home.join("compiler/data/platform_config"),
        ];
        folders.into_iter().find(|folder| folder.is_dir())
    }

    /// Folder of operators: built-in ones, and vendors'.
    pub fn opp(&self) -> PathBuf {
        match self.surroundings.variable("ASCEND_OPP_PATH").map(PathBuf::from) {
            Some(named) if named.is_dir() && named.parent() == Some(&self.home) => named,
            _ => self.home.join("opp"),
        }
    }

    /// What children are given: the toolkit's own variables, and its folders before what `PATH` and the like have already. Set
    /// however the toolkit was found, because its CMake files read nothing else.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let home = self.home.display().to_string();
        let mut variables = BTreeMap::from([
            ("ASCEND_HOME_PATH".to_owned(), home.clone()),
            ("ASCEND_TOOLKIT_HOME".to_owned(), home.clone()),
            ("ASCEND_OPP_PATH".to_owned(), self.opp().display().to_string()),
            ("ASCEND_AICPU_PATH".to_owned(), home),
            ("TOOLCHAIN_HOME".to_owned(), self.home.join("toolkit").display().to_string()),
        ]);
        let tiling = format!("opp/built-in/op_impl/ai_core/tbe/op_tiling/lib/linux/{}", self.processor);
        let lists: [(&str, Vec<PathBuf>); 3] = [
            ("PATH", self.within(&["bin", "compiler/ccec_compiler/bin", "tools/ccec_compiler/bin"])),
            (
                "LD_LIBRARY_PATH",
                self.within(&["lib64", "lib64/plugin/opskernel", "lib64/plugin/nnengine", &tiling, "tools/aml/lib64"]),
            ),
            ("PYTHONPATH", self.within(&["python/site-packages", "opp/built-in/op_impl/ai_core/tbe"])),
        ];
        for (name, folders) in lists {
            let value = self.surroundings.prepended(name, &folders);
            variables.extend(value.map(|value| (name.to_owned(), value)));
        }
        variables
    }

    /// The surroundings that it was found in.
    pub fn surroundings(&self) -> &Environment {
        &self.surroundings
    }

    fn within(&self, folders: &[&str]) -> Vec<PathBuf> {
        folders.iter().map(|folder| self.home.join(folder)).filter(|folder| folder.is_dir()).collect()
    }
}

impl fmt::Display for Toolkit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(formatter, "{version} ({}, by {})", self.home.display(), self.found_by),
            None => write!(formatter, "{} (no file says its version; by {})", self.home.display(), self.found_by),
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs_err::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn distinct(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<(PathBuf, PathBuf)> = Vec::new();
    for folder in folders {
        // `lib64` of the root is mostly a link to that of the processor's folder.
        let real = fs_err::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        if kept.iter().all(|(_, known)| *known != real) {
            kept.push((folder, real));
        }
    }
    kept.into_iter().map(|(folder, _)| folder).collect()
}

#[cfg(test)]
mod tests;
