//! A toolkit's kernel headers, compiled once for every set of flags that decides their meaning. Parsing them takes several
//! times as long as compiling the median kernel.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use super::builder::{Builder, CODE_FLAGS, device_defines};
use super::cache::{Digest, publish_directory, remove_old};
use super::compiler::CompilerFamily;
use super::error::BuildError;
use super::flags::ProjectFlags;
use super::toolkit::Toolkit;

/// The header that kernel libraries of the second door begin with.
pub(crate) const TOOLKIT_KERNEL: &str = "toolkit_kernel.h";

/// Each takes some 200 MB; the oldest go. A compilation without them takes longer and does the same.
const KEPT: usize = 6;

const PREFIX: &str = "headers-";

impl Builder {
    /// Words that put the toolkit's headers before everything else of a kernel library, compiled where the compiler can do
    /// that. `unit` are the words for a kind of core and for recording.
    pub(crate) fn toolkit_headers(
        &self,
        toolkit: &Toolkit,
        unit: &[String],
        flags: &ProjectFlags,
    ) -> Result<Vec<String>, BuildError> {
        let mut words = Vec::new();
        // A header that the project has included first may change what follows.
        if self.sdk.compiler.family == CompilerFamily::Gnu && !flags.options.iter().any(|word| word == "-include") {
            words.push(format!("-I{}", self.compiled_headers(toolkit, unit, flags)?.display()));
        }
        words.extend(["-include".to_owned(), TOOLKIT_KERNEL.to_owned()]);
        Ok(words)
    }

    /// Folder with the compiled headers beside their text; with the text alone where they do not compile by themselves.
    fn compiled_headers(
        &self,
        toolkit: &Toolkit,
        unit: &[String],
        flags: &ProjectFlags,
    ) -> Result<PathBuf, BuildError> {
        let cache = self.shared_cache();
        let mut words = self.sdk.compiler.output_flags();
        words.push(format!("-std=c++{}", flags.standard));
        words.extend(CODE_FLAGS.map(str::to_owned));
        words.extend(device_defines());
        words.push("-fno-gnu-unique".to_owned());
        words.extend(flags.defines.iter().chain(&flags.options).chain(unit).cloned());
        words.extend(toolkit.words(&self.sdk.root, &toolkit.links(cache)?));
        let mut digest = Digest::new("compiled headers 1");
        digest.text(&self.sdk.digest).text(&self.sdk.compiler.identity).text(&toolkit.digest).texts(&words);
        let name = format!("{PREFIX}{}", digest.finish());
        let target = cache.join(&name);
        if target.is_dir() {
            return Ok(target);
        }
        let lock_path = cache.join(format!("{name}.lock"));
        let lock = File::create(&lock_path).map_err(BuildError::io(&lock_path))?;
        lock.lock().map_err(BuildError::io(&lock_path))?;
        if target.is_dir() {
            return Ok(target);
        }
        let temporary =
            tempfile::Builder::new().prefix(".headers-").tempdir_in(cache).map_err(BuildError::io(cache))?;
        // The text lies beside, as the compiler takes it from the same folder where it cannot use the other.
        let text = temporary.path().join(TOOLKIT_KERNEL);
        let original = self.sdk.root.join("toolkit").join(TOOLKIT_KERNEL);
        std::fs::copy(&original, &text).map_err(BuildError::io(&original))?;
        let output = temporary.path().join(format!("{TOOLKIT_KERNEL}.gch"));
        words.extend(["-x", "c++-header"].map(str::to_owned));
        words.push(text.display().to_string());
        words.extend(["-o".to_owned(), output.display().to_string()]);
        let run = self.sdk.compiler.run(temporary.path(), &words)?;
        if !run.success && output.exists() {
            std::fs::remove_file(&output).map_err(BuildError::io(&output))?;
        }
        let target = publish_directory(temporary, &target)?;
        // Whoever reads one of the others now keeps what is open, and falls back to the text later.
        remove_old(cache, PREFIX, KEPT, Duration::ZERO);
        let _ = std::fs::remove_file(&lock_path);
        Ok(target)
    }
}
