//! `kernel.so`: a generated wrapper around the unmodified kernel entry file.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use object::{Object, ObjectSymbol};

use super::arithmetic::{announcing_words, counted};
use super::builder::{Artifact, Builder};
use super::compiler::CompilerFamily;
use super::error::{BuildError, CompileFailure};
use super::flags::ProjectFlags;
use super::includes::Closure;
use super::initialisers::only_store_constants;
use super::kernel_symbols::{Foreign, Interface, goes_unseen, lines_of, names_simulator, pastes_words};
use super::kernel_variant::KernelVariant;
use super::overlay::Overlay;
use super::task_type::TaskTypes;
use super::tiling_header::depends_on_key;
use super::translation_unit::{OUTPUT, wrapper};
use aicore::KernelType;
use source::SourceTree;

/// Libraries of one kernel variant.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelLibraries {
    /// On which cores it runs.
    pub kind: KernelType,
    /// Compiled for vector cores, where they run it.
    pub vector: Option<Artifact>,
    /// Compiled for cube cores, where they run it.
    pub cube: Option<Artifact>,
}

/// Core kind that a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Vector,
    Cube,
}

impl Unit {
    /// The kinds of cores that run a kernel.
    pub fn of(kind: KernelType) -> impl Iterator<Item = Unit> {
        let vector = (kind.vectors() > 0).then_some(Unit::Vector);
        vector.into_iter().chain(kind.has_cube().then_some(Unit::Cube))
    }

    fn define(self) -> &'static str {
        match self {
            Unit::Vector => "-D__DAV_C220_VEC__",
            Unit::Cube => "-D__DAV_C220_CUBE__",
        }
    }
}

impl Builder {
    /// Whether one library serves every tiling key of the variant's entry: no template, macro, class or kernel type depends on
    /// it, and no branches, of which all but one would be compiled for nothing. Large operators have dozens.
    pub fn kernel_serves_all_keys(&self, tree: &SourceTree, variant: &KernelVariant) -> bool {
        if variant.entry.is_template || depends_on_key(&variant.op_type, &variant.tiling_classes) {
            return false;
        }
        let reached = self.closure(tree, &variant.entry.file, &self.project_flags(&variant.entry.file));
        let texts = || reached.tree_files.iter().filter_map(|file| tree.text(file));
        let branches = texts().map(|text| text.matches("TILING_KEY_IS").count()).sum::<usize>();
        branches < 2
            && !texts().any(|text| text.contains("TILING_KEY_VAR"))
            && task_types(tree, &reached, &self.project.repository_root).same_for_all_keys()
    }

    /// Builds the libraries of one kernel variant: one for each kind of core that runs it.
    pub fn kernel(&self, tree: &SourceTree, variant: &KernelVariant) -> Result<KernelLibraries, BuildError> {
        let file = &variant.entry.file;
        let flags = self.project_flags(file);
        let reached = self.closure(tree, file, &flags);
        let texts = texts(tree, &reached, &self.project.repository_root);
        let kind = TaskTypes::of(texts.iter().map(String::as_str)).of_key(variant.tiling_key);
        let generic = self.kernel_serves_all_keys(tree, variant);
        let wrapper = wrapper(&texts, variant, generic, self.toolkit.is_some())?;
        let build = |unit| self.kernel_for(tree, unit, kind, &wrapper, &flags, &reached);
        Ok(KernelLibraries {
            kind,
            vector: (kind.vectors() > 0).then(|| build(Unit::Vector)).transpose()?,
            cube: kind.has_cube().then(|| build(Unit::Cube)).transpose()?,
        })
    }

    /// On which cores the kernel of a tiling key runs.
    pub(super) fn kind_of_key(&self, tree: &SourceTree, reached: &Closure, key: u64) -> KernelType {
        task_types(tree, reached, &self.project.repository_root).of_key(key)
    }

    /// Compiler words for a kind of core and for recording.
    pub(super) fn unit_words(&self, unit: Unit, kind: KernelType) -> Vec<String> {
        let recording = recording_words(self.sdk.compiler.family);
        let mut words = vec![unit.define().to_owned()];
        words.extend(recording.iter().chain(announcing_words()).map(|word| (*word).to_owned()));
        // A toolkit's headers use the compiler's own before they know the library's.
        if self.toolkit.is_none() {
            words.extend(CALLING.map(str::to_owned));
        }
        if kind == KernelType::Mix11 {
            words.push(ONE_VECTOR_CORE.to_owned());
        }
        words
    }

