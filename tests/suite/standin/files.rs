//! What all trees share: the device library and its programs, built once; how files come into a tree.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::support::{root, sdk};

/// Libraries that host code and programs link with, besides the one of AscendCL. Each leads to the SDK's.
const LIBRARIES: [&str; 13] = [
    "ascendalog",
    "c_sec",
    "error_manager",
    "exe_graph",
    "graph",
    "graph_base",
    "nnopbase",
    "opapi",
    "platform",
    "runtime",
    "tiling_api",
    "unified_dlog",
    "profapi",
];

/// Folder with everything that is built.
pub fn built() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(build);
    &BUILT
}

fn build() -> PathBuf {
    let sources = root().join("tests/standin/device");
    let mut digest = blake3::Hasher::new();
    digest.update(include_bytes!("files.rs"));
    // Headers are links to the one, libraries to the other.
    for place in [&sdk().root, &sdk().library_directory] {
        digest.update(place.as_os_str().as_encoded_bytes());
    }
    for entry in walkdir::WalkDir::new(&sources).sort_by_file_name().into_iter().filter_map(Result::ok) {
        if entry.file_type().is_file() {
            digest.update(&fs_err::read(entry.path()).expect("a source"));
        }
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = place.join(format!("standin-{}", &digest.finalize().to_hex()[..16]));
    if target.join("libascendcl.so").is_file() {
        return target;
    }
    let temporary = tempfile::Builder::new().prefix(".standin-").tempdir_in(place).expect("a folder");
    let out = temporary.path();
    headers(&out.join("include"));
    for name in ["libascend_sim.so", "ascend_sim_runner"] {
        link_file(&sdk().library_directory.join(name), &out.join(name));
    }
    let compile = |words: &[&str], names: &[&str], output: &str| {
        let mut command = Command::new(sdk().compiler.program());
        command.args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC"]);
        command.arg(format!("-I{}", out.join("include").display()));
        command.arg(format!("-I{}", sdk().root.join("src").display()));
        command.args(names.iter().map(|name| sources.join(name)));
        command.arg(format!("-L{}", out.display())).args(["-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed"]);
        command.args(words).arg("-o").arg(out.join(output));
        let ended = command.output().expect("the compiler runs");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    compile(
        &["-shared", "-Wl,-soname,libascendcl.so", "-lascend_sim", "-ldl"],
        &["acl.cpp", "forward.cpp", "standin.cpp"],
        "libascendcl.so",
    );
    compile(&["-lascendcl", "-lascend_sim", "-Wl,-rpath,$ORIGIN/../../../lib64"], &["launcher.cpp"], "kernel-launcher");
    compile(&["-shared", "-Wl,-soname,libregister.so", "-lascend_sim", "-ldl"], &["register.cpp"], "libregister.so");
    compile(&["-shared", "-Wl,-soname,libacl_rtc.so", "-lascendcl"], &["rtc.cpp"], "libacl_rtc.so");
    compile(&["-shared", "-lascend_sim"], &[], "libleads_to_the_sdk.so");
    for name in LIBRARIES {
        link_file(&out.join("libleads_to_the_sdk.so"), &out.join(format!("lib{name}.so")));
    }
    // Whoever is later throws away what is there already.
    let _ = fs_err::rename(temporary.path(), &target);
    target
}

/// The SDK's headers, with kernel objects in those of AscendCL.
fn headers(to: &Path) {
    fs_err::create_dir_all(to.join("acl")).expect("a folder");
    for entry in fs_err::read_dir(sdk().include()).expect("the SDK's headers").filter_map(Result::ok) {
        if entry.file_name() != "acl" {
            symlink(entry.path(), to.join(entry.file_name())).expect("a link");
        }
    }
    for entry in fs_err::read_dir(sdk().include().join("acl")).expect("the SDK's headers").filter_map(Result::ok) {
        let mut text = fs_err::read_to_string(entry.path()).expect("a header");
        if entry.file_name() == "acl_rt.h" {
            text.push_str("\n#include \"acl/acl_binary.h\"\n");
        }
        fs_err::write(to.join("acl").join(entry.file_name()), text).expect("a header");
    }
    let ours = root().join("tests/standin/device/acl_binary.h");
    fs_err::copy(ours, to.join("acl/acl_binary.h")).expect("a header");
}

/// Makes a file appear in a second place, without a copy where the disk allows that.
pub fn link_file(from: &Path, to: &Path) {
    fs_err::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    if fs_err::hard_link(from, to).is_err() {
        fs_err::copy(from, to).expect("a copy");
    }
}

/// Writes a text file and the folders above it.
pub fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs_err::write(path, text).expect("a file");
}

/// A script that starts this test program as one of the stand-in's.
pub fn script(path: &Path, own: &Path, program: &str) {
    let own = own.display();
    let text = format!(
        "#!/bin/sh\n\
         # {program} of the stand-in toolkit: the test program, started once more. What it prints goes to descriptor 3.\n\
         exec 3>&1\n\
         words=$(for word; do printf '%s\\037' \"$word\"; done)\n\
         STANDIN_OWN='{own}' STANDIN_PROGRAM={program} STANDIN_WORDS=$words exec '{own}/tests' --exact standin::program::one \\\n\
         \x20   --nocapture --quiet --test-threads=1 >/dev/null\n"
    );
    write(path, &text);
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("an executable");
}
