//! How the program is linked.
//!
//! That which tests start: a trial starts it two times, as a worker that limits itself. Unoptimised it has a hundred thousand addresses that the
//! loader would write each time, were it let lie anywhere in memory: a third of that start, where tests make ten thousand trials.
//!
//! That which people install may lie anywhere, and says which addresses that concerns in two megabytes, or packed in a fortieth of it. Loaders
//! unpack since glibc 2.36.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    } else if std::env::var("HOST") == std::env::var("TARGET") && glibc().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Version of this machine's C library, such as (2, 36).
fn glibc() -> Option<(u32, u32)> {
    let said = String::from_utf8(Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
