//! Which operators something has changed for since a revision of git.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use build::inputs_by_text;
use lock::LOCK_FILE;
use source::normal;
use tuner::{Declared, TunerError};

/// Endings of files that a host library may be linked from.
const SOURCES: [&str; 2] = ["cpp", "cc"];

/// What differs between a revision and the working tree.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    files: BTreeSet<PathBuf>,
}

impl Changes {
    /// Files that were changed, added or removed since the working tree and a revision parted, with those that git does not know yet.
    pub(super) fn since(place: &Path, revision: &str) -> Result<Self, TunerError> {
        let refuse = |message: String| TunerError::Usage(format!("--changed-since {revision}: {message}"));
        if revision.starts_with('-') || revision.is_empty() {
            return Err(refuse("not a revision".to_owned()));
        }
        let git = |arguments: &[&str]| -> Result<String, TunerError> {
            let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
            let ran = Command::new("git").arg("-C").arg(place).args(arguments).output();
            let ran = ran.map_err(|error| refuse(format!("git cannot be run: {error}")))?;
            if ran.status.success() {
                return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
            }
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            let said = said.lines().next().unwrap_or("git fails without a word").to_owned();
            Err(refuse(format!("{said}; in a shallow clone, fetch the history first")))
        };
        let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?.trim_end_matches('\n'));
        let base = git(&["merge-base", revision, "HEAD"])?;
        let top_text = top.to_string_lossy().into_owned();
        let changed = git(&["-C", &top_text, "diff", "--name-only", "--no-renames", "-z", base.trim(), "--"])?;
        let new = git(&["-C", &top_text, "ls-files", "--others", "--exclude-standard", "-z"])?;
        let names = changed.split('\0').chain(new.split('\0')).filter(|name| !name.is_empty());
        let top = std::fs::canonicalize(&top).unwrap_or(top);
        Ok(Self { files: names.map(|name| top.join(name)).collect() })
    }

    /// Whether something has changed for an operator. `roots` are the directories of all. In doubt it has: an operator that cannot be
    /// read is to be looked at.
    pub(super) fn touch(&self, directory: &Path, machine: Option<&str>, roots: &[PathBuf]) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let Ok(directory) = std::fs::canonicalize(directory) else { return true };
        let Ok(declared) = Declared::read(&directory, None, None) else { return true };
        let root = declared.project.root.clone();
        if self.files.iter().any(|file| file.starts_with(&root)) {
            return true;
        }
        let reached = inputs_by_text(&declared.project, &declared.sources);
        let entries = lock::read(&root.join(LOCK_FILE)).map(|locked| locked.entries()).unwrap_or_default();
        let locked = entries.iter().filter_map(|entry| entry.included.as_ref()).flat_map(|included| included.keys());
        let mut inputs: BTreeSet<PathBuf> = reached.files.iter().map(|file| normal(file)).collect();
        inputs.extend(locked.map(|name| normal(&root.join(name))));
        inputs.insert(normal(&root.join(machine.unwrap_or(&declared.manifest.machine))));
        let in_repository = declared.project.repository_root != root;
        self.files.iter().any(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            let of_another = roots.iter().any(|other| file.starts_with(other));
            let above = || file.parent().is_some_and(|folder| root.starts_with(folder));
            inputs.contains(file)
                // CMake files above an operator speak for all below; scripts, for all.
                || !of_another && (name == "CMakeLists.txt" || name.ends_with("Presets.json")) && above()
                || !of_another && extension == "cmake"
                // What belongs to nobody may be found by its name, or linked with what it defines.
                || !of_another && reached.names.contains(&name)
                || !of_another && in_repository && SOURCES.contains(&extension)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "extern \"C\" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR tiling) {}\n";

    fn write(root: &Path, file: &str, text: &str) {
        fs_err::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs_err::write(root.join(file), text).unwrap();
    }

    fn git(root: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(root).args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]);
        assert!(git.args(arguments).output().unwrap().status.success(), "git {arguments:?}");
    }

    #[test]
    fn an_operator_is_touched_by_its_files_its_headers_and_cmake_files_above() {
        let directory = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(directory.path()).unwrap();
        let manifest = |kernel: &str| {
            format!(
                "[operator]\nname = \"{kernel}\"\nlayout = \"in-tree\"\nkernel = \"add\"\n\
                 sources = [\"op_host/add.cpp\", \"op_kernel/add.cpp\"]\n[machine]\nname = \"ascend910b2\"\n[[case]]\nname = \"a\"\n\
                 inputs = [{{ name = \"x\", dtype = \"float32\", shape = [8] }}]\noutputs = [{{ name = \"y\", dtype = \"float32\" }}]\n"
            )
        };
        for name in ["one", "two"] {
            write(&root, &format!("ops/{name}/op_kernel/add.cpp"), KERNEL);
            write(&root, &format!("ops/{name}/op_host/add.cpp"), "#include \"shared.h\"\n");
            write(&root, &format!("ops/{name}/ascend.toml"), &manifest(name));
        }
        write(&root, "ops/two/op_host/add.cpp", "int nothing_shared;\n");
        write(&root, "common/inc/shared.h", "#include \"deeper.h\"\n");
        write(&root, "common/inc/deeper.h", "");
        write(&root, "README.md", "");
        write(&root, "ops/CMakeLists.txt", "");
        git(&root, &["init", "-q"]);
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-q", "-m", "first"]);
        let roots = ["one", "two"].map(|name| root.join("ops").join(name));
        let touched = || {
            let changes = Changes::since(&root.join("ops"), "HEAD").unwrap();
            roots.clone().map(|one| changes.touch(&one, None, &roots))
        };
        for root in &roots {
            Declared::read(root, None, None).unwrap();
        }
        assert_eq!(touched(), [false, false]);
        let change = |file: &str, expected: [bool; 2]| {
            let before = fs_err::read_to_string(root.join(file)).ok();
            write(&root, file, &format!("{}\n", before.clone().unwrap_or_default()));
            assert_eq!(touched(), expected, "{file}");
            match before {
                Some(before) => write(&root, file, &before),
                None => fs_err::remove_file(root.join(file)).unwrap(),
            }
        };
        change("README.md", [false, false]);
        change("ops/two/op_kernel/add.cpp", [false, true]);
        change("ops/two/notes.txt", [false, true]);
        change("common/inc/shared.h", [true, false]);
        change("common/inc/deeper.h", [true, false]);
        change("third_party/shared.h", [true, false]);
        change("common/inc/unused.h", [false, false]);
        change("ops/CMakeLists.txt", [true, true]);
        change("cmake/rules.cmake", [true, true]);
        change("common/new.cpp", [true, true]);
        fs_err::remove_file(root.join("common/inc/deeper.h")).unwrap();
        assert_eq!(touched(), [true, false], "what is gone is still asked for");
        assert!(Changes::since(&root, "nowhere").unwrap_err().to_string().contains("--changed-since nowhere: "));
        assert!(Changes::since(&root, "--output=x").unwrap_err().to_string().contains("not a revision"));
    }
}
