//! The builder: candidates in, artifacts out. All methods take `&self`, may be called from several threads, and are cheap
//! when the artifact exists already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::cache::{ArtifactCache, Cached, Digest};
use super::cmake::{Configured, configure};
use super::compiler::CompilerFamily;
use super::error::{BuildError, CompileFailure};
use super::file_api::CmakeModel;
use super::flags::ProjectFlags;
use super::includes::{Closure, closure};
use super::kernel_kinds::KernelKinds;
use super::kernel_symbols::Interface;
use super::launch::{LAUNCH_HEADER, remove_launches, rewrite_launches};
use super::overlay::Overlay;
use super::sdk::Sdk;
use super::toolkit::Toolkit;
use manifest::Layout;
use project::OperatorProject;
use source::SourceTree;
use source::arch::TARGET;
use source::lex::has_launch;
use toolchain::ToolLimits;
use toolchain::diagnostics::{Diagnostic, Severity, parse_compiler_output};

/// Definitions of device code.
pub(crate) fn device_defines() -> Vec<String> {
    TARGET.defines().into_iter().chain(["-DASCENDC_SIM=1".to_owned()]).collect()
}

/// Flags of everything that is compiled from a project: fast to compile, lines in the debug information, no surprises
/// from type punning, which device code does freely.
pub(crate) const CODE_FLAGS: [&str; 6] = ["-O1", "-g1", "-fPIC", "-fno-strict-aliasing", "-fvisibility=default", "-w"];
/// One complaint for each symbol that is missing.
pub(crate) const WARN_ONCE: &str = "-Wl,--warn-once";

/// What the user may say about a build.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Private directory; `<project>/target/ascend-tune` without.
    pub work_directory: Option<PathBuf>,
    /// CMake cache entries.
    pub cmake_entries: BTreeMap<String, String>,
    /// Executable to build for a direct-launch project; the only one without.
    pub program: Option<String>,
    /// Parallel compilations within one artifact; 0 means one per processor.
    pub jobs: usize,
    /// Kernel headers of a toolkit to build kernels against; the SDK's own without.
    pub toolkit: Option<PathBuf>,
    /// Limits of each call of the compiler and of CMake.
    pub limits: ToolLimits,
    /// Where artifacts are kept.
    pub artifacts: Artifacts,
}

/// Where artifacts are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Artifacts {
    /// In the user's cache: copies of a project, and commands with work directories of their own, compile the same candidate once.
    #[default]
    Shared,
    /// In the work directory, with nothing in it at first.
    Private,
}

/// A finished file.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// The shared library or program.
    pub path: PathBuf,
    /// Digest of everything that went in.
    pub digest: String,
    /// Whether it was there before.
    pub cached: bool,
    /// Wall time of this call in seconds.
    pub wall_s: f64,
}

/// Builds candidates of one project.
#[derive(Debug)]
pub struct Builder {
    pub(crate) project: OperatorProject,
    pub(crate) sdk: Sdk,
    pub(crate) options: BuildOptions,
    pub(crate) work_directory: PathBuf,
    pub(crate) configured: Configured,
    pub(crate) toolkit: Option<Toolkit>,
    pub(crate) interface: Mutex<Option<Arc<Interface>>>,
    cache: ArtifactCache,
}

/// CMake reads some letters of a path as its own: lists end at `;`, texts at `"`.
fn buildable(path: &Path) -> Result<(), BuildError> {
    let letter = path.to_string_lossy().chars().find(|letter| matches!(letter, ';' | '"' | '\n'));
    letter.map_or(Ok(()), |letter| {
        Err(BuildError::Environment {
            message: format!("{}: CMake cannot build where a path has {letter:?}", path.display()),
            fix: "move the project, or rename the folder".to_owned(),
        })
    })
}

/// Folder of what projects share: the cache that the SDK's library is in.
fn shared_cache<'place>(sdk: &'place Sdk, work_directory: &'place Path) -> &'place Path {
    sdk.cache().unwrap_or(work_directory)
}

/// Nothing of what is made here is anybody's to commit, whatever the project itself ignores.
fn ignore_in_git(work_directory: &Path) -> std::io::Result<()> {
    let file = work_directory.join(".gitignore");
    if file.exists() { Ok(()) } else { fs_err::write(file, "# What cargo ascend-tune makes here it makes again.\n*\n") }
}

