//! A copy of a project that is kept in step with it and with a candidate's texts: only files whose content changes are written, so
//! that make rebuilds what depends on them and nothing else.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::error::FlowError;

/// Folders that a copy leaves out: results of builds, and history.
const LEFT_OUT: [&str; 5] = ["target", "build", "build_out", ".git", "node_modules"];
/// Time stamps of files are as coarse as the clock of the kernel; make compares them.
const TICK: Duration = Duration::from_millis(12);

/// A copy can be read and written whatever its original allows.
const OWN: u32 = 0o600;

/// What a file was when it was copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Copied {
    bytes: u64,
    modified_ns: u64,
    /// Who may read and run it: that changes without the time.
    mode: u32,
    /// Its text in the copy is a candidate's.
    edited: bool,
}

/// A file of the project.
struct Original {
    name: String,
    path: PathBuf,
    copied: Copied,
}

/// The copy.
#[derive(Clone, Debug)]
pub(super) struct Mirror {
    /// What is copied.
    from: PathBuf,
    /// Where to.
    to: PathBuf,
    /// What is known of the files there.
    index: PathBuf,
    /// Files whose copy is empty whatever is in them: what builds things that no kernel needs.
    emptied: fn(&str) -> bool,
}

impl Mirror {
    pub(super) fn new(from: &Path, work: &Path, emptied: fn(&str) -> bool) -> Mirror {
        Mirror { from: from.to_owned(), to: work.join("source"), index: work.join("source.json"), emptied }
    }

    /// The copy's root.
    pub(super) fn root(&self) -> &Path {
        &self.to
    }

    /// Brings the copy into step; `texts` are those of the candidate, by names relative to the root. Returns names of the files that
    /// changed, those that went among them.
    pub(super) fn sync(&self, texts: &BTreeMap<String, &str>) -> Result<Vec<String>, FlowError> {
        let known: BTreeMap<String, Copied> = fs_err::read(&self.index)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .filter(|_| self.to.is_dir())
            .unwrap_or_default();
        let mut now: BTreeMap<String, Copied> = BTreeMap::new();
        let mut changed = Vec::new();
        let mut waited = false;
        let mut write = |name: &str, content: &[u8]| -> Result<(), FlowError> {
            if !waited {
                std::thread::sleep(TICK);
                waited = true;
            }
            let path = self.to.join(name);
            if let Some(folder) = path.parent() {
                fs_err::create_dir_all(folder).map_err(FlowError::io(folder))?;
            }
            if path.is_symlink() {
                fs_err::remove_file(&path).map_err(FlowError::io(&path))?;
            }
            fs_err::write(&path, content).map_err(FlowError::io(&path))?;
            changed.push(name.to_owned());
            Ok(())
        };
        for Original { name, path, mut copied } in self.files()? {
            let text = if (self.emptied)(&name) { Some("") } else { texts.get(&name).copied() };
            copied.edited = text.is_some();
            let target = self.to.join(&name);
            let content = match text {
                Some(text) => text.as_bytes().to_vec(),
                None if known.get(&name) == Some(&copied) && target.exists() => {
                    now.insert(name, copied);
                    continue;
                }
                None => fs_err::read(&path).map_err(FlowError::io(&path))?,
            };
            if fs_err::read(&target).ok().as_deref() != Some(content.as_slice()) {
                write(&name, &content)?;
            }
            let permissions = std::fs::Permissions::from_mode(copied.mode | OWN);
            fs_err::set_permissions(&target, permissions).map_err(FlowError::io(&target))?;
            now.insert(name, copied);
        }
        // A candidate may bring files of its own.
        for (name, text) in texts {
            let is_inside = !name.starts_with('/') && !name.split('/').any(|part| part == "..");
            if is_inside && !now.contains_key(name) {
                if fs_err::read(self.to.join(name)).ok().as_deref() != Some(text.as_bytes()) {
                    write(name, text.as_bytes())?;
                }
                now.insert(name.clone(), Copied { bytes: 0, modified_ns: 0, mode: 0, edited: true });
            }
        }
        for name in known.keys().filter(|name| !now.contains_key(*name)) {
            let path = self.to.join(name);
            if path.exists() {
                fs_err::remove_file(&path).map_err(FlowError::io(&path))?;
                changed.push(name.clone());
            }
        }
        let index = serde_json::to_vec(&now).unwrap_or_default();
        fs_err::create_dir_all(&self.to).map_err(FlowError::io(&self.to))?;
        fs_err::write(&self.index, index).map_err(FlowError::io(&self.index))?;
        changed.sort();
        Ok(changed)
    }

