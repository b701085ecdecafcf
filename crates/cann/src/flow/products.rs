//! What a build left in its tree: kernel objects with their texts, host libraries, programs.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::{DirEntry, WalkDir};

use crate::object::{KernelObject, Magic};

/// A pair that was found in a tree.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Type of the operator.
    pub op_type: String,
    /// The file of its kernel, without an extension: the folder that pairs lie in.
    pub op_file: String,
    /// The text beside the object.
    pub text: PathBuf,
    /// When the object was written.
    pub written: SystemTime,
    /// What both say.
    pub object: KernelObject,
}

/// Folders of CMake itself, and of packages that are being made.
const LEFT_OUT: [&str; 4] = ["CMakeFiles", "_CPack_Packages", "_deps", ".cmake"];

fn files(tree: &Path) -> impl Iterator<Item = PathBuf> {
    let kept = |entry: &DirEntry| entry.depth() == 0 || !LEFT_OUT.iter().any(|name| entry.file_name() == *name);
    WalkDir::new(tree)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(kept)
        .flatten()
        .filter(|entry| !entry.file_type().is_dir())
        .map(DirEntry::into_path)
}

/// Pairs of a tree. Of several with one name the newest counts. Texts that launch nothing are passed over; a text whose object is
/// missing is told.
pub(super) fn pairs(tree: &Path, broken: &mut Vec<String>) -> Vec<Pair> {
    let mut found: BTreeMap<String, Pair> = BTreeMap::new();
    for text in files(tree).filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let content = fs_err::read(&text).unwrap_or_default();
        let says_how = contains(&content, Magic::BEGINNING.as_bytes());
        if !says_how || !contains(&content, b"binFileName") {
            continue;
        }
        let object = match KernelObject::read(&text) {
            Ok(object) => object,
            Err(error) => {
                broken.push(error.to_string());
                continue;
            }
        };
        let stem = text.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let written =
            fs_err::metadata(&object.path).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let folder = text.parent().and_then(Path::file_name);
        let op_file = folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let pair = Pair { op_type: op_type(&stem), op_file, text, written, object };
        if found.get(&stem).is_none_or(|known| known.written < pair.written) {
            found.insert(stem, pair);
        }
    }
    found.into_values().collect()
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// `AddCustom_<hash>`, whatever comes after the hash.
fn op_type(stem: &str) -> String {
    let is_hash = |part: &str| {
        part.len() >= 4
            && part.bytes().all(|byte| byte.is_ascii_hexdigit())
            && part.bytes().any(|byte| byte.is_ascii_digit())
    };
    let parts: Vec<&str> = stem.split('_').collect();
    match parts.iter().skip(1).position(|part| is_hash(part)) {
        Some(at) => parts[..=at].join("_"),
        None => stem.rsplit_once('_').map_or(stem, |(before, _)| before).to_owned(),
    }
}

/// Files of a tree by their names, the newest first.
pub(super) fn named(tree: &Path, is_name: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let matches = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(is_name);
    let mut found: Vec<(SystemTime, PathBuf)> = files(tree)
        .filter(matches)
        .filter_map(|path| Some((fs_err::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    found.sort_by(|(one, _), (other, _)| other.cmp(one));
    found.into_iter().map(|(_, path)| path).collect()
}

/// What an ELF file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elf {
    Program,
    Library,
}

/// Programs and shared libraries of a tree.
pub(super) fn linked(tree: &Path) -> Vec<(PathBuf, Elf)> {
    files(tree).filter_map(|path| elf(&path).map(|kind| (path, kind))).collect()
}

fn elf(path: &Path) -> Option<Elf> {
    use std::os::unix::fs::PermissionsExt;
    let name = path.file_name()?.to_string_lossy().into_owned();
    let is_library = name.ends_with(".so") || name.contains(".so.");
    if name.ends_with(".o") || name.ends_with(".a") {
        return None;
    }
    let mut start = [0_u8; 4];
    fs_err::File::open(path).ok()?.read_exact(&mut start).ok()?;
    if start != [0x7f, b'E', b'L', b'F'] {
        return None;
    }
    let is_program = fs_err::metadata(path).ok()?.permissions().mode() & 0o111 != 0;
    if is_library { Some(Elf::Library) } else { is_program.then_some(Elf::Program) }
}

#[cfg(test)]
mod tests {
    use super::op_type;

    #[test]
    fn types_are_what_stands_before_the_hash() {
        assert_eq!(op_type("AddCustom_ab12"), "AddCustom");
        assert_eq!(op_type("AddCustom_402e355eb717124771cfc7dbebfe946c"), "AddCustom");
        assert_eq!(op_type("MatMul_V3_402e355eb717124771cfc7dbebfe946c_mix_aic"), "MatMul_V3");
        assert_eq!(op_type("Add_high"), "Add");
        assert_eq!(op_type("Add"), "Add");
    }
}
