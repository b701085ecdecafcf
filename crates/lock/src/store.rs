//! The lock file on disk.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::conflict::{Side, decided_for};
use super::{Lock, LockError};

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The file has new content.
    Changed,
    /// The file had this content already and was not touched.
    Unchanged,
}

/// Reads the lock file.
pub fn read(path: &Path) -> Result<Lock, LockError> {
    let text = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(LockError::Absent { path: path.to_owned() }),
        Err(source) => return Err(LockError::Read { path: path.to_owned(), source }),
    };
    Lock::parse(&text, path)
}

/// Writes the lock file if its content differs: to a temporary file in the same directory, then by rename, so that a
/// reader sees the old lock or the new one. Comments that the user put at the top stay.
pub fn write(lock: &Lock, path: &Path) -> Result<Written, LockError> {
    let failed = |source: io::Error| LockError::Write { path: path.to_owned(), source };
    let old = match fs_err::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        // Not text: nothing in it can be kept.
        Err(error) if error.kind() == ErrorKind::InvalidData => None,
        Err(source) => return Err(LockError::Read { path: path.to_owned(), source }),
    };
    let generated = lock.to_text()?;
    let text = match &old {
        Some(old) => format!("{}{generated}", user_comments(old, &generated)),
        None => generated,
    };
    if old.as_deref() == Some(text.as_str()) {
        return Ok(Written::Unchanged);
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(".ascend-lock").tempfile_in(directory).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    set_mode(file.as_file(), path).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(Written::Changed)
}

/// Comment and blank lines at the top of `old` that are not ours, up to the first line of content.
fn user_comments(old: &str, generated: &str) -> String {
    let ours: Vec<&str> = generated.lines().take_while(|line| line.starts_with('#')).collect();
    let mut kept: Vec<&str> = old
        .lines()
        .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        .filter(|line| !ours.contains(line) && !line.contains("@generated"))
        .collect();
    while kept.last().is_some_and(|line| line.trim().is_empty()) {
        kept.pop();
    }
    if kept.is_empty() {
        return String::new();
    }
    format!("{}\n\n", kept.join("\n"))
}

/// Reads a lock that a merge may have left its marks in: where it has, as the side that was there has it, with the entries of other chips
/// that only the side that came in has.
pub fn read_for_ours(path: &Path) -> Result<Lock, LockError> {
    match read(path) {
        Err(LockError::Conflict { .. }) => {
            let text = fs_err::read_to_string(path);
            let text = text.map_err(|source| LockError::Read { path: path.to_owned(), source })?;
            let ours = Lock::parse(&decided_for(Side::Ours, &text), path)?;
            let theirs = Lock::parse(&decided_for(Side::Theirs, &text), path);
            let further = theirs.into_iter().flat_map(|theirs| theirs.entries());
            Ok(further.fold(ours, |lock, entry| match lock.entry(&entry.key()) {
                Some(_) => lock,
                None => lock.with_beside(entry),
            }))
        }
        other => other,
    }
}

/// SHA-256 of files below a directory, by name. What cannot be read is left out.
pub fn file_digests<'name>(root: &Path, names: impl IntoIterator<Item = &'name str>) -> BTreeMap<String, String> {
    let digest = |name: &str| Some((name.to_owned(), bytes_digest(&fs_err::read(root.join(name)).ok()?)));
    names.into_iter().filter_map(digest).collect()
}

/// SHA-256 in hexadecimal digits.
pub fn bytes_digest(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Temporary files are private; a lock is as readable as the file it replaces, or as any new file.
#[cfg(unix)]
fn set_mode(file: &std::fs::File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = match fs_err::metadata(path) {
        Ok(metadata) => metadata.permissions().mode() & 0o777,
        Err(_) => 0o644,
    };
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_file: &std::fs::File, _path: &Path) -> io::Result<()> {
    Ok(())
}
