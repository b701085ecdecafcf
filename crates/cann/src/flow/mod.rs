//! The project's own build, driven step by step in a private tree: no tree is ever wiped, nothing is installed for others, and only
//! what changed is built again.

mod cmake;
mod entries;
mod error;
mod mirror;
mod package;
mod pending;
mod products;
mod style;
mod targets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use cmake::Drive;
use entries::{Request, vendor};
use mirror::Mirror;
use package::{Parts, copy_tree, lay_out, vendor_below};
use pending::Pending;
use products::{Elf, Pair, linked, pairs};
use project::{CmakeRoot, OperatorProject};
use source::SourceTree;
use targets::Targets;
use toolchain::{Cmake, ToolLimits};

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
            Style::RunTime => {
                return refuse(
                    "its kernel is text in the program; give the kernel a file of its own with a CMake project of `LANGUAGES ASC`",
                );
            }
            Style::Unknown => {
                return refuse(
                    "its CMake files call none of opbuild, npu_op_package, ascendc_library and project(.. LANGUAGES ASC), and no build.sh with --ops is above it",
                );
            }
            _ => {}
        }
        let root = match style {
            Style::Repository => project.repository_root.clone(),
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

    fn build_with_cmake(&self, tree: &SourceTree, changed: &[String]) -> Result<Built, FlowError> {
        let cmake = Cmake::find()?;
        let inside = self.cmake_folder();
        let source = self.mirror.root().join(&inside);
        let request = Request {
            style: self.style,
            toolkit: &self.toolkit,
            soc: &self.soc,
            source: &source,
            work: &self.options.work,
            user: &self.options.entries,
        };
        let entries = request.entries()?;
        // Other entries are another tree: some count at the first configuration only, and a tree is never wiped.
        let digest = digest(entries.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let binary = self.options.work.join(format!("build-{}", &digest[..12]));
        let map = |path: &str| self.original(path);
        let mut drive = self.drive(source, binary.clone(), &map)?;
        let mut pending = self.pending(&binary, changed)?;
        let started = SystemTime::now() - Duration::from_millis(20);
        let mut ran = Ran::default();
        if pending.configuration {
            // These are made once and then never again, whatever they were made of.
            forget(&binary, &|name| name.ends_with("-ops-info.json") || name == "npu_supported_ops.json")?;
            drive.configure(&cmake, &entries)?;
            ran.configured = true;
            pending = Pending { configuration: false, ..pending };
            pending.keep(&binary)?;
        }
        if pending.kernel {
            forget(&binary, &|name| name == "copy_kernel_src.timestamp")?;
        }
        let result = match self.style.is_program() {
            true => self.program(&cmake, &mut drive, pending, started, tree),
            false => self.operators(&cmake, &mut drive, pending, tree, &entries),
        };
        let mut built = result?;
        (ran.host, ran.kernel) = (pending.host, pending.kernel);
        Pending { configuration: false, host: false, kernel: false }.keep(&binary)?;
        built.ran = ran;
        built.log = drive.log;
        Ok(built)
    }

    /// What is out of date in a tree after these files changed. Every tree of this project hears of it, because the copy that they are
    /// built from is one.
    fn pending(&self, binary: &Path, changed: &[String]) -> Result<Pending, FlowError> {
        let text = |name: &str| {
            let bytes = fs_err::read(self.mirror.root().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let trees = fs_err::read_dir(&self.options.work).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_tree =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("build-"));
        let trees: Vec<PathBuf> = trees.filter(is_tree).filter(|tree| tree != binary).collect();
        let mut own = Pending::of(binary);
        own.add(changed.iter(), &text);
        own.keep(binary)?;
        for tree in trees {
            let mut other = Pending::of(&tree);
            other.add(changed.iter(), &text);
            other.keep(&tree)?;
        }
        Ok(own)
    }

    fn operators(
        &self,
        cmake: &Cmake,
        drive: &mut Drive<'_>,
        pending: Pending,
        tree: &SourceTree,
        entries: &BTreeMap<String, String>,
    ) -> Result<Built, FlowError> {
        let unit = entries.get("ASCEND_COMPUTE_UNIT").cloned().unwrap_or_default();
        let targets = Targets::of(&drive.targets(cmake)?, &unit);
        let vendor = vendor(entries);
        let binary = drive.binary.clone();
        if (pending.host || pending.kernel) && !(targets.host.is_empty() && targets.texts.is_empty()) {
            let names: Vec<String> = targets.host.iter().chain(&targets.texts).cloned().collect();
            drive.build(cmake, "the build of host code", &names)?;
            // No kernel needs them, and where one fails the package is laid out all the same.
            if !targets.optional.is_empty() {
                let _ = drive.build(cmake, "the build of a package's texts", &targets.optional);
            }
        }
        let mut last = "the build of host code";
        if pending.kernel {
            // What an earlier build left would be taken for what this one makes.
            let mut old = Vec::new();
            for pair in pairs(&binary, &mut old) {
                for file in [&pair.text, &pair.object.path] {
                    fs_err::remove_file(file).map_err(FlowError::io(file))?;
                }
            }
            if self.style == Style::MsOpGen {
                // The kernel compiler asks the tiling library of an installed package; this one is installed nowhere.
                let prepared = self.options.work.join("prepared/vendors").join(&vendor);
                let parts = Parts {
                    tree: &binary,
                    unit: &unit,
                    vendor: &vendor,
                    processor: &self.toolkit.processor,
                    pairs: &[],
                };
                if prepared.is_dir() {
                    fs_err::remove_dir_all(&prepared).map_err(FlowError::io(&prepared))?;
                }
                lay_out(&prepared, &parts)?;
                let package = Package { vendor: prepared };
                drive.environment.extend(package.environment(&self.surroundings()));
            }
            last = "the build of kernels";
            drive.build(cmake, last, &targets.kernel)?;
        }
        let mut broken = Vec::new();
        let found = pairs(&binary, &mut broken);
        if found.is_empty() {
            return Err(self.no_object(last, broken, &drive.log, &unit));
        }
        let staged = self.options.work.join("staged");
        if staged.is_dir() {
            fs_err::remove_dir_all(&staged).map_err(FlowError::io(&staged))?;
        }
        // Whoever installs by rules of their own knows more than we do; where that fails, names of files are enough.
        let installed = drive.install(cmake, &staged).is_ok();
        let from = installed.then(|| vendor_below(&staged, &vendor)).flatten();
        self.package(tree, &binary, &unit, &vendor, from.as_deref(), &found)
    }

    /// Makes the package of these sources.
    fn package(
        &self,
        tree: &SourceTree,
        binary: &Path,
        unit: &str,
        vendor: &str,
        installed: Option<&Path>,
        found: &[Pair],
    ) -> Result<Built, FlowError> {
        let name = installed.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let vendor = name.as_deref().unwrap_or(vendor);
        let folder = self.folder_of(tree)?;
        let package = Package { vendor: folder.join("vendors").join(vendor) };
        if let Some(installed) = installed {
            copy_tree(installed, &package.vendor)?;
        }
        let parts = Parts { tree: binary, unit, vendor, processor: &self.toolkit.processor, pairs: found };
        lay_out(&package.vendor, &parts)?;
        let kernels = package.vendor.join("op_impl/ai_core/tbe/kernel").join(unit);
        let mut objects: BTreeMap<String, Vec<KernelObject>> = BTreeMap::new();
        for pair in found {
            let path = kernels.join(&pair.op_file).join(pair.object.path.file_name().unwrap_or_default());
            objects.entry(pair.op_type.clone()).or_default().push(KernelObject { path, ..pair.object.clone() });
        }
        Ok(Built {
            objects,
            libraries: package.tiling_library(&self.toolkit.processor).into_iter().collect(),
            package: Some(package),
            program: None,
            ran: Ran::default(),
            log: String::new(),
        })
    }

    fn program(
        &self,
        cmake: &Cmake,
        drive: &mut Drive<'_>,
        pending: Pending,
        started: SystemTime,
        tree: &SourceTree,
    ) -> Result<Built, FlowError> {
        const STEP: &str = "the build";
        if !pending.is_nothing() {
            drive.build(cmake, STEP, &[])?;
        }
        let found = linked(&drive.binary);
        let is_new = |path: &Path| {
            fs_err::metadata(path).and_then(|found| found.modified()).is_ok_and(|written| written >= started)
        };
        if found.is_empty() || (pending.host || pending.kernel) && !found.iter().any(|(path, _)| is_new(path)) {
            let what = match found.is_empty() {
                true => "neither a program nor a library",
                false => "only what an earlier build made: no target uses the files that changed",
            };
            return Err(self.nothing(STEP, what.to_owned(), &drive.log));
        }
        let folder = self.folder_of(tree)?.join("bin");
        let mut built = Built {
            objects: BTreeMap::new(),
            package: None,
            program: None,
            libraries: Vec::new(),
            ran: Ran::default(),
            log: String::new(),
        };
        let mut programs = Vec::new();
        for (path, kind) in found {
            // The same folders, so that programs find their libraries beside them.
            let target = folder.join(path.strip_prefix(&drive.binary).unwrap_or(&path));
            let parent = target.parent().unwrap_or(&folder);
            fs_err::create_dir_all(parent).map_err(FlowError::io(parent))?;
            fs_err::copy(&path, &target).map_err(FlowError::io(&path))?;
            match kind {
                Elf::Program => programs.push(target),
                Elf::Library => built.libraries.push(target),
            }
        }
        let named = self.options.program.as_deref();
        let is_named = |path: &&PathBuf| named.is_some_and(|name| path.file_name().is_some_and(|file| file == name));
        built.program = match (programs.iter().find(is_named), programs.as_slice()) {
            (Some(program), _) => Some(program.clone()),
            (None, []) => None,
            (None, [only]) if named.is_none() => Some(only.clone()),
            (None, several) => {
                let names: Vec<_> =
                    several.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy()).collect();
                return Err(FlowError::Missing {
                    message: match named {
                        Some(name) => format!("the project makes no program {name}"),
                        None => "the project makes several programs".to_owned(),
                    },
                    fix: format!("name one of {} as the program to run", names.join(", ")),
                });
            }
        };
        Ok(built)
    }

    /// Words after `bash` for the build script of a repository.
    fn repository_words(&self) -> Vec<String> {
        let name = self.project.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        vec![
            "build.sh".to_owned(),
            "--pkg".to_owned(),
            format!("--soc={}", self.soc.compute_unit(&[])),
            format!("--ops={name}"),
            "--vendor_name=ascend_tune".to_owned(),
            format!("-j{}", self.options.jobs.max(1)),
        ]
    }

    fn build_in_repository(&self, tree: &SourceTree, changed: &[String]) -> Result<Built, FlowError> {
        let source = self.mirror.root().to_owned();
        let map = |path: &str| self.original(path);
        let state = self.options.work.join("build-repository");
        let pending = self.pending(&state, changed)?;
        let products = source.join("build");
        let mut drive = self.drive(source.clone(), source.clone(), &map)?;
        let unit = self.soc.compute_unit(&[]);
        const STEP: &str = "the repository's build.sh";
        let mut before = Vec::new();
        if !pending.is_nothing() || pairs(&products, &mut before).is_empty() {
            for pair in pairs(&products, &mut before) {
                for file in [&pair.text, &pair.object.path] {
                    fs_err::remove_file(file).map_err(FlowError::io(file))?;
                }
            }
            let mut command = Command::new("bash");
            command.args(self.repository_words()).current_dir(&source);
            drive.run(STEP, command, "install bash")?;
        }
        let mut broken = Vec::new();
        let mut found = pairs(&products, &mut broken);
        if found.is_empty() {
            found = pairs(&source.join("build_out"), &mut broken);
        }
        if found.is_empty() {
            return Err(self.no_object(STEP, broken, &drive.log, unit));
        }
        let installed =
            vendor_below(&products, "ascend_tune").or_else(|| vendor_below(&source.join("build_out"), "ascend_tune"));
        let mut built = self.package(tree, &products, unit, "ascend_tune", installed.as_deref(), &found)?;
        built.ran = Ran { configured: true, host: true, kernel: true };
        built.log = drive.log;
        Pending { configuration: false, host: false, kernel: false }.keep(&state)?;
        // The script keeps its own cache, which ours is only a note beside.
        fs_err::write(state.join("CMakeCache.txt"), "").map_err(FlowError::io(&state))?;
        Ok(built)
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
        let name = self.mirror.original(path);
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

/// Removes files of a tree that are made once for all.
fn forget(tree: &Path, is_name: &dyn Fn(&str) -> bool) -> Result<(), FlowError> {
    for file in products::named(tree, is_name) {
        fs_err::remove_file(&file).map_err(FlowError::io(&file))?;
    }
    Ok(())
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
