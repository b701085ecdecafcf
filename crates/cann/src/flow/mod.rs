//! The project's own build, driven step by step in a private tree: no tree is ever wiped, nothing is installed for others, and only
//! what changed is built again.

mod build;
mod cmake;
mod entries;
mod error;
mod mirror;
mod package;
mod pending;
mod products;
mod repository;
mod style;
mod targets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cmake::Drive;
use mirror::Mirror;
use project::{CmakeRoot, OperatorProject};
use source::SourceTree;
use toolchain::ToolLimits;

use crate::diagnosis::diagnose;
use crate::object::KernelObject;
use crate::soc::Soc;
use crate::toolkit::Toolkit;

pub use error::FlowError;
pub use package::Package;
pub use style::Style;

/// How builds are driven.
#[derive(Clone, Debug)]
pub struct FlowOptions {
    /// Folder for the copy of the project, its binary trees and the packages.
    pub work: PathBuf,
    /// Cache entries of the user's; they win over the project's presets.
    pub entries: BTreeMap<String, String>,
    /// Limits of one call of CMake, which builds everything that it is asked for.
    pub limits: ToolLimits,
    /// How many compilers run at once.
    pub jobs: usize,
    /// The program to take where a project makes several, by its name.
    pub program: Option<String>,
}

impl FlowOptions {
    /// Half an hour and 32 GiB for a call: the kernel compiler loads a Python with much behind it.
    pub fn new(work: impl Into<PathBuf>) -> FlowOptions {
        FlowOptions {
            work: work.into(),
            entries: BTreeMap::new(),
            limits: ToolLimits { wall_s: 1800.0, memory_bytes: 32 << 30, writable: Vec::new() },
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            program: None,
        }
    }
}

/// What a build ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// CMake configured.
    pub configured: bool,
    /// Host libraries were built.
    pub host: bool,
    /// Kernels were built.
    pub kernel: bool,
}

/// What a build left. All of it is a copy that later builds do not touch.
#[derive(Clone, Debug)]
pub struct Built {
    /// Kernel objects by type of the operator, one a variant (dtypes and formats).
    pub objects: BTreeMap<String, Vec<KernelObject>>,
    /// The package that children find the operator by; none of a project that makes a program.
    pub package: Option<Package>,
    /// The program that the project makes.
    pub program: Option<PathBuf>,
    /// Shared libraries that the project makes.
    pub libraries: Vec<PathBuf>,
    /// What was done for it.
    pub ran: Ran,
    /// All that tools said.
    pub log: String,
}

/// A project's build with a toolkit.
#[derive(Clone, Debug)]
pub struct Flow {
    project: OperatorProject,
    toolkit: Toolkit,
    soc: Soc,
    options: FlowOptions,
    style: Style,
    mirror: Mirror,
    /// Folder of the copy that the operator's file names are relative to.
    operator: String,
}

/// Whether a file builds a framework's plug-in, which no kernel needs and which needs that framework's headers.
fn is_of_framework(name: &str) -> bool {
    let below = name.strip_prefix("framework/");
    below.is_some_and(|name| name == "CMakeLists.txt" || name.ends_with("/CMakeLists.txt"))
}

impl Flow {
    /// Looks at the project's style.
    ///
    /// # Errors
    /// Where the style is not driven.
    pub fn new(project: OperatorProject, toolkit: Toolkit, soc: Soc, options: FlowOptions) -> Result<Flow, FlowError> {
        let style = Style::of(&project);
        let refuse = |why: &str| Err(FlowError::NotDriven { style, why: why.to_owned() });
        match style {
            // The copy that programs are built from is that of the last candidate, whoever reads it.
            Style::RunTime if !style::kernels_are_embedded(&project) => {
                return refuse(
                    "it reads its kernel from a file while it runs, which may be that of another candidate by then; put the kernel into a raw literal of the program",
                );
            }
            Style::Unknown => {
                return refuse(
                    "its CMake files call none of opbuild, npu_op_package, ascendc_library and project(.. LANGUAGES ASC), its sources do not call aclrtcCompileProg, and no build.sh with --ops is above it",
                );
            }
            _ => {}
        }
        let root = match style {
            Style::Repository => style::repository_of(&project).unwrap_or(&project.repository_root).to_owned(),
            _ => project.cmake_root.directory().to_owned(),
        };
        let inside = project.root.strip_prefix(&root).unwrap_or(Path::new(""));
        let operator: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let operator = operator.iter().map(|part| format!("{part}/")).collect();
        let mirror = Mirror::new(&root, &options.work, is_of_framework);
        Ok(Flow { project, toolkit, soc, options, style, mirror, operator })
    }

    /// The project's style.
    pub fn style(&self) -> Style {
        self.style
    }

    /// What a build does, in words: for a dry run, and for who asks what would happen.
    pub fn steps(&self) -> Vec<String> {
        let work = self.options.work.display();
        let unit = self.soc.compute_unit(&[]);
        let mut steps = vec![format!("copy what changed of the project to {work}/source")];
        match self.style {
            Style::Repository => {
                steps.push(format!("there: bash {}", self.repository_words().join(" ")));
                steps.push(format!("take kernel objects for {unit} and host libraries out of {work}/source/build"));
            }
            style if style.is_program() => {
                steps.push(format!("configure it once for {} ({})", self.soc.name, self.soc.npu_arch()));
                steps.push("build all; only what changed is compiled".to_owned());
            }
            _ => {
                steps.push(format!("configure it once for {unit}; again only if a definition or a CMake file changes"));
                steps.push("build host libraries if host code changed, kernels if kernel code changed".to_owned());
            }
        }
        steps.push(match self.style.is_program() {
            true => format!("copy programs and libraries to {work}/packages/<sources>"),
            false => format!("lay out a package in {work}/packages/<sources>/vendors, which only our own children see"),
        });
        steps
    }

