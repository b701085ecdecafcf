//! Tells the crate the triple it is built for (the host compiler is looked up with it at run time), and packs the SDK that goes into the
//! command, anew when a file of it changes.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use walkdir::WalkDir;

const SDK: &str = "../../sdk";
/// Programs that check the SDK: no operator is built with them, and what is built does not depend on them.
const TESTS: &str = "tests";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    for entry in std::fs::read_dir(SDK)?.filter_map(Result::ok).filter(|entry| entry.file_name() != TESTS) {
        println!("cargo:rerun-if-changed={}", entry.path().display());
    }
    println!("cargo:rustc-env=ASCEND_TUNE_TARGET={}", std::env::var("TARGET")?);
    pack(&PathBuf::from(std::env::var("OUT_DIR")?).join("sdk.tar.gz"))
}

/// Packs contents and names alone: the same tree gives the same bytes wherever it lies.
fn pack(target: &Path) -> Result<(), Box<dyn Error>> {
    let mut archive = tar::Builder::new(GzEncoder::new(File::create(target)?, Compression::best()));
    archive.mode(tar::HeaderMode::Deterministic);
    let is_packed = |entry: &walkdir::DirEntry| entry.depth() != 1 || entry.file_name() != TESTS;
    for entry in WalkDir::new(SDK).sort_by_file_name().into_iter().filter_entry(is_packed) {
        let entry = entry?;
        if entry.file_type().is_file() {
            archive.append_path_with_name(entry.path(), entry.path().strip_prefix(SDK)?)?;
        }
    }
    archive.into_inner()?.finish()?;
    Ok(())
}
