//! One job per device: an advisory lock by the device's address on the bus. The vendor has none.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A device that this process has for itself, as far as others ask. Given back when dropped, and when the process ends, however it
/// ends: the system holds the lock, the file only says who has it.
#[derive(Debug)]
pub struct DeviceLock {
    file: File,
    path: PathBuf,
}

/// Why a device is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody has it.
    #[error("device {bus} is taken by {}; wait for it, or use another device", holder.as_deref().unwrap_or("a process that does not say its name"))]
    Taken {
        /// Its address.
        bus: String,
        /// Who, in their words.
        holder: Option<String>,
    },
    /// The lock cannot be made.
    #[error("{}: {source}; locks of devices are in this folder, which everybody who uses them has to be able to write", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

impl DeviceLock {
    /// Where all users of a machine look for locks.
    pub fn usual_folder() -> &'static Path {
        Path::new("/tmp/ascend-tune-devices")
    }

    /// Takes a device, or says who has it. `what` tells others what it is taken for.
    ///
    /// # Errors
    /// Where somebody has it, or the file cannot be used.
    pub fn take(folder: &Path, bus: &str, what: &str) -> Result<DeviceLock, LockError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| LockError::Io { path, source }
        };
        if !folder.is_dir() {
            std::fs::create_dir_all(folder).map_err(io(folder))?;
            // Every user makes files there, and none removes those of others.
            let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o1777));
        }
        let name: String = bus.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
        let path = folder.join(format!("{}.lock", name.to_ascii_lowercase()));
        let mut file = open(&path).map_err(io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                let holder = text.lines().next().map(str::to_owned).filter(|line| !line.is_empty());
                return Err(LockError::Taken { bus: bus.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => return Err(LockError::Io { path, source }),
        }
        let mut lock = DeviceLock { file, path };
        // What a process that died left there is overwritten; a file of another user may not be, and the lock holds all the same.
        let _ = lock.say(&format!("process {} ({what})\n", std::process::id()));
        Ok(lock)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }
}

impl Drop for DeviceLock {
    fn drop(&mut self) {
        // The file stays: who removes it while another opens it makes two locks of one device.
        let _ = self.say("");
        let _ = self.file.unlock();
    }
}

/// Opens the file, not following a link that somebody put there; for reading where it is another user's.
fn open(path: &Path) -> std::io::Result<File> {
    let no_links = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(no_links);
    let writable = options.clone().write(true).create(true).truncate(false).mode(0o666).open(path);
    writable.or_else(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => options.open(path),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::{DeviceLock, LockError};

    #[test]
    fn a_device_has_one_holder_and_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("locks");
        let held = DeviceLock::take(&folder, "0000:C1:00.0", "run of AddCustom").unwrap();
        let error = DeviceLock::take(&folder, "0000:c1:00.0", "another").unwrap_err();
        let LockError::Taken { holder, .. } = &error else { panic!("{error}") };
        assert_eq!(holder.as_deref(), Some(format!("process {} (run of AddCustom)", std::process::id()).as_str()));
        DeviceLock::take(&folder, "0000:C2:00.0", "another").unwrap();
        drop(held);
        DeviceLock::take(&folder, "0000:C1:00.0", "another").unwrap();
    }

    #[test]
    fn the_lock_of_a_process_that_died_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("0000_c1_00_0.lock");
        fs_err::write(&file, "process 4194305 (killed)\n").unwrap();
        let held = DeviceLock::take(folder.path(), "0000:C1:00.0", "run").unwrap();
        assert_eq!(held.path(), file);
        assert!(fs_err::read_to_string(&file).unwrap().contains(&std::process::id().to_string()));
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs_err::write(&victim, "mine").unwrap();
        fs_err::os::unix::fs::symlink(&victim, folder.path().join("b.lock")).unwrap();
        assert!(matches!(DeviceLock::take(folder.path(), "b", "run"), Err(LockError::Io { .. })));
        assert_eq!(fs_err::read_to_string(&victim).unwrap(), "mine");
    }
}