impl Builder {
    /// Configures the project and gets ready to build.
    pub fn new(project: OperatorProject, sdk: Sdk, options: BuildOptions) -> Result<Builder, BuildError> {
        let work_directory = match &options.work_directory {
            Some(directory) => std::path::absolute(directory).map_err(BuildError::io(directory))?,
            None => project.work_directory(),
        };
        for path in [&project.root, &work_directory] {
            buildable(path)?;
        }
        fs_err::create_dir_all(&work_directory).map_err(BuildError::io(&work_directory))?;
        ignore_in_git(&work_directory).map_err(BuildError::io(&work_directory))?;
        let limits = ToolLimits { writable: written_by_tools(&work_directory, &sdk), ..options.limits.clone() };
        let sdk = Sdk { compiler: sdk.compiler.with_limits(limits), ..sdk };
        let configured = configure(&project, &sdk, &work_directory, &options.cmake_entries)?;
        let cache = match options.artifacts {
            Artifacts::Shared => ArtifactCache::new(shared_cache(&sdk, &work_directory).join("artifacts")),
            Artifacts::Private => ArtifactCache::new(work_directory.join("artifacts")),
        };
        cache.forget_old();
        let toolkit = options.toolkit.as_deref().map(Toolkit::find).transpose()?;
        Ok(Builder { project, sdk, options, work_directory, configured, toolkit, interface: Mutex::default(), cache })
    }

    /// A builder of the same project in another private directory, with nothing cached.
    pub fn in_directory(&self, directory: &Path) -> Result<Builder, BuildError> {
        let options = BuildOptions {
            work_directory: Some(directory.to_owned()),
            artifacts: Artifacts::Private,
            ..self.options.clone()
        };
        Builder::new(self.project.clone(), self.sdk.clone(), options)
    }

    /// A builder of the same project with further CMake cache entries, in a private directory of its own.
    pub fn with_entries(&self, entries: &BTreeMap<String, String>) -> Result<Builder, BuildError> {
        let mut options = self.options.clone();
        options.cmake_entries.extend(entries.clone());
        let digest = Digest::new("cmake entries")
            .texts(options.cmake_entries.iter().flat_map(|(name, value)| [name, value]))
            .finish();
        options.work_directory = Some(self.work_directory.join("variants").join(digest));
        Builder::new(self.project.clone(), self.sdk.clone(), options)
    }

    /// The project.
    pub fn project(&self) -> &OperatorProject {
        &self.project
    }

    /// The SDK.
    pub fn sdk(&self) -> &Sdk {
        &self.sdk
    }

    /// What CMake knows about the project.
    pub fn model(&self) -> &CmakeModel {
        &self.configured.model
    }

    /// Whether cmake had to run.
    pub fn cmake_ran(&self) -> bool {
        self.configured.ran
    }

    /// Folder of what projects share.
    pub(crate) fn shared_cache(&self) -> &Path {
        shared_cache(&self.sdk, &self.work_directory)
    }

    /// Flags of the project for a file, from every target that compiles it.
    pub(crate) fn project_flags(&self, file: &str) -> ProjectFlags {
        let mut flags = ProjectFlags::none();
        for (_, group) in self.configured.model.groups_of(&self.project.root.join(file)) {
            flags.merge(ProjectFlags::from_group(group));
        }
        flags
    }

    pub(crate) fn closure(&self, tree: &SourceTree, file: &str, flags: &ProjectFlags) -> Closure {
        // What the SDK has is covered by its own digest.
        let folders = flags.includes.iter().filter(|folder| !folder.starts_with(&self.sdk.root));
        closure(&self.project, tree, file, &folders.cloned().collect::<Vec<_>>(), Some(&self.sdk.include()))
    }

    /// Files of the repository that these sources include beside themselves, by their paths as seen from the operator's root.
    pub fn included_beside(&self, sources: &SourceTree) -> SourceTree {
        let mut beside = SourceTree::new();
        for (file, _) in sources.iter() {
            for path in self.closure(sources, file, &self.project_flags(file)).other_files.into_keys() {
                let Some(name) = self.project.seen_from_root(&path) else { continue };
                if let Ok(text) = std::fs::read(&path) {
                    beside.insert(name, String::from_utf8_lossy(&text).into_owned());
                }
            }
        }
        beside
    }