    fn kernel_for(
        &self,
        tree: &SourceTree,
        unit: Unit,
        kind: KernelType,
        wrapper: &str,
        flags: &ProjectFlags,
        reached: &Closure,
    ) -> Result<Artifact, BuildError> {
        let unit_words = self.unit_words(unit, kind);
        let mut digest = self.digest("kernel 16", tree, reached, flags);
        let digest = digest.text(wrapper).texts(&unit_words).finish();
        self.artifact(&digest, OUTPUT, |directory| {
            let overlay = self.overlay(tree)?;
            let path = directory.join("wrapper.cpp");
            std::fs::write(&path, wrapper).map_err(BuildError::io(&path))?;
            let project = self.project_words(&overlay, flags, reached)?;
            let mut words = self.first_headers(&unit_words, flags, &project)?;
            words.extend(self.device_words(&overlay, flags, reached)?);
            words.extend(unit_words.iter().cloned());
            words.push(format!("-ffile-prefix-map={}=ascend-tune", directory.display()));
            // What names headers that do not count stays, also where its path begins with the letters of the operator's.
            let headers = [Some(&self.sdk.root), self.toolkit.as_ref().map(|toolkit| &toolkit.root)];
            words
                .extend(headers.into_iter().flatten().map(|root| format!("-ffile-prefix-map={0}={0}", root.display())));
            words.push(format!("-I{}", overlay.operator().display()));
            let [assembly, object] = ["kernel.s", "kernel.o"].map(|name| directory.join(name));
            let macros = self.with_macros_replaced(tree, reached, &overlay, &words, directory)?;
            words.extend(["-S".to_owned(), path.display().to_string()]);
            words.extend(["-o".to_owned(), assembly.display().to_string()]);
            self.compile(OUTPUT, &overlay, &words)?;
            let constants = self.with_arithmetic_counted(&assembly)?;
            let assemble =
                ["-c".to_owned(), assembly.display().to_string(), "-o".to_owned(), object.display().to_string()];
            self.compile(OUTPUT, &overlay, &assemble)?;
            std::fs::remove_file(&assembly).map_err(BuildError::io(&assembly))?;
            self.only_what_a_device_has(tree, reached, macros.as_deref(), &object, constants)?;
            let mut words = vec!["-shared".to_owned(), object.display().to_string(), "-o".to_owned()];
            words.push(directory.join(OUTPUT).display().to_string());
            words.extend(self.sdk.link_words());
            // Every kernel library keeps its own globals, also where two come from the same headers. An instruction that
            // the SDK lacks must be an error now and not a crash later.
            words.extend(["-Wl,-Bsymbolic", "-Wl,-z,defs"].map(str::to_owned));
            // Compilers do not announce what these copy.
            words.extend(["memcpy", "memmove", "memset"].map(|name| format!("-Wl,--wrap={name}")));
            if self.toolkit.is_some() {
                words.extend(self.passed_checks(&object)?);
            }
            self.link(OUTPUT, &overlay, &words)?;
            std::fs::remove_file(&object).map_err(BuildError::io(&object))
        })
    }

    /// What kernels may name. Read once: it is the same for all of them.
    fn interface(&self) -> Result<Arc<Interface>, BuildError> {
        let mut known = self.interface.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interface) = &*known {
            return Ok(Arc::clone(interface));
        }
        let read = Arc::new(Interface::of(&self.sdk).map_err(BuildError::io(&self.sdk.root))?);
        *known = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Counts what the blocks of a kernel compute. The headers that do not count are the SDK's and a toolkit's. Says whether what comes
    /// before a launch only stores constants.
    fn with_arithmetic_counted(&self, assembly: &Path) -> Result<bool, BuildError> {
        let text = std::fs::read(assembly).map_err(BuildError::io(assembly))?;
        let text = String::from_utf8_lossy(&text);
        let is_headers = |path: &str| {
            let path = Path::new(path);
            path.starts_with(&self.sdk.root)
                || self.toolkit.as_ref().is_some_and(|toolkit| path.starts_with(&toolkit.root))
        };
        std::fs::write(assembly, counted(&text, &is_headers)).map_err(BuildError::io(assembly))?;
        Ok(only_store_constants(&text))
    }