    /// Builds the project with these texts in place of its files.
    ///
    /// # Errors
    /// Where a tool says no, or says yes and leaves no kernel object, or the machine is in trouble.
    pub fn build(&self, tree: &SourceTree) -> Result<Built, FlowError> {
        let work = &self.options.work;
        fs_err::create_dir_all(work).map_err(FlowError::io(work))?;
        let lock = work.join("lock");
        let held = std::fs::File::create(&lock).map_err(FlowError::io(&lock))?;
        held.lock().map_err(FlowError::io(&lock))?;
        let texts: BTreeMap<String, &str> =
            tree.iter().map(|(file, text)| (format!("{}{file}", self.operator), text)).collect();
        let changed = self.mirror.sync(&texts)?;
        match self.style {
            Style::Repository => self.build_in_repository(tree, &changed),
            _ => self.build_with_cmake(tree, &changed),
        }
    }

    /// Where the project's CMake file is in the copy.
    fn cmake_folder(&self) -> PathBuf {
        match &self.project.cmake_root {
            CmakeRoot::Project(_) => PathBuf::new(),
            CmakeRoot::Operator(folder) => {
                folder.strip_prefix(&self.project.repository_root).map_or_else(|_| PathBuf::new(), Path::to_owned)
            }
        }
    }

    fn drive<'call>(
        &self,
        source: PathBuf,
        binary: PathBuf,
        map: &'call dyn Fn(&str) -> String,
    ) -> Result<Drive<'call>, FlowError> {
        let has_make = self
            .toolkit
            .surroundings()
            .variable("PATH")
            .unwrap_or_default()
            .split(':')
            .any(|folder| Path::new(folder).join("make").is_file());
        if !has_make {
            return Err(FlowError::Missing {
                message: "make was not found in PATH, and the toolkit's build scripts call it".to_owned(),
                fix: "install it, such as `apt-get install make`".to_owned(),
            });
        }
        let logs = self.options.work.join("log");
        fs_err::create_dir_all(&logs).map_err(FlowError::io(&logs))?;
        let mut environment = self.toolkit.environment();
        for (name, folder) in [
            ("ASCENDC_BUILD_LOG_DIR", logs.clone()),
            ("ASCEND_PROCESS_LOG_PATH", logs.join("process")),
            ("ASCEND_CACHE_PATH", self.options.work.join("cache")),
        ] {
            environment.insert(name.to_owned(), folder.display().to_string());
        }
        // The toolkit's own settings of other packages stay as they are: a project may need them.
        let limits = ToolLimits { writable: vec![self.options.work.clone()], ..self.options.limits.clone() };
        Ok(Drive { source, binary, environment, limits, jobs: self.options.jobs, logs, map, log: String::new() })
    }

    fn surroundings(&self) -> crate::environment::Environment {
        let mut surroundings = self.toolkit.surroundings().clone();
        surroundings.variables.extend(self.toolkit.environment());
        surroundings
    }

    /// The project's own name of a path in a tool's words, relative to the operator where it is of it.
    fn original(&self, path: &str) -> String {
        let mut name = self.mirror.original(path);
        // Builds copy kernel sources and compile the copies.
        if let Ok(copy) = Path::new(&name).strip_prefix(&self.options.work) {
            name = self.mirror.copied(copy, &format!("{}op_kernel", self.operator)).unwrap_or(name);
        }
        name.strip_prefix(self.operator.as_str()).map_or(name.clone(), str::to_owned)
    }

    /// A new folder for what is built of these sources.
    fn folder_of(&self, tree: &SourceTree) -> Result<PathBuf, FlowError> {
        let digest =
            digest(tree.iter().chain(self.options.entries.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
        let folder = self.options.work.join("packages").join(&digest[..16]);
        if folder.is_dir() {
            fs_err::remove_dir_all(&folder).map_err(FlowError::io(&folder))?;
        }
        fs_err::create_dir_all(&folder).map_err(FlowError::io(&folder))?;
        Ok(folder)
    }

    fn no_object(&self, step: &str, broken: Vec<String>, log: &str, unit: &str) -> FlowError {
        let what = match broken.first() {
            Some(reason) => format!("no kernel object that can be launched: {reason}"),
            None => format!("no kernel object for {unit}"),
        };
        self.nothing(step, what, log)
    }

    fn nothing(&self, step: &str, what: String, log: &str) -> FlowError {
        let log_file = self.options.work.join("log/last-build.txt");
        // The error is worth more than its log.
        let _ = fs_err::write(&log_file, log);
        let findings = diagnose(log, &|path| self.original(path));
        FlowError::NoObject { step: step.to_owned(), what, findings, log_file }
    }
}

fn digest<'text>(pairs: impl Iterator<Item = (&'text str, &'text str)>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, text) in pairs {
        for part in [name, text] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests;
