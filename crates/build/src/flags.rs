//! Flags that a project gives its compiler, reduced to what decides the meaning of the sources.

use std::path::PathBuf;

use super::file_api::CompileGroup;

/// Flags of a project for one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProjectFlags {
    /// Definitions and undefinitions with their `-D` or `-U`.
    pub defines: Vec<String>,
    /// Include folders.
    pub includes: Vec<PathBuf>,
    /// Other words, in order.
    pub options: Vec<String>,
    /// C++ standard: 17 or later.
    pub standard: u32,
}

/// Definitions that belong to the builder, or that describe another C++ runtime.
const RESERVED: [&str; 7] = [
    "_GLIBCXX_USE_CXX11_ABI",
    "__NPU_ARCH__",
    "__CCE_AICORE__",
    "__DAV_C220__",
    "__DAV_C220_VEC__",
    "ASCENDC_SIM",
    "ASCENDC_CPU_DEBUG",
];

impl ProjectFlags {
    /// Nothing said by the project.
    pub fn none() -> Self {
        ProjectFlags { standard: 17, ..ProjectFlags::default() }
    }

    /// Flags of a compile group.
    pub fn from_group(group: &CompileGroup) -> Self {
        let mut flags = Self::none();
        flags.includes.clone_from(&group.includes);
        for define in &group.defines {
            flags.define(format!("-D{define}"));
        }
        flags.standard(group.standard.as_deref().unwrap_or_default());
        flags.words(group.options.iter().map(String::as_str));
        flags
    }

    /// Takes words of a command line, dropping those that only the device compiler knows, and optimisation, debug and
    /// warning levels, which are the tool's business.
    pub fn words<'word>(&mut self, words: impl IntoIterator<Item = &'word str>) {
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word {
                "-D" | "-U" => {
                    if let Some(value) = words.next() {
                        self.define(format!("{word}{value}"));
                    }
                }
                "-I" | "-isystem" | "-iquote" | "-idirafter" => self.includes.extend(words.next().map(PathBuf::from)),
                "-include" => {
                    if let Some(file) = words.next() {
                        self.options.extend([word.to_owned(), file.to_owned()]);
                    }
                }
                // Words with a value that goes with them.
                "-mllvm" | "-Xclang" | "-x" | "-Xhost" | "-Xaicore" | "-arch" => {
                    words.next();
                }
                "-pthread" | "-fno-exceptions" | "-fno-rtti" | "-fshort-enums" | "-fsigned-char"
                | "-funsigned-char" => {
                    self.options.push(word.to_owned());
                }
                _ => {
                    if word.starts_with("-D") || word.starts_with("-U") {
                        self.define(word.to_owned());
                    } else if let Some(folder) = word.strip_prefix("-I").or_else(|| word.strip_prefix("-isystem")) {
                        self.includes.push(folder.into());
                    } else if let Some(standard) = word.strip_prefix("-std=") {
                        self.standard(standard.trim_start_matches("c++").trim_start_matches("gnu++"));
                    }
                }
            }
        }
    }

    fn define(&mut self, define: String) {
        let name = define[2..].split(['=', '(']).next().unwrap_or_default();
        if !RESERVED.contains(&name) && !self.defines.contains(&define) {
            self.defines.push(define);
        }
    }

    fn standard(&mut self, text: &str) {
        let standard = match text {
            "2a" => 20,
            "2b" => 23,
            text => text.parse().unwrap_or(17),
        };
        // 98 and the like are old, not new.
        if (18..90).contains(&standard) {
            self.standard = self.standard.max(standard);
        }
    }

    /// Adds what other flags say beyond these.
    pub fn merge(&mut self, other: ProjectFlags) {
        for (mine, theirs) in [(&mut self.defines, other.defines), (&mut self.options, other.options)] {
            for word in theirs {
                if !mine.contains(&word) {
                    mine.push(word);
                }
            }
        }
        for folder in other.includes {
            if !self.includes.contains(&folder) {
                self.includes.push(folder);
            }
        }
        self.standard = self.standard.max(other.standard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_flags_go_and_meaning_stays() {
        let mut flags = ProjectFlags::none();
        flags.words(
            "-O3 -g -Wall -Werror --npu-arch=dav-2201 -xasc --cce-auto-sync=off -mllvm -cce-x=1 -DA=1 -D B -UC -I/a -isystem /b \
             -std=c++20 -std=c++11 -D_GLIBCXX_USE_CXX11_ABI=0 -include x.h -pthread -fPIC"
                .split(' ')
                .filter(|word| !word.is_empty()),
        );
        assert_eq!(flags.defines, ["-DA=1", "-DB", "-UC"]);
        assert_eq!(flags.includes, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!(flags.options, ["-include", "x.h", "-pthread"]);
        assert_eq!(flags.standard, 20);
    }
}