    /// The operator's own lines with their macros replaced, where these put words together.
    fn with_macros_replaced(
        &self,
        tree: &SourceTree,
        reached: &Closure,
        overlay: &Overlay,
        words: &[String],
        directory: &Path,
    ) -> Result<Option<String>, BuildError> {
        if !reached.tree_files.iter().filter_map(|file| tree.text(file)).any(pastes_words) {
            return Ok(None);
        }
        let output = directory.join("preprocessed.cpp");
        let source = directory.join("wrapper.cpp");
        let mut words = words.to_vec();
        words.extend(["-E".to_owned(), source.display().to_string()]);
        words.extend(["-o".to_owned(), output.display().to_string()]);
        self.compile(OUTPUT, overlay, &words)?;
        let text = std::fs::read(&output).map_err(BuildError::io(&output))?;
        std::fs::remove_file(&output).map_err(BuildError::io(&output))?;
        Ok(Some(lines_of(&String::from_utf8_lossy(&text), overlay.operator())))
    }

    /// Refuses a kernel that calls the system or the simulator, or brings instructions of its own.
    fn only_what_a_device_has(
        &self,
        tree: &SourceTree,
        reached: &Closure,
        macros: Option<&str>,
        object: &Path,
        constants: bool,
    ) -> Result<(), BuildError> {
        let own = || reached.tree_files.iter().filter_map(|file| tree.text(file));
        let found = match own().find_map(names_simulator) {
            Some(name) => Some(name),
            // A toolkit's headers have initialisers of their own, which an operator's cannot be told from.
            None => {
                self.interface()?.foreign(object, self.toolkit.is_some(), constants).map_err(BuildError::io(object))?
            }
        };
        // Macros of the API bring what is the simulator's, but nothing that goes unseen.
        let found = found.or_else(|| own().chain(macros).find_map(goes_unseen));
        // A toolkit's CPU-debug headers end processes and raise signals where they find fault.
        let Some(found) = found.filter(|found| self.toolkit.is_none() || !matches!(found, Foreign::System(_))) else {
            return Ok(());
        };
        Err(BuildError::Compile(CompileFailure {
            what: OUTPUT.to_owned(),
            diagnostics: Vec::new(),
            log: found.to_string(),
        }))
    }

    /// Linker words that let every check function of a toolkit's CPU-debug package pass. The package has them in a library
    /// of its own; here the instructions check their operands themselves.
    fn passed_checks(&self, object: &Path) -> Result<Vec<String>, BuildError> {
        let symbols = undefined_symbols(object).map_err(BuildError::io(object))?;
        let checks = symbols.into_iter().filter(|name| name.starts_with("_ZN7AscendC") && name.contains("Check"));
        Ok(checks.map(|name| format!("-Wl,--defsym={name}=ascend_sim_check_passed")).collect())
    }
}

/// What the operator compiler defines for groups of one cube core and one vector core; the libraries count on two without it.
const ONE_VECTOR_CORE: &str = "-D__MIX_CORE_AIC_RATION__=1";

/// Compiler words that announce every access to memory to the SDK's library, which knows the ones that kernels make to
/// on-chip and global memory. Kernels access those as plain memory through pointers, and so do a toolkit's headers; this SDK's own
/// announce by themselves, once. Cores take turns in one thread, so that what is made once needs no guard against a second.
fn recording_words(family: CompilerFamily) -> &'static [&'static str] {
    match family {
        CompilerFamily::Gnu => {
            &["-fno-threadsafe-statics", "-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"]
        }
        CompilerFamily::Clang => {
            &["-fno-threadsafe-statics", "-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0"]
        }
    }
}

/// Words that leave copies of memory to the C library, whose calls are announced: what a compiler makes of them itself goes by unseen.
const CALLING: [&str; 6] = [
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-D__builtin_memcpy=memcpy",
    "-D__builtin_memmove=memmove",
    "-D__builtin_memset=memset",
];

/// Names that an object file takes from elsewhere.
fn undefined_symbols(object: &Path) -> std::io::Result<Vec<String>> {
    let data = std::fs::read(object)?;
    let file = object::File::parse(&*data).map_err(std::io::Error::other)?;
    Ok(file
        .symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect())
}

/// What the sources that a kernel reaches say about its type.
fn task_types(tree: &SourceTree, reached: &Closure, repository: &Path) -> TaskTypes {
    TaskTypes::of(texts(tree, reached, repository).iter().map(String::as_str))
}

/// Sources that a kernel reaches in its operator's directory, then those in the rest of the repository. Headers of the API,
/// which name everything that there is, are not among them.
fn texts(tree: &SourceTree, reached: &Closure, repository: &Path) -> Vec<String> {
    let own = reached.tree_files.iter().filter_map(|file| tree.text(file)).map(str::to_owned);
    let others = reached.other_files.keys().filter(|path| path.starts_with(repository));
    let others = others.filter_map(|path| std::fs::read(path).ok());
    own.chain(others.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())).collect()
}
