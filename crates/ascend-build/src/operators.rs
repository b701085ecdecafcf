//! The operators of a package.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::built::Built;
use super::constants::modules;
use super::package::Settings;
use super::tool;
use super::{Error, Locked};

/// Variables that decide what a build makes.
const VARIABLES: [&str; 4] = [tool::PROGRAM, "ASCEND_HOME_PATH", "ASCEND_TUNE_CACHE", "CXX"];

/// The operators of a package.
#[derive(Clone, Debug)]
pub struct Operators {
    settings: Settings,
    out: PathBuf,
    operators: Vec<Operator>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Operator {
    /// Its directory.
    pub directory: PathBuf,
    /// Its lock.
    pub locked: Locked,
}

impl Operators {
    /// Those of the package whose build script this is, as its `[package.metadata.ascend-tune]` says.
    pub fn of_package() -> Result<Self, Error> {
        let variable = |name: &'static str| std::env::var_os(name).map(PathBuf::from).ok_or(Error::Variable { name });
        Self::of(&variable("CARGO_MANIFEST_DIR")?, &variable("OUT_DIR")?)
    }

    /// The same of the package in a directory; what is generated goes to `out`.
    pub fn of(package: &Path, out: &Path) -> Result<Self, Error> {
        let settings = Settings::read(package)?;
        let operator = |directory: &PathBuf| {
            let locked = Locked::read_for(directory, settings.soc.as_deref())?;
            Ok(Operator { locked, directory: directory.clone() })
        };
        let operators = settings.projects.iter().map(operator).collect::<Result<_, Error>>();
        // What cannot be read now is looked at again when it has changed.
        if operators.is_err() {
            settings.projects.iter().for_each(|directory| rerun_if_changed(&directory.join("ascend.lock")));
        }
        Ok(Self { operators: operators?, settings, out: out.to_owned() })
    }

    /// The operators, without building them.
    pub fn iter(&self) -> impl Iterator<Item = &Operator> {
        self.operators.iter()
    }

    /// Compares the digests, builds, writes `ascend_tune.rs` and tells Cargo when to do so again.
    pub fn build(&self) -> Result<Vec<Built>, Error> {
        for operator in &self.operators {
            operator.inputs().iter().for_each(|input| rerun_if_changed(input));
        }
        VARIABLES.iter().for_each(|name| println!("cargo::rerun-if-env-changed={name}"));
        // All are compared before the first is built, which can take long.
        self.operators.iter().try_for_each(|operator| operator.locked.verify())?;
        let mut built = Vec::new();
        for Operator { directory, locked } in &self.operators {
            let artifacts = if self.settings.build { tool::build(directory, &self.settings)? } else { Vec::new() };
            built.push(Built { directory: directory.clone(), locked: locked.clone(), artifacts });
        }
        let path = self.out.join("ascend_tune.rs");
        let text = modules(&built).map_err(|message| Error::Content { path: path.clone(), line: 0, message })?;
        std::fs::write(&path, text).map_err(|source| Error::File { path, source })?;
        Ok(built)
    }
}

impl Operator {
    /// Everything that a build reads, as far as the lock and the CMake flow name it.
    pub fn inputs(&self) -> BTreeSet<PathBuf> {
        let mut inputs: BTreeSet<PathBuf> = self.locked.files().map(|file| self.directory.join(file)).collect();
        inputs.insert(self.locked.path.clone());
        cmake_files(&self.directory, &mut inputs);
        inputs
    }
}

/// CMake files and presets of a directory, without what was built.
fn cmake_files(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_built = || name.starts_with('.') || name == "target" || path.join("CMakeCache.txt").exists();
        if is_folder && !is_built() {
            cmake_files(&path, found);
        } else if name == "CMakeLists.txt" || name.ends_with(".cmake") || name.ends_with("Presets.json") {
            found.insert(path);
        }
    }
}

fn rerun_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::{manifest_digest, source_digest};

    #[test]
    fn constants_are_written_without_the_tool() {
        let package = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = package.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "Cargo.toml",
            "[package]\nname = \"p\"\n[package.metadata.ascend-tune]\nproject = \"npu\"\nbuild = false\n",
        );
        write("npu/ascend.toml", "");
        write("npu/k.cpp", "int a;");
        write("npu/CMakeLists.txt", "");
        write("npu/target/CMakeLists.txt", "");
        let configuration = "TILE = 64\nmode = \"wi\\\"de\"\nwide = true\ntype = -1\n";
        let (manifest, source) = (manifest_digest(""), source_digest("k.cpp", "int a;"));
        let lock = format!(
            "version = 2\noperator = \"AddV2\"\nmanifest = \"{manifest}\"\n[sources]\n\"k.cpp\" = \"{source}\"\n"
        );
        write("npu/ascend.lock", &format!("{lock}[configuration]\n{configuration}"));
        let operators = Operators::of(package.path(), package.path()).unwrap();
        let inputs = operators.operators[0].inputs();
        let inputs: Vec<_> =
            inputs.iter().map(|path| path.strip_prefix(package.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(inputs, ["npu/CMakeLists.txt", "npu/ascend.lock", "npu/ascend.toml", "npu/k.cpp"]);
        assert_eq!(operators.build().unwrap().len(), 1);
        insta::assert_snapshot!(std::fs::read_to_string(package.path().join("ascend_tune.rs")).unwrap(), @r#"
        /// AddV2, as ascend.lock has it.
        #[allow(dead_code, non_upper_case_globals)]
        pub mod add_v2 {
            /// Files that were built.
            pub const ARTIFACTS: &[&str] = &[
            ];
            pub const TILE: i64 = 64;
            pub const mode: &str = "wi\"de";
            pub const type_: i64 = -1;
            pub const wide: bool = true;
        }
        "#);
        write("npu/k.cpp", "int b;");
        assert!(matches!(operators.build(), Err(Error::Stale { .. })));
    }
}
