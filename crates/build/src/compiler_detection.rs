//! What CMake found out about the compilers, for the next project that asks for them in the same way.
//!
//! Finding out takes CMake several times as long as all of a small project: it compiles, links and runs programs for each language. Its
//! answers are files that it reads in place of asking, once they lie where a project is configured. They depend on CMake, on the
//! compiler, on the environment and on what a project says before `project()`; where that is more than which CMake it wants, nothing is
//! taken over. Nor is it where CMake then fails: it is asked once more from nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cache::{Digest, publish_directory, remove_old};
use super::sdk::Sdk;
use toolchain::Cmake;

/// Files that CMake writes for a system and for a language.
const ANSWERS: [&str; 3] = ["CMakeSystem.cmake", "CMakeCCompiler.cmake", "CMakeCXXCompiler.cmake"];
/// Entries of a cache that come from looking for compilers and what belongs to them.
const ENTRIES: [&str; 18] = [
    "CMAKE_ADDR2LINE",
    "CMAKE_AR",
    "CMAKE_C_COMPILER",
    "CMAKE_C_COMPILER_AR",
    "CMAKE_C_COMPILER_RANLIB",
    "CMAKE_CXX_COMPILER_AR",
    "CMAKE_CXX_COMPILER_RANLIB",
    "CMAKE_DLLTOOL",
    "CMAKE_EXECUTABLE_FORMAT",
    "CMAKE_LINKER",
    "CMAKE_NM",
    "CMAKE_OBJCOPY",
    "CMAKE_OBJDUMP",
    "CMAKE_RANLIB",
    "CMAKE_READELF",
    "CMAKE_STRIP",
    "CMAKE_TAPI",
    "CMAKE_UNAME",
];
/// By this CMake knows that it looked before.
const LOOKED: &str = "CMAKE_PLATFORM_INFO_INITIALIZED:INTERNAL=1";
/// Variables of the environment that say which compilers to take, and how.
const ENVIRONMENT: [&str; 9] =
    ["CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_TOOLCHAIN_FILE", "CMAKE_PREFIX_PATH", "PATH"];
const CACHE: &str = "CMakeCache.txt";
const KEPT: &str = "cmake-answers-";
/// Ways of asking whose answers are kept.
const MOST: usize = 16;

/// A place for the answers to one way of asking.
pub(super) struct Answers {
    directory: PathBuf,
    version: String,
}

impl Answers {
    /// The place for a project's answers; none where what it says before `project()` may change them.
    pub fn of(cmake: &Cmake, sdk: &Sdk, source_directory: &Path, entries: &BTreeMap<String, String>) -> Option<Self> {
        let text = std::fs::read_to_string(source_directory.join("CMakeLists.txt")).ok()?;
        let languages = languages(&text)?;
        // What says where something lies, and not which compiler to take.
        let places = ["CMAKE_INSTALL_PREFIX", "CMAKE_PROJECT_INCLUDE"];
        let about = entries.iter().filter(|(name, _)| name.starts_with("CMAKE_") && !places.contains(&name.as_str()));
        let mut digest = Digest::new("cmake answers 1");
        digest.text(&cmake.version).text(&cmake.program.to_string_lossy()).text(&cmake.generator);
        digest.text(&sdk.compiler.identity).text(&sdk.compiler.program().to_string_lossy());
        digest.texts(languages).texts(about.map(|(name, value)| format!("{name}={value}")));
        digest.texts(ENVIRONMENT.map(|name| std::env::var(name).unwrap_or_default()));
        let directory = sdk.cache()?.join(format!("{KEPT}{}", digest.finish()));
        Some(Self { directory, version: cmake.version.clone() })
    }

    /// Lays the answers out in an empty binary directory, if there are some.
    pub fn give(&self, binary_directory: &Path) -> bool {
        let Ok(cache) = std::fs::read(self.directory.join(CACHE)) else { return false };
        let folder = binary_directory.join("CMakeFiles").join(&self.version);
        let laid_out = || -> std::io::Result<()> {
            fs_err::create_dir_all(&folder)?;
            for name in ANSWERS.iter().filter(|name| self.directory.join(name).is_file()) {
                fs_err::copy(self.directory.join(name), folder.join(name))?;
            }
            fs_err::write(binary_directory.join(CACHE), cache)
        };
        laid_out().is_ok()
    }

    /// Keeps what CMake found out, in place of what was kept. Without it the next project takes longer, and that is all.
    pub fn keep(&self, binary_directory: &Path) {
        let folder = binary_directory.join("CMakeFiles").join(&self.version);
        let kept = || -> std::io::Result<()> {
            let shared = self.directory.parent().unwrap_or(&self.directory);
            let temporary = tempfile::Builder::new().prefix(".answers-").tempdir_in(shared)?;
            for name in ANSWERS.iter().filter(|name| folder.join(name).is_file()) {
                fs_err::copy(folder.join(name), temporary.path().join(name))?;
            }
            let text = fs_err::read_to_string(binary_directory.join(CACHE))?;
            let is_one = |line: &&str| line.split_once(':').is_some_and(|(name, _)| ENTRIES.contains(&name));
            let lines: Vec<&str> = text.lines().filter(is_one).chain([LOOKED]).collect();
            fs_err::write(temporary.path().join(CACHE), lines.join("\n") + "\n")?;
            let _ = std::fs::remove_dir_all(&self.directory);
            let _ = publish_directory(temporary, &self.directory);
            remove_old(shared, KEPT, MOST, Duration::ZERO);
            Ok(())
        };
        let _ = kept();
    }
}

/// What a project says of its languages; nothing where it says more before `project()` than which CMake it wants.
fn languages(text: &str) -> Option<Vec<String>> {
    let code: String =
        text.lines().map(|line| line.split('#').next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut rest = code.as_str();
    loop {
        let (command, behind) = rest.split_once('(')?;
        let (arguments, behind) = behind.split_once(')')?;
        match command.trim().to_ascii_lowercase().as_str() {
            "cmake_minimum_required" => rest = behind,
            // The first word is its name.
            "project" if !arguments.contains(['"', '$', '(']) => {
                return Some(arguments.split_whitespace().skip(1).map(str::to_owned).collect());
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_project_that_says_nothing_before_has_answers_of_others() {
        let plain = "# one\ncmake_minimum_required(VERSION 3.16) # two\nproject(add LANGUAGES CXX)\nset(X 1)\n";
        assert_eq!(languages(plain).unwrap(), ["LANGUAGES", "CXX"]);
        assert_eq!(languages("cmake_minimum_required(VERSION 3.16.0)\nproject(opp)").unwrap(), Vec::<String>::new());
        for other in [
            "set(CMAKE_CXX_COMPILER clang++)\nproject(add)",
            "include(toolchain.cmake)\nproject(add)",
            "cmake_minimum_required(VERSION 3.16)\nproject(${name})",
            "add_all_modules_sources(OPTYPE add)",
            "",
        ] {
            assert_eq!(languages(other), None, "{other}");
        }
    }
}
