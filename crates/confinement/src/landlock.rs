//! Landlock: an unprivileged process gives up rights for good, together with all that it starts.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

use super::{Reach, SHARED_MEMORY};

/// The newest version whose rights are asked for; older kernels give what they have.
const NEWEST: ABI = ABI::V6;

/// Devices that may be written.
const DEVICES: [&str; 3] = ["/dev/null", SHARED_MEMORY, "/dev/tty"];
const ALL_DEVICES: &str = "/dev";

/// Where programs, their libraries and what loaders and interpreters read lie. Homes, mail and mounts are not among them. Other
/// processes' secrets below `/proc` are out of reach, because Landlock forbids to trace what is outside.
const SYSTEM: [&str; 17] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/nix",
    "/gnu",
    "/proc",
    "/sys/devices/system",
    ALL_DEVICES,
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
];

/// Takes everything outside `reach` from this thread and from what it starts, as far as the kernel knows how to.
pub fn confine(reach: &Reach) -> io::Result<()> {
    restrict(reach).map_err(io::Error::other)
}

fn restrict(reach: &Reach) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut handled = AccessFs::from_write(NEWEST);
    if reach.readable.is_some() {
        handled |= AccessFs::from_read(NEWEST);
    }
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(handled)?;
    if !reach.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut ruleset = ruleset.scope(Scope::from_all(NEWEST))?.create()?;
    for directory in &reach.writable {
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(directory)?, handled))?;
    }
    // A project may lie in shared memory: of this, then, there is what is named and no more.
    let in_shared_memory = reach.writable.iter().any(|directory| directory.starts_with(SHARED_MEMORY));
    for device in DEVICES.into_iter().filter(|device| !(in_shared_memory && *device == SHARED_MEMORY)) {
        if let Ok(descriptor) = PathFd::new(device) {
            ruleset = ruleset.add_rule(PathBeneath::new(descriptor, of_kind(Path::new(device), handled)))?;
        }
    }
    let system = SYSTEM.iter().filter(|place| !(in_shared_memory && **place == ALL_DEVICES)).map(PathBuf::from);
    let devices = if in_shared_memory { devices() } else { Vec::new() };
    let libraries = std::env::var_os("LD_LIBRARY_PATH");
    let libraries = libraries.iter().flat_map(std::env::split_paths);
    for path in reach.readable.iter().flatten().cloned().chain(system).chain(devices).chain(libraries) {
        // What is not there cannot be read either.
        if let (Some(_), Ok(descriptor)) = (&reach.readable, PathFd::new(&path)) {
            let rights = of_kind(&path, AccessFs::from_read(NEWEST));
            ruleset = ruleset.add_rule(PathBeneath::new(descriptor, rights))?;
        }
    }
    ruleset.restrict_self()?;
    Ok(())
}

/// All that is among devices but shared memory, and names of what a process has open, which are no places.
fn devices() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(ALL_DEVICES).into_iter().flatten().flatten();
    let places = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    places.map(|entry| entry.path()).filter(|path| path != Path::new(SHARED_MEMORY)).collect()
}

/// Rights that a file can have, or all for a directory.
fn of_kind(path: &Path, rights: landlock::BitFlags<AccessFs>) -> landlock::BitFlags<AccessFs> {
    if path.is_dir() { rights } else { rights & AccessFs::from_file(NEWEST) }
}

/// What the kernel offers.
pub(super) struct Offered {
    pub files: bool,
    pub tcp: bool,
    pub signals: bool,
}

/// Making a ruleset restricts nothing until it is applied, and fails where the kernel has none.
pub(super) fn offered() -> Offered {
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    Offered {
        files: strict().handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok(),
        tcp: strict().handle_access(AccessNet::from_all(ABI::V4)).and_then(Ruleset::create).is_ok(),
        signals: strict().scope(Scope::from_all(ABI::V6)).and_then(Ruleset::create).is_ok(),
    }
}