    /// Digest with everything that every compilation depends on.
    pub(crate) fn digest(&self, kind: &str, tree: &SourceTree, reached: &Closure, flags: &ProjectFlags) -> Digest {
        let mut digest = Digest::new(kind);
        digest
            .text(&self.sdk.digest)
            .text(&self.sdk.compiler.identity)
            .text(&self.sdk.library_directory.to_string_lossy())
            .texts(CODE_FLAGS.iter().map(|flag| (*flag).to_owned()).chain(device_defines()))
            .text(self.toolkit.as_ref().map_or("own", |toolkit| &toolkit.digest))
            .texts(&flags.defines)
            .texts(&flags.options)
            .texts(flags.includes.iter().map(|folder| self.without_place(folder)))
            .text(&flags.standard.to_string());
        let is_own = |path: &PathBuf| path.starts_with(&self.project.root) || path.starts_with(&self.work_directory);
        if !reached.other_files.keys().all(is_own)
            || !reached.flat_folders.is_empty()
            || !reached.found_folders.is_empty()
        {
            // What lies beside the operator has its own path in the debug information.
            digest.text("relative names").text(&self.project.repository_root.to_string_lossy());
        }
        for file in &reached.tree_files {
            digest.text(file).text(tree.text(file).unwrap_or_default());
        }
        digest.texts(reached.other_files.values());
        digest
    }

    /// An include folder without where this copy of the project lies: copies of the same sources share what is compiled of them.
    /// Only folders: the text of a definition is in what is compiled.
    fn without_place(&self, folder: &Path) -> String {
        let places = [
            (&self.work_directory, "@work"),
            (&self.project.root, "@operator"),
            (&self.project.repository_root, "@repository"),
        ];
        let inside = places.iter().find_map(|(place, name)| Some((name, folder.strip_prefix(place).ok()?)));
        inside.map_or_else(|| folder.display().to_string(), |(name, rest)| format!("{name}/{}", rest.display()))
    }

