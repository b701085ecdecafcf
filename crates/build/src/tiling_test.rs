//! Programs of an operator's tiling unit tests: a test file, the operator's host library, and the SDK's stand-ins for test
//! framework and contexts (`sdk/unit_test/tiling`).

use std::path::{Path, PathBuf};

use super::builder::{Artifact, Builder};
use super::error::BuildError;
use super::flags::ProjectFlags;
use source::SourceTree;

const OUTPUT: &str = "tiling_test";
const SUPPORT: &str = "libtiling_test_support.so";
const SUPPORT_SOURCES: [&str; 4] =
    ["report.cpp", "tiling/tiling_faker.cpp", "tiling/tiling_record.cpp", "tiling/tiling_case_executor.cpp"];

/// Where repositories keep the helper that describes a tiling call.
const HELPER: &str = "tests/ut/common/tiling_context_faker.h";

/// `socVersion = "Ascend910b"` among the parameters of a helper.
fn default_soc_of(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("socVersion = \"")?;
    let (name, _) = rest.split_once('"')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| name.to_owned())
}

impl Builder {
    /// Builds the program of one test file (absolute path), to be run with `--list` or `--run TEST`.
    pub fn tiling_test(&self, tree: &SourceTree, host: &Artifact, test: &Path) -> Result<Artifact, BuildError> {
        let support = self.tiling_test_support()?;
        let file = test.display().to_string();
        let flags = ProjectFlags::none();
        let reached = self.closure(tree, &file, &flags);
        let soc = self.default_soc();
        let mut digest = self.digest("tiling test 2", tree, &reached, &flags);
        let digest = digest.text(&host.digest).text(&file).text(soc.as_deref().unwrap_or_default()).finish();
        self.artifact(&digest, OUTPUT, |directory| {
            let overlay = self.overlay(tree)?;
            // The helpers' names are those of the repository's own, so they come before its folders.
            let mut words: Vec<String> =
                self.unit_test_folders().iter().map(|folder| format!("-I{}", folder.display())).collect();
            words.extend(self.compile_words(&overlay, &flags, &reached)?);
            words.extend(["-O0", "-DBUILD_SOC_VERSION=ascend910b", "-x", "c++"].map(str::to_owned));
            words.extend(soc.iter().map(|soc| format!("-DASCEND_UNIT_DEFAULT_SOC=\"{soc}\"")));
            words.extend([file.clone(), "-x".to_owned(), "none".to_owned()]);
            words.extend(["-Wl,--no-as-needed", "-Wl,-z,lazy", "-Wl,--allow-shlib-undefined"].map(str::to_owned));
            words.extend([host.path.display().to_string(), support.display().to_string()]);
            words.extend(self.sdk.link_words());
            words.extend(["-ldl", "-pthread", "-o"].map(str::to_owned));
            words.push(directory.join(OUTPUT).display().to_string());
            self.compile(&file, &overlay, &words)
        })
    }

    /// The chip that the repository's own helper takes where a test names none.
    fn default_soc(&self) -> Option<String> {
        let bytes = std::fs::read(self.project().repository_root.join(HELPER)).ok()?;
        default_soc_of(&String::from_utf8_lossy(&bytes))
    }

    fn unit_test_folders(&self) -> [PathBuf; 2] {
        let folder = self.sdk.root.join("unit_test");
        [folder.join("tiling"), folder]
    }

    /// What all programs share, compiled once per SDK, beside its library.
    fn tiling_test_support(&self) -> Result<PathBuf, BuildError> {
        let finished = self.sdk.library_directory.join(SUPPORT);
        if finished.is_file() {
            return Ok(finished);
        }
        let directory = &self.sdk.library_directory;
        let temporary =
            tempfile::Builder::new().prefix(".support-").tempdir_in(directory).map_err(BuildError::io(directory))?;
        let output = temporary.path().join(SUPPORT);
        let mut words: Vec<String> = ["-std=c++17", "-O1", "-g1", "-fPIC", "-shared", "-w"].map(str::to_owned).to_vec();
        words.extend(self.unit_test_folders().iter().map(|folder| format!("-I{}", folder.display())));
        words.extend([self.sdk.include(), self.sdk.root.join("src")].map(|folder| format!("-I{}", folder.display())));
        let sources = SUPPORT_SOURCES.map(|name| self.sdk.root.join("unit_test").join(name).display().to_string());
        words.extend(sources);
        words.push(format!("-Wl,-soname,{SUPPORT}"));
        words.extend(self.sdk.link_words());
        words.extend(["-o".to_owned(), output.display().to_string()]);
        self.compile(SUPPORT, &self.overlay(&SourceTree::new())?, &words)?;
        // Whoever comes second replaces it with the same.
        std::fs::rename(&output, &finished).map_err(BuildError::io(&finished))?;
        Ok(finished)
    }
}

#[cfg(test)]
mod tests {
    use super::default_soc_of;

    #[test]
    fn a_helpers_default_chip_is_read() {
        let text = "Para(void* info = nullptr, std::string socVersion = \"Ascend910b\", uint64_t cores = 64)";
        assert_eq!(default_soc_of(text).as_deref(), Some("Ascend910b"));
        assert_eq!(default_soc_of("Para(void* info, uint64_t cores = 64)"), None);
        assert_eq!(default_soc_of("socVersion = \"a b\""), None);
    }
}