    /// Name, place, size, time and mode of every file to copy. Links count as what they lead to.
    fn files(&self) -> Result<Vec<Original>, FlowError> {
        let kept = |entry: &walkdir::DirEntry| {
            entry.depth() == 0 || !LEFT_OUT.iter().any(|name| entry.file_name() == *name) || entry.file_type().is_file()
        };
        let mut files = Vec::new();
        for entry in WalkDir::new(&self.from).follow_links(true).sort_by_file_name().into_iter().filter_entry(kept) {
            // A link that leads nowhere is nothing to build from.
            let Ok(entry) = entry else { continue };
            if !entry.file_type().is_file() {
                continue;
            }
            let Ok(inside) = entry.path().strip_prefix(&self.from) else { continue };
            let found = fs_err::metadata(entry.path()).map_err(FlowError::io(entry.path()))?;
            let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified_ns = modified.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(0));
            let name: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            let copied = Copied { bytes: found.len(), modified_ns, mode: found.permissions().mode(), edited: false };
            files.push(Original { name: name.join("/"), path: entry.path().to_owned(), copied });
        }
        Ok(files)
    }

    /// The project's own name of a path in a tool's words: relative to the root where it is of the copy.
    pub(super) fn original(&self, path: &str) -> String {
        let path = path.trim();
        let copy = format!("{}/", self.to.display());
        match path.strip_prefix(&copy) {
            Some(name) => normal(name),
            None => normal(path),
        }
    }
}

impl Mirror {
    /// The file of a folder that a build has copied to this path: the one with the most folders in common at its end.
    pub(super) fn copied(&self, copy: &Path, folder: &str) -> Option<String> {
        let parts: Vec<_> = copy.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let names = (0..parts.len()).map(|from| format!("{folder}/{}", parts[from..].join("/")));
        names.into_iter().find(|name| self.to.join(name).is_file())
    }
}

/// A path without `.` and `..` where the folder before it is known.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_written() {
        let (project, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let put = |name: &str, text: &str| {
            let path = project.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        put("CMakeLists.txt", "project(x)");
        put("op_kernel/add.cpp", "one");
        put("op_host/add.cpp", "host");
        put("framework/tf/CMakeLists.txt", "find_package(TensorFlow REQUIRED)");
        put("build_out/left.o", "x");
        put("scripts/build", "a file, not a folder");
        let mirror = Mirror::new(project.path(), work.path(), |name| name == "framework/tf/CMakeLists.txt");
        let sync = |texts: &[(&str, &'static str)]| {
            let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), *text)).collect();
            mirror.sync(&texts).unwrap()
        };
        let text = |name: &str| fs_err::read_to_string(mirror.root().join(name)).unwrap();
        assert_eq!(sync(&[]).len(), 5);
        assert_eq!(text("framework/tf/CMakeLists.txt"), "");
        assert!(!mirror.root().join("build_out").exists());
        assert!(sync(&[]).is_empty());

        let before = fs_err::metadata(mirror.root().join("op_host/add.cpp")).unwrap().modified().unwrap();
        assert_eq!(sync(&[("op_kernel/add.cpp", "two")]), ["op_kernel/add.cpp"]);
        assert!(sync(&[("op_kernel/add.cpp", "two"), ("op_host/add.cpp", "host")]).is_empty());
        assert_eq!(text("op_kernel/add.cpp"), "two");
        assert_eq!(fs_err::metadata(mirror.root().join("op_host/add.cpp")).unwrap().modified().unwrap(), before);
        // Back to what is on the disk.
        assert_eq!(sync(&[]), ["op_kernel/add.cpp"]);
        assert_eq!(text("op_kernel/add.cpp"), "one");
        // The user goes on editing, and removes a file.
        put("op_kernel/add.cpp", "three");
        fs_err::remove_file(project.path().join("scripts/build")).unwrap();
        assert_eq!(sync(&[]), ["op_kernel/add.cpp", "scripts/build"]);
        assert_eq!(sync(&[("op_kernel/new.h", "new"), ("../out.h", "no")]), ["op_kernel/new.h"]);
        assert_eq!(sync(&[]), ["op_kernel/new.h"]);
        assert!(!work.path().join("out.h").exists());
        assert_eq!(fs_err::read_to_string(project.path().join("op_kernel/add.cpp")).unwrap(), "three", "untouched");
    }

    #[test]
    fn copies_that_builds_make_are_the_projects_files() {
        let work = tempfile::tempdir().unwrap();
        let mirror = Mirror::new(Path::new("/p"), work.path(), |_| false);
        for file in ["op_kernel/add.cpp", "op_kernel/add/add.cpp"] {
            fs_err::create_dir_all(mirror.root().join(file).parent().unwrap()).unwrap();
            fs_err::write(mirror.root().join(file), "").unwrap();
        }
        let copied = |path: &str| mirror.copied(Path::new(path), "op_kernel");
        assert_eq!(copied("build-1/op_kernel/tbe/dynamic/add.cpp").as_deref(), Some("op_kernel/add.cpp"));
        assert_eq!(copied("build-1/binary/src/add/add.cpp").as_deref(), Some("op_kernel/add/add.cpp"));
        assert_eq!(copied("build-1/autogen/aclnn_add.cpp"), None);
    }

    #[test]
    fn paths_are_told_as_the_project_knows_them() {
        let mirror = Mirror::new(Path::new("/p"), Path::new("/w"), |_| false);
        assert_eq!(mirror.original("/w/source/op_kernel/../op_host/a.cpp"), "op_host/a.cpp");
        assert_eq!(mirror.original("op_host/./a.cpp"), "op_host/a.cpp");
        assert_eq!(mirror.original("/usr/include/x.h"), "/usr/include/x.h");
        assert_eq!(mirror.original("../x.h"), "../x.h");
    }
}
