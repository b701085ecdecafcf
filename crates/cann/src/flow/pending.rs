//! What of a tree is out of date. Kept on the disk before anything is built, so that a build that was stopped, or failed, is known.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::FlowError;
use super::style::is_cmake_file;

/// Parts of a tree that do not match the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    /// CMake has to run: its files changed, or a definition of an operator, from which code is generated when CMake runs.
    pub configuration: bool,
    /// Host libraries.
    pub host: bool,
    /// Kernel objects.
    pub kernel: bool,
}

/// Words of a host source by which a change of it changes what is generated.
const DEFINES: [&str; 5] =
    ["OpDef", "OP_ADD(", "BEGIN_TILING_DATA_DEF", "REGISTER_TILING_DATA_CLASS", "TILING_DATA_FIELD_DEF"];

impl Pending {
    const ALL: Pending = Pending { configuration: true, host: true, kernel: true };

    /// What is known of a tree; everything where nothing is.
    pub(super) fn of(binary: &Path) -> Pending {
        let known = fs_err::read(file(binary)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        known.filter(|_| binary.join("CMakeCache.txt").is_file()).unwrap_or(Pending::ALL)
    }

    /// Adds what files of these names mean; `text` gives their present text.
    pub(super) fn add<'name>(&mut self, changed: impl Iterator<Item = &'name String>, text: &dyn Fn(&str) -> String) {
        for name in changed {
            let folder = |part: &str| name.split('/').any(|known| known == part);
            let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
            let is_source = matches!(extension, "h" | "hpp" | "hh" | "c" | "cc" | "cpp" | "asc" | "inc");
            if is_cmake_file(Path::new(name)) {
                *self = Pending::ALL;
            } else if folder("op_kernel") {
                // Host code may include the kernel's tiling header; make knows.
                self.kernel = true;
                self.host |= extension.starts_with('h');
            } else if is_source && folder("op_host") {
                self.host = true;
                let text = text(name);
                if DEFINES.iter().any(|word| text.contains(word)) {
                    self.configuration = true;
                    self.kernel = true;
                }
            } else if is_source {
                self.host = true;
                self.kernel = true;
            } else if matches!(extension, "json" | "ini" | "in" | "py" | "sh") {
                // Inputs of generators, perhaps.
                self.configuration = true;
                self.host = true;
                self.kernel = true;
            }
        }
    }

    pub(super) fn keep(self, binary: &Path) -> Result<(), FlowError> {
        let path = file(binary);
        fs_err::create_dir_all(binary).map_err(FlowError::io(binary))?;
        fs_err::write(&path, serde_json::to_vec(&self).unwrap_or_default()).map_err(FlowError::io(&path))
    }

    pub(super) fn is_nothing(self) -> bool {
        self == Pending { configuration: false, host: false, kernel: false }
    }
}

fn file(binary: &Path) -> PathBuf {
    binary.join("ascend-tune-pending.json")
}

#[cfg(test)]
mod tests {
    use super::Pending;

    #[test]
    fn changed_files_say_what_is_out_of_date() {
        let none = Pending { configuration: false, host: false, kernel: false };
        let of = |name: &str, text: &str| {
            let mut pending = none;
            pending.add([name.to_owned()].iter(), &|_| text.to_owned());
            (pending.configuration, pending.host, pending.kernel)
        };
        assert_eq!(of("op_host/add.cpp", "static ge::graphStatus TilingFunc() {}"), (false, true, false));
        assert_eq!(of("op_host/add.cpp", "class Add : public OpDef {}"), (true, true, true));
        assert_eq!(of("op_kernel/add.cpp", ""), (false, false, true));
        assert_eq!(of("op_kernel/add_tiling.h", ""), (false, true, true));
        assert_eq!(of("op_host/CMakeLists.txt", ""), (true, true, true));
        assert_eq!(of("main.asc", ""), (false, true, true));
        assert_eq!(of("README.md", ""), (false, false, false));
    }

    #[test]
    fn a_tree_of_which_nothing_is_known_is_all_out_of_date() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Pending::of(folder.path()), Pending::ALL);
        let host = Pending { configuration: false, host: true, kernel: false };
        host.keep(folder.path()).unwrap();
        assert_eq!(Pending::of(folder.path()), Pending::ALL, "it was never configured");
        fs_err::write(folder.path().join("CMakeCache.txt"), "").unwrap();
        assert_eq!(Pending::of(folder.path()), host);
    }
}
