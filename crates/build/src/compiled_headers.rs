//! Headers, compiled once for every set of flags that decides their meaning. Parsing this SDK's own takes as long as the rest of
//! compiling a small kernel or tiling function, parsing a toolkit's several times as long as compiling the median kernel.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use super::builder::{Builder, CODE_FLAGS, device_defines};
use super::cache::{Digest, publish_directory, remove_old};
use super::compiler::CompilerFamily;
use super::error::BuildError;
use super::flags::ProjectFlags;
use super::includes::Closure;
use super::toolkit::Toolkit;
use source::SourceTree;
use source::lex::includes;

/// The header that kernel libraries of the second door begin with.
pub(crate) const TOOLKIT_KERNEL: &str = "toolkit_kernel.h";

/// The header that kernel libraries of the first door begin with, and its text.
const OWN_KERNEL: &str = "own_kernel.h";
const OWN_TEXT: &str = "#include \"ascendsim/knob.h\"\n#include \"kernel_operator.h\"\n";

/// What host sources include, nearly all of what they need, each with the name of the compiled header that begins with it. One source
/// with a definition and functions includes the first, functions in files of their own the second.
const HOST_REGISTRIES: [(&str, &str); 2] =
    [("register/op_def_registry.h", "own_host.h"), ("register/op_impl_registry.h", "own_functions.h")];
/// Folders of what it includes; a project that brings one of them may want its own.
const HOST_FOLDERS: [&str; 3] = ["register", "exe_graph", "graph"];

/// Compilations that read the host's headers as they are before these are compiled, which takes as long as some five of them: the
/// first check of an operator has no use for that, a run or a repository has.
const READ_FIRST: u64 = 4;
/// Ending of the file that counts them.
const ASKED: &str = "asked";

/// What kernels include; a project that brings a file of this name wants its own.
const KERNEL_OPERATOR: [&str; 1] = ["kernel_operator.h"];

/// Headers to compile, and how many of their compilations are kept: the oldest go. A compilation without them takes longer and
/// does the same.
struct Prefix {
    /// Name of the header.
    header: &'static str,
    /// Its text.
    text: String,
    /// How folders of its compilations begin.
    name: &'static str,
    /// How many of them are kept.
    kept: usize,
    /// Everything that decides its meaning.
    words: Vec<String>,
    /// Digest of headers that the SDK's digest says nothing of.
    digest: String,
}

impl Builder {
    /// Words that put kernel headers before everything else of a kernel library, compiled where the compiler can do that. `unit` are the
    /// words for a kind of core and for recording, `project` those of the project's own files.
    pub(crate) fn first_headers(
        &self,
        unit: &[String],
        flags: &ProjectFlags,
        project: &[String],
    ) -> Result<Vec<String>, BuildError> {
        let Some(toolkit) = &self.toolkit else {
            let fits = self.can_begin(flags) && !self.brings_own(project, &KERNEL_OPERATOR);
            return if fits { self.begin_with(&self.own_prefix(unit, flags)) } else { Ok(Vec::new()) };
        };
        let mut words = Vec::new();
        if self.can_begin(flags) {
            words.push(format!("-I{}", self.compiled_headers(&self.toolkit_prefix(toolkit, unit, flags)?)?.display()));
        }
        words.extend(["-include".to_owned(), TOOLKIT_KERNEL.to_owned()]);
        Ok(words)
    }

    /// Words that put the headers of registration before everything else of a host source which includes them, compiled where the
    /// compiler can do that. `words` are those of its compilation without.
    pub(crate) fn first_host_headers(
        &self,
        tree: &SourceTree,
        reached: &Closure,
        flags: &ProjectFlags,
        words: &[String],
    ) -> Result<Vec<String>, BuildError> {
        let texts: Vec<&str> = reached.tree_files.iter().filter_map(|file| tree.text(file)).collect();
        let included = |registry: &str| {
            texts.iter().any(|text| includes(text).into_iter().any(|found| found.quoted().as_deref() == Some(registry)))
        };
        let registry = HOST_REGISTRIES.iter().find(|(registry, _)| included(registry));
        let Some((registry, header)) =
            registry.filter(|_| self.can_begin(flags) && !self.brings_own(words, &HOST_FOLDERS))
        else {
            return Ok(Vec::new());
        };
        let mut words = self.code_words(flags);
        words.extend(flags.options.iter().cloned());
        words.push(format!("-I{}", self.sdk.include().display()));
        let text = format!("#include \"ascendsim/knob.h\"\n#include \"{registry}\"\n");
        let name = "host-headers-";
        let prefix = Prefix { header, text, name, kept: 8, words, digest: String::new() };
        if self.are_asked_for_often(&prefix) { self.begin_with(&prefix) } else { Ok(Vec::new()) }
    }

    /// Whether headers are compiled already, or have been asked for so many times that it pays. Counts this time.
    fn are_asked_for_often(&self, prefix: &Prefix) -> bool {
        let target = self.compiled_folder(prefix);
        if target.is_dir() {
            return true;
        }
        // A letter for each time. Where that cannot be written, they are read as they are.
        let count = || -> std::io::Result<u64> {
            let mut asked = File::options().create(true).append(true).open(target.with_extension(ASKED))?;
            asked.write_all(b".")?;
            Ok(asked.metadata()?.len())
        };
        count().is_ok_and(|times| times > READ_FIRST)
    }