    /// Result of a digest from the cache, or made now.
    pub(crate) fn artifact(
        &self,
        digest: &str,
        file: &str,
        make: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<Artifact, BuildError> {
        let start = Instant::now();
        let artifact = |directory: PathBuf, cached| Artifact {
            path: directory.join(file),
            digest: digest.to_owned(),
            cached,
            wall_s: start.elapsed().as_secs_f64(),
        };
        match self.cache.find(digest) {
            Some(Cached::Result(directory)) => Ok(artifact(directory, true)),
            Some(Cached::Failure(failure)) => Err(BuildError::Compile(failure)),
            None => self.cache.publish(digest, make).map(|directory| artifact(directory, false)),
        }
    }

    /// The tree on disk, launches rewritten, or taken out where the framework launches.
    pub(crate) fn overlay(&self, tree: &SourceTree) -> Result<Overlay, BuildError> {
        Overlay::materialise(&self.project, &self.work_directory, tree, &|file, text| {
            if !has_launch(text) {
                return Ok(None);
            }
            let replaced = match self.project.layout {
                Layout::DirectLaunch => rewrite_launches(text),
                _ => remove_launches(text),
            };
            replaced.map(|replaced| Some(replaced.text)).map_err(|error| {
                BuildError::Compile(CompileFailure {
                    what: file.to_owned(),
                    log: format!("{file}: {error}"),
                    diagnostics: vec![Diagnostic {
                        file: file.to_owned(),
                        line: u32::try_from(error.line).unwrap_or(0),
                        column: u32::try_from(error.column).unwrap_or(0),
                        severity: Severity::Error,
                        message: error.message,
                    }],
                })
            })
        })
    }

    /// Words of a compilation apart from source and output. Include folders inside the operator come twice: from the
    /// overlay, then from the original, for files that are not part of the tree.
    pub(crate) fn compile_words(
        &self,
        overlay: &Overlay,
        flags: &ProjectFlags,
        reached: &Closure,
    ) -> Result<Vec<String>, BuildError> {
        let mut words = self.project_words(overlay, flags, reached)?;
        words.push(format!("-I{}", self.sdk.include().display()));
        Ok(words)
    }

    /// Words of a compilation for a core.
    pub(crate) fn device_words(
        &self,
        overlay: &Overlay,
        flags: &ProjectFlags,
        reached: &Closure,
    ) -> Result<Vec<String>, BuildError> {
        let mut words = match &self.toolkit {
            None => self.compile_words(overlay, flags, reached)?,
            Some(toolkit) => {
                let mut words = self.project_words(overlay, flags, reached)?;
                words.extend(toolkit.words(&self.sdk.root, &toolkit.links(self.shared_cache())?));
                words
            }
        };
        words.extend(device_defines());
        // A library's globals are its own, also where headers define them inline.
        if self.sdk.compiler.family == CompilerFamily::Gnu {
            words.push("-fno-gnu-unique".to_owned());
        }
        Ok(words)
    }

    /// The same without the headers of kernels.
    pub(crate) fn project_words(
        &self,
        overlay: &Overlay,
        flags: &ProjectFlags,
        reached: &Closure,
    ) -> Result<Vec<String>, BuildError> {
        let mut words = self.sdk.compiler.output_flags();
        words.push(format!("-std=c++{}", flags.standard));
        words.extend(CODE_FLAGS.map(str::to_owned));
        words.extend(overlay.prefix_maps(&self.project));
        words.extend(["-include", "ascendsim/knob.h"].map(str::to_owned));
        words.extend(flags.defines.iter().chain(&flags.options).cloned());
        let root = &self.project.root;
        let mut folders: Vec<PathBuf> = Vec::new();
        let standard = [root.join("op_host"), root.join("op_kernel"), root.clone()];
        for folder in flags.includes.iter().chain(&standard).chain(&self.project.repository_includes) {
            if let Ok(inside) = folder.strip_prefix(&self.project.repository_root) {
                folders.push(overlay.repository().join(inside));
            }
            folders.push(folder.clone());
        }
        let mut seen = std::collections::BTreeSet::new();
        // The SDK comes last even where the project names it early: its own headers win over a stand-in.
        let sdk_include = self.sdk.include();
        for folder in folders.iter().filter(|folder| **folder != sdk_include) {
            if seen.insert(folder.clone()) && folder.is_dir() {
                words.push(format!("-I{}", folder.display()));
            }
        }
        for folder in reached.found_folders.iter().filter(|folder| seen.insert((*folder).clone())) {
            words.push(format!("-I{}", folder.display()));
        }
        // Relative includes that leave the operator's directory.
        for folder in ["op_host", "op_kernel"].map(|name| root.join(name)) {
            if folder.is_dir() {
                words.push(format!("-iquote{}", folder.display()));
            }
        }
        if let Some(folder) = self.flat_folder(reached)? {
            // Files in subfolders of the kernels' folder leave it with one `..` more.
            words.extend(["", "/inside", "/inside/inside"].map(|depth| format!("-iquote{}{depth}", folder.display())));
            // A file that is found through a link is named by where it lies.
            words.extend(reached.flat_folders.iter().filter_map(|(name, target)| {
                let seen = self.project.seen_from_root(target)?;
                Some(format!("-ffile-prefix-map={}/../{name}={seen}", folder.display()))
            }));
        }
        Ok(words)
    }

    /// Folder from which `../other_operator/x.h` resolves as it does after the repository has copied its kernels.
    fn flat_folder(&self, reached: &Closure) -> Result<Option<PathBuf>, BuildError> {
        if reached.flat_folders.is_empty() {
            return Ok(None);
        }
        let flat = self.work_directory.join("flat");
        let operator = flat.join("ascend_tune_operator");
        let deepest = operator.join("inside/inside");
        fs_err::create_dir_all(&deepest).map_err(BuildError::io(&deepest))?;
        for (name, folder) in &reached.flat_folders {
            let link = flat.join(name);
            if std::fs::read_link(&link).ok().as_ref() != Some(folder) {
                let _ = std::fs::remove_file(&link);
                match std::os::unix::fs::symlink(folder, &link) {
                    Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                        return Err(BuildError::Io { path: link, source: error });
                    }
                    _ => {}
                }
            }
        }
        Ok(Some(operator))
    }

    /// Runs the compiler; a failure comes back with the project's own file names.
    pub(crate) fn compile(&self, what: &str, overlay: &Overlay, words: &[String]) -> Result<(), BuildError> {
        let run = self.sdk.compiler.run(overlay.operator(), words)?;
        if run.success {
            return Ok(());
        }
        let mut diagnostics = parse_compiler_output(&run.output, &|path| match path.rsplit('/').next() {
            Some("wrapper.cpp") => "(generated wrapper)".to_owned(),
            _ => overlay.original_name(&self.project, path),
        });
        diagnostics.retain(|diagnostic| diagnostic.severity != Severity::Warning);
        for diagnostic in &mut diagnostics {
            diagnostic.message = overlay.original_text(&diagnostic.message);
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.severity != Severity::Error);
        diagnostics.truncate(40);
        let mut log = overlay.original_text(&run.output).replace(&format!("{}/", self.project.root.display()), "");
        if log.len() > 20_000 {
            let end = (0..=20_000).rev().find(|at| log.is_char_boundary(*at)).unwrap_or(0);
            log.truncate(end);
        }
        Err(BuildError::Compile(CompileFailure { what: what.to_owned(), diagnostics, log }))
    }

