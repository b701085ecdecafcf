//! Namespaces of a process's own: users, network, process numbers, message queues and mounts.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getgid, getuid};

use super::{NAMESPACES, SHARED_MEMORY};

const SHARED_MEMORY_BYTES: u64 = 16 << 20;

/// Gives this process namespaces of its own, in which nothing but `writable` and `/dev` can be written. What it starts next is the
/// first process of its namespace, and all others end with that one. The process must have one thread.
///
/// # Errors
/// The system does not let its users do so; nothing has changed then.
pub fn isolate(writable: &Path) -> io::Result<()> {
    if std::env::var_os(NAMESPACES).is_some_and(|value| value == "off") {
        return Err(io::Error::other("switched off"));
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(
        CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWPID
            | CloneFlags::CLONE_NEWIPC
            | CloneFlags::CLONE_NEWNS,
    )?;
    // Whoever cannot name itself goes on as nobody, who may do even less.
    let _ = std::fs::write("/proc/self/setgroups", "deny");
    let _ = std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"));
    let _ = std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"));
    // Landlock confines writes as well; modes and owners of files are held by mounts alone.
    let _ = forbid_changes(writable);
    Ok(())
}

fn forbid_changes(writable: &Path) -> io::Result<()> {
    const NONE: Option<&str> = None;
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)?;
    mount(Some(writable), writable, NONE, MsFlags::MS_BIND, NONE)?;
    let in_shared_memory = writable.starts_with(SHARED_MEMORY);
    for (place, flags) in mounts(&std::fs::read_to_string("/proc/self/mountinfo")?) {
        // A project may lie in shared memory: what else is there can be read then.
        let is_device = place.starts_with("/dev") && !(in_shared_memory && place == Path::new(SHARED_MEMORY));
        if !place.starts_with(writable) && !is_device {
            // Flags that were set from outside must stay, or the kernel refuses.
            let flags = flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
            let _ = mount(NONE, &place, NONE, flags, NONE);
        }
    }
    // Shared memory is a folder that everybody may write, and outlives a process.
    let limits = format!("size={SHARED_MEMORY_BYTES},mode=0700");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    if !in_shared_memory && Path::new(SHARED_MEMORY).is_dir() {
        let _ = mount(Some("tmpfs"), SHARED_MEMORY, Some("tmpfs"), flags, Some(limits.as_str()));
    }
    // The way to the directory goes through the mount that was there before.
    std::env::set_current_dir(writable)
}

/// Places of mounts with their flags.
fn mounts(info: &str) -> Vec<(PathBuf, MsFlags)> {
    let flag = |word: &str| match word {
        "nosuid" => MsFlags::MS_NOSUID,
        "nodev" => MsFlags::MS_NODEV,
        "noexec" => MsFlags::MS_NOEXEC,
        "noatime" => MsFlags::MS_NOATIME,
        "nodiratime" => MsFlags::MS_NODIRATIME,
        "relatime" => MsFlags::MS_RELATIME,
        _ => MsFlags::empty(),
    };
    let place = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let (path, options) = (words.get(4)?, words.get(5)?);
        Some((PathBuf::from(path.replace("\\040", " ")), options.split(',').map(flag).collect()))
    };
    info.lines().filter_map(place).collect()
}

/// Whether this system lets its users make them.
pub(super) fn are_possible() -> bool {
    if std::env::var_os(NAMESPACES).is_some_and(|value| value == "off") {
        return false;
    }
    // Asked of another program: a process can only try on itself, and not with more than one thread.
    let mut asked = Command::new("unshare");
    asked.args(["--user", "--net", "--pid", "--ipc", "--mount", "--fork", "true"]);
    let status = asked.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_keep_the_flags_that_they_have() {
        let info = "28 1 0:25 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
                    31 28 0:30 / /mnt/my\\040disk rw,nosuid,nodev shared:2 - tmpfs tmpfs rw\n";
        let found = mounts(info);
        assert_eq!(found[0], (PathBuf::from("/"), MsFlags::MS_RELATIME));
        assert_eq!(found[1], (PathBuf::from("/mnt/my disk"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV));
    }
}