    /// Whether a compilation can begin with compiled headers. A header that the project has included first may change what follows.
    fn can_begin(&self, flags: &ProjectFlags) -> bool {
        self.sdk.compiler.family == CompilerFamily::Gnu && !flags.options.iter().any(|word| word == "-include")
    }

    /// Words that begin a compilation with this SDK's headers.
    fn begin_with(&self, prefix: &Prefix) -> Result<Vec<String>, BuildError> {
        let folder = self.compiled_headers(prefix)?;
        Ok(vec![format!("-I{}", folder.display()), "-include".to_owned(), prefix.header.to_owned()])
    }

    /// Words of all code.
    fn code_words(&self, flags: &ProjectFlags) -> Vec<String> {
        let mut words = self.sdk.compiler.output_flags();
        words.push(format!("-std=c++{}", flags.standard));
        words.extend(CODE_FLAGS.map(str::to_owned));
        words
    }

    /// Words of kernels through both doors.
    fn prefix_words(&self, flags: &ProjectFlags) -> Vec<String> {
        let mut words = self.code_words(flags);
        words.extend(device_defines());
        words.push("-fno-gnu-unique".to_owned());
        words
    }

    /// This SDK's headers. What a project defines is none of their names: the compiler takes the text instead where it is, so that all
    /// projects share one compilation.
    fn own_prefix(&self, unit: &[String], flags: &ProjectFlags) -> Prefix {
        let mut words = self.prefix_words(flags);
        words.extend(flags.options.iter().chain(unit).cloned());
        words.push(format!("-I{}", self.sdk.include().display()));
        let (header, text, name) = (OWN_KERNEL, OWN_TEXT.to_owned(), "kernel-headers-");
        Prefix { header, text, name, kept: 8, words, digest: String::new() }
    }

    /// A toolkit's headers, which change with what a project defines.
    fn toolkit_prefix(&self, toolkit: &Toolkit, unit: &[String], flags: &ProjectFlags) -> Result<Prefix, BuildError> {
        let mut words = self.prefix_words(flags);
        words.extend(flags.defines.iter().chain(&flags.options).chain(unit).cloned());
        words.extend(toolkit.words(&self.sdk.root, &toolkit.links(self.shared_cache())?));
        let original = self.sdk.root.join("toolkit").join(TOOLKIT_KERNEL);
        let text = std::fs::read_to_string(&original).map_err(BuildError::io(&original))?;
        // Each takes some 200 MB.
        let (header, name, kept) = (TOOLKIT_KERNEL, "headers-", 6);
        Ok(Prefix { header, text, name, kept, words, digest: toolkit.digest.clone() })
    }

    /// Folder with the compiled headers beside their text; with the text alone where they do not compile by themselves.
    fn compiled_headers(&self, prefix: &Prefix) -> Result<PathBuf, BuildError> {
        let cache = self.shared_cache();
        let mut words = prefix.words.clone();
        let target = self.compiled_folder(prefix);
        if target.is_dir() {
            return Ok(target);
        }
        let lock_path = target.with_extension("lock");
        let lock = File::create(&lock_path).map_err(BuildError::io(&lock_path))?;
        lock.lock().map_err(BuildError::io(&lock_path))?;
        if target.is_dir() {
            return Ok(target);
        }
        let temporary =
            tempfile::Builder::new().prefix(".headers-").tempdir_in(cache).map_err(BuildError::io(cache))?;
        // The text lies beside, as the compiler takes it from the same folder where it cannot use the other.
        let text = temporary.path().join(prefix.header);
        std::fs::write(&text, &prefix.text).map_err(BuildError::io(&text))?;
        let output = temporary.path().join(format!("{}.gch", prefix.header));
        words.extend(["-x", "c++-header"].map(str::to_owned));
        words.push(text.display().to_string());
        words.extend(["-o".to_owned(), output.display().to_string()]);
        let run = self.sdk.compiler.run(temporary.path(), &words)?;
        if !run.success && output.exists() {
            std::fs::remove_file(&output).map_err(BuildError::io(&output))?;
        }
        let target = publish_directory(temporary, &target)?;
        // Whoever reads one of the others now keeps what is open, and falls back to the text later.
        remove_old(cache, prefix.name, prefix.kept, Duration::ZERO);
        let _ = std::fs::remove_file(&lock_path);
        let _ = std::fs::remove_file(target.with_extension(ASKED));
        Ok(target)
    }

    fn compiled_folder(&self, prefix: &Prefix) -> PathBuf {
        let mut digest = Digest::new("compiled headers 3");
        digest.text(&self.sdk.digest).text(&self.sdk.compiler.identity).text(&prefix.digest);
        digest.text(&prefix.text).texts(&prefix.words);
        self.shared_cache().join(format!("{}{}", prefix.name, digest.finish()))
    }

    /// Whether an include folder of these words, the SDK's aside, has something of such a name in place of the SDK's.
    fn brings_own(&self, words: &[String], names: &[&str]) -> bool {
        let sdk = self.sdk.include();
        let folder = |word: &str| word.strip_prefix("-iquote").or_else(|| word.strip_prefix("-I")).map(PathBuf::from);
        let mut folders = words.iter().filter_map(|word| folder(word)).filter(|folder| *folder != sdk);
        folders.any(|folder| names.iter().any(|name| folder.join(name).exists()))
    }
}