    /// Links objects. What a quicker linker refuses is given to the usual one, whose words say why.
    pub(crate) fn link(&self, what: &str, overlay: &Overlay, words: &[String]) -> Result<(), BuildError> {
        if let Some(quick) = self.sdk.compiler.quick_linker() {
            // It only knows what changes the library, not what makes its complaints shorter.
            let words = words.iter().map(String::as_str).filter(|word| *word != WARN_ONCE).chain([quick]);
            if self.sdk.compiler.run(overlay.operator(), words)?.success {
                return Ok(());
            }
        }
        self.compile(what, overlay, words)
    }

    /// Object file of one source, with the overlay made only if something must be compiled.
    pub(crate) fn object(
        &self,
        tree: &SourceTree,
        file: &str,
        flags: &ProjectFlags,
        device: bool,
        overlay: &std::sync::OnceLock<Overlay>,
    ) -> Result<Artifact, BuildError> {
        let reached = self.closure(tree, file, flags);
        let digest =
            self.digest(if device { "object 1 device" } else { "object 1" }, tree, &reached, flags).text(file).finish();
        self.artifact(&digest, "object.o", |directory| {
            let overlay = match overlay.get() {
                Some(overlay) => overlay,
                None => {
                    let made = self.overlay(tree)?;
                    overlay.get_or_init(|| made)
                }
            };
            let mut words = if device {
                let mut words = self.device_words(overlay, flags, &reached)?;
                words.push("-D__DAV_C220_VEC__".to_owned());
                words.extend(["-include".to_owned(), LAUNCH_HEADER.to_owned()]);
                words.extend(KernelKinds::of(reached.tree_files.iter().filter_map(|file| tree.text(file))).words());
                words
            } else {
                let words = self.compile_words(overlay, flags, &reached)?;
                let first = self.first_host_headers(tree, &reached, flags, &words)?;
                [first, words].concat()
            };
            words.extend(["-x", "c++", "-c", file, "-o"].map(str::to_owned));
            words.push(directory.join("object.o").display().to_string());
            self.compile(file, overlay, &words)
        })
    }

    /// Objects of several sources, in order, compiled in parallel.
    pub(crate) fn objects(
        &self,
        tree: &SourceTree,
        sources: &[(String, ProjectFlags, bool)],
    ) -> Result<Vec<Artifact>, BuildError> {
        let overlay = std::sync::OnceLock::new();
        let jobs = super::sdk::jobs(self.options.jobs).min(sources.len()).max(1);
        let next = std::sync::atomic::AtomicUsize::new(0);
        let results: Vec<std::sync::Mutex<Option<Result<Artifact, BuildError>>>> =
            sources.iter().map(|_| std::sync::Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some((file, flags, device)) = sources.get(index) else { return };
                        let outcome = self.object(tree, file, flags, *device, &overlay);
                        if let Ok(mut slot) = results[index].lock() {
                            *slot = Some(outcome);
                        }
                    }
                });
            }
        });
        results
            .into_iter()
            .map(|slot| match slot.into_inner() {
                Ok(Some(outcome)) => outcome,
                _ => Err(BuildError::Environment {
                    message: "a compilation ended without a result".to_owned(),
                    fix: "run again with --jobs 1".to_owned(),
                }),
            })
            .collect()
    }
}
/// Where compilers and CMake write: below the work directory, which has a folder for what is temporary, and in caches.
fn written_by_tools(work_directory: &Path, sdk: &Sdk) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let of_home = home.iter().flat_map(|home| [home.join(".cache/ccache"), home.join(".ccache")]);
    let cache = sdk.cache().map(Path::to_owned);
    std::iter::once(work_directory.to_owned()).chain(cache).chain(of_home).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_cmake_would_read_as_something_else_are_named_before_it_runs() {
        assert!(buildable(Path::new("/home/me/my operators/gelu (old)")).is_ok());
        for path in ["/home/a;b/gelu", "/home/a\"b/gelu", "/home/a\nb"] {
            let error = buildable(Path::new(path)).expect_err(path).to_string();
            assert!(
                error.contains("CMake cannot build where a path has") && error.contains("rename the folder"),
                "{error}"
            );
        }
    }
}
